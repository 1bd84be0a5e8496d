// SPDX-License-Identifier: Apache-2.0
#include "kinds/sysctl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.hpp"
#include "kinds/entry.hpp"
#include "kinds/pkey.hpp"
#include "kinds/sysctl_file.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kKind = "sysctl";
// In Change::carried: whose setting it is, and its value then if the interface is about to get the name.
constexpr std::string_view kIndex = "index ";
constexpr std::string_view kFormer = "value ";

struct Range {
  std::string_view key;
  std::int64_t most;
};
constexpr std::array<Range, 5> kOfInterface{
    {{"arp_ignore", 8}, {"arp_announce", 2}, {"arp_filter", 1}, {"rp_filter", 2}, {"accept_local", 1}}};

/// The interface of "net/ipv4/conf/NAME/key"; empty for the kernel's own and for other settings.
std::string interface_of(std::string_view path) {
  const auto parts = base::split(path, '/');
  if (parts.size() != 5 || parts[0] != "net" || (parts[2] != "conf" && parts[2] != "neigh")) return {};
  if (parts[3] == "all" || parts[3] == "default") return {};
  return std::string(parts[3]);
}

std::string label_of(const std::string& path) {
  const auto interface = interface_of(path);
  if (interface.empty()) return path;
  return interface + " " + path.substr(path.rfind('/') + 1);
}

/// The path with another interface's name.
std::string path_of(const std::string& path, const std::string& interface) {
  const auto parts = base::split(path, '/');
  return fmt::format("{}/{}/{}/{}/{}", parts[0], parts[1], parts[2], interface, parts[4]);
}

std::optional<std::string> carried(const Change& change, std::string_view what) {
  for (const auto& text : change.carried) {
    if (text.starts_with(what)) return text.substr(what.size());
  }
  return std::nullopt;
}

/// The path of a change now: its interface may have another name than when it was planned.
std::string path_now(const Change& change, const std::vector<system::Link>& links) {
  const auto index = base::parse_number(carried(change, kIndex).value_or(""));
  const auto at = std::find_if(links.begin(), links.end(), [&](const auto& link) {
    return index && static_cast<std::uint64_t>(link.index) == *index;
  });
  return at == links.end() ? change.key.id : path_of(change.key.id, at->name);
}

/// What names an interface in the same document, and has to come first.
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

