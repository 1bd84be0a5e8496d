// SPDX-License-Identifier: Apache-2.0
// A host in which no check finds anything: an InfiniBand port with a P_Key interface, and a RoCE port.
#pragma once

namespace rdmacfg::core {

inline constexpr const char* kDoctorHost = R"({
  "devices": [
    { "name": "mlx4_0", "pci": "0000:10:00.0", "node_guid": "0002:c903:0031:78f1", "ports": [
      { "guid": "0002:c903:0031:78f2", "pkeys": ["0xffff", "0x8002"], "interface": { "name": "ib0", "up": true,
        "children": [{ "pkey": "0x8002", "name": "ib0.8002", "up": true }] } }] },
    { "name": "rocep17s0", "driver": "mlx5_core", "pci": "0000:11:00.0", "node_guid": "0002:c903:0031:7901", "ports": [
      { "guid": "0002:c903:0031:7902", "link_layer": "Ethernet", "netdev": "eth1" }] }],
  "links": [{ "name": "eth1", "up": true }]
})";

}  // namespace rdmacfg::core
