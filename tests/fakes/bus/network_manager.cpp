// SPDX-License-Identifier: Apache-2.0
#include "fakes/bus/network_manager.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace rdmacfg::fakes::bus {

namespace {

constexpr const char* kNmName = "org.freedesktop.NetworkManager";
constexpr const char* kProfilePrefix = "/org/freedesktop/NetworkManager/Settings";
constexpr const char* kActivePrefix = "/org/freedesktop/NetworkManager/ActiveConnection";
constexpr const char* kDevicePrefix = "/org/freedesktop/NetworkManager/Devices";

std::string encoded(const char* prefix, const std::string& name) {
  char* raw = nullptr;
  if (sd_bus_path_encode(prefix, name.c_str(), &raw) < 0) return "/";
  const std::unique_ptr<char, void (*)(void*)> text(raw, &::free);
  return raw;
}

std::string decoded(const char* prefix, const char* path) {
  char* raw = nullptr;
  if (sd_bus_path_decode(path, prefix, &raw) <= 0) return "";
  const std::unique_ptr<char, void (*)(void*)> text(raw, &::free);
  return raw;
}

/// An object with one interface; its properties are put between the two.
void begin_object(Writer& out, const std::string& path, const std::string& interface) {
  out.open('e', "oa{sa{sv}}").put("o", path.c_str()).open('a', "{sa{sv}}").open('e', "sa{sv}");
  out.put("s", interface.c_str()).open('a', "{sv}");
}
void end_object(Writer& out) { out.close().close().close().close(); }
void put_text(Writer& out, const char* name, const std::string& value) {
  out.put("{sv}", name, "s", value.c_str());
}

int nm_error(sd_bus_message* call, const char* name, const char* message) {
  return sd_bus_reply_method_errorf(call, (std::string(kNmName) + "." + name).c_str(), "%s", message);
}

int no_method(sd_bus_message* call) {
  return sd_bus_reply_method_errorf(call, "org.freedesktop.DBus.Error.UnknownMethod", "%s", "No such method");
}

}  // namespace

std::string NetworkManager::device_path(const std::string& interface) {
  return encoded(kDevicePrefix, interface);
}
std::string NetworkManager::active_path(const std::string& uuid) { return encoded(kActivePrefix, uuid); }

NetworkManager::NetworkManager() {
  peer_.on("GetManagedObjects", [this](auto* call) { return objects(call); });
  peer_.on("Get", [this](auto* call) { return property(call); });
  peer_.on("LoadConnections", [this](auto* call) { return load(call); });
  peer_.on("GetConnectionByUuid", [this](auto* call) { return by_uuid(call); });
  peer_.on("Delete", [this](auto* call) { return remove(call); });
  peer_.on("ActivateConnection", [this](auto* call) { return activate(call); });
  peer_.on("DeactivateConnection", [this](auto* call) { return deactivate(call); });
  peer_.on("GetDeviceByIpIface", [this](auto* call) { return device(call); });
  peer_.on("CheckpointCreate", [this](auto* call) { return create(call); });
  peer_.on("CheckpointDestroy", [this](auto* call) { return end_checkpoint(call, "CheckpointDestroy"); });
  peer_.on("CheckpointRollback", [this](auto* call) { return end_checkpoint(call, "CheckpointRollback"); });
  peer_.on("CheckpointAdjustRollbackTimeout", [this](auto* call) { return adjust(call); });
  peer_.on("Reload", [this](auto* call) {
    if (!reloads) return no_method(call);
    std::uint32_t flags = 0;
    if (const int status = sd_bus_message_read(call, "u", &flags); status < 0) return status;
    log.push_back("Reload " + std::to_string(flags));
    return sd_bus_reply_method_return(call, nullptr);
  });
  peer_.on("Reapply", [this](auto* call) {
    if (sd_bus_message_has_signature(call, "a{sa{sv}}tu") <= 0)
      return nm_error(call, "Device.InvalidArguments", "wrong arguments");
    log.push_back("Reapply " + decoded(kDevicePrefix, sd_bus_message_get_path(call)));
    return sd_bus_reply_method_return(call, nullptr);
  });
  peer_.start();
}

