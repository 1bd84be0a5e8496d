// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"

namespace rdmacfg::kinds {

/// A subnet manager on a port of this host: an instance of Debian's opensm@.service, one of RHEL's
/// opensm.service, by GUIDS or by an opensm.conf.N.
struct Opensm {
  std::optional<model::Guid> guid;
  std::optional<std::int64_t> priority;
  std::optional<bool> enabled;
  std::optional<bool> running;
  std::optional<bool> own_conf;
  std::optional<bool> beside_other;
  std::optional<bool> lost_port;

  static constexpr auto kFields = std::tuple{
      model::field("guid", &Opensm::guid, model::Role::kIdentity, "Port GUID of the port that it runs on.",
                   "-"),
      model::spelled(
          model::field(
              "priority", &Opensm::priority, model::Role::kSetting,
              "0 to 15; the subnet manager with the highest priority is master, the others are standby."),
          R"({"type":"integer","minimum":0,"maximum":15})"),
      model::field("enabled", &Opensm::enabled, model::Role::kDerived,
                   "Whether opensm.service starts it at boot (PORTS of /etc/default/opensm, GUIDS of "
                   "/etc/sysconfig/opensm)."),
      model::field("running", &Opensm::running, model::Role::kDerived, "Whether it runs now."),
      model::field("own_conf", &Opensm::own_conf, model::Role::kDerived,
                   "Whether opensm-launch starts it by a separate file, opensm.conf.GUID, in place of GUIDS "
                   "(RHEL, SUSE)."),
      model::field("beside_other", &Opensm::beside_other, model::Role::kPolicy,
                   "Whether it is started although a subnet manager on another host is master.", "false"),
      model::field("lost_port", &Opensm::lost_port, model::Role::kFact,
                   "Whether its port was removed and added again after its start: OpenSM no longer reaches "
                   "the port, and does not count as running.")};
};

model::SectionSpec opensm_section();

const Kind& opensm();

}  // namespace rdmacfg::kinds
