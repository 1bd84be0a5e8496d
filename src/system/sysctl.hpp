// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace rdmacfg::system {

/// Kernel settings below /proc/sys. Source: Documentation/networking/ip-sysctl.rst.
class Sysctl {
 public:
  virtual ~Sysctl() = default;

  /// The value without blanks around it, those inside it made one space; nothing when it is not there or may
  /// not be read. `path` is below /proc/sys: "net/ipv4/conf/ib0.8002/arp_ignore".
  virtual std::optional<std::string> read(const std::string& path) = 0;

  /// Whether it is there and not everybody may read it, by its mode (net.ipv4.tcp_fastopen_key).
  virtual bool hidden(const std::string& /*path*/) { return false; }

  virtual base::Result<void> write(const std::string& path, std::string_view value) = 0;
};

}  // namespace rdmacfg::system
