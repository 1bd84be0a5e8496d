// SPDX-License-Identifier: Apache-2.0
#include "kinds/rdma/rdma_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "formats/udev/udev_rdma_names.hpp"
#include "kinds/entry.hpp"
#include "kinds/ports/device_names.hpp"
#include "kinds/rdma/device_rename.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::Observed;
using model::Severity;
using model::text_at;
using system::RdmaDevice;

namespace {

constexpr std::string_view kRdmaDeviceKind = "rdma_device";

/// By PCI address or node GUID.
const RdmaDevice* device_of(const model::Key& key, const World& world) {
  for (const auto& device : world.snapshot().devices) {
    if (device.pci == key.id || (device.node_guid.number != 0 && device.node_guid.text() == key.id))
      return &device;
  }
  return nullptr;
}

constexpr std::array kRdmaDeviceFiles{
    OwnedFile{.path = kDeviceRuleFile,
              .what = "Names of RDMA devices; read before rdma-core's 60-rdma-persistent-naming.rules.",
              .rendered =
                  [](std::string_view text) {
                    const auto rules = parse_device_rules(text);
                    return rules.empty() ? std::string() : render_device_rules(rules);
                  },
              .after_write = OwnedFile::AfterWrite::kReloadUdev}};

class RdmaDeviceKind final : public Kind {
 public:
  // Foreign ones are not listed: `show` lists every device.
  RdmaDeviceKind()
      : Kind({.name = kRdmaDeviceKind,
              .fields = model::specs<RdmaDeviceName>(),
              .traits = {.works_offline = true, .listed_when_foreign = false},
              .files = kRdmaDeviceFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const auto names = DeviceNames::of(bound.sections, *bound.world, &diagnostics);
    for (const auto& entry : names.entries()) {
      auto desired =
          desired_of(*entry.section, fields(), {std::string(kRdmaDeviceKind), entry.id}, entry.name);
      desired.origins["rule"] = desired.origins["name"];
      desired.pending = entry.wrong ? entry.wrong : entry.pending;
      if (entry.rival) desired.needs.push_back(*entry.rival);
      // The rule can be written before the device is there, if what it matches is known.
      desired.settings.clear();
      if (entry.known && !entry.wrong) desired.settings["rule"] = entry.name;
      if (entry.device != nullptr) desired.settings["name"] = entry.name;
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto rules = read_device_rules(world.host().files);
    if (!rules) return base::fail(rules.error());
    std::vector<Observed> out;
    const auto add = [&](const std::string& id, const RdmaDevice* device) {
      Observed observed;
      observed.key = {std::string(kRdmaDeviceKind), id};
      observed.label = device != nullptr ? device->name : rules->at(id);
      if (device != nullptr) {
        observed.settings["name"] = device->name;
        observed.instance = world.host().boot_id + "/" + device->instance;
      }
      if (const auto rule = rules->find(id); rule != rules->end()) {
        observed.settings["rule"] = rule->second;
        observed.ours_by_nature = true;
      }
      out.push_back(std::move(observed));
    };
    // Entries may know a device by either; devices that no entry mentions are not listed.
    std::set<std::string> seen;
    for (const auto& device : world.snapshot().devices) {
      if (!device.pci.empty() && seen.insert(device.pci).second) add(device.pci, &device);
      if (const auto guid = device.node_guid.text(); device.node_guid.number != 0 && seen.insert(guid).second)
        add(guid, &device);
    }
    for (const auto& [id, name] : *rules) {
      if (seen.insert(id).second) add(id, nullptr);
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    std::set<const RdmaDevice*> moving;
    for (const auto& resource : desired) {
      if (resource.key.kind == kRdmaDeviceKind) moving.insert(device_of(resource.key, world));
    }
    std::map<std::string, std::vector<const RdmaDevice*>> named;
    for (const auto& device : world.snapshot().devices) named[device.name].push_back(&device);
    std::optional<std::vector<ForeignDeviceRule>> foreign;
    for (const auto& resource : desired) {
      const auto wanted = text_at(resource.settings, "rule");
      if (resource.key.kind != kRdmaDeviceKind || wanted.empty()) continue;
      const auto* mine = device_of(resource.key, world);
      for (const auto* holder : named[wanted]) {
        if (holder == mine || moving.contains(holder)) continue;
        diagnostics.push_back(Diagnostic{
            Severity::kError,
            resource.origins.at("name"),
            fmt::format(
                "[[rdma_device]] name: \"{}\" is already the name of {}, which is not in the document",
                wanted, describe(*holder)),
            "use another name, or write an entry that renames that device too",
            {}});
      }
      if (!foreign) foreign = foreign_device_rules(world.host().files);
      const auto guid = model::Guid::parse(resource.key.id);
      const std::string pci = mine != nullptr ? mine->pci : guid ? std::string() : resource.key.id;
      const auto node_guid = mine != nullptr ? mine->node_guid : guid.value_or(model::Guid{});
      for (const auto& rule : *foreign) {
        if (!names_device(rule, pci, node_guid)) continue;
        diagnostics.push_back(
            Diagnostic{Severity::kWarning,
                       resource.origins.at("name"),
                       fmt::format("{}:{} names this device too", rule.file, rule.line),
                       "udev reads that file before ours, so it wins when the device appears: "
                       "remove the line, or the name here",
                       {}});
      }
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    for (auto* change : changes) {
      const auto* device = device_of(change->key, world);
      const auto wanted = text_at(change->after, "name");
      if (device == nullptr || wanted.empty() || wanted == device->name) continue;
      change->interrupts.push_back(interrupted_by_rename(device->name));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto rules = read_device_rules(host.files);
    if (!rules) return base::fail(rules.error());
    const auto before = *rules;
    for (const auto& change : changes) {
      if (const auto rule = text_at(change.after, "rule"); rule.empty()) {
        rules->erase(change.key.id);
      } else {
        (*rules)[change.key.id] = rule;
      }
    }
    if (*rules != before) {
      if (auto done = write_device_rules(host.files, *rules); !done) return done;
      if (!host.offline) (void)host.udev.reload_rules();  // only makes sooner what udevd does by itself
    }
    if (host.offline) return {};
    for (std::size_t there = changes.size() + 1;;) {
      auto world = World::observe(host);
      if (!world) return base::fail(world.error());
      auto done = rename(changes, *world, host);
      if (done) return done;
      // A device may have gone meanwhile; its rule stays, and the other devices get their names.
      world = World::observe(host);
      if (!world) return base::fail(world.error());
      const auto left =
          static_cast<std::size_t>(std::count_if(changes.begin(), changes.end(), [&](const auto& c) {
            return device_of(c.key, *world) != nullptr;
          }));
      if (left >= there || left == changes.size()) return done;
      there = left;
    }
  }

  static Result<void> rename(std::span<const Change> changes, const World& world, system::Host& host) {
    std::map<std::string, std::string> moves;
    for (const auto& change : changes) {
      const auto* device = device_of(change.key, world);
      const auto wanted = text_at(change.after, "name");
      if (device != nullptr && !wanted.empty() && device->name != wanted) moves.emplace(device->name, wanted);
    }
    return moves.empty() ? Result<void>{} : rename_devices(host, world, std::move(moves));
  }

  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& /*before*/,
                             const model::Attributes& /*then*/) const override {
    return field == "rule";
  }

  /// The rule can always be written, also for a device that is not there.
  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    return device_of(key, world) != nullptr || model::PciAddress::parse(key.id).has_value() ||
           model::Guid::parse(key.id).has_value();
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    const auto* device = device_of(change.key, world);
    return device == nullptr ? std::string() : device->instance;
  }
};

}  // namespace

const Kind& rdma_device() {
  static const RdmaDeviceKind kInstance;
  return kInstance;
}

model::SectionSpec rdma_device_section() {
  model::SectionSpec spec{.name = "rdma_device",
                          .doc = "The persistent name of an RDMA device.",
                          .identities = {{"pci"}, {"node_guid"}, {"device"}}};
  add_written(spec.fields, model::specs<RdmaDeviceName>());
  return spec;
}

}  // namespace rdmacfg::kinds
