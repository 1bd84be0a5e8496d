// SPDX-License-Identifier: Apache-2.0
// ifcfg files of RHEL (initscripts' sysconfig.txt, ifup-ib of rdma-core, nm-settings-ifcfg-rh(5)).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/managers/ifcfg_addresses.hpp"
#include "foreign/import/managers/ifcfg_routes.hpp"
#include "foreign/import/managers/nm_addresses.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

std::string name_of(const File& file) { return file.path.substr(file.path.rfind('/') + 1); }

/// Which interfaces of ours are ports of something else, by what their files call that: "bond0", or its UUID.
using Uppers = std::map<std::string, std::string, std::less<>>;

constexpr std::array kUpperKeys{"MASTER", "MASTER_UUID", "TEAM_MASTER", "TEAM_MASTER_UUID",
                                "BRIDGE", "BRIDGE_UUID", "OVS_BRIDGE"};
/// A VRF leaves its ports their addresses, unlike the others.
constexpr std::array kVrfKeys{"VRF", "VRF_UUID"};

/// Keys without a meaning for the document, or whose meaning is in others.
constexpr auto kNoMatter = std::to_array<std::string_view>(
    {// names, what other keys say already, and records of the managers
     "TYPE", "NAME", "UUID", "NM_CONTROLLED", "STARTMODE", "VLAN", "NETWORK", "BROADCAST", "IPV4INIT",
     "CONNECTED_MODE", "LAST_CONNECT",
     // when a manager sets the interface up, how long it waits and how often it tries
     "HOTPLUG", "DEVTIMEOUT", "LINKDELAY", "AUTOCONNECT_PRIORITY", "AUTOCONNECT_RETRIES", "MULTI_CONNECT",
     "IPV4_FAILURE_FATAL", "IPV6_FAILURE_FATAL", "DHCPV6C_SLEEP", "DHCPV6_TIMEOUT", "IPV4_DHCP_TIMEOUT",
     "IPV6_DHCP_TIMEOUT", "IPV6_RS_RETRANS_DELAY",
     // nothing of the interface's: clocks, programs, LLDP (which is of Ethernet), a route of the whole host
     "DHCPCLASS", "PEERNTP", "BROWSER_ONLY", "LLDP", "NOZEROCONF",
     // may differ from what the document does, and are passed as managers and installers write them unasked
     "IPV6_PRIVACY", "IPV6_ADDR_GEN_MODE", "ACD_TIMEOUT", "ARPING_WAIT", "ARPCHECK", "ARPUPDATE"});

bool is_ours(const Keys& keys, const Claims& claims) {
  const auto type = base::lower(keys.peek("TYPE"));
  if (!type.empty()) return type == "infiniband" || type == "ipoib";
  return keys.has("CONNECTED_MODE") || keys.has("PKEY") || claims.knows(keys.peek("DEVICE")) ||
         guid_of_address(keys.peek("HWADDR")).has_value();
}

class Ifcfg {
 public:
  Ifcfg(const File& file, Claims& claims)
      : file_(file), claims_(claims), keys_(file.path, parse_assignments(file), claims) {}

  void parse(const Uppers& uppers) {
    if (!is_ours(keys_, claims_)) return pass_over(uppers);
    link();
    // Its addresses are those of what it is a port of, whatever the file says (nm-settings-ifcfg-rh(5)).
    const bool port = upper();
    if (port) {
      keys_.pass({"BOOTPROTO", "IPV6INIT", "IPV6_AUTOCONF", "DEFROUTE", "IPV6_DEFROUTE"});
      for (const auto& key : keys_.left()) {
        if (key.starts_with("IPADDR") || key.starts_with("GATEWAY") || key.starts_with("IPV6ADDR"))
          keys_.tell(key,
                     "has no effect: the interface is a port, and the addresses belong to its controller");
      }
      keys_.pass({"PREFIX*", "NETMASK*", "PEERDNS", "PEERROUTES"});
    } else {
      ipv4();
      ipv6();
      names();
      offers();
      for (const auto* key : kVrfKeys) {
        const auto vrf = keys_.peek(key);
        if (!vrf.empty()) out_.at.try_emplace("vrf", keys_.where(key));
        keys_.tell(key, fmt::format("{}: {}", vrf, kVrf));
      }
    }
    keys_.tell(
        "ZONE",
        "the document does not support firewall zones; bind the interface with firewall-cmd --permanent "
        "--change-interface");
    keys_.usual("USERCTL", "no");
    keys_.usual("PROXY_METHOD", "none");
    // systemd-resolved applies these to the interface.
    for (const auto* key : {"LLMNR", "MDNS"}) keys_.usual(key, "default");
    keys_.pass(kNoMatter);
    keys_.finish();
    place_search(out_);
    settle(out_);
    claims_.interfaces.push_back(std::move(out_));
  }

