// SPDX-License-Identifier: Apache-2.0
// Strong types of storage over RDMA: ports of services, servers, paths, identifiers. Sources: nfs(5),
// systemd.mount(5), srp_daemon(8), iscsiadm(8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/field.hpp"
#include "model/types.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::model {

/// A port of a service over RDMA; none of the privileged ones, which the daemon may not open.
struct ServicePort {
  std::int64_t number = 0;  ///< 1024 to 65535
  auto operator<=>(const ServicePort&) const = default;
};

RDMACFG_CODEC(ServicePort, "port from 1024 to 65535", R"({"type":"integer","minimum":1024,"maximum":65535})");

/// Several of them, each once, in the order written.
struct ServicePorts {
  static constexpr std::size_t kMost = 16;
  std::vector<std::int64_t> numbers;
  auto operator<=>(const ServicePorts&) const = default;
};

RDMACFG_CODEC(
    ServicePorts, "port from 1024 to 65535 or list of ports",
    R"({"type":["integer","array"],"minimum":1024,"maximum":65535,"minItems":1,"maxItems":16,"uniqueItems":true,"items":{"type":["integer","string"],"minimum":1024,"maximum":65535,"pattern":"^[0-9]+$"}})");

/// A server: a host name, or an IP address (without a scope).
struct ServerName {
  std::string text;

  static base::Result<ServerName> parse(std::string_view text);
  [[nodiscard]] bool is_ipv6() const { return text.find(':') != std::string::npos; }
  auto operator<=>(const ServerName&) const = default;
};

RDMACFG_CODEC(ServerName, "host name or IP address",
              R"({"type":"string","minLength":1,"maxLength":255,"pattern":"^[A-Za-z0-9.:_-]+$"})");

/// An absolute path in its shortest form ("/data/scratch"): no "//", ".", ".." or '/' at the end. Its
/// characters are those that units, fstab and /proc/self/mountinfo have as they are: letters, digits and
/// _.+@:=~%,-.
struct PlainPath {
  std::string text;

  static base::Result<PlainPath> parse(std::string_view text);
  auto operator<=>(const PlainPath&) const = default;
};

RDMACFG_CODEC(PlainPath, "absolute path",
              R"({"type":"string","maxLength":1024,"pattern":"^/[A-Za-z0-9_.+@:=~%,/-]*$"})");

/// A name of an NVMe subsystem or host (NVM Express Base Specification, 4.5): "nqn.2014-08.org.example:disk".
struct Nqn {
  std::string text;

  static base::Result<Nqn> parse(std::string_view text);
  auto operator<=>(const Nqn&) const = default;
};

RDMACFG_CODEC(Nqn, "NQN", R"({"type":"string","maxLength":223,"pattern":"^nqn\\.[A-Za-z0-9._:-]+$"})");

/// Where iSCSI targets listen, for iSER too ("iscsi-target" of services(5), RFC 7145).
inline constexpr std::int64_t kIscsiPort = 3260;

/// A name of an iSCSI target or initiator (RFC 3720, 3.2.6.3): "iqn.2026-01.org.example:disk", or eui. or
/// naa. with 16 hexadecimal digits. In small letters, as the kernel compares it.
struct IscsiName {
  std::string text;

  static base::Result<IscsiName> parse(std::string_view text);
  auto operator<=>(const IscsiName&) const = default;
};

RDMACFG_CODEC(
    IscsiName, "iSCSI name",
    R"({"type":"string","maxLength":223,"pattern":"^([iI][qQ][nN]|[eE][uU][iI]|[nN][aA][aA])\\.[A-Za-z0-9.:-]+$"})");

/// A target of the kernel's SCSI target (LIO): the name of an iSCSI target, or for SRP the GUID of a port of
/// this host.
struct TargetName {
  std::string text;
  std::optional<Guid> port;  ///< for SRP

  static base::Result<TargetName> parse(std::string_view text);
  auto operator<=>(const TargetName&) const = default;
};

RDMACFG_CODEC(TargetName, "iSCSI name, or GUID of a port",
              R"({"type":"string","maxLength":223,"pattern":"^[A-Za-z0-9.:-]+$"})");

/// An identifier of 64 bits of an SRP target: the extension of its port's, the GUID of its I/O controller, a
/// service.
struct SrpId {
  std::uint64_t number = 0;

  /// "200500a0b81146a1", with fewer digits, with 0x, or in groups as a GUID.
  static base::Result<SrpId> parse(std::string_view text);
  [[nodiscard]] std::string text() const;  ///< "200500a0b81146a1", as srp_daemon and ibsrpdm spell it
  auto operator<=>(const SrpId&) const = default;
};

RDMACFG_CODEC(
    SrpId, "64-bit identifier",
    R"({"type":"string","pattern":"^((0[xX])?[0-9A-Fa-f]{1,16}|[0-9A-Fa-f]{2,4}(:[0-9A-Fa-f]{2,4}){3,7})$"})");

/// The GID of a port of another host.
struct PortGid {
  IpAddress address;  ///< IPv6

  /// "fe80::2:c903:31:78f2", or 32 digits as srp_daemon has it.
  static base::Result<PortGid> parse(std::string_view text);
  [[nodiscard]] std::string text() const { return address.text(); }
  [[nodiscard]] std::string digits() const;  ///< "fe800000000000000002c903003178f2"
  auto operator<=>(const PortGid&) const = default;
};

RDMACFG_CODEC(PortGid, "GID", R"({"type":"string","pattern":"^([0-9A-Fa-f]{32}|[0-9A-Fa-f:.]{2,45})$"})");

}  // namespace rdmacfg::model
