// SPDX-License-Identifier: Apache-2.0
// Files of ours that cannot be read (somebody has put a link in their place): resources in them fail, and
// by itself the daemon holds all else. And settings that are left alone within a resource that is held.
#include <gmock/gmock.h>

#include <cstddef>

#include "contract/commit_host.hpp"
#include "store/state.hpp"

namespace rdmacfg::contract {
namespace {

using model::Status;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kUnseenSysctl =
    "[[sysctl]]\nkey = \"net.ipv4.neigh.default.gc_thresh1\"\nvalue = 4096\n";
constexpr const char* kNamedPort = R"(version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "fab0"
mode = "connected"
mtu = 65520
)";
constexpr const char* kUnseenPort = "00:02:c9:03:00:31:78:f2";

const model::ResourceReport& resource(const Report& report, const model::Key& key) {
  const auto at = std::find_if(report.resources.begin(), report.resources.end(),
                               [&](const auto& candidate) { return candidate.key == key; });
  if (at == report.resources.end()) throw std::runtime_error("no report of " + key.text());
  return *at;
}

class Unseen : public testing::Test {
 protected:
  Unseen() {
    host.kernel().sysctl.set("net/ipv4/neigh/default/gc_thresh1", "128");
    EXPECT_TRUE(applied(host.commit(std::string(kNamedPort) + kUnseenSysctl)));
    host.kernel().faults.clear();
  }
  /// As on an event.
  Report hold() {
    return host.with([&](core::Context& context) {
      context.options.independent = true;
      context.options.fields_left_alone = left;
      return core::hold({.who = "", .what = "hold", .host_name = host.name, .by_itself = true}, context);
    });
  }
  fakes::Interface& fab0() { return *host.kernel().machine.find("fab0"); }

  Host host{two_ports()};
  std::map<model::Key, model::LeftFields> left;
};

TEST_F(Unseen, WhatIsInOneFileFailsAndTheRestIsHeld) {
  for (const auto* path :
       {"/etc/udev/rules.d/70-rdma-configd-ipoib.rules", "/etc/sysctl.d/zz-rdma-configd.conf"}) {
    SCOPED_TRACE(path);
    host.kernel().files.links.insert(path);
    fab0().mtu = 2044;
    const auto report = hold();
    EXPECT_EQ(resource(report, {"ipoib", kUnseenPort}).status, Status::kDone) << text_of(report);
    EXPECT_THAT(host.dump(), HasSubstr("up mtu 65520 connected"));
    EXPECT_THAT(report.resources, Contains(testing::Field(&model::ResourceReport::reason, HasSubstr(path))));
    EXPECT_EQ(host.commit(std::string(kNamedPort) + kUnseenSysctl).exit, Exit::kError)
        << "a person is told, and nothing is done";
    host.kernel().files.links.erase(path);
    EXPECT_EQ(hold().exit, Exit::kOk);
  }
}

TEST_F(Unseen, WhatIsRememberedOfItStays) {
  host.kernel().files.links.insert("/etc/sysctl.d/zz-rdma-configd.conf");
  fab0().mtu = 2044;
  (void)hold();
  host.kernel().files.links.clear();
  ASSERT_TRUE(applied(host.commit(kNamedPort)));
  EXPECT_EQ(host.kernel().sysctl.read("net/ipv4/neigh/default/gc_thresh1"), "128") << "as before";
}

TEST_F(Unseen, AJournalOfOtherKindsKeepsNothingFromBeingHeld) {
  const core::Paths records;
  std::size_t found = 0;
  for (std::size_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    fab0().mtu = 2044;
    host.kernel().faults.clear();
    host.kernel().faults.kill_at(n);
    bool killed = false;
    try {
      (void)hold();
    } catch (const fakes::Killed&) {
      killed = true;
    }
    host.kernel().faults.clear();
    if (!killed) break;
    if (!host.kernel().files.content.contains(records.journal)) continue;
    ++found;
    host.kernel().files.links.insert("/etc/sysctl.d/zz-rdma-configd.conf");
    fab0().mtu = 2044;
    const auto report = hold();
    EXPECT_EQ(resource(report, {"ipoib", kUnseenPort}).status, Status::kDone) << text_of(report);
    EXPECT_THAT(host.dump(), HasSubstr("up mtu 65520 connected"));
    host.kernel().files.links.clear();
    EXPECT_EQ(hold().exit, Exit::kOk);
  }
  EXPECT_GT(found, 0U);
}

TEST_F(Unseen, ASettingThatIsLeftAloneKeepsNoOtherFromBeingHeld) {
  const model::Key key{"ipoib", kUnseenPort};
  left[key] = {{"mtu"}, "somebody fights for it"};
  fab0().mtu = 2044;
  auto report = hold();
  EXPECT_TRUE(report.plan.empty());
  EXPECT_EQ(resource(report, key).status, Status::kFailed);
  EXPECT_EQ(resource(report, key).reason, "somebody fights for it");
  fab0().up = false;
  report = hold();
  ASSERT_EQ(report.plan.changes.size(), 1U) << text_of(report);
  EXPECT_EQ(report.plan.changes[0].fields, std::vector<std::string>{"state"});
  EXPECT_EQ(resource(report, key).status, Status::kDone);
  EXPECT_THAT(host.dump(), HasSubstr("up mtu 2044 connected"));
  left.clear();
  EXPECT_TRUE(applied(hold()));
  EXPECT_THAT(host.dump(), HasSubstr("up mtu 65520 connected"));
}

}  // namespace
}  // namespace rdmacfg::contract
