// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rdma/rdma_netlink.h>

#include <map>

#include "system/linux/linux_host.hpp"
#include "system/linux/netlink/netlink_message.hpp"
#include "system/linux/netlink/rdma_netlink.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A sysfs with one two-port HCA on PCI, an RDMA NIC and a software device, laid out as a 6.1 kernel does.
class RdmaDevicesTest : public ::testing::Test {
 protected:
  static constexpr const char* kPci = "/devices/pci0000:00/0000:10:00.0";

  void device(const std::string& name, const std::string& parent) const {
    const std::string at = "/class/infiniband/" + name;
    tree.put(at + "/node_type", "1: CA\n");
    tree.put(at + "/fw_ver", "2.42.5000\n");
    tree.put(at + "/node_desc", "node " + name + "\n");
    tree.put(at + "/node_guid", "0002:c903:0031:78f0\n");
    tree.put(at + "/sys_image_guid", "0002:c903:0031:78f3\n");
    if (!parent.empty()) tree.link(at + "/device", tree.at(parent));
  }

  void port(const std::string& name, int number, const std::string& layer, const std::string& gid) const {
    const std::string at = "/class/infiniband/" + name + "/ports/" + std::to_string(number);
    tree.put(at + "/state", "4: ACTIVE\n");
    tree.put(at + "/phys_state", "5: LinkUp\n");
    tree.put(at + "/rate", "56 Gb/sec (4X FDR)\n");
    tree.put(at + "/link_layer", layer + "\n");
    tree.put(at + "/lid", "0x1a\n");
    tree.put(at + "/sm_lid", "0x1\n");
    tree.put(at + "/lid_mask_count", "0\n");
    tree.put(at + "/cap_mask", "0x02514868\n");
    tree.put(at + "/gids/0", gid + "\n");
  }

  void netdev(const std::string& name, int index, int iflink, int dev_port, const std::string& parent) const {
    const std::string at = "/class/net/" + name;
    tree.put(at + "/type", "32\n");
    tree.put(at + "/ifindex", std::to_string(index) + "\n");
    tree.put(at + "/iflink", std::to_string(iflink) + "\n");
    tree.put(at + "/dev_port", std::to_string(dev_port) + "\n");
    tree.put(at + "/address",
             "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f" + std::to_string(dev_port + 1));
    if (!parent.empty()) tree.link(at + "/device", tree.at(parent));
  }

  void SetUp() override {
    tree.put("/bus/pci/drivers/mlx4_core/bind", "");
    tree.put(std::string(kPci) + "/vendor", "0x15b3\n");
    tree.link(std::string(kPci) + "/driver", "../../../bus/pci/drivers/mlx4_core");
    tree.link(std::string(kPci) + "/subsystem", "../../../bus/pci");
  }

  TempTree tree;
  std::optional<std::map<std::string, std::string>> registered;  ///< as netlink has them
  std::map<std::string, std::string> told;  ///< interfaces by "siw0/1", as netlink tells them
  std::unique_ptr<Rdma> rdma = make_linux_rdma(
      tree.path(),
      [this](const std::string& device, int port) {
        const auto at = told.find(device + "/" + std::to_string(port));
        return at == told.end() ? std::nullopt : std::optional(at->second);
      },
      [this] { return registered; });
};

TEST_F(RdmaDevicesTest, NoneWithoutTheClass) { EXPECT_THAT(rdma->observe_devices().value(), IsEmpty()); }

