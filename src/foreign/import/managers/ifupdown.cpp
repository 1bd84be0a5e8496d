// SPDX-License-Identifier: Apache-2.0
// Debian's interfaces(5).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/boot/script_modules.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/managers/ifupdown_hooks.hpp"
#include "foreign/import/managers/ifupdown_keys.hpp"
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

/// A line whose words behind the first are interfaces.
struct Statement {
  Place where;
  std::vector<std::string> words;
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
      if (!words.empty() && !is_mapping({file.path, first}, words, inside))
        statement(file, first, words, joined, inside);
      joined.clear();
    }
  }

  [[nodiscard]] const Sources& sources() const { return sources_; }

  void finish() {
    inherit();
    find_ipoib();
    tell_others();
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
      tell_down(hook, claims_);
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

  /// `mapping` and its lines, which choose the stanza of an interface by a script.
  bool is_mapping(Place where, const std::vector<std::string_view>& words, bool& inside) {
    const bool begins = words.front() == "mapping";
    in_mapping_ = begins || (in_mapping_ && (words.front() == "script" || words.front() == "map"));
    inside = inside && !in_mapping_;
    if (begins) mappings_.push_back({std::move(where), std::vector<std::string>(words.begin(), words.end())});
    return in_mapping_;
  }

  /// Whether a statement names an interface of ours.
  [[nodiscard]] bool is_of_ours(const Statement& statement) const {
    return std::any_of(statement.words.begin() + 1, statement.words.end(), [&](const auto& word) {
      const auto name = without_label(word);
      return ipoib_.contains(name) || claims_.knows(name);
    });
  }

  /// Mappings, and classes of allow-, which concern us where they name our interfaces.
  void tell_others() {
    for (const auto& mapping : mappings_) {
      if (is_of_ours(mapping)) {
        claims_.miss(mapping.where, "mapping: is not supported");
      } else {
        claims_.pass(mapping.where, "mapping: is not for InfiniBand");
      }
    }
    for (const auto& allowed : classes_) {
      if (!is_of_ours(allowed)) continue;
      const auto& word = allowed.words.front();
      claims_.pass(allowed.where,
                   fmt::format("{}: brings up no interface at boot, only `ifup --allow={}` does", word,
                               word.substr(word.find('-') + 1)));
    }
  }

  void statement(const File& file, int line, const std::vector<std::string_view>& words,
                 std::string_view whole, bool& inside) {
    const Place where{file.path, line};
    const auto word = words.front();
    if (word == "auto" || word.starts_with("allow-")) {
      inside = false;
      // Of the classes of allow-, udev brings up "hotplug", and nothing of ifupdown's the others.
      const bool at_boot = word == "auto" || word == "allow-auto" || word == "allow-hotplug";
      for (std::size_t at = 1; at < words.size(); ++at) {
        if (at_boot) started_.insert(without_label(words[at]));
        mapped(words[at], where);
      }
      claims_.took(where);
      if (!at_boot) classes_.push_back({where, std::vector<std::string>(words.begin(), words.end())});
    } else if (word == "iface") {
      // ifupdown2 and ifupdown-ng take a stanza without family and method: both are in its lines.
      const bool newer = words.size() == 2 || (words.size() == 4 && words[2] == "inherits");
      inside = words.size() >= 4 || newer;
      if (inside) {
        mapped(words[1], where);
        const auto inherits = newer ? 2U : 4U;
        const bool heir = words.size() >= inherits + 2 && words[inherits] == "inherits";
        stanzas_.push_back({.name = without_label(words[1]),
                            .family = std::string(newer ? std::string_view() : words[2]),
                            .method = std::string(newer ? std::string_view("static") : words[3]),
                            .heir_of = std::string(heir ? words[inherits + 1] : std::string_view()),
                            .where = where,
                            .lines = {},
                            .hooks = {}});
      } else {
        claims_.miss(where, "iface needs a name, a family and a method");
      }
    } else if (word == "source" || word == "source-directory") {
      inside = false;
      sources_.add(where, words, files_, claims_);
    } else if (word == "no-auto-down" || word == "no-scripts") {
      inside = false;
      claims_.took(where);
      claims_.pass(where, fmt::format("{}: concerns ifup and ifdown alone", word));
    } else if (inside && word != "rename" && word != "template") {
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
    const auto length = take_netmask(keys);
    const bool takes_them = stanza.method == "static";
    for (const auto& address : keys.take_all("address")) {
      report(address, takes_them ? add_address(inet, family, address.value,
                                               length ? length : class_length(address.value))
                                 : fmt::format("method {} takes no address", stanza.method));
    }
    if (const auto gateway = keys.take("gateway"); gateway && !takes_them) {
      report(*gateway, fmt::format("method {} takes no gateway", stanza.method));
    } else if (gateway) {
      const auto metric = keys.take("metric");
      report(*gateway,
             metric && metric->value != "0"
                 ? add_route_words(inet, family,
                                   fmt::format("default via {} metric {}", gateway->value, metric->value))
                 : set_gateway(inet, family, gateway->value));
    }
    if (six) take_autoconf(keys, stanza, inet);
    keys.mark(out, six ? "ipv6.addresses" : "ipv4.addresses", "address");
    keys.mark(out, six ? "ipv6.gateway" : "ipv4.gateway", "gateway");
    take_of_every_sort(keys, out, claims_);
  }

  /// Addresses of routers, beside those of the stanza or of a DHCP server (interfaces(5)).
  static void take_autoconf(Keys& keys, const Stanza& stanza, Inet& inet) {
    const auto autoconf = keys.flag("autoconf");
    if (stanza.method == "static" && autoconf == true) inet.method = InetMethod::kAuto;
    if ((stanza.method == "dhcp" && autoconf == false) || (stanza.method == "manual" && autoconf == true))
      keys.refuse("autoconf");
  }

  /// A stanza of ifupdown2 or ifupdown-ng, which says the family by each address.
  void take_newer(Keys& keys, Interface& out) {
    const auto report = [&](const Item& item, const std::string& why) {
      if (!why.empty()) keys.wrong(item, why);
    };
    const auto length = take_netmask(keys);
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
    take_newer_methods(keys, out);
    take_of_every_sort(keys, out, claims_);
  }

  std::span<const File> files_;
  Claims& claims_;
  std::vector<Stanza> stanzas_;
  Sources sources_;
  bool in_mapping_ = false;  ///< of the line that is read
  std::vector<Statement> mappings_;
  std::vector<Statement> classes_;  ///< lines of allow- that start nothing at boot
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
