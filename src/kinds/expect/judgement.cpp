// SPDX-License-Identifier: Apache-2.0
#include "kinds/expect/judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/counter_record.hpp"
#include "kinds/expect/expect.hpp"
#include "kinds/expect/rows.hpp"
#include "model/limits.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Value;
using About = ExpectRow::About;
using Relation = ExpectRow::Relation;

namespace {

constexpr std::string_view kGrowth = " growth", kWindow = " window", kLeast = " at least";

/// The name before a suffix; empty without it.
std::string_view before(std::string_view key, std::string_view suffix) {
  return key.ends_with(suffix) ? key.substr(0, key.size() - suffix.size()) : std::string_view();
}

struct TimeUnit {
  std::int64_t seconds;
  const char* name;
};
constexpr std::array<TimeUnit, 4> kTimeUnits{{{24 * 3600, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};

/// A time that has passed: "90 s", "16 min", "1 h", in the largest unit that is not coarse for it, rounded
/// down.
std::string spoken_time(std::int64_t seconds) {
  const auto unit = std::find_if(kTimeUnits.begin(), kTimeUnits.end(), [&](const TimeUnit& candidate) {
    return seconds >= 2 * candidate.seconds || seconds == candidate.seconds || candidate.seconds == 1;
  });
  return fmt::format("{} {}", seconds / unit->seconds, unit->name);
}

/// A window as it is: "90 min", "1 h".
std::string exact_time(std::int64_t seconds) {
  const auto unit = std::find_if(kTimeUnits.begin(), kTimeUnits.end(),
                                 [&](const TimeUnit& candidate) { return seconds % candidate.seconds == 0; });
  return fmt::format("{} {}", seconds / unit->seconds, unit->name);
}

/// Since the host started; nothing where that cannot be read.
std::optional<std::int64_t> uptime(system::Host& host) {
  const auto text = host.files.read("/proc/uptime");
  if (!text || !*text) return std::nullopt;
  return base::parse_as<std::int64_t>(std::string_view(**text).substr(0, (*text)->find('.')));
}

CounterRecord counter_record(system::Host& host) {
  const auto text = host.files.read(std::string(kCounterRecord));
  return text && *text ? parse_counter_record(**text) : CounterRecord{};
}

/// Of "fabric/00:02:…": the port.
std::string port_id(const model::Key& key) {
  const auto slash = key.id.find('/');
  return slash == std::string::npos ? std::string() : key.id.substr(slash + 1);
}

std::vector<PortRef> ports_named(const Value& names, const World& world) {
  std::vector<PortRef> out;
  const auto* list = std::get_if<std::vector<std::string>>(&names);
  if (list == nullptr) return out;
  const std::vector<std::string>& wanted = *list;
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (std::find(wanted.begin(), wanted.end(), fmt::format("{}/{}", device.name, port.number)) !=
          wanted.end())
        out.push_back({&device, &port});
    }
  }
  return out;
}

class Judge {
 public:
  Judge(const model::Desired& desired, World& world)
      : desired_(desired), subject_{world, ports_named(model::value_of(desired.policy, kPorts), world)} {}

  Verdict run() {
    if (desired_.policy.contains(kNoPorts)) unmet_.emplace_back("no port of this host matches");
    for (const auto& [key, wanted] : desired_.policy) {
      if (const auto counter = before(key, kGrowth); !counter.empty()) {
        grown(counter, key, wanted);
      } else if (const auto setting = before(key, kLeast); !setting.empty()) {
        compare(expect_row(setting, About::kSetting), Relation::kAtLeast, key, wanted);
      } else if (const auto* row = row_of(key)) {
        compare(row, row->relation, key, wanted);
      }
    }
    Verdict verdict;
    verdict.measured = std::move(measured_);
    if (unmet_.empty() && later_.empty()) return verdict;
    verdict.sort = unmet_.empty() ? Verdict::Sort::kPending : Verdict::Sort::kUnmet;
    unmet_.insert(unmet_.end(), later_.begin(), later_.end());
    verdict.reason = base::join(unmet_, "; ");
    return verdict;
  }

 private:
  static const ExpectRow* row_of(std::string_view key) {
    if (const auto* row = expect_row(key)) return row;
    if (const auto* row = expect_row(key, About::kCounter)) return row;
    return expect_row(key, About::kSetting);
  }

  void measure(const std::string& key, Value now, const Value& wanted) {
    model::AttributeReport attribute{.name = key, .now = std::move(now), .wanted = wanted, .origin = {}};
    if (const auto at = desired_.origins.find(key); at != desired_.origins.end())
      attribute.origin = at->second;
    measured_.push_back(std::move(attribute));
  }

  /// Without ports nothing can be asked about them.
  [[nodiscard]] bool can_ask(const ExpectRow* row) const {
    if (row == nullptr) return false;
    return row->about == About::kHost || row->about == About::kSetting || !subject_.ports.empty();
  }