class SysctlKind final : public Kind {
 public:
  [[nodiscard]] std::string_view name() const override { return kKind; }
  [[nodiscard]] std::span<const model::FieldSpec> fields() const override { return model::specs<Sysctl>(); }

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const auto sections = bound.of(kKind);
    if (sections.empty()) return;
    std::map<std::string, model::Location> seen;
    const auto made_by = makers(bound);
    const auto add = [&](const std::string& path, const model::Value& value, const model::Location& where) {
      if (const auto [first, fresh] = seen.try_emplace(path, where); !fresh) {
        auto& d = diagnostics.emplace_back(model::Diagnostic{Severity::kError,
                                                             where,
                                                             fmt::format("[[sysctl]] sets {} twice", path),
                                                             "keep one of the two",
                                                             {}});
        d.related.push_back({first->second, "the first"});
        return;
      }
      Desired desired;
      desired.key = {std::string(kKind), path};
      desired.label = label_of(path);
      desired.where = where;
      const model::Value text = model::text_of(value);
      desired.settings["value"] = desired.settings["file"] = text;
      desired.origins["value"] = desired.origins["file"] = where;
      if (const auto at = made_by.find(interface_of(path)); at != made_by.end()) {
        desired.needs.push_back(at->second);
      }
      out.push_back(std::move(desired));
    };
    for (const auto* section : sections) {
      if (const auto* interface = section->find("interface")) {
        parse_interface(*section, model::text_of(interface->value), add, diagnostics);
      } else if (const auto* key = section->find("key")) {
        const auto* value = section->find("value");
        if (value == nullptr) {
          diagnostics.push_back(
              {Severity::kError, section->where, "[[sysctl]] value is missing", "a key needs its value", {}});
        } else {
          add(model::text_of(key->value), value->value, value->where);
        }
        for (const auto& [name, most] : kOfInterface) {
          if (const auto* entry = section->find(name)) {
            diagnostics.push_back({Severity::kError,
                                   entry->where,
                                   fmt::format("[[sysctl]] {}: it belongs to an entry with interface", name),
                                   "write another [[sysctl]] entry for the interface",
                                   {}});
          }
        }
      }
    }
    check_thresholds(out, diagnostics);
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto ours = read_sysctl_file(world.host().files);
    if (!ours) return base::fail(ours.error());
    std::set<std::string> paths;
    for (const auto& [path, value] : *ours) paths.insert(path);
    for (auto& path : world.concerned(kKind)) paths.insert(std::move(path));
    std::vector<Observed> out;
    for (const auto& path : paths) {
      Observed observed;
      observed.key = {std::string(kKind), path};
      observed.label = label_of(path);
      if (const auto at = ours->find(path); at != ours->end()) {
        observed.settings["file"] = at->second;
        observed.ours_by_nature = true;
      }
      if (!world.offline()) {
        if (const auto now = world.host().sysctl.read(path)) {
          observed.settings["value"] = *now;
          const auto interface = interface_of(path);
          const auto* link = interface.empty() ? nullptr : world.named(interface);
          observed.instance = link != nullptr ? world.instance(*link) : world.host().boot_id;
        }
      }
      // Also with nothing known of it: its interface may have gone just now.
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    std::set<std::string> live;
    for (const auto& one : observed) {
      if (one.key.kind == kKind && one.settings.contains("value")) live.insert(one.key.id);
    }
    for (auto& one : desired) {
      if (one.key.kind != kKind) continue;
      if (!live.contains(one.key.id) && one.needs.empty()) {
        one.settings.erase("value");
        const auto interface = interface_of(one.key.id);
        if (!world.offline()) {
          one.pending = interface.empty() ? "the kernel has no such setting now (is its module loaded?)"
                                          : fmt::format("there is no interface {} now", interface);
        }
      } else if (!live.contains(one.key.id) && (world.offline() || !comes(one, desired, world))) {
        one.settings.erase("value");
        if (!world.offline())
          one.pending = fmt::format("there is no interface {} now", interface_of(one.key.id));
      }
      const auto others = foreign_sysctls(world.host().files, one.key.id);
      if (!others) continue;
      for (const auto& other : *others) {
        if (other.value == model::text_of(model::value_of(one.settings, "file"))) continue;
        diagnostics.push_back(
            {Severity::kWarning,
             one.where,
             fmt::format("{}:{} sets {} to {}", other.file, other.line, one.key.id, other.value),
             other.wins
                 ? "systemd-sysctl reads that file after ours, so it wins at boot: remove the line there"
                 : "ours is read later and wins; remove the line there to keep the two from disagreeing",
             {}});
      }
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (world.offline()) return {};
    for (auto* change : changes) {
      const auto interface = interface_of(change->key.id);
      const auto* link = interface.empty() ? nullptr : interface_meant(*change, interface, world);
      if (link == nullptr) continue;
      change->carried.push_back(fmt::format("{}{}", kIndex, link->index));
      if (link->name == interface) continue;
      if (const auto now = world.host().sysctl.read(path_of(change->key.id, link->name)))
        change->carried.push_back(std::string(kFormer) + *now);
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto ours = read_sysctl_file(host.files);
    if (!ours) return base::fail(ours.error());
    const auto before = *ours;
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<Sysctl>(change.after);
      if (wanted.file) {
        ours->insert_or_assign(change.key.id, wanted.file->text);
      } else {
        ours->erase(change.key.id);
      }
    }
    if (*ours != before) {
      if (auto done = write_sysctl_file(host.files, *ours); !done) return done;
    }
    if (host.offline) return {};
    std::vector<system::Link> links;
    if (std::any_of(changes.begin(), changes.end(), [](const auto& one) { return !one.carried.empty(); })) {
      auto found = host.links.observe_links();
      if (!found) return base::fail(found.error());
      links = std::move(*found);
    }
    std::map<std::string, std::string> values;
    // What is given back to an interface that was renamed yields to what is wanted of its new name.
    for (const bool moved : {true, false}) {
      for (const auto& change : changes) {
        const auto path = path_now(change, links);
        if ((path != change.key.id) != moved) continue;
        const auto wanted = model::from_attributes<Sysctl>(change.after).value;
        auto value = wanted ? wanted->text : carried(change, kFormer);
        if (value) values.insert_or_assign(path, std::move(*value));
      }
    }
    for (const auto& [path, value] : values) {
      const auto now = host.sysctl.read(path);
      // Without its interface a setting is not there; that is for the verification to judge.
      if (!now && !interface_of(path).empty()) continue;
      if (now == value) continue;
      if (auto done = host.sysctl.write(path, value); !done) {
        if (host.sysctl.read(path) || interface_of(path).empty()) return done;
      }
    }
    return {};
  }

  /// A new plan does not know any more which interface a value was to be given back to.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    return apply(changes, host);
  }

