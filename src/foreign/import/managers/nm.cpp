// SPDX-License-Identifier: Apache-2.0
// NetworkManager's keyfiles (nm-settings-keyfile(5), nm-settings-nmcli(5)).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/managers/nm_addresses.hpp"
#include "foreign/import/managers/nm_conf.hpp"
#include "foreign/inet.hpp"
#include "foreign/syntax/gkeyfile.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

/// "128;0;0;109;…", as old versions write it, with ':' and hexadecimal; other spellings as they are.
std::string spelled_address(const std::string& text) {
  if (text.find(';') == std::string::npos) return text;
  std::string out;
  for (const auto& part : split_nm_list(text)) {
    const auto byte = base::parse_number(part);
    if (!byte || *byte > 0xff) return text;
    out += fmt::format("{}{:02x}", out.empty() ? "" : ":", *byte);
  }
  return out;
}

/// [proxy] as it is without one.
bool has_no_proxy(const Group& group) {
  return group.name == "proxy" && std::all_of(group.items.begin(), group.items.end(), [](const Item& item) {
           const auto value = base::trim(item.value);
           return item.key == "browser-only" || value.empty() ||
                  (item.key == "method" && (value == "0" || value == "none"));
         });
}

class Keyfile {
 public:
  Keyfile(const File& file, Claims& claims) : file_(file), claims_(claims), text_(parse_gkeyfile(file)) {}

  /// Interfaces over profiles of ours, by their words for the parent: an interface, a UUID or an id.
  using Uppers = std::map<std::string, std::string, std::less<>>;

  static bool is_ours(const Keys& connection) { return connection.peek("type") == "infiniband"; }

  /// Adds what the profile is a port of.
  void note_upper(Uppers& uppers) const {
    if (!text_.refused.empty()) return;
    Claims aside;
    const Keys connection(file_.path, items("connection"), aside);
    if (!is_ours(connection)) return;
    for (const auto* key : {"controller", "master"}) {
      const auto name = connection.peek("interface-name");
      if (auto upper = connection.peek(key); !upper.empty())
        uppers.emplace(std::move(upper), name.empty() ? connection.peek("id") : name);
    }
  }

  void parse(const Uppers& uppers) {
    Keys connection(file_.path, items("connection"), claims_);
    const auto type = connection.peek("type");
    if (type != "infiniband") return pass_over(connection, uppers);
    out_.where = {file_.path, 0};
    out_.broken = !text_.refused.empty();
    for (const auto& remark : text_.refused)
      claims_.miss(remark.where, fmt::format("{}; NetworkManager refuses the profile", remark.text));
    for (const auto& remark : text_.ignored) claims_.pass(remark.where, remark.text);
    refuse_blanks();
    for (auto& group : text_.groups) {
      if (group.name == "ipv4" || group.name == "ipv6") drop_spaced_addresses(group);
    }
    take_connection(connection);
    infiniband();
    inet("ipv4", Family::kIpv4);
    inet("ipv6", Family::kIpv6);
    Keys match(file_.path, items("match"), claims_);
    match.usual("interface-name", fmt::format("!{};", kinds::kNmChildren));
    match.finish();
    for (const auto& group : text_.groups) {
      const bool known = group.name == "match" || group.name == "connection" || group.name == "infiniband" ||
                         group.name == "ipv4" || group.name == "ipv6";
      if (known || has_no_proxy(group) || group.name == "user" || group.items.empty()) continue;
      claims_.miss({file_.path, group.line}, fmt::format("[{}]: is not supported", group.name));
    }
    if (vrf_ && drop_routes_of_vrf(out_, of_tables_)) claims_.miss(*vrf_, std::string(kVrfRoutes));
    settle(out_);
    claims_.interfaces.push_back(std::move(out_));
  }

