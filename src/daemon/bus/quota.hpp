// SPDX-License-Identifier: Apache-2.0
// Counts jobs, queries and remembered clients against their limits, per client and in total.
#pragma once

#include <cstddef>
#include <map>
#include <unordered_set>

namespace rdmacfg::daemon {

template <class Key>
class Quota {
 public:
  Quota(std::size_t in_all, std::size_t of_one) : in_all_(in_all), of_one_(of_one) {}

  /// False when there is no room for one more; else release() has to follow.
  bool try_acquire(const Key& key) {
    if (taken_ >= in_all_) return false;
    const auto at = taken_of_.find(key);
    if (at != taken_of_.end() && at->second >= of_one_) return false;
    ++taken_;
    ++taken_of_[key];
    return true;
  }

  void release(const Key& key) {
    const auto at = taken_of_.find(key);
    if (at == taken_of_.end()) return;
    --taken_;
    if (--at->second == 0) taken_of_.erase(at);
  }

 private:
  std::size_t in_all_, of_one_;
  std::size_t taken_ = 0;
  std::map<Key, std::size_t> taken_of_;
};

/// Answers that need not be asked for again. One more than `most`, and all is forgotten.
template <class Key>
class Known {
 public:
  explicit Known(std::size_t most) : most_(most) {}

  [[nodiscard]] bool contains(const Key& key) const { return keys_.contains(key); }
  void add(const Key& key) {
    if (keys_.size() >= most_ && !keys_.contains(key)) keys_.clear();
    keys_.insert(key);
  }

 private:
  std::size_t most_;
  std::unordered_set<Key> keys_;
};

}  // namespace rdmacfg::daemon
