// SPDX-License-Identifier: Apache-2.0
// SUSE's ifcfg files (wicked's ifcfg(5), ifroute(5), ifcfg-infiniband); wicked_xml.cpp has wicked's own
// language.
#include "foreign/import/managers/wicked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

std::string wicked_name(const File& file) { return file.path.substr(file.path.rfind('/') + 1); }

/// P_Keys are hexadecimal there, also without 0x.
base::Result<model::Pkey> hexadecimal(std::string_view text) {
  const bool prefixed = text.starts_with("0x") || text.starts_with("0X");
  return pkey_of(prefixed ? std::string(text) : fmt::format("0x{}", text));
}

void report_wicked(Keys& keys, const Item& item, const std::string& why) {
  if (!why.empty()) keys.wrong(item, why);
}

/// on, true and yes, in upper and lower case; everything else is no (wicked's ni_sysconfig_test_boolean).
bool is_on(std::string_view text) {
  const auto word = base::lower(text);
  return word == "on" || word == "true" || word == "yes";
}

/// The key that makes a file that of another sort of interface, in wicked's order; empty for none.
std::string other_sort(const Keys& keys) {
  for (const auto* key :
       {"OVS_BRIDGE", "BONDING_MASTER", "BRIDGE", "VXLAN", "IPVLAN", "IPVTAP", "WIRELESS"}) {
    if (is_on(keys.peek(key))) return key;
  }
  for (const auto* key :
       {"TEAM_RUNNER", "ETHERDEVICE", "MACVLAN_DEVICE", "MACVTAP_DEVICE", "TUNNEL", "PPPMODE"}) {
    if (!keys.peek(key).empty()) return key;
  }
  return {};
}

/// wicked's reading of a file: an InfiniBand interface, something else, or nothing, since it refuses it
/// (try_infiniband() in compat-suse.c and ni_infiniband_validate() in infiniband.c).
struct Verdict {
  enum class Sort { kOther, kOurs, kRefused };
  Sort sort = Sort::kOther;
  Place where;      ///< of the key that decides
  std::string why;  ///< for kRefused, and for kOther where the file speaks of InfiniBand
  std::string parent;
  std::optional<model::Pkey> pkey;
};

Verdict judge(const Keys& keys, const std::string& name, const Claims& claims) {
  using Sort = Verdict::Sort;
  const auto other = other_sort(keys);
  const auto by_name = ib_name(name);
  const bool said =
      keys.has("IPOIB") ? is_on(keys.peek("IPOIB")) : keys.has("IPOIB_MODE") || keys.has("IPOIB_UMCAST");
  const auto whole = keys.where("-");
  if (keys.has("IPOIB") && !said)
    return {Sort::kOther, keys.where("IPOIB"), "IPOIB=no: wicked does not treat it as InfiniBand", {}, {}};
  if (!other.empty()) {
    if (said)
      return {
          Sort::kRefused, keys.where(other), fmt::format("{} beside variables of InfiniBand", other), {}, {}};
    return {Sort::kOther, whole, "", {}, {}};
  }
  if (!said && !by_name) {
    // A file for an interface that is there sets it up, whatever it is.
    for (const auto* key : {"IPOIB_DEVICE", "IPOIB_PKEY"}) {
      if (keys.has(key))
        return {
            Sort::kOther, keys.where(key), fmt::format("{} has no effect without IPOIB=yes", key), {}, {}};
    }
    const bool port = claims.knows(name) && name.find('.') == std::string::npos;
    return {port ? Sort::kOurs : Sort::kOther, whole, "", {}, {}};
  }
  auto device = keys.peek("IPOIB_DEVICE"), key = keys.peek("IPOIB_PKEY");
  if (by_name && !by_name->pkey.empty()) {
    if (key.empty()) key = by_name->pkey;
    if (device.empty()) device = by_name->port;
  }
  if (key.empty() && device.empty()) return {Sort::kOurs, whole, "", {}, {}};
  const auto refused = [&](const char* at, std::string why) {
    return Verdict{Sort::kRefused, keys.where(at), std::move(why), {}, {}};
  };
  if (key.empty()) return refused("IPOIB_DEVICE", "IPOIB_DEVICE without IPOIB_PKEY");
  if (device.empty()) return refused("IPOIB_PKEY", "IPOIB_PKEY without IPOIB_DEVICE");
  const auto pkey = hexadecimal(key);
  if (!pkey) return refused("IPOIB_PKEY", pkey.error().message);
  const bool prefixed = key.starts_with("0x") || key.starts_with("0X");
  const auto number = base::parse_number(prefixed ? key : "0x" + key).value_or(0);
  if (auto why = refused_by_wicked(number); !why.empty()) return refused("IPOIB_PKEY", std::move(why));
  return {Sort::kOurs, whole, "", device, *pkey};
}

