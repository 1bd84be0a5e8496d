// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

/// The persistent name of an RDMA device: a udev rule for the next add event, and a live rename now.
struct RdmaDeviceName {
  std::optional<model::PciAddress> pci;
  std::optional<model::Guid> node_guid;
  std::optional<model::RdmaName> device;
  std::optional<model::RdmaName> name;
  std::optional<std::string> rule;

  static constexpr auto kFields = std::tuple{
      model::field("pci", &RdmaDeviceName::pci, model::Role::kIdentity, "PCI address of the device.", "-"),
      model::field("node_guid", &RdmaDeviceName::node_guid, model::Role::kIdentity,
                   "Node GUID of the device; stays with the adapter when it moves to another slot.", "-"),
      model::field("device", &RdmaDeviceName::device, model::Role::kIdentity,
                   "The device by its present name; from then on it is known by PCI address or node GUID.",
                   "-"),
      model::field("name", &RdmaDeviceName::name, model::Role::kSetting,
                   "Name of the device, at most 63 characters; other sections call it by this name.", "-"),
      model::field("rule", &RdmaDeviceName::rule, model::Role::kDerived,
                   "Name that our udev rule gives at the next add event.")};
};

const Kind& rdma_device();
model::SectionSpec rdma_device_section();

}  // namespace rdmacfg::kinds
