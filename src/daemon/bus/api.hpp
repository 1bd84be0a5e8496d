// SPDX-License-Identifier: Apache-2.0
// The D-Bus interface org.rdmaconfigd1.Manager (docs/DBUS.md). It checks who asks, and hands on; no document
// is looked into here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "daemon/bus/authority.hpp"
#include "daemon/bus/callers.hpp"
#include "daemon/bus/requests.hpp"
#include "daemon/jobs/jobs.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/unit_watch.hpp"

namespace rdmacfg::system::dbus {
class Connection;
class Object;
}  // namespace rdmacfg::system::dbus

namespace rdmacfg::daemon {

/// The daemon's properties that anybody may read.
struct Properties {
  std::string state = "starting";  ///< "starting", "idle", "working", "unconfirmed", "degraded"
  std::uint64_t generation = 0;
  std::string unconfirmed;             ///< until when, UTC; empty when nothing waits for confirmation
  std::vector<std::string> pending;    ///< resources that wait for something, by label
  std::vector<std::string> limited;    ///< resources that the fabric keeps from being as wanted
  std::vector<std::string> unmet;      ///< expectations that are not met
  std::vector<std::string> contended;  ///< resources that somebody else changes back
  /// The same for programs: kind, id and reason.
  std::vector<std::tuple<std::string, std::string, std::string>> contention;
  std::string refused;        ///< why the configuration is not what is held; empty: it is
  std::string failing;        ///< what cannot be made as it should be and is tried again
  std::uint64_t repairs = 0;  ///< changes of others that were changed back, since the daemon began
  std::map<std::string, std::uint64_t> repairs_by_kind;
  std::string last_repair;  ///< "2026-11-21T14:03:22Z ipoib ib0: mtu"; empty without one
  bool operator==(const Properties&) const = default;
};

class Api {
 public:
  /// Connects to the system bus and takes the name org.rdmaconfigd1. Throws sdbus::Error.
  Api(Loop& loop, Jobs& jobs);
  ~Api();

  /// Every job that a client asks for, on its end.
  std::function<void(const Job& job, const Outcome& outcome)> ended;

  /// systemd-resolved, systemd-networkd or NetworkManager has come to the bus, or NetworkManager has finished
  /// bringing a profile up or down: work that waits for it can be done.
  std::function<void()> appeared;

  /// Something has become of a unit that watch_units() named.
  std::function<void(const std::string& unit)> unit_changed;
  void watch_units(const std::set<std::string>& units) { units_->watch(units); }

  /// The bus has gone, and nothing comes of this any more; but what clients have asked for before ends here.
  std::function<void()> lost;

  void set(const Properties& properties);
  void progress(std::uint32_t id, std::uint64_t done, std::uint64_t total, const std::string& next);
  void finished(std::uint32_t id, int exit);
  /// The daemon's journal messages, for clients that follow.
  void event(int priority, const std::string& name, const std::string& text);

 private:
  struct Detail;

  static std::unique_ptr<system::dbus::Connection> connect();
  void add_looks();
  void add_changes();
  void add_properties();
  void watch_managers();
  void watch_profiles();
  /// Ends looks whose clients have left the bus.
  void watch_clients();
  /// Notes each call before sd-bus compares its arguments with those of the method.
  void watch_calls();
  /// Logs the call just processed if no method handled it, that is, if sd-bus replied itself.
  void tell_untaken();
  void process();
  /// Does nothing when the bus has gone.
  void emit(const std::function<void()>& signal);

  Loop& loop_;
  Jobs& jobs_;
  Properties properties_;
  std::unique_ptr<system::dbus::Connection> connection_;
  std::unique_ptr<Authority> authority_;
  std::unique_ptr<UnitWatch> units_;
  std::unique_ptr<system::dbus::Object> object_;
  std::vector<std::shared_ptr<void>> matches_;
  std::string network_manager_;  ///< unique name of its connection; empty: it is not on the bus
  Callers callers_;
  RequestLines lines_;
  struct Call {
    std::string sender, member;
  };
  std::optional<Call> untaken_;  ///< the call being processed, until a method handles it
  Loop::Handle source_;
};

}  // namespace rdmacfg::daemon
