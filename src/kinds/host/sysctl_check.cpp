// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/sysctl_check.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "formats/firewall/ufw_rules.hpp"
#include "kinds/host/sysctl_entry.hpp"

namespace rdmacfg::kinds {

using model::Severity;

namespace {

/// The value that tuned sets; nothing where it leaves `ours`, or takes it from a variable.
std::optional<std::string> tuned_value(const std::string& written, const std::string& ours) {
  if (written.find("${") != std::string::npos) return std::nullopt;
  const bool least = written.starts_with('>'), most = written.starts_with('<');
  if (!least && !most) return written;
  auto value = written.substr(1);
  const auto limit = base::parse_number(value), now = base::parse_number(ours);
  if (!limit || !now) return written;  // tuned takes the text as it is then, too
  return (least && *limit > *now) || (most && *limit < *now) ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace

OtherSysctlSetters::OtherSysctlSetters(system::Files& files)
    : tuned_(read_tuned_sysctls(files)),
      conf_(observe_sysctl_conf(files)),
      ufw_file_(ufw_sysctl_file(files)) {
  if (!ufw_file_.empty()) ufw_ = sysctls_in_file(files, ufw_file_);
  for (auto& line : tmpfiles_lines(files)) {
    if (line.act == TmpfilesLine::Act::kWrite && line.path.starts_with("/proc/"))
      writes_.push_back(std::move(line));
  }
}

bool OtherSysctlSetters::tuned_reads_last(std::string_view file) const {
  return tuned_.active && tuned_.reapplies && file == "/etc/sysctl.conf";
}

SysctlConf OtherSysctlSetters::sysctl_conf() const {
  return tuned_.active && tuned_.reapplies ? SysctlConf::kRead : conf_;
}

void OtherSysctlSetters::warn(const model::Desired& resource, model::Diagnostics& diagnostics) const {
  const auto ours = model::text_at(resource.settings, "file");
  const auto tell = [&](std::string what, std::string hint) {
    diagnostics.push_back({Severity::kWarning, resource.where, std::move(what), std::move(hint), {}});
  };
  const auto path = "/proc/sys/" + resource.key.id;
  for (const auto& line : writes_) {
    if (!line.concerns(path) || same_sysctl_value(line.argument, ours)) continue;
    tell(fmt::format("{}:{} writes {} to {} at boot", line.file, line.line, line.argument, path),
         "systemd-tmpfiles and systemd-sysctl run in no fixed order, and the later one wins: remove the line "
         "there");
  }
  const auto by_ufw = ufw_.find(resource.key.id);
  if (by_ufw != ufw_.end() && !same_sysctl_value(by_ufw->second.value, ours)) {
    tell(fmt::format("{}:{} makes ufw set {} to {}", by_ufw->second.file, by_ufw->second.line,
                     resource.key.id, by_ufw->second.value),
         "ufw sets it at boot and whenever it reloads its rules: change the line there, or write "
         "IPT_SYSCTL= in /etc/default/ufw");
  }
  if (!tuned_.active || tuned_.reapplies) return;  // else ours comes after the profile
  const auto at = tuned_.settings.find(resource.key.id);
  const auto value = at == tuned_.settings.end() ? std::nullopt : tuned_value(at->second.value, ours);
  if (!value || same_sysctl_value(*value, ours)) return;
  tell(fmt::format("{}:{} makes tuned set {} to {}", at->second.file, at->second.line, resource.key.id,
                   *value),
       "tuned sets it after systemd-sysctl, and reapply_sysctl is off: remove the line from the profile, or "
       "write "
       "reapply_sysctl = 1 in /etc/tuned/tuned-main.conf");
}

}  // namespace rdmacfg::kinds