 private:
  void report(const Item& item, const std::string& why) {
    if (!why.empty()) keys_.wrong(item, why);
  }

  /// A file for something else; named where that stands over an interface of ours.
  void pass_over(const Uppers& uppers) {
    for (const auto* key : {"DEVICE", "UUID", "NAME"}) {
      const auto at = uppers.find(keys_.peek(key));
      if (at == uppers.end()) continue;
      return claims_.miss(keys_.where(key),
                          fmt::format("{} is over {}: bonds, teams and bridges cannot be expressed in "
                                      "the document, nor can their addresses; keep this file",
                                      at->first, at->second));
    }
    for (const auto* key : {"PHYSDEV", "BONDING_SLAVE0"}) {
      const auto below = keys_.peek(key);
      if (below.empty() || !claims_.knows(below)) continue;
      return claims_.miss(keys_.where(key), fmt::format("{} is over {}: cannot be expressed in the document",
                                                        keys_.peek("DEVICE"), below));
    }
    claims_.pass({file_.path, 0}, "is not for InfiniBand");
  }

  /// Whether the interface is a port of a bond or the like.
  bool upper() {
    bool found = false;
    for (const auto* key : kUpperKeys) {
      if (keys_.peek(key).empty()) continue;
      found = true;
      keys_.tell(key,
                 fmt::format("{} is over the interface: bonds, teams and bridges cannot be expressed in the "
                             "document",
                             keys_.peek(key)));
    }
    keys_.pass({"SLAVE", "DEVICETYPE", "BONDING_MASTER"});
    return found;
  }

  void link() {
    out_.where = {file_.path, 0};
    const auto fallback = name_of(file_).substr(6);
    const auto device = keys_.take("DEVICE");
    // Without DEVICE the address tells which port is meant, and nobody asks for a name.
    const bool by_address = keys_.has("HWADDR") || yes_or_no(keys_.peek("PKEY")) == true;
    out_.name = device ? device->value : by_address ? std::string() : fallback;
    if (device) keys_.mark(out_, "name", "DEVICE");
    // initscripts rename the interface with that address; NetworkManager expects the name.
    if (const auto address = keys_.take("HWADDR")) {
      const auto guid = guid_of_address(address->value);
      if (guid) {
        out_.guid = *guid;
        out_.names = device.has_value();
      } else {
        report(*address, guid.error().message);
      }
    }
    if (const auto connected = keys_.flag("CONNECTED_MODE"))
      out_.mode = *connected ? model::IpoibMode::kConnected : model::IpoibMode::kDatagram;
    out_.mtu = keys_.number("MTU", model::kMtuConnectedMax);
    if (keys_.flag("ONBOOT") == false) out_.state = model::State::kDown;
    keys_.mark(out_, "mode", "CONNECTED_MODE");
    keys_.mark(out_, "mtu", "MTU");
    keys_.mark(out_, "state", "ONBOOT");
    pkey();
  }

  void pkey() {
    const auto parent = keys_.take("PHYSDEV");
    const auto on = keys_.flag("PKEY");
    // PKEY_ID_NM is what NetworkManager keeps beside PKEY_ID, without the bit that ifup-ib adds.
    const auto raw = keys_.take("PKEY_ID_NM"), id = keys_.take("PKEY_ID");
    if (!on.value_or(false)) {
      for (const auto& unused : {parent, raw, id}) {
        if (unused)
          claims_.pass(keys_.place(*unused), fmt::format("{}: has no effect without PKEY=yes", unused->key));
      }
      return;
    }
    const auto& item = raw ? raw : id;
    out_.broken = true;
    if (!item || !parent) {
      claims_.miss(keys_.where("PKEY"), item ? "PKEY=yes without PHYSDEV" : "PKEY=yes without PKEY_ID");
      return;
    }
    const auto key = pkey_of(item->value);
    if (!key) return report(*item, key.error().message);
    // ifup-ib and parse_infiniband_p_key() of NetworkManager compare the names; of a P_Key without the
    // membership bit, which PKEY_ID_NM may be, NetworkManager makes the second one.
    const auto made = fmt::format("{}.{:04x}", parent->value, key->full());
    const bool fits =
        out_.name == made || (raw && out_.name == fmt::format("{}.{:04x}", parent->value, key->partition()));
    if (!out_.name.empty() && !fits) {
      claims_.miss(keys_.where("DEVICE"),
                   fmt::format("DEVICE: is not {}, so ifup and NetworkManager refuse the file", made));
      return;
    }
    out_.broken = false;
    out_.pkey = *key;
    out_.parent = parent->value;
    out_.names = false;  // ifup-ib makes it by the number
  }

