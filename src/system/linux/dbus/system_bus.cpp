// SPDX-License-Identifier: Apache-2.0
#include "system/linux/dbus/system_bus.hpp"

#include <cerrno>
#include <string>

namespace rdmacfg::system::detail {

using base::fail;
using base::fail_errno;
using base::Result;

namespace {

constexpr const char* kDbus = "org.freedesktop.DBus";

BusMessage empty() { return {nullptr, sd_bus_message_unref}; }

}  // namespace

Result<sd_bus*> SystemBus::bus() {
  if (bus_ && is_usable(bus_.get())) return bus_.get();
  bus_.reset();
  sd_bus* opened = nullptr;
  const int status = sd_bus_open_system(&opened);
  if (status < 0) return fail_errno(-status, "reaching the system bus");
  bus_.reset(opened);
  sd_bus_set_method_call_timeout(opened, microseconds_of(deadline_));
  return opened;
}

Result<bool> SystemBus::has_owner(const char* name) {
  if (const auto opened = bus(); !opened) {
    const int error = opened.error().sys_errno;
    if (error == EMFILE || error == ENFILE || error == ENOMEM || error == ETIMEDOUT)
      return fail(opened.error());
    return false;
  }
  const auto what = std::string("asking the system bus for ") + name;
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
