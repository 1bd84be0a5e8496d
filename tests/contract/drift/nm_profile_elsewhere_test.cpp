// SPDX-License-Identifier: Apache-2.0
// NetworkManager may take a port's profile for a P_Key interface of the port, which has its GUID. And how
// often a run reads all that it has.
#include <fmt/format.h>

#include "contract/commit_host.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/world.hpp"

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

/// Readings in an apply that makes a profile for each of so many P_Key interfaces, and in one that takes them
/// back.
std::pair<int, int> readings_with(int children) {
  std::string table = "\"0xffff\"", document = kNmProfileElsewhereDocument;
  document.erase(document.find("[[ipoib.pkey]]"));
  const auto without = document;
  for (int i = 1; i <= children; ++i) {
    table += fmt::format(", \"0x{:04x}\"", 0x8000 + i);
    document += fmt::format(
        "[[ipoib.pkey]]\npkey = 0x{:04x}\nipv4 = {{ addresses = [\"198.51.{}.1/24\"] }}\n", 0x8000 + i, i);
  }
  std::string machine = kNmProfileElsewhereMachine;
  const std::string pkeys = "\"0xffff\", \"0x8002\"";
  machine.replace(machine.find(pkeys), pkeys.size(), table);
  Host host(FakeKernel::parse(machine));
  auto& manager = host.kernel().network_manager;
  const auto made = host.commit(document);
  EXPECT_TRUE(applied(made)) << text_of(made);
  EXPECT_GE(manager.activations, children + 1);
  const int making = std::exchange(manager.readings, 0);
  const auto removed = host.commit(without);
  EXPECT_TRUE(applied(removed)) << text_of(removed);
  return {making, manager.readings};
}

TEST(NmReadings, DoNotGrowWithTheInterfaces) {
  const auto few = readings_with(2), many = readings_with(12);
  EXPECT_GT(few.first, 0);
  EXPECT_EQ(many, few);
}

TEST(NmReadings, AreKeptByWhatWasObserved) {
  Host host(FakeKernel::parse(kNmProfileElsewhereMachine));
  auto& manager = host.kernel().network_manager;
  auto ports = host.kernel().host();
  const auto world = kinds::World::observe(ports);
  ASSERT_TRUE(world);
  EXPECT_EQ(manager.readings, 0) << "a host without profiles is not asked";
  for (int i = 0; i < 3; ++i) {
    const auto& state = world->network_manager();
    ASSERT_TRUE(state && *state);
    EXPECT_FALSE((*state)->devices.empty());
  }
  EXPECT_EQ(manager.readings, 1);
}

}  // namespace
}  // namespace rdmacfg::contract