int NetworkManager::objects(sd_bus_message* call) {
  Writer out(call);
  out.open('a', "{oa{sa{sv}}}");
  begin_object(out, "/org/freedesktop/NetworkManager", kNmName);
  put_text(out, "Version", "1.42.4");
  out.put("{sv}", "Capabilities", "au", 1, 1U);  // of a type that nobody here reads
  end_object(out);
  for (const auto& [uuid, profile] : profiles) {
    begin_object(out, encoded(kProfilePrefix, uuid), "org.freedesktop.NetworkManager.Settings.Connection");
    put_text(out, "Filename", profile.file);
    end_object(out);
    if (profile.active == 0) continue;
    begin_object(out, active_path(uuid), "org.freedesktop.NetworkManager.Connection.Active");
    put_text(out, "Uuid", uuid);
    put_text(out, "Id", profile.id);
    out.put("{sv}", "State", "u", profile.active);
    end_object(out);
  }
  for (const auto& name : devices) {
    begin_object(out, device_path(name), "org.freedesktop.NetworkManager.Device");
    put_text(out, "Interface", name);
    const bool managed = std::find(unmanaged.begin(), unmanaged.end(), name) == unmanaged.end();
    out.put("{sv}", "Managed", "b", managed ? 1 : 0);
    out.put("{sv}", "ActiveConnection", "o", active_on(name).c_str());
    end_object(out);
  }
  return out.close().send();
}

std::string NetworkManager::active_on(const std::string& interface) const {
  for (const auto& [uuid, profile] : profiles) {
    if (profile.active != 0 && profile.interface == interface) return active_path(uuid);
  }
  return "/";
}

int NetworkManager::property(sd_bus_message* call) {
  const char *interface = nullptr, *name = nullptr;
  if (const int status = sd_bus_message_read(call, "ss", &interface, &name); status < 0) return status;
  const std::string path = sd_bus_message_get_path(call), wanted = name;
  Writer out(call);
  if (path == "/org/freedesktop/NetworkManager" && wanted == "ActiveConnections") {
    out.open('v', "ao").open('a', "o");
    for (const auto& [uuid, profile] : profiles) {
      if (profile.active != 0) out.put("o", active_path(uuid).c_str());
    }
    return out.close().close().send();
  }
  const auto at = profiles.find(decoded(kActivePrefix, path.c_str()));
  const bool active = at != profiles.end() && at->second.active != 0;
  if (active && wanted == "Uuid") return out.put("v", "s", at->first.c_str()).send();
  if (active && wanted == "State") return out.put("v", "u", at->second.active).send();
  const auto device = decoded(kDevicePrefix, path.c_str());
  if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
    const bool managed = std::find(unmanaged.begin(), unmanaged.end(), device) == unmanaged.end();
    if (wanted == "Managed") return out.put("v", "b", managed ? 1 : 0).send();
    if (wanted == "ActiveConnection") return out.put("v", "o", active_on(device).c_str()).send();
  }
  // GDBus, of an object that is not there
  return sd_bus_reply_method_errorf(call, "org.freedesktop.DBus.Error.UnknownMethod",
                                    "Object does not exist at path \"%s\"", path.c_str());
}

int NetworkManager::load(sd_bus_message* call) {
  std::vector<std::string> refused;
  for (const auto& file : read_texts(call)) {
    const auto at = loads.find(file);
    if (at == loads.end()) {
      refused.push_back(file);
    } else {
      profiles[at->second].file = file;
    }
  }
  Writer out(call);
  out.put("b", refused.empty() ? 1 : 0).open('a', "s");
  for (const auto& file : refused) out.put("s", file.c_str());
  return out.close().send();
}

int NetworkManager::by_uuid(sd_bus_message* call) {
  const char* uuid = nullptr;
  if (const int status = sd_bus_message_read(call, "s", &uuid); status < 0) return status;
  if (!profiles.contains(uuid))
    return nm_error(call, "Settings.InvalidConnection", "No connection with the UUID was found.");
  return sd_bus_reply_method_return(call, "o", encoded(kProfilePrefix, uuid).c_str());
}

