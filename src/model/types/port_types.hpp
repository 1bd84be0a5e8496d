// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "model/field.hpp"

namespace rdmacfg::model {

/// Types of the ports of a ConnectX-3 adapter, port 1 first: "ib", "eth" or "auto".
struct PortTypes {
  std::vector<std::string> list;
  auto operator<=>(const PortTypes&) const = default;
};

RDMACFG_CODEC(PortTypes, "list of \"ib\", \"eth\" or \"auto\"",
              R"({"type":"array","minItems":1,"maxItems":2,"items":{"enum":["ib","eth","auto"]}})");

/// Number of a port of an RDMA device, 1 to 255 (a byte in RDMA netlink and in verbs).
struct PortNumber {
  std::int64_t number = 0;
  auto operator<=>(const PortNumber&) const = default;
};

/// A shell pattern of PCI addresses as the kernel writes them. Read with or without domain, in any case;
/// one without a wildcard is an address.
struct PciPattern {
  std::string text;
  auto operator<=>(const PciPattern&) const = default;
};

/// The link layer of a port as the kernel names it: "InfiniBand" (also of Omni-Path) or "Ethernet" (RoCE,
/// iWARP). Source: drivers/infiniband/core/sysfs.c.
struct LinkLayer {
  std::string text;
  auto operator<=>(const LinkLayer&) const = default;
};

/// The link layer that a port has to have for IPoIB: there is one.
struct IpoibLinkLayer {
  auto operator<=>(const IpoibLinkLayer&) const = default;
};

RDMACFG_CODEC(PortNumber, "port number", R"({"type":"integer","minimum":1,"maximum":255})");
RDMACFG_CODEC(PciPattern, "pattern of PCI addresses",
              R"({"type":"string","pattern":"^[0-9A-Fa-f:.*?!^\\[\\]-]+$"})");
RDMACFG_CODEC(
    LinkLayer, "\"InfiniBand\" or \"Ethernet\"",
    R"({"type":"string","pattern":"^([Ii][Nn][Ff][Ii][Nn][Ii][Bb][Aa][Nn][Dd]|[Ee][Tt][Hh][Ee][Rr][Nn][Ee][Tt])$"})");
RDMACFG_CODEC(IpoibLinkLayer, "\"InfiniBand\"",
              R"({"type":"string","pattern":"^[Ii][Nn][Ff][Ii][Nn][Ii][Bb][Aa][Nn][Dd]$"})");

}  // namespace rdmacfg::model
