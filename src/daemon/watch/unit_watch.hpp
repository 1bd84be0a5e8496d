// SPDX-License-Identifier: Apache-2.0
// Units of systemd that start, stop, fail, or are enabled and disabled.
// Source: org.freedesktop.systemd1(5).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "model/limits.hpp"

namespace sdbus {
class Message;
}  // namespace sdbus

namespace rdmacfg::system::dbus {
class Connection;
class Peer;
}  // namespace rdmacfg::system::dbus

namespace rdmacfg::daemon {

class UnitWatch {
 public:
  /// `changed`: with the name of the unit, or with "unit files".
  UnitWatch(system::dbus::Connection& connection, std::function<void(const std::string& unit)> changed);
  ~UnitWatch();

  /// These units and no others from now on. Two matches serve any number of units: the bus gives a client
  /// 512. A bus that refuses a match is reported in the journal and asked again by the next call, and so is a
  /// systemd that does not answer that it sends signals.
  void watch(const std::set<std::string>& units);

  /// Objects of units that are listened to.
  [[nodiscard]] std::size_t watched() const { return paths_.size(); }

 private:
  void subscribe();
  void resolve_aliases();
  void on_unit_changed(sdbus::Message& message);
  void on_owner_changed(sdbus::Message& message);
  /// The bus hands on signals that any client sends to this one alone, whatever the match says.
  bool is_of_systemd(const sdbus::Message& message);

  system::dbus::Connection& connection_;
  std::function<void(const std::string& unit)> changed_;
  std::unique_ptr<system::dbus::Peer> systemd_;
  std::string owner_;  ///< unique name of systemd on the bus; another one after daemon-reexec
  std::set<std::string> units_;
  std::map<std::string, std::string> paths_;  ///< object to unit
  std::deque<std::string> unresolved_;        ///< units that may be aliases
  std::size_t asked_ = 0;                     ///< calls of LoadUnit under way
  bool subscribed_ = false;
  std::shared_ptr<void> unit_match_, file_match_, owner_match_;
};

}  // namespace rdmacfg::daemon
