// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/ifcfg_addresses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

namespace {

void report_address(Keys& keys, const Item& item, const std::string& why) {
  if (!why.empty()) keys.wrong(item, why);
}

/// BROADCAST and NETWORK with the number of an address, which its prefix says already: others are named.
void tell_of_prefix(Keys& keys, const model::IpPrefix& prefix, const std::string& number, Claims& claims) {
  const auto usual = prefix.broadcast();
  if (const auto written = keys.take("BROADCAST" + number)) {
    const auto address = model::IpAddress::parse(written->value);
    const bool fits = address && (usual ? *address == *usual : prefix.contains(*address));
    if (!fits)
      claims.pass(keys.place(*written),
                  fmt::format("{}: {}: the kernel computes the broadcast address of the document's prefix",
                              written->key, written->value));
  }
  if (const auto written = keys.take("NETWORK" + number)) {
    const auto address = model::IpAddress::parse(written->value);
    if (!address || *address != prefix.network().address)
      claims.pass(keys.place(*written), fmt::format("{}: {}: has no effect; the address is of {}",
                                                    written->key, written->value, prefix.network().text()));
  }
}

}  // namespace

std::vector<std::string> ifcfg_keys_by_number(const Keys& keys, std::string_view stem) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (auto& key : keys.left()) {
    if (!key.starts_with(stem)) continue;
    const auto rest = std::string_view(key).substr(stem.size());
    const auto number = base::parse_number(rest);
    if (!rest.empty() && (!number || *number > 0xffff)) continue;
    found.emplace_back(rest.empty() ? -1 : static_cast<std::int64_t>(*number), std::move(key));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [number, key] : found) out.push_back(std::move(key));
  return out;
}

void read_ifcfg_addresses(Keys& keys, Inet& inet, Claims& claims) {
  for (const auto& key : ifcfg_keys_by_number(keys, "IPADDR")) {
    const auto number = key.substr(6);
    const auto address = keys.take(key);
    const auto prefix = keys.take("PREFIX" + number), mask = keys.take("NETMASK" + number);
    if (!address) continue;
    std::optional<int> length;
    if (prefix) {
      const auto bits = base::parse_number(prefix->value);
      if (bits && *bits <= 32) length = static_cast<int>(*bits);
      if (!length)
        report_address(keys, *prefix, fmt::format("{} is not a valid prefix length", prefix->value));
    } else if (mask) {
      length = prefix_of_netmask(mask->value);
      if (!length) report_address(keys, *mask, fmt::format("{} is not a valid netmask", mask->value));
    } else {
      claims.miss(keys.place(*address),
                  fmt::format("{}: neither PREFIX{} nor NETMASK{}", key, number, number));
    }
    if (length) {
      const auto why = add_address(inet, model::Family::kIpv4, address->value, length);
      report_address(keys, *address, why);
      if (why.empty()) tell_of_prefix(keys, inet.addresses.back(), number, claims);
    }
    if (const auto gateway = number.empty() ? std::nullopt : keys.take("GATEWAY" + number))
      report_address(keys, *gateway, set_gateway(inet, model::Family::kIpv4, gateway->value));
  }
}

std::string ifcfg_alias_of(const std::string& name) {
  const auto range = name.rfind("-range");
  const bool numbered =
      range != std::string::npos && range > 5 && base::parse_number(std::string_view(name).substr(range + 6));
  const auto end = numbered ? range : name.find(':');
  return end == std::string::npos ? std::string() : name.substr(6, end - 6);
}

void parse_ifcfg_alias(const File& file, Interface& into, Claims& claims) {
  Keys keys(file.path, parse_assignments(file), claims);
  if (keys.has("IPADDR_START")) {
    claims.miss(keys.where("IPADDR_START"), "the document does not support address ranges");
    return;
  }
  if (keys.flag("ONPARENT") == false) {
    claims.pass(keys.where("ONPARENT"), "ONPARENT=no: the address does not come with its interface");
    return;
  }
  if (const auto boot = keys.take("ONBOOT"); boot && yes_or_no(boot->value) == false)
    claims.pass(keys.place(*boot), "ONBOOT=no: has no effect in the file of an alias; only ONPARENT=no has");
  read_ifcfg_addresses(keys, into.ipv4, claims);
  // BOOTPROTO=none without an address of its own.
  if (into.ipv4.method == model::InetMethod::kDisabled && !into.ipv4.addresses.empty())
    into.ipv4.method.reset();
  keys.pass({"DEVICE", "TYPE", "NAME", "UUID", "BOOTPROTO", "ONBOOT", "NM_CONTROLLED", "USERCTL", "NETWORK",
             "BROADCAST", "ARPCHECK", "ARPUPDATE", "ARPING_WAIT", "ACD_TIMEOUT"});
  keys.finish();
}

}  // namespace rdmacfg::foreign
