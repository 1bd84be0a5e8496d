// SPDX-License-Identifier: Apache-2.0
// NetworkManager on the bus, as its D-Bus API 1.42 has it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fakes/bus/peer.hpp"

namespace rdmacfg::fakes::bus {

class NetworkManager {
 public:
  struct Profile {
    std::string file;
    std::string id;
    std::uint32_t active = 0;  ///< NMActiveConnectionState; 0: it is not up
    std::string interface;     ///< of the device that it is up on
  };

  NetworkManager();

  /// The state is read and changed by peer().locked().
  std::map<std::string, Profile> profiles;  ///< by uuid
  std::vector<std::string> devices;
  std::vector<std::string> unmanaged;                ///< of the devices
  std::map<std::string, std::string> loads;          ///< files that can be loaded, with the uuid
  std::uint32_t activates_to = 2;                    ///< state of a profile after ActivateConnection
  bool goes_down = true;                             ///< on DeactivateConnection and Delete
  bool adjusts = true;                               ///< has CheckpointAdjustRollbackTimeout (since 1.12)
  bool reloads = true;                               ///< has Reload (since 1.22)
  std::map<std::string, std::uint32_t> checkpoints;  ///< with their time in seconds
  std::vector<std::string> log;                      ///< "Delete UUID", "Reapply ib0", "Reload 1"

  Peer& peer() { return peer_; }
  static std::string device_path(const std::string& interface);
  static std::string active_path(const std::string& uuid);

 private:
  int objects(sd_bus_message* call);
  int property(sd_bus_message* call);
  [[nodiscard]] std::string active_on(const std::string& interface) const;  ///< "/" without one
  int load(sd_bus_message* call);
  int by_uuid(sd_bus_message* call);
  int remove(sd_bus_message* call);
  int activate(sd_bus_message* call);
  int deactivate(sd_bus_message* call);
  int device(sd_bus_message* call);
  int create(sd_bus_message* call);
  int end_checkpoint(sd_bus_message* call, const char* name);
  int adjust(sd_bus_message* call);

  int checkpoints_made_ = 0;
  Peer peer_{"org.freedesktop.NetworkManager"};
};

}  // namespace rdmacfg::fakes::bus
