// SPDX-License-Identifier: Apache-2.0
// NetworkManager's keyfiles (nm-settings-keyfile(5), nm-settings-nmcli(5)).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "foreign/formats.hpp"
#include "foreign/inet.hpp"
#include "kinds/nm_keyfile.hpp"

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

/// "10.10.0.0/16,,200": what stands between the separators, also where that is nothing.
std::vector<std::string> fields_of(std::string_view text) {
  std::string commas(text);
  std::replace(commas.begin(), commas.end(), ';', ',');
  std::vector<std::string> out;
  for (const auto field : base::split(commas, ',')) out.emplace_back(base::trim(field));
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
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

/// An address or a network; without a length that of libnm's DEFAULT_PREFIX (nm-keyfile.c).
std::string with_length(const std::string& text, Family family, bool route) {
  if (text.find('/') != std::string::npos) return text;
  return fmt::format("{}/{}", text, family == Family::kIpv4 ? 24 : route ? 128 : 64);
}

class Keyfile {
 public:
  Keyfile(const File& file, Claims& claims)
      : file_(file), claims_(claims), groups_(parse_groups(file, claims)) {}

  void parse() {
    Keys connection(file_.path, items("connection"), claims_);
    const auto type = connection.peek("type");
    if (type != "infiniband") {
      claims_.pass({file_.path, 0}, "is not for InfiniBand");
      return;
    }
    out_.where = {file_.path, 0};
    out_.name = connection.text("interface-name").value_or("");
    if (connection.flag("autoconnect") == false) out_.state = model::State::kDown;
    if (const auto controller = connection.take(connection.has("controller") ? "controller" : "master"))
      connection.wrong(*controller, "bonds are not part of the document");
    connection.pass({"type", "id", "uuid", "timestamp", "permissions", "autoconnect-priority",
                     "autoconnect-retries", "zone", "slave-type", "port-type", "autoconnect-slaves",
                     "autoconnect-ports", "multi-connect", "wait-device-timeout"});
    connection.finish();
    infiniband();
    inet("ipv4", Family::kIpv4);
    inet("ipv6", Family::kIpv6);
    Keys match(file_.path, items("match"), claims_);
    match.usual("interface-name", fmt::format("!{};", kinds::kNmChildren));
    match.finish();
    for (const auto& group : groups_) {
      const bool known = group.name == "match" || group.name == "connection" || group.name == "infiniband" ||
                         group.name == "ipv4" || group.name == "ipv6";
      if (known || group.name == "proxy" || group.name == "user" || group.items.empty()) continue;
      claims_.miss({file_.path, group.line}, fmt::format("[{}]: is not understood", group.name));
    }
    settle(out_);
    claims_.interfaces.push_back(std::move(out_));
  }

 private:
  [[nodiscard]] std::vector<Item> items(std::string_view name) const {
    std::vector<Item> out;
    for (const auto& group : groups_) {
      if (group.name == name) out.insert(out.end(), group.items.begin(), group.items.end());
    }
    return out;
  }

  void infiniband() {
    Keys keys(file_.path, items("infiniband"), claims_);
    if (const auto mode = keys.take("transport-mode")) {
      const auto parsed = model::parse_ipoib_mode(mode->value);
      if (parsed) {
        out_.mode = *parsed;
      } else {
        keys.wrong(*mode, parsed.error().message);
      }
    }
    const auto mtu = keys.peek("mtu");
    if (mtu == "0" || mtu == "auto") {
      keys.pass({"mtu"});
    } else {
      out_.mtu = keys.number("mtu", model::kMtuConnectedMax);
    }
    if (const auto address = keys.take("mac-address")) {
      const auto guid = guid_of_address(spelled_address(address->value));
      if (guid) {
        out_.guid = *guid;
      } else {
        keys.wrong(*address, guid.error().message);
      }
    }
    out_.parent = keys.text("parent").value_or("");
    const auto key = keys.take("p-key");
    if (key && key->value != "-1") {
      const auto pkey = pkey_of(key->value);
      if (pkey) {
        out_.pkey = *pkey;
      } else {
        out_.broken = true;
        keys.wrong(*key, pkey.error().message);
      }
    }
    keys.finish();
  }

  void inet(const std::string& name, Family family) {
    Keys keys(file_.path, items(name), claims_);
    auto& inet = out_.inet(family);
    const auto method = keys.take("method");
    if (method) {
      const auto& word = method->value;
      if (word == "auto" || word == "dhcp") {
        inet.method = InetMethod::kAuto;
      } else if (word == "link-local") {
        inet.method = InetMethod::kLinkLocal;
      } else if (word == "disabled" || word == "ignore") {
        // "ignore" leaves IPv6 to the kernel; a family that the document does not mention is left so, too.
        if (word == "disabled") inet.method = InetMethod::kDisabled;
      } else if (word != "manual") {
        keys.wrong(*method, fmt::format("{} is not understood", word));
      }
    }
    for (const auto& key : keys.left()) numbered(keys, key, inet, family);
    if (const auto gateway = keys.take("gateway"))
      report(keys, *gateway, set_gateway(inet, family, gateway->value));
    if (const auto servers = keys.take("dns")) {
      for (const auto& server : list_of(servers->value)) {
        const auto address = model::IpAddress::parse(server);
        if (address) {
          inet.dns.push_back(*address);
        } else {
          keys.wrong(*servers, address.error().message);
        }
      }
    }
    if (const auto search = keys.take("dns-search")) inet.search = list_of(search->value);
    if (keys.flag("never-default") == true) inet.gateway.reset();
    const bool none = method && (method->value == "disabled" || method->value == "ignore");
    if (none && !(inet.addresses.empty() && !inet.gateway && inet.routes.empty() && inet.dns.empty())) {
      keys.wrong(*method, fmt::format("{}: the addresses, routes and name servers beside it are not in force",
                                      method->value));
      const auto kept = inet.method;
      inet = {};
      inet.method = kept;
    }
    habits(keys, inet);
    keys.pass({"may-fail", "addr-gen-mode", "ip6-privacy", "dhcp-timeout", "dad-timeout"});
    keys.finish();
  }

  /// What is done with that which a server or router offers, and with routes that have no metric.
  static void habits(Keys& keys, const Inet& inet) {
    if (inet.method == InetMethod::kAuto) {
      for (const auto* key : {"ignore-auto-dns", "ignore-auto-routes"}) keys.usual(key, "no");
      if (yes_or_no(keys.peek("never-default")) == true) keys.refuse("never-default");
      keys.refuse("dhcp-client-id");
    } else {
      keys.pass({"ignore-auto-dns", "ignore-auto-routes", "dhcp-client-id"});
    }
    const bool routes = inet.method == InetMethod::kAuto || inet.gateway || !inet.routes.empty();
    if (routes) keys.usual("route-metric", "-1");
    keys.pass({"route-metric"});
  }

  /// address1=192.0.2.1/24,192.0.2.254; addresses1=192.0.2.1;24;192.0.2.254;
  /// route1=198.51.100.0/24,192.0.2.9,5; route1=198.51.100.0/24,,5
  void numbered(Keys& keys, const std::string& key, Inet& inet, Family family) {
    const bool options = key.ends_with("_options");
    const bool address = key.starts_with("address"), route = key.starts_with("route") && !options;
    const auto digits = key.find_first_of("0123456789");
    if ((!address && !route) || digits == std::string::npos) return;
    const auto item = keys.take(key);
    if (!item) return;
    auto parts = fields_of(item->value);
    const bool old = item->value.find(';') != std::string::npos && parts.size() > 1 &&
                     parts.front().find('/') == std::string::npos;
    if (old) {
      parts.front() += "/" + parts[1];
      parts.erase(parts.begin() + 1);
    }
    if (parts.empty()) return;
    parts.front() = with_length(parts.front(), family, route);
    if (address) {
      report(keys, *item, add_address(inet, family, parts.front()));
      if (parts.size() > 1 && !parts[1].empty()) report(keys, *item, set_gateway(inet, family, parts[1]));
      return;
    }
    auto words = parts.front();
    const bool on_link = parts.size() > 1 && (parts[1].empty() || parts[1] == "0.0.0.0" || parts[1] == "::");
    if (parts.size() > 1 && !on_link) words += " via " + parts[1];
    if (parts.size() > 2 && !parts[2].empty()) words += " metric " + parts[2];
    if (const auto more = keys.take(key + "_options")) {
      for (const auto& option : list_of(more->value)) {
        if (option.starts_with("table=")) {
          words += " table " + option.substr(6);
        } else if (option.starts_with("type=")) {
          const auto why = wrong_type(option.substr(5));
          if (why.empty()) continue;
          report(keys, *more, why);
          return;
        } else {
          keys.wrong(*more, fmt::format("{} is not understood", option));
        }
      }
    }
    // A route with a next hop 0.0.0.0 is not the gateway, even without a metric.
    report(keys, *item, add_route_words(inet, family, words));
  }

  static void report(Keys& keys, const Item& item, const std::string& why) {
    if (!why.empty()) keys.wrong(item, why);
  }

  const File& file_;
  Claims& claims_;
  std::vector<Group> groups_;
  Interface out_;
};

}  // namespace

void parse_nm(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    const auto before = claims.interfaces.size();
    Keyfile(file, claims).parse();
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
