// SPDX-License-Identifier: Apache-2.0
#include "fakes/faults.hpp"

namespace rdmacfg::fakes {

void Faults::clear() { *this = {}; }

int Faults::call(const std::string& what, const std::function<int()>& effect) {
  log_.push_back(what);
  const std::size_t n = log_.size();
  if (const auto event = events_.find(n); event != events_.end()) event->second();
  if (from_ && n >= from_->first) return from_->second;
  if (const auto fault = at_.find(n); fault != at_.end()) {
    switch (fault->second.sort) {
      case Sort::kFail:
        return fault->second.err;
      case Sort::kLateFail:
        if (const int err = effect(); err != 0) return err;
        return fault->second.err;
      case Sort::kLie:
        return 0;
      case Sort::kKill:
        throw Killed{};
    }
  }
  for (const auto& [part, err] : refusals_) {
    if (what.find(part) != std::string::npos) return err;
  }
  for (const auto& part : lies_) {
    if (what.find(part) != std::string::npos) return 0;
  }
  return effect();
}

}  // namespace rdmacfg::fakes
