// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "config/guard.hpp"
#include "foreign/document.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::Guid;

namespace {

constexpr std::string_view kNumber = "{number}", kGuidTail = "{guid_tail}";

bool is_kernels(std::string_view name) {
  return name.size() > 2 && name.starts_with("ib") &&
         name.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

/// "ib0.8002" and "ib0.0002": tools' default names of a P_Key interface.
bool is_given(std::string_view name, std::string_view parent, model::Pkey pkey) {
  return name.empty() || name == child_name(parent, pkey) ||
         name == fmt::format("{}.{:04x}", parent, pkey.partition()).substr(0, model::kInterfaceNameMax);
}

class Builder {
 public:
  explicit Builder(Claims& claims) : claims_(claims) {
    for (const auto& [name, guid] : claims.known) ports_.emplace(name, guid);
    for (const auto& [guid, name] : claims.names) ports_.insert_or_assign(name.text, guid);
    for (const auto& interface : claims.interfaces) {
      if (interface.guid && !interface.pkey && !interface.broken && !interface.name.empty())
        ports_.insert_or_assign(interface.name, *interface.guid);
    }
  }

  ImportedHost build() {
    std::erase_if(claims_.interfaces, [](const Interface& interface) { return interface.broken; });
    for (auto& interface : claims_.interfaces) {
      // "ib0.8002" over a port of that name, where a file says only what the interface gets.
      const auto child = interface.pkey || interface.guid ? std::nullopt : child_of_name(interface.name);
      if (!child || ports_.contains(interface.name) || !ports_.contains(child->parent)) continue;
      interface.pkey = child->pkey;
      interface.parent = child->parent;
    }
    // Anything that is not brought up is an alternative that somebody keeps, or a left-over, where something
    // else is: that one comes first.
    std::stable_partition(claims_.interfaces.begin(), claims_.interfaces.end(),
                          [](const Interface& interface) { return interface.state != model::State::kDown; });
    for (const auto& interface : claims_.interfaces) {
      if (!interface.pkey) port(interface);
    }
    for (const auto& [guid, name] : claims_.names) {
      const auto [tree, fresh] = trees_.try_emplace(guid);
      auto& port = tree->second.port;
      port.guid = guid;
      if (fresh) port.where = name.where;
      port.name = name.text;
      port.names = !is_kernels(name.text);
      port.named_at = name.where;
      if (is_kernels(name.text)) {
        claims_.pass(
            name.where,
            fmt::format("{}: the kernel assigns this name to the first port that appears; it is left out "
                        "(--name-template gives such ports names of their own)",
                        name.text));
      }
    }
    name_ports();
    for (const auto& interface : claims_.interfaces) {
      if (interface.pkey) child(interface);
    }
    ImportedHost out;
    for (auto& [guid, tree] : trees_) {
      std::sort(tree.children.begin(), tree.children.end(),
                [](const Interface& a, const Interface& b) { return *a.pkey < *b.pkey; });
      drop_default_settings(tree);
      out.trees.push_back(std::move(tree));
    }
    out.portless = std::move(portless_);
    for (auto& interface : out.portless) {
      for (const auto family : {Family::kIpv4, Family::kIpv6}) {
        if (is_default(interface.inet(family), family)) interface.inet(family) = {};
      }
    }
    return out;
  }

 private:
  /// Names of ports that have none of their own, by the template.
  void name_ports() {
    if (claims_.name_template.empty()) return;
    for (auto& [guid, tree] : trees_) {
      auto& port = tree.port;
      if (port.names) continue;
      auto name = claims_.name_template;
      const auto fill = [&](std::string_view what, const std::string& value) {
        for (auto at = name.find(what); at != std::string::npos; at = name.find(what, at + value.size()))
          name.replace(at, what.size(), value);
      };
      if (name.find(kNumber) != std::string::npos && !is_kernels(port.name)) {
        claims_.miss(port.where, fmt::format("{}: has no number for the name template; use {{guid_tail}}",
                                             port.name.empty() ? guid.text() : port.name));
        continue;
      }
      if (is_kernels(port.name)) fill(kNumber, port.name.substr(2));
      fill(kGuidTail, fmt::format("{:06x}", guid.number & 0xffffffU));
      if (!port.name.empty()) former_.emplace(port.name, name);
      port.name = std::move(name);
      port.names = true;
    }
  }

  void port(const Interface& interface) {
    auto guid = interface.guid;
    if (const auto at = ports_.find(interface.name); !guid && at != ports_.end()) guid = at->second;
    if (!guid) {
      claims_.miss(interface.where, fmt::format("the port of {} is not known: no file has its GUID",
                                                interface.name.empty() ? "the interface" : interface.name));
      portless_.push_back(interface);
      return;
    }
    const auto [tree, fresh] = trees_.try_emplace(*guid);
    auto& into = tree->second.port;
    if (fresh) {
      into = interface;
      into.guid = guid;
    } else {
      merge(interface, into);
    }
    if (into.names && is_kernels(into.name)) into.names = false;
  }

  void child(Interface interface) {
    auto guid = interface.guid;
    if (const auto at = ports_.find(interface.parent); at != ports_.end()) guid = at->second;
    if (!guid) {
      claims_.miss(interface.where,
                   fmt::format("the port of {} is not known: no file has its GUID",
                               interface.parent.empty() ? "the P_Key interface" : interface.parent));
      portless_.push_back(std::move(interface));
      return;
    }
    auto& tree = trees_[*guid];
    tree.port.guid = guid;
    if (tree.port.where.file.empty()) tree.port.where = interface.where;
    if (tree.port.name.empty()) tree.port.name = interface.parent;
    interface.guid = guid;
    // Over a port that has a new name, a child of the kernel's name goes with it.
    if (const auto at = former_.find(interface.parent); at != former_.end()) {
      if (is_given(interface.name, interface.parent, *interface.pkey)) interface.name.clear();
      interface.parent = at->second;
    }
    give_name(interface, interface.parent.empty() ? tree.port.name : interface.parent);
    const auto twin = std::find_if(tree.children.begin(), tree.children.end(),
                                   [&](const Interface& other) { return other.pkey == interface.pkey; });
    if (twin == tree.children.end()) {
      tree.children.push_back(std::move(interface));
    } else {
      merge(interface, *twin);
    }
  }

  /// Whether a P_Key interface is called otherwise than the document calls it by itself. A tool that makes it
  /// under a name of its own (`names`) means every letter of that.
  static void give_name(Interface& interface, const std::string& parent) {
    const auto whole = fmt::format("{}.{:04x}", parent, interface.pkey->full());
    const auto cut = child_name(parent, *interface.pkey);
    // The kernel and the tools cut what is too long, which the document does not.
    if (cut != whole && parent.size() <= model::kInterfaceNameMax) {
      if (interface.name.empty()) interface.name = cut;
      interface.names = interface.name != parent;
    } else {
      interface.names =
          !interface.name.empty() &&
          (interface.names ? interface.name != cut : !is_given(interface.name, parent, *interface.pkey));
    }
  }

  /// Of the keys at and below `path` the places too.
  static void copy_places(const Interface& from, Interface& into, std::string_view path) {
    for (const auto& [key, place] : from.at) {
      if (key.starts_with(path)) into.at.insert_or_assign(key, place);
    }
  }

  /// The key `path` of two claims for one interface: the first that has a value counts.
  template <class T>
  void take(std::optional<T> Interface::*key, const Interface& from, Interface& into, std::string_view path) {
    if (!(from.*key)) return;
    if (!(into.*key)) {
      into.*key = from.*key;
      into.at.insert_or_assign(std::string(path), from.place_of(path));
    } else if (into.*key != from.*key) {
      claims_.miss(from.place_of(path),
                   fmt::format("{}: {} has another value", path, into.place_of(path).text()));
    }
  }

  /// The setting that brings up the interface that the two are of; nothing when neither they nor earlier ones
  /// do.
  const Place* riser(const Interface& first, const Interface& second) {
    const auto key = std::pair{*first.guid, first.pkey ? first.pkey->full() : std::uint16_t{0}};
    for (const auto* interface : {&first, &second}) {
      if (!interface->passive && !interface->state) risen_.try_emplace(key, interface->where);
    }
    const auto at = risen_.find(key);
    return at == risen_.end() ? nullptr : &at->second;
  }

  /// Whether the commands of a script only add routes to what another file gives the interface.
  static bool adds_up(const Inet& from, const Inet& into) {
    const bool new_address =
        std::any_of(from.addresses.begin(), from.addresses.end(), [&](const model::IpPrefix& address) {
          return std::find(into.addresses.begin(), into.addresses.end(), address) == into.addresses.end();
        });
    const bool only_adds = !new_address && !from.method && from.dns.empty() && from.search.empty();
    const bool one_gateway = !from.gateway || !into.gateway || from.gateway == into.gateway;
    return only_adds && one_gateway && into.method != model::InetMethod::kDisabled;
  }

  static void add(const Inet& from, Inet& into) {
    if (from.gateway) into.gateway = from.gateway;
    into.routes.insert(into.routes.end(), from.routes.begin(), from.routes.end());
    drop_repeated(into);
  }

  void merge(const Interface& from, Interface& into) {
    if (into.name.empty()) into.name = from.name;
    if (from.names && !into.names) {
      into.name = from.name;
      into.names = true;
    }
    if (const auto* up = riser(into, from); from.state == model::State::kDown && up != nullptr) {
      claims_.pass(
          from.where,
          fmt::format("does not bring the interface up, but {} does and takes precedence", up->text()));
      return;
    }
    take(&Interface::mode, from, into, "mode");
    take(&Interface::mtu, from, into, "mtu");
    take(&Interface::umcast, from, into, "umcast");
    take(&Interface::state, from, into, "state");
    for (const auto family : {Family::kIpv4, Family::kIpv6}) {
      const std::string_view path = family == Family::kIpv4 ? "ipv4" : "ipv6";
      const bool nothing = from.inet(family).empty() || is_default(from.inet(family), family);
      if (nothing && !into.inet(family).empty()) continue;
      if (into.inet(family).empty() || is_default(into.inet(family), family)) {
        into.inet(family) = from.inet(family);
        copy_places(from, into, path);
      } else if (from.passive && adds_up(from.inet(family), into.inet(family))) {
        add(from.inet(family), into.inet(family));
      } else if (into.inet(family) != from.inet(family)) {
        claims_.miss(from.place_of(path), fmt::format("{} addresses: {} has others", model::text_of(family),
                                                      into.place_of(path).text()));
      }
    }
  }

  Claims& claims_;
  std::map<std::string, Guid, std::less<>> ports_;  ///< by name of their interface
  std::map<Guid, ImportedHost::InterfaceTree> trees_;
  std::vector<Interface> portless_;
  std::map<std::string, std::string, std::less<>> former_;  ///< names by template, by those that they replace
  std::map<std::pair<Guid, std::uint16_t>, Place> risen_;   ///< what brings interfaces up; 0: a port's own
};

}  // namespace

std::string wrong_template(std::string_view pattern) {
  std::size_t length = pattern.size();
  for (auto at = pattern.find('{'); at != std::string_view::npos; at = pattern.find('{', at + 1)) {
    const auto rest = pattern.substr(at);
    if (rest.starts_with(kNumber)) {
      length -= kNumber.size() - 1;
    } else if (rest.starts_with(kGuidTail)) {
      length -= kGuidTail.size() - 6;
    } else {
      return "the placeholders are {number} and {guid_tail}";
    }
  }
  if (pattern.find('{') == std::string_view::npos)
    return "without {number} or {guid_tail} all ports get one name";
  if (pattern.starts_with("ib{number}"))
    return "ib{number} is the name that the kernel assigns to the first port that appears";
  if (length > model::kInterfaceNameMax) return "names would have more than 15 characters";
  return {};
}

ImportedHost assemble_host(Claims& claims) {
  // Escapes of YAML and names of files hold any character; no interface is called so.
  const auto is_plain = [](std::string_view name) { return config::harmless(name) == name; };
  for (auto& interface : claims.interfaces) {
    if (interface.broken || (is_plain(interface.name) && is_plain(interface.parent))) continue;
    interface.broken = true;
    claims.miss(interface.where, "the name of the interface has characters that are not valid in a name");
  }
  for (auto& interface : claims.interfaces) {
    drop_repeated(interface.ipv4);
    drop_repeated(interface.ipv6);
  }
  return Builder(claims).build();
}

}  // namespace rdmacfg::foreign