  void ipv4() {
    auto& inet = out_.ipv4;
    if (const auto proto = keys_.take("BOOTPROTO")) {
      const auto word = base::lower(proto->value);
      if (word == "dhcp" || word == "bootp") {
        inet.method = InetMethod::kAuto;
      } else if (word == "autoip") {
        inet.method = InetMethod::kLinkLocal;
      } else if (word == "none" || word == "static") {
        inet.method = InetMethod::kDisabled;
      } else {
        report(*proto, fmt::format("{} is not supported", proto->value));
      }
    }
    for (const auto* key : {"IPADDR2", "IPADDR1", "IPADDR0", "IPADDR"})
      keys_.mark(out_, "ipv4.addresses", key);
    read_ifcfg_addresses(keys_, inet, claims_);
    const auto numbered = inet.gateway;
    if (const auto gateway = keys_.take("GATEWAY")) {
      report(*gateway, set_gateway(inet, Family::kIpv4, gateway->value));
      if (numbered && numbered != inet.gateway)
        claims_.miss(keys_.place(*gateway),
                     fmt::format("GATEWAY: takes precedence, and {} of a GATEWAY with a number is left out; "
                                 "write it as a route with a metric",
                                 numbered->text()));
    }
    keys_.mark(out_, "ipv4.method", "BOOTPROTO");
    keys_.mark(out_, "ipv4.gateway", "GATEWAY");
    const auto defroute = keys_.flag("DEFROUTE");
    if (defroute == false) inet.gateway.reset();
    if (inet.method == InetMethod::kLinkLocal && !inet.addresses.empty()) inet.method.reset();
  }

  void ipv6() {
    auto& inet = out_.ipv6;
    const auto init = keys_.flag("IPV6INIT");
    const auto autoconf = keys_.flag("IPV6_AUTOCONF");
    const bool forwarding = keys_.flag("IPV6FORWARDING") == true;
    const auto dhcp = keys_.flag("DHCPV6C");
    const auto disabled = keys_.flag("IPV6_DISABLED");
    if (const auto address = keys_.take("IPV6ADDR"))
      report(*address, add_address(inet, Family::kIpv6, address->value, 64));
    if (const auto more = keys_.take("IPV6ADDR_SECONDARIES")) {
      for (const auto word : words_of(more->value)) report(*more, add_address(inet, Family::kIpv6, word, 64));
    }
    if (const auto gateway = keys_.take("IPV6_DEFAULTGW")) {
      const auto percent = gateway->value.find('%');  // "fe80::1%ib0"
      report(*gateway, set_gateway(inet, Family::kIpv6, gateway->value.substr(0, percent)));
    }
    keys_.mark(out_, "ipv6.method", "IPV6INIT");
    keys_.mark(out_, "ipv6.addresses", "IPV6ADDR");
    keys_.mark(out_, "ipv6.gateway", "IPV6_DEFAULTGW");
    for (const auto* key : {"IPV6_AUTOCONF", "DHCPV6C"}) keys_.mark(out_, "autoconf", key);
    if (keys_.flag("IPV6_DEFROUTE") == false) inet.gateway.reset();
    if (disabled == true) {
      inet = {};
      inet.method = InetMethod::kDisabled;
    } else if (init == false) {
      // The kernel's own link-local address stays.
      claims_.pass(keys_.where("IPV6INIT"),
                   inet.empty()
                       ? "IPV6INIT=no: the kernel's link-local address stays, as without [ipoib.ipv6]"
                       : "IPV6INIT=no: the IPv6 addresses of this file are not used");
      inet = {};
    } else if (dhcp == true || autoconf == true || (init == true && !autoconf && !forwarding)) {
      // Without a setting, a host that is not a router takes addresses from one beside its own.
      inet.method = InetMethod::kAuto;
    } else if (init == true && inet.addresses.empty()) {
      inet.method = InetMethod::kLinkLocal;
    }
  }

  /// The handling of offers of a DHCP server or a router.
  void offers() {
    const bool four = out_.ipv4.method == InetMethod::kAuto, six = out_.ipv6.method == InetMethod::kAuto;
    for (const auto* key : {"PEERDNS", "PEERROUTES"}) {
      if (four) keys_.usual(key, "yes");
    }
    for (const auto* key : {"IPV6_PEERDNS", "IPV6_PEERROUTES"}) {
      if (six) keys_.usual(key, "yes");
    }
    // "rfc3041" makes temporary addresses beside those that a router's prefixes give.
    if (six) keys_.usual("IPV6_PRIVACY", "no");
    // A key of NetworkManager's; initscripts leave the addresses to the kernel.
    const bool managed = yes_or_no(keys_.peek("NM_CONTROLLED")) != false;
    if (const auto mode = six && managed ? keys_.take("IPV6_ADDR_GEN_MODE") : std::nullopt;
        mode && names_stable_address(mode->value))
      claims_.pass(keys_.place(*mode),
                   fmt::format("IPV6_ADDR_GEN_MODE: {}: {}", mode->value, kKernelAddresses));
    keys_.pass({"PEERDNS", "PEERROUTES", "IPV6_PEERDNS", "IPV6_PEERROUTES"});
    if (four && yes_or_no(keys_.peek("DEFROUTE")) == false) keys_.refuse("DEFROUTE");
    if (six && yes_or_no(keys_.peek("IPV6_DEFROUTE")) == false) keys_.refuse("IPV6_DEFROUTE");
    if (!four)
      keys_.pass({"DHCP_CLIENT_ID", "DHCP_HOSTNAME", "DHCP_FQDN", "DHCP_SEND_HOSTNAME", "DHCPRELEASE",
                  "PERSISTENT_DHCLIENT"});
  }

