// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/suspects.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "base/text.hpp"
#include "catalog/all.hpp"

namespace rdmacfg::daemon {

namespace {

struct Rival {
  std::string_view name;   ///< as /proc/PID/comm has it: at most 15 characters
  std::string_view kinds;  ///< of the resources that it sets
};

/// Interfaces: mode, MTU, P_Keys, addresses.
constexpr std::string_view kLinks = "ipoib pkey address route dns";
/// Configuration managers: they write files and restart services, and have no part in what is only in the
/// kernel.
constexpr std::string_view kFiles = "*";
/// Kinds that have no file below /etc of their own, and rest on such files or on services all the same.
constexpr std::array<std::string_view, 5> kOnFiles{"dns", "file", "initramfs", "package", "service"};

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
    Rival{"nvmetcli", "nvme_target"},
    Rival{"stacd", "nvme_connection"},  // of nvme-stas, which disconnects what it does not know
    Rival{"targetcli", "lio_target"},
    Rival{"targetclid", "lio_target"},
    Rival{"targetctl", "lio_target"},
    Rival{"packagekitd", "package"},
    Rival{"unattended-upgr", "package"},
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

bool rests_on_files(std::string_view name) {
  if (std::find(kOnFiles.begin(), kOnFiles.end(), name) != kOnFiles.end()) return true;
  const auto* kind = kinds::find(name);
  if (kind == nullptr) return false;
  const auto files = kind->files();
  return std::any_of(files.begin(), files.end(),
                     [](const auto& file) { return file.extent != kinds::OwnedFile::Extent::kRecord; });
}

bool sets(const Rival& rival, std::string_view kind) {
  if (rival.kinds == kFiles) return rests_on_files(kind);
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