TEST_F(RdmaDevicesTest, ReadsDeviceAndPorts) {
  device("mlx4_0", kPci);
  port("mlx4_0", 1, "InfiniBand", "fe80:0000:0000:0001:0002:c903:0031:78f1");
  port("mlx4_0", 2, "InfiniBand", "fe80:0000:0000:0001:0002:c903:0031:78f2");
  netdev("ib0", 5, 5, 0, kPci);
  netdev("ib1", 6, 6, 1, kPci);
  netdev("ib0.8002", 7, 5, 0, "");
  const auto devices = rdma->observe_devices().value();
  ASSERT_EQ(devices.size(), 1U);
  const auto& found = devices[0];
  EXPECT_EQ(found.name, "mlx4_0");
  EXPECT_EQ(found.node_type, "CA");
  EXPECT_EQ(found.firmware, "2.42.5000");
  EXPECT_EQ(found.board_id, "");  // not every driver has one
  EXPECT_EQ(found.node_description, "node mlx4_0");
  EXPECT_EQ(found.node_guid.text(), "00:02:c9:03:00:31:78:f0");
  EXPECT_EQ(found.system_guid.text(), "00:02:c9:03:00:31:78:f3");
  EXPECT_EQ(found.driver, "mlx4_core");
  EXPECT_EQ(found.pci, "0000:10:00.0");
  ASSERT_EQ(found.ports.size(), 2U);
  const auto& second = found.ports[1];
  EXPECT_EQ(second.number, 2);
  EXPECT_EQ(second.state, "ACTIVE");
  EXPECT_EQ(second.physical_state, "LinkUp");
  EXPECT_EQ(second.rate, "56 Gb/sec (4X FDR)");
  EXPECT_EQ(second.lid, 26);
  EXPECT_EQ(second.sm_lid, 1);
  EXPECT_EQ(second.lmc, 0);
  EXPECT_EQ(second.capabilities, 0x02514868U);
  EXPECT_EQ(second.guid.text(), "00:02:c9:03:00:31:78:f2");
  EXPECT_EQ(second.gid_prefix, "fe80:0000:0000:0001");
  EXPECT_THAT(second.netdevs, ElementsAre("ib1"));
  EXPECT_THAT(found.ports[0].netdevs, ElementsAre("ib0"));
}

TEST_F(RdmaDevicesTest, OneThatNetlinkHasNoMoreIsLeaving) {
  for (const auto* name : {"mlx4_0", "mlx4_1"}) {
    device(name, kPci);
    port(name, 1, "InfiniBand", "fe80:0000:0000:0000:0002:c903:0031:78f1");
  }
  const auto unasked = rdma->observe_devices().value();
  for (const auto& device : unasked) EXPECT_FALSE(device.leaving) << "nobody to ask";
  registered = std::map<std::string, std::string>{{"mlx4_1", "ib"}};
  const auto devices = rdma->observe_devices().value();
  ASSERT_EQ(devices.size(), 2U);
  for (const auto& device : devices) EXPECT_EQ(device.leaving, device.name == "mlx4_0") << device.name;
}

TEST_F(RdmaDevicesTest, DoesNotLookAtKnownChildren) {
  device("mlx4_0", kPci);
  port("mlx4_0", 1, "InfiniBand", "fe80:0000:0000:0001:0002:c903:0031:78f1");
  netdev("ib0", 5, 5, 0, kPci);
  netdev("known", 6, 6, 0, kPci);  // what sysfs says of it would make it the port's own
  const auto devices = rdma->observe_devices({"known"}).value();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_THAT(devices[0].ports.at(0).netdevs, ElementsAre("ib0"));
}

TEST_F(RdmaDevicesTest, EthernetPortsNameTheirNetdevAndHaveNoGuid) {
  device("mlx5_0", kPci);
  port("mlx5_0", 1, "Ethernet", "fe80:0000:0000:0000:0202:c9ff:fe31:78f1");
  tree.put("/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "ens1f0np0\n");
  const auto devices = rdma->observe_devices().value();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].ports.at(0).guid.number, 0U);
  EXPECT_THAT(devices[0].ports.at(0).netdevs, ElementsAre("ens1f0np0"));
}

TEST_F(RdmaDevicesTest, WhatIsInABondBelongsToThePortOfItsParent) {
  const std::string other = "/devices/pci0000:00/0000:00:09.1";
  tree.put(other + "/vendor", "0x15b3\n");
  tree.link(other + "/subsystem", "../../../bus/pci");
  tree.put("/class/net/bond0/ifindex", "9\n");
  for (const auto& [device_name, parent, slave] :
       {std::tuple{"mlx5_0", std::string(kPci), "ens1f0np0"}, std::tuple{"mlx5_1", other, "ens1f1np1"}}) {
    device(device_name, parent);
    port(device_name, 1, "Ethernet", "fe80:0000:0000:0000:0202:c9ff:fe31:78f1");
    tree.put("/class/infiniband/" + std::string(device_name) + "/ports/1/gid_attrs/ndevs/0", "bond0\n");
    netdev(slave, 5, 5, 0, parent);
    tree.link("/class/net/bond0/lower_" + std::string(slave), "../" + std::string(slave));
  }
  const auto devices = rdma->observe_devices().value();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_THAT(devices[0].ports.at(0).netdevs, ElementsAre("bond0", "ens1f0np0"));
  EXPECT_THAT(devices[1].ports.at(0).netdevs, ElementsAre("bond0", "ens1f1np1"));
}

