// SPDX-License-Identifier: Apache-2.0
// Values that other programs write to files of the kernel at boot, as settings of the document.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

class KernelWrites {
 public:
  explicit KernelWrites(Claims& claims) : claims_(claims) {}

  /// A value for a file below /sys or /proc/sys.
  void write(const Place& where, std::string_view path, std::string_view value);
  /// A line with an unknown file or value, if it may concern IPoIB interfaces or RDMA devices.
  void refuse(const Place& where, std::string_view path, std::string_view why);
  /// A setting of sysctl(8).
  void set(const Place& where, std::string_view key, std::string_view value);
  /// Hands all settings to the claims.
  void finish();

 private:
  /// A file of an interface, "ib0/mode". @return whether the interface is IPoIB
  bool of_interface(const Place& where, std::string_view path, std::string_view value);
  void take(const Place& where, const std::string& name, const std::string& command);

  Claims& claims_;
  std::map<std::string, Interface, std::less<>> found_;
  std::vector<std::pair<Place, std::string>> sysctls_;  ///< lines of sysctl.d(5), in the order of writing
};

/// A text without the quotes around it.
std::string_view without_quotes(std::string_view text);

}  // namespace rdmacfg::foreign
