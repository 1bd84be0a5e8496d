// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/sysctl_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "kinds/host/module.hpp"
#include "kinds/ports/pkey_link.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;
using model::Severity;

namespace {

struct Range {
  std::string_view key;
  std::int64_t most;
};
constexpr std::array<Range, 5> kOfInterface{
    {{"arp_ignore", 8}, {"arp_announce", 2}, {"arp_filter", 1}, {"rp_filter", 2}, {"accept_local", 1}}};

/// A whole number as strtoul() with base 0 has it; nothing when it is none.
struct Number {
  bool negative = false;
  std::uint64_t magnitude = 0;
  bool operator==(const Number&) const = default;
};

std::optional<Number> number_of(std::string_view text) {
  Number out;
  if (text.starts_with('-') || text.starts_with('+')) {
    out.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  const auto* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, out.magnitude, base);
  if (text.empty() || error != std::errc() || stopped != end) return std::nullopt;
  if (out.magnitude == 0) out.negative = false;
  return out;
}

/// The entry that names an interface in the same document, and must come first.
std::map<std::string, model::Key> makers(const Bound& bound) {
  std::map<std::string, model::Key> out;
  for (const auto& port : bound.ports) {
    if (port.names) out.emplace(port.name, model::Key{"link_name", port.id});
    for (const auto& child : port.section->children) {
      if (child.path != "ipoib.pkey") continue;
      const auto wanted = model::from_attributes<PkeyLink>(child.attributes());
      if (!wanted.pkey) continue;
      const auto* name = child.find("name");
      out.emplace(name != nullptr ? model::text_of(name->value)
                                  : fmt::format("{}.{:04x}", port.name, wanted.pkey->full()),
                  model::Key{"pkey", fmt::format("{}/{}", port.id, wanted.pkey->text())});
    }
  }
  return out;
}

/// The modules that bring settings; of several the first that the document loads. Sources: smc_sysctl.c,
/// net/rds/{sysctl,ib_sysctl,tcp}.c, net/sunrpc/xprtrdma, br_netfilter_hooks.c, nf_conntrack_standalone.c.
struct SettingModules {
  std::string_view settings;  ///< the beginning of their paths
  std::vector<std::string_view> modules;
};
const std::vector<SettingModules>& setting_modules() {
  static const std::vector<SettingModules> kAll{{"net/smc/", {"smc"}},
                                                {"net/rds/ib/", {"rds_rdma"}},
                                                {"net/rds/tcp/", {"rds_tcp"}},
                                                {"net/rds/", {"rds", "rds_rdma", "rds_tcp"}},
                                                {"sunrpc/rdma_", {"rpcrdma"}},
                                                {"sunrpc/svc_rdma/", {"rpcrdma"}},
                                                {"sunrpc/", {"sunrpc", "rpcrdma"}},
                                                {"net/bridge/", {"br_netfilter"}},
                                                {"net/netfilter/nf_conntrack", {"nf_conntrack"}}};
  return kAll;
}

/// Modules that the document loads.
std::set<std::string, std::less<>> loaded_modules(const Bound& bound) {
  std::set<std::string, std::less<>> out;
  for (const auto* section : bound.of(kModuleKind)) {
    const auto* name = section->find("name");
    const auto* load = section->find("load");
    if (name != nullptr && (load == nullptr || load->value == model::Value(true)))
      out.insert(model::text_of(name->value));
  }
  return out;
}

class Parser {
 public:
  Parser(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics)
      : world_(*bound.world),
        made_by_(makers(bound)),
        modules_(loaded_modules(bound)),
        out_(out),
        diagnostics_(diagnostics) {}

  void parse(const model::Section& section) {
    if (const auto* interface = section.find("interface")) {
      parse_interface(section, *interface);
    } else if (const auto* key = section.find("key")) {
      parse_key(section, *key);
    }
  }

 private:
  void error(const model::Location& where, std::string message, std::string hint) {
    diagnostics_.push_back({Severity::kError, where, std::move(message), std::move(hint), {}});
  }

  /// The interface's own name when `name` is only an alternative one now: /proc/sys does not know those.
  [[nodiscard]] std::optional<std::string> own_name(const std::string& name) const {
    if (name.empty() || world_.offline() || made_by_.contains(name)) return std::nullopt;
    const auto* link = world_.named(name);
    if (link == nullptr || link->name == name) return std::nullopt;
    return link->name;
  }

