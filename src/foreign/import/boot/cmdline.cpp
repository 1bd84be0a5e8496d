// SPDX-License-Identifier: Apache-2.0
// The kernel command line, as the initramfs reads it (dracut.cmdline(7), nm-initrd-generator(8)): ip=,
// ib.pkey=, rd.route=, nameserver=, options of RDMA modules, and sysctl.KEY= (kernel-parameters.txt).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/boot/cmdline_kept.hpp"
#include "foreign/import/boot/shell_variables.hpp"
#include "foreign/import/boot/sysctl.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/inet.hpp"
#include "foreign/syntax/kernel_words.hpp"
#include "model/types/module_types.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

/// "a:[2001:db8::1]:c" at its colons, with those in brackets kept.
std::vector<std::string> cmdline_fields(std::string_view text) {
  std::vector<std::string> out(1);
  bool inside = false;
  for (const char c : text) {
    if (c == '[' || c == ']') {
      inside = c == '[';
    } else if (c == ':' && !inside) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

bool is_method(std::string_view word) {
  constexpr auto kMethods =
      std::to_array<std::string_view>({"none", "off", "dhcp", "on", "any", "dhcp4", "dhcp6", "auto", "auto6",
                                       "either6", "both", "ibft", "link6", "link-local", "single-dhcp"});
  return std::find(kMethods.begin(), kMethods.end(), word) != kMethods.end();
}

class CommandLine {
 public:
  explicit CommandLine(Claims& claims) : claims_(claims), sysctls_(claims) {}

  /// Before all others: dracut takes ifname= wherever it stands.
  void take_name(std::string_view word, const Place& where) {
    constexpr std::string_view kName = "ifname=";
    if (word.starts_with(kName)) interface_name(word.substr(kName.size()), where);
  }

  void word(std::string_view word, const Place& where) {
    const auto equals = word.find('=');
    const auto key = word.substr(0, equals);
    const auto value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    if (tell_kept_word(where, key, value, claims_)) return;
    if (key == "ip") {
      ip(value, where);
    } else if (key == "ib.pkey") {
      pkey(value, where);
    } else if (key == "rd.route" || key == "bond" || key == "team" || key == "bridge" || key == "vlan") {
      other(key, value, where);
    } else if (key == "nameserver") {
      servers_.emplace_back(where, value);
    } else if (key == "module_blacklist" || key == "modprobe.blacklist" || key == "rd.driver.blacklist") {
      blacklist(key, value, where);
    } else if (key == "modules_load" || key == "modules-load") {
      load(value, where);
    } else if ((key == "rd.driver.pre" || key == "rd.driver.post" || key == "rd.modules_load" ||
                key == "rd.modules-load") &&
               !rdma_modules(value).empty()) {
      claims_.pass(where, fmt::format("{}={}: is for the initramfs; keep this word", key, value));
    } else if ((key.ends_with("nvmf.discover") && value.starts_with("rdma")) ||
               (key == "rd.iscsi.transport" && value == "iser")) {
      claims_.pass(where, fmt::format("{}={}: is for the initramfs; keep this word", key, value));
    } else if (key.starts_with(kSysctlWord)) {
      const auto setting = word.substr(kSysctlWord.size());
      if (sysctls_.is_ours(setting)) sysctls_.line(where, setting);
    } else if (const auto dot = key.find('.'); dot != std::string_view::npos) {
      std::string module(key.substr(0, dot));
      std::replace(module.begin(), module.end(), '-', '_');
      if (is_rdma_module(module)) option(module, word.substr(dot + 1), where);
    }
  }

  void finish() {
    for (const auto& route : routes_) {
      const bool fresh = !route.interface.empty() && find(route.interface) == nullptr;
      auto* interface =
          route.interface.empty() ? reaching(route.gateway) : &make(route.interface, route.where);
      if (interface == nullptr) continue;
      claims_.took(route.where);
      const bool six = route.words.find(':') != std::string::npos;
      const auto family = six ? Family::kIpv6 : Family::kIpv4;
      const auto why = add_route_words(interface->inet(family), family, route.words);
      if (!why.empty()) claims_.miss(route.where, why);
      if (fresh) drop_blank(route.interface, route.where);
    }
    for (const auto& [where, server] : servers_) {
      if (found_.empty()) continue;
      claims_.took(where);
      std::string bare(server);
      std::erase_if(bare, [](char c) { return c == '[' || c == ']'; });
      if (const auto why = add_server(found_.begin()->second, bare); !why.empty()) claims_.miss(where, why);
    }
    for (auto& [name, interface] : found_) {
      place_search(interface);
      settle(interface);
      claims_.interfaces.push_back(std::move(interface));
    }
  }

 private:
  /// Takes back an interface that a word made, if the word says nothing of it that is understood.
  void drop_blank(const std::string& name, const Place& where) {
    const auto at = found_.find(name);
    const auto& interface = at->second;
    if (interface.guid || interface.mode || interface.mtu || interface.state || !interface.ipv4.empty() ||
        !interface.ipv6.empty())
      return;
    found_.erase(at);
    --claims_.understood[where.file];
  }

  Interface* find(std::string_view name) {
    const auto at = found_.find(name);
    if (at != found_.end()) return &at->second;
    return nullptr;
  }

  /// The interface whose network a gateway is in: the kernel sends a route without an interface there.
  Interface* reaching(std::string_view gateway) {
    const auto address = model::IpAddress::parse(gateway);
    if (!address) return nullptr;
    for (auto& [name, interface] : found_) {
      const auto& addresses = interface.inet(address->family).addresses;
      if (std::any_of(addresses.begin(), addresses.end(),
                      [&](const model::IpPrefix& prefix) { return prefix.contains(*address); }))
        return &interface;
    }
    return nullptr;
  }

  /// By the host, or by ifname=.
  bool is_known(const std::string& name) {
    const auto child = child_of_name(name);
    return claims_.knows(name) || find(name) != nullptr || (child && find(child->parent) != nullptr);
  }

  Interface& make(const std::string& name, const Place& where) {
    auto& interface = found_[name];
    if (interface.name.empty()) {
      interface.name = name;
      interface.where = where;
      if (const auto child = child_of_name(name)) {
        interface.pkey = child->pkey;
        interface.parent = child->parent;
      }
    }
    return interface;
  }

  /// ip=METHOD; ip=INTERFACE:METHOD[:MTU[:ADDRESS]];
  /// ip=CLIENT:PEER:GATEWAY:MASK:HOST:INTERFACE:METHOD[:MTU[:ADDRESS]] or with name servers behind the method
  void ip(std::string_view value, const Place& where) {
    const auto fields = cmdline_fields(value);
    const auto at = [&](std::size_t number) {
      return number < fields.size() ? fields[number] : std::string();
    };
    // After the name of a known interface an unknown word is a wrong method, not the address of a peer.
    const bool brief = fields.size() == 1 || is_method(at(1)) || (!at(1).empty() && is_known(at(0)));
    const auto name = brief ? (fields.size() == 1 ? std::string() : at(0)) : at(5);
    if (!is_known(name)) return;
    const bool fresh = find(name) == nullptr;
    const auto missed = claims_.missed.size();
    take_ip(make(name, where), fields, brief, where);
    if (fresh && claims_.missed.size() > missed) drop_blank(name, where);
  }

  void take_ip(Interface& interface, const std::vector<std::string>& fields, bool brief, const Place& where) {
    const auto at = [&](std::size_t number) {
      return number < fields.size() ? fields[number] : std::string();
    };
    claims_.took(where);
    const auto method = brief ? at(1) : at(6);
    take_method(interface, method, where);
    const std::size_t behind = brief ? 2 : 7;
    if (const auto mtu = base::parse_number(at(behind));
        mtu && *mtu > 0 && at(behind).find('.') == std::string::npos) {
      interface.mtu = static_cast<std::int64_t>(*mtu);
      interface.at.insert_or_assign("mtu", where);
    } else if (!at(behind).empty()) {
      // A second server, and behind it that of the time.
      for (const auto& server : {at(behind), at(behind + 1)}) {
        const auto why = server.empty() ? std::string() : add_server(interface, server);
        if (!why.empty()) claims_.miss(where, fmt::format("ip: {}", why));
      }
    }
    if (brief || at(0).empty()) return;
    const bool six = at(0).find(':') != std::string::npos;
    const auto family = six ? Family::kIpv6 : Family::kIpv4;
    auto length = prefix_of_netmask(at(3));
    if (const auto bits = base::parse_number(at(3)); !length && bits && *bits <= 128)
      length = static_cast<int>(*bits);
    if (!length && !at(3).empty()) return claims_.miss(where, fmt::format("ip: {} is not a netmask", at(3)));
    // Without a netmask the old classes hold (reader_parse_ip() of nm-initrd-generator).
    if (!length) length = six ? 64 : class_length(at(0)).value_or(24);
    auto& inet = interface.inet(family);
    std::string why = add_address(inet, family, at(0), length);
    if (why.empty() && !at(2).empty()) why = set_gateway(inet, family, at(2));
    if (!why.empty()) claims_.miss(where, fmt::format("ip: {}", why));
  }

  void take_method(Interface& interface, const std::string& method, const Place& where) {
    const bool four = method == "dhcp" || method == "on" || method == "any" || method == "dhcp4" ||
                      method == "single-dhcp" || method == "both";
    const bool six =
        method == "dhcp6" || method == "auto6" || method == "auto" || method == "either6" || method == "both";
    if (four) interface.ipv4.method = InetMethod::kAuto;
    if (six) interface.ipv6.method = InetMethod::kAuto;
    const bool known =
        four || six || method == "none" || method == "off" || method == "link6" || method.empty();
    if (!known) claims_.miss(where, fmt::format("ip: method {} is not supported", method));
  }

  /// ifname=NAME:ADDRESS, of which only those with 20 bytes are ours (dracut.cmdline(7)).
  void interface_name(std::string_view value, const Place& where) {
    const auto colon = value.find(':');
    const auto guid = guid_of_address(colon == std::string_view::npos ? "" : value.substr(colon + 1));
    if (!guid) return;
    auto& interface = make(std::string(value.substr(0, colon)), where);
    interface.guid = *guid;
    interface.names = true;
    claims_.took(where);
  }

  /// ib.pkey=PARENT.PKEY, the P_Key in hexadecimal digits (reader_parse_ib_pkey() of nm-initrd-generator).
  void pkey(std::string_view value, const Place& where) {
    const auto dot = value.rfind('.');
    const auto digits = dot == std::string_view::npos ? std::string_view() : value.substr(dot + 1);
    const bool prefixed = digits.starts_with("0x") || digits.starts_with("0X");
    const auto key = pkey_of(prefixed ? std::string(digits) : fmt::format("0x{}", digits));
    if (dot == std::string_view::npos || !key)
      return claims_.miss(where, fmt::format("ib.pkey={}: is not INTERFACE.PKEY", value));
    claims_.took(where);
    auto& interface = make(std::string(value), where);
    interface.pkey = *key;
    interface.parent = std::string(value.substr(0, dot));
  }

  /// An interface over one of ours, or a route over it.
  void other(std::string_view key, std::string_view value, const Place& where) {
    const auto fields = cmdline_fields(value);
    if (key == "rd.route") {
      if (fields.size() < 2) return;
      const auto interface = fields.size() > 2 ? fields[2] : std::string();
      if (interface.empty() || is_known(interface))
        routes_.push_back({where, interface, fields[1], fmt::format("{} via {}", fields[0], fields[1])});
      return;
    }
    for (const auto& field : fields) {
      for (const auto member : base::split(field, ',')) {
        if (!member.empty() && is_known(std::string(member)))
          return claims_.miss(where, fmt::format("{}={}: {} cannot be expressed in the document", key, value,
                                                 key == "vlan" ? "a VLAN" : "a bond, team or bridge"));
      }
    }
  }

  /// Modules that nobody is to load.
  void blacklist(std::string_view key, std::string_view value, const Place& where) {
    for (const auto& name : rdma_modules(value))
      claims_.miss(where,
                   fmt::format("{}={}: cannot be expressed in the document; keep this word", key, name));
  }

  /// The RDMA modules of a list with commas.
  static std::vector<std::string> rdma_modules(std::string_view list) {
    std::vector<std::string> out;
    for (const auto module : base::split(list, ',')) {
      std::string name(module);
      std::replace(name.begin(), name.end(), '-', '_');
      if (is_rdma_module(name)) out.push_back(std::move(name));
    }
    return out;
  }

  /// Modules that systemd loads at each start (kernel-command-line(7)).
  void load(std::string_view list, const Place& where) {
    for (const auto& name : rdma_modules(list)) {
      loaded_.insert(name);
      claims_.entry("module", {{"name", name}}, where).values.erase("load");
      claims_.took(where);
    }
  }

  /// MODULE.OPTION=VALUE, which the kernel hands to the module.
  void option(const std::string& name, std::string_view option, const Place& where) {
    const auto parsed = model::ModuleOption::parse(option);
    if (!parsed) return claims_.miss(where, fmt::format("{}: {}", name, parsed.error().message));
    claims_.took(where);
    auto& entry = claims_.entry("module", {{"name", name}}, where);
    if (!entry.values.contains("options")) {
      if (entry.where == where && !loaded_.contains(name)) entry.values["load"] = false;
      entry.values["options"] = std::vector<std::string>{};
    }
    std::get<std::vector<std::string>>(entry.values["options"]).push_back(parsed->text());
  }

  struct Late {
    Place where;
    std::string interface, gateway, words;
  };
  Claims& claims_;
  SysctlSettings sysctls_;
  std::map<std::string, Interface, std::less<>> found_;
  std::set<std::string, std::less<>> loaded_;  ///< modules that are loaded at each start
  std::vector<Late> routes_;
  std::vector<std::pair<Place, std::string>> servers_;
};

}  // namespace

void parse_cmdline(std::span<const File> files, Claims& claims) {
  CommandLine line(claims);
  std::vector<PlacedWord> words;
  ShellVariables variables(claims);
  for (const auto* file : in_order_of_shells(files)) {
    int number = 0;
    for (const auto raw : base::split(file->text, '\n')) {
      const Place where{file->path, ++number};
      const auto text = base::trim(raw);
      if (text.empty() || text.front() == '#') continue;
      if (is_shell(*file)) {
        variables.line(text, where);
        continue;
      }
      for (auto& word : kernel_words(text)) words.push_back({std::move(word), where});
    }
  }
  variables.move_to(words);
  for (const auto& [word, where] : words) line.take_name(word, where);
  for (const auto& [word, where] : words) line.word(word, where);
  line.finish();
}

}  // namespace rdmacfg::foreign
