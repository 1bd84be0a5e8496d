// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::kinds {

/// A systemd unit that RDMA hosts run: rdma-ndd, iwpmd, srp_daemon, ibacm. Carried out by systemd itself.
struct Service {
  std::optional<model::UnitName> name;
  std::optional<bool> enabled;
  std::optional<bool> running;
  std::optional<std::string> active;
  std::optional<std::string> job;

  static constexpr auto kFields = std::tuple{
      model::field("name", &Service::name, model::Role::kIdentity,
                   "Name of the unit; \".service\" is added where it has no suffix.", "-"),
      model::field("enabled", &Service::enabled, model::Role::kSetting,
                   "Whether it starts at boot (systemctl enable)."),
      model::field("running", &Service::running, model::Role::kSetting, "Whether it runs now."),
      model::field("active", &Service::active, model::Role::kFact, "The unit's state in systemd.", "-"),
      model::field("job", &Service::job, model::Role::kFact, "Job that systemd has queued for it.", "-")};
};

model::SectionSpec service_section();

const Kind& service();

}  // namespace rdmacfg::kinds
