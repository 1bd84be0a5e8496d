// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"

namespace rdmacfg::kinds {

/// A software RDMA device over a network interface. The kernel allows one of each type over an interface, so
/// these two identify it; the name can be changed.
struct SoftRdma {
  std::optional<model::InterfaceName> interface;
  std::optional<model::SoftType> type;
  std::optional<model::RdmaName> name;
  std::optional<std::string> module;
  std::optional<model::State> state;

  static constexpr auto kFields = std::tuple{
      model::field("interface", &SoftRdma::interface, model::Role::kIdentity, "Underlying network interface.",
                   "-"),
      model::field("type", &SoftRdma::type, model::Role::kIdentity,
                   "rxe is RoCE v2 (Soft-RoCE), siw is iWARP; not every kernel has both.", "-"),
      model::field("name", &SoftRdma::name, model::Role::kSetting, "Name of the RDMA device.", "-"),
      model::field("module", &SoftRdma::module, model::Role::kDerived,
                   "Kernel module that our file in modules-load.d loads at boot."),
      // "down" is a state of interfaces alone; of a device a rule says so.
      model::read_by(
          model::spelled(
              model::field("state", &SoftRdma::state, model::Role::kPolicy,
                           "absent removes the device, whoever created it; ignore leaves it alone.", "up"),
              R"({"enum":["up","absent","ignore"]})", "\"up\", \"absent\" or \"ignore\""),
          &model::canonical_device_state)};
};

const Kind& soft_rdma();
model::SectionSpec soft_rdma_section();

}  // namespace rdmacfg::kinds
