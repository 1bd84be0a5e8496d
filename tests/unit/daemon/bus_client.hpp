// SPDX-License-Identifier: Apache-2.0
// A client of the daemon on the system bus, with a connection and a thread of its own.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "system/linux/dbus/dbus.hpp"

namespace rdmacfg::daemon {

class BusClient {
 public:
  static constexpr const char* kManager = "org.rdmaconfigd1.Manager";

  BusClient() : peer_(connection_, "org.rdmaconfigd1", "/org/rdmaconfigd1") { connection_.start_thread(); }
  BusClient(const BusClient&) = delete;
  BusClient& operator=(const BusClient&) = delete;
  ~BusClient() { connection_.stop_thread(); }

  system::dbus::Peer& operator*() { return peer_; }
  system::dbus::Peer* operator->() { return &peer_; }
  system::dbus::Connection& connection() { return connection_; }

 private:
  system::dbus::Connection connection_;
  system::dbus::Peer peer_;
};

/// Whether the daemon can be called: it comes to the bus once it has done what it begins with.
inline bool is_on_the_bus() {
  try {
    system::dbus::Connection connection;
    system::dbus::Peer bus(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus");
    return bus.call<bool>("org.freedesktop.DBus", "NameHasOwner", std::chrono::seconds(60),
                          std::string("org.rdmaconfigd1"));
  } catch (const sdbus::Error&) {
    return false;
  }
}

/// polkit as one that answers yes to one action only.
class FakePolkit {
 public:
  explicit FakePolkit(std::string allowed)
      : object_(connection_, "/org/freedesktop/PolicyKit1/Authority",
                "org.freedesktop.PolicyKit1.Authority") {
    using Subject = sdbus::Struct<std::string, std::map<std::string, sdbus::Variant>>;
    using Details = std::map<std::string, std::string>;
    using Verdict = sdbus::Struct<bool, bool, Details>;
    object_.method("CheckAuthorization", {}, {},
                   [allowed = std::move(allowed)](const system::dbus::Reply<Verdict>& reply, const Subject&,
                                                  const std::string& action, const Details&,
                                                  const std::uint32_t&, const std::string&) {
                     reply.send(Verdict{action == allowed, false, Details{}});
                   });
    object_.publish();
    connection_.request_name("org.freedesktop.PolicyKit1");
    connection_.start_thread();
  }
  FakePolkit(const FakePolkit&) = delete;
  FakePolkit& operator=(const FakePolkit&) = delete;
  ~FakePolkit() { connection_.stop_thread(); }

 private:
  system::dbus::Connection connection_;
  system::dbus::Object object_;
};

}  // namespace rdmacfg::daemon
