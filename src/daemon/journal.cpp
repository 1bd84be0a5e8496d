// SPDX-License-Identifier: Apache-2.0
#include "daemon/journal.hpp"

#include <fmt/format.h>
#include <sys/syslog.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/characters.hpp"

namespace rdmacfg::daemon {

namespace {

/// As units/rdma-configd.catalog has them.
const char* id_of(Message message) {
  switch (message) {
    case Message::kStarted:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e01";
    case Message::kApplied:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e02";
    case Message::kRepaired:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e03";
    case Message::kDrifted:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e04";
    case Message::kContended:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e05";
    case Message::kFailed:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e06";
    case Message::kRolledBack:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e07";
    case Message::kTrouble:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e08";
    case Message::kNoted:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e09";
    case Message::kRequest:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e0a";
    case Message::kUnmet:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e0b";
    case Message::kMet:
      return "6f1b0d6c1f0e4c0f9d6a0a7a5a3d1e0c";
  }
  return "";
}

std::function<void(int, Message, const std::string&)>& follower() {
  static std::function<void(int, Message, const std::string&)> told;
  return told;
}

}  // namespace

std::string_view name_of(Message message) {
  switch (message) {
    case Message::kStarted:
      return "started";
    case Message::kApplied:
      return "applied";
    case Message::kRepaired:
      return "repaired";
    case Message::kDrifted:
      return "drifted";
    case Message::kContended:
      return "contended";
    case Message::kFailed:
      return "failed";
    case Message::kRolledBack:
      return "rolled_back";
    case Message::kTrouble:
      return "trouble";
    case Message::kNoted:
      return "noted";
    case Message::kUnmet:
      return "unmet";
    case Message::kMet:
      return "met";
    case Message::kRequest:
      return "request";
  }
  return "noted";
}

void follow(std::function<void(int priority, Message message, const std::string& text)> told) {
  follower() = std::move(told);
}

void log(int priority, Message message, const std::string& text,
         const std::vector<std::pair<std::string, std::string>>& fields) {
  // Names of devices and texts of files are in both: the journal's readers, and stderr, get one clean line.
  const auto shown = base::harmless(text);
  // Requests and what is for debugging are for the journal's readers; everybody on the bus hears the events.
  if (follower() && message != Message::kRequest && priority != LOG_DEBUG)
    follower()(priority, message, shown);
  std::vector<std::string> lines{"MESSAGE=" + shown, fmt::format("PRIORITY={}", priority),
                                 std::string("MESSAGE_ID=") + id_of(message)};
  lines.reserve(lines.size() + fields.size());
  for (const auto& [name, value] : fields)
    lines.push_back(fmt::format("{}={}", name, base::harmless_lines(value)));
  std::vector<iovec> parts;
  parts.reserve(lines.size());
  for (auto& line : lines) parts.push_back({line.data(), line.size()});
  if (::access("/run/systemd/journal/socket", W_OK) == 0 &&
      sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) == 0) {
    return;
  }
  (void)std::fprintf(stderr, "%s\n", shown.c_str());
}

}  // namespace rdmacfg::daemon
