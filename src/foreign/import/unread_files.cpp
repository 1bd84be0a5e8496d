// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/unread_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "foreign/keys.hpp"
#include "formats/sysctl_conf.hpp"

namespace rdmacfg::foreign {

namespace {

/// Whether systemd's folder of programs, or a folder in it, has this file: "systemd-sysctl".
bool systemd_has(std::string_view name, std::string_view folder, system::Files& files) {
  for (const auto root : {"/usr/lib/systemd", "/lib/systemd"}) {
    const auto names = files.list(fmt::format("{}{}", root, folder));
    if (names && std::find(names->begin(), names->end(), name) != names->end()) return true;
  }
  return false;
}

/// Whether the link of SUSE's package leads to the file: one of that name in another folder takes its place.
bool is_linked_by_vendor(const File& conf, const std::vector<File>& own, std::string_view link,
                         system::Files& files) {
  const bool replaced = std::any_of(own.begin(), own.end(), [&](const File& file) {
    return file.path.ends_with(fmt::format("/{}", link));
  });
  if (replaced || files.masks(fmt::format("/etc/sysctl.d/{}", link))) return false;
  const auto text = files.read_linked(fmt::format("/usr/lib/sysctl.d/{}", link));
  return text && *text && **text == conf.text;
}

/// systemd-sysctl reads sysctl.d alone, and /etc/sysctl.conf by a link there, in the place of its name:
/// Debian 12, RHEL and SUSE have 99-sysctl.conf, Debian 13 has no more. sysctl(8), elsewhere, reads the file
/// itself.
void place_sysctl_conf(std::vector<File>& own, system::Files& files, Claims& claims) {
  constexpr std::string_view kLink = "99-sysctl.conf";
  const auto at =
      std::find_if(own.begin(), own.end(), [](const File& file) { return file.path == "/etc/sysctl.conf"; });
  if (at == own.end() || !systemd_has("systemd-sysctl", "", files)) return;
  const auto conf = std::move(*at);
  own.erase(at);
  const bool linked =
      std::any_of(own.begin(), own.end(), [&](const File& file) { return file.text == conf.text; });
  if (linked) {
    claims.understood.erase(conf.path);
  } else if (is_linked_by_vendor(conf, own, kLink, files)) {
    const auto next = std::find_if(own.begin(), own.end(), [&](const File& file) {
      return std::string_view(file.path).substr(file.path.rfind('/') + 1) > kLink;
    });
    own.insert(next, conf);
  } else if (!kinds::parse_sysctls(conf.text).empty()) {
    claims.pass(
        {conf.path, 0},
        "systemd-sysctl does not read it, as no link in sysctl.d leads to it, so it is not in force "
        "after a boot; to take over its settings, run `rdma-configctl import sysctl /etc/sysctl.conf`");
  }
}

/// Whether this systemd has neither a unit of rc.local nor the generator that makes one, as since release
/// 260.
bool has_no_unit_of_rc_local(system::Files& files) {
  constexpr std::string_view kUnit = "rc-local.service";
  if (!systemd_has("systemd", "", files) || systemd_has(kUnit, "/system", files) ||
      systemd_has("systemd-rc-local-generator", "/system-generators", files))
    return false;
  const auto local = files.list("/etc/systemd/system");
  return local && std::find(local->begin(), local->end(), kUnit) == local->end();
}

/// Scripts are run if they are executable: rc.local (ConditionFileIsExecutable= of its unit; RHEL has one
/// that is not), dispatchers of NetworkManager and networkd, and those that run-parts(8) runs. In a tree
/// without systemd modes say nothing: it may be a copy.
void leave_out_scripts_not_run(std::vector<File>& own, system::Files& files, Claims& claims) {
  if (!systemd_has("systemd", "", files)) return;
  const bool unitless = has_no_unit_of_rc_local(files);
  std::erase_if(own, [&](const File& file) {
    const bool rc_local = file.path == "/etc/rc.local" || file.path == "/etc/rc.d/rc.local";
    std::string_view why;
    if (rc_local && unitless) {
      why = "at boot: this systemd has no systemd-rc-local-generator, which is gone in release 260";
    } else if (!file.path.ends_with(".service") && !unit_of(file.path).ends_with(".service") &&
               !is_crontab(file.path) && files.not_executable(file.path)) {
      why = "as it is not executable";
    }
    if (why.empty()) return false;
    claims.pass({file.path, 0}, fmt::format("nothing runs it {}; to take over its commands, run "
                                            "`rdma-configctl import scripts {}`",
                                            why, file.path));
    return true;
  });
}

/// rdma.conf is read by rdma.service of RHEL 7 and SLES 12; an upgrade to later releases can leave the file.
void leave_out_rdma_conf(std::vector<File>& own, system::Files& files, Claims& claims) {
  constexpr std::string_view kUnit = "rdma.service";
  if (!systemd_has("systemd", "", files) || systemd_has(kUnit, "/system", files)) return;
  for (const auto* folder : {"/etc/systemd/system", "/etc/init.d"}) {
    const auto names = files.list(folder);
    if (!names) return;
    for (const auto& name : *names) {
      if (name == kUnit || name == "rdma") return;
    }
  }
  std::erase_if(own, [&](const File& file) {
    if (file.path != "/etc/rdma/rdma.conf") return false;
    claims.pass({file.path, 0},
                "nothing reads it: this host has no rdma.service; to take over its modules, run "
                "`rdma-configctl import rdma-conf /etc/rdma/rdma.conf`");
    return true;
  });
}

/// tuned applies a profile only while the file that names the active one exists.
void leave_out_inactive_profiles(std::vector<File>& own, Claims& claims) {
  constexpr std::string_view kProfiles = "/etc/tuned/", kActive = "/etc/tuned/active_profile";
  if (std::any_of(own.begin(), own.end(), [&](const File& file) { return file.path == kActive; })) return;
  std::erase_if(own, [&](const File& file) {
    if (!file.path.starts_with(kProfiles) || !file.path.ends_with("/tuned.conf")) return false;
    claims.pass({file.path, 0}, fmt::format("tuned has no active profile: {} is empty or does not exist; to "
                                            "take over this one, run `rdma-configctl import sysfs {}`",
                                            kActive, file.path));
    return true;
  });
}

}  // namespace

void leave_out_unread(std::string_view format, std::vector<File>& own, system::Files& files, Claims& claims) {
  if (format == "sysctl") place_sysctl_conf(own, files, claims);
  if (format == "rdma-conf") leave_out_rdma_conf(own, files, claims);
  if (format == "sysfs") leave_out_inactive_profiles(own, claims);
  if (format == "scripts") leave_out_scripts_not_run(own, files, claims);
}

}  // namespace rdmacfg::foreign
