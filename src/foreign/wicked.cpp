// SPDX-License-Identifier: Apache-2.0
// SUSE's ifcfg files (wicked's ifcfg(5), ifroute(5), ifcfg-infiniband).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "foreign/formats.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

std::string name_of(const File& file) { return file.path.substr(file.path.rfind('/') + 1); }

/// P_Keys are hexadecimal there, also without 0x.
base::Result<model::Pkey> hexadecimal(std::string_view text) {
  const bool prefixed = text.starts_with("0x") || text.starts_with("0X");
  return pkey_of(prefixed ? std::string(text) : fmt::format("0x{}", text));
}

void report(Keys& keys, const Item& item, const std::string& why) {
  if (!why.empty()) keys.wrong(item, why);
}

void read_link(Keys& keys, Interface& out) {
  if (const auto mode = keys.take("IPOIB_MODE")) {
    const auto parsed = model::parse_ipoib_mode(mode->value);
    if (parsed) {
      out.mode = *parsed;
    } else {
      keys.wrong(*mode, parsed.error().message);
    }
  }
  if (const auto umcast = keys.take("IPOIB_UMCAST")) {
    const auto word = base::lower(umcast->value);
    const auto flag = word == "allowed"      ? std::optional(true)
                      : word == "disallowed" ? std::optional(false)
                                             : yes_or_no(word);
    if (flag) {
      out.umcast = flag;
    } else {
      keys.wrong(*umcast, fmt::format("{} is neither allowed nor disallowed", umcast->value));
    }
  }
  out.mtu = keys.number("MTU", model::kMtuConnectedMax);
  if (const auto mode = keys.take("STARTMODE")) {
    const auto word = base::lower(mode->value);
    if (word == "manual" || word == "off") out.state = model::State::kDown;
  }
  if (const auto parent = keys.take("IPOIB_DEVICE")) out.parent = parent->value;
  const auto key = keys.take("IPOIB_PKEY");
  // "ib0.8001" is such an interface by its name alone.
  const auto dot = out.name.rfind('.');
  if (key || dot != std::string::npos) {
    const auto pkey = hexadecimal(key ? key->value : out.name.substr(dot + 1));
    if (pkey) {
      out.pkey = *pkey;
    } else if (key) {
      out.broken = true;
      keys.wrong(*key, pkey.error().message);
    }
  }
  if (out.pkey && out.parent.empty() && dot != std::string::npos) out.parent = out.name.substr(0, dot);
}

void read_inet(Keys& keys, Interface& out) {
  const auto proto = keys.take("BOOTPROTO");
  const bool none = proto && base::lower(proto->value) == "none";
  if (proto) {
    for (const auto& part : base::split(proto->value, '+')) {
      const auto word = base::lower(part);
      if (word == "dhcp" || word == "dhcp4") out.ipv4.method = InetMethod::kAuto;
      if (word == "dhcp" || word == "dhcp6") out.ipv6.method = InetMethod::kAuto;
      if (word == "autoip" || word == "auto4") out.ipv4.method = InetMethod::kLinkLocal;
      const bool known = word == "static" || word == "none" || word == "dhcp" || word == "dhcp4" ||
                         word == "dhcp6" || word == "autoip" || word == "auto4" || word == "auto6";
      if (word == "auto6") out.ipv6.method = InetMethod::kAuto;
      if (!known) keys.wrong(*proto, fmt::format("{} is not understood", part));
    }
  }
  for (const auto& key : keys.left()) {
    if (!key.starts_with("IPADDR")) continue;
    const auto suffix = key.substr(6);
    const auto address = keys.take(key);
    const auto prefix = keys.take("PREFIXLEN" + suffix), mask = keys.take("NETMASK" + suffix);
    if (!address) continue;
    std::optional<int> length;
    if (prefix) {
      const auto bits = base::parse_number(prefix->value);
      if (bits && *bits <= 128) length = static_cast<int>(*bits);
    } else if (mask) {
      length = prefix_of_netmask(mask->value);
    }
    const auto family = address->value.find(':') == std::string::npos ? Family::kIpv4 : Family::kIpv6;
    if (none) {
      keys.wrong(*address, "is not in force beside BOOTPROTO=none");
    } else if ((prefix || mask) && !length) {
      keys.wrong(prefix ? *prefix : *mask, "is no prefix length");
    } else {
      report(keys, *address, add_address(out.inet(family), family, address->value, length));
    }
  }
}

/// The first member of a bond or team that is an interface of ours; empty when none is.
std::string member_of_ours(const Keys& keys, const Claims& claims) {
  for (const auto& key : keys.left()) {
    if (!key.starts_with("BONDING_SLAVE") && !key.starts_with("TEAM_PORT_DEVICE")) continue;
    if (auto member = keys.peek(key); claims.knows(member)) return member;
  }
  return {};
}

bool reaches(const Interface& one, const model::IpAddress& gateway) {
  const auto& addresses = one.inet(gateway.family).addresses;
  return std::any_of(addresses.begin(), addresses.end(),
                     [&](const model::IpPrefix& prefix) { return prefix.contains(gateway); });
}

/// Who has a route that names no interface: the one whose network its gateway is in.
struct Owner {
  Interface* one = nullptr;
  bool other = false;  ///< an interface that is not for InfiniBand
};

