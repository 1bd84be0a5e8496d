// SPDX-License-Identifier: Apache-2.0
// Selection of ports by entries of the document: one by its GUID or its device, or all with some properties.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "model/field.hpp"
#include "model/section.hpp"
#include "model/types/port_types.hpp"
#include "system/rdma.hpp"

namespace rdmacfg::kinds {

struct PortSelector {
  std::optional<model::Guid> guid;
  std::optional<model::RdmaName> device;
  std::optional<model::PortNumber> port;

  static constexpr auto kFields = std::tuple{
      model::field("guid", &PortSelector::guid, model::Role::kIdentity,
                   "Port GUID; the only identity that survives renames, slot changes and driver changes.",
                   "-"),
      model::field("device", &PortSelector::device, model::Role::kIdentity,
                   "RDMA device by its present name; together with port.", "-"),
      model::field("port", &PortSelector::port, model::Role::kIdentity, "Port of the device, counted from 1.",
                   "-")};
};

/// match = { … }: every condition that is given has to hold. Texts are shell patterns.
struct PortMatch {
  std::optional<std::string> driver;
  std::optional<std::string> device;
  std::optional<model::PciPattern> pci;
  std::optional<model::LinkLayer> link_layer;
  std::optional<model::PortNumber> port;

  static constexpr auto kFields = std::tuple{
      model::field(
          "driver", &PortMatch::driver, model::Role::kIdentity,
          "Kernel driver, such as \"mlx5_core\", or the RDMA driver on it, such as \"irdma\"; that of a "
          "sub-function is \"mlx5_core.sf\".",
          "any"),
      model::field("device", &PortMatch::device, model::Role::kIdentity,
                   "RDMA device name, such as \"mlx5_*\".", "any"),
      model::field("pci", &PortMatch::pci, model::Role::kIdentity,
                   "PCI address, such as \"0000:1?:00.0\" or \"1?:00.0\".", "any"),
      model::field("link_layer", &PortMatch::link_layer, model::Role::kIdentity,
                   "Link layer; RoCE and iWARP ports have \"Ethernet\".", "any"),
      model::field("port", &PortMatch::port, model::Role::kIdentity, "Port number.", "any")};
};

/// The link layer of [ipoib.match], in place of that of PortMatch.
struct IpoibMatch {
  std::optional<model::IpoibLinkLayer> link_layer;

  static constexpr auto kFields =
      std::tuple{model::field("link_layer", &IpoibMatch::link_layer, model::Role::kIdentity,
                              "Link layer; only \"InfiniBand\" ports have IPoIB.", "InfiniBand")};
};

PortSelector selector_of(const model::Section& section);
PortMatch match_of(const model::Section& section);
bool matches(const PortMatch& match, const system::RdmaDevice& device, const system::RdmaPort& port);

/// For people and for keys: "driver=mlx5_core pci=0000:1?:00.0".
std::string text_of(const PortMatch& match);

}  // namespace rdmacfg::kinds