void read_link(Keys& keys, Interface& out) {
  if (const auto mode = keys.take("IPOIB_MODE")) {
    const auto parsed = model::parse_named_mode(base::lower(mode->value));
    if (parsed) {
      out.mode = *parsed;
    } else {
      out.broken = true;
      keys.wrong(*mode, fmt::format("{}; wicked refuses the whole file", parsed.error().message));
    }
  }
  if (const auto umcast = keys.take("IPOIB_UMCAST")) {
    const auto word = base::lower(umcast->value);
    const bool allowed = word == "allowed" || word == "1";
    if (allowed || word == "disallowed" || word == "0") {
      out.umcast = allowed;
    } else {
      out.broken = true;
      keys.wrong(*umcast, fmt::format("{} is neither allowed nor disallowed; wicked refuses the whole file",
                                      umcast->value));
    }
  }
  out.mtu = keys.number("MTU", model::kMtuConnectedMax);
  if (const auto mode = keys.take("STARTMODE")) {
    const auto word = base::lower(mode->value);
    if (word == "manual" || word == "off") out.state = model::State::kDown;
  }
  keys.mark(out, "mode", "IPOIB_MODE");
  keys.mark(out, "umcast", "IPOIB_UMCAST");
  keys.mark(out, "mtu", "MTU");
  keys.mark(out, "state", "STARTMODE");
  keys.pass({"IPOIB", "IPOIB_DEVICE", "IPOIB_PKEY"});
  // The address that the interface is to have; its end is the port's GUID, which the kernel does not change.
  if (const auto address = keys.take("LLADDR")) {
    const auto guid = guid_of_address(address->value);
    if (guid && !out.pkey) {
      out.guid = *guid;
    } else if (!guid) {
      keys.wrong(*address, guid.error().message);
    }
  }
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
      if (!known) keys.wrong(*proto, fmt::format("{} is not supported", part));
    }
  }
  keys.mark(out, "ipv4.method", "BOOTPROTO");
  keys.mark(out, "ipv6.method", "BOOTPROTO");
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
    out.at.try_emplace(family == Family::kIpv4 ? "ipv4.addresses" : "ipv6.addresses", keys.place(*address));
    if (none) {
      keys.wrong(*address, "is not in force beside BOOTPROTO=none");
    } else if ((prefix || mask) && !length) {
      keys.wrong(prefix ? *prefix : *mask,
                 fmt::format("{} is not a valid {}", prefix ? prefix->value : mask->value,
                             prefix ? "prefix length" : "netmask"));
    } else {
      report_wicked(keys, *address, add_address(out.inet(family), family, address->value, length));
    }
  }
}

/// The parent of the interface, if that is an interface of ours: the key and its value.
std::pair<std::string, std::string> member_of_ours(const Keys& keys, const Claims& claims) {
  for (const auto& key : keys.left()) {
    const bool below = key.starts_with("BONDING_SLAVE") || key.starts_with("TEAM_PORT_DEVICE") ||
                       key == "BRIDGE_PORTS" || key == "ETHERDEVICE" || key == "MACVLAN_DEVICE" ||
                       key == "MACVTAP_DEVICE" || key.starts_with("OVS_BRIDGE_PORT_DEVICE");
    if (!below) continue;
    const auto value = keys.peek(key);
    for (const auto member : words_of(value)) {
      if (claims.knows(member)) return {key, std::string(member)};
    }
  }
  return {};
}

/// Keys without a meaning for the document, or whose meaning is in others.
constexpr auto kIgnoredElements = std::to_array<std::string_view>(
    {// names that only people and other managers read, and what the name or the prefix says already
     "NAME", "DEVICE", "TYPE", "INTERFACETYPE", "UNIQUE", "_nm_name", "NM_CONTROLLED", "ONBOOT", "NETWORK*",
     "PREFIXLEN*", "NETMASK*",
     // how long wicked waits, and for what
     "LINK_REQUIRED", "LINK_READY_WAIT", "IFPLUGD_PRIORITY", "AUTO6_WAIT_AT_BOOT", "AUTO6_UPDATE",
     // wicked's own check before it adds an address; files without the key have it, too, and "no" is ours
     "CHECK_DUPLICATE_IP",
     // "no" or empty here, or the file would be for another sort of interface
     "BRIDGE", "BONDING_MASTER", "OVS_BRIDGE", "VXLAN", "IPVLAN", "IPVTAP", "WIRELESS", "ETHERDEVICE",
     "DUMMY"});

