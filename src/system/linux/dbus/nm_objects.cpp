// SPDX-License-Identifier: Apache-2.0
#include "system/linux/dbus/nm_objects.hpp"

#include <string_view>

namespace rdmacfg::system::detail {

using base::fail;
using base::fail_errno;
using base::Result;

namespace {

constexpr const char* kNmConnection = "org.freedesktop.NetworkManager.Settings.Connection";
constexpr const char* kNmDevice = "org.freedesktop.NetworkManager.Device";
constexpr std::uint32_t kActiveState = 2;  // NM_ACTIVE_CONNECTION_STATE_ACTIVATED

}  // namespace

Result<NmObjects> NmObjects::read(SystemBus& bus) {
  const std::string what = "asking NetworkManager what there is";
  const auto reply =
      bus.call({kNm, "/org/freedesktop", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"}, what,
               nullptr, nullptr);
  if (!reply) return fail(reply.error());
  NmObjects out;
  if (const int status = out.read_objects(reply->get()); status < 0) return fail_errno(-status, what);
  return out;
}

int NmObjects::read_objects(sd_bus_message* reply) {
  int status = sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}");
  while (status >= 0 && (status = sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}")) > 0) {
    const char* path = nullptr;
    if (status = sd_bus_message_read(reply, "o", &path); status < 0) break;
    auto& interfaces = objects_[path];
    if (status = sd_bus_message_enter_container(reply, 'a', "{sa{sv}}"); status < 0) break;
    while ((status = sd_bus_message_enter_container(reply, 'e', "sa{sv}")) > 0) {
      const char* interface = nullptr;
      if (status = sd_bus_message_read(reply, "s", &interface); status < 0) return status;
      if (status = read_properties(reply, interfaces[interface]); status < 0) return status;
      if (status = sd_bus_message_exit_container(reply); status < 0) return status;
    }
    if (status < 0) break;
    if (status = sd_bus_message_exit_container(reply); status < 0) break;
    status = sd_bus_message_exit_container(reply);
  }
  return status;
}

int NmObjects::read_properties(sd_bus_message* reply, Properties& out) {
  int status = sd_bus_message_enter_container(reply, 'a', "{sv}");
  while (status >= 0 && (status = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
    const char *name = nullptr, *contents = nullptr;
    if (status = sd_bus_message_read(reply, "s", &name); status < 0) break;
    char type = 0;
    if (status = sd_bus_message_peek_type(reply, &type, &contents); status < 0) break;
    const std::string_view sort = contents == nullptr ? "" : contents;
    if (sort == "s" || sort == "o") {
      const char* value = nullptr;
      status = sd_bus_message_read(reply, "v", sort.data(), &value);
      if (status >= 0) out[name] = std::string(value);
    } else if (sort == "u") {
      std::uint32_t value = 0;
      status = sd_bus_message_read(reply, "v", "u", &value);
      if (status >= 0) out[name] = value;
    } else if (sort == "b") {
      int value = 0;
      status = sd_bus_message_read(reply, "v", "b", &value);
      if (status >= 0) out[name] = value != 0;
    } else {
      status = sd_bus_message_skip(reply, "v");
    }
    if (status < 0) break;
    status = sd_bus_message_exit_container(reply);
  }
  return status < 0 ? status : sd_bus_message_exit_container(reply);
}

std::string NmObjects::text(const Properties& properties, const std::string& name) {
  const auto at = properties.find(name);
  const auto* value = at == properties.end() ? nullptr : std::get_if<std::string>(&at->second);
  return value == nullptr ? std::string() : *value;
}

std::optional<std::uint32_t> NmObjects::number(const std::string& path, const std::string& interface,
                                               const std::string& property) const {
  const auto object = objects_.find(path);
  if (object == objects_.end()) return std::nullopt;
  const auto properties = object->second.find(interface);
  if (properties == object->second.end()) return std::nullopt;
  const auto at = properties->second.find(property);
  const auto* value = at == properties->second.end() ? nullptr : std::get_if<std::uint32_t>(&at->second);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::string NmObjects::active_path(const std::string& uuid) const {
  for (const auto& [path, interfaces] : objects_) {
    const auto active = interfaces.find(kNmActive);
    if (active != interfaces.end() && text(active->second, "Uuid") == uuid) return path;
  }
  return {};
}

NmState NmObjects::state() const {
  NmState out;
  for (const auto& [path, interfaces] : objects_) {
    for (const auto& [interface, properties] : interfaces) {
      if (interface == kNm) out.version = text(properties, "Version");
      if (interface == kNmConnection) {
        if (auto file = text(properties, "Filename"); !file.empty()) out.files.push_back(std::move(file));
      }
      if (interface == kNmActive) {
        out.active.push_back({text(properties, "Uuid"), text(properties, "Id"),
                              number(path, kNmActive, "State") == kActiveState});
      }
      if (interface != kNmDevice) continue;
      NmDevice device;
      device.interface = text(properties, "Interface");
      const auto managed = properties.find("Managed");
      device.managed = managed != properties.end() && managed->second == Property(true);
      const auto active = objects_.find(text(properties, "ActiveConnection"));
      if (active != objects_.end() && active->second.contains(kNmActive))
        device.active = text(active->second.at(kNmActive), "Uuid");
      out.devices.push_back(std::move(device));
    }
  }
  return out;
}

}  // namespace rdmacfg::system::detail
