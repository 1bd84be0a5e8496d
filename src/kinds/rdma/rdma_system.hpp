// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::kinds {

/// The RDMA subsystem as a whole: live over RDMA netlink, and an option of ib_core for the next boot.
struct RdmaSystem {
  std::optional<model::NetnsMode> netns;
  std::optional<model::NetnsMode> option;

  static constexpr auto kFields = std::tuple{
      model::field(
          "netns", &RdmaSystem::netns, model::Role::kSetting,
          "shared: each RDMA device is visible in all network namespaces; exclusive: only in its own. "
          "The kernel changes the mode only while no other network namespace exists."),
      model::field("option", &RdmaSystem::option, model::Role::kDerived,
                   "Value of the module option in our file, for the next load of ib_core.")};
};

/// Our file with the option of ib_core.
std::string render_netns_option(model::NetnsMode mode);

model::SectionSpec rdma_system_section();

const Kind& rdma_system();

}  // namespace rdmacfg::kinds