Owner owner_of(std::string_view gateway, std::span<Interface> interfaces, std::span<const Interface> others) {
  const auto address = model::IpAddress::parse(gateway);
  if (!address) return {};
  for (auto& one : interfaces) {
    if (reaches(one, *address)) return {&one, false};
  }
  return {nullptr, std::any_of(others.begin(), others.end(),
                               [&](const Interface& one) { return reaches(one, *address); })};
}

/// What is done with that which a DHCP server offers (ifcfg-dhcp(5)).
void offers(Keys& keys, const Interface& one) {
  const bool used = one.ipv4.method == InetMethod::kAuto || one.ipv6.method == InetMethod::kAuto;
  if (!used) return keys.pass({"DHCLIENT*"});
  keys.usual("DHCLIENT_SET_DEFAULT_ROUTE", "yes");
  keys.usual("DHCLIENT_ROUTE_PRIORITY", "0");
  // Names and how the server is asked are no matter of the document.
  keys.pass({"DHCLIENT_SET_HOSTNAME", "DHCLIENT_SLEEP", "DHCLIENT_TIMEOUT", "DHCLIENT_WAIT_AT_BOOT",
             "DHCLIENT_RELEASE_BEFORE_QUIT", "DHCLIENT_MODIFY_SMB_CONF"});
}

/// "DESTINATION GATEWAY NETMASK INTERFACE", "-" for nothing. A route without an interface is for the file's.
void read_routes(const File& file, const std::string& owner, std::span<Interface> interfaces,
                 std::span<const Interface> others, Claims& claims) {
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto words = words_of(raw.substr(0, raw.find('#')));
    if (words.empty()) continue;
    const auto word = [&](std::size_t at) {
      return at < words.size() && words[at] != "-" ? words[at] : std::string_view();
    };
    const auto device = word(3).empty() ? std::string_view(owner) : word(3);
    const Place where{file.path, number};
    const auto named = std::find_if(interfaces.begin(), interfaces.end(),
                                    [&](const Interface& one) { return one.name == device; });
    auto* at = named == interfaces.end() ? nullptr : &*named;
    if (device.empty() && !interfaces.empty()) {
      const auto found = owner_of(word(1), interfaces, others);
      at = found.one;
      if (at == nullptr && !found.other) {
        claims.miss(where, "names no interface, and its gateway is in no network of one");
        continue;
      }
    }
    if (at == nullptr) {
      claims.pass(where, "is not for an InfiniBand interface");
      continue;
    }
    std::string line(word(0));
    const auto length = word(2).empty() ? std::nullopt : prefix_of_netmask(word(2));
    if (length && line.find('/') == std::string::npos) line += fmt::format("/{}", *length);
    const bool six = line.find(':') != std::string::npos || word(1).find(':') != std::string_view::npos;
    if (!word(1).empty()) line += fmt::format(" via {}", word(1));
    for (std::size_t more = 4; more < words.size(); ++more) {
      if (word(more) != "unicast" && !word(more).empty()) line += fmt::format(" {}", word(more));
    }
    const auto family = six ? Family::kIpv6 : Family::kIpv4;
    const auto why = add_route_words(at->inet(family), family, line);
    if (why.empty()) {
      claims.took(where);
    } else {
      claims.miss(where, why);
    }
  }
}

}  // namespace

void parse_wicked(std::span<const File> files, Claims& claims) {
  std::vector<Interface> found, others;
  for (const auto& file : files) {
    const auto name = name_of(file);
    if (!name.starts_with("ifcfg-") || name == "ifcfg-lo" || is_leftover(name)) continue;
    Keys keys(file.path, parse_assignments(file, claims), claims);
    Interface out;
    out.where = {file.path, 0};
    out.name = name.substr(6);
    const bool seems = keys.has("IPOIB_MODE") || keys.has("IPOIB_PKEY") || keys.has("IPOIB_UMCAST") ||
                       keys.has("IPOIB_DEVICE") || claims.knows(out.name);
    if (!seems) {
      if (const auto member = member_of_ours(keys, claims); !member.empty()) {
        claims.miss({file.path, 0},
                    fmt::format("{} is over {}: bonds are not part of the document", out.name, member));
      } else {
        claims.pass({file.path, 0}, "is not for InfiniBand");
      }
      Claims aside;  // its networks only are of use
      Keys again(file.path, parse_assignments(file, aside), aside);
      read_inet(again, out);
      others.push_back(std::move(out));
      continue;
    }
    read_link(keys, out);
    read_inet(keys, out);
    keys.pass({"NAME", "BROADCAST*", "NETWORK*", "LABEL*", "USERCONTROL", "ETHTOOL_OPTIONS", "FIREWALL",
               "ZONE", "REMOTE_IPADDR*", "INTERFACETYPE"});
    offers(keys, out);
    keys.finish();
    settle(out);
    found.push_back(std::move(out));
  }
  for (const auto& file : files) {
    const auto name = name_of(file);
    if (name == "routes") read_routes(file, "", found, others, claims);
    if (name.starts_with("ifroute-")) read_routes(file, name.substr(8), found, others, claims);
  }
  for (auto& one : found) claims.interfaces.push_back(std::move(one));
}

}  // namespace rdmacfg::foreign
