// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/suspects.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "base/text.hpp"
#include "catalog/all.hpp"

namespace rdmacfg::daemon {

namespace {

struct CompetingProgram {
  std::string_view name;   ///< as /proc/PID/comm has it: at most 15 characters
  std::string_view kinds;  ///< of the resources that it sets
};

/// Interfaces: mode, MTU, P_Keys, addresses.
constexpr std::string_view kLinks = "ipoib pkey address route dns";
/// Configuration managers: they write files and restart services, and have no part in what is only in the
/// kernel.
constexpr std::string_view kFiles = "*";

constexpr std::array kCompetingPrograms{
    CompetingProgram{"NetworkManager", "ipoib pkey address route dns nm_profile sysctl"},
    CompetingProgram{"systemd-network", "ipoib pkey address route dns sysctl"},
    CompetingProgram{"wickedd-nanny", kLinks},
    CompetingProgram{"connmand", kLinks},
    CompetingProgram{"dhclient", kLinks},  // also the MTU, when the server gives one
    CompetingProgram{"dhcpcd", kLinks},
    CompetingProgram{"zebra", "route"},
    CompetingProgram{"bird", "route"},
    CompetingProgram{"openibd", "ipoib pkey link_name address route module mlx4_port"},
    CompetingProgram{"tuned", "sysctl"},
    CompetingProgram{"systemd-sysctl", "sysctl"},
    CompetingProgram{"mlnx_tune", "dcb sysctl"},
    CompetingProgram{"mlnx_qos", "dcb"},
    CompetingProgram{"lldpad", "dcb"},
    CompetingProgram{"dcbd", "dcb"},
    CompetingProgram{"nvmetcli", "nvme_target"},
    CompetingProgram{"stacd", "nvme_connection"},  // of nvme-stas, which disconnects what it does not know
    CompetingProgram{"targetcli", "lio_target"},
    CompetingProgram{"targetclid", "lio_target"},
    CompetingProgram{"targetctl", "lio_target"},
    CompetingProgram{"packagekitd", "package"},
    CompetingProgram{"unattended-upgr", "package"},
    CompetingProgram{"puppet", kFiles},
    CompetingProgram{"chef-client", kFiles},
    CompetingProgram{"salt-minion", kFiles},
    CompetingProgram{"ansible-pull", kFiles},
    CompetingProgram{"cf-agent", kFiles},
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
        std::any_of(kCompetingPrograms.begin(), kCompetingPrograms.end(),
                    [&](const CompetingProgram& program) { return program.name == comm; }))
      found.insert(std::move(comm));
  }
  return found;
}

bool rests_on_files(std::string_view name) {
  const auto* kind = kinds::find(name);
  if (kind == nullptr) return false;
  if (kind->traits().rests_on_files) return true;
  const auto files = kind->files();
  return std::any_of(files.begin(), files.end(),
                     [](const auto& file) { return file.extent != kinds::OwnedFile::Extent::kRecord; });
}

bool sets(const CompetingProgram& program, std::string_view kind) {
  if (program.kinds == kFiles) return rests_on_files(kind);
  const auto kinds = base::split(program.kinds, ' ');
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

std::string Suspects::of(std::string_view kind) {
  if (!running_) running_ = running_in(proc_);
  std::string out;
  for (const auto& program : kCompetingPrograms) {
    if (!running_->contains(std::string(program.name)) || !sets(program, kind)) continue;
    if (!out.empty()) out += ", ";
    out += program.name;
  }
  return out;
}

}  // namespace rdmacfg::daemon
