// SPDX-License-Identifier: Apache-2.0
// Programs beside systemd-sysctl that set kernel settings at boot: tuned, systemd-tmpfiles and ufw.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/sysctl_conf.hpp"
#include "formats/tmpfiles_conf.hpp"
#include "formats/tuned_conf.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

class OtherSysctlSetters {
 public:
  explicit OtherSysctlSetters(system::Files& files);

  /// Warns where one of them gives a setting another value than our file. Files of sysctl.d are not its
  /// subject.
  void warn(const model::Desired& resource, model::Diagnostics& diagnostics) const;

  /// Whether a file of sysctl.d that systemd-sysctl reads before ours is read after ours by tuned.
  [[nodiscard]] bool tuned_reads_last(std::string_view file) const;

  /// Whether ufw sets what this file says, after systemd-sysctl.
  [[nodiscard]] bool ufw_sets(std::string_view file) const { return !file.empty() && file == ufw_file_; }

  /// Whether systemd-sysctl, sysctl(8) or tuned reads /etc/sysctl.conf itself.
  [[nodiscard]] SysctlConf sysctl_conf() const;

 private:
  TunedSysctls tuned_;
  SysctlConf conf_;  ///< without tuned
  std::vector<TmpfilesLine> writes_;
  std::string ufw_file_;
  std::map<std::string, ForeignSysctl> ufw_;  ///< by path
};

}  // namespace rdmacfg::kinds
