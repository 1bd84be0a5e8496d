// SPDX-License-Identifier: Apache-2.0
// A host's ports, as libibumad lists them.
#include "system/linux/fabric/local_port.hpp"

#include <endian.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace rdmacfg::system::detail {
namespace {

constexpr int kManyDevices = 300;

int many_names(char (*names)[UMAD_CA_NAME_LEN], int room) {
  const int count = std::min(room, kManyDevices);
  for (int i = 0; i < count; ++i) std::snprintf(names[i], UMAD_CA_NAME_LEN, "mlx5_%d", i);
  return count;
}

/// With one port that has a link; it is valid until the next call.
int device_with_a_link(const char* name, umad_ca_t* device) {
  static umad_port_t port;
  port = {};
  std::snprintf(port.ca_name, sizeof port.ca_name, "%s", name);
  std::snprintf(port.link_layer, sizeof port.link_layer, "InfiniBand");
  port.portnum = 1;
  port.state = 4;
  port.phys_state = 5;
  port.port_guid = htobe64(0x0002c903003178f3);
  device->ports[1] = &port;
  return 0;
}

int release_nothing(umad_ca_t* /*device*/) { return 0; }

TEST(LocalPorts, AreMoreThanTheLimitOfTheHeader) {
  FabricLibraries libraries;
  libraries.get_cas_names = &many_names;
  libraries.get_ca = &device_with_a_link;
  libraries.release_ca = &release_nothing;
  const auto port = find_local_port(libraries, "mlx5_299/1");
  ASSERT_TRUE(port);
  EXPECT_EQ(port->device, "mlx5_299");
  EXPECT_EQ(port->guid, std::uint64_t{0x0002c903003178f3});
}

}  // namespace
}  // namespace rdmacfg::system::detail
