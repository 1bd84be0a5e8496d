// SPDX-License-Identifier: Apache-2.0
// Counts the calls that change the fake host, and makes chosen ones go wrong.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rdmacfg::fakes {

/// Thrown out of the n-th call by kill_at(): the program ends here, as by SIGKILL. Earlier changes stay
/// done.
struct Killed {};

/// Calls are numbered from 1 since the last clear().
class Faults {
 public:
  /// The n-th call fails with `err` and has no effect.
  void fail_at(std::size_t n, int err) { at_[n] = {Sort::kFail, err}; }
  /// It and every later one.
  void fail_from(std::size_t n, int err) { from_ = {n, err}; }
  /// It has its effect and fails all the same (a mode change whose RTNL was lost).
  void fail_after_effect_at(std::size_t n, int err) { at_[n] = {Sort::kLateFail, err}; }
  /// It reports success and does nothing.
  void lie_at(std::size_t n) { at_[n] = {Sort::kLie, 0}; }
  /// Every call whose text contains `part` reports success and does nothing.
  void lie_about(std::string part) { lies_.push_back(std::move(part)); }
  /// Every call whose text contains `part` fails with `err`.
  void refuse(std::string part, int err) { refusals_.emplace_back(std::move(part), err); }
  /// It throws Killed instead of having its effect.
  void kill_at(std::size_t n) { at_[n] = {Sort::kKill, 0}; }
  /// Something else happens on the host just before it.
  void before(std::size_t n, std::function<void()> event) { events_[n] = std::move(event); }

  /// Forgets every fault and starts counting again.
  void clear();

  [[nodiscard]] std::size_t calls() const { return log_.size(); }
  /// The calls, in order: "ib0: set mtu 2044".
  [[nodiscard]] const std::vector<std::string>& log() const { return log_; }

  /// One mutating call: counts it, and carries out `effect` (which returns 0 or an errno) unless told
  /// otherwise.
  /// @return what the caller is to see: 0 or an errno.
  int call(const std::string& what, const std::function<int()>& effect);

 private:
  enum class Sort { kFail, kLateFail, kLie, kKill };
  struct Fault {
    Sort sort = Sort::kFail;
    int err = 0;
  };

  std::map<std::size_t, Fault> at_;
  std::optional<std::pair<std::size_t, int>> from_;
  std::map<std::size_t, std::function<void()>> events_;
  std::vector<std::string> lies_;
  std::vector<std::pair<std::string, int>> refusals_;
  std::vector<std::string> log_;
};

}  // namespace rdmacfg::fakes
