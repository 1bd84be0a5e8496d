// SPDX-License-Identifier: Apache-2.0
// Names of files that are for one interface each, as "rdma-configd-0002c903003178f2-0x8002.nmconnection".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdmacfg::kinds {

struct InterfaceFileNames {
  std::string_view prefix, suffix;

  /// @param id  "GUID" or "GUID/0x8002"
  [[nodiscard]] std::string name(std::string_view id) const;
  /// The id in a name; nothing for the name of another file.
  [[nodiscard]] std::optional<std::string> id(std::string_view file_name) const;
};

}  // namespace rdmacfg::kinds
