// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/sysctl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "formats/sysctl_conf.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/sysctl_check.hpp"
#include "kinds/host/sysctl_entry.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr auto kSysctlCompetitors = std::to_array<std::string_view>(
    {"NetworkManager", "systemd-network", "tuned", "systemd-sysctl", "mlnx_tune"});

// In Change::carried: whose setting it is, and its value then if the interface is about to get the name.
constexpr std::string_view kIndex = "index ";
constexpr std::string_view kFormer = "value ";

std::optional<std::string> carried(const Change& change, std::string_view what) {
  for (const auto& text : change.carried) {
    if (text.starts_with(what)) return text.substr(what.size());
  }
  return std::nullopt;
}

/// A value as a text; an empty one is a value too (net.ipv4.ip_local_reserved_ports without ports).
std::optional<std::string> text_in(const model::Attributes& attributes, std::string_view field) {
  const auto& value = model::value_of(attributes, field);
  return value == model::Value{} ? std::nullopt : std::optional(model::text_of(value));
}

/// Whether /proc/sys has a setting although it cannot be read: some are only there to be written
/// (net.ipv4.route.flush), some fail until they are set (stable_secret).
bool is_unreadable(const std::string& path, system::Host& host) {
  const auto slash = path.rfind('/');
  const auto names = host.files.list("/proc/sys/" + path.substr(0, slash));
  const bool listed =
      names && std::find(names->begin(), names->end(), path.substr(slash + 1)) != names->end();
  return listed && !host.sysctl.read(path);  // its interface may have come just now
}

/// The path of a change now: its interface may have another name than when it was planned.
std::string path_now(const Change& change, const std::vector<system::Link>& links) {
  const auto index = base::parse_number(carried(change, kIndex).value_or(""));
  const auto at = std::find_if(links.begin(), links.end(), [&](const auto& link) {
    return index && static_cast<std::uint64_t>(link.index) == *index;
  });
  return at == links.end() ? change.key.id : sysctl_path_of(change.key.id, at->name);
}

std::string remedy_of_line(const ForeignSysctl& line, const OtherSysctlSetters& setters) {
  if (line.wins)
    return "systemd-sysctl reads that file after ours, so it wins at boot: remove the line there";
  if (setters.tuned_reads_last(line.file))
    return "tuned reads that file after ours (reapply_sysctl), so it wins: remove the line there";
  return "ours is read later and wins; remove the line there to keep the two from disagreeing";
}

/// Where a pattern of another file gives each interface a value: one that comes has it instead of the
/// default.
void warn_of_pattern_before_default(const Desired& resource, const ForeignSysctls& foreign,
                                    Diagnostics& diagnostics) {
  constexpr std::string_view kDefault = "/conf/default/";
  auto glob = resource.key.id;
  const auto at = glob.find(kDefault);
  const auto ours = text_in(resource.settings, "file");
  if (at == std::string::npos || !glob.starts_with("net/") || !ours) return;
  glob.replace(at, kDefault.size(), "/conf/*/");
  for (const auto& pattern : foreign.patterns) {
    if (pattern.glob != glob || same_sysctl_value(pattern.line.value, *ours)) continue;
    diagnostics.push_back(
        {Severity::kWarning,
         resource.where,
         fmt::format("{}:{} sets {} to {} on each interface that appears, so {} has no effect there",
                     pattern.line.file, pattern.line.line, glob, pattern.line.value, resource.key.id),
         "write an entry with the name of each interface that needs another value",
         {}});
  }
}

constexpr std::array kSysctlFiles{OwnedFile{.path = kSysctlFile, .what = "Kernel settings."}};

