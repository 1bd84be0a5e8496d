// SPDX-License-Identifier: Apache-2.0
// NetworkManager's objects, all by one call. Source: org.freedesktop.DBus.ObjectManager.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "system/linux/dbus/system_bus.hpp"
#include "system/network_manager.hpp"

namespace rdmacfg::system::detail {

inline constexpr const char* kNm = "org.freedesktop.NetworkManager";
inline constexpr const char* kNmActive = "org.freedesktop.NetworkManager.Connection.Active";

/// Properties that are texts, object paths, booleans or numbers of 32 bits; others are passed over.
class NmObjects {
 public:
  static base::Result<NmObjects> read(SystemBus& bus);

  [[nodiscard]] NmState state() const;
  [[nodiscard]] std::string active_path(const std::string& uuid) const;  ///< empty without one
  [[nodiscard]] std::optional<std::uint32_t> number(const std::string& path, const std::string& interface,
                                                    const std::string& property) const;

 private:
  using Property = std::variant<std::string, std::uint32_t, bool>;
  using Properties = std::map<std::string, Property>;

  int read_objects(sd_bus_message* reply);
  static int read_properties(sd_bus_message* reply, Properties& out);
  static std::string text(const Properties& properties, const std::string& name);

  std::map<std::string, std::map<std::string, Properties>> objects_;  // by path and interface
};

}  // namespace rdmacfg::system::detail
