// SPDX-License-Identifier: Apache-2.0
// The choice of the program that shows long output on a terminal.
#pragma once

#include <functional>
#include <string>

namespace rdmacfg::ctl {

struct Pager {
  std::string command;    ///< for sh(1); empty: there is none
  bool confined = false;  ///< less(1) may start no other program (LESSSECURE)

  bool operator==(const Pager&) const = default;
};

/// The less(1) of LessOnHost.
inline constexpr const char* kLess = "/usr/bin/less";

enum class LessOnHost { kInstalled, kMissing };

/// $RDMA_CONFIGCTL_PAGER, $PAGER, or less. A pager starts programs for its user. With sudo, doas or pkexec
/// that user is another one, who may have been allowed this command alone: then it is less in its secure
/// mode, whatever the variables say, or none.
/// @param variable  the value of a variable of the environment, empty where it is not set
Pager pager_of(const std::function<std::string(const char* name)>& variable, LessOnHost less);

}  // namespace rdmacfg::ctl