 private:
  /// Of other words than these four NetworkManager takes no notice (g_key_file_get_boolean()).
  static std::optional<bool> truth_of(Keys& keys, std::string_view key) {
    const auto item = keys.take_unescaped(key);
    if (!item) return std::nullopt;
    if (item->value == "true" || item->value == "1") return true;
    if (item->value == "false" || item->value == "0") return false;
    keys.wrong(*item,
               fmt::format("{} is neither true nor false; NetworkManager ignores the key", item->value));
    return std::nullopt;
  }

  void take_connection(Keys& connection) {
    out_.name = connection.text("interface-name").value_or("");
    if (truth_of(connection, "autoconnect") == false) out_.state = model::State::kDown;
    connection.mark(out_, "name", "interface-name");
    connection.mark(out_, "state", "autoconnect");
    take_controller(connection);
    if (const auto zone = connection.take("zone"))
      connection.wrong(*zone,
                       fmt::format("the document does not support firewall zones; bind the interface with "
                                   "firewall-cmd --permanent --zone={} --change-interface",
                                   zone->value));
    if (const auto users = connection.take("permissions"))
      connection.wrong(*users, "the document does not support profiles of single users");
    connection.pass({"type", "id", "uuid", "timestamp", "autoconnect-priority", "autoconnect-retries",
                     "slave-type", "port-type", "autoconnect-slaves", "autoconnect-ports", "multi-connect",
                     "wait-device-timeout", "wait-activation-delay", "auth-retries", "read-only", "metered",
                     "lldp", "stable-id"});
    if (const auto wait = connection.take("gateway-ping-timeout"); wait && wait->value != "0")
      claims_.pass(connection.place(*wait),
                   "gateway-ping-timeout: NetworkManager alone waits until the gateway answers");
    // systemd-resolved applies these to the interface; -1 leaves its default.
    for (const auto* key : {"llmnr", "mdns"}) connection.usual(key, "-1");
    connection.finish();
  }

  /// A VRF leaves its ports their addresses, unlike a bond (_supports_addr_family() in nm-connection.c).
  void take_controller(Keys& connection) {
    const auto controller = connection.take(connection.has("controller") ? "controller" : "master");
    if (!controller) return;
    const bool vrf = connection.peek("slave-type") == "vrf" || connection.peek("port-type") == "vrf";
    port_ = !vrf;
    connection.wrong(*controller, vrf ? kVrf : "bonds cannot be expressed in the document");
    if (vrf) vrf_ = connection.place(*controller);
  }

  /// Words and gateways with a blank behind them are others to NetworkManager; of blanks behind numbers it
  /// takes no notice.
  void refuse_blanks() {
    constexpr auto kWords = std::to_array<std::string_view>(
        {"type", "interface-name", "transport-mode", "parent", "method", "gateway"});
    for (const auto& group : text_.groups) {
      const bool ours = group.name == "connection" || group.name == "infiniband" || group.name == "ipv4" ||
                        group.name == "ipv6";
      for (const auto& item : group.items) {
        const bool word = std::find(kWords.begin(), kWords.end(), item.key) != kWords.end();
        if (!ours || !word || !(item.value.ends_with(' ') || item.value.ends_with('\t'))) continue;
        out_.broken = true;
        --claims_.understood[file_.path];
        claims_.miss(
            {file_.path, item.line},
            fmt::format("{}: the value ends with a blank; NetworkManager refuses the profile", item.key));
      }
    }
  }

  /// A profile for something else; named where that stands over an interface of ours.
  void pass_over(const Keys& connection, const Uppers& uppers) {
    for (const auto* key : {"interface-name", "uuid", "id"}) {
      const auto at = uppers.find(connection.peek(key));
      if (at == uppers.end()) continue;
      return claims_.miss(
          connection.where(key),
          fmt::format("{} is over {}: bonds cannot be expressed in the document, nor can their "
                      "addresses; keep this profile",
                      at->first, at->second));
    }
    for (const auto* sort : {"vlan", "macvlan", "bridge", "vrf"}) {
      Claims aside;
      const Keys keys(file_.path, items(sort), aside);
      const auto parent = keys.peek("parent");
      if (parent.empty() || !claims_.knows(parent)) continue;
      return claims_.miss(Keys(file_.path, items(sort), claims_).where("parent"),
                          fmt::format("{} is over {}: cannot be expressed in the document",
                                      connection.peek("interface-name"), parent));
    }
    claims_.pass({file_.path, 0}, "is not for InfiniBand");
  }

