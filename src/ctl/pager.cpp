// SPDX-License-Identifier: Apache-2.0
#include "ctl/pager.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rdmacfg::ctl {

namespace {

/// By what sudo(8), doas(1) and pkexec(1) leave in the environment.
bool is_for_another_user(const std::function<std::string(const char* name)>& variable) {
  constexpr std::array<const char*, 3> kCallers{"SUDO_UID", "DOAS_USER", "PKEXEC_UID"};
  return std::any_of(kCallers.begin(), kCallers.end(), [&](const char* name) {
    const auto caller = variable(name);
    return !caller.empty() && caller != "0" && caller != "root";
  });
}

}  // namespace

Pager pager_of(const std::function<std::string(const char* name)>& variable, LessOnHost less) {
  const std::string usual = less == LessOnHost::kInstalled ? "less" : "";
  // Not the first less of a PATH that may be the user's own.
  if (is_for_another_user(variable)) return {usual.empty() ? usual : kLess, true};
  for (const char* name : {"RDMA_CONFIGCTL_PAGER", "PAGER"}) {
    if (auto pager = variable(name); !pager.empty()) return {std::move(pager), false};
  }
  return {usual, false};
}

}  // namespace rdmacfg::ctl
