// SPDX-License-Identifier: Apache-2.0
#include "catalog/online.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "catalog/bind.hpp"
#include "kinds/address/request.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::InetMethod;
using system::InetAddress;

namespace {

/// The addresses that one interface still lacks; empty when it has them all.
std::string lack_of(const Addressing& wanted, int index, const std::vector<InetAddress>& all) {
  std::vector<std::string> lacks;
  bool automatic = false, manual = false;
  for (const auto* family : {&wanted.ipv4, &wanted.ipv6}) {
    if (family->section == nullptr) continue;
    automatic = automatic || family->method == InetMethod::kAuto;
    for (const auto& prefix : family->addresses) {
      manual = true;
      const auto at = std::find_if(all.begin(), all.end(), [&](const InetAddress& address) {
        return address.index == index && address.prefix == prefix;
      });
      if (at == all.end()) {
        lacks.push_back(prefix.text() + " is missing");
      } else if (at->duplicate) {
        lacks.push_back(prefix.text() + " is also used by another host");
      } else if (at->tentative) {
        lacks.push_back(prefix.text() + " is still being checked for duplicates");
      }
    }
  }
  const bool any = std::any_of(all.begin(), all.end(), [&](const InetAddress& address) {
    return address.index == index && !address.tentative && !address.duplicate;
  });
  // As NetworkManager has it: one family may do for the other, which the network may not have at all.
  if (automatic && !manual && !any) lacks.emplace_back("no address from the network yet");
  return base::join(lacks, ", ");
}

bool is_waited_for(const Addressing& addressing) {
  if (!addressing.addressed() || addressing.ignore || addressing.absent || addressing.down) return false;
  const auto wants = [](const WantedFamily& family) {
    return family.section != nullptr && family.method != InetMethod::kDisabled;
  };
  return addressing.port->link != nullptr && (wants(addressing.ipv4) || wants(addressing.ipv6));
}

}  // namespace

Result<Online> observe_online(const std::vector<model::Section>& sections, system::Host& host) {
  auto world = World::observe(host);
  if (!world) return base::fail(world.error());
  auto addresses = host.inet.observe_addresses();
  if (!addresses) return base::fail(addresses.error());
  model::Diagnostics ignored;  // they were reported when the document was applied
  const auto bound = kinds::bind(sections, *world, ignored);
  Online online;
  for (const auto& addressing : addressing_of(bound, nullptr)) {
    if (!is_waited_for(addressing)) continue;
    ++online.waited_for;
    const auto* link = addressing.pkey ? interface_of(addressing.id(), *world) : addressing.port->link;
    if (link == nullptr) {
      online.lacking.push_back(addressing.label + ": does not exist yet");
    } else if (!link->carrier) {
      online.lacking.push_back(link->name + ": no carrier");
    } else if (const auto lack = lack_of(addressing, link->index, *addresses); !lack.empty()) {
      online.lacking.push_back(fmt::format("{}: {}", link->name, lack));
    }
  }
  return online;
}

}  // namespace rdmacfg::kinds
