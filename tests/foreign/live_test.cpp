// SPDX-License-Identifier: Apache-2.0
// Remarks of the import of the running host on what it leaves to others.
#include "foreign/import/live.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "fakes/fake_kernel.hpp"
#include "kinds/world.hpp"

namespace rdmacfg::foreign {
namespace {

std::string host_with_items(const std::string& items, const std::string& links) {
  return R"({ "devices": [{ "name": "mlx4_0", "ports": [{ "guid": "00:02:c9:03:00:31:78:f2",
    "interface": { "name": "ib0", "up": true, "items": [)" +
         items + R"(] } }] }], "links": [)" + links + "] }";
}

struct LiveCase {
  std::string items;
  std::string links;
  bool adopt = false;
  std::vector<std::string> passed;
};

TEST(LiveImport, NamesWhatIsLeftToOthers) {
  const std::string lease =
      "(from DHCP or a router, so not permanent; method = \"auto\" requests such addresses)";
  const std::vector<LiveCase> cases{
      {"", "", false, {}},
      {R"("addr4 192.0.2.1/24")", "", false, {"not taken over without --adopt: 192.0.2.1/24"}},
      {R"("addr4 192.0.2.1/24", "addr6 2001:db8::1/64")",
       "",
       false,
       {"not taken over without --adopt: 192.0.2.1/24, 2001:db8::1/64"}},
      {R"("route 198.51.100.0/24 via 192.0.2.9")", "", false, {"not taken over without --adopt: its routes"}},
      {R"("addr4 192.0.2.1/24")", "", true, {}},
      {R"("addr4 192.0.2.77/24 dynamic")", "", false, {"left out: 192.0.2.77/24 " + lease}},
      {R"("addr4 192.0.2.1/24 peer 203.0.113.9")",
       "",
       true,
       {"left out: 192.0.2.1/24 (with a peer, which the document cannot express)"}},
      {R"("addr4 192.0.2.1/24", "route default via 192.0.2.254 tos 16")",
       "",
       true,
       {"left out: routes to default (for packets with one TOS or from one network, which the document "
        "cannot "
        "express)"}},
      {R"("addr4 192.0.2.77/24 dynamic", "route 198.51.100.0/24 via 192.0.2.9")",
       "",
       true,
       {"left out: 192.0.2.77/24 and the route to 198.51.100.0/24 " + lease}},
      {"",
       R"({ "name": "bond0", "kind": "bond", "over": ["ib0"] })",
       false,
       {"is in a bond, which the document cannot express"}},
  };
  for (const auto& row : cases) {
    const auto kernel = fakes::FakeKernel::parse(host_with_items(row.items, row.links));
    auto host = kernel->host();
    const auto world = kinds::World::observe(host);
    ASSERT_TRUE(world) << world.error().message;
    Claims claims;
    ASSERT_TRUE(observe_live(*world, row.adopt, claims));
    std::vector<std::string> passed;
    for (const auto& remark : claims.passed) {
      EXPECT_EQ(remark.where.text(), "the interface ib0");
      passed.push_back(remark.text);
    }
    EXPECT_EQ(passed, row.passed) << row.items << row.links;
  }
}

TEST(LiveImport, SaysWhatCannotBeRead) {
  const auto kernel = fakes::FakeKernel::parse(host_with_items("", ""));
  auto host = kernel->host();
  const auto world = kinds::World::observe(host);
  ASSERT_TRUE(world) << world.error().message;
  kernel->inet.observe_error = EPERM;
  Claims claims;
  const auto done = observe_live(*world, false, claims);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "reading addresses: RTM_GETADDR: Operation not permitted");
}

}  // namespace
}  // namespace rdmacfg::foreign
