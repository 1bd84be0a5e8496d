// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/duplicate_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// Whether carrier may come by itself: the port is up, and nothing says that it is not in the partition.
bool may_join(const system::Link& link, World& now) {
  const auto port = link.ipoib ? now.port(link.ipoib->guid) : std::nullopt;
  if (!port || port->port->state != "ACTIVE") return false;
  const auto& table = now.pkeys(*port);
  const auto in_partition = [&](std::uint16_t entry) {
    return (entry & 0x7fffU) == link.ipoib->pkey.partition();
  };
  return !table || std::any_of(table->begin(), table->end(), in_partition);
}

}  // namespace

AddressCheck address_check(const std::vector<model::IpPrefix>& wanted, int index,
                           const std::vector<system::InetAddress>& now) {
  AddressCheck out;
  for (const auto& prefix : wanted) {
    const auto at = std::find_if(now.begin(), now.end(), [&](const system::InetAddress& address) {
      return address.index == index && address.prefix == prefix;
    });
    if (at == now.end() || !(at->duplicate || at->tentative)) continue;
    auto& list = at->duplicate ? out.duplicate : out.tentative;
    if (!list) list.emplace();
    list->push_back(prefix.text());
  }
  return out;
}

Verdict verdict_of(const AddressCheck& check, bool carrier) {
  Verdict verdict;
  if (check.duplicate) {
    verdict.sort = Verdict::Sort::kLimited;
    verdict.reason = fmt::format(
        "another host has {} (duplicate address detection), so it does not work here; once that host has "
        "released it, run `ip -6 address del` for it here, and apply again",
        base::join(*check.duplicate, ", "));
  } else if (check.tentative) {
    verdict.sort = Verdict::Sort::kPending;
    verdict.reason = fmt::format(
        "{} is not usable yet: {}", base::join(*check.tentative, ", "),
        carrier ? "the kernel is still checking whether another host has it (duplicate address detection)"
                : "without carrier the kernel cannot check whether another host has it (duplicate address "
                  "detection)");
  }
  return verdict;
}

base::Result<Waited> await_checks(std::set<int> indexes, World& now, const TimeLeft& left) {
  using std::chrono::milliseconds;
  const auto start = std::chrono::steady_clock::now();
  auto& host = now.host();
  std::vector<int> joining;
  std::erase_if(indexes, [&](int index) {
    const auto* link = now.link(index);
    if (link == nullptr || !link->up) return true;
    if (link->carrier) return false;
    // Without carrier the kernel does not begin to ask.
    if (!may_join(*link, now)) return true;
    joining.push_back(index);
    return false;
  });
  if (!joining.empty()) {
    const auto addresses = host.inet.observe_addresses();
    if (!addresses) return base::fail(addresses.error());
    // A manager that does not run, or waits for carrier itself, has set no address yet.
    std::erase_if(joining, [&](int index) {
      const bool asks = std::any_of(addresses->begin(), addresses->end(), [&](const auto& address) {
        return address.index == index && address.tentative && !address.duplicate;
      });
      if (!asks) indexes.erase(index);
      return !asks;
    });
  }
  bool in_vain = false;
  if (!joining.empty()) {
    const auto without = host.links.wait_for_carrier(joining, left.carrier);
    if (!without) return base::fail(without.error());
    for (const int index : *without) indexes.erase(index);
    in_vain = !without->empty();
  }
  if (indexes.empty()) return in_vain ? Waited::kInVain : Waited::kNot;
  const auto passed = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
  const auto rest = std::max(milliseconds(0), left.checks - passed);
  if (auto done = host.inet.wait_for_addresses(indexes, rest); !done) return base::fail(done.error());
  return in_vain ? Waited::kInVain : Waited::kEnough;
}

}  // namespace rdmacfg::kinds
