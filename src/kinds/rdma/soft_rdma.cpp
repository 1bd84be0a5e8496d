// SPDX-License-Identifier: Apache-2.0
#include "kinds/rdma/soft_rdma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/modprobe_conf.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/module.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/kernel_release.hpp"
#include "kinds/ports/device_names.hpp"
#include "kinds/rdma/device_rename.hpp"
#include "kinds/rdma/soft_rdma_modules.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::Observed;
using model::Operation;
using model::Severity;
using model::text_at;
using system::RdmaDevice;

namespace {

constexpr std::string_view kSoftRdmaKind = "soft_rdma";

/// Interface and type, as in keys: "eth0/rxe".
struct Place {
  std::string interface, type;
};

Place place_of(const std::string& id) {
  const auto slash = id.rfind('/');
  return slash == std::string::npos ? Place{} : Place{id.substr(0, slash), id.substr(slash + 1)};
}

std::string id_of(const RdmaDevice& device) {
  if (device.soft.empty() || device.ports.empty() || device.ports.front().netdevs.empty()) return {};
  return fmt::format("{}/{}", device.ports.front().netdevs.front(), device.soft);
}

const RdmaDevice* device_of(const std::string& id, const World& world) {
  const auto& devices = world.snapshot().devices;
  const auto at = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return id_of(d) == id; });
  return at == devices.end() ? nullptr : &*at;
}

std::string module_of(std::string_view type) { return type == "rxe" ? "rdma_rxe" : std::string(type); }

constexpr std::array kSoftRdmaFiles{OwnedFile{.path = kSoftRdmaModulesFile,
                                              .what = "Modules of software RDMA devices to load at boot.",
                                              .rendered = [](std::string_view text) {
                                                return render_soft_rdma_modules(
                                                    parse_soft_rdma_modules(text));
                                              }}};

