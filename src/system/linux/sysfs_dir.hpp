// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"

namespace rdmacfg::system::detail {

/// A folder of sysfs that is held open: what is read through it belongs to one device, even when another one
/// takes its name meanwhile.
class SysfsDir {
 public:
  /// Nothing when it is not there or may not be read.
  static std::optional<SysfsDir> open(const std::string& path);
  [[nodiscard]] std::optional<SysfsDir> sub(const std::string& path) const;

  /// An attribute without blanks around it; nothing when it cannot be read (absent, EINVAL, device gone).
  [[nodiscard]] std::optional<std::string> read(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name) const { return read(name).value_or(std::string()); }
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& name) const;

  /// What a symbolic link in it points to, as it is written there; empty when it is none.
  [[nodiscard]] std::string link(const std::string& name) const;

  /// Names of its entries without dot files, sorted.
  [[nodiscard]] std::vector<std::string> list() const;

 private:
  explicit SysfsDir(int fd) : fd_(fd) {}
  base::UniqueFd fd_;
};

}  // namespace rdmacfg::system::detail