/// Names settings of wicked that have no counterpart in the document.
void tell_left_out(Keys& keys, Claims& claims) {
  keys.tell("ZONE",
            "the document does not support firewall zones; bind the interface with firewall-cmd --permanent "
            "--change-interface");
  keys.usual("FIREWALL", "yes");
  keys.usual("USERCONTROL", "no");
  keys.tell("ETHTOOL_OPTIONS", "the document does not support options of ethtool(8)");
  const bool announces = is_on(keys.peek("SEND_GRATUITOUS_ARP"));
  if (announces) {
    keys.tell("SEND_GRATUITOUS_ARP", "the document does not support announcing addresses by gratuitous ARP");
  } else {
    keys.pass({"SEND_GRATUITOUS_ARP"});
  }
  const auto remark = [&](const std::string& key, std::string_view why) {
    if (const auto item = keys.take(key))
      claims.pass(keys.place(*item), fmt::format("{}: {}: {}", key, item->value, why));
  };
  for (const auto& key : keys.left()) {
    if (key.starts_with("REMOTE_IPADDR")) keys.tell(key, "the document does not support peer addresses");
    if (key.starts_with("SCOPE")) keys.usual(key, "global");
    if (key.starts_with("BROADCAST"))
      remark(key, "the kernel computes the broadcast address of the document's prefix");
    if (key.starts_with("LABEL")) remark(key, "addresses of the document have no labels");
  }
}

bool reaches(const Interface& interface, const model::IpAddress& gateway) {
  const auto& addresses = interface.inet(gateway.family).addresses;
  return std::any_of(addresses.begin(), addresses.end(),
                     [&](const model::IpPrefix& prefix) { return prefix.contains(gateway); });
}

/// The owner of a route that names no interface: the one whose network its gateway is in.
struct Owner {
  Interface* interface = nullptr;
  bool other = false;  ///< an interface that is not for InfiniBand
};

Owner owner_of(std::string_view gateway, std::span<Interface> interfaces, std::span<const Interface> others) {
  const auto address = model::IpAddress::parse(gateway);
  if (!address) return {};
  for (auto& interface : interfaces) {
    if (reaches(interface, *address)) return {&interface, false};
  }
  return {nullptr, std::any_of(others.begin(), others.end(),
                               [&](const Interface& interface) { return reaches(interface, *address); })};
}

/// The handling of offers of a DHCP server (ifcfg-dhcp(5)).
void offers(Keys& keys, const Interface& interface) {
  const bool used = interface.ipv4.method == InetMethod::kAuto || interface.ipv6.method == InetMethod::kAuto;
  if (!used) return keys.pass({"DHCLIENT*"});
  keys.usual("DHCLIENT_SET_DEFAULT_ROUTE", "yes");
  keys.usual("DHCLIENT_ROUTE_PRIORITY", "0");
  // Names and the DHCP client's options are outside the document.
  keys.pass({"DHCLIENT_SET_HOSTNAME", "DHCLIENT_SLEEP", "DHCLIENT_TIMEOUT", "DHCLIENT_WAIT_AT_BOOT",
             "DHCLIENT_RELEASE_BEFORE_QUIT", "DHCLIENT_MODIFY_SMB_CONF"});
}

