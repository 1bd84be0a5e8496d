// SPDX-License-Identifier: Apache-2.0
// Units of systemd that start, stop, fail, or are enabled and disabled.
// Source: org.freedesktop.systemd1(5).
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

namespace sdbus {
class IConnection;
class IProxy;
}  // namespace sdbus

namespace rdmacfg::daemon {

class UnitWatch {
 public:
  /// `changed`: with the name of the unit, or with "unit files".
  UnitWatch(sdbus::IConnection& connection, std::function<void(const std::string& what)> changed);
  ~UnitWatch();

  /// These too, from now on. Others wake nobody: matches are by object. Those of names that are not asked for
  /// any more stay.
  void watch(const std::set<std::string>& units);

 private:
  void subscribe();
  void match(const std::string& path, const std::string& unit);

  sdbus::IConnection& connection_;
  std::function<void(const std::string& what)> changed_;
  std::unique_ptr<sdbus::IProxy> systemd_;
  std::set<std::string> units_, paths_;
};

}  // namespace rdmacfg::daemon
