// SPDX-License-Identifier: Apache-2.0
// NetworkManager's keyfiles (nm-settings-keyfile(5), nm-settings-nmcli(5)).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <map>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/inet.hpp"
#include "foreign/syntax/gkeyfile.hpp"
#include "kinds/address/nm_keyfile.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

/// "a;b;" and "a,b" as a list.
std::vector<std::string> list_of(std::string_view text) {
  std::string blanks(text);
  std::replace(blanks.begin(), blanks.end(), ';', ' ');
  std::replace(blanks.begin(), blanks.end(), ',', ' ');
  std::vector<std::string> out;
  for (const auto word : words_of(blanks)) out.emplace_back(word);
  return out;
}

/// An address or route as read_one_ip_address_or_route() of nm-keyfile.c takes it: "/", "," and ";" separate
/// the same, and the prefix length may be left out.
struct Fields {
  std::string address, length, gateway, metric;
  bool rest = false;  ///< something behind them, for which NetworkManager drops the whole
};

Fields fields_of(std::string_view text, bool route) {
  std::string commas(text);
  for (auto& c : commas) c = c == '/' || c == ';' ? ',' : c;
  std::vector<std::string> parts;
  for (const auto part : base::split(commas, ',')) parts.emplace_back(base::trim(part));
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  Fields out;
  std::size_t at = 0;
  const auto next = [&] { return at < parts.size() ? parts[at++] : std::string(); };
  out.address = next();
  const bool length = at < parts.size() && !parts[at].empty() &&
                      parts[at].find_first_not_of("0123456789") == std::string::npos;
  if (length) out.length = next();
  out.gateway = next();
  if (route) out.metric = next();
  out.rest = at < parts.size();
  return out;
}

/// Keys of one kind are read in the order of their numbers, "address" before "address0", and of one number
/// "address" before "addresses" (_build_list_create() of nm-keyfile.c).
struct Numbered {
  std::int64_t number = -1;
  bool plural = false;
  std::string key;
  auto operator<=>(const Numbered&) const = default;
};

std::optional<Numbered> numbered_key(std::string_view key, std::string_view base) {
  if (!key.starts_with(base)) return std::nullopt;
  auto rest = key.substr(base.size());
  const std::string_view more = base == "address" ? "es" : "s";
  const bool plural = rest.starts_with(more);
  if (plural) rest.remove_prefix(more.size());
  if (rest.empty()) return Numbered{-1, plural, std::string(key)};
  if (rest.size() > 9 || rest.find_first_not_of("0123456789") != std::string_view::npos ||
      (rest.size() > 1 && rest.front() == '0'))
    return std::nullopt;
  return Numbered{static_cast<std::int64_t>(*base::parse_number(rest)), plural, std::string(key)};
}

