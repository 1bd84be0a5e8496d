// SPDX-License-Identifier: Apache-2.0
#include "system/linux/dbus/unit_files.hpp"

#include <system_error>

namespace rdmacfg::system::detail {

std::set<std::string> unread_drop_ins(const std::filesystem::path& folder, const std::set<std::string>& names,
                                      std::span<const std::string> read) {
  std::set<std::string> out;
  for (const auto& name : names) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder / (name + ".d"), error)) {
      if (auto file = entry.path().filename().string(); file.ends_with(".conf")) out.insert(std::move(file));
    }
  }
  for (const auto& path : read) out.erase(std::filesystem::path(path).filename().string());
  return out;
}

}  // namespace rdmacfg::system::detail
