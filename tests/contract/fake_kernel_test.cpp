// SPDX-License-Identifier: Apache-2.0
// The fake behaves as the lab's kernel did; each behaviour checked here was seen there.
#include "fakes/fake_kernel.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <stdexcept>

namespace rdmacfg::fakes {
namespace {

using model::IpoibMode;
using system::LinkRequest;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kGuid0 = "00:02:c9:03:00:31:78:f2";
constexpr const char* kGuid1 = "00:02:c9:03:00:31:78:f3";

class FakeKernelTest : public testing::Test {
 protected:
  FakeKernelTest() {
    kernel_.add_device({.name = "mlx4_0", .pci = "0000:10:00.0"})
        .ib_port({.guid = kGuid0, .pkeys = {0xffff, 0x8002}})
        .ib_port({.guid = kGuid1, .group_mtu = 2048});
  }

  int ask(const LinkRequest& request) {
    const auto result = kernel_.execute(std::span(&request, 1));
    return result ? 0 : result.error().sys_errno;
  }
  int index(const std::string& name) { return kernel_.link(name).index; }
  model::Pkey pkey(std::int64_t number) { return model::Pkey::make(number).value(); }

  FakeKernel kernel_;
};

TEST_F(FakeKernelTest, NamesAreRefusedAsTheKernelRefusesThem) {
  kernel_.set_up("ib0");
  EXPECT_EQ(ask(system::SetLink{.index = index("ib0"), .name = "x"}), EBUSY);
  kernel_.machine.rename_up = true;
  EXPECT_EQ(ask(system::SetLink{.index = index("ib0"), .name = "ib1"}), EEXIST);
  EXPECT_EQ(ask(system::AddAltname{index("ib1"), "alt"}), 0);
  EXPECT_EQ(ask(system::SetLink{.index = index("ib0"), .name = "alt"}), EEXIST);
  EXPECT_EQ(ask(system::SetLink{.index = index("ib0"), .name = "sixteen-letters-"}), EINVAL);
  EXPECT_EQ(ask(system::SetLink{.index = index("ib0"), .name = "x"}), 0);
  EXPECT_EQ(ask(system::SetLink{.index = 99, .name = "y"}), ENODEV);
}

TEST_F(FakeKernelTest, MtuLimitsFollowTheMode) {
  const int ib0 = index("ib0");
  EXPECT_EQ(ask(system::SetLink{.index = ib0, .mtu = 71}), EINVAL);
  EXPECT_EQ(ask(system::SetLink{.index = ib0, .mtu = 4093}), EINVAL);
  EXPECT_EQ(ask(system::SetLink{.index = ib0, .mtu = 2044}), 0);
  ASSERT_TRUE(kernel_.write_mode("ib0", IpoibMode::kConnected));
  EXPECT_EQ(kernel_.link("ib0").mtu, 65520);
  EXPECT_EQ(ask(system::SetLink{.index = ib0, .mtu = 65521}), EINVAL);
  ASSERT_TRUE(kernel_.write_mode("ib0", IpoibMode::kDatagram));
  EXPECT_EQ(kernel_.link("ib0").mtu, 4092);
}

TEST_F(FakeKernelTest, TheMulticastGroupCapsTheMtuWithoutAnError) {
  EXPECT_EQ(ask(system::SetLink{.index = index("ib1"), .mtu = 4092}), 0);
  EXPECT_EQ(kernel_.link("ib1").mtu, 4092);
  kernel_.set_up("ib1");
  EXPECT_EQ(kernel_.link("ib1").mtu, 2044);
  EXPECT_EQ(ask(system::SetLink{.index = index("ib1"), .mtu = 4092}), 0);
  EXPECT_EQ(kernel_.link("ib1").mtu, 2044);
  EXPECT_EQ(ask(system::SetLink{.index = index("ib1"), .mtu = 1500}), 0);
  EXPECT_EQ(kernel_.link("ib1").mtu, 1500);
}

TEST_F(FakeKernelTest, SlowCarrierCapsTheMtuOnlyWhenItComes) {
  kernel_.machine.slow_carrier = true;
  kernel_.set_up("ib1");
  EXPECT_EQ(kernel_.link("ib1").mtu, 4092);
  const int indexes[] = {index("ib1"), index("ib0")};
  EXPECT_THAT(kernel_.wait_for_carrier(indexes, {}).value(), ElementsAre(index("ib0")));
  EXPECT_EQ(kernel_.link("ib1").mtu, 2044);
}

TEST_F(FakeKernelTest, EnhancedPortsRefuseConnectedMode) {
  FakeKernel kernel;
  kernel.add_device({.name = "mlx5_0", .driver = "mlx5_core", .connected = false}).ib_port({.guid = kGuid0});
  EXPECT_TRUE(kernel.has_mode_file("ib0"));
  EXPECT_EQ(kernel.write_mode("ib0", IpoibMode::kConnected).error().sys_errno, EINVAL);
  EXPECT_TRUE(kernel.write_mode("ib0", IpoibMode::kDatagram));
}

TEST_F(FakeKernelTest, ChildrenByNetlinkAndBySysfs) {
  const int ib0 = index("ib0");
  EXPECT_EQ(ask(system::CreateChild{ib0, "a", pkey(2)}), 0);
  EXPECT_EQ(kernel_.link("a").pkey, 0x8002);
  EXPECT_FALSE(kernel_.has_mode_file("a"));
  EXPECT_EQ(kernel_.write_mode("a", IpoibMode::kConnected).error().sys_errno, ENOENT);
  EXPECT_EQ(ask(system::CreateChild{ib0, "b", pkey(0x8002)}), 0) << "netlink lets duplicates through";
  EXPECT_EQ(ask(system::CreateChild{ib0, "a", pkey(3)}), EEXIST);
  EXPECT_EQ(ask(system::CreateChild{index("a"), "c", pkey(3)}), EINVAL);
  EXPECT_TRUE(kernel_.create_child("ib0", pkey(2)));
  EXPECT_EQ(kernel_.create_child("ib0", pkey(0x8002)).error().sys_errno, ENOTUNIQ);
  EXPECT_TRUE(kernel_.has_mode_file("ib0.8002"));
  EXPECT_EQ(ask(system::CreateChild{ib0, "ib0.8005", pkey(4)}), 0);
  EXPECT_EQ(kernel_.create_child("ib0", pkey(5)).error().sys_errno, EEXIST);
  EXPECT_EQ(ask(system::DeleteLink{ib0}), 0);
  EXPECT_NO_THROW(kernel_.link("ib0")) << "deleting a parent succeeds and does nothing";
  EXPECT_EQ(ask(system::DeleteLink{index("ib0.8002")}), 0);
  EXPECT_THROW(kernel_.link("ib0.8002"), std::runtime_error);
}

TEST_F(FakeKernelTest, AGroupGoesButForItsParents) {
  kernel_.add_child("ib0", 0x8002, "a").group = 7;
  kernel_.machine.add_link("dummy0", "dummy").group = 7;
  kernel_.link("ib0").group = 7;
  EXPECT_EQ(ask(system::DeleteGroup{8}), ENODEV);
  EXPECT_EQ(ask(system::DeleteGroup{7}), 0);
  EXPECT_THAT(kernel_.dump({.devices = false}),
              testing::Not(testing::AnyOf(HasSubstr("dummy0"), HasSubstr("link a"))));
  EXPECT_THAT(kernel_.dump({.devices = false}), HasSubstr("link ib0"));
}

TEST_F(FakeKernelTest, DownDropsWhatTheKernelDropsAndParentsTakeChildrenAlong) {
  kernel_.add_child("ib0", 0x8002);
  kernel_.set_up("ib0");
  EXPECT_TRUE(kernel_.link("ib0.8002").up);
  for (const auto* item : {"addr4 192.0.2.1/24", "addr6 2001:db8::1/64",
                           "route 198.51.100.0/24 via 192.0.2.9", "neigh 192.0.2.9"}) {
    kernel_.carry("ib0", item);
    kernel_.carry("ib0.8002", item);
  }
  kernel_.carry("ib0", "rule iif ib0 lookup 7");
  const auto before = kernel_.dump();
  const auto links = kernel_.observe_links().value();
  const auto carried = kernel_.observe_carried(links).value();
  kernel_.set_down("ib0");
  EXPECT_FALSE(kernel_.link("ib0.8002").up);
  EXPECT_THAT(kernel_.link("ib0.8002").items, ElementsAre("addr4 192.0.2.1/24"));
  EXPECT_EQ(ask(system::SetLink{.index = index("ib0"), .name = "new"}), 0);
  kernel_.set_up("new");
  for (const auto& state : carried) {
    if (state.items.empty()) continue;
    const std::string name = state.name == "ib0" ? "new" : state.name;
    EXPECT_TRUE(kernel_.restore_carried(state, index(name), name));
    EXPECT_TRUE(kernel_.restore_carried(state, index(name), name)) << "twice is harmless";
  }
  EXPECT_THAT(kernel_.machine.rules, ElementsAre("iif new lookup 7"));
  EXPECT_THAT(kernel_.link("ib0.8002").items.size(), 4U);
  EXPECT_EQ(kernel_.link("new").items.size(), 4U);
  kernel_.link("new").name = "ib0";
  kernel_.machine.rules = {"iif ib0 lookup 7"};
  EXPECT_EQ(kernel_.dump(), before);
}

TEST_F(FakeKernelTest, CarrierFollowsPortSubnetManagerAndTable) {
  kernel_.add_child("ib1", 0x8002, "late");
  kernel_.set_up("ib1");
  EXPECT_TRUE(kernel_.link("ib1").carrier);
  EXPECT_FALSE(kernel_.link("late").carrier);
  Port& port = *kernel_.machine.port_of(kernel_.link("ib1"));
  port.pkeys.push_back(0x0002);
  kernel_.machine.settle();
  EXPECT_TRUE(kernel_.link("late").carrier) << "a limited key is enough";
  port.sm = false;
  kernel_.machine.settle();
  EXPECT_TRUE(kernel_.link("ib1").carrier) << "a dead subnet manager is noticed at the next join";
  kernel_.set_down("ib1");
  kernel_.set_up("ib1");
  EXPECT_FALSE(kernel_.link("ib1").carrier);
}

TEST_F(FakeKernelTest, FaultsHitTheCallTheyAreMeantFor) {
  const int ib0 = index("ib0");
  kernel_.faults.fail_at(2, EIO);
  kernel_.faults.lie_at(3);
  kernel_.faults.fail_after_effect_at(4, EBUSY);
  kernel_.remove_device_at(6, "mlx4_0");
  EXPECT_EQ(ask(system::SetLink{.index = ib0, .mtu = 2000}), 0);
  EXPECT_EQ(ask(system::SetLink{.index = ib0, .mtu = 2001}), EIO);
  EXPECT_EQ(ask(system::SetLink{.index = ib0, .mtu = 2002}), 0);
  EXPECT_EQ(kernel_.link("ib0").mtu, 2000);
  EXPECT_EQ(kernel_.write_mode("ib0", IpoibMode::kConnected).error().sys_errno, EBUSY);
  EXPECT_EQ(kernel_.link("ib0").mtu, 65520);
  EXPECT_TRUE(kernel_.files.write("/etc/x", "1\n"));
  EXPECT_TRUE(kernel_.files.write("/etc/x", "1\n")) << "the same again does not count as a call";
  EXPECT_EQ(ask(system::SetLink{.index = ib0, .mtu = 2003}), ENODEV);
  EXPECT_EQ(kernel_.faults.calls(), 6U);
  kernel_.faults.clear();
  kernel_.faults.kill_at(1);
  EXPECT_THROW(static_cast<void>(kernel_.files.remove("/etc/x")), Killed);
  EXPECT_THAT(kernel_.files.list("/etc").value(), ElementsAre("x"));
}

TEST_F(FakeKernelTest, ADescriptionAndTheBuilderMakeTheSameHost) {
  const auto described = FakeKernel::parse(R"({
    "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
      { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", 32770], "interface": { "name": "ib1", "up": true,
        "children": [{ "pkey": 2, "name": "c", "by": "sysfs", "mode": "connected", "mtu": 9000 }] } },
      { "guid": "00:02:c9:03:00:31:78:f3", "group_mtu": 2048, "interface": { "name": "ib0" } }] }],
    "links": [{ "name": "eth0", "up": true, "items": ["addr4 203.0.113.1/24"] }]
  })");
  kernel_.machine.add_link("eth0", "");
  kernel_.set_up("eth0");
  kernel_.carry("eth0", "addr4 203.0.113.1/24");
  kernel_.link("ib0").name = "swap";
  kernel_.link("ib1").name = "ib0";
  kernel_.link("swap").name = "ib1";
  kernel_.set_up("ib1");
  kernel_.add_child("ib1", 2, "c", Maker::kSysfs);
  kernel_.set_mode("c", IpoibMode::kConnected);
  kernel_.set_mtu("c", 9000);
  EXPECT_EQ(described->dump(), kernel_.dump());
  EXPECT_THROW(FakeKernel::parse(R"({"device": []})"), std::runtime_error);
}

TEST_F(FakeKernelTest, ARebootNamesByTheRules) {
  kernel_.files.content["/etc/udev/rules.d/70-x.rules"] =
      "# comment NAME=\"no\"\nACTION==\"add\", ATTR{address}==\"?*00:02:c9:03:00:31:78:f3\", "
      "NAME=\"storage\"\n";
  kernel_.add_child("ib0", 0x8002);
  const auto boot = kernel_.boot_id;
  kernel_.reboot();
  EXPECT_NE(kernel_.boot_id, boot);
  EXPECT_EQ(kernel_.link("storage").port, 2);
  EXPECT_THROW(kernel_.link("ib0.8002"), std::runtime_error);
}

}  // namespace
}  // namespace rdmacfg::fakes
