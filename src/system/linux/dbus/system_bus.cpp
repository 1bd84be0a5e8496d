// SPDX-License-Identifier: Apache-2.0
#include "system/linux/dbus/system_bus.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace rdmacfg::system::detail {

using base::fail;
using base::fail_errno;
using base::Result;
using Clock = std::chrono::steady_clock;

namespace {

constexpr const char* kDbus = "org.freedesktop.DBus";
constexpr std::chrono::seconds kSilent{60};

BusMessage empty() { return {nullptr, sd_bus_message_unref}; }

/// Whether systemd says that nothing of a unit runs. By its own socket, which leads only root there: it
/// answers where the bus does not.
bool is_stopped(const char* unit, const BusLimits& limits) {
  sd_bus* opened = nullptr;
  if (sd_bus_new(&opened) < 0) return false;
  const std::unique_ptr<sd_bus, sd_bus* (*)(sd_bus*)> direct(opened, sd_bus_flush_close_unref);
  const auto address = "unix:path=" + (limits.systemd / "private").native();
  if (sd_bus_set_address(opened, address.c_str()) < 0 || sd_bus_start(opened) < 0) return false;
  BusError error;
  sd_bus_message* raw = nullptr;
  int status = sd_bus_call_method(opened, kSystemd, kSystemdPath, kSystemdManager, "GetUnit", &error.error,
                                  &raw, "s", unit);
  auto reply = empty();
  reply.reset(raw);
  if (status < 0) return error.is_systemds("NoSuchUnit");
  const char* path = nullptr;
  if (sd_bus_message_read(reply.get(), "o", &path) < 0) return false;
  BusError no_state;
  char* text = nullptr;
  status = sd_bus_get_property_string(opened, kSystemd, path, "org.freedesktop.systemd1.Unit", "ActiveState",
                                      &no_state.error, &text);
  const std::unique_ptr<char, void (*)(void*)> state(text, &::free);
  if (status < 0) return false;
  const std::string_view active(text);
  return active == "inactive" || active == "failed";
}

}  // namespace

Result<sd_bus*> SystemBus::bus() {
  if (bus_ && is_usable(bus_.get())) return bus_.get();
  bus_.reset();
  sd_bus* opened = nullptr;
  const int status = sd_bus_open_system(&opened);
  if (status < 0) return fail_errno(-status, "reaching the system bus");
  bus_.reset(opened);
  sd_bus_set_method_call_timeout(opened, microseconds_of(limits_.call));
  return opened;
}

Result<void> SystemBus::await_ready(sd_bus* opened, const std::string& what) {
  const auto end = Clock::now() + limits_.call;
  while (sd_bus_is_ready(opened) == 0) {
    const int status = sd_bus_process(opened, nullptr);
    if (status < 0) return fail_errno(-status, what);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return fail_errno(ETIMEDOUT, what);
    if (status > 0) continue;
    if (const int waited = sd_bus_wait(opened, microseconds_of(left)); waited < 0 && waited != -EINTR)
      return fail_errno(-waited, what);
  }
  return {};
}

Result<bool> SystemBus::has_owner(const char* name, const char* unit) {
  if (Clock::now() < silent_until_ && is_stopped(unit, limits_)) return false;
  auto there = ask_for_owner(name);
  if (there || there.error().code != base::Code::kTimeout) return there;
  silent_until_ = Clock::now() + kSilent;
  if (is_stopped(unit, limits_)) return false;
  return there;
}

Result<bool> SystemBus::ask_for_owner(const char* name) {
  const auto opened = bus();
  if (!opened) {
    const int error = opened.error().sys_errno;
    if (error == EMFILE || error == ENFILE || error == ENOMEM || error == ETIMEDOUT)
      return fail(opened.error());
    return false;
  }
  const auto what = std::string("asking the system bus for ") + name;
  if (auto ready = await_ready(*opened, what); !ready) {
    sd_bus_close(*opened);  // else its end would wait for the bus, too (sd_bus_flush(3))
    bus_.reset();
    return fail(ready.error());
  }
  const auto reply = call({kDbus, "/org/freedesktop/DBus", kDbus, "NameHasOwner"}, what, nullptr, "s", name);
  if (!reply) return fail(reply.error());
  int there = 0;
  if (const int status = sd_bus_message_read(reply->get(), "b", &there); status < 0)
    return fail_errno(-status, what);
  return there != 0;
}

Result<BusMessage> SystemBus::begin(const BusCall& call, const std::string& what) {
  const auto opened = bus();
  if (!opened) return fail(opened.error());
  sd_bus_message* raw = nullptr;
  const int status = sd_bus_message_new_method_call(*opened, &raw, call.destination, call.path.c_str(),
                                                    call.interface, call.method);
  if (status < 0) return fail_errno(-status, what);
  auto message = empty();
  message.reset(raw);
  return message;
}

Result<BusMessage> SystemBus::send(sd_bus_message* message, const std::string& what, std::string* refusal) {
  BusError error;
  sd_bus_message* raw = nullptr;
  const int status = sd_bus_call(sd_bus_message_get_bus(message), message, 0, &error.error, &raw);
  auto reply = empty();
  reply.reset(raw);
  if (status >= 0) return reply;
  if (refusal != nullptr && error.error.name != nullptr) *refusal = error.error.name;
  return fail(error.error_of(status, what));
}

}  // namespace rdmacfg::system::detail
