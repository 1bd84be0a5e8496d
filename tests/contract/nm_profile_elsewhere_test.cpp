// SPDX-License-Identifier: Apache-2.0
// NetworkManager may take a port's profile for a P_Key interface of the port, which has its GUID.
#include "contract/commit_host.hpp"
#include "kinds/address/nm_keyfile.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kNmProfileElsewhereMachine =
    R"({"network_manager": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
           "interface": {"name": "ib0", "up": true}}]}]})";
constexpr const char* kNmProfileElsewhereDocument =
    "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nname = \"fab0\"\nbackend = "
    "\"networkmanager\"\n"
    "ipv4 = { addresses = [\"192.0.2.1/24\"] }\n"
    "[[ipoib.pkey]]\npkey = 0x8002\nipv4 = { addresses = [\"192.0.3.1/24\"] }\n";

TEST(NmProfileElsewhere, IsBroughtToItsPort) {
  Host host(FakeKernel::parse(kNmProfileElsewhereMachine));
  const auto first = host.commit(kNmProfileElsewhereDocument);
  ASSERT_TRUE(applied(first)) << text_of(first);
  auto& manager = host.kernel().network_manager;
  const auto before = manager.dump();
  const auto port = kinds::nm_uuid("00:02:c9:03:00:31:78:f2");
  const auto child = kinds::nm_uuid("00:02:c9:03:00:31:78:f2/0x8002");
  const int index = host.kernel().link("fab0.8002").index;
  ASSERT_TRUE(manager.deactivate(port));
  manager.active.erase(child);
  manager.active[port] = index;
  ASSERT_NE(manager.dump(), before);
  const auto report = host.hold();
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(manager.dump(), before);
}

}  // namespace
}  // namespace rdmacfg::contract
