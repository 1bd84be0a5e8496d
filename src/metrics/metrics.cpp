// SPDX-License-Identifier: Apache-2.0
#include "metrics/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <ctime>
#include <initializer_list>
#include <iterator>

#include "base/characters.hpp"
#include "model/limits.hpp"

namespace rdmacfg::metrics {

using model::Status;

namespace {

constexpr std::array kCounted{Status::kInSync,  Status::kDiffers, Status::kPending,
                              Status::kLimited, Status::kUnmet,   Status::kFailed};

bool is_open(Status status) {
  return status == Status::kDiffers || status == Status::kPending || status == Status::kLimited ||
         status == Status::kUnmet || status == Status::kFailed;
}

/// "in sync" as a label: in_sync.
std::string label_of(Status status) {
  std::string out(model::text_of(status));
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

/// A label's value between its quotes.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

/// At most limits::kMetricText bytes, without control characters, and not in the middle of a character of
/// UTF-8.
std::string short_reason(const std::string& reason) {
  auto out = base::harmless(reason);
  if (out.size() <= model::limits::kMetricText) return out;
  std::size_t end = model::limits::kMetricText;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0U) == 0x80U) --end;
  out.resize(end);
  return out;
}

/// For unmet expectations: each measurement has other numbers, and would make another series.
std::string without_numbers(std::string_view reason) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ':' || c == '/';
  };
  std::string out;
  for (std::size_t at = 0; at < reason.size();) {
    const auto word =
        std::find_if_not(reason.begin() + static_cast<std::ptrdiff_t>(at), reason.end(), is_word);
    const auto end = std::max(static_cast<std::size_t>(word - reason.begin()), at + 1);
    const auto text = reason.substr(at, end - at);
    const bool number = text.find_first_not_of("0123456789.") == std::string_view::npos &&
                        std::isdigit(static_cast<unsigned char>(text.front())) != 0;
    out += number ? std::string_view("N") : text;
    at = end;
  }
  return out;
}

/// Seconds since 1970 of "2026-11-21T14:03:22Z".
std::optional<std::int64_t> seconds_of(const std::string& utc) {
  std::tm parts{};
  const char* end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<std::int64_t>(::timegm(&parts));
}