int NetworkManager::remove(sd_bus_message* call) {
  const auto uuid = decoded(kProfilePrefix, sd_bus_message_get_path(call));
  log.push_back("Delete " + uuid);
  if (goes_down) profiles.erase(uuid);
  return sd_bus_reply_method_return(call, nullptr);
}

int NetworkManager::activate(sd_bus_message* call) {
  const char *profile = nullptr, *on = nullptr, *object = nullptr;
  if (const int status = sd_bus_message_read(call, "ooo", &profile, &on, &object); status < 0) return status;
  const auto uuid = decoded(kProfilePrefix, profile);
  const auto at = profiles.find(uuid);
  if (at == profiles.end()) return nm_error(call, "UnknownConnection", "Connection could not be found.");
  at->second.active = activates_to;
  at->second.interface = decoded(kDevicePrefix, on);
  log.push_back("ActivateConnection " + uuid + " " + at->second.interface);
  return sd_bus_reply_method_return(call, "o", active_path(uuid).c_str());
}

int NetworkManager::deactivate(sd_bus_message* call) {
  const char* path = nullptr;
  if (const int status = sd_bus_message_read(call, "o", &path); status < 0) return status;
  const auto uuid = decoded(kActivePrefix, path);
  const auto at = profiles.find(uuid);
  if (at == profiles.end() || at->second.active == 0)
    return nm_error(call, "ConnectionNotActive", "The connection was not active.");
  log.push_back("DeactivateConnection " + uuid);
  if (goes_down) at->second.active = 0;
  return sd_bus_reply_method_return(call, nullptr);
}

int NetworkManager::device(sd_bus_message* call) {
  const char* interface = nullptr;
  if (const int status = sd_bus_message_read(call, "s", &interface); status < 0) return status;
  if (std::find(devices.begin(), devices.end(), interface) == devices.end())
    return nm_error(call, "UnknownDevice", "No device found for the requested iface.");
  return sd_bus_reply_method_return(call, "o", device_path(interface).c_str());
}

int NetworkManager::create(sd_bus_message* call) {
  std::string of;
  if (const int status = sd_bus_message_enter_container(call, 'a', "o"); status < 0) return status;
  const char* path = nullptr;
  while (sd_bus_message_read(call, "o", &path) > 0) of += " " + decoded(kDevicePrefix, path);
  if (const int status = sd_bus_message_exit_container(call); status < 0) return status;
  std::uint32_t seconds = 0, flags = 0;
  if (const int status = sd_bus_message_read(call, "uu", &seconds, &flags); status < 0) return status;
  const auto made = "/org/freedesktop/NetworkManager/Checkpoint/" + std::to_string(++checkpoints_made_);
  checkpoints[made] = seconds;
  log.push_back("CheckpointCreate" + of);
  return sd_bus_reply_method_return(call, "o", made.c_str());
}

int NetworkManager::end_checkpoint(sd_bus_message* call, const char* name) {
  const char* path = nullptr;
  if (const int status = sd_bus_message_read(call, "o", &path); status < 0) return status;
  if (checkpoints.erase(path) == 0) return nm_error(call, "InvalidArguments", "checkpoint does not exist");
  log.emplace_back(name);
  return std::string(name) == "CheckpointRollback" ? sd_bus_reply_method_return(call, "a{su}", 0)
                                                   : sd_bus_reply_method_return(call, nullptr);
}

int NetworkManager::adjust(sd_bus_message* call) {
  if (!adjusts) return no_method(call);
  const char* path = nullptr;
  std::uint32_t seconds = 0;
  if (const int status = sd_bus_message_read(call, "ou", &path, &seconds); status < 0) return status;
  const auto at = checkpoints.find(path);
  if (at == checkpoints.end()) return nm_error(call, "InvalidArguments", "checkpoint does not exist");
  at->second = seconds;
  return sd_bus_reply_method_return(call, nullptr);
}

}  // namespace rdmacfg::fakes::bus