class SysctlKind final : public Kind, public NeedsWatching, public MustStay, public KeepsSecrets {
 public:
  SysctlKind()
      : Kind({.name = kSysctlKind,
              .fields = model::specs<Sysctl>(),
              .traits = {.works_offline = true, .listed_when_foreign = false, .on_any_interface = true},
              .files = kSysctlFiles,
              .competitors = kSysctlCompetitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    parse_sysctl_entries(bound, out, diagnostics);
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto ours = read_sysctl_file(world.host().files);
    if (!ours) return base::fail(ours.error());
    std::set<std::string> paths;
    for (const auto& [path, value] : *ours) paths.insert(path);
    for (auto& path : world.tracked(kSysctlKind)) paths.insert(std::move(path));
    std::vector<Observed> out;
    for (const auto& path : paths) {
      Observed observed;
      observed.key = {std::string(kSysctlKind), path};
      observed.label = sysctl_label(path);
      if (const auto at = ours->find(path); at != ours->end()) {
        observed.settings["file"] = at->second;
        observed.ours_by_nature = true;
      }
      if (!world.offline()) {
        if (const auto now = world.host().sysctl.read(path)) {
          // In the spelling of our file where that is the same number: the kernel shows 8192 for 0x2000.
          const auto written = ours->find(path);
          const bool same = written != ours->end() && same_sysctl_value(*now, written->second);
          observed.settings["value"] = same ? written->second : *now;
          const auto interface = sysctl_interface(path);
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
    for (const auto& resource : observed) {
      if (resource.key.kind == kSysctlKind && resource.settings.contains("value"))
        live.insert(resource.key.id);
    }
    const auto makers = model::by_key(desired);
    std::optional<OtherSysctlSetters> setters;  // once they are needed
    ForeignSysctls foreign;
    for (auto& resource : desired) {
      if (resource.key.kind != kSysctlKind) continue;
      if (!setters) {
        setters.emplace(world.host().files);
        foreign = read_foreign_sysctls(world.host().files, setters->sysctl_conf());
      }
      setters->warn(resource, diagnostics);
      const bool may_come = !resource.needs.empty() && !world.offline() && comes(resource, makers);
      if (!live.contains(resource.key.id) && !may_come) {
        resource.settings.erase("value");
        if (!world.offline()) explain_missing(resource, world, diagnostics);
      }
      warn_of_pattern_before_default(resource, foreign, diagnostics);
      const auto others = foreign.lines.find(resource.key.id);
      if (others == foreign.lines.end()) continue;
      for (const auto& other : others->second) {
        if (setters->ufw_sets(other.file)) continue;  // already reported
        if (other.excludes && !other.wins) continue;  // ours comes later
        if (other.excludes) {
          diagnostics.push_back({Severity::kWarning,
                                 resource.where,
                                 fmt::format("{}:{} keeps systemd-sysctl from setting {} at boot", other.file,
                                             other.line, resource.key.id),
                                 "systemd-sysctl reads that file after ours: remove the line there",
                                 {}});
          continue;
        }
        if (same_sysctl_value(other.value, model::text_of(model::value_of(resource.settings, "file"))))
          continue;
        diagnostics.push_back(
            {Severity::kWarning,
             resource.where,
             fmt::format("{}:{} sets {} to {}", other.file, other.line, resource.key.id, other.value),
             remedy_of_line(other, *setters),
             {}});
      }
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (world.offline()) return {};
    for (auto* change : changes) {
      const auto interface = sysctl_interface(change->key.id);
      const auto* link = interface.empty() ? nullptr : interface_meant(*change, interface, world);
      if (link == nullptr) continue;
      change->carried.push_back(fmt::format("{}{}", kIndex, link->index));
      if (link->name == interface) continue;
      if (const auto now = world.host().sysctl.read(sysctl_path_of(change->key.id, link->name)))
        change->carried.push_back(std::string(kFormer) + *now);
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto ours = read_sysctl_file(host.files);
    if (!ours) return base::fail(ours.error());
    const auto before = *ours;
    for (const auto& change : changes) {
      if (auto wanted = text_in(change.after, "file")) {
        ours->insert_or_assign(change.key.id, std::move(*wanted));
      } else {
        ours->erase(change.key.id);
      }
    }
    if (*ours != before) {
      if (auto done = write_sysctl_file(host.files, *ours); !done) return done;
    }
    if (host.offline) return {};
    std::vector<system::Link> links;
    if (std::any_of(changes.begin(), changes.end(),
                    [](const auto& change) { return !change.carried.empty(); })) {
      auto found = host.links.observe_links();
      if (!found) return base::fail(found.error());
      links = std::move(*found);
    }
    std::map<std::string, std::string> values;
    // A value given back to a renamed interface yields to the value wanted of its new name.
    for (const bool moved : {true, false}) {
      for (const auto& change : changes) {
        const auto path = path_now(change, links);
        if ((path != change.key.id) != moved) continue;
        auto value = text_in(change.after, "value");
        if (!value) value = carried(change, kFormer);
        if (value) values.insert_or_assign(path, std::move(*value));
      }
    }
    for (const auto& [path, value] : values) {
      const auto now = host.sysctl.read(path);
      // Without its interface a setting is not there; that is for the verification to judge.
      if (!now && !sysctl_interface(path).empty()) continue;
      if (now && same_sysctl_value(*now, value)) continue;
      if (auto done = host.sysctl.write(path, value); !done) {
        if (host.sysctl.read(path) || sysctl_interface(path).empty()) return done;
      }
      // The kernel's form of lists (1000-1002 of 1000,1001,1002) or of times in milliseconds would differ
      // from the document for ever.
      const auto then = host.sysctl.read(path);
      if (!then || then == now || same_sysctl_value(*then, value)) continue;
      return base::fail(base::Code::kInvalid,
                        fmt::format("{}: the kernel does not show \"{}\" as it was written; write it as the "
                                    "kernel shows it: \"{}\"",
                                    path, value, *then));
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
    const auto interface = sysctl_interface(desired.key.id);
    if (observed == nullptr || interface.empty() || world.offline()) return verdict;
    const auto wanted = model::from_attributes<Sysctl>(desired.settings);
    const auto all = world.host().sysctl.read(sysctl_path_of(desired.key.id, "all"));
    if (!all || !wanted.value) return verdict;
    auto why = overruled_by_all(desired.key.id, wanted.value->text, *all);
    if (!why.empty()) verdict.warnings.push_back(std::move(why));
    return verdict;
  }

  void watched(const model::ResourceReport& resource, system::Settings& out) const override {
    out.files.insert("/proc/sys/" + resource.key.id);
  }

  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& before,
                             const model::Attributes& /*then*/) const override {
    return field == "file" || before.contains(field);
  }

  [[nodiscard]] bool has_to_stay(const model::Observed& then, const World& now) const override {
    return then.instance == now.host().boot_id;  // one of an interface goes with it
  }

  [[nodiscard]] bool is_secret(const model::Key& key, system::Host& host) const override {
    return host.sysctl.hidden(key.id);
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    const auto index = base::parse_number(carried(change, kIndex).value_or(""));  // as prepare() found it
    return index ? parent_object_on(world.link(static_cast<int>(*index)), world) : std::string();
  }

 private:
  /// The interface that has the name now, or is about to get it: the change's dependencies give it.
  static const system::Link* interface_meant(const Change& change, const std::string& interface,
                                             const World& world) {
    for (const auto& need : change.needs) {
      const auto guid = need.kind == "link_name" ? model::Guid::parse(need.id) : model::Guid::parse("");
      if (guid) return world.parent(*guid);
    }
    const auto* link = change.needs.empty() ? world.named(interface) : nullptr;
    return link != nullptr && link->name == interface ? link : nullptr;
  }

  /// Of a setting that the kernel does not show.
  static void explain_missing(Desired& desired, World& world, Diagnostics& diagnostics) {
    const auto& path = desired.key.id;
    const auto interface = sysctl_interface(path);
    const auto* link = interface.empty() ? nullptr : world.named(interface);
    if (is_unreadable(path, world.host())) {
      desired.pending = path + " cannot be read back";
      diagnostics.push_back({Severity::kError,
                             desired.where,
                             fmt::format("[[sysctl]] {} cannot be read back", path),
                             "it could never be verified; set it by a command or a unit",
                             {}});
    } else if (link != nullptr && link->name != interface) {
      desired.pending = fmt::format("{} is an alternative name of {}", interface, link->name);  // reported
    } else {
      desired.pending = interface.empty() ? "the running kernel does not have this setting"
                                          : fmt::format("interface {} does not exist", interface);
      if (interface.empty()) {
        const auto near = similar(path, world.host().files);
        diagnostics.push_back({Severity::kWarning,
                               desired.where,
                               fmt::format("[[sysctl]] key: the running kernel does not have {}", path),
                               near ? fmt::format("did you mean \"{}\"?", *near)
                                    : "the entry is pending until a module adds the setting; check the "
                                      "spelling, or load the module with "
                                      "[[module]]",
                               {}});
      }
    }
  }

  /// The setting that /proc/sys has and that was probably meant, its parts in dots.
  static std::optional<std::string> similar(const std::string& path, system::Files& files) {
    std::string folder = "/proc/sys";
    const auto parts = base::split(path, '/');
    std::string out;
    bool other = false;
    for (const auto part : parts) {
      const auto names = files.list(folder);
      if (!names || names->empty()) return std::nullopt;
      std::string name(part);
      if (std::find(names->begin(), names->end(), name) == names->end()) {
        const auto near = base::nearest(part, *names);
        if (!near) return std::nullopt;
        name = *near;
        other = true;
      }
      folder += '/' + name;
      out += (out.empty() ? "" : ".") + name;
    }
    return other ? std::optional(out) : std::nullopt;
  }

  /// Whether the entry that makes its interface, or loads its module, is going to do so in this run.
  static bool comes(const Desired& desired, const std::map<model::Key, const Desired*>& makers) {
    const auto at = makers.find(desired.needs.front());
    return at != makers.end() && !at->second->pending && !at->second->ignore && !at->second->absent;
  }
};

}  // namespace

model::SectionSpec sysctl_section() {
  model::SectionSpec section{
      .name = "sysctl",
      .doc = "Kernel settings for large fabrics and several rails, by interface or by name.",
      .identities = {{"interface"}, {"key"}}};
  add_written(section.fields, model::specs<SysctlEntry>());
  return section;
}

const Kind& sysctl() {
  static const SysctlKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds

namespace rdmacfg::model {

base::Result<ConfName> Codec<ConfName>::parse(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  if (text != nullptr && (*text == "all" || *text == "default")) return ConfName{*text};
  return Codec<InterfaceName>::parse(written).map(
      [](InterfaceName name) { return ConfName{std::move(name.text)}; });
}
Value Codec<ConfName>::value(const ConfName& parsed) { return parsed.text; }

}  // namespace rdmacfg::model