  /// NetworkManager refuses the whole profile for such a thing: then it was not in force, and is left out.
  void refused(Keys& keys, std::string_view key, const std::string& why) {
    out_.broken = true;
    if (const auto item = keys.take(key)) {
      keys.wrong(*item, fmt::format("{}; NetworkManager refuses the profile", why));
    } else {
      claims_.miss(keys.where(key), fmt::format("{}: {}; NetworkManager refuses the profile", key, why));
    }
  }

  /// NetworkManager calls a P_Key interface PARENT.PKEY, as the P_Key is written
  /// (nm_setting_infiniband_get_virtual_interface_name()), since 1.44 whatever name the profile has.
  void drop_other_name(std::string_view pkey) {
    const auto number = base::parse_number(pkey);
    if (out_.name.empty() || !number) return;
    const auto made = fmt::format("{}.{:04x}", out_.parent, *number).substr(0, model::kInterfaceNameMax);
    if (!out_.parent.empty() && out_.name == made) return;
    out_.name.clear();
    --claims_.understood[file_.path];
    claims_.miss(Keys(file_.path, items("connection"), claims_).where("interface-name"),
                 fmt::format("interface-name: {}; before 1.44 it refuses the profile",
                             out_.parent.empty() ? "NetworkManager names an interface without parent itself"
                                                 : "NetworkManager calls the interface " + made));
  }

  [[nodiscard]] std::vector<Item> items(std::string_view name) const {
    std::vector<Item> out;
    for (const auto& group : text_.groups) {
      if (group.name == name) out.insert(out.end(), group.items.begin(), group.items.end());
    }
    return out;
  }

  void infiniband() {
    Keys keys(file_.path, items("infiniband"), claims_);
    // nm-setting-infiniband.c, verify()
    const auto word = keys.peek("transport-mode");
    if (const auto mode = model::parse_named_mode(word)) {
      keys.pass({"transport-mode"});
      out_.mode = *mode;
    } else {
      refused(keys, "transport-mode",
              word.empty() ? "it must be datagram or connected" : mode.error().message);
    }
    const auto mtu = keys.peek("mtu");
    if (mtu == "0" || mtu == "auto") {
      keys.pass({"mtu"});
    } else {
      out_.mtu = keys.number("mtu", model::kMtuConnectedMax);
    }
    keys.mark(out_, "mode", "transport-mode");
    keys.mark(out_, "mtu", "mtu");
    if (const auto address = keys.take("mac-address")) {
      const auto guid = guid_of_address(spelled_address(address->value));
      if (guid) {
        out_.guid = *guid;
      } else {
        keys.wrong(*address, guid.error().message);  // which NetworkManager drops
      }
    }
    out_.parent = keys.text("parent").value_or("");
    const auto key = keys.take_unescaped("p-key");
    const bool wanted = key && key->value != "-1";
    if (wanted) {
      const auto pkey = pkey_of(key->value);
      if (pkey) {
        out_.pkey = *pkey;
        drop_other_name(key->value);
      } else {
        refused(keys, "p-key", pkey.error().message);
      }
    }
    if (!out_.parent.empty() && !wanted) {
      keys.tell("parent", "has no effect without p-key; NetworkManager 1.54 and newer refuse the profile");
      out_.parent.clear();
    }
    if (wanted && out_.parent.empty() && keys.peek("mac-address").empty())
      refused(keys, "p-key", "a P_Key without parent and mac-address");
    keys.finish();
  }

