// SPDX-License-Identifier: Apache-2.0
#include "kinds/ports/selector.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// Drivers of RDMA devices that sit on another driver's PCI device (auxiliary bus, or by its calls), by which
/// people and `rdma link` know them.
struct Upper {
  std::string_view name;
  std::string_view below;
};
constexpr std::array kUppers{
    Upper{"irdma", "ice"},           Upper{"irdma", "i40e"},        Upper{"bnxt_re", "bnxt_en"},
    Upper{"hns_roce_hw_v2", "hns3"}, Upper{"hns", "hns3"},          Upper{"qedr", "qede"},
    Upper{"mlx5_ib", "mlx5_core"},   Upper{"mlx4_ib", "mlx4_core"}, Upper{"iw_cxgb4", "cxgb4"},
    Upper{"ocrdma", "be2net"},       Upper{"mana_ib", "mana"},      Upper{"ionic_rdma", "ionic"},
    Upper{"usnic_verbs", "enic"},
};

bool is_driver(const std::string& pattern, const std::string& driver) {
  return base::matches_glob(pattern, driver) ||
         std::any_of(kUppers.begin(), kUppers.end(), [&](const Upper& upper) {
           return upper.below == driver && base::matches_glob(pattern, std::string(upper.name));
         });
}

}  // namespace

PortSelector selector_of(const model::Section& section) {
  return model::from_attributes<PortSelector>(section.attributes());
}

PortMatch match_of(const model::Section& section) {
  return model::from_attributes<PortMatch>(section.attributes());
}

bool matches(const PortMatch& match, const system::RdmaDevice& device, const system::RdmaPort& port) {
  const auto fits = [](const std::optional<std::string>& pattern, const std::string& text) {
    return !pattern || base::matches_glob(*pattern, text);
  };
  return (!match.driver || is_driver(*match.driver, device.driver)) && fits(match.device, device.name) &&
         (!match.pci || base::matches_glob(match.pci->text, device.pci)) &&
         (!match.link_layer || port.link_layer == match.link_layer->text) &&
         (!match.port || match.port->number == port.number);
}

std::string text_of(const PortMatch& match) {
  std::string out;
  for (const auto& [name, value] : model::to_attributes(match)) {
    if (!out.empty()) out += ' ';
    out += name + "=" + model::text_of(value);
  }
  return out;
}

}  // namespace rdmacfg::kinds
