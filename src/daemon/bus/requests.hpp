// SPDX-License-Identifier: Apache-2.0
// A line in the journal for each request on the bus: the caller, the request, and its outcome.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "daemon/bus/authority.hpp"
#include "daemon/jobs/job.hpp"
#include "daemon/jobs/jobs.hpp"

namespace rdmacfg::daemon {

/// How many lines a user gets: a reader in a loop must not push other messages out of the journal. All users
/// except root also share a limit: with subordinate user IDs (subuid(5)) one person has 65,536.
class RequestLines {
 public:
  using Time = std::chrono::milliseconds;
  static constexpr std::size_t kLines = 30;        ///< of one user
  static constexpr std::size_t kLinesInAll = 300;  ///< of all users except root
  static constexpr Time kWithin{30'000};
  static constexpr std::size_t kUsers = 1024;

  /// Whether the line is written. `left_out`: lines of the user that were not since the last one that was.
  bool take(std::uint32_t uid, Time now, std::size_t& left_out);

 private:
  struct User {
    Time since{0};
    std::size_t lines = 0, left_out = 0;
  };
  /// Restarts the count at the end of the interval.
  static void renew(User& user, Time now) {
    if (user.lines != 0 && now - user.since < kWithin) return;
    user.since = now;
    user.lines = 0;
  }

  std::map<std::uint32_t, User> users_;
  User others_;  ///< all users except root together
};

/// "uid 1000, process 4711 (busctl)"
std::string described(const Caller& caller);

/// How a request was answered.
struct RequestVerdict {
  enum class Sort { kAllowed, kDenied, kRefused, kDropped };

  Sort sort = Sort::kAllowed;
  std::string why{};  ///< of kRefused and kDropped

  [[nodiscard]] std::string text() const;  ///< "allowed", "refused: too many jobs are waiting"
};

/// `action`: "org.rdmaconfigd1.read"; `job`: 0 without one. Requests for a change, and of root, are always
/// told.
void tell_request(RequestLines& lines, const Caller& caller, const std::string& method,
                  const std::string& action, const RequestVerdict& verdict, std::uint32_t job);

/// How the change that was asked for ended.
void tell_request_ended(const Job& job, const Outcome& outcome);

}  // namespace rdmacfg::daemon
