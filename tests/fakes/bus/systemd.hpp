// SPDX-License-Identifier: Apache-2.0
// systemd's manager on the bus, as org.freedesktop.systemd1(5) and src/core/dbus-manager.c have it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fakes/bus/peer.hpp"

namespace rdmacfg::fakes::bus {

class Systemd {
 public:
  struct Condition {
    std::string name;
    bool is_choice = false, negated = false;
    std::string value;
    int state = 0;  ///< at the last start: below 0, it did not hold
  };
  struct Unit {
    std::string load = "loaded";
    std::string active = "inactive";
    std::string sub = "dead";
    std::string file = "disabled";  ///< empty: GetUnitFileState fails
    std::string type = "simple";
    std::uint32_t pid = 0;
    bool needs_reload = false;
    bool stops_unneeded = false;
    bool remains = false;
    bool installable = true;
    std::vector<Condition> conditions{};
    std::set<std::string> missing{};     ///< properties that it does not have
    std::set<std::string> wrong_type{};  ///< properties that are 64-bit numbers
  };

  Systemd();

  /// The state is read and changed by peer().locked().
  std::map<std::string, Unit> units;
  std::map<std::string, std::string> aliases;  ///< name to unit
  std::string job_result = "done";             ///< of jobs to come; empty: they go on
  std::string job_state = "running";           ///< of those that go on
  std::vector<std::string> log;                ///< "StartUnit opensm.service"

  Peer& peer() { return peer_; }
  /// How a job that goes on ends.
  void end_job(const std::string& result);
  /// The path of the next job.
  [[nodiscard]] std::string next_job() const;

 private:
  int list_by_names(sd_bus_message* call);
  int list_by_patterns(sd_bus_message* call);
  int get_property(sd_bus_message* call);
  int get_unit_file_state(sd_bus_message* call);
  int enable(sd_bus_message* call, bool enabled);
  int run_job(sd_bus_message* call, const std::string& method);
  int start_transient(sd_bus_message* call);
  int kill_unit(sd_bus_message* call);
  int removed(sd_bus* bus, const std::string& result);
  void put_unit(Writer& out, const std::string& name);
  std::string id_of(const std::string& name) const;

  std::set<std::string> subscribers_;
  std::uint32_t jobs_ = 0;
  std::string unit_of_job_, job_, job_caller_;
  Peer peer_{"org.freedesktop.systemd1"};  ///< its thread ends first
};

}  // namespace rdmacfg::fakes::bus