/// The third field of a route: a netmask, or a prefix length (ni_suse_route_parse() in compat-suse.c).
std::optional<int> length_of_route(std::string_view text) {
  if (text.find('.') != std::string_view::npos) return prefix_of_netmask(text);
  const auto bits = base::parse_number(text);
  return bits && *bits <= 128 ? std::optional(static_cast<int>(*bits)) : std::nullopt;
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
                                    [&](const Interface& interface) { return interface.name == device; });
    auto* at = named == interfaces.end() ? nullptr : &*named;
    if (device.empty() && !interfaces.empty()) {
      const auto found = owner_of(word(1), interfaces, others);
      at = found.interface;
      if (at == nullptr && !found.other) {
        claims.miss(where, "names no interface, and its gateway is in no network of one");
        continue;
      }
    }
    if (at == nullptr) {
      claims.pass(where, "is not for an InfiniBand interface");
      continue;
    }
    if (auto wrong = is_route_type(word(4)) ? wrong_type(word(4)) : std::string(); !wrong.empty()) {
      claims.miss(where, std::move(wrong));
      continue;
    }
    std::string line(word(0));
    if (!word(2).empty() && line != "default" && line.find('/') == std::string::npos) {
      const auto length = length_of_route(word(2));
      if (!length) {
        claims.miss(where, fmt::format("{} is not a netmask; wicked refuses the route", word(2)));
        continue;
      }
      line += fmt::format("/{}", *length);
    }
    const bool six = line.find(':') != std::string::npos || word(1).find(':') != std::string_view::npos;
    if (!word(1).empty()) line += fmt::format(" via {}", word(1));
    for (std::size_t more = 4; more < words.size(); ++more) {
      if (word(more) != "unicast" && !word(more).empty()) line += fmt::format(" {}", word(more));
    }
    const auto family = six ? Family::kIpv6 : Family::kIpv4;
    const auto why = add_route_words(at->inet(family), family, line);
    if (at->inet(family).gateway) at->at.try_emplace(six ? "ipv6.gateway" : "ipv4.gateway", where);
    if (why.empty()) {
      claims.took(where);
    } else {
      claims.miss(where, why);
    }
  }
}

}  // namespace

std::optional<IbName> ib_name(std::string_view name) {
  const auto dot = name.find('.');
  const auto port = name.substr(0, dot);
  const bool numbered = port.size() > 2 && port.starts_with("ib") &&
                        port.find_first_not_of("0123456789", 2) == std::string_view::npos;
  if (!numbered) return std::nullopt;
  if (dot == std::string_view::npos) return IbName{std::string(port), ""};
  const auto key = name.substr(dot + 1);
  if (key.empty() || key.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
    return std::nullopt;
  return IbName{std::string(port), std::string(key)};
}

std::string refused_by_wicked(std::uint64_t pkey) {
  if (pkey >= 0x8000 && pkey < 0xffff) return {};
  return fmt::format("P_Key 0x{:04x} is not within 0x8001 to 0xfffe", pkey);
}

void parse_wicked(std::span<const File> files, Claims& claims) {
  std::vector<Interface> found, others;
  for (const auto& file : files) {
    const auto name = wicked_name(file);
    if (name.ends_with(".xml")) parse_wicked_xml(file, claims);
    if (!name.starts_with("ifcfg-") || name == "ifcfg-lo" || is_leftover(name)) continue;
    Keys keys(file.path, parse_assignments(file), claims);
    Interface out;
    out.where = {file.path, 0};
    out.name = name.substr(6);
    const auto verdict = judge(keys, out.name, claims);
    if (verdict.sort == Verdict::Sort::kRefused) {
      claims.miss(verdict.where, fmt::format("{}: wicked refuses the file", verdict.why));
      continue;
    }
    if (verdict.sort == Verdict::Sort::kOther) {
      if (const auto [key, member] = member_of_ours(keys, claims); !member.empty()) {
        claims.miss(keys.where(key),
                    fmt::format("{} is over {}: bonds, bridges and VLANs cannot be expressed in "
                                "the document, nor can their addresses; keep this file",
                                out.name, member));
      } else {
        claims.pass(verdict.where, verdict.why.empty() ? "is not for InfiniBand" : verdict.why);
      }
      Claims aside;  // its networks only are of use
      Keys again(file.path, parse_assignments(file), aside);
      read_inet(again, out);
      others.push_back(std::move(out));
      continue;
    }
    out.pkey = verdict.pkey;
    out.parent = verdict.parent;
    out.names = out.pkey && !ib_name(out.name);  // made under the name of the file
    read_link(keys, out);
    read_inet(keys, out);
    tell_left_out(keys, claims);
    keys.pass(kIgnoredElements);
    offers(keys, out);
    keys.finish();
    settle(out);
    found.push_back(std::move(out));
  }
  for (const auto& file : files) {
    const auto name = wicked_name(file);
    if (name == "routes") read_routes(file, "", found, others, claims);
    if (name.starts_with("ifroute-")) read_routes(file, name.substr(8), found, others, claims);
  }
  for (auto& interface : found) claims.interfaces.push_back(std::move(interface));
}

}  // namespace rdmacfg::foreign
