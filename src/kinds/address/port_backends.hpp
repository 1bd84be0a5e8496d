// SPDX-License-Identifier: Apache-2.0
// Which program configures the interfaces of each port.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/error.hpp"
#include "kinds/bound.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

/// The meaning of "auto" for each port of `bound`: the earlier decision (our rule file is the pin), else the
/// network manager of the host.
class Backends {
 public:
  explicit Backends(const Bound& bound);

  /// `port` is one of `bound`. Never auto, but where there is no host to look at.
  [[nodiscard]] model::Backend of(const BoundPort& port) const;

  /// Why that is only a guess, which must not be pinned; nullptr where it is not.
  [[nodiscard]] const base::Error* why_unknown(const BoundPort& port) const;

 private:
  std::map<std::string, model::Backend, std::less<>> decided_;  ///< by BoundPort::id
  std::set<std::string, std::less<>> guessed_;
  std::optional<base::Error> error_;
};

}  // namespace rdmacfg::kinds