class Text {
 public:
  void family(const char* name, const char* type, const char* help) {
    name_ = name;
    fmt::format_to(std::back_inserter(out_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  template <class Number>
  void sample(Number value, const std::string& labels = {}) {
    fmt::format_to(std::back_inserter(out_), "{}{} {}\n", name_, labels.empty() ? "" : "{" + labels + "}",
                   value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string name_, out_;
};

void add_open(const Facts& facts, Text& text) {
  using Series = std::pair<std::string, std::size_t>;  // labels, number
  std::map<std::string, std::size_t> by_labels, shown;
  for (const auto& [what, number] : facts.open) {
    const auto& [kind, status, reason] = what;
    by_labels[fmt::format(
        "kind=\"{}\",status=\"{}\",reason=\"{}\"", escaped(kind), label_of(status),
        escaped(short_reason(status == Status::kUnmet ? without_numbers(reason) : reason)))] += number;
  }
  std::vector<Series> series(by_labels.begin(), by_labels.end());
  std::stable_sort(series.begin(), series.end(),
                   [](const Series& a, const Series& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto& [labels, number] = series[i];
    const bool frequent = i < model::limits::kMetricReasons;
    shown[frequent ? labels : labels.substr(0, labels.find(",reason=")) + ",reason=\"other\""] += number;
  }
  text.family("rdma_configd_not_in_sync", "gauge", "Resources that do not match the document, by reason.");
  for (const auto& [labels, number] : shown) text.sample(number, labels);
}

void add_resources(const Facts& facts, Text& text) {
  text.family("rdma_configd_resources", "gauge", "Resources of the document by kind and status.");
  for (const auto& [kind, by_status] : facts.resources) {
    for (const auto status : kCounted) {
      const auto at = by_status.find(status);
      text.sample(at == by_status.end() ? 0 : at->second,
                  fmt::format("kind=\"{}\",status=\"{}\"", escaped(kind), label_of(status)));
    }
  }
  add_open(facts, text);
}

void add_ledger(const Facts& facts, Text& text) {
  text.family("rdma_configd_generation", "gauge", "Active generation, which the daemon enforces; 0: none.");
  text.sample(facts.generation);
  if (const auto& last = facts.last) {
    if (const auto when = seconds_of(last->when)) {
      text.family("rdma_configd_last_apply_timestamp_seconds", "gauge", "When a document was last applied.");
      text.sample(*when);
    }
    text.family("rdma_configd_last_apply_generation", "gauge", "Generation of the last document applied.");
    text.sample(last->number);
    text.family("rdma_configd_last_apply_rolled_back", "gauge",
                "1: the last document applied was rolled back.");
    text.sample(last->rolled_back ? 1 : 0);
  }
  text.family("rdma_configd_unconfirmed", "gauge", "1: an apply waits for its confirmation.");
  text.sample(facts.unconfirmed.empty() ? 0 : 1);
  if (const auto until = seconds_of(facts.unconfirmed)) {
    text.family("rdma_configd_unconfirmed_deadline_timestamp_seconds", "gauge",
                "When the apply that waits for its confirmation is rolled back.");
    text.sample(*until);
  }
}

void add_daemon(const Facts& facts, Text& text) {
  text.family("rdma_configd_degraded", "gauge", "1: a record of rdma-configd was damaged.");
  text.sample(facts.degraded ? 1 : 0);
  text.family("rdma_configd_up", "gauge", "1: the daemon runs and enforces the active generation.");
  text.sample(facts.daemon ? 1 : 0);
  if (!facts.daemon) return;
  text.family("rdma_configd_state", "gauge", "State of the daemon, 1 for the state named.");
  text.sample(1, fmt::format("state=\"{}\"", escaped(facts.daemon->state)));
  text.family("rdma_configd_refused", "gauge",
              "1: the configuration in /etc differs from the active generation.");
  text.sample(facts.daemon->refused ? 1 : 0);
  if (facts.daemon->last_apply_failed) {
    text.family("rdma_configd_last_apply_failed", "gauge",
                "1: the last apply since the daemon started failed, and the document was not applied.");
    text.sample(*facts.daemon->last_apply_failed ? 1 : 0);
  }
  text.family("rdma_configd_repairs_total", "counter",
              "Changes by other programs that were reverted since the daemon started.");
  // A counter that first appears with its first repairs hides them from increase() and rate().
  auto repairs = facts.daemon->repairs;
  for (const auto& [kind, by_status] : facts.resources) repairs.try_emplace(kind, 0);
  if (repairs.empty()) repairs.try_emplace("", 0);
  for (const auto& [kind, number] : repairs) text.sample(number, fmt::format("kind=\"{}\"", escaped(kind)));
  text.family("rdma_configd_contended", "gauge",
              "Resources that another program keeps changing back, by kind.");
  for (const auto& [kind, number] : facts.daemon->contended)
    text.sample(number, fmt::format("kind=\"{}\"", escaped(kind)));
  if (facts.daemon->contended.empty()) text.sample(0, "kind=\"\"");
}

}  // namespace

Daemon daemon_of(std::string state, std::map<std::string, std::uint64_t> repairs,
                 const std::vector<std::tuple<std::string, std::string, std::string>>& contention,
                 const std::string& refused) {
  Daemon out{
      .state = std::move(state), .repairs = std::move(repairs), .contended = {}, .refused = !refused.empty()};
  for (const auto& [kind, id, why] : contention) ++out.contended[kind];
  return out;
}

void count(const model::Report& report, Facts& facts, Reasons reasons) {
  constexpr const char* kInstead = "hidden, as only root may read the document";
  facts.resources.clear();
  facts.open.clear();
  facts.known = report.exit != model::Exit::kError;
  for (const auto& resource : report.resources) {
    const auto status = resource.status == Status::kDone ? Status::kInSync : resource.status;
    ++facts.resources[resource.key.kind][status];
    if (!is_open(status)) continue;
    ++facts.open[{resource.key.kind, status, reasons == Reasons::kShown ? resource.reason : kInstead}];
  }
}

std::string features_of(const Facts& facts) {
  const auto any = [&](std::initializer_list<Status> statuses) {
    return std::any_of(facts.resources.begin(), facts.resources.end(), [&](const auto& kind) {
      return std::any_of(statuses.begin(), statuses.end(), [&](Status status) {
        const auto at = kind.second.find(status);
        return at != kind.second.end() && at->second > 0;
      });
    });
  };
  const auto flag = [&](bool value) { return !facts.known ? "unknown" : value ? "true" : "false"; };
  std::string out;
  const auto line = [&](const char* name, const std::string& value) {
    out += fmt::format("rdma-configd.{}={}\n", name, value);
  };
  line("version", facts.version);
  line("in-sync", flag(!any({Status::kDiffers, Status::kFailed})));
  line("waiting", flag(any({Status::kPending, Status::kLimited})));
  line("expectations-met", flag(!any({Status::kUnmet})));
  line("daemon", facts.daemon ? "true" : "false");
  if (facts.ledger_known) {
    line("generation", std::to_string(facts.generation));
    line("unconfirmed", facts.unconfirmed.empty() ? "false" : "true");
  }
  return out;
}

std::string text_of(const Facts& facts) {
  Text text;
  text.family("rdma_configd_info", "gauge", "Version of rdma-configd.");
  text.sample(1, fmt::format("version=\"{}\"", escaped(facts.version)));
  text.family("rdma_configd_compared", "gauge",
              "1: the host was compared with the document; 0: that was not possible.");
  text.sample(facts.known ? 1 : 0);
  if (facts.known) add_resources(facts, text);
  if (facts.ledger_known) add_ledger(facts, text);
  add_daemon(facts, text);
  return text.take();
}

std::optional<std::string> after_end(std::string_view text) {
  constexpr std::string_view kUp = "\nrdma_configd_up 1\n", kDown = "\nrdma_configd_up 0\n";
  const auto at = text.find(kUp);
  if (at == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(0, at)).append(kDown);
}

}  // namespace rdmacfg::metrics
