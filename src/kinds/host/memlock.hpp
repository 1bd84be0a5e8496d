// SPDX-License-Identifier: Apache-2.0
// [[memlock]]: two kinds of resources share the section, the limit of a domain at login and that of a unit.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::kinds {

/// How much memory logins of a domain may lock (pam_limits, limits.conf(5)).
struct Memlock {
  std::optional<model::LimitDomain> domain;
  std::optional<model::LockLimit> limit;
  std::optional<std::string> group;
  std::optional<std::vector<std::string>> units;
  std::optional<bool> sessions;
  std::optional<bool> restart;

  static constexpr auto kFields = std::tuple{
      model::field("domain", &Memlock::domain, model::Role::kIdentity,
                   "Logins that the limit applies to: a user, \"@group\" or \"*\" (all but root).", "-"),
      model::in_unit(
          model::field("limit", &Memlock::limit, model::Role::kSetting,
                       "Memory that may be locked, soft and hard: KiB, a size such as \"64 GiB\", or "
                       "\"unlimited\"."),
          "KiB"),
      // A setting, so that a diff shows it: a group that is made stays.
      model::field("group", &Memlock::group, model::Role::kSetting,
                   "Group of \"@group\"; created if missing, never removed.", "-"),
      model::spelled(
          model::field(
              "units", &Memlock::units, model::Role::kPolicy,
              "Services that get the same limit, as login limits do not apply to them: [\"slurmd.service\"].",
              "none"),
          R"({"type":["array","string"],"minLength":1,"items":{"type":"string","minLength":1}})"),
      model::field("sessions", &Memlock::sessions, model::Role::kPolicy,
                   "Whether systemd's user managers (user@.service) get the same limit.", "false"),
      model::field("restart", &Memlock::restart, model::Role::kPolicy,
                   "Whether a service whose process has another limit is restarted; else that is reported.",
                   "false")};
};

/// How much memory the processes of a unit may lock: a drop-in with LimitMEMLOCK= (systemd.exec(5)).
struct MemlockUnit {
  std::optional<model::LockLimit> limit;
  std::optional<bool> loaded;
  std::optional<model::LockLimit> process;
  std::optional<std::int64_t> pid;

  static constexpr auto kFields = std::tuple{
      model::in_unit(model::field("limit", &MemlockUnit::limit, model::Role::kDerived,
                                  "Limit in our drop-in of the unit, from limit of the section."),
                     "KiB"),
      model::field("loaded", &MemlockUnit::loaded, model::Role::kDerived,
                   "Whether systemd has read the drop-in."),
      model::in_unit(model::field("process", &MemlockUnit::process, model::Role::kDerived,
                                  "Limit of the main process; changed by a restart, with restart = true."),
                     "KiB"),
      model::field("pid", &MemlockUnit::pid, model::Role::kFact, "Main process.", "-")};
};

model::SectionSpec memlock_section();

const Kind& memlock();
const Kind& memlock_unit();

}  // namespace rdmacfg::kinds