TEST_F(RdmaDevicesTest, WithoutAParentTheGuidSaysWhoseNetdevItIs) {
  device("soft0", "");
  port("soft0", 1, "InfiniBand", "fe80:0000:0000:0000:0002:c903:0031:78f1");
  netdev("ib0", 5, 5, 0, "");
  netdev("ib1", 6, 6, 1, "");
  netdev("ib0.8002", 7, 5, 0, "");
  const auto devices = rdma->observe_devices().value();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].driver, "");
  EXPECT_EQ(devices[0].pci, "");
  EXPECT_THAT(devices[0].ports.at(0).netdevs, ElementsAre("ib0"));
}

TEST_F(RdmaDevicesTest, WhatCannotBeReadIsAnErrorAndNoOtherDevice) {
  device("mlx5_9", "");
  port("mlx5_9", 1, "Ethernet", "fe80:0000:0000:0000:0202:c9ff:fe31:78f2");
  tree.link("/class/infiniband/mlx5_9/device", "device");  // ELOOP, in place of what root does not get
  const auto devices = rdma->observe_devices();
  ASSERT_FALSE(devices);
  EXPECT_THAT(devices.error().message, ::testing::HasSubstr("mlx5_9/device"));
}

TEST_F(RdmaDevicesTest, LeavesOutWhatIsGoing) {
  device("mlx4_0", kPci);
  port("mlx4_0", 1, "InfiniBand", "fe80:0000:0000:0000:0002:c903:0031:78f1");
  tree.put("/class/infiniband/going/fw_ver", "1\n");  // half of it is gone already
  tree.link("/class/infiniband/gone", "nowhere");
  const auto devices = rdma->observe_devices().value();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].name, "mlx4_0");
}

TEST_F(RdmaDevicesTest, SiwRunsOverWhatSysfsOrElseNetlinkSays) {
  device("siw0", "");
  port("siw0", 1, "Ethernet", "0202:c9ff:fe31:78f1:0000:0000:0000:0000");
  tree.put("/class/infiniband/siw0/node_type", "4: RNIC\n");
  tree.put("/class/infiniband/siw0/ports/1/gid_attrs/ndevs/0", "");
  const auto found = [&] { return rdma->observe_devices().value().at(0); };
  EXPECT_EQ(found().soft, "siw");
  EXPECT_THAT(found().ports.at(0).netdevs, IsEmpty());
  told["siw0/1"] = "eth0";
  EXPECT_THAT(found().ports.at(0).netdevs, ElementsAre("eth0"));
  tree.put("/class/infiniband/siw0/ports/1/gid_attrs/ndevs/0", "eth1\n");
  EXPECT_THAT(found().ports.at(0).netdevs, ElementsAre("eth1"));
}

TEST_F(RdmaDevicesTest, SiwBelowTheParentOfItsInterfaceIsSiw) {
  device("siw0", kPci);
  port("siw0", 1, "Ethernet", "0202:c9ff:fe31:78f1:0000:0000:0000:0000");
  tree.put("/class/infiniband/siw0/node_type", "4: RNIC\n");
  told["siw0/1"] = "eth0";
  EXPECT_EQ(rdma->observe_devices().value().at(0).soft, "") << "an adapter's";
  tree.put("/class/infiniband/siw0/node_desc", "Software iWARP stack\n");
  const auto found = rdma->observe_devices().value().at(0);
  EXPECT_EQ(found.soft, "siw");
  EXPECT_EQ(found.driver + found.pci, "");
  EXPECT_THAT(found.ports.at(0).netdevs, ElementsAre("eth0"));
}

TEST_F(RdmaDevicesTest, AnIwarpAdapterRunsOverWhatNetlinkSays) {
  device("irdma0", kPci);
  port("irdma0", 1, "Ethernet", "0202:c9ff:fe31:78f1:0000:0000:0000:0000");
  told["irdma0/1"] = "ens1f0";
  tree.put("/class/infiniband/irdma0/node_type", "4: RNIC\n");
  const auto found = rdma->observe_devices().value().at(0);
  EXPECT_EQ(found.soft, "");
  EXPECT_EQ(found.driver, "mlx4_core");
  EXPECT_THAT(found.ports.at(0).netdevs, ElementsAre("ens1f0"));
}