  void parse_interface(const model::Section& section, const model::Entry& written) {
    const auto interface = model::text_of(written.value);
    if (const auto* value = section.find("value")) {
      error(value->where, "[[sysctl]] value: only valid in an entry with key",
            "an interface has arp_ignore, arp_announce, arp_filter, rp_filter, accept_local");
    }
    if (const auto own = own_name(interface)) {
      error(written.where,
            fmt::format("[[sysctl]] interface: {} is an alternative name of {}", interface, *own),
            fmt::format("write interface = \"{}\"", *own));
    }
    bool any = false;
    for (const auto& [name, most] : kOfInterface) {
      const auto* entry = section.find(name);
      if (entry == nullptr) continue;
      any = true;
      const auto number = std::get<std::int64_t>(entry->value);
      if (number < 0 || number > most) {
        error(entry->where,
              fmt::format("[[sysctl]] {}: {} is out of range; must be from 0 to {}", name, number, most), "");
        continue;
      }
      add(fmt::format("net/ipv4/conf/{}/{}", interface, name), entry->value, entry->where, entry->where);
    }
    if (!any) {
      diagnostics_.push_back({Severity::kWarning,
                              section.where,
                              fmt::format("[[sysctl]] {}: no setting is given", interface),
                              "the entry has no effect",
                              {}});
    }
  }

  void parse_key(const model::Section& section, const model::Entry& written) {
    const auto path = model::text_of(written.value);
    if (const auto own = own_name(sysctl_interface(path))) {
      error(written.where,
            fmt::format("[[sysctl]] key: {} is an alternative name of {}", sysctl_interface(path), *own),
            fmt::format("write key = \"{}\"", sysctl_path_of(path, *own)));
    }
    check_depth(path, written.where);
    if (const auto* value = section.find("value")) {
      check_range(path, *value);
      add(path, value->value, written.where, value->where);
    } else {
      error(section.where, "[[sysctl]] value is missing", "write value = …");
    }
    for (const auto& [name, most] : kOfInterface) {
      if (const auto* entry = section.find(name)) {
        error(entry->where, fmt::format("[[sysctl]] {}: only valid in an entry with interface", name),
              "write another [[sysctl]] entry for the interface");
      }
    }
  }

  /// "net.ipv4.conf.ib0.8002.arp_ignore": a dot of the interface's name that was taken for one between parts.
  void check_depth(const std::string& path, const model::Location& where) {
    const auto parts = base::split(path, '/');
    constexpr std::size_t kParts = 5;  // net/ipv4/conf/<interface>/<key>
    const bool of_interface = parts.size() > kParts && parts[0] == "net" &&
                              (parts[1] == "ipv4" || parts[1] == "ipv6") &&
                              (parts[2] == "conf" || parts[2] == "neigh");
    if (!of_interface) return;
    std::string name;
    for (std::size_t i = 3; i + 1 < parts.size(); ++i)
      name += (name.empty() ? "" : ".") + std::string(parts[i]);
    error(where, fmt::format("[[sysctl]] key: {} is more than an interface and its setting", path),
          fmt::format("for the interface {} write key = \"{}/{}/{}/{}/{}\"", name, parts[0], parts[1],
                      parts[2], name, parts.back()));
  }

  /// The same ranges as with interface = .
  void check_range(const std::string& path, const model::Entry& value) {
    if (!path.starts_with("net/ipv4/conf/")) return;
    const auto key = path.substr(path.rfind('/') + 1);
    const auto* at = std::find_if(kOfInterface.begin(), kOfInterface.end(),
                                  [&](const Range& range) { return range.key == key; });
    if (at == kOfInterface.end()) return;
    const auto number = number_of(model::text_of(value.value));
    if (number && !number->negative && number->magnitude <= static_cast<std::uint64_t>(at->most)) return;
    error(value.where,
          fmt::format("[[sysctl]] value: {} is out of range for {}; must be from 0 to {}",
                      model::text_of(value.value), key, at->most),
          "");
  }

  /// `where`: the place of its name; `value_at`: its value.
  void add(const std::string& path, const model::Value& value, const model::Location& where,
           const model::Location& value_at) {
    if (const auto [first, fresh] = seen_.try_emplace(path, where); !fresh) {
      auto& d = diagnostics_.emplace_back(model::Diagnostic{
          Severity::kError, where, fmt::format("[[sysctl]] sets {} twice", path), "keep one of the two", {}});
      d.related.push_back({first->second, "the first one"});
      return;
    }
    Desired desired;
    desired.key = {std::string(kSysctlKind), path};
    desired.label = sysctl_label(path);
    desired.where = where;
    const model::Value text = model::text_of(value);
    desired.settings["value"] = desired.settings["file"] = text;
    desired.origins["value"] = desired.origins["file"] = value_at;
    if (const auto at = made_by_.find(sysctl_interface(path)); at != made_by_.end())
      desired.needs.push_back(at->second);
    if (const auto module = brought_by(path); !module.empty())
      desired.needs.push_back({std::string(kModuleKind), std::string(module)});
    out_.push_back(std::move(desired));
  }