/// "128;0;0;109;…", as old versions write it, with ':' and hexadecimal; other spellings as they are.
std::string spelled_address(const std::string& text) {
  if (text.find(';') == std::string::npos) return text;
  std::string out;
  for (const auto& part : list_of(text)) {
    const auto byte = base::parse_number(part);
    if (!byte || *byte > 0xff) return text;
    out += fmt::format("{}{:02x}", out.empty() ? "" : ":", *byte);
  }
  return out;
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
    for (const auto& [where, why] : text_.refused)
      claims_.miss(where, fmt::format("{}; NetworkManager refuses the profile", why));
    for (const auto& [where, why] : text_.ignored) claims_.pass(where, why);
    refuse_blanks();
    out_.name = connection.text("interface-name").value_or("");
    if (connection.flag("autoconnect") == false) out_.state = model::State::kDown;
    connection.mark(out_, "name", "interface-name");
    connection.mark(out_, "state", "autoconnect");
    port_ = connection.has("controller") || connection.has("master");
    if (const auto controller = connection.take(connection.has("controller") ? "controller" : "master"))
      connection.wrong(*controller, "bonds are not part of the document");
    if (const auto zone = connection.take("zone"))
      connection.wrong(*zone,
                       fmt::format("the document does not support firewall zones; bind the interface with "
                                   "firewall-cmd --permanent --zone={} --change-interface",
                                   zone->value));
    if (const auto users = connection.take("permissions"))
      connection.wrong(*users, "the document does not support profiles of single users");
    connection.pass({"type",
                     "id",
                     "uuid",
                     "timestamp",
                     "autoconnect-priority",
                     "autoconnect-retries",
                     "slave-type",
                     "port-type",
                     "autoconnect-slaves",
                     "autoconnect-ports",
                     "multi-connect",
                     "wait-device-timeout",
                     "wait-activation-delay",
                     "auth-retries",
                     "gateway-ping-timeout",
                     "read-only",
                     "metered",
                     "lldp",
                     "llmnr",
                     "mdns",
                     "stable-id"});
    connection.finish();
    infiniband();
    inet("ipv4", Family::kIpv4);
    inet("ipv6", Family::kIpv6);
    Keys match(file_.path, items("match"), claims_);
    match.usual("interface-name", fmt::format("!{};", kinds::kNmChildren));
    match.finish();
    for (const auto& group : text_.groups) {
      const bool known = group.name == "match" || group.name == "connection" || group.name == "infiniband" ||
                         group.name == "ipv4" || group.name == "ipv6";
      if (known || group.name == "proxy" || group.name == "user" || group.items.empty()) continue;
      claims_.miss({file_.path, group.line}, fmt::format("[{}]: is not understood", group.name));
    }
    settle(out_);
    claims_.interfaces.push_back(std::move(out_));
  }

 private:
  /// Words with a blank behind them are others to NetworkManager; of numbers and addresses it takes no
  /// notice.
  void refuse_blanks() {
    constexpr auto kWords =
        std::to_array<std::string_view>({"type", "interface-name", "transport-mode", "parent", "method"});
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
      return claims_.miss(connection.where(key),
                          fmt::format("{} is over {}: bonds are not part of the document, nor are their "
                                      "addresses; keep this profile",
                                      at->first, at->second));
    }
    for (const auto* sort : {"vlan", "macvlan", "bridge", "vrf"}) {
      Claims aside;
      const Keys keys(file_.path, items(sort), aside);
      const auto parent = keys.peek("parent");
      if (parent.empty() || !claims_.knows(parent)) continue;
      return claims_.miss(Keys(file_.path, items(sort), claims_).where("parent"),
                          fmt::format("{} is over {}: it is not part of the document",
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
    if (const auto mode = model::parse_ipoib_mode(word)) {
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
    const auto key = keys.take("p-key");
    const bool wanted = key && key->value != "-1";
    if (wanted) {
      const auto pkey = pkey_of(key->value);
      if (pkey) {
        out_.pkey = *pkey;
      } else {
        refused(keys, "p-key", pkey.error().message);
      }
    }
    if (!out_.parent.empty() && !wanted) {
      keys.tell("parent", "has no effect without p-key");
      out_.parent.clear();
    }
    if (wanted && out_.parent.empty() && keys.peek("mac-address").empty())
      refused(keys, "p-key", "a P_Key without parent and mac-address");
    keys.finish();
  }

  void inet(const std::string& name, Family family) {
    Keys keys(file_.path, items(name), claims_);
    auto& inet = out_.inet(family);
    const auto group = std::find_if(text_.groups.begin(), text_.groups.end(),
                                    [&](const Group& one) { return one.name == name && !one.items.empty(); });
    if (group == text_.groups.end()) {
      // Without the section libnm adds one with method=auto, but to the ports of a bond.
      if (!port_) inet.method = InetMethod::kAuto;
      return;
    }
    const auto method = keys.take("method");
    if (method) {
      const auto& word = method->value;
      if (word == "auto" || (word == "dhcp" && family == Family::kIpv6)) {
        inet.method = InetMethod::kAuto;
      } else if (word == "link-local") {
        inet.method = InetMethod::kLinkLocal;
      } else if (word == "disabled" || word == "ignore") {
        // "ignore" leaves IPv6 to the kernel; a family that the document does not mention is left so, too.
        if (word == "disabled") inet.method = InetMethod::kDisabled;
      } else if (word == "shared") {
        keys.wrong(*method, "shared: the document supports neither address translation nor a DHCP server");
      } else if (word != "manual") {
        refused(keys, "method", fmt::format("{} is not a method of {}", word, name));
      }
    } else {
      out_.broken = true;
      claims_.miss({file_.path, group->line},
                   fmt::format("[{}] without method; NetworkManager refuses the profile", name));
    }
    addresses(keys, inet, family);
    const auto word = method ? method->value : std::string();
    if (word == "manual" && inet.addresses.empty()) refused(keys, "method", "manual without addresses");
    if ((word == "disabled" || word == "ignore" || word == "link-local") && !inet.addresses.empty())
      refused(keys, "method", fmt::format("{} beside addresses", word));
    if (const auto gateway = keys.take("gateway")) {
      if (const auto why = set_gateway(inet, family, gateway->value); !why.empty())
        refused(keys, "gateway", why);
    }
    if (const auto servers = keys.take("dns")) {
      for (const auto& server : gkeyfile_list(servers->value)) {
        const auto address = model::IpAddress::parse(server);
        if (address && address->family == family) {
          inet.dns.push_back(*address);
        } else if (server.find_first_of(", ") != std::string::npos) {
          keys.wrong(*servers,
                     fmt::format("{}: only semicolons separate servers; NetworkManager drops these", server));
        } else {
          keys.wrong(*servers, address
                                   ? fmt::format("{} is not an {} address", server, model::text_of(family))
                                   : address.error().message);
        }
      }
    }
    for (const auto* key : {"method", "gateway", "dns"}) keys.mark(out_, name + "." + key, key);
    keys.mark(out_, name + ".search", "dns-search");
    if (const auto search = keys.take("dns-search")) take_search(keys, *search, inet);
    if (keys.flag("never-default") == true) inet.gateway.reset();
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
    keys.pass({"may-fail", "addr-gen-mode", "dhcp-timeout", "dad-timeout"});
    keys.finish();
  }

  static void take_search(Keys& keys, const Item& search, Inet& inet) {
    for (auto& domain : gkeyfile_list(search.value)) {
      if (domain.find_first_of(", \t") == std::string::npos) {
        inet.search.push_back(std::move(domain));
      } else {
        keys.wrong(search, fmt::format("{}: only semicolons separate domains; NetworkManager takes that for "
                                       "one",
                                       domain));
      }
    }
  }

  /// The handling of offers of a server or router, and of routes that have no metric.
  static void habits(Keys& keys, const Inet& inet) {
    if (inet.method == InetMethod::kAuto) {
      for (const auto* key : {"ignore-auto-dns", "ignore-auto-routes"}) keys.usual(key, "no");
      if (yes_or_no(keys.peek("never-default")) == true) keys.refuse("never-default");
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
  }

  /// address1=192.0.2.1/24,192.0.2.254; addresses1=192.0.2.1;24;192.0.2.254;
  /// route1=198.51.100.0/24,192.0.2.9,5; route1=198.51.100.0/24,,5; all of them without a number, too.
  void addresses(Keys& keys, Inet& inet, Family family) {
    for (const bool route : {false, true}) {
      std::vector<Numbered> found;
      for (const auto& key : keys.left()) {
        if (auto one = numbered_key(key, route ? "route" : "address")) found.push_back(std::move(*one));
      }
      std::sort(found.begin(), found.end());
      bool gateway = false;  // the first that is written counts, even 0.0.0.0
      for (const auto& one : found) {
        const auto item = keys.take(one.key);
        if (!item) continue;
        out_.at.try_emplace(fmt::format("{}.{}", model::text_of(family), route ? "routes" : "addresses"),
                            keys.place(*item));
        const auto why = route ? add_one_route(keys, one.key, item->value, inet, family)
                               : add_one_address(item->value, inet, family, gateway);
        if (!why.empty()) keys.wrong(*item, why);
      }
    }
  }

  /// The network of an address or route, with the length that libnm takes where none is written
  /// (nm-keyfile.c).
  static std::string prefix_of(const Fields& fields, Family family, bool route) {
    const int usual = family == Family::kIpv4 ? 24 : route ? 128 : 64;
    return fmt::format("{}/{}", fields.address,
                       fields.length.empty() ? std::to_string(usual) : fields.length);
  }

  static std::string add_one_address(std::string_view text, Inet& inet, Family family, bool& gateway) {
    const auto fields = fields_of(text, false);
    if (fields.rest) return "more than an address, a length and a gateway; NetworkManager drops it";
    auto why = add_address(inet, family, prefix_of(fields, family, false));
    if (!why.empty() || fields.gateway.empty() || gateway) return why;
    gateway = true;
    return set_gateway(inet, family, fields.gateway);
  }

  std::string add_one_route(Keys& keys, const std::string& key, std::string_view text, Inet& inet,
                            Family family) {
    auto fields = fields_of(text, true);
    if (fields.rest) return "more than a network, a gateway and a metric; NetworkManager drops it";
    // Old versions' form of a route without a gateway (build_route() in nm-keyfile.c).
    if (family == Family::kIpv6 && fields.metric.empty() && base::parse_number(fields.gateway))
      std::swap(fields.gateway, fields.metric);
    auto words = prefix_of(fields, family, true);
    const bool on_link = fields.gateway.empty() || fields.gateway == "0.0.0.0" || fields.gateway == "::";
    if (!on_link) words += " via " + fields.gateway;
    if (!fields.metric.empty()) words += " metric " + fields.metric;
    if (const auto more = keys.take(key + "_options")) {
      for (const auto& option : list_of(more->value)) {
        if (option.starts_with("table=")) {
          words += " table " + option.substr(6);
        } else if (option.starts_with("type=")) {
          const auto why = wrong_type(option.substr(5));
          if (why.empty()) continue;
          keys.wrong(*more, why);
          return {};
        } else {
          keys.wrong(*more, fmt::format("{} is not understood", option));
        }
      }
    }
    // A route with a next hop 0.0.0.0 is not the gateway, even without a metric.
    return add_route_words(inet, family, words);
  }

  const File& file_;
  Claims& claims_;
  GKeyFile text_;
  Interface out_;
  bool port_ = false;  ///< of a bond or the like
};

}  // namespace

void parse_nm(std::span<const File> files, Claims& claims) {
  Keyfile::Uppers uppers;
  for (const auto& file : files) {
    Claims aside;
    Keyfile(file, aside).note_upper(uppers);
  }
  for (const auto& file : files) {
    const auto before = claims.interfaces.size();
    Keyfile(file, claims).parse(uppers);
    // nms-keyfile-utils.c, nms_keyfile_utils_check_file_permissions; a copy elsewhere may have any mode.
    const bool in_place =
        file.path.starts_with("/etc/NetworkManager/") || file.path.starts_with("/run/NetworkManager/");
    if (file.open_to_others && in_place && claims.interfaces.size() > before)
      claims.miss(
          {file.path, 0},
          "was not in force: NetworkManager ignores keyfiles that another user than root owns or others "
          "may read (chmod 600); it is in the document all the same");
  }
}

}  // namespace rdmacfg::foreign
