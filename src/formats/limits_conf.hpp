// SPDX-License-Identifier: Apache-2.0
// The files of memory-lock limits: ours, and what others say about the same.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/types/host_types.hpp"
#include "system/accounts.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// pam_limits reads the files of the folder in the order of the C locale, and of two lines for one domain the
/// later counts.
inline constexpr std::string_view kLimitsFolder = "/etc/security/limits.d";
inline constexpr std::string_view kLimitsFile = "/etc/security/limits.d/zz-rdma-configd.conf";
using system::kSysusersFile;
inline constexpr std::string_view kDropInName = "50-rdma-configd-memlock.conf";

using Limits = std::map<std::string, model::LockLimit>;  ///< by domain

/// Limits that hold soft and hard. Lines that are not ours (or were damaged) are not in the result; writing
/// drops them.
Limits parse_limits(std::string_view text);
/// Domains with a line about locked memory, also where half of the limit is missing.
std::set<std::string> parse_limit_domains(std::string_view text);
std::string render_limits(const Limits& limits);
base::Result<Limits> read_limits(system::Files& files);
base::Result<std::set<std::string>> read_limit_domains(system::Files& files);
/// Writes the file, or removes it when there is no limit.
base::Result<void> write_limits(system::Files& files, const Limits& limits);

/// Groups that our file of sysusers.d(5) declares.
std::set<std::string> parse_declared_groups(std::string_view text);
/// Empty without groups.
std::string render_declared_groups(const std::set<std::string>& groups);
base::Result<std::set<std::string>> read_declared_groups(system::Files& files);
base::Result<void> write_declared_groups(system::Files& files, const std::set<std::string>& groups);

/// Where groups may be that no local file has.
struct GroupSource {
  std::string name;  ///< "sss", "ldap", "nis"
  std::string file;
  int line = 0;
};

/// The first source of groups in nsswitch.conf(5) that is a directory; nothing when all are local.
std::optional<GroupSource> group_directory(system::Files& files);

/// LimitMEMLOCK= of a drop-in text, the last one; nothing without one or when it is none that we write.
std::optional<model::LockLimit> parse_drop_in(std::string_view text);
std::string render_drop_in(const model::LockLimit& limit);
/// "/etc/systemd/system/slurmd.service.d/50-rdma-configd-memlock.conf"
std::string drop_in_path(const std::string& unit);

/// A line of another file about the same.
struct ForeignLimit {
  std::string file;
  int line = 0;
  std::string text;
  bool wins = false;  ///< it is read after ours
};

/// Lines for memlock in limits.conf and the other files of limits.d, the distribution's too, by domain.
base::Result<std::map<std::string, std::vector<ForeignLimit>>> foreign_limits(system::Files& files);

/// A line about locked memory in limits.conf or limits.d, ours too.
struct MemlockLine {
  std::string file;
  int line = 0;
  std::string domain, type, limit;  ///< as written; type "-" is soft and hard
  bool after_ours = false;          ///< pam_limits reads the file after kLimitsFile, or would
};

/// All of them, in the order in which pam_limits reads them. Files that cannot be read are passed over.
std::vector<MemlockLine> memlock_lines(system::Files& files);

/// Users and groups that a line "domain -" exempts: pam_limits sets no limit at all for them, whatever other
/// lines say. The first line about each.
std::map<std::string, ForeignLimit> exempted_domains(system::Files& files);

/// LimitMEMLOCK= lines in other drop-ins of a unit, in the order in which systemd reads them.
base::Result<std::vector<ForeignLimit>> foreign_drop_ins(system::Files& files, const std::string& unit);

/// The line of another drop-in that gives a unit another limit than ours, although ours is written.
std::optional<ForeignLimit> overruling_drop_in(system::Files& files, const std::string& unit,
                                               const model::LockLimit& ours);

}  // namespace rdmacfg::kinds
