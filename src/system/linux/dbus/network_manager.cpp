// SPDX-License-Identifier: Apache-2.0
#include "system/managers/network_manager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <thread>
#include <variant>

#include "system/linux/dbus/nm_objects.hpp"
#include "system/linux/dbus/system_bus.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using detail::BusCall;
using detail::BusMessage;
using detail::kNm;
using detail::NmObjects;
using detail::NmValue;

constexpr const char* kNmUnit = "NetworkManager.service";
constexpr const char* kNmPath = "/org/freedesktop/NetworkManager";
constexpr const char* kSettings = "org.freedesktop.NetworkManager.Settings";
constexpr const char* kSettingsPath = "/org/freedesktop/NetworkManager/Settings";
constexpr const char* kConnection = "org.freedesktop.NetworkManager.Settings.Connection";
constexpr const char* kDevice = "org.freedesktop.NetworkManager.Device";
constexpr const char* kNoConnection = "org.freedesktop.NetworkManager.Settings.InvalidConnection";
constexpr const char* kUnknownDevice = "org.freedesktop.NetworkManager.UnknownDevice";
constexpr const char* kIncompatible = "org.freedesktop.NetworkManager.Device.IncompatibleConnection";
constexpr const char* kUnknownMethod = "org.freedesktop.DBus.Error.UnknownMethod";
constexpr std::uint32_t kActivated = 2;  // NM_ACTIVE_CONNECTION_STATE_ACTIVATED
constexpr std::uint32_t kDeactivating = 3;
constexpr std::uint32_t kUnavailable = 20;  // NM_DEVICE_STATE_UNAVAILABLE
// NM_CHECKPOINT_CREATE_FLAG_DELETE_NEW_CONNECTIONS is not asked for: profiles of other people that come in
// the meantime are none of ours, and our own are taken back by their files.
constexpr std::uint32_t kCheckpointFlags = 0;
constexpr std::uint32_t kReloadConf = 1;  // NM_MANAGER_RELOAD_FLAG_CONF
constexpr std::chrono::milliseconds kPoll(50);

class DbusNetworkManager final : public NetworkManager {
 public:
  explicit DbusNetworkManager(const BusLimits& limits) : down_(limits.down), bus_(limits) {}

  Result<std::optional<NmState>> observe() override {
    const auto there = bus_.has_owner(kNm, kNmUnit);
    if (!there) return fail(there.error());
    if (!*there) return std::optional<NmState>{};
    auto objects = NmObjects::read(bus_);
    if (!objects) return fail(objects.error());
    actives_.learn(*objects);
    return std::optional(objects->state());
  }

  bool is_running() override { return bus_.has_owner(kNm, kNmUnit).value_or(true); }

  Result<void> reread() override {
    std::string refusal;
    const auto reply =
        bus_.call({kNm, kNmPath, kNm, "Reload"}, "asking NetworkManager to reload its configuration",
                  &refusal, "u", kReloadConf);
    // One before 1.22 reads the files at its next start.
    if (reply || refusal == kUnknownMethod) return {};
    return fail(reply.error());
  }

  Result<void> load(std::span<const std::string> files) override {
    const std::string what = "asking NetworkManager to reload its profiles";
    auto call = bus_.begin({kNm, kSettingsPath, kSettings, "LoadConnections"}, what);
    if (!call) return fail(call.error());
    std::vector<std::string> copies(files.begin(), files.end());
    std::vector<char*> list;
    list.reserve(copies.size() + 1);
    for (auto& file : copies) list.push_back(file.data());
    list.push_back(nullptr);
    if (const int status = sd_bus_message_append_strv(call->get(), list.data()); status < 0)
      return fail_errno(-status, what);
    const auto reply = bus_.send(call->get(), what, nullptr);
    if (!reply) return fail(reply.error());
    int all = 0;
    if (const int status = sd_bus_message_read(reply->get(), "b", &all); status < 0)
      return fail_errno(-status, what);
    if (all != 0) return {};
    const char* refused = "";
    if (sd_bus_message_enter_container(reply->get(), 'a', "s") > 0)
      (void)sd_bus_message_read(reply->get(), "s", &refused);
    return fail(Code::kRefused, fmt::format("{}: it rejected {} (its journal may say why)", what, refused));
  }

  Result<void> remove(const std::string& uuid) override {
    const auto what = fmt::format("deleting profile {}", uuid);
    auto path = connection(uuid, what);
    if (!path) return fail(path.error());
    if (path->empty()) return {};
    if (auto done = simple({kNm, *path, kConnection, "Delete"}, what); !done) return done;
    return wait_for_end(uuid, what);
  }

  void wait_for_release(std::span<const std::string> interfaces,
                        std::chrono::milliseconds deadline) override {
    const auto end = std::chrono::steady_clock::now() + deadline;
    if (!is_running()) return;
    const auto objects = NmObjects::read(bus_);
    if (!objects) return;
    actives_.learn(*objects);
    auto held = objects->managed(interfaces);
    while (!held.empty() && std::chrono::steady_clock::now() < end) {
      const auto managed = detail::nm_property(bus_, held.back(), kDevice, "Managed",
                                               "asking whether an interface is managed");
      if (!managed) return;
      if (*managed == NmValue(true)) {
        std::this_thread::sleep_for(kPoll);
      } else {
        held.pop_back();
      }
    }
  }

