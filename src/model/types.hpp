// SPDX-License-Identifier: Apache-2.0
// Strong types of values in the document, each with its text.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace rdmacfg::model {

/// A 64-bit EUI of a port or node, in host order. InfiniBand architecture, 4.1.1.
/// Read as 00:02:c9:03:00:31:78:f2, 0002:c903:0031:78f2 or 0x0002c903003178f2; written with 8 pairs, lower
/// case.
struct Guid {
  std::uint64_t number = 0;

  static base::Result<Guid> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  auto operator<=>(const Guid&) const = default;
};

/// A partition key. Its 15 low bits name the partition, bit 15 says full membership; two keys are equal when
/// they name the same partition, because the kernel allows one interface for both. InfiniBand
/// architecture, 10.9. 0x0000 and 0x8000 name none (drivers/infiniband/ulp/ipoib/ipoib_netlink.c refuses
/// them).
class Pkey {
 public:
  Pkey() = default;
  static base::Result<Pkey> make(std::int64_t number);
  static base::Result<Pkey> parse(std::string_view text);

  [[nodiscard]] std::uint16_t partition() const { return bits_ & 0x7fffU; }
  /// As the kernel keeps it for an IPoIB interface: with the membership bit.
  [[nodiscard]] std::uint16_t full() const { return bits_ | 0x8000U; }
  [[nodiscard]] std::string text() const;  ///< of full(): "0x8002"
  bool operator==(const Pkey& other) const { return partition() == other.partition(); }
  auto operator<=>(const Pkey& other) const { return partition() <=> other.partition(); }

 private:
  std::uint16_t bits_ = 0xffff;
};

/// IPoIB transport. Datagram: UD queue pair, MTU up to the IB link's less 4. Connected: RC, MTU up to 65520.
/// RFC 4391, 4755.
enum class IpoibMode { kDatagram, kConnected };

/// Its error continues the name of the key: "\"fast\" is not one of …".
base::Result<IpoibMode> parse_ipoib_mode(std::string_view text);
/// The same where no key precedes the error: "mode \"fast\" is not one of …".
base::Result<IpoibMode> parse_named_mode(std::string_view text);
std::string_view text_of(IpoibMode mode);

/// The state that an entry asks for: up and down (administratively), absent, or not managed.
enum class State { kUp, kDown, kAbsent, kIgnore };

base::Result<State> parse_state(std::string_view text);
/// The same for the interface of a port itself: its errors do not offer "absent", which a rule refuses.
base::Result<State> parse_port_state(std::string_view text);
/// The same for an RDMA device, whose errors do not offer "down".
base::Result<State> parse_device_state(std::string_view text);
std::string_view text_of(State state);

/// The action where a port does not support connected mode.
enum class OnUnsupported { kFail, kDatagram };

base::Result<OnUnsupported> parse_on_unsupported(std::string_view text);
std::string_view text_of(OnUnsupported policy);

constexpr std::int64_t kIpoibHeader = 4;  ///< bytes that IPoIB takes off the IB link's MTU (RFC 4391, 6)
constexpr std::int64_t kMtuMin = 68;      ///< bytes; the smallest that IPv4 allows (RFC 791)
constexpr std::int64_t kMtuDatagramMax =
    10236;  ///< bytes; Omni-Path's 10240 less the header. IB ends at 4092
constexpr std::int64_t kMtuConnectedMax = 65520;  ///< bytes; IPOIB_CM_MTU, ipoib.h
constexpr std::int64_t kMtuIpv6Min =
    1280;  ///< bytes; below it the kernel takes IPv6 off an interface (RFC 8200)
constexpr std::size_t kInterfaceNameMax = 15;  ///< characters; IFNAMSIZ less the NUL

constexpr std::size_t kRdmaNameMax = 63;  ///< characters; IB_DEVICE_NAME_MAX less the NUL

/// Name of an RDMA device, as the kernel takes it (drivers/infiniband/core/device.c) and udev can hand it on.
struct RdmaName {
  std::string text;

  static base::Result<RdmaName> parse(std::string_view text);
  auto operator<=>(const RdmaName&) const = default;
};

/// A function on PCI: "0000:10:00.0". Read with or without domain; written with it, lower case.
struct PciAddress {
  std::string text;

  static base::Result<PciAddress> parse(std::string_view text);
  auto operator<=>(const PciAddress&) const = default;
};

/// Software RDMA devices that the kernel has: Soft-RoCE and Soft-iWARP.
enum class SoftType { kRxe, kSiw };

base::Result<SoftType> parse_soft_type(std::string_view text);
std::string_view text_of(SoftType type);

/// Version of RoCE: v1 is Ethernet (one broadcast domain), v2 is UDP/IP.
enum class RoceMode { kV1, kV2 };

base::Result<RoceMode> parse_roce_mode(std::string_view text);
std::string_view text_of(RoceMode mode);

/// Differentiated services code point, 0 to 63. RFC 2474.
struct Dscp {
  std::uint8_t number = 0;

  static base::Result<Dscp> make(std::int64_t number);
  auto operator<=>(const Dscp&) const = default;
};

/// Number of a class by its name in any case, as switches have it: "af31" is 26. RFC 2474, 2597, 3246, 5865,
/// 8622.
std::optional<std::uint8_t> dscp_of_class(std::string_view name);

/// IP type of service byte: the DSCP and two ECN bits. RFC 2474, 3168.
struct Tos {
  std::int64_t number = 0;

  static base::Result<Tos> make(std::int64_t number);
  /// With ECT(0), so that switches mark instead of dropping: 26 gives 106.
  static Tos of_dscp(std::int64_t dscp) { return {(dscp << 2) | 2}; }
  [[nodiscard]] std::int64_t dscp() const { return number >> 2; }
  auto operator<=>(const Tos&) const = default;
};

/// Checks an interface name as dev_valid_name() of net/core/dev.c does, and refuses what udev or sysctl would
/// trip over.
base::Result<std::string> parse_interface_name(std::string_view text);

}  // namespace rdmacfg::model