TEST_F(RdmaDevicesTest, TheIdlePortOfABondHasNoGid) {
  device("bnxt_re1", kPci);
  port("bnxt_re1", 1, "Ethernet", "0000:0000:0000:0000:0000:0000:0000:0000");
  told["bnxt_re1/1"] = "ens1f1";
  EXPECT_THAT(rdma->observe_devices().value().at(0).ports.at(0).netdevs, ElementsAre("ens1f1"));
  tree.put("/class/infiniband/bnxt_re1/ports/1/gid_attrs/ndevs/0", "bond0\n");
  EXPECT_THAT(rdma->observe_devices().value().at(0).ports.at(0).netdevs, ElementsAre("bond0"));
}

TEST_F(RdmaDevicesTest, RxeOverTheIdlePortOfABondHasNoGid) {
  device("rxe0", "");
  port("rxe0", 1, "Ethernet", "0000:0000:0000:0000:0000:0000:0000:0000");
  tree.put("/class/infiniband/rxe0/parent", "eth1\n");
  told["rxe0/1"] = "eth1";
  const auto found = rdma->observe_devices().value().at(0);
  EXPECT_EQ(found.soft, "rxe");
  EXPECT_THAT(found.ports.at(0).netdevs, ElementsAre("eth1"));
}

TEST(RdmaNetlink, ThePortsInterface) {
  const auto answer = [](std::uint32_t port, const char* netdev) {
    detail::Message message(0, 0, std::span<const std::byte>{}, "", 256);
    message.put(RDMA_NLDEV_ATTR_DEV_INDEX, std::uint32_t{3});
    message.put(RDMA_NLDEV_ATTR_PORT_INDEX, port);
    if (netdev != nullptr) message.put(RDMA_NLDEV_ATTR_NDEV_NAME, std::string_view(netdev));
    return message;
  };
  EXPECT_EQ(detail::netdev_in(*answer(1, "eth0").header(), 1), "eth0");
  EXPECT_EQ(detail::netdev_in(*answer(2, "eth0").header(), 1), std::nullopt);
  EXPECT_EQ(detail::netdev_in(*answer(1, nullptr).header(), 1), std::nullopt);
}

TEST_F(RdmaDevicesTest, WhatMayNotBeReadStaysEmpty) {
  device("mlx4_0", kPci);
  tree.put("/class/infiniband/mlx4_0/ports/1/link_layer", "InfiniBand\n");
  tree.put("/class/infiniband/mlx4_0/ports/1/lid", "unknown\n");
  const auto devices = rdma->observe_devices().value();
  ASSERT_EQ(devices.size(), 1U);
  const auto& found = devices[0].ports.at(0);
  EXPECT_EQ(found.lid, std::nullopt);
  EXPECT_EQ(found.sm_lid, std::nullopt);
  EXPECT_EQ(found.guid.number, 0U);
  EXPECT_THAT(found.netdevs, IsEmpty());
}

TEST_F(RdmaDevicesTest, PkeysInTheOrderOfTheTableWithoutEmptyPlaces) {
  const std::string at = "/class/infiniband/mlx4_0/ports/1/pkeys/";
  for (int i = 0; i < 128; ++i) tree.put(at + std::to_string(i), "0x0000\n");
  tree.put(at + "0", "0xffff\n");
  tree.put(at + "2", "0x0007\n");
  tree.put(at + "10", "0x8003\n");
  tree.put(at + "11", "0x8000\n");
  EXPECT_THAT(rdma->observe_pkeys("mlx4_0", 1).value(), ElementsAre(0xffff, 0x0007, 0x8003));
  EXPECT_EQ(rdma->observe_pkeys("mlx4_0", 2).error().code, base::Code::kNotFound);
  EXPECT_EQ(rdma->observe_pkeys("../mlx4_0", 1).error().code, base::Code::kInvalid);
}

TEST_F(RdmaDevicesTest, NoMtuWithoutVerbs) { EXPECT_EQ(rdma->observe_mtu("mlx4_0", 1), std::nullopt); }

TEST(Identity, OfThisMachine) {
  EXPECT_EQ(linux_boot_id().size(), 36U);
  EXPECT_FALSE(linux_host_name().empty());
}

}  // namespace
}  // namespace rdmacfg::system
