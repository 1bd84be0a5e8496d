// SPDX-License-Identifier: Apache-2.0
#include "fabric/targets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/fabric.hpp"

namespace rdmacfg::fabric {

namespace {

constexpr unsigned kPartitionBits = 0x7fff, kFullMember = 0x8000;

/// Whether ports with these P_Keys reach each other: both in the partition, and one a full member.
bool share(std::uint16_t own, std::uint16_t other) {
  return (own & kPartitionBits) == (other & kPartitionBits) && ((own | other) & kFullMember) != 0;
}

/// Null: there is none.
const Port* port_with(const Index& index, std::uint64_t guid) {
  const auto end = index.owner(guid);
  return end ? index.port(*end) : nullptr;
}

}  // namespace

std::string text_of(const Target& target, std::string_view prefix, std::uint16_t pkey) {
  std::string digits(prefix);
  std::erase(digits, ':');
  auto out = fmt::format("id_ext={:016x},ioc_guid={:016x},dgid={}{:016x}", target.id_ext, target.ioc_guid,
                         digits, target.port_guid);
  if (pkey != 0) out += fmt::format(",pkey={:04x}", pkey);
  out += fmt::format(",service_id={:016x}", target.service_id);
  if (target.io_class != kSrpIoClass) out += fmt::format(",io_class={:04x}", target.io_class);
  return out;
}

Logins::Logins(const Fabric& fabric, const Index& index)
    : fabric_(&fabric), index_(&index), local_(port_with(index, fabric.from_port)) {}

std::vector<std::string> Logins::of(const Target& target) const {
  const auto* port = port_with(*index_, target.port_guid);
  if (local_ == nullptr || port == nullptr || !local_->pkeys || !port->pkeys)
    return {text_of(target, fabric_->prefix, 0)};
  const auto& theirs = *port->pkeys;
  std::vector<std::string> out;
  for (const auto pkey : *local_->pkeys) {
    const bool shared =
        std::any_of(theirs.begin(), theirs.end(), [&](std::uint16_t other) { return share(pkey, other); });
    if (shared) out.push_back(text_of(target, fabric_->prefix, pkey));
  }
  return out;
}

}  // namespace rdmacfg::fabric
