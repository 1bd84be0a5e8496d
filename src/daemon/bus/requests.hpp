// SPDX-License-Identifier: Apache-2.0
// A line in the journal for each request on the bus: the caller, the request, and its outcome.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "daemon/bus/authority.hpp"
#include "daemon/jobs/job.hpp"
#include "daemon/jobs/jobs.hpp"
#include "daemon/loop.hpp"

namespace rdmacfg::daemon {

/// How many lines a user gets: a reader in a loop must not push other messages out of the journal. All users
/// except root also share a limit: with subordinate user IDs (subuid(5)) one person has 65,536.
class RequestLines {
 public:
  using Time = std::chrono::milliseconds;
  static constexpr std::size_t kLines = 30;        ///< per user
  static constexpr std::size_t kLinesInAll = 300;  ///< of all users except root
  static constexpr Time kWithin{30'000};
  static constexpr std::size_t kUsers = 1024;

  /// Whether the line is written; root's always are. `left_out`: lines of the user that were not since the
  /// last one that was.
  bool take(std::uint32_t uid, Time now, std::size_t& left_out);

  /// A line about a change for which take() said no: `write` waits until it is known what the change did.
  using Write = std::function<void()>;
  void withhold(std::uint32_t job, std::uint32_t uid, Write write) {
    withheld_.insert_or_assign(job, Withheld{uid, std::move(write)});
  }

  /// The change has ended: writes the line that was withheld if it `took_effect`.
  /// @return whether the end is told, too
  bool settle(std::uint32_t job, const std::function<bool()>& took_effect);

  /// Whether the ledger is another one than at the last call. `status`: Outcome::status.
  bool is_new(const nlohmann::ordered_json& status);

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
  struct Withheld {
    std::uint32_t uid = 0;
    Write write;
  };
  std::map<std::uint32_t, Withheld> withheld_;  ///< by job: no more than the queue has
  nlohmann::ordered_json ledger_;               ///< as the last change left it
};

/// "uid 1000, process 4711 (busctl)"
std::string described(const Caller& caller);

/// How a request was answered.
struct RequestVerdict {
  enum class Sort {
    kAllowed,
    kBegun,  ///< allowed, and its job changes the host: tell_request_ended() follows
    kDenied,
    kRefused,
    kDropped,
  };

  Sort sort = Sort::kAllowed;
  std::string why{};  ///< of kRefused and kDropped

  [[nodiscard]] std::string text() const;  ///< "allowed", "refused: too many jobs are waiting"
};

/// `action`: "org.rdmaconfigd1.read"; `job`: 0 without one. Root's requests are always told, those of others
/// within the limits of `lines`; beyond them a change is told when it has ended, if it took effect.
void tell_request(RequestLines& lines, const Caller& caller, const std::string& method,
                  const std::string& action, const RequestVerdict& verdict, std::uint32_t job,
                  RequestLines::Time now = Loop::now());

/// How the change that was asked for ended; nothing where nothing came of it and its request was not told.
void tell_request_ended(RequestLines& lines, const Job& job, const Outcome& outcome);

}  // namespace rdmacfg::daemon
