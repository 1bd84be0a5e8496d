// SPDX-License-Identifier: Apache-2.0
#include "kinds/selector.hpp"

#include "base/text.hpp"

namespace rdmacfg::kinds {

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
  return fits(match.driver, device.driver) && fits(match.device, device.name) &&
         (!match.pci || base::matches_glob(match.pci->text, device.pci)) &&
         (!match.link_layer || port.link_layer == "InfiniBand") &&
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
