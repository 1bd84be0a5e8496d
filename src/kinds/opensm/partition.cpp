// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "formats/opensm/opensm_conf.hpp"
#include "formats/opensm/opensm_options.hpp"
#include "formats/opensm/partitions_conf.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/ipoib/pkey.hpp"
#include "kinds/opensm/opensm_option.hpp"
#include "kinds/opensm/opensm_rates.hpp"
#include "kinds/opensm/opensm_running.hpp"
#include "kinds/opensm/partition_rule.hpp"
#include "kinds/opensm/partition_warnings.hpp"

namespace rdmacfg::kinds {

using base::Result;
using detail::AllListed;
using detail::Listed;
using detail::warn_of_members;
using detail::warn_outside;
using detail::warn_unlisted;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Location;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kPartitionKind = "partition";

/// Tells the subnet managers of this host to read the file again.
Result<void> tell(std::span<const Change> changes, system::Host& host) {
  if (host.offline) return {};
  return reread_partitions(host, units_that_ran(changes));
}

constexpr std::array kPartitionFiles{OwnedFile{.path = "/etc/opensm/partitions.conf",
                                               .what = "Partitions of the fabric (Debian, SUSE).",
                                               .extent = OwnedFile::Extent::kBlock,
                                               .marks = &kOpensmMarks,
                                               .notes = kOpensmNotes},
                                     OwnedFile{.path = "/etc/rdma/partitions.conf",
                                               .what = "Partitions of the fabric (RHEL, Fedora).",
                                               .extent = OwnedFile::Extent::kBlock,
                                               .marks = &kOpensmMarks,
                                               .notes = kOpensmNotes}};

/// "storage=0x8002, ipoib : ALL=full;" → "storage".
std::string name_of_rule(std::string_view rule) { return std::string(rule.substr(0, rule.find('='))); }

/// Whether a member is named with the membership both.
bool any_both(const Partition& wanted) {
  const auto members = wanted.members.value_or(std::vector<std::string>());
  return std::any_of(members.begin(), members.end(), [](const std::string& text) {
    const auto member = parse_member(text);
    return member && member->membership == kBothMemberships;
  });
}

/// Rules of others in partitions.conf, by the two keys that may occur once only.
class ForeignRules {
 public:
  ForeignRules(const Partitions& partitions, const std::string& path) : path_(path) {
    for (const auto& foreign : partitions.foreign) {
      by_name_[foreign.name].push_back(&foreign);
      by_number_[foreign.partition].push_back(&foreign);
    }
  }

  void report_clashes(const Desired& resource, model::Pkey pkey, Diagnostics& diagnostics) {
    const auto name = name_of_rule(model::text_at(resource.settings, "rule"));
    for (const auto* foreign : by_name_[name]) {
      if (foreign->partition == pkey.partition()) continue;
      diagnostics.push_back({Severity::kError,
                             resource.where,
                             fmt::format("{}:{} already has a partition called {}, which is {:#06x}", path_,
                                         foreign->line, name, foreign->partition),
                             "write another name; a QoS policy finds partitions by name",
                             {}});
    }
    for (const auto* foreign : by_number_[pkey.partition()]) {
      diagnostics.push_back(
          {Severity::kError,
           resource.where,
           fmt::format("{}:{} already has a rule for {:#06x}", path_, foreign->line, pkey.partition()),
           "remove that rule, or this entry",
           {}});
    }
  }