  void wait_for_ready(std::span<const std::string> interfaces, std::chrono::milliseconds deadline) override {
    const auto end = std::chrono::steady_clock::now() + deadline;
    for (const auto& interface : interfaces) {
      const auto what = interface + ": asking NetworkManager whether it is ready";
      const auto path = device(interface, what);
      // Of one that hangs each next question would take its whole deadline, too.
      if (!path && path.error().code == Code::kTimeout) return;
      if (!path) continue;
      for (;;) {
        const auto value = detail::nm_property(bus_, *path, kDevice, "State", what);
        if (!value && value.error().code == Code::kTimeout) return;
        const auto* state = value && *value ? std::get_if<std::uint32_t>(&**value) : nullptr;
        if (state == nullptr || *state != kUnavailable || std::chrono::steady_clock::now() >= end) break;
        std::this_thread::sleep_for(kPoll);
      }
    }
  }

  Result<void> activate(const std::string& uuid, const std::string& interface,
                        std::chrono::milliseconds deadline) override {
    const auto what = fmt::format("activating profile {}", uuid);
    const auto path = connection(uuid, what);
    if (!path) return fail(path.error());
    if (path->empty()) return fail(Code::kNotFound, what + ": NetworkManager does not have it");
    std::string on = "/";
    if (!interface.empty()) {
      auto found = device(interface, what);
      if (!found) return fail(found.error());
      on = *found;
    }
    const auto reply = bus_.call({kNm, kNmPath, kNm, "ActivateConnection"}, what, nullptr, "ooo",
                                 path->c_str(), on.c_str(), "/");
    if (!reply) return fail(reply.error());
    const char* active = nullptr;
    if (const int status = sd_bus_message_read(reply->get(), "o", &active); status < 0)
      return fail_errno(-status, what);
    return wait_for(active, uuid, what, deadline);
  }

  Result<void> deactivate(const std::string& uuid) override {
    const auto what = fmt::format("taking down profile {}", uuid);
    const auto path = actives_.path_of(bus_, uuid, what);
    if (!path) return fail(path.error());
    if (path->empty()) return {};
    auto done = simple({kNm, kNmPath, kNm, "DeactivateConnection"}, what, "o", path->c_str());
    return done ? wait_for_end(uuid, what) : done;
  }

  Result<std::string> active_on(const std::string& interface) override {
    const auto there = bus_.has_owner(kNm, kNmUnit);
    if (!there) return fail(there.error());
    if (!*there) return std::string();
    const auto what = interface + ": asking NetworkManager for its profile";
    std::string refusal;
    const auto path = device(interface, what, &refusal);
    if (!path && refusal == kUnknownDevice) return std::string();
    if (!path) return fail(path.error());
    const auto active = text_property(*path, kDevice, "ActiveConnection", what);
    if (!active) return fail(active.error());
    if (active->empty() || *active == "/") return std::string();
    return text_property(*active, detail::kNmActive, "Uuid", what);
  }

  Result<void> reapply(const std::string& interface) override {
    const auto what = interface + ": reapplying its profile";
    const auto path = device(interface, what);
    if (!path) return fail(path.error());
    auto call = bus_.begin({kNm, *path, kDevice, "Reapply"}, what);
    if (!call) return fail(call.error());
    // An empty dictionary: the profile as it is loaded.
    int status = sd_bus_message_append(call->get(), "a{sa{sv}}", 0U);
    if (status >= 0) status = sd_bus_message_append(call->get(), "tu", std::uint64_t{0}, 0U);
    if (status < 0) return fail_errno(-status, what);
    std::string refusal;
    const auto reply = bus_.send(call->get(), what, &refusal);
    if (reply) return {};
    auto error = reply.error();
    if (refusal == kIncompatible) error.code = Code::kUnsupported;
    return fail(std::move(error));
  }

  Result<std::string> create_checkpoint(std::span<const std::string> interfaces,
                                        std::chrono::seconds timeout) override {
    const std::string what = "creating a NetworkManager checkpoint";
    std::vector<std::string> paths;
    for (const auto& interface : interfaces) {
      std::string refusal;
      auto path = device(interface, what, &refusal);
      if (path) paths.push_back(std::move(*path));
      // Of an interface that it does not know it changes nothing. Any other error would leave us without it.
      if (!path && refusal != kUnknownDevice) return fail(path.error());
    }
    if (paths.empty()) return std::string();  // without a device it would be of all of them
    auto call = bus_.begin({kNm, kNmPath, kNm, "CheckpointCreate"}, what);
    if (!call) return fail(call.error());
    int status = sd_bus_message_open_container(call->get(), 'a', "o");
    for (const auto& path : paths) {
      if (status >= 0) status = sd_bus_message_append(call->get(), "o", path.c_str());
    }
    if (status >= 0) status = sd_bus_message_close_container(call->get());
    if (status >= 0)
      status = sd_bus_message_append(call->get(), "uu", static_cast<std::uint32_t>(timeout.count()),
                                     kCheckpointFlags);
    if (status < 0) return fail_errno(-status, what);
    const auto reply = bus_.send(call->get(), what, nullptr);
    if (!reply) return fail(reply.error());
    const char* path = nullptr;
    if (status = sd_bus_message_read(reply->get(), "o", &path); status < 0) return fail_errno(-status, what);
    return std::string(path);
  }

