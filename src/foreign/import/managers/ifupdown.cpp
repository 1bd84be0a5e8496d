// SPDX-License-Identifier: Apache-2.0
// Debian's interfaces(5).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "foreign/import/boot/script_modules.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/managers/ifupdown_hooks.hpp"
#include "foreign/import/managers/ifupdown_sources.hpp"
#include "foreign/inet.hpp"
#include "foreign/syntax/shell_loops.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

struct Stanza {
  std::string name;
  std::string family;
  std::string method;
  std::string heir_of;  ///< the stanza that it inherits the lines of
  Place where;
  std::vector<Item> lines;  ///< key: first word; value: the rest
  std::vector<Hook> hooks;
};

/// "ib0:1" is what old tools call a further address of ib0.
std::string without_label(std::string_view name) { return std::string(name.substr(0, name.find(':'))); }

class Interfaces {
 public:
  Interfaces(std::span<const File> files, Claims& claims) : files_(files), claims_(claims) {}

  void read(const File& file) {
    int number = 0, first = 0;
    std::string joined;
    bool inside = false;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      if (joined.empty()) first = number;
      auto line = base::trim(raw);
      if (joined.empty() && (line.empty() || line.front() == '#')) continue;
      if (line.ends_with('\\')) {
        joined += std::string(line.substr(0, line.size() - 1)) + ' ';
        continue;
      }
      joined += line;
      const auto words = words_of(joined);
      if (!words.empty()) statement(file, first, words, joined, inside);
      joined.clear();
    }
  }

  [[nodiscard]] const Sources& sources() const { return sources_; }

  void finish() {
    inherit();
    find_ipoib();
    std::map<std::string, Interface, std::less<>> found;
    std::vector<Hook> hooks;
    for (auto& stanza : stanzas_) {
      if (bases_.contains(stanza.name)) {
        claims_.pass(stanza.where, fmt::format("{} is read with those that inherit it", stanza.name));
        continue;
      }
      if (!ipoib_.contains(stanza.name)) {
        pass_over(stanza);
        for (auto& hook : stanza.hooks) {
          if (!is_of_ipoib(hook)) {
            tell_modules(stanza.name, hook);
            continue;
          }
          claims_.took(hook.where);
          hooks.push_back(std::move(hook));
        }
        continue;
      }
      auto& out = found[stanza.name];
      if (out.name.empty()) {
        out.name = stanza.name;
        out.where = stanza.where;
        if (!started_.contains(stanza.name)) out.state = model::State::kDown;
      }
      claims_.took(stanza.where);
      take(stanza, out);
      for (auto& hook : stanza.hooks) {
        claims_.took(hook.where);
        hooks.push_back(std::move(hook));
      }
    }
    // The commands run when the interface is there, and may speak of other interfaces.
    for (const auto& hook : hooks) {
      const auto of_module = take_modules(hook);
      auto why = take_hook(hook, found);
      if (why.empty()) why = of_module;
      if (why.empty()) continue;
      --claims_.understood[hook.where.file];
      claims_.miss(hook.where, fmt::format("{}: {}", hook.key, why));
    }
    for (auto& [name, interface] : found) {
      if (const auto parent = parent_of(name); !interface.pkey && !parent.empty()) {
        if (const auto pkey = pkey_of("0x" + name.substr(parent.size() + 1))) {
          interface.pkey = *pkey;
          interface.parent = parent;
        }
      }
      place_search(interface);
      settle(interface);
      claims_.interfaces.push_back(std::move(interface));
    }
  }

 private:
  /// The modules of RDMA that a command loads. @return why one cannot become [[module]]; empty: none
  std::string take_modules(const Hook& hook) {
    if (hook.key.ends_with("down")) return {};  // at the next boot they are loaded again
    const auto calls = modprobe_calls_in(hook.command, hook.own);
    for (const auto& module : calls.modules)
      claims_.entry("module", {{"name", loaded_for(module)}}, hook.where);
    return calls.why;
  }

  /// Those of another interface's stanza that comes up at boot.
  void tell_modules(const std::string& stanza, const Hook& hook) {
    if (!started_.contains(stanza) || hook.key.ends_with("down")) return;
    if (const auto why = take_modules(hook); !why.empty()) {
      claims_.miss(hook.where, fmt::format("{}: {}", hook.key, why));
    } else if (!modprobe_calls_in(hook.command, hook.own).modules.empty()) {
      claims_.took(hook.where);
    }
  }

  void statement(const File& file, int line, const std::vector<std::string_view>& words,
                 std::string_view whole, bool& inside) {
    const Place where{file.path, line};
    const auto word = words.front();
    if (word == "auto" || word.starts_with("allow-")) {
      inside = false;
      for (std::size_t at = 1; at < words.size(); ++at) {
        started_.insert(without_label(words[at]));
        mapped(words[at], where);
      }
      claims_.took(where);
    } else if (word == "iface") {
      // ifupdown2 and ifupdown-ng take a stanza without family and method: both are in its lines.
      const bool newer = words.size() == 2 || (words.size() == 4 && words[2] == "inherits");
      inside = words.size() >= 4 || newer;
      if (newer) {
        mapped(words[1], where);
        stanzas_.push_back({without_label(words[1]),
                            "",
                            "static",
                            std::string(words.size() == 4 ? words[3] : std::string_view()),
                            where,
                            {},
                            {}});
      } else if (inside) {
        mapped(words[1], where);
        const bool heir = words.size() >= 6 && words[4] == "inherits";
        stanzas_.push_back({without_label(words[1]),
                            std::string(words[2]),
                            std::string(words[3]),
                            std::string(heir ? words[5] : std::string_view()),
                            where,
                            {},
                            {}});
      } else {
        claims_.miss(where, "iface needs a name, a family and a method");
      }
    } else if (word == "source" || word == "source-directory") {
      inside = false;
      sources_.add(where, words, files_, claims_);
    } else if (inside && word != "mapping") {
      auto& stanza = stanzas_.back();
      const auto rest = base::trim(base::trim(whole).substr(word.size()));
      if (is_hook(word)) {
        const auto family = stanza.family == "inet6" ? Family::kIpv6 : Family::kIpv4;
        stanza.hooks.push_back({where, std::string(word), spell_out_tee(rest), stanza.name, family});
      } else {
        stanza.lines.push_back({std::string(word), std::string(rest), line});
      }
    } else {
      inside = false;
      claims_.miss(where, fmt::format("{}: is not supported", word));
    }
  }

  /// "/mlx4*", "/mlx4*=fab" and "mlx4_ib0=fab": interfaces that are not called as their stanza.
  void mapped(std::string_view word, const Place& where) {
    const auto equals = word.find('=');
    const bool pattern = word.starts_with('/');
    if (!pattern && equals == std::string_view::npos) return;
    auto name = word.substr(0, equals);
    if (pattern) name = name.substr(1, name.find('/', 1) - 1);
    if (!claims_.knows(name)) return;
    claims_.miss(where, fmt::format("{}: write a stanza for each interface, by its name", word));
    mapped_.insert(without_label(word));
    if (equals != std::string_view::npos) mapped_.insert(without_label(word.substr(equals + 1)));
  }

  /// The lines of the stanza that one names come before its own (interfaces(5), "inherits"); of a key that it
  /// has itself only its own count.
  void inherit() {
    constexpr int kGenerations = 8;
    constexpr std::size_t kMostInherited = 20'000;
    const auto written = stanzas_;
    std::map<std::pair<std::string_view, std::string_view>, const Stanza*> places;  // by name and family
    for (const auto& stanza : written) places.try_emplace({stanza.name, stanza.family}, &stanza);
    std::size_t inherited = 0;
    for (auto& heir : stanzas_) {
      auto from = heir.heir_of;
      for (int depth = 0; !from.empty() && depth < kGenerations; ++depth) {
        const auto at = places.find({from, heir.family});
        const auto* base = at == places.end() ? nullptr : at->second;
        if (base == nullptr || (inherited += base->lines.size() + base->hooks.size()) > kMostInherited) {
          claims_.miss(heir.where, fmt::format("inherits {}: {}", from,
                                               base == nullptr ? "there is no such stanza of its family"
                                                               : "too many lines in all"));
          break;
        }
        add_lines(heir, *base);
        if (!started_.contains(from) && !claims_.knows(from)) bases_.insert(from);
        from = base->heir_of;
      }
    }
  }

  static void add_lines(Stanza& heir, const Stanza& base) {
    std::vector<Item> lines;
    std::set<std::string_view> said;
    for (const auto& own : heir.lines) said.insert(own.key);
    for (const auto& line : base.lines) {
      if (!said.contains(line.key)) lines.push_back({line.key, line.value, line.line, base.where.file});
    }
    heir.lines.insert(heir.lines.begin(), lines.begin(), lines.end());
    auto hooks = base.hooks;
    for (auto& hook : hooks) hook.own = heir.name;
    heir.hooks.insert(heir.hooks.begin(), hooks.begin(), hooks.end());
  }

  /// "ib0" of "ib0.8002", the kernel's name of a P_Key interface; empty when it is not such a name.
  static std::string parent_of(std::string_view name) {
    const auto dot = name.rfind('.');
    const bool is_child = dot != std::string_view::npos && name.size() - dot == 5 &&
                          name.find_first_not_of("0123456789abcdefABCDEF", dot + 1) == std::string_view::npos;
    return std::string(is_child ? name.substr(0, dot) : std::string_view());
  }

  /// A stanza that is none of ours, unless it is of a bond, bridge or VLAN over one of ours.
  void pass_over(const Stanza& stanza) {
    if (mapped_.contains(stanza.name)) return;
    for (const auto& line : stanza.lines) {
      constexpr auto kMembers = std::to_array<std::string_view>({"bond-slaves", "bond_slaves", "bond-ports",
                                                                 "slaves", "bridge-ports", "bridge_ports",
                                                                 "vlan-raw-device", "vlan_raw_device"});
      if (std::find(kMembers.begin(), kMembers.end(), line.key) == kMembers.end()) continue;
      for (const auto member : words_of(line.value)) {
        if (!ipoib_.contains(member) && !claims_.knows(member)) continue;
        return claims_.miss(
            {stanza.where.file, line.line},
            fmt::format("{} is over {}: bonds, bridges and VLANs cannot be expressed in the document",
                        stanza.name, member));
      }
    }
    claims_.pass(stanza.where, fmt::format("{} is not for InfiniBand", stanza.name));
  }

  /// Whether the interface is to have an address of 20 bytes, as IPoIB alone has.
  static bool has_ipoib_address(const Stanza& stanza) {
    return std::any_of(stanza.lines.begin(), stanza.lines.end(), [](const Item& line) {
      const auto words = words_of(line.value);
      return line.key == "hwaddress" && !words.empty() && guid_of_address(words.back());
    });
  }

  /// Which stanzas are of IPoIB: by their names, addresses and commands, and as children of such.
  void find_ipoib() {
    for (const auto& stanza : stanzas_) {
      if (bases_.contains(stanza.name)) continue;
      if (claims_.knows(stanza.name) || renames_child(stanza.hooks) || has_ipoib_address(stanza) ||
          std::any_of(stanza.hooks.begin(), stanza.hooks.end(), shows_ipoib))
        ipoib_.insert(stanza.name);
    }
    for (const auto& stanza : stanzas_) {
      const auto parent = parent_of(stanza.name);
      if (!parent.empty() && (claims_.knows(parent) || ipoib_.contains(parent))) ipoib_.insert(stanza.name);
    }
  }

  void take(const Stanza& stanza, Interface& out) {
    const bool six = stanza.family == "inet6";
    const auto family = six ? Family::kIpv6 : Family::kIpv4;
    auto& inet = out.inet(family);
    if (stanza.method == "dhcp" || (six && stanza.method == "auto")) {
      inet.method = InetMethod::kAuto;
    } else if (stanza.method != "static" && stanza.method != "manual") {
      claims_.miss(stanza.where, fmt::format("method {}: is not supported", stanza.method));
    }
    Keys keys(stanza.where.file, stanza.lines, claims_);
    if (stanza.family.empty()) return take_newer(keys, out);
    const auto report = [&](const Item& item, const std::string& why) {
      if (!why.empty()) keys.wrong(item, why);
    };
    std::optional<int> length;
    if (const auto mask = keys.take("netmask")) {
      const auto bits = base::parse_number(mask->value);
      length = bits && *bits <= 128 ? std::optional(static_cast<int>(*bits)) : prefix_of_netmask(mask->value);
      if (!length) report(*mask, fmt::format("{} is not a netmask", mask->value));
    }
    const bool takes_them = stanza.method == "static";
    for (const auto& address : keys.take_all("address")) {
      report(address, takes_them ? add_address(inet, family, address.value,
                                               length ? length : class_length(address.value))
                                 : fmt::format("method {} takes no address", stanza.method));
    }
    if (const auto gateway = keys.take("gateway")) {
      report(*gateway, takes_them ? set_gateway(inet, family, gateway->value)
                                  : fmt::format("method {} takes no gateway", stanza.method));
    }
    // Addresses of routers beside those of the stanza (interfaces(5)).
    if (six && takes_them && keys.flag("autoconf") == true) inet.method = InetMethod::kAuto;
    keys.mark(out, six ? "ipv6.addresses" : "ipv4.addresses", "address");
    keys.mark(out, six ? "ipv6.gateway" : "ipv4.gateway", "gateway");
    common(keys, out);
  }

  /// A stanza of ifupdown2 or ifupdown-ng, which says the family by each address.
  void take_newer(Keys& keys, Interface& out) {
    const auto report = [&](const Item& item, const std::string& why) {
      if (!why.empty()) keys.wrong(item, why);
    };
    const auto mask = keys.take("netmask");
    auto length = mask ? prefix_of_netmask(mask->value) : std::nullopt;
    if (mask && !length) {
      const auto bits = base::parse_number(mask->value);
      if (bits && *bits <= 128) length = static_cast<int>(*bits);
      if (!length) report(*mask, fmt::format("{} is not a netmask", mask->value));
    }
    for (const auto& address : keys.take_all("address")) {
      const bool six = address.value.find(':') != std::string::npos;
      out.at.try_emplace(six ? "ipv6.addresses" : "ipv4.addresses", keys.place(address));
      report(address, add_address(out, address.value, length ? length : class_length(address.value)));
    }
    for (const auto& gateway : keys.take_all("gateway")) {
      const auto family = gateway.value.find(':') == std::string::npos ? Family::kIpv4 : Family::kIpv6;
      out.at.try_emplace(family == Family::kIpv4 ? "ipv4.gateway" : "ipv6.gateway", keys.place(gateway));
      report(gateway, add_gateway(out.inet(family), family, gateway.value));
    }
    for (const auto& use : keys.take_all("use")) {
      if (use.value == "dhcp") {
        out.ipv4.method = InetMethod::kAuto;
      } else {
        report(use, fmt::format("{} is not supported", use.value));
      }
    }
    for (const auto* key : {"inet", "inet6"}) {
      const auto word = keys.take(key);
      if (!word) continue;
      auto& inet = *key == 'i' && std::string_view(key) == "inet" ? out.ipv4 : out.ipv6;
      if (word->value == "dhcp" || word->value == "auto") {
        inet.method = InetMethod::kAuto;
      } else if (word->value != "static" && word->value != "manual") {
        report(*word, fmt::format("{} is not supported", word->value));
      }
    }
    common(keys, out);
  }

  /// The common parts of stanzas of every sort.
  void common(Keys& keys, Interface& out) {
    if (const auto mtu = keys.number("mtu", model::kMtuConnectedMax)) out.mtu = mtu;
    keys.mark(out, "mtu", "mtu");
    for (const auto& servers : keys.take_all("dns-nameservers")) {
      for (const auto server : words_of(servers.value)) {
        if (const auto why = add_server(out, server); !why.empty()) keys.wrong(servers, why);
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
      if (drop_routes_of_vrf(out)) claims_.miss(keys.place(*vrf), std::string(kVrfRoutes));
    }
    // Temporary addresses are made of a router's prefixes only. An interface with method = "auto" takes its
    // advertisements, another one does not.
    const bool six = out.ipv6.method == InetMethod::kAuto;
    if (six) keys.usual("privext", "0");
    keys.usual("accept_ra", six ? "1" : "0");
    if (keys.peek("dad-attempts") == "0") keys.refuse("dad-attempts");  // nodad
    keys.pass({"network", "broadcast", "autoconf", "dad-attempts", "privext", "alias", "requires"});
    keys.finish();
  }

  std::span<const File> files_;
  Claims& claims_;
  std::vector<Stanza> stanzas_;
  Sources sources_;
  std::set<std::string, std::less<>> ipoib_;
  std::set<std::string, std::less<>> started_;
  std::set<std::string, std::less<>> bases_;   ///< stanzas that others inherit, and which are none themselves
  std::set<std::string, std::less<>> mapped_;  ///< stanzas for interfaces of ours under another name
};

}  // namespace

void parse_ifupdown(std::span<const File> files, Claims& claims) {
  Interfaces interfaces(files, claims);
  // Files in interfaces.d are in force where the main file says so.
  std::vector<const File*> aside;
  for (const auto& file : files) {
    if (is_beside_main(file, files)) {
      aside.push_back(&file);
    } else {
      interfaces.read(file);
    }
  }
  for (const auto* file : aside) {
    if (interfaces.sources().has(file->path)) {
      interfaces.read(*file);
    } else {
      claims.pass({file->path, 0}, "is not sourced by /etc/network/interfaces");
    }
  }
  interfaces.finish();
}

}  // namespace rdmacfg::foreign