  void inet(const std::string& name, Family family) {
    Keys keys(file_.path, items(name), claims_);
    auto& inet = out_.inet(family);
    if (port_) {
      for (const auto& key : keys.left()) {
        const bool route = key.starts_with("route") && !key.starts_with("route-");
        if (key.starts_with("address") || route || key == "gateway")
          keys.tell(key,
                    "has no effect: the interface is a port, and the addresses belong to its controller");
      }
      return keys.pass({"*"});
    }
    const auto group = std::find_if(text_.groups.begin(), text_.groups.end(), [&](const Group& section) {
      return section.name == name && !section.items.empty();
    });
    if (group == text_.groups.end()) {
      // Without the section libnm adds one with method=auto, but to the ports of a bond.
      inet.method = InetMethod::kAuto;
      return;
    }
    const auto method = keys.take("method");
    if (method) {
      take_method(keys, *method, name, inet, family);
    } else {
      out_.broken = true;
      claims_.miss({file_.path, group->line},
                   fmt::format("[{}] without method; NetworkManager refuses the profile", name));
    }
    take_nm_addresses(keys, out_, vrf_ ? &of_tables_ : nullptr, family);
    const auto word = method ? method->value : std::string();
    if (word == "manual" && inet.addresses.empty()) refused(keys, "method", "manual without addresses");
    if ((word == "disabled" || word == "ignore" || word == "link-local") && !inet.addresses.empty())
      refused(keys, "method", fmt::format("{} beside addresses", word));
    if (const auto gateway = keys.take("gateway")) {
      if (const auto why = set_gateway(inet, family, gateway->value); !why.empty())
        refused(keys, "gateway", why);
    }
    if (const auto servers = keys.take("dns")) take_servers(keys, *servers, inet, family);
    for (const auto* key : {"method", "gateway", "dns"}) keys.mark(out_, name + "." + key, key);
    keys.mark(out_, name + ".search", "dns-search");
    if (const auto search = keys.take("dns-search")) take_search(keys, *search, inet);
    if (truth_of(keys, "never-default") == true) {
      inet.gateway.reset();
      if (inet.method == InetMethod::kAuto) keys.refuse("never-default");
    }
    const bool none = word == "disabled" || word == "ignore";
    if (none && !out_.broken &&
        !(inet.addresses.empty() && !inet.gateway && inet.routes.empty() && inet.dns.empty())) {
      keys.wrong(*method, fmt::format("{}: the addresses, routes and name servers beside it are not in force",
                                      method->value));
      const auto kept = inet.method;
      inet = {};
      inet.method = kept;
    }
    habits(keys, inet);
    tell_stable_address(keys, inet);
    keys.pass({"may-fail", "addr-gen-mode", "dhcp-timeout"});
    keys.finish();
  }

  void tell_stable_address(Keys& keys, const Inet& inet) {
    if (inet.method != InetMethod::kAuto && inet.method != InetMethod::kLinkLocal) return;
    const auto mode = keys.take("addr-gen-mode");
    if (!mode || !names_stable_address(mode->value)) return;
    claims_.pass(keys.place(*mode), fmt::format("addr-gen-mode: {}: {}", mode->value, kKernelAddresses));
    const Keys connection(file_.path, items("connection"), claims_);
    if (connection.has("stable-id"))
      claims_.pass(connection.where("stable-id"),
                   "stable-id: concerns only addresses that NetworkManager generates");
  }

  void take_method(Keys& keys, const Item& method, const std::string& section, Inet& inet, Family family) {
    const auto& word = method.value;
    if (word == "auto" || (word == "dhcp" && family == Family::kIpv6)) {
      inet.method = InetMethod::kAuto;
    } else if (word == "link-local") {
      inet.method = InetMethod::kLinkLocal;
    } else if (word == "disabled" || word == "ignore") {
      // "ignore" leaves IPv6 to the kernel; a family that the document does not mention is left so, too.
      if (word == "disabled") inet.method = InetMethod::kDisabled;
    } else if (word == "shared") {
      keys.wrong(method, "shared: the document supports neither address translation nor a DHCP server");
    } else if (word != "manual") {
      refused(keys, "method", fmt::format("{} is not a method of {}", word, section));
    }
  }

