// SPDX-License-Identifier: Apache-2.0
// Strong types of storage over RDMA: ports of services, servers, paths. Sources: nfs(5), systemd.mount(5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/field.hpp"

namespace rdmacfg::model {

/// A port of a service over RDMA; none of the privileged ones, which the daemon may not open.
struct ServicePort {
  std::int64_t number = 0;  ///< 1024 to 65535
  auto operator<=>(const ServicePort&) const = default;
};

RDMACFG_CODEC(ServicePort, "port from 1024 to 65535", R"({"type":"integer","minimum":1024,"maximum":65535})");

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

}  // namespace rdmacfg::model