  void names() {
    for (const auto& key : ifcfg_keys_by_number(keys_, "DNS")) {
      if (key == "DNS") continue;
      const auto server = keys_.take(key);
      if (!server) continue;
      keys_.mark(out_, server->value.find(':') == std::string::npos ? "ipv4.dns" : "ipv6.dns", key);
      report(*server, add_server(out_, server->value));
    }
    if (const auto domain = keys_.take("DOMAIN")) add_search(out_, domain->value);
  }

  const File& file_;
  Claims& claims_;
  Keys keys_;
  Interface out_;
};

/// Interfaces over ours, as their files say it.
Uppers uppers_of(std::span<const File> files, const Claims& claims) {
  Uppers out;
  for (const auto& file : files) {
    const auto name = name_of(file);
    if (!name.starts_with("ifcfg-") || is_leftover(name)) continue;
    Claims aside;
    const Keys keys(file.path, parse_assignments(file), aside);
    if (!is_ours(keys, claims)) continue;
    const auto device = keys.peek("DEVICE");
    const auto note = [&](const char* key) {
      if (auto upper = keys.peek(key); !upper.empty())
        out.emplace(std::move(upper), device.empty() ? name.substr(6) : device);
    };
    for (const auto* key : kUpperKeys) note(key);
    for (const auto* key : kVrfKeys) note(key);
  }
  return out;
}

}  // namespace

void parse_ifcfg(std::span<const File> files, Claims& claims) {
  const auto before = claims.interfaces.size();
  // Interfaces by name and, as NetworkManager has it, by file.
  std::map<std::string, std::size_t, std::less<>> named, filed;
  const auto find = [&](const std::string& name) -> Interface* {
    const auto at = named.find(name), other = filed.find(name);
    if (at != named.end()) return &claims.interfaces[at->second];
    return other == filed.end() ? nullptr : &claims.interfaces[other->second];
  };
  std::vector<const File*> aliases;
  const auto uppers = uppers_of(files, claims);
  for (const auto& file : files) {
    const auto name = name_of(file);
    if (!name.starts_with("ifcfg-") || name == "ifcfg-lo" || is_leftover(name)) continue;
    if (!ifcfg_alias_of(name).empty()) {
      aliases.push_back(&file);
      continue;
    }
    Ifcfg(file, claims).parse(uppers);
    if (claims.interfaces.empty() || claims.interfaces.back().where.file != file.path) continue;
    named.try_emplace(claims.interfaces.back().name, claims.interfaces.size() - 1);
    filed.try_emplace(name.substr(6), claims.interfaces.size() - 1);
  }
  for (const auto* file : aliases) {
    if (auto* interface = find(ifcfg_alias_of(name_of(*file))); interface != nullptr) {
      parse_ifcfg_alias(*file, *interface, claims);
    } else {
      claims.pass({file->path, 0}, "is not for an InfiniBand interface");
    }
  }
  for (const auto& file : files) {
    const auto name = name_of(file);
    const auto dash = name.find('-');
    const auto kind = name.substr(0, dash);
    const bool six = kind == "route6", rules = kind == "rule" || kind == "rule6";
    if ((!six && !rules && kind != "route") || dash == std::string::npos || is_leftover(name)) continue;
    auto* interface = find(name.substr(dash + 1));
    if (interface == nullptr) {
      claims.pass({file.path, 0}, "is not for an InfiniBand interface");
    } else if (rules) {
      claims.miss({file.path, 0}, "the document does not support policy rules");
    } else {
      parse_route_file(file, six ? Family::kIpv6 : Family::kIpv4, *interface, find, claims);
    }
  }
  for (std::size_t at = before; at < claims.interfaces.size(); ++at) {
    auto& interface = claims.interfaces[at];
    const auto vrf = interface.at.find("vrf");
    if (vrf != interface.at.end() && drop_routes_of_vrf(interface))
      claims.miss(vrf->second, std::string(kVrfRoutes));
  }
  for (const auto& file : files) {
    if (name_of(file) == "network")
      take_host_settings(file, std::span(claims.interfaces).subspan(before), claims);
  }
}

}  // namespace rdmacfg::foreign
