// SPDX-License-Identifier: Apache-2.0
#include "system/linux/dbus/system_bus.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rdmacfg::system::detail {

using base::fail;
using base::fail_errno;
using base::Result;
using Clock = std::chrono::steady_clock;

namespace {

constexpr const char* kDbus = "org.freedesktop.DBus";

BusMessage empty() { return {nullptr, sd_bus_message_unref}; }

/// A connection to systemd's own socket and what is left of the time for all questions over it.
class DirectQuestions {
 public:
  explicit DirectQuestions(const BusLimits& limits)
      : silence_(limits.silences->systemd),
        whole_(silence_.patience(limits.direct)),
        end_(silence_.now() + whole_),
        had_(whole_) {}

  bool open(const std::string& address) {
    sd_bus* opened = nullptr;
    if (sd_bus_new(&opened) < 0) return false;
    bus_.reset(opened);
    if (sd_bus_set_address(opened, address.c_str()) < 0) return false;
    // A full queue of connections is the silence of one that takes none: connect(2).
    if (const int status = sd_bus_start(opened); status < 0)
      return answered(status == -EAGAIN ? -ETIMEDOUT : status);
    return answered(await_ready(opened, left()));
  }
  /// The connection for the next question.
  sd_bus* next() {
    had_ = std::max(left(), milliseconds(1));
    sd_bus_set_method_call_timeout(bus_.get(), microseconds_of(had_));
    return bus_.get();
  }
  /// Notes whether a question had an answer. @return whether it was not an error
  bool answered(int status) {
    // Slow answers may leave a question too little time to tell silence by.
    if (status == -ETIMEDOUT && had_ >= whole_ / 2) silence_.note();
    return status >= 0;
  }

 private:
  using milliseconds = std::chrono::milliseconds;
  [[nodiscard]] milliseconds left() const {
    return std::chrono::duration_cast<milliseconds>(end_ - silence_.now());
  }

  Silence& silence_;
  milliseconds whole_;
  Clock::time_point end_;
  milliseconds had_;  ///< time of the question before
  std::unique_ptr<sd_bus, sd_bus* (*)(sd_bus*)> bus_{nullptr, sd_bus_flush_close_unref};
};

/// Whether nothing of a unit runs, as systemd says; nothing where it does not say. By its own socket, which
/// leads only root there: it answers where the bus does not.
std::optional<bool> is_stopped(const char* unit, const BusLimits& limits) {
  DirectQuestions systemd(limits);
  if (!systemd.open("unix:path=" + (limits.systemd / "private").native())) return std::nullopt;
  BusError error;
  sd_bus_message* raw = nullptr;
  int status = sd_bus_call_method(systemd.next(), kSystemd, kSystemdPath, kSystemdManager, "GetUnit",
                                  &error.error, &raw, "s", unit);
  auto reply = empty();
  reply.reset(raw);
  if (!systemd.answered(status)) return error.is_systemds("NoSuchUnit") ? std::optional(true) : std::nullopt;
  const char* path = nullptr;
  if (sd_bus_message_read(reply.get(), "o", &path) < 0) return std::nullopt;
  BusError no_state;
  char* text = nullptr;
  status = sd_bus_get_property_string(systemd.next(), kSystemd, path, "org.freedesktop.systemd1.Unit",
                                      "ActiveState", &no_state.error, &text);
  const std::unique_ptr<char, void (*)(void*)> state(text, &::free);
  if (!systemd.answered(status)) return std::nullopt;
  limits.silences->systemd.end();
  const std::string_view active(text);
  return active == "inactive" || active == "failed";
}

}  // namespace

std::chrono::milliseconds SystemBus::patience() const {
  return limits_.silences->bus.patience(std::min(limits_.bus, limits_.call));
}

void SystemBus::note(const base::Error& error) {
  if (error.code == base::Code::kTimeout) limits_.silences->bus.note();
}

Result<sd_bus*> SystemBus::bus() {
  if (bus_ && is_usable(bus_.get())) return bus_.get();
  bus_.reset();
  const char* const what = "reaching the system bus";
  sd_bus* opened = nullptr;
  int status = sd_bus_open_system(&opened);
  if (status == -EAGAIN) status = -ETIMEDOUT;  // so many wait already that it takes no more: connect(2)
  if (status < 0) {
    auto error = base::errno_error(-status, what);
    note(error);
    return fail(std::move(error));
  }
  bus_.reset(opened);
  sd_bus_set_method_call_timeout(opened, microseconds_of(limits_.call));
  if (status = await_ready(opened, patience()); status >= 0) return opened;
  bus_.reset();
  auto error = base::errno_error(-status, what);
  note(error);
  return fail(std::move(error));
}

