// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/suspects.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "base/text.hpp"

namespace rdmacfg::daemon {

namespace {

struct Rival {
  std::string_view name;   ///< as /proc/PID/comm has it: at most 15 characters
  std::string_view kinds;  ///< of the resources that it sets
};

/// Interfaces: mode, MTU, P_Keys, addresses.
constexpr std::string_view kLinks = "ipoib pkey address route dns";
/// Resources that consist of files, or of services, or of modules that files speak of: configuration managers
/// write and restart such, and have no part in what is only in the kernel.
constexpr std::string_view kFiles =
    "backend dns file initramfs link_name memlock memlock_unit mlx4_port module networkd nm_profile opensm "
    "opensm_option partition pfc rdma_device rdma_system service sysctl";

constexpr std::array kRivals{
    Rival{"NetworkManager", "ipoib pkey address route dns nm_profile sysctl"},
    Rival{"systemd-network", "ipoib pkey address route dns sysctl"},
    Rival{"wickedd-nanny", kLinks},
    Rival{"connmand", kLinks},
    Rival{"dhclient", kLinks},  // also the MTU, when the server gives one
    Rival{"dhcpcd", kLinks},
    Rival{"zebra", "route"},
    Rival{"bird", "route"},
    Rival{"openibd", "ipoib pkey link_name address route module mlx4_port"},
    Rival{"tuned", "sysctl"},
    Rival{"systemd-sysctl", "sysctl"},
    Rival{"mlnx_tune", "dcb sysctl"},
    Rival{"mlnx_qos", "dcb"},
    Rival{"lldpad", "dcb"},
    Rival{"dcbd", "dcb"},
    Rival{"puppet", kFiles},
    Rival{"chef-client", kFiles},
    Rival{"salt-minion", kFiles},
    Rival{"ansible-pull", kFiles},
    Rival{"cf-agent", kFiles},
};

std::set<std::string> running_in(const std::filesystem::path& proc) {
  std::set<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(proc, error)) {
    const auto name = entry.path().filename().native();
    if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "comm");
    std::string comm;
    if (std::getline(in, comm) &&
        std::any_of(kRivals.begin(), kRivals.end(), [&](const Rival& one) { return one.name == comm; }))
      found.insert(std::move(comm));
  }
  return found;
}

bool sets(const Rival& rival, std::string_view kind) {
  const auto kinds = base::split(rival.kinds, ' ');
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

std::string Suspects::of(std::string_view kind) {
  if (!running_) running_ = running_in(proc_);
  std::string out;
  for (const auto& rival : kRivals) {
    if (!running_->contains(std::string(rival.name)) || !sets(rival, kind)) continue;
    if (!out.empty()) out += ", ";
    out += rival.name;
  }
  return out;
}

}  // namespace rdmacfg::daemon