  static void take_servers(Keys& keys, const Item& servers, Inet& inet, Family family) {
    for (const auto& server : gkeyfile_list(servers.value)) {
      const auto address = model::IpAddress::parse(server);
      if (address && address->family == family) {
        inet.dns.push_back(*address);
      } else if (server.find_first_of(", ") != std::string::npos) {
        keys.wrong(servers,
                   fmt::format("{}: only semicolons separate servers; NetworkManager drops these", server));
      } else {
        keys.wrong(servers, address ? fmt::format("{} is not an {} address", server, model::text_of(family))
                                    : address.error().message);
      }
    }
  }

  static void take_search(Keys& keys, const Item& search, Inet& inet) {
    for (auto& domain : gkeyfile_list(search.value)) {
      if (domain.find_first_of(", \t") == std::string::npos) {
        inet.search.push_back(std::move(domain));
      } else {
        keys.wrong(
            search,
            fmt::format("{}: only semicolons separate domains; NetworkManager reads them as one", domain));
      }
    }
  }

  /// The handling of offers of a server or router, and of routes that have no metric.
  static void habits(Keys& keys, const Inet& inet) {
    if (inet.method == InetMethod::kAuto) {
      for (const auto* key : {"ignore-auto-dns", "ignore-auto-routes"}) keys.usual(key, "no");
      keys.refuse("dhcp-client-id");
      // -1 is what the host has, and 0 what Linux does by itself; others make temporary addresses.
      if (const auto privacy = keys.peek("ip6-privacy"); privacy != "-1") keys.usual("ip6-privacy", "0");
      keys.pass({"ip6-privacy"});
    } else {
      keys.pass({"ignore-auto-dns", "ignore-auto-routes", "dhcp-client-id", "ip6-privacy"});
    }
    const bool routes = inet.method == InetMethod::kAuto || inet.gateway || !inet.routes.empty();
    if (routes) keys.usual("route-metric", "-1");
    keys.pass({"route-metric"});
    // 0 asks no other host, as without NetworkManager.
    if (keys.peek("dad-timeout") == "0") return keys.pass({"dad-timeout"});
    keys.usual("dad-timeout", "-1");
  }

  const File& file_;
  Claims& claims_;
  GKeyFile text_;
  Interface out_;
  bool port_ = false;         ///< of a bond or the like
  std::optional<Place> vrf_;  ///< where it says the VRF that the interface belongs to
  Interface of_tables_;       ///< the routes with a table of their own, beside that
};

}  // namespace

void parse_nm(std::span<const File> files, Claims& claims) {
  Keyfile::Uppers uppers;
  for (const auto& file : files) {
    Claims aside;
    if (!is_nm_conf(file)) Keyfile(file, aside).note_upper(uppers);
  }
  for (const auto& file : files) {
    if (is_nm_conf(file)) continue;
    const auto before = claims.interfaces.size();
    Keyfile(file, claims).parse(uppers);
    // nms-keyfile-utils.c, nms_keyfile_utils_check_file_permissions; a copy elsewhere may have any mode.
    const bool in_place =
        file.path.starts_with("/etc/NetworkManager/") || file.path.starts_with("/run/NetworkManager/");
    if (file.open_to_others && in_place && claims.interfaces.size() > before)
      claims.miss({file.path, 0},
                  "was not in force: NetworkManager ignores keyfiles that are not owned by root or that "
                  "others may read (chmod 600); it is in the document nevertheless");
  }
  tell_nm_conf(files, claims);
}

}  // namespace rdmacfg::foreign
