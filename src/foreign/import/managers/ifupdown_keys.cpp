// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/ifupdown_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "foreign/inet.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::foreign {

using model::InetMethod;

namespace {

/// A key that the document needs no word for: the report says why.
void remark_on_key(Keys& keys, Claims& claims, std::string_view key, std::string_view why) {
  if (const auto item = keys.take(key)) claims.pass(keys.place(*item), fmt::format("{}: {}", key, why));
}

/// Whether the value merely repeats what follows from the prefix of one of the addresses.
bool repeats_prefix(const Interface& interface, std::string_view key, const std::string& value) {
  if (key == "broadcast" && value == "+") return true;
  const auto written = model::IpAddress::parse(value);
  const auto& addresses = interface.ipv4.addresses;
  return written && std::any_of(addresses.begin(), addresses.end(), [&](const model::IpPrefix& prefix) {
           const auto broadcast = prefix.broadcast();
           return key == "broadcast" ? broadcast && *broadcast == *written
                                     : prefix.network().address == *written;
         });
}

}  // namespace

std::optional<int> take_netmask(Keys& keys) {
  const auto mask = keys.take("netmask");
  if (!mask) return std::nullopt;
  const auto bits = base::parse_number(mask->value);
  const auto length =
      bits && *bits <= 128 ? std::optional(static_cast<int>(*bits)) : prefix_of_netmask(mask->value);
  if (!length) keys.wrong(*mask, fmt::format("{} is not a netmask", mask->value));
  return length;
}

void take_newer_methods(Keys& keys, Interface& out) {
  for (const auto& use : keys.take_all("use")) {
    if (use.value == "dhcp") {
      out.ipv4.method = InetMethod::kAuto;
    } else {
      keys.wrong(use, fmt::format("{} is not supported", use.value));
    }
  }
  for (const auto family : {model::Family::kIpv4, model::Family::kIpv6}) {
    const auto word = keys.take(family == model::Family::kIpv4 ? "inet" : "inet6");
    if (!word) continue;
    if (word->value == "dhcp" || word->value == "auto") {
      out.inet(family).method = InetMethod::kAuto;
    } else if (word->value != "static" && word->value != "manual") {
      keys.wrong(*word, fmt::format("{} is not supported", word->value));
    }
  }
}

void take_of_every_sort(Keys& keys, Interface& out, Claims& claims) {
  if (const auto mtu = keys.number("mtu", model::kMtuConnectedMax)) out.mtu = mtu;
  keys.mark(out, "mtu", "mtu");
  for (const auto* key : {"dns-nameservers", "dns-nameserver"}) {
    for (const auto& servers : keys.take_all(key)) {
      for (const auto server : words_of(servers.value)) {
        if (const auto why = add_server(out, server); !why.empty()) keys.wrong(servers, why);
      }
    }
  }
  for (const auto* key : {"dns-search", "dns-domain"}) {
    for (const auto& search : keys.take_all(key)) add_search(out, search.value);
  }
  // The address that the interface is to have; its end is the port's GUID, which the kernel does not
  // change.
  if (const auto address = keys.take("hwaddress")) {
    const auto words = words_of(address->value);
    const auto guid = guid_of_address(words.empty() ? "" : words.back());
    if (guid) {
      out.guid = *guid;
    } else {
      keys.wrong(*address, guid.error().message);
    }
  }
  // Of ifupdown2, whose module "address" has the gateway in the table of the VRF.
  if (const auto vrf = keys.take("vrf")) {
    keys.wrong(*vrf, fmt::format("{}: {}", vrf->value, kVrf));
    if (drop_routes_of_vrf(out)) claims.miss(keys.place(*vrf), std::string(kVrfRoutes));
  }
  // Temporary addresses are made of a router's prefixes only. An interface with method = "auto" takes its
  // advertisements, another one does not.
  const bool six = out.ipv6.method == InetMethod::kAuto;
  if (six) keys.usual("privext", "0");
  keys.usual("accept_ra", six ? "1" : "0");
  if (const auto attempts = keys.peek("dad-attempts"); attempts == "0") {
    keys.refuse("dad-attempts");  // nodad
  } else if (attempts != "60") {  // as without the line
    remark_on_key(keys, claims, "dad-attempts",
                  "concerns only how long ifup waits for duplicate address detection");
  }
  if (!repeats_prefix(out, "network", keys.peek("network")))
    remark_on_key(keys, claims, "network", "has no effect; the network is that of the document's prefix");
  if (!repeats_prefix(out, "broadcast", keys.peek("broadcast")))
    remark_on_key(keys, claims, "broadcast",
                  "the kernel computes the broadcast address of the document's prefix");
  remark_on_key(keys, claims, "alias", "the document has no description of an interface");
  remark_on_key(keys, claims, "requires", "concerns the order in which ifup brings interfaces up");
  keys.pass({"autoconf", "dad-attempts", "privext", "network", "broadcast"});
  keys.finish();
}

}  // namespace rdmacfg::foreign