  Result<void> extend_checkpoint(const std::string& checkpoint, std::chrono::seconds timeout) override {
    if (checkpoint.empty()) return {};
    const std::string what = "extending the NetworkManager checkpoint";
    std::string refusal;
    const auto reply = bus_.call({kNm, kNmPath, kNm, "CheckpointAdjustRollbackTimeout"}, what, &refusal, "ou",
                                 checkpoint.c_str(), static_cast<std::uint32_t>(timeout.count()));
    if (reply || refusal == kUnknownMethod) return {};
    return fail(reply.error());
  }

  Result<void> destroy_checkpoint(const std::string& checkpoint) override {
    if (checkpoint.empty()) return {};
    return simple({kNm, kNmPath, kNm, "CheckpointDestroy"}, "removing the NetworkManager checkpoint", "o",
                  checkpoint.c_str());
  }

  Result<void> rollback(const std::string& checkpoint) override {
    if (checkpoint.empty()) return {};
    return simple({kNm, kNmPath, kNm, "CheckpointRollback"}, "rolling NetworkManager back", "o",
                  checkpoint.c_str());
  }

 private:
  Result<void> simple(const BusCall& call, const std::string& what) {
    return bus_.call(call, what, nullptr, nullptr).map([](const BusMessage&) {});
  }
  Result<void> simple(const BusCall& call, const std::string& what, const char* types, const char* argument) {
    return bus_.call(call, what, nullptr, types, argument).map([](const BusMessage&) {});
  }

  /// The object of a profile; empty when it does not have one.
  Result<std::string> connection(const std::string& uuid, const std::string& what) {
    std::string refusal;
    const auto reply =
        bus_.call({kNm, kSettingsPath, kSettings, "GetConnectionByUuid"}, what, &refusal, "s", uuid.c_str());
    if (!reply) {
      if (refusal == kNoConnection) return std::string();
      return fail(reply.error());
    }
    const char* path = nullptr;
    if (const int status = sd_bus_message_read(reply->get(), "o", &path); status < 0)
      return fail_errno(-status, what);
    return std::string(path);
  }

  Result<std::string> device(const std::string& interface, const std::string& what,
                             std::string* refusal = nullptr) {
    const auto reply =
        bus_.call({kNm, kNmPath, kNm, "GetDeviceByIpIface"}, what, refusal, "s", interface.c_str());
    if (!reply) return fail(reply.error());
    const char* path = nullptr;
    if (const int status = sd_bus_message_read(reply->get(), "o", &path); status < 0)
      return fail_errno(-status, what);
    return std::string(path);
  }

  /// Empty when the object is not there any more.
  Result<std::string> text_property(const std::string& path, const char* interface, const char* property,
                                    const std::string& what) {
    const auto value = detail::nm_property(bus_, path, interface, property, what);
    if (!value) return fail(value.error());
    const auto* text = *value ? std::get_if<std::string>(&**value) : nullptr;
    return text == nullptr ? std::string() : *text;
  }

  Result<void> wait_for_end(const std::string& uuid, const std::string& what) {
    const auto end = std::chrono::steady_clock::now() + down_;
    for (;;) {
      const auto path = actives_.path_of(bus_, uuid, what);
      if (!path) return fail(path.error());
      if (path->empty()) return {};
      if (std::chrono::steady_clock::now() >= end)
        return fail(Code::kTimeout, what + ": did not go down in time");
      std::this_thread::sleep_for(std::min(kPoll, down_));
    }
  }

  Result<void> wait_for(const std::string& active, const std::string& uuid, const std::string& what,
                        std::chrono::milliseconds deadline) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    for (;;) {
      const auto value = detail::nm_property(bus_, active, detail::kNmActive, "State", what);
      if (!value) return fail(value.error());
      const auto* state = *value ? std::get_if<std::uint32_t>(&**value) : nullptr;
      if (state != nullptr && *state == kActivated) return {};
      if (state == nullptr || *state >= kDeactivating)
        return fail(Code::kRefused,
                    fmt::format("{}: it went down again (journalctl -u NetworkManager says why)", what));
      if (std::chrono::steady_clock::now() >= end)
        return fail(Code::kTimeout, fmt::format("{}: profile {} did not come up in time", what, uuid));
      std::this_thread::sleep_for(kPoll);
    }
  }

  std::chrono::milliseconds down_;
  detail::SystemBus bus_;
  detail::NmActives actives_;
};

}  // namespace

std::unique_ptr<NetworkManager> make_linux_network_manager(const BusLimits& limits) {
  return std::make_unique<DbusNetworkManager>(limits);
}

}  // namespace rdmacfg::system
