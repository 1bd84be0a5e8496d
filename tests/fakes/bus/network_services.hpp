// SPDX-License-Identifier: Apache-2.0
// systemd-networkd and systemd-resolved on the bus: org.freedesktop.network1(5), org.freedesktop.resolve1(5).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fakes/bus/peer.hpp"

namespace rdmacfg::fakes::bus {

class Networkd {
 public:
  Networkd();

  /// Answers of DescribeLink by index; others have no such link. By peer().locked().
  std::map<int, std::string> links;
  std::vector<std::string> log;  ///< "Reload", "ReconfigureLink 3"

  Peer& peer() { return peer_; }

 private:
  Peer peer_{"org.freedesktop.network1"};
};

class Resolved {
 public:
  struct Link {
    std::vector<std::pair<int, std::string>> servers;   ///< family (AF_INET), bytes
    std::vector<std::pair<std::string, bool>> domains;  ///< name, whether it only routes queries
  };

  Resolved();

  std::map<int, Link> links;  ///< by peer().locked()

  Peer& peer() { return peer_; }

 private:
  int get_link(sd_bus_message* call);
  int get_dns(sd_bus_message* call);
  int set_servers(sd_bus_message* call);
  int set_domains(sd_bus_message* call);

  Peer peer_{"org.freedesktop.resolve1"};
};

}  // namespace rdmacfg::fakes::bus