Result<bool> SystemBus::has_owner(const char* name, const char* unit) {
  const bool presumed = limits_.silences->bus.presumed();
  if (presumed && is_stopped(unit, limits_) == true) return false;
  const auto there = ask_for_owner(name);
  if (!there) {
    const bool silent = there.error().code == base::Code::kTimeout;
    if (silent && !presumed && is_stopped(unit, limits_) == true) return false;
    return fail(there.error());
  }
  if (there->has_value()) return there->value();
  if (is_stopped(unit, limits_) == false)
    return fail(base::Code::kDenied, "the system bus refuses this process, so " + std::string(unit) +
                                         ", which is running according to systemd, cannot be asked");
  return false;
}

Result<std::optional<bool>> SystemBus::ask_for_owner(const char* name) {
  doubtful_ = false;  // this asks the bus itself
  const auto opened = bus();
  if (!opened) {
    const int error = opened.error().sys_errno;
    if (error == ENOENT || error == ECONNREFUSED || error == ENOMEDIUM) return std::optional(false);
    if (error == EACCES || error == EPERM || error == EINVAL) return std::optional<bool>();
    return fail(opened.error());
  }
  const auto what = std::string("asking the system bus for ") + name;
  auto question = new_call({kDbus, "/org/freedesktop/DBus", kDbus, "NameHasOwner"}, what);
  if (!question) return fail(question.error());
  int status = sd_bus_message_append(question->get(), "s", name);
  if (status < 0) return fail_errno(-status, what);
  const auto reply = send(question->get(), what, nullptr, patience());
  if (!reply) {
    note(reply.error());
    return fail(reply.error());
  }
  limits_.silences->bus.end();
  int there = 0;
  if (status = sd_bus_message_read(reply->get(), "b", &there); status < 0) return fail_errno(-status, what);
  return std::optional(there != 0);
}

Result<BusMessage> SystemBus::begin(const BusCall& call, const std::string& what) {
  // A bus that hangs must not cost the time of a call each time.
  if (doubtful_ || limits_.silences->bus.presumed()) {
    if (const auto alive = ask_for_owner(kDbus); !alive) {
      doubtful_ = true;
      return fail(alive.error());
    }
  }
  auto& silence = limits_.silences->behind(call.destination);
  if (silence.presumed()) {
    if (const auto alive = ask_for_life(call.destination); !alive) {
      silence.note();
      return fail(alive.error().in(what));
    }
    silence.end();
  }
  return new_call(call, what);
}

Result<void> SystemBus::ask_for_life(const std::string& name) {
  // GDBus answers Ping() in a thread of its own, also while NetworkManager itself hangs.
  const bool networkmanager = name == "org.freedesktop.NetworkManager";
  const BusCall ping{name.c_str(), "/", "org.freedesktop.DBus.Peer", "Ping"};
  const BusCall get{name.c_str(), "/org/freedesktop/NetworkManager", "org.freedesktop.DBus.Properties",
                    "Get"};
  const auto what = "reaching " + name;
  auto question = new_call(networkmanager ? get : ping, what);
  if (!question) return fail(question.error());
  if (networkmanager) {
    const int status = sd_bus_message_append(question->get(), "ss", name.c_str(), "Version");
    if (status < 0) return fail_errno(-status, what);
  }
  const auto reply = send(question->get(), what, nullptr, Silence::kBriefly);
  if (reply || reply.error().code != base::Code::kTimeout) return {};  // an error is an answer
  return fail(reply.error());
}

Result<BusMessage> SystemBus::new_call(const BusCall& call, const std::string& what) {
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

Result<BusMessage> SystemBus::send(sd_bus_message* message, const std::string& what, std::string* refusal,
                                   std::chrono::milliseconds deadline) {
  BusError error;
  sd_bus_message* raw = nullptr;
  const int status =
      sd_bus_call(sd_bus_message_get_bus(message), message, microseconds_of(deadline), &error.error, &raw);
  doubtful_ = status == -ETIMEDOUT;
  // Of one that has left, the bus itself says that there is no reply.
  const char* const asked = sd_bus_message_get_destination(message);
  if (doubtful_ && deadline.count() == 0 && asked != nullptr &&
      !error.is("org.freedesktop.DBus.Error.NoReply")) {
    limits_.silences->behind(asked).note();
  }
  auto reply = empty();
  reply.reset(raw);
  if (status >= 0) return reply;
  if (refusal != nullptr && error.error.name != nullptr) *refusal = error.error.name;
  return fail(error.error_of(status, what));
}

}  // namespace rdmacfg::system::detail