  /// The module of the document that brings a setting; empty when there is none.
  [[nodiscard]] std::string_view brought_by(std::string_view path) const {
    for (const auto& [settings, modules] : setting_modules()) {
      if (!path.starts_with(settings)) continue;
      const auto at = std::find_if(modules.begin(), modules.end(),
                                   [&](std::string_view name) { return modules_.contains(name); });
      return at == modules.end() ? std::string_view() : *at;
    }
    return {};
  }

  const World& world_;
  std::map<std::string, model::Key> made_by_;
  std::set<std::string, std::less<>> modules_;
  std::map<std::string, model::Location> seen_;
  std::vector<Desired>& out_;
  Diagnostics& diagnostics_;
};

/// The kernel does not mind, but a table that is cleaned above its limit is never clean (arp(7)).
void check_thresholds(const std::vector<Desired>& desired, Diagnostics& diagnostics) {
  for (const auto* family : {"ipv4", "ipv6"}) {
    std::optional<std::uint64_t> last;
    for (int i = 1; i <= 3; ++i) {
      const auto path = fmt::format("net/{}/neigh/default/gc_thresh{}", family, i);
      for (const auto& resource : desired) {
        if (resource.key.kind != kSysctlKind || resource.key.id != path) continue;
        const auto number = base::parse_number(model::text_of(model::value_of(resource.settings, "value")));
        if (last && number && *number < *last) {
          diagnostics.push_back({Severity::kError,
                                 resource.origins.at("value"),
                                 fmt::format("[[sysctl]] {}: {} is less than the threshold before it, {}",
                                             path, *number, *last),
                                 "gc_thresh1 <= gc_thresh2 <= gc_thresh3",
                                 {}});
        }
        if (number) last = number;
      }
    }
  }
}

}  // namespace

std::string sysctl_interface(std::string_view path) {
  const auto parts = base::split(path, '/');
  if (parts.size() != 5 || parts[0] != "net" || (parts[2] != "conf" && parts[2] != "neigh")) return {};
  if (parts[3] == "all" || parts[3] == "default") return {};
  return std::string(parts[3]);
}

std::string sysctl_path_of(const std::string& path, const std::string& interface) {
  const auto parts = base::split(path, '/');
  if (parts.size() != 5) return path;  // a record of another version
  return fmt::format("{}/{}/{}/{}/{}", parts[0], parts[1], parts[2], interface, parts[4]);
}

std::string overruled_by_all(const std::string& path, std::string_view value, std::string_view all) {
  // IN_DEV_MAXCONF, and IN_DEV_ORCONF, which is the same of 0 and 1.
  constexpr std::array<std::string_view, 13> kLarger{
      "arp_ignore",     "arp_announce",   "arp_notify",      "rp_filter",    "arp_filter",
      "accept_local",   "log_martians",   "proxy_arp",       "shared_media", "send_redirects",
      "src_valid_mark", "route_localnet", "secure_redirects"};
  constexpr std::array<std::string_view, 3> kSmaller{"accept_source_route", "bootp_relay", "bc_forwarding"};
  if (!path.starts_with("net/ipv4/conf/")) return {};
  const auto name = path.substr(path.rfind('/') + 1);
  const bool larger = std::find(kLarger.begin(), kLarger.end(), name) != kLarger.end();
  const bool smaller = std::find(kSmaller.begin(), kSmaller.end(), name) != kSmaller.end();
  const auto general = base::parse_number(all), own = base::parse_number(value);
  if (!general || !own) return {};
  if ((larger && *general > *own) || (smaller && *general < *own)) {
    return fmt::format("{} is {}, and the kernel takes the {} of the two", sysctl_path_of(path, "all"),
                       *general, larger ? "larger" : "smaller");
  }
  return {};
}

std::string sysctl_label(const std::string& path) {
  const auto interface = sysctl_interface(path);
  if (interface.empty()) return path;
  return interface + " " + path.substr(path.rfind('/') + 1);
}

bool same_sysctl_value(std::string_view value, std::string_view other) {
  if (value == other) return true;
  const auto words = base::split(value, ' '), others = base::split(other, ' ');
  return std::equal(words.begin(), words.end(), others.begin(), others.end(),
                    [](std::string_view a, std::string_view b) {
                      const auto number = number_of(a);
                      return number && number == number_of(b);
                    });
}

void parse_sysctl_entries(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) {
  const auto sections = bound.of(kSysctlKind);
  if (sections.empty()) return;
  Parser parser(bound, out, diagnostics);
  for (const auto* section : sections) parser.parse(*section);
  check_thresholds(out, diagnostics);
}

}  // namespace rdmacfg::kinds
