// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/package.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/package_table.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kPackageKind = "package";
constexpr auto kPackageCompetitors = std::to_array<std::string_view>({"packagekitd", "unattended-upgr"});

/// Sections whose entries need a package.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kNeeds{
    {{"rdma_device", "rdma-core"},
     {"opensm", "opensm"},
     {"opensm_option", "opensm"},
     {"opensm_file", "opensm"},
     {"partition", "opensm"},
     {"nfs_server", "nfs-kernel-server"},
     {"nfs_mount", "nfs-common"},
     {"srp_initiator", "srptools"},
     {"srp_rule", "srptools"},
     {"nvme_connection", "nvme-cli"},
     {"iser_session", "open-iscsi"}}};

void unknown_package(const model::Location& where, const std::string& name, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const auto& package : packages()) known.emplace_back(package.name);
  const auto near = base::nearest(name, known);
  diagnostics.push_back(
      {Severity::kError,
       where,
       fmt::format("[packages] names: {} is not a known package", name.empty() ? "\"\"" : name),
       near ? fmt::format("did you mean \"{}\"?", *near) : "known are " + base::join(known, ", "),
       {}});
}

class PackageKind final : public Kind {
 public:
  PackageKind()
      : Kind({.name = kPackageKind,
              .fields = model::specs<PackageThere>(),
              .traits = {.waits_for_confirmation = true,
                         .stays = true,
                         .listed_when_foreign = false,
                         .rests_on_files = true},
              .competitors = kPackageCompetitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of("packages")) {
      const auto wanted = model::from_attributes<PackagesWanted>(section->attributes());
      std::map<const Package*, model::Location> needed;
      if (const auto* names = section->find("names")) {
        const auto list = wanted.names.value_or(std::vector<std::string>());
        for (std::size_t i = 0; i < list.size(); ++i) {
          const auto* package = find_package(list[i]);
          if (package == nullptr) unknown_package(names->place_of(i), list[i], diagnostics);
          if (package != nullptr) needed.emplace(package, names->place_of(i));
        }
      }
      for (const auto& [kind, name] : kNeeds) {
        const auto entries = bound.of(kind);
        if (!entries.empty()) needed.emplace(find_package(name), entries.front()->where);
      }
      for (const auto* entry : bound.of("service")) {
        const auto* unit = entry->find("name");
        const auto* package = unit == nullptr ? nullptr : package_of_unit(model::text_of(unit->value));
        if (package != nullptr) needed.emplace(package, unit->where);
      }
      for (const auto& [package, where] : needed) {
        Desired desired;
        desired.key = {std::string(kPackageKind), std::string(package->name)};
        desired.label = package->name;
        desired.where = where;
        desired.settings["installed"] = true;
        desired.origins.emplace("installed", where);
        desired.policy["install"] = wanted.install.value_or(false);
        out.push_back(std::move(desired));
      }
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    if (world.offline()) return out;
    for (const auto& id : world.tracked(kPackageKind)) {
      const auto* package = find_package(id);
      if (package == nullptr) continue;
      Observed observed;
      observed.key = {std::string(kPackageKind), id};
      observed.label = id;
      observed.settings["installed"] = is_installed(*package, world.host().packages);
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& /*diagnostics*/) const override {
    std::optional<bool> can;
    std::optional<Distribution> here;
    for (auto& resource : desired) {
      if (resource.key.kind != kPackageKind || world.offline()) continue;
      const auto at = std::find_if(observed.begin(), observed.end(),
                                   [&](const auto& other) { return other.key == resource.key; });
      if (at != observed.end() && at->settings.at("installed") == model::Value{true}) continue;
      const bool install = model::value_of(resource.policy, "install") == model::Value{true};
      if (install && !can) can = world.host().packages.can_install();
      if (install && *can) continue;
      if (!here) here = distribution(world.host().files);
      const std::array<const Package*, 1> wanted{find_package(resource.key.id)};
      const auto command = install_command(*here, wanted);
      resource.pending = command.empty() ? "not installed" : "not installed: " + command;
      if (install) *resource.pending += " (PackageKit does not answer here)";
      resource.settings.clear();
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& /*world*/) const override {
    for (auto* change : changes)
      change->interrupts.emplace_back(
          "PackageKit installs it and what it needs; it stays installed after a rollback");
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    std::vector<std::string> names;
    const auto here = distribution(host.files);
    for (const auto& change : changes) {
      const auto* package = find_package(change.key.id);
      const auto wanted = model::from_attributes<PackageThere>(change.after).installed;
      if (package == nullptr || wanted != true || is_installed(*package, host.packages)) continue;
      names.emplace_back(name_on(*package, here));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names.empty() ? Result<void>{} : host.packages.install(names);
  }

  [[nodiscard]] bool returns(std::string_view /*field*/, const model::Attributes& /*before*/,
                             const model::Attributes& /*then*/) const override {
    return false;
  }
};

}  // namespace

model::SectionSpec packages_section() {
  model::SectionSpec section{.name = "packages", .repeated = false, .doc = "Packages that this host needs."};
  add_written(section.fields, model::specs<PackagesWanted>());
  return section;
}

const Kind& package() {
  static const PackageKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