  Verdict judge(const Desired& desired, const Observed* observed,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    Verdict verdict;
    const auto interface = interface_of(desired.key.id);
    if (observed == nullptr || interface.empty() || world.offline()) return verdict;
    const auto name = desired.key.id.substr(desired.key.id.rfind('/') + 1);
    // Of these the kernel takes the larger one (IN_DEV_MAXCONF of include/linux/inetdevice.h).
    if (name != "arp_ignore" && name != "arp_announce" && name != "rp_filter") return verdict;
    const auto all = world.host().sysctl.read("net/ipv4/conf/all/" + name);
    const auto wanted = model::from_attributes<Sysctl>(desired.settings);
    if (!all || !wanted.value) return verdict;
    const auto high = base::parse_number(*all);
    const auto low = base::parse_number(wanted.value->text);
    if (high && low && *high > *low) {
      verdict.warnings.push_back(
          fmt::format("net/ipv4/conf/all/{} is {}, and the kernel takes the larger of the two", name, *high));
    }
    return verdict;
  }

  [[nodiscard]] bool works_offline() const override { return true; }
  [[nodiscard]] bool listed_when_foreign() const override { return false; }

  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& before,
                             const model::Attributes& /*then*/) const override {
    return field == "file" || before.contains(field);
  }

  [[nodiscard]] bool has_to_stay(const model::Observed& then, const World& now) const override {
    return then.instance == now.host().boot_id;  // one of an interface goes with it
  }

  [[nodiscard]] bool reachable(const model::Key& /*key*/, const World& /*world*/) const override {
    return true;  // the file can always be written
  }

  [[nodiscard]] std::string footing(const Change& change, const World& world) const override {
    const auto index = base::parse_number(carried(change, kIndex).value_or(""));  // as prepare() found it
    return index ? footing_on(world.link(static_cast<int>(*index)), world) : std::string();
  }

 private:
  /// The interface that has the name now, or is about to get it: what the change needs gives it.
  static const system::Link* interface_meant(const Change& change, const std::string& interface,
                                             const World& world) {
    for (const auto& need : change.needs) {
      const auto guid = need.kind == "link_name" ? model::Guid::parse(need.id) : model::Guid::parse("");
      if (guid) return world.parent(*guid);
    }
    const auto* link = change.needs.empty() ? world.named(interface) : nullptr;
    return link != nullptr && link->name == interface ? link : nullptr;
  }

  template <class Add>
  static void parse_interface(const model::Section& section, const std::string& interface, const Add& add,
                              Diagnostics& diagnostics) {
    if (const auto* value = section.find("value")) {
      diagnostics.push_back({Severity::kError,
                             value->where,
                             "[[sysctl]] value: it belongs to an entry with key",
                             "an interface has arp_ignore, arp_announce, arp_filter, rp_filter, accept_local",
                             {}});
    }
    bool any = false;
    for (const auto& [name, most] : kOfInterface) {
      const auto* entry = section.find(name);
      if (entry == nullptr) continue;
      any = true;
      const auto number = std::get<std::int64_t>(entry->value);
      if (number < 0 || number > most) {
        diagnostics.push_back(
            {Severity::kError,
             entry->where,
             fmt::format("[[sysctl]] {}: {} is out of range, has to be 0 to {}", name, number, most),
             "",
             {}});
        continue;
      }
      add(fmt::format("net/ipv4/conf/{}/{}", interface, name), entry->value, entry->where);
    }
    if (!any) {
      diagnostics.push_back({Severity::kWarning,
                             section.where,
                             fmt::format("[[sysctl]] {}: no setting is given", interface),
                             "nothing is done about it",
                             {}});
    }
  }

  /// The kernel does not mind, but a table that is cleaned above its limit is never clean (arp(7)).
  static void check_thresholds(const std::vector<Desired>& desired, Diagnostics& diagnostics) {
    for (const auto* family : {"ipv4", "ipv6"}) {
      std::optional<std::uint64_t> last;
      for (int i = 1; i <= 3; ++i) {
        const auto path = fmt::format("net/{}/neigh/default/gc_thresh{}", family, i);
        for (const auto& one : desired) {
          if (one.key.kind != kKind || one.key.id != path) continue;
          const auto number = base::parse_number(model::text_of(model::value_of(one.settings, "value")));
          if (last && number && *number < *last) {
            diagnostics.push_back({Severity::kError,
                                   one.where,
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

  /// Whether what makes the interface is going to do so in this run.
  static bool comes(const Desired& one, const std::vector<Desired>& desired, const World& /*world*/) {
    for (const auto& other : desired) {
      if (other.key != one.needs.front()) continue;
      return !other.pending && !other.ignore && !other.absent;
    }
    return false;
  }
};

}  // namespace

model::SectionSpec sysctl_section() {
  model::SectionSpec section{
      .name = "sysctl",
      .doc = "Kernel settings that large fabrics and several rails need, of an interface or by name.",
      .identities = {{"interface"}, {"key"}}};
  add_written(section.fields, model::specs<SysctlEntry>());
  return section;
}

const Kind& sysctl() {
  static const SysctlKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
