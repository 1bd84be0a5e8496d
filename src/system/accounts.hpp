// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// The file of sysusers.d(5) that is ours; units/rdma-configd-sysusers.service names it.
inline constexpr std::string_view kSysusersFile = "/etc/sysusers.d/rdma-configd.conf";

/// Users and groups as the host resolves them (nsswitch.conf(5)), wherever they are kept; and who is logged
/// in.
class Accounts {
 public:
  virtual ~Accounts() = default;

  virtual bool has_user(const std::string& name) = 0;
  /// Fails when the files or services that say so do not answer.
  virtual base::Result<bool> has_group(const std::string& name) = 0;

  /// Hosts from which users are logged in, as logind records them (sd_session_get_remote_host(3)): addresses,
  /// seldom names. Sessions that are closing are left out. Empty without logind.
  virtual std::vector<std::string> login_hosts() = 0;

  /// Makes the groups and users that a file of sysusers.d(5) declares and that are not there.
  virtual base::Result<void> make_declared(const std::string& sysusers_file) = 0;
};

}  // namespace rdmacfg::system