  void compare(const ExpectRow* row, Relation relation, const std::string& key, const Value& wanted) {
    if (!can_ask(row)) return;
    const auto reading = row->read(*row, subject_);
    measure(key, reading.now, wanted);
    if (reading.now.index() == 0) {
      unmet_.push_back(fmt::format("{} is not known: {}", row->name, reading.why));
    } else if (!meets(relation, reading.now, wanted)) {
      const auto detail = reading.detail.empty() ? std::string() : fmt::format(" ({})", reading.detail);
      unmet_.push_back(fmt::format("{} is {}{}, expected {}", row->name, with_unit(*row, reading.now), detail,
                                   expected_text(*row, relation, wanted)));
    } else if (has_stopped(*row, reading.now)) {
      unmet_.push_back(
          fmt::format("{}: it may have counted more than {}", stopped_text(*row), with_unit(*row, wanted)));
    }
  }

  /// A counter at its largest value says only that it was no less. A driver of its own may count further.
  static bool has_stopped(const ExpectRow& row, const Value& now) {
    const auto* value = std::get_if<std::int64_t>(&now);
    return row.largest != 0 && value != nullptr && *value == row.largest;
  }

  static std::string stopped_text(const ExpectRow& row) {
    return fmt::format(
        "{} stopped counting at {} (on InfiniBand, rdma-configctl fabric --clear-counters NODE/PORT sets it "
        "to 0)",
        row.name, row.largest);
  }

  void grown(std::string_view counter, const std::string& key, const Value& wanted) {
    const auto* row = expect_row(counter, About::kCounter);
    const auto* most = std::get_if<std::int64_t>(&wanted);
    const auto* window = std::get_if<std::int64_t>(&model::value_of(desired_.policy, window_key(counter)));
    if (!can_ask(row) || most == nullptr || window == nullptr) return;
    const auto reading = row->read(*row, subject_);
    const auto* value = std::get_if<std::int64_t>(&reading.now);
    if (!desired_.policy.contains(counter)) measure(std::string(counter), reading.now, {});
    if (value == nullptr) {
      measure(key, {}, wanted);
      unmet_.push_back(fmt::format("{} is not known: {}", counter, reading.why));
      return;
    }
    const auto found = growth(counter, *value, *window);
    const bool stopped = has_stopped(*row, reading.now);
    measure(key, found && !stopped ? Value(found->amount) : Value{}, wanted);
    // On average; a younger reading can only say that it is too much already.
    const auto share =
        found ? std::max(1.0, static_cast<double>(found->seconds) / static_cast<double>(*window)) : 1.0;
    if (found && static_cast<double>(found->amount) > std::floor(static_cast<double>(*most) * share)) {
      unmet_.push_back(fmt::format("{} grew by {} in {}, expected at most {} in {}", counter, found->amount,
                                   spoken_time(found->seconds), *most, exact_time(*window)));
    } else if (stopped) {
      unmet_.push_back(stopped_text(*row) + ": its growth is not known");
    } else if (!found || found->seconds < *window) {
      const auto known =
          found ? fmt::format("the daemon has watched it only for {}", spoken_time(found->seconds))
                : std::string("the daemon has no earlier reading");
      later_.push_back(
          fmt::format("growth of {} in {} is not known yet: {}", counter, exact_time(*window), known));
    }
  }

  std::optional<Growth> growth(std::string_view counter, std::int64_t value, std::int64_t window) {
    auto& host = subject_.world.host();
    if (!record_) record_ = counter_record(host);
    const auto now = uptime(host);
    const auto at =
        record_->find({port_id(desired_.key), subject_.ports.front().device->instance, std::string(counter)});
    if (!now || at == record_->end()) return std::nullopt;
    return growth_of(at->second, {*now, value}, window);
  }

  const model::Desired& desired_;
  Subject subject_;
  std::optional<CounterRecord> record_;
  std::vector<std::string> unmet_, later_;
  std::vector<model::AttributeReport> measured_;
};

}  // namespace

std::string growth_key(std::string_view counter) { return fmt::format("{}{}", counter, kGrowth); }
std::string window_key(std::string_view counter) { return fmt::format("{}{}", counter, kWindow); }
std::string least_key(std::string_view setting) { return fmt::format("{}{}", setting, kLeast); }

Verdict judge_expectation(const model::Desired& desired, World& world) { return Judge(desired, world).run(); }

Result<void> keep_counters(std::span<const model::ResourceReport> resources, system::Host& host) {
  auto& files = host.files;
  const std::string path(kCounterRecord);
  const auto now = uptime(host);
  CounterRecord kept;
  std::optional<CounterRecord> earlier;
  for (const auto& resource : resources) {
    if (resource.key.kind != kExpectKind || resource.instance.empty() || !now) continue;
    for (const auto& attribute : resource.attributes) {
      const auto counter = before(attribute.name, kGrowth);
      if (counter.empty()) continue;
      const auto at = std::find_if(resource.attributes.begin(), resource.attributes.end(),
                                   [&](const auto& candidate) { return candidate.name == counter; });
      const auto* value = at == resource.attributes.end() ? nullptr : std::get_if<std::int64_t>(&at->now);
      if (value == nullptr) continue;
      const CounterKey key{port_id(resource.key), resource.instance, std::string(counter)};
      if (kept.contains(key) || kept.size() == model::limits::kCounterSeries) continue;
      if (!earlier) earlier = counter_record(host);
      auto& series = kept[key];
      if (const auto then = earlier->find(key); then != earlier->end()) series = then->second;
      add_reading(series, {*now, *value});
    }
  }
  if (!kept.empty()) return files.write(path, render_counter_record(kept));
  const auto there = files.read(path);
  return there && *there ? files.remove(path) : Result<void>{};
}

}  // namespace rdmacfg::kinds
