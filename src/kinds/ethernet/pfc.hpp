// SPDX-License-Identifier: Apache-2.0
// The kind "pfc": priority flow control by module options.
#pragma once

#include <optional>
#include <tuple>

#include "formats/modprobe_conf.hpp"
#include "kinds/kind.hpp"
#include "model/types/module_types.hpp"

namespace rdmacfg::kinds {

/// Priority flow control of a driver that takes it as module options: mlx4_en's pfctx and pfcrx, one bit a
/// priority, read when the driver is loaded (drivers/net/ethernet/mellanox/mlx4/en_main.c).
struct PfcDriver {
  std::optional<model::PfcDriverName> driver;
  std::optional<model::Priorities> priorities;
  std::optional<model::ModuleOptions> running;

  static constexpr auto kFields = std::tuple{
      model::field("driver", &PfcDriver::driver, model::Role::kIdentity,
                   "Driver that takes PFC as module options, for all of its interfaces: \"mlx4_en\".", "-"),
      model::field("priorities", &PfcDriver::priorities, model::Role::kSetting,
                   "Priorities that are lossless, such as [3]; [] switches PFC off.", "left unchanged",
                   model::Effect::kDriverReload),
      model::field("running", &PfcDriver::running, model::Role::kFact, "Value of the loaded driver.", "-")};
};

/// pfctx and pfcrx for these priorities.
model::ModuleOptions pfc_options(model::Priorities priorities);

/// Options of our PFC file as their priorities; nothing when they are not of that form.
std::optional<model::Priorities> pfc_priorities(const model::ModuleOptions& options);

model::SectionSpec pfc_section();
const Kind& pfc();

}  // namespace rdmacfg::kinds
