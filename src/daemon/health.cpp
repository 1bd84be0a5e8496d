// SPDX-License-Identifier: Apache-2.0
#include "daemon/health.hpp"

#include <fmt/format.h>

#include "base/characters.hpp"

namespace rdmacfg::daemon {

namespace {

/// The first line, safe to show: systemd prints it, and takes what follows a line feed for another message.
std::string first_line(const std::string& text) { return base::harmless(text.substr(0, text.find('\n'))); }

}  // namespace

std::string Health::state() const {
  if (!ready) return "starting";
  if (busy) return "working";
  if (!unconfirmed.empty()) return "unconfirmed";
  return refused.empty() && failing.empty() && contended.empty() && degraded.empty() ? "idle" : "degraded";
}

std::string Health::status() const {
  const auto now = doing.empty() ? state() : first_line(doing);
  if (!ready) return now;
  auto out = generation == 0 ? std::string("no generation is active")
                             : fmt::format("generation {} is active", generation);
  if (!unconfirmed.empty()) out += " until " + unconfirmed + " unless it is confirmed";
  if (busy) return now + "; " + out;
  if (pending > 0) out += fmt::format(", {} pending", pending);
  if (limited > 0) out += fmt::format(", {} limited", limited);
  if (unmet > 0) out += fmt::format(", {} unmet", unmet);
  if (!refused.empty()) out += "; the configuration is not applied: " + refused;
  if (!failing.empty()) out += "; failing: " + failing;
  if (!degraded.empty()) out += "; DEGRADED: " + degraded;
  if (!contended.empty()) out += "; left alone: " + contended;
  return first_line(out);
}

}  // namespace rdmacfg::daemon
