// SPDX-License-Identifier: Apache-2.0
#include "system/linux/dbus/nm_objects.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

namespace rdmacfg::system::detail {

using base::fail;
using base::fail_errno;
using base::Result;

namespace {

constexpr const char* kNmConnection = "org.freedesktop.NetworkManager.Settings.Connection";
constexpr const char* kNmDevice = "org.freedesktop.NetworkManager.Device";
constexpr const char* kNmManagerPath = "/org/freedesktop/NetworkManager";
constexpr const char* kNmProperties = "org.freedesktop.DBus.Properties";
constexpr std::uint32_t kActiveState = 2;  // NM_ACTIVE_CONNECTION_STATE_ACTIVATED
/// So many connections that are not known yet are asked one by one; of more the whole tree is the shorter
/// way.
constexpr std::ptrdiff_t kAskedSingly = 4;

/// GDBus answers so to a call of an object that is gone.
bool says_gone(const std::string& refusal) {
  return refusal == "org.freedesktop.DBus.Error.UnknownMethod" ||
         refusal == "org.freedesktop.DBus.Error.UnknownObject" ||
         refusal == "org.freedesktop.DBus.Error.UnknownInterface";
}

/// A variant. @return as sd_bus_message_read(3)
int read_value(sd_bus_message* reply, std::optional<NmValue>& out) {
  const char* contents = nullptr;
  char type = 0;
  int status = sd_bus_message_peek_type(reply, &type, &contents);
  if (status < 0) return status;
  const std::string_view sort = contents == nullptr ? "" : contents;
  if (sort == "s" || sort == "o") {
    const char* value = nullptr;
    status = sd_bus_message_read(reply, "v", sort.data(), &value);
    if (status >= 0) out = std::string(value);
  } else if (sort == "u") {
    std::uint32_t value = 0;
    status = sd_bus_message_read(reply, "v", "u", &value);
    if (status >= 0) out = value;
  } else if (sort == "b") {
    int value = 0;
    status = sd_bus_message_read(reply, "v", "b", &value);
    if (status >= 0) out = value != 0;
  } else {
    status = sd_bus_message_skip(reply, "v");
  }
  return status;
}

/// A variant that is a list of object paths.
int read_paths(sd_bus_message* reply, std::set<std::string>& out) {
  int status = sd_bus_message_enter_container(reply, 'v', "ao");
  if (status >= 0) status = sd_bus_message_enter_container(reply, 'a', "o");
  const char* path = nullptr;
  while (status >= 0 && (status = sd_bus_message_read(reply, "o", &path)) > 0) out.insert(path);
  return status;
}

}  // namespace

Result<std::optional<NmValue>> nm_property(SystemBus& bus, const std::string& path, const char* interface,
                                           const char* property, const std::string& what) {
  std::string refusal;
  const auto reply = bus.call({kNm, path, kNmProperties, "Get"}, what, &refusal, "ss", interface, property);
  std::optional<NmValue> out;
  if (!reply && says_gone(refusal)) return out;
  if (!reply) return fail(reply.error());
  if (const int status = read_value(reply->get(), out); status < 0) return fail_errno(-status, what);
  return out;
}

Result<NmObjects> NmObjects::read(SystemBus& bus) {
  const std::string what = "listing the objects of NetworkManager";
  const auto reply =
      bus.call({kNm, "/org/freedesktop", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"}, what,
               nullptr, nullptr);
  if (!reply) return fail(reply.error());
  NmObjects out;
  out.owner_ = sender_of(reply->get());
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
    const char* name = nullptr;
    if (status = sd_bus_message_read(reply, "s", &name); status < 0) break;
    std::optional<NmValue> value;
    if (status = read_value(reply, value); status < 0) break;
    if (value) out[name] = std::move(*value);
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

bool NmObjects::is_managed(const Properties& device) {
  const auto managed = device.find("Managed");
  return managed != device.end() && managed->second == NmValue(true);
}

std::map<std::string, std::string> NmObjects::actives() const {
  std::map<std::string, std::string> out;
  for (const auto& [path, interfaces] : objects_) {
    const auto active = interfaces.find(kNmActive);
    if (active == interfaces.end()) continue;
    if (auto uuid = text(active->second, "Uuid"); !uuid.empty()) out.emplace(path, std::move(uuid));
  }
  return out;
}

std::vector<std::string> NmObjects::managed(std::span<const std::string> interfaces) const {
  std::vector<std::string> out;
  for (const auto& [path, all] : objects_) {
    const auto device = all.find(kNmDevice);
    if (device == all.end() || !is_managed(device->second)) continue;
    const auto name = text(device->second, "Interface");
    if (std::find(interfaces.begin(), interfaces.end(), name) != interfaces.end()) out.push_back(path);
  }
  return out;
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
      device.managed = is_managed(properties);
      const auto active = objects_.find(text(properties, "ActiveConnection"));
      if (active != objects_.end() && active->second.contains(kNmActive))
        device.active = text(active->second.at(kNmActive), "Uuid");
      out.devices.push_back(std::move(device));
    }
  }
  return out;
}

void NmActives::learn(const NmObjects& objects) {
  owner_ = objects.owner();
  uuids_ = objects.actives();
}

Result<std::string> NmActives::path_of(SystemBus& bus, const std::string& uuid, const std::string& what) {
  const auto reply =
      bus.call({kNm, kNmManagerPath, kNmProperties, "Get"}, what, nullptr, "ss", kNm, "ActiveConnections");
  if (!reply) return fail(reply.error());
  std::set<std::string> paths;
  if (const int status = read_paths(reply->get(), paths); status < 0) return fail_errno(-status, what);
  if (auto owner = sender_of(reply->get()); owner != owner_) {
    uuids_.clear();  // it was restarted, and counts from the beginning
    owner_ = std::move(owner);
  }
  std::erase_if(uuids_, [&](const auto& known) { return !paths.contains(known.first); });
  const auto unknown =
      std::count_if(paths.begin(), paths.end(), [&](const auto& path) { return !uuids_.contains(path); });
  if (unknown > kAskedSingly) {
    const auto objects = NmObjects::read(bus);
    if (!objects) return fail(objects.error());
    learn(*objects);
  }
  for (const auto& path : paths) {
    auto known = uuids_.find(path);
    if (known == uuids_.end()) {
      const auto value = nm_property(bus, path, kNmActive, "Uuid", what);
      if (!value) return fail(value.error());
      const auto* text = *value ? std::get_if<std::string>(&**value) : nullptr;
      if (text == nullptr || text->empty()) continue;  // gone meanwhile
      known = uuids_.emplace(path, *text).first;
    }
    if (known->second == uuid) return path;
  }
  return std::string();
}

}  // namespace rdmacfg::system::detail
