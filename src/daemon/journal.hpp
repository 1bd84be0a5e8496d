// SPDX-License-Identifier: Apache-2.0
// Structured entries for the systemd journal; the messages are explained in units/rdma-configd.catalog.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rdmacfg::daemon {

enum class Message {
  kStarted,
  kApplied,    ///< a document was applied or held, and things were changed
  kRepaired,   ///< one field of a resource was changed back
  kDrifted,    ///< it was not, as drift = "report" wants
  kContended,  ///< somebody else changes it back
  kFailed,
  kRolledBack,
  kTrouble,  ///< of the daemon itself
  kNoted,    ///< about a run as a whole
  kUnmet,    ///< an expectation is not met
  kMet,      ///< it is again
  kRequest,  ///< somebody asked for something on the bus, or it has ended
};

/// Its name for programs that follow: "repaired".
std::string_view name_of(Message message);

/// Is told what the journal is told, but for requests and messages of LOG_DEBUG, until the next call; nobody:
/// nullptr.
void follow(std::function<void(int priority, Message message, const std::string& text)> follower);

/// `fields`: NAME and value, "RDMA_RESOURCE" and the like. Without a journal the text goes to stderr.
void log(int priority, Message message, const std::string& text,
         const std::vector<std::pair<std::string, std::string>>& fields = {});

}  // namespace rdmacfg::daemon