class SoftRdmaKind final : public Kind {
 public:
  SoftRdmaKind()
      : Kind({.name = kSoftRdmaKind,
              .fields = model::specs<SoftRdma>(),
              .traits = {.works_offline = true, .on_any_interface = true},
              .files = kSoftRdmaFiles,
              .lost_after_withdraw = "software RDMA devices (rdma link add)"}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    std::map<std::string, model::Location> names;
    for (const auto* section : bound.of(kSoftRdmaKind)) {
      const auto *interface = section->find("interface"), *type = section->find("type");
      if (interface == nullptr || type == nullptr) continue;  // reported already, by the grammar
      const auto id = fmt::format("{}/{}", model::text_of(interface->value), model::text_of(type->value));
      const auto* name = section->find("name");
      auto desired = desired_of(*section, fields(), {std::string(kSoftRdmaKind), id},
                                name == nullptr ? id : model::text_of(name->value));
      check_state(*section, diagnostics);
      if (!desired.ignore) check_interface(*interface, *bound.world, diagnostics);
      if (!desired.ignore && !desired.absent && model::text_of(type->value) == "rxe") {
        check_vlan(*interface, *bound.world, diagnostics);
        warn_of_master(*interface, *bound.world, diagnostics);
      }
      if (desired.absent || desired.ignore) {
        out.push_back(std::move(desired));
        continue;
      }
      if (name == nullptr) {
        diagnostics.push_back(
            Diagnostic{Severity::kError,
                       section->where,
                       "[[soft_rdma]] name: is missing",
                       fmt::format("name = \"{}0\", for example", model::text_of(type->value)),
                       {}});
        continue;
      }
      if (const auto [first, fresh] = names.try_emplace(model::text_of(name->value), name->where); !fresh) {
        diagnostics.push_back(Diagnostic{
            Severity::kError,
            name->where,
            fmt::format("[[soft_rdma]] name: \"{}\" is the name of two devices", model::text_of(name->value)),
            "names of RDMA devices are unique",
            {{first->second, "the other one"}}});
      }
      desired.settings["module"] = module_of(model::text_of(type->value));
      desired.origins["module"] = type->where;
      if (!bound.world->offline() && bound.world->named(model::text_of(interface->value)) == nullptr) {
        desired.pending = fmt::format("interface {} does not exist", model::text_of(interface->value));
      }
      if (desired.pending || bound.world->offline()) desired.settings.erase("name");
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto loads = read_soft_rdma_modules(world.host().files);
    if (!loads) return base::fail(loads.error());
    std::vector<Observed> out;
    const auto add = [&](const std::string& id, const RdmaDevice* device) {
      Observed observed;
      observed.key = {std::string(kSoftRdmaKind), id};
      observed.label = device != nullptr ? device->name : id;
      if (device != nullptr) {
        observed.settings["name"] = device->name;
        observed.instance = world.host().boot_id + "/" + device->instance;
      }
      if (const auto load = loads->extract(id)) {
        observed.settings["module"] = load.mapped();
        observed.ours_by_nature = true;
      }
      out.push_back(std::move(observed));
    };
    for (const auto& device : world.snapshot().devices) {
      if (const auto id = id_of(device); !id.empty()) add(id, &device);
    }
    while (!loads->empty()) add(std::string(loads->begin()->first), nullptr);
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    std::map<std::string, std::vector<const system::RdmaDevice*>> named;
    for (const auto& device : world.snapshot().devices) named[device.name].push_back(&device);
    const auto entries = model::by_key(desired);
    check_loadable(desired, world, diagnostics);
    for (const auto& resource : desired) {
      if (resource.key.kind != kSoftRdmaKind) continue;
      // Without its interface, too: the module is loaded at boot all the same.
      if (resource.settings.contains("module")) check_driver(resource, world, diagnostics);
      const auto wanted = text_at(resource.settings, "name");
      if (wanted.empty()) continue;
      const auto* mine = device_of(resource.key.id, world);
      for (const auto* holder : named[wanted]) {
        if (holder == mine) continue;
        const auto& device = *holder;
        // Another entry's, or one that this plan removes or renames: only the kernel can tell in the end.
        const auto other = id_of(device);
        const bool listed = entries.contains({std::string(kSoftRdmaKind), other});
        if (listed || (!other.empty() && ours(other, world))) continue;
        diagnostics.push_back(Diagnostic{
            Severity::kError,
            resource.origins.at("name"),
            fmt::format("[[soft_rdma]] name: \"{}\" is already the name of {}{}", wanted, describe(device),
                        other.empty() ? "" : fmt::format(", {}", words_for(device))),
            other.empty()
                ? "take another name"
                : fmt::format("use another name, or remove that device: rdma link delete {}", device.name),
            {}});
      }
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    for (auto* change : changes) {
      const auto* device = device_of(change->key.id, world);
      if (device == nullptr) continue;
      const auto wanted = text_at(change->after, "name");
      if (removes(*change)) {
        change->interrupts.push_back(fmt::format("programs that use {} lose it", device->name));
      } else if (!wanted.empty() && wanted != device->name) {
        change->interrupts.push_back(interrupted_by_rename(device->name));
      }
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto loads = read_soft_rdma_modules(host.files);
    if (!loads) return base::fail(loads.error());
    const auto before = *loads;
    for (const auto& change : changes) {
      if (const auto module = text_at(change.after, "module"); !module.empty()) {
        loads->insert_or_assign(change.key.id, module);
      } else if (change.operation == Operation::kDelete || change.differs_in("module")) {
        loads->erase(change.key.id);
      }
    }
    if (*loads != before) {
      if (auto done = write_soft_rdma_modules(host.files, *loads); !done) return done;
    }
    return host.offline ? Result<void>{} : apply_devices(changes, host);
  }

  /// The name that somebody else's device had comes back. A device that was not there before us (`before`
  /// does not name it) goes; that there is no `before` at all says nothing about it.
  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& before,
                             const model::Attributes& /*then*/) const override {
    return field != "name" || !before.empty();
  }

  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    return world.named(place_of(key.id).interface) != nullptr;
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    return parent_object_on(world.named(place_of(change.key.id).interface), world);
  }

 private:
  /// Neither systemd-modules-load nor the kernel loads a blacklisted driver, at the next boot at the latest.
  static bool is_loaded(const std::string& module, system::Modules& modules) {
    const auto loaded = modules.observe_loaded();
    return loaded && std::binary_search(loaded->begin(), loaded->end(), module);
  }

  static void check_loadable(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
    std::optional<std::vector<ForeignLine>> lines;  // once they are needed
    std::map<std::string, std::vector<ForeignLine>> at_next_boot;
    for (const auto& resource : desired) {
      const auto module = text_at(resource.settings, "module");
      if (resource.key.kind != kSoftRdmaKind || module.empty()) continue;
      if (!lines) {
        lines = read_foreign_lines(world.host());
        at_next_boot = next_boot_settings(world.host());
      }
      warn_of_blacklist_at_next_boot("[[soft_rdma]] type", module, resource.origins.at("module"),
                                     at_next_boot[module], diagnostics);
      // Somebody may have loaded it all the same.
      const bool there =
          device_of(resource.key.id, world) != nullptr || is_loaded(module, world.host().modules);
      for (const auto& line : *lines) {
        if (line.module != module || !line.keeps_out()) continue;
        diagnostics.push_back(Diagnostic{there ? Severity::kWarning : Severity::kError,
                                         resource.origins.at("module"),
                                         fmt::format("[[soft_rdma]] type: {}", kept_out_by(line)),
                                         remedy_of_keeping_out(line),
                                         {}});
      }
    }
  }

  /// Not every kernel has both drivers: Debian's 6.1 has no siw.
  static void check_driver(const Desired& desired, World& world, Diagnostics& diagnostics) {
    auto& modules = world.host().modules;
    const auto module = text_at(desired.settings, "module");
    if (world.offline() || !modules.has_tree() || device_of(desired.key.id, world) != nullptr) return;
    const auto info = modules.info(module);
    if (!info || *info) return;  // unreadable: making the device will tell
    const auto package = package_of_modules(world.host().files, kernel_release(world));
    diagnostics.push_back(
        Diagnostic{Severity::kError,
                   desired.origins.at("module"),
                   fmt::format("[[soft_rdma]] type: the running kernel has no module {} for {} devices",
                               module, place_of(desired.key.id).type),
                   package.empty() ? "is the package with this kernel's modules installed whole "
                                     "(linux-modules-extra, kernel-modules-extra)?"
                                   : package,
                   {}});
  }

  /// Whether the device is not to be there afterwards.
  static bool removes(const Change& change) {
    return change.operation == Operation::kDelete ||
           (change.differs_in("name") && text_at(change.after, "name").empty());
  }

  static std::string words_for(const RdmaDevice& device) {
    return fmt::format("the {} device over {}, which rdma-configd did not create", device.soft,
                       device.ports.front().netdevs.front());
  }

  /// Whether our file speaks of it.
  static bool ours(const std::string& id, World& world) {
    const auto loads = read_soft_rdma_modules(world.host().files);
    return loads && loads->contains(id);
  }

  /// The kernel names what is below a device by its own name.
  static void check_interface(const model::Entry& written, const World& world, Diagnostics& diagnostics) {
    const auto name = model::text_of(written.value);
    const auto* link = world.offline() ? nullptr : world.named(name);
    if (link == nullptr || link->name == name) return;
    diagnostics.push_back(
        Diagnostic{Severity::kError,
                   written.where,
                   fmt::format("[[soft_rdma]] interface: {} is an alternative name of {}", name, link->name),
                   fmt::format("write interface = \"{}\"", link->name),
                   {}});
  }

  /// rxe_newlink() answers "Operation not permitted", which says nothing.
  static void check_vlan(const model::Entry& written, const World& world, Diagnostics& diagnostics) {
    const auto name = model::text_of(written.value);
    const auto* link = world.offline() ? nullptr : world.named(name);
    if (link == nullptr || link->kind != "vlan") return;
    const auto* below = world.link(link->parent);
    diagnostics.push_back(Diagnostic{
        Severity::kError,
        written.where,
        fmt::format("[[soft_rdma]] interface: {} is a VLAN, and the kernel creates no rxe device over VLANs",
                    name),
        below == nullptr
            ? "write the interface below the VLAN: a device there serves its VLANs, too"
            : fmt::format("write interface = \"{}\": the device there serves its VLANs, too", below->name),
        {}});
  }

  /// The kernel hands packets of a port to its bridge or bond before rxe sees them; rxe finds no device over
  /// the bridge or bond, and drops them (rxe_udp_encap_recv()).
  static void warn_of_master(const model::Entry& written, const World& world, Diagnostics& diagnostics) {
    const auto name = model::text_of(written.value);
    const auto* link = world.offline() ? nullptr : world.named(name);
    const auto* master = link == nullptr || link->master == 0 ? nullptr : world.link(link->master);
    if (master == nullptr || (master->kind != "bond" && master->kind != "bridge" && master->kind != "team"))
      return;
    diagnostics.push_back(Diagnostic{
        Severity::kWarning,
        written.where,
        fmt::format("[[soft_rdma]] interface: {} is in {} ({}), so a device over it receives nothing", name,
                    master->name, master->kind),
        fmt::format("write interface = \"{}\"", master->name),
        {}});
  }

  static void check_state(const model::Section& section, Diagnostics& diagnostics) {
    const auto* state = section.find("state");
    if (state == nullptr || model::text_of(state->value) != "down") return;
    diagnostics.push_back(Diagnostic{Severity::kError,
                                     state->where,
                                     "[[soft_rdma]] state: an RDMA device cannot be down by itself",
                                     "take its interface down, or use state = \"absent\"",
                                     {}});
  }

  static Result<void> apply_devices(std::span<const Change> changes, system::Host& host) {
    const auto world = World::observe(host);
    if (!world) return base::fail(world.error());
    std::map<std::string, std::string> moves;
    for (const auto& change : changes) {
      const auto* device = device_of(change.key.id, *world);
      if (device == nullptr) continue;
      if (removes(change)) {
        if (auto done = host.rdma_admin.delete_link(device->name); !done) return done;
      } else if (const auto wanted = text_at(change.after, "name");
                 !wanted.empty() && wanted != device->name) {
        moves.emplace(device->name, wanted);
      }
    }
    if (auto done = rename_devices(host, *world, std::move(moves)); !done) return done;
    for (const auto& change : changes) {
      const auto wanted = text_at(change.after, "name");
      if (removes(change) || wanted.empty() || device_of(change.key.id, *world) != nullptr) continue;
      const auto place = place_of(change.key.id);
      if (auto done = host.rdma_admin.new_link(wanted, place.type, place.interface); !done) return done;
    }
    return {};
  }
};

}  // namespace

const Kind& soft_rdma() {
  static const SoftRdmaKind kInstance;
  return kInstance;
}

model::SectionSpec soft_rdma_section() {
  model::SectionSpec spec{.name = "soft_rdma",
                          .doc = "A software RDMA device over a network interface (Soft-RoCE, Soft-iWARP).",
                          .identities = {{"interface", "type"}}};
  add_written(spec.fields, model::specs<SoftRdma>());
  return spec;
}

}  // namespace rdmacfg::kinds
