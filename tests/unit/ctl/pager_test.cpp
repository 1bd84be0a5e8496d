// SPDX-License-Identifier: Apache-2.0
#include "ctl/pager.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace rdmacfg::ctl {
namespace {

Pager pager_with(const std::map<std::string, std::string>& variables,
                 LessOnHost less = LessOnHost::kInstalled) {
  return pager_of(
      [&](const char* name) {
        const auto at = variables.find(name);
        return at == variables.end() ? std::string() : at->second;
      },
      less);
}

TEST(Pager, IsTheUsersOwn) {
  EXPECT_EQ(pager_with({}), (Pager{"less", false}));
  EXPECT_EQ(pager_with({}, LessOnHost::kMissing), (Pager{"", false}));
  EXPECT_EQ(pager_with({{"PAGER", "more"}}), (Pager{"more", false}));
  EXPECT_EQ(pager_with({{"PAGER", "more"}, {"RDMA_CONFIGCTL_PAGER", "cat"}}), (Pager{"cat", false}));
  EXPECT_EQ(pager_with({{"PAGER", "more"}, {"SUDO_UID", "0"}}), (Pager{"more", false}));
}

TEST(Pager, StartsNoProgramForAnotherUser) {
  const std::map<std::string, std::string> callers{
      {"SUDO_UID", "1000"}, {"DOAS_USER", "somebody"}, {"PKEXEC_UID", "1000"}};
  for (const auto& caller : callers) {
    EXPECT_EQ(pager_with({caller}), (Pager{"/usr/bin/less", true})) << caller.first;
    EXPECT_EQ(pager_with({caller, {"PAGER", "vi -"}}), (Pager{"/usr/bin/less", true})) << caller.first;
    EXPECT_EQ(pager_with({caller, {"PAGER", "vi -"}}, LessOnHost::kMissing), (Pager{"", true}))
        << caller.first;
  }
}

}  // namespace
}  // namespace rdmacfg::ctl
