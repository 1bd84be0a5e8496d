// SPDX-License-Identifier: Apache-2.0
#include "core/applied_state.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "store/damage.hpp"

namespace rdmacfg::core {

namespace {

std::tm local(std::time_t time) {
  std::tm out{};
  ::localtime_r(&time, &out);
  return out;
}

}  // namespace

std::optional<metrics::LastApply> last_apply(const Ledger& ledger) {
  if (ledger.generations.empty()) return std::nullopt;
  const auto& last = ledger.generations.back();
  return metrics::LastApply{.number = last.number, .when = last.when, .rolled_back = !last.fate.empty()};
}

AppliedState applied_state_of(const Ledger& ledger, const config::Document* document,
                              const std::string& boot_id, const Clock& clock) {
  AppliedState out;
  if (const auto* active = ledger.find(ledger.active)) out.active = *active;
  out.last = last_apply(ledger);
  out.unconfirmed = ledger.unconfirmed;
  out.left = time_left(ledger, boot_id, clock).value_or(std::chrono::milliseconds(0));
  out.rebooted = out.unconfirmed && out.unconfirmed->boot_id != boot_id;
  if (document == nullptr || model::has_errors(document->diagnostics)) return out;
  const auto digest = digest_of(*document);
  out.compared = true;
  out.is_active = ledger.is_active(digest);
  out.refused = !out.is_active && ledger.refuses(digest);
  for (const auto& generation : ledger.generations) {
    if (out.refused && generation.digest == digest) out.why = generation.why;
  }
  return out;
}

AppliedState applied_state_of(const LedgerNow& now, const config::Document* document,
                              const std::string& boot_id, const Clock& clock) {
  auto out = applied_state_of(now.ledger, document, boot_id, clock);
  if (!now.damage) return out;
  out.lost = now.lost && now.ledger.active == 0;
  out.damage = now.damage->message + (out.lost ? "; the active generation is unknown"
                                               : "; its copy is used until the next apply repairs it");
  return out;
}

std::vector<model::Note> notes_of(const AppliedState& applied_state) {
  std::vector<model::Note> out;
  if (!applied_state.damage.empty())
    out.emplace_back(degraded_note(applied_state.damage), model::Note::Sort::kDamage);
  if (const auto& waiting = applied_state.unconfirmed) {
    out.push_back(applied_state.left.count() > 0
                      ? fmt::format("generation {} waits for confirmation for another {}: `rdma-configctl "
                                    "confirm` keeps it, `rdma-configctl rollback` rolls it back now",
                                    waiting->generation, spoken(applied_state.left))
                      : fmt::format("generation {} was not confirmed {} and is about to be rolled back",
                                    waiting->generation,
                                    applied_state.rebooted ? "before the host was rebooted" : "in time"));
  }
  if (applied_state.gone && applied_state.active) {
    out.push_back(
        fmt::format("the daemon enforces generation {}, which came from elsewhere or whose file has gone: "
                    "`rdma-configctl history show {}` prints it",
                    applied_state.active->number, applied_state.active->number));
  }
  if (!applied_state.compared || applied_state.is_active) return out;
  if (applied_state.refused) {
    const auto why = applied_state.why.empty() ? std::string() : fmt::format(" ({})", applied_state.why);
    out.push_back(
        applied_state.active
            ? fmt::format("this document was rolled back{}; the daemon enforces generation {} until "
                          "`rdma-configctl apply` applies the document again, or it changes",
                          why, applied_state.active->number)
            : fmt::format("this document was rolled back{}; no generation is enforced until `rdma-configctl "
                          "apply` applies it again, or it changes",
                          why));
  } else if (applied_state.active) {
    out.push_back(
        fmt::format("this document is not the one applied last; the daemon enforces generation {} until "
                    "`rdma-configctl apply` or `rdma-configctl reload`",
                    applied_state.active->number));
  }
  return out;
}

std::string spoken(std::chrono::milliseconds time) {
  // Started seconds count: the countdown does not say 0 s while there is still time.
  const auto seconds = (time.count() + 999) / 1000;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) {
    return seconds % 60 == 0 ? fmt::format("{} min", seconds / 60)
                             : fmt::format("{} min {} s", seconds / 60, seconds % 60);
  }
  const auto minutes = seconds / 60;
  return minutes % 60 == 0 ? fmt::format("{} h", minutes / 60)
                           : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string local_time(const std::string& utc, std::chrono::system_clock::time_point now) {
  std::tm parts{};
  const auto* end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != 0) return utc;
  const auto then = local(::timegm(&parts));
  const auto today = local(std::chrono::system_clock::to_time_t(now));
  if (then.tm_year == today.tm_year && then.tm_yday == today.tm_yday) return fmt::format("{:%H:%M:%S}", then);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", then);
}

}  // namespace rdmacfg::core
