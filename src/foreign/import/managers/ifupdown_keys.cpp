// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/ifupdown_keys.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

using model::InetMethod;

namespace {

/// A key that the document needs no word for: the report says why.
void tell_left_out(Keys& keys, Claims& claims, std::string_view key, std::string_view why) {
  if (const auto item = keys.take(key)) claims.pass(keys.place(*item), fmt::format("{}: {}", key, why));
}

}  // namespace

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
    tell_left_out(keys, claims, "dad-attempts",
                  "is how often ifup asks whether the kernel found a duplicate");
  }
  constexpr std::string_view kBroadcast =
      "the kernel computes the broadcast address of the document's prefix";
  tell_left_out(keys, claims, "network", kBroadcast);
  tell_left_out(keys, claims, "broadcast", kBroadcast);
  tell_left_out(keys, claims, "alias", "the document has no description of an interface");
  tell_left_out(keys, claims, "requires", "concerns the order in which ifup brings interfaces up");
  keys.pass({"autoconf", "dad-attempts", "privext"});
  keys.finish();
}

}  // namespace rdmacfg::foreign
