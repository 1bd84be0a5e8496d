// SPDX-License-Identifier: Apache-2.0
#include "store/managed_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "system/temporary_file.hpp"

namespace rdmacfg::core {

namespace {

constexpr std::array<std::string_view, 16> kFolders{"/etc/NetworkManager/system-connections",
                                                    "/etc/default",
                                                    "/etc/modprobe.d",
                                                    "/etc/modules-load.d",
                                                    "/etc/opensm",
                                                    "/etc/rdma",
                                                    "/etc/rdma/modules",
                                                    "/etc/security/limits.d",
                                                    "/etc/sysconfig",
                                                    "/etc/sysctl.d",
                                                    "/etc/systemd/network",
                                                    "/etc/sysusers.d",
                                                    "/etc/udev/rules.d",
                                                    "/var/lib/rdma-configd",
                                                    "/var/lib/rdma-configd/generations",
                                                    "/run/rdma-configd"};
/// Files of others that have settings of ours in them.
constexpr std::array<std::string_view, 7> kShared{"/etc/rdma/mlx4.conf",     "/etc/default/opensm",
                                                  "/etc/opensm/opensm.conf", "/etc/opensm/partitions.conf",
                                                  "/etc/rdma/opensm.conf",   "/etc/rdma/partitions.conf",
                                                  "/etc/sysconfig/opensm"};
constexpr std::string_view kUnits = "/etc/systemd/system";  // drop-ins: folders NAME.d below it

}  // namespace

bool is_managed_folder(std::string_view folder) {
  if (std::find(kFolders.begin(), kFolders.end(), folder) != kFolders.end()) return true;
  return folder.starts_with(kUnits) && folder.ends_with(".d") && folder.rfind('/') == kUnits.size();
}

bool is_managed_file(std::string_view path) {
  if (std::find(kShared.begin(), kShared.end(), path) != kShared.end()) return true;
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos || !path.starts_with("/etc/") ||
      !is_managed_folder(path.substr(0, slash)))
    return false;
  const auto name = path.substr(slash + 1);
  // A file that is being written has a name with a leading dot; rdma-core wants one without hyphens in its
  // folder.
  return !name.starts_with('.') && (name.find("rdma-configd") != std::string_view::npos ||
                                    name.find("rdma_configd") != std::string_view::npos);
}

std::vector<std::string> managed_folders(system::Files& files) {
  std::vector<std::string> out(kFolders.begin(), kFolders.end());
  const auto units = files.list(std::string(kUnits));
  if (!units) return out;
  for (const auto& name : *units) {
    if (name.ends_with(".d")) out.push_back(fmt::format("{}/{}", kUnits, name));
  }
  return out;
}

void clear_temporaries(system::Files& files) {
  for (const auto& folder : managed_folders(files)) {
    const auto names = files.list(folder);
    if (!names) continue;  // nothing that is ours can be in it
    for (const auto& name : *names) {
      if (name.starts_with(system::kTemporaryFile)) (void)files.remove(fmt::format("{}/{}", folder, name));
    }
  }
}

}  // namespace rdmacfg::core