 private:
  const std::string& path_;
  std::map<std::string, std::vector<const Partitions::Foreign*>> by_name_;
  std::map<std::uint16_t, std::vector<const Partitions::Foreign*>> by_number_;
};

class PartitionKind final : public Kind {
 public:
  PartitionKind()
      : Kind({.name = kPartitionKind,
              .fields = model::specs<Partition>(),
              .traits = {.works_offline = true},
              .files = kPartitionFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const auto sections = bound.of(kPartitionKind);
    if (sections.empty()) return;
    AllListed listed;
    std::map<std::string, Location> names;
    for (const auto* section : sections) {
      const auto wanted = model::from_attributes<Partition>(section->attributes());
      if (!wanted.pkey) continue;  // reported already, by the grammar
      auto rule = make_rule(*section, wanted, diagnostics);
      auto desired = desired_of(*section, fields(), {std::string(kPartitionKind), wanted.pkey->text()},
                                "partition " + name_of_rule(rule.text));
      if (const auto [first, fresh] = names.try_emplace(name_of_rule(rule.text), section->where); !fresh) {
        auto& d = diagnostics.emplace_back(model::Diagnostic{
            Severity::kError,
            section->where,
            fmt::format("[[partition]] name: two partitions would have the name {}", first->first),
            "a QoS policy finds partitions by name, and would use one of them",
            {}});
        d.related.push_back({first->second, "the first one"});
      }
      set_derived(desired, "rule", rule.text, section->where);
      out.push_back(std::move(desired));
      warn_of_members(*section, rule, diagnostics);
      listed.emplace(wanted.pkey->partition(), Listed{section->where, std::move(rule)});
    }
    for (const auto& port : bound.ports) warn_outside(port, listed, bound.world->offline(), diagnostics);
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    const auto file = read(world.host().files);
    if (!file) return base::fail(file.error());
    if (file->partitions.damage) return out;  // check() says so; our lines are not known
    for (const auto& [partition, rule] : file->partitions.rules) {
      out.push_back(
          observed_in_own_file({std::string(kPartitionKind), fmt::format("{:#06x}", partition | 0x8000U)},
                               "partition " + name_of_rule(rule), {{"rule", rule}}));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    const auto file = read(world.host().files);
    if (!file) return;  // observe() has failed for it
    const auto& [there, path, installed] = *file;
    report_damage(there.damage, path, kPartitionKind, desired, our_lines(there.rules), diagnostics);
    const Desired* first = nullptr;
    std::set<std::uint16_t> ours;
    ForeignRules foreign_rules(there, path);
    for (auto& resource : desired) {
      if (resource.key.kind != kPartitionKind) continue;
      if (first == nullptr) first = &resource;
      const auto pkey = model::Pkey::parse(resource.key.id);
      if (!pkey) continue;
      ours.insert(pkey->partition());
      foreign_rules.report_clashes(resource, *pkey, diagnostics);
      if (!installed) postpone(resource, without_opensm(world.host().files));
    }
    if (first != nullptr && installed) {
      if (there.unread && !there.damage) warn_unread(*there.unread, path, first->where, diagnostics);
      warn_other_file(world.host().files, path, first->where, diagnostics);
      warn_without_option(desired, world.host().files, path, diagnostics);
      check_rates(desired, kPartitionKind, world.host().files, diagnostics);
    }
    if (first == nullptr) {
      hold_damaged(there.damage, path, kPartitionKind, our_lines(there.rules), desired);
      return;
    }
    for (const auto& resource : desired) {
      if (resource.key.kind != "pkey" || resource.absent || resource.ignore) continue;
      const auto pkey = pkey_of(resource.key);
      if (pkey && !ours.contains(pkey->partition()) && !there.has(pkey->partition()))
        warn_unlisted(resource.origins.contains("pkey") ? resource.origins.at("pkey") : resource.where, *pkey,
                      first->where, diagnostics);
    }
    if (ours.contains(kDefaultPartition) || there.has(kDefaultPartition)) return;
    diagnostics.push_back(
        {Severity::kWarning,
         first->where,
         fmt::format("{} will have no rule for the default partition 0x7fff: without it OpenSM makes every "
                     "host a limited member, and hosts cannot reach each other",
                     path),
         "add [[partition]] pkey = 0x7fff, members = [\"ALL=full\"]",
         {}});
  }

  /// Elsewhere than on Debian OpenSM is restarted for the file, and may end.
  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (world.offline() || observe_opensm_layout(world.host().files) == OpensmLayout::kDebian) return {};
    const auto running = running_opensm(world.host());
    if (!running) return base::fail(running.error());
    for (auto* change : changes) {
      for (const auto& unit : *running) change->carried.push_back(carried_unit(unit));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    const auto written = write_rules(changes, host.files);
    if (!written) return base::fail(written.error());
    return *written ? tell(changes, host) : Result<void>{};
  }

  /// A run that ended between the file and the restart leaves that to be done. Where OpenSM ends at the file,
  /// it runs again with the former rules, and the plan that follows fails with its own, as any does.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    auto done = tell(changes, host);
    if (done) return done;
    std::vector<Change> back(changes.begin(), changes.end());
    for (auto& change : back) std::swap(change.before, change.after);
    if (const auto written = write_rules(back, host.files); !written) return base::fail(written.error());
    return tell(changes, host);
  }

 private:
  struct File {
    Partitions partitions;
    std::string path;
    bool installed = false;
  };

  /// @return whether anything was changed
  static Result<bool> write_rules(std::span<const Change> changes, system::Files& files) {
    auto file = read(files);
    if (!file) return base::fail(file.error());
    auto& [partitions, path, installed] = *file;
    const auto before = partitions.rules;
    for (const auto& change : changes) {
      const auto pkey = model::Pkey::parse(change.key.id);
      if (!pkey) continue;
      const auto wanted = model::from_attributes<Partition>(change.after);
      if (wanted.rule) {
        partitions.rules.insert_or_assign(pkey->partition(), *wanted.rule);
      } else {
        partitions.rules.erase(pkey->partition());
      }
    }
    if (partitions.rules == before) return false;
    if (partitions.damage) return base::fail(error_of(*partitions.damage, path));
    const auto content = render_partitions(partitions);
    // OpenSM takes an empty file for one without a default rule.
    auto done = content.empty() ? files.remove(path) : files.edit(path, content);
    if (!done) return base::fail(done.error());
    return true;
  }

  /// The one file that everything here is about: it is the one read and written.
  static Result<File> read(system::Files& files) {
    const auto folder = observe_opensm_folder(files);
    if (!folder) return base::fail(folder.error());
    File out;
    out.installed = folder->has_value();
    out.path = folder->value_or("/etc/opensm") + "/partitions.conf";
    auto file = read_marked(files, out.path);
    if (!file) return base::fail(file.error());
    out.partitions = parse_partitions(file->text.value_or(""));
    if (file->damage) out.partitions.damage = std::move(file->damage);
    return out;
  }

  static void warn_unread(const Damage& line, const std::string& path, const Location& where,
                          Diagnostics& diagnostics) {
    diagnostics.push_back({Severity::kWarning,
                           where,
                           fmt::format("{}:{}: {}; OpenSM ignores the whole file and makes every host a "
                                       "full member of the default partition",
                                       path, line.line, line.what),
                           line.hint,
                           {}});
  }

  /// opensm.conf may send OpenSM elsewhere for its partitions, and the last line for an option counts.
  /// "(null)" stands for the default (osm_subnet.c).
  static void warn_other_file(system::Files& files, const std::string& path, const Location& where,
                              Diagnostics& diagnostics) {
    const auto conf = opensm_options_path(path.substr(0, path.rfind('/')));
    const auto text = files.read(conf);
    if (!text || !*text) return;
    const auto other = last_opensm_option(parse_marked(**text, kOpensmMarks).lines, "partition_config_file",
                                          OpensmLines::kOfOthers);
    if (!other || other->value == path || other->value == "(null)") return;
    diagnostics.push_back({Severity::kWarning,
                           where,
                           fmt::format("{}:{} makes OpenSM read {}, so that it ignores [[partition]]", conf,
                                       other->line, other->value),
                           fmt::format("remove that line; [[partition]] is written to {}", path),
                           {}});
  }

  /// OpenSM ignores some of a rule where an option of opensm.conf is not set (partition_create() and
  /// partition_add_port() in osm_prtn_config.c).
  static void warn_without_option(std::span<const Desired> desired, system::Files& files,
                                  const std::string& path, Diagnostics& diagnostics) {
    const auto on = [&](std::string_view option) {
      return opensm_option_value(desired, files, path.substr(0, path.rfind('/')), option) == "TRUE";
    };
    const bool both = on("allow_both_pkeys"), qos = on("qos");
    for (const auto& resource : desired) {
      if (resource.key.kind != kPartitionKind) continue;
      const auto warn = [&](const std::string& key, std::string what, std::string_view option) {
        const auto at = resource.origins.find(key);
        diagnostics.push_back({Severity::kWarning,
                               at == resource.origins.end() ? resource.where : at->second,
                               fmt::format("[[partition]] {}: {}", key, what),
                               fmt::format("add [[opensm_option]] key = \"{}\", value = \"TRUE\"", option),
                               {}});
      };
      const auto wanted = model::from_attributes<Partition>(resource.policy);
      const bool by_default = wanted.defmember == kBothMemberships;
      if (!both && !resource.absent && (by_default || any_both(wanted))) {
        warn(by_default ? "defmember" : "members",
             "OpenSM treats both as full while allow_both_pkeys is not TRUE", "allow_both_pkeys");
      }
      if (!qos && wanted.sl.value_or(0) != 0)
        warn("sl", fmt::format("OpenSM uses 0 instead of {} while qos is not TRUE", *wanted.sl), "qos");
    }
  }

  /// Of a P_Key interface, whether its port is known or not: "<port>/0x8002".
  static std::optional<model::Pkey> pkey_of(const model::Key& key) {
    const auto id = std::string_view(key.id);
    const auto parsed = model::Pkey::parse(id.substr(id.rfind('/') + 1, id.rfind('#') - id.rfind('/') - 1));
    return parsed ? std::optional(*parsed) : std::nullopt;
  }
};

}  // namespace

model::SectionSpec partition_section() {
  model::SectionSpec section{.name = "partition",
                             .doc = "A partition of the fabric, for the OpenSM of this host.",
                             .identities = {{"pkey"}}};
  add_written(section.fields, model::specs<Partition>());
  model::SectionSpec group{
      .name = "group",
      .doc = "A multicast group that OpenSM creates in the partition, with or without members.",
      .identities = {{"mgid"}}};
  add_written(group.fields, model::specs<PartitionGroup>());
  section.children = {std::move(group)};
  return section;
}

const Kind& partition() {
  static const PartitionKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
