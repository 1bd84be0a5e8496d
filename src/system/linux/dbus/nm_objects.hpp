// SPDX-License-Identifier: Apache-2.0
// NetworkManager's objects, all by one call or one by one. On a host with hundreds of interfaces all objects
// are hundreds of kilobytes, and NetworkManager is busy while it collects them: repeated questions of a run
// are about single objects. Sources: org.freedesktop.DBus.ObjectManager, org.freedesktop.DBus.Properties.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "system/linux/dbus/system_bus.hpp"
#include "system/managers/network_manager.hpp"

namespace rdmacfg::system::detail {

inline constexpr const char* kNm = "org.freedesktop.NetworkManager";
inline constexpr const char* kNmActive = "org.freedesktop.NetworkManager.Connection.Active";

/// A property that is a text, an object path, a number of 32 bits or a boolean; others are passed over.
using NmValue = std::variant<std::string, std::uint32_t, bool>;

/// A property of one object. Nothing when there is no such object (any more), or the value has none of these
/// types.
base::Result<std::optional<NmValue>> nm_property(SystemBus& bus, const std::string& path,
                                                 const char* interface, const char* property,
                                                 const std::string& what);

class NmObjects {
 public:
  static base::Result<NmObjects> read(SystemBus& bus);

  [[nodiscard]] NmState state() const;
  /// The bus name of the NetworkManager that answered.
  [[nodiscard]] const std::string& owner() const { return owner_; }
  /// Profiles in use: the uuid by the path of the connection.
  [[nodiscard]] std::map<std::string, std::string> actives() const;
  /// Paths of the devices with these names that it manages.
  [[nodiscard]] std::vector<std::string> managed(std::span<const std::string> interfaces) const;

 private:
  using Properties = std::map<std::string, NmValue>;

  int read_objects(sd_bus_message* reply);
  static int read_properties(sd_bus_message* reply, Properties& out);
  static std::string text(const Properties& properties, const std::string& name);
  static bool is_managed(const Properties& device);
  [[nodiscard]] std::optional<std::uint32_t> number(const std::string& path, const std::string& interface,
                                                    const std::string& property) const;

  std::string owner_;
  std::map<std::string, std::map<std::string, Properties>> objects_;  // by path and interface
};

/// Which connection a profile is up by, asked of single objects that are not known yet.
class NmActives {
 public:
  /// Takes over the connections from a reading of all objects.
  void learn(const NmObjects& objects);
  /// Path of the connection by which a profile is up, or on its way up or down; empty without one.
  base::Result<std::string> path_of(SystemBus& bus, const std::string& uuid, const std::string& what);

 private:
  std::string owner_;                         ///< whose paths these are
  std::map<std::string, std::string> uuids_;  ///< by path: a NetworkManager gives each path once
};

}  // namespace rdmacfg::system::detail
