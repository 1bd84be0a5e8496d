// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_interrupts.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "formats/opensm/opensm_conf.hpp"
#include "kinds/opensm/opensm.hpp"
#include "kinds/opensm/opensm_running.hpp"

namespace rdmacfg::kinds::detail {

using model::Change;
using model::Guid;

namespace {

constexpr std::string_view kUsualPrefix = "0xfe80000000000000";

/// "fe80:0000:0000:0001" as opensm-launch writes it: 0xfe80000000000001.
std::string prefix_of(const std::string& gid_prefix) {
  std::string out;
  for (const char c : gid_prefix) {
    if (c != ':') out += c;
  }
  return out.size() == kUsualPrefix.size() - 2 ? "0x" + out : std::string();
}

}  // namespace

void name_first_port(std::span<Change*> changes, const World& world) {
  auto others = infiniband_ports(world);
  Change* names = nullptr;
  for (auto* change : changes) {
    const auto guid = Guid::parse(change->key.id);
    if (!guid || model::from_attributes<Opensm>(change->after).enabled != true) continue;
    others.erase(*guid);
    if (names == nullptr) names = change;
  }
  if (names == nullptr || others.empty()) return;
  names->interrupts.emplace_back(
      "OpenSM no longer runs on its current port, the first one, unless an [[opensm]] entry names that port: "
      "GUIDS of /etc/sysconfig/opensm was empty");
}

void name_prefixes(std::span<Change*> changes, const std::string& text, const LaunchFiles& theirs,
                   const World& world) {
  auto then = parse_opensm_defaults(text);
  std::map<Guid, Change*> by_port;
  for (auto* change : changes) {
    const auto guid = Guid::parse(change->key.id);
    if (!guid) continue;
    const auto wanted = model::from_attributes<Opensm>(change->after);
    if (wanted.own_conf != true && theirs.contains(*guid)) continue;  // it is not in GUIDS
    by_port.emplace(*guid, change);
    if (wanted.enabled == true) {
      (void)then.ports[*guid];
      then.in_files = wanted.own_conf == true;
    } else if (wanted.enabled == false || change->origins.empty()) {
      then.ports.erase(*guid);
    }
  }
  if (by_port.empty()) return;
  const auto before = opensm_prefixes(text);
  if (then.in_files) {
    for (const auto& [guid, prefix] : before) {
      const auto own = by_port.find(guid);
      if (own == by_port.end() || prefix == kUsualPrefix) continue;
      own->second->interrupts.push_back(
          fmt::format("port {} loses the subnet prefix {} of its place in GUIDS: subnet_prefix of its own "
                      "opensm.conf holds, else {}",
                      guid.text(), prefix, kUsualPrefix));
    }
    return;
  }
  for (const auto& [guid, prefix] : opensm_prefixes(render_opensm_defaults(then, OpensmLayout::kRhel))) {
    const auto own = by_port.find(guid);
    auto& interrupts = (own == by_port.end() ? by_port.begin() : own)->second->interrupts;
    const auto at = before.find(guid);
    const auto port = world.port(guid);
    const auto now = port ? prefix_of(port->port->gid_prefix) : std::string();
    if (at != before.end() && at->second != prefix) {
      interrupts.push_back(fmt::format(
          "the subnet prefix of port {} changes from {} to {}: GUIDS of /etc/sysconfig/opensm gives "
          "each port the prefix of its place, and all GIDs of that subnet change with it",
          guid.text(), at->second, prefix));
    } else if (at == before.end() && (now.empty() ? prefix != kUsualPrefix : now != prefix)) {
      interrupts.push_back(
          fmt::format("the subnet of port {} gets the prefix {}{}: GUIDS of /etc/sysconfig/opensm gives each "
                      "port the prefix "
                      "of its place, and subnet_prefix of opensm.conf has no effect",
                      guid.text(), prefix, now.empty() ? "" : " instead of " + now));
    }
  }
}

}  // namespace rdmacfg::kinds::detail
