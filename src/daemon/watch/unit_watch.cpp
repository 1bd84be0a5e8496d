// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/unit_watch.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "daemon/bus/guarded.hpp"
#include "system/linux/dbus/dbus.hpp"

namespace rdmacfg::daemon {

namespace {

constexpr const char* kBus = "org.freedesktop.DBus";
constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr const char* kSystemdPath = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";

constexpr const char* kAlready = "org.freedesktop.systemd1.AlreadySubscribed";

constexpr system::dbus::Microseconds kConnectionsOwn{0};  // its deadline

/// As sd_bus_path_encode(3) does it: everything but letters and digits, and a leading digit, as its number.
std::string path_of(const std::string& unit) {
  std::string path = "/org/freedesktop/systemd1/unit/";
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const auto c = static_cast<unsigned char>(unit[i]);
    const bool digit = c >= '0' && c <= '9', letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    path += letter || (digit && i > 0) ? std::string(1, unit[i]) : fmt::format("_{:02x}", c);
  }
  return path;
}

}  // namespace

UnitWatch::UnitWatch(system::dbus::Connection& connection,
                     std::function<void(const std::string& what)> changed)
    : connection_(connection),
      changed_(std::move(changed)),
      systemd_(std::make_unique<system::dbus::Peer>(connection, kSystemd, kSystemdPath)) {}

UnitWatch::~UnitWatch() = default;

void UnitWatch::watch(const std::set<std::string>& units) {
  if (units != units_) {
    const auto dropped =
        std::erase_if(paths_, [&](const auto& path) { return !units.contains(path.second); });
    if (dropped > 0) unresolved_.clear();
    for (const auto& unit : units) {
      const bool known = units_.contains(unit);
      if (!known) paths_.insert_or_assign(path_of(unit), unit);
      // One that stays may have shared its object with one that goes.
      if (!known || dropped > 0) unresolved_.push_back(unit);
    }
    units_ = units;
  }
  if (units_.empty()) {
    unit_match_.reset();
    file_match_.reset();
    owner_match_.reset();
    return;
  }
  // A bus that has just gone refuses both; its end is told elsewhere.
  (void)guarded("watching units", [this] {
    subscribe();
    resolve_aliases();
  });
}

/// systemd sends no signals before a client asks for them.
void UnitWatch::subscribe() {
  if (!subscribed_) {
    // One that does not answer is asked again by the next call of watch().
    systemd_->call_async(kManager, "Subscribe", kConnectionsOwn, [this](const sdbus::Error* error) {
      if (error != nullptr && error->getName() != kAlready) subscribed_ = false;
    });
    subscribed_ = true;
  }
  if (unit_match_ && file_match_ && owner_match_) return;
  const auto add = [this](const std::string& rule, auto heard) -> std::shared_ptr<void> {
    return connection_.match("type='signal',sender='" + std::string(kSystemd) + "'," + rule,
                             std::move(heard));
  };
  if (!unit_match_)
    unit_match_ = add(
        "path_namespace='/org/freedesktop/systemd1/unit',interface='org.freedesktop.DBus.Properties',"
        "member='PropertiesChanged'",
        [this](sdbus::Message& message) { guarded("a unit's change", [&] { on_unit_changed(message); }); });
  if (!file_match_)
    file_match_ =
        add(fmt::format("path='{}',interface='{}',member='UnitFilesChanged'", kSystemdPath, kManager),
            [this](sdbus::Message& message) {
              guarded("unit files", [&] {
                if (is_of_systemd(message)) changed_("unit files");
              });
            });
  // Last: without it the bus is asked, as long as the signals are those of others.
  if (!owner_match_) {
    owner_.clear();  // it may have changed unheard
    owner_match_ = connection_.match(
        fmt::format("type='signal',sender='{0}',path='/org/freedesktop/DBus',interface='{0}',"
                    "member='NameOwnerChanged',arg0='{1}'",
                    kBus, kSystemd),
        [this](sdbus::Message& message) { guarded("systemd's name", [&] { on_owner_changed(message); }); });
  }
}

/// The bus alone has its name as a sender.
void UnitWatch::on_owner_changed(sdbus::Message& message) {
  if (system::dbus::sender_of(message) != kBus) return;
  std::string name, before, now;
  message >> name >> before >> now;
  if (name == kSystemd) owner_ = now;
}

/// An alias has no object of its own: signals come from that of the unit it stands for. A few at a time,
/// since the bus bounds the calls that a client awaits.
void UnitWatch::resolve_aliases() {
  while (asked_ < model::limits::kUnitQuestions && !unresolved_.empty()) {
    const auto unit = std::move(unresolved_.front());
    unresolved_.pop_front();
    systemd_->call_async<sdbus::ObjectPath>(
        kManager, "LoadUnit", kConnectionsOwn,
        [this, unit](const sdbus::Error* error, const sdbus::ObjectPath& path) {
          guarded("LoadUnit", [&] {
            --asked_;
            if (error == nullptr && units_.contains(unit)) paths_.emplace(path, unit);
            resolve_aliases();
          });
        },
        unit);
    ++asked_;
  }
}

bool UnitWatch::is_of_systemd(const sdbus::Message& message) {
  const auto sender = system::dbus::sender_of(message);
  if (!owner_.empty() && (owner_match_ || sender == owner_)) return sender == owner_;
  try {
    system::dbus::Peer bus(connection_, kBus, "/org/freedesktop/DBus");
    owner_ = bus.call<std::string>(kBus, "GetNameOwner", kConnectionsOwn, std::string(kSystemd));
  } catch (const sdbus::Error&) {
    return false;  // nobody has the name, or the bus has no time
  }
  return sender == owner_;
}

void UnitWatch::on_unit_changed(sdbus::Message& message) {
  const auto at = paths_.find(system::dbus::path_of(message));
  if (at == paths_.end() || !is_of_systemd(message)) return;
  const auto unit = at->second;  // what follows may watch other units
  changed_(unit);
}

}  // namespace rdmacfg::daemon
