// SPDX-License-Identifier: Apache-2.0
// Clients with a look of theirs under way: when one leaves the bus, nobody wants the answer.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "model/limits.hpp"

namespace rdmacfg::daemon {

class Callers {
 public:
  /// A call of this client came, which may become a look. False when `most` clients have one already.
  bool came(const std::string& name, std::size_t most = model::limits::kLeavingClients) {
    if (!all_.contains(name) && all_.size() >= most) return false;
    ++all_[name].calls;
    return true;
  }

  /// The call has become a job, or nothing (0). @return whether the client is still there
  bool became(const std::string& name, std::uint32_t job) {
    const auto at = all_.find(name);
    if (at == all_.end()) return false;
    const bool here = !at->second.gone;
    --at->second.calls;
    if (here && job != 0) at->second.jobs.insert(job);
    forget_if_done(at);
    return here;
  }

  [[nodiscard]] bool is_gone(const std::string& name) const {
    const auto at = all_.find(name);
    return at == all_.end() || at->second.gone;
  }

  void ended(const std::string& name, std::uint32_t job) {
    const auto at = all_.find(name);
    if (at == all_.end()) return;
    at->second.jobs.erase(job);
    forget_if_done(at);
  }

  /// It has left the bus. @return its looks
  std::set<std::uint32_t> left(const std::string& name) {
    const auto at = all_.find(name);
    if (at == all_.end()) return {};
    at->second.gone = true;
    auto jobs = at->second.jobs;
    forget_if_done(at);
    return jobs;
  }

  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  struct Client {
    std::size_t calls = 0;  ///< of which it is not known yet what they become
    std::set<std::uint32_t> jobs{};
    bool gone = false;
  };
  void forget_if_done(std::map<std::string, Client>::iterator at) {
    if (at->second.calls == 0 && at->second.jobs.empty()) all_.erase(at);
  }

  std::map<std::string, Client> all_;
};

}  // namespace rdmacfg::daemon
