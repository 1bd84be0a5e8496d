// SPDX-License-Identifier: Apache-2.0
#include "daemon/unit_watch.hpp"

#include <fmt/format.h>
#include <sdbus-c++/sdbus-c++.h>

#include <cstddef>
#include <utility>

namespace rdmacfg::daemon {

namespace {

constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr const char* kPath = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";

/// As sd_bus_path_encode(3) does it: what is no letter or digit, and a digit in front, by its number.
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

UnitWatch::UnitWatch(sdbus::IConnection& connection, std::function<void(const std::string& what)> changed)
    : connection_(connection),
      changed_(std::move(changed)),
      systemd_(sdbus::createProxy(connection, kSystemd, kPath)) {
  systemd_->finishRegistration();
}

UnitWatch::~UnitWatch() = default;

void UnitWatch::watch(const std::set<std::string>& units) {
  for (const auto& unit : units) {
    if (!units_.insert(unit).second) continue;
    if (units_.size() == 1) subscribe();
    match(path_of(unit), unit);
    // An alias has no object of its own: signals come from that of the unit it stands for.
    systemd_->callMethodAsync("LoadUnit")
        .onInterface(kManager)
        .withArguments(unit)
        .uponReplyInvoke([this, unit](const sdbus::Error* error, const sdbus::ObjectPath& path) {
          if (error == nullptr) match(path, unit);
        });
  }
}

/// systemd tells nobody anything before somebody asks for it.
void UnitWatch::subscribe() {
  systemd_->callMethodAsync("Subscribe")
      .onInterface(kManager)
      .uponReplyInvoke([](const sdbus::Error* /*error*/) {});
  connection_.addMatch(
      fmt::format("type='signal',sender='{}',path='{}',interface='{}',member='UnitFilesChanged'", kSystemd,
                  kPath, kManager),
      [this](sdbus::Message& /*message*/) { changed_("unit files"); }, sdbus::floating_slot);
}

void UnitWatch::match(const std::string& path, const std::string& unit) {
  if (path.empty() || !paths_.insert(path).second) return;
  connection_.addMatch(
      fmt::format("type='signal',sender='{}',path='{}',"
                  "interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'",
                  kSystemd, path),
      [this, unit](sdbus::Message& /*message*/) { changed_(unit); }, sdbus::floating_slot);
}

}  // namespace rdmacfg::daemon
