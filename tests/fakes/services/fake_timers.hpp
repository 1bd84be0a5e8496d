// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <map>
#include <string>

#include "fakes/faults.hpp"
#include "system/timers.hpp"

namespace rdmacfg::fakes {

/// Timers of the fake service manager; they never fire by themselves.
class FakeTimers final : public system::Timers {
 public:
  explicit FakeTimers(Faults& faults) : faults_(faults) {}

  std::map<std::string, std::chrono::milliseconds> armed;

  base::Result<void> arm(const std::string& name, std::chrono::milliseconds delay) override {
    return call("arm " + name, [&] { armed[name] = delay; });
  }
  base::Result<void> disarm(const std::string& name) override {
    return armed.contains(name) ? call("disarm " + name, [&] { armed.erase(name); }) : base::Result<void>{};
  }

 private:
  template <class F>
  base::Result<void> call(const std::string& what, F effect) {
    const int err = faults_.call(what, [&] {
      effect();
      return 0;
    });
    if (err != 0) return base::fail_errno(err, what);
    return {};
  }

  Faults& faults_;
};

}  // namespace rdmacfg::fakes
