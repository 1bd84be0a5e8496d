// SPDX-License-Identifier: Apache-2.0
// The daemon's end of the bus: signals it hears there, and signals it sends.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/characters.hpp"
#include "daemon/bus/api.hpp"
#include "daemon/bus/dispatch.hpp"
#include "daemon/bus/guarded.hpp"
#include "daemon/bus/property_bounds.hpp"
#include "system/linux/dbus/dbus.hpp"

namespace rdmacfg::daemon {

namespace {

/// A match alone does not tell: any client may send the same signal to our name, and sd-bus takes it for one
/// of the bus. The sender is what the bus writes.
bool is_of_bus(const sdbus::Message& message) {
  return system::dbus::sender_of(message) == "org.freedesktop.DBus";
}

constexpr const char* kNmOnBus = "org.freedesktop.NetworkManager";

/// The services that set up addresses and name servers wanted of them.
constexpr std::array<const char*, 3> kManagers{"org.freedesktop.resolve1", "org.freedesktop.network1",
                                               kNmOnBus};

/// NMActiveConnectionState: activated, and deactivated.
constexpr std::uint32_t kProfileUp = 2, kProfileDown = 4;

}  // namespace

void Api::process() {
  try {
    dispatch_batch(
        [this] {
          untaken_.reset();
          const bool more = connection_->process();
          tell_untaken();
          return more;
        },
        [this] { return do_answers_wait(connection_->poll().events); });
  } catch (const std::exception&) {
    source_.reset();
    if (lost) lost();
  }
}

void Api::tell_untaken() {
  if (!untaken_) return;
  const auto call = *std::exchange(untaken_, std::nullopt);
  guarded("a call that no method takes", [&] {
    authority_->identify(call.sender, [this, member = call.member](const Caller& caller) {
      tell_request(lines_, caller, member, "",
                   {RequestVerdict::Sort::kRefused, "no method takes these arguments"}, 0);
    });
  });
}

void Api::emit(const std::function<void()>& signal) {
  try {
    if (source_) signal();
  } catch (const sdbus::Error&) {  // the loop hears of it
  }
}

/// By name, so that nobody else who comes or goes wakes the daemon.
void Api::watch_managers() {
  for (const auto* name : kManagers) {
    const auto match = fmt::format(
        "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
        "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{}'",
        name);
    matches_.push_back(connection_->match(match, [this](sdbus::Message& message) {
      guarded("a manager on the bus", [&] {
        if (!is_of_bus(message)) return;
        std::string changed, before, now;
        message >> changed >> before >> now;
        if (changed == kNmOnBus) network_manager_ = now;
        if (!now.empty() && appeared) appeared();
      });
    }));
  }
}

/// The last steps that NetworkManager takes with a profile need not change anything in the kernel.
void Api::watch_profiles() {
  try {
    system::dbus::Peer bus(*connection_, "org.freedesktop.DBus", "/org/freedesktop/DBus");
    network_manager_ = bus.call<std::string>("org.freedesktop.DBus", "GetNameOwner",
                                             system::dbus::Microseconds(0), std::string(kNmOnBus));
  } catch (const sdbus::Error&) {  // it does not run
  }
  const auto match = fmt::format(
      "type='signal',sender='{0}',interface='{0}.Connection.Active',member='StateChanged'", kNmOnBus);
  matches_.push_back(connection_->match(match, [this](sdbus::Message& message) {
    guarded("a profile of NetworkManager", [&] {
      // As above: the match alone lets signals of any client through.
      if (network_manager_.empty() || system::dbus::sender_of(message) != network_manager_) return;
      std::uint32_t state = 0;
      message >> state;
      if ((state == kProfileUp || state == kProfileDown) && appeared) appeared();
    });
  }));
}

/// By the empty new owner: those that come wake nobody.
void Api::watch_clients() {
  matches_.push_back(
      connection_->match("type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                         "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''",
                         [this](sdbus::Message& message) {
                           guarded("a client that leaves", [&] {
                             if (!is_of_bus(message)) return;
                             std::string name, before, now;
                             message >> name >> before >> now;
                             if (!now.empty()) return;
                             for (const auto job : callers_.left(name)) (void)jobs_.cancel(job);
                           });
                         }));
}

void Api::set(const Properties& told) {
  // Labels have names of devices in them, which need not even be UTF-8.
  auto properties = told;
  for (auto* labels : {&properties.pending, &properties.limited, &properties.unmet, &properties.contended}) {
    for (auto& label : *labels) label = base::harmless(label);
  }
  for (auto& [kind, id, why] : properties.contention) {
    id = base::harmless(id);
    why = base::harmless(why);
  }
  for (auto* labels : {&properties.pending, &properties.limited, &properties.unmet, &properties.contended})
    bound_property(*labels);
  bound_property(properties.contention);
  for (auto* text : {&properties.refused, &properties.failing, &properties.last_repair})
    *text = base::harmless(*text);
  std::vector<std::string> changed;
  if (properties.state != properties_.state) changed.emplace_back("State");
  if (properties.generation != properties_.generation) changed.emplace_back("Generation");
  if (properties.unconfirmed != properties_.unconfirmed) changed.emplace_back("Unconfirmed");
  if (properties.pending != properties_.pending) changed.emplace_back("Pending");
  if (properties.limited != properties_.limited) changed.emplace_back("Limited");
  if (properties.unmet != properties_.unmet) changed.emplace_back("Unmet");
  if (properties.contended != properties_.contended) changed.emplace_back("Contended");
  if (properties.contention != properties_.contention) changed.emplace_back("Contention");
  if (properties.refused != properties_.refused) changed.emplace_back("Refused");
  if (properties.failing != properties_.failing) changed.emplace_back("Failing");
  if (properties.repairs != properties_.repairs) changed.emplace_back("Repairs");
  if (properties.repairs_by_kind != properties_.repairs_by_kind) changed.emplace_back("RepairsByKind");
  if (properties.last_repair != properties_.last_repair) changed.emplace_back("LastRepair");
  properties_ = properties;
  if (!changed.empty()) emit([&] { object_->emit_changed(changed); });
}

void Api::progress(std::uint32_t id, std::uint64_t done, std::uint64_t total, const std::string& next) {
  emit([&] { object_->emit("Progress", id, done, total, base::harmless(next)); });
}

void Api::event(int priority, const std::string& name, const std::string& text) {
  emit([&] { object_->emit("Event", std::int32_t{priority}, name, text); });
}

void Api::finished(std::uint32_t id, int exit) {
  emit([&] { object_->emit("Finished", id, std::int32_t{exit}); });
}

}  // namespace rdmacfg::daemon
