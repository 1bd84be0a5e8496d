// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/roce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/ethernet/roce_observation.hpp"
#include "kinds/ethernet/roce_ports.hpp"
#include "kinds/ethernet/roce_record.hpp"
#include "kinds/ethernet/roce_writer.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;
using system::RdmaDevice;
using system::RoceDefaults;

namespace {

constexpr std::string_view kRoceKind = "roce";
constexpr std::string_view kIwarp = "RNIC";

/// Whether a port's interface is one of a switch: phys_switch_id cannot be read elsewhere (EOPNOTSUPP).
bool is_in_switchdev_mode(const PortRef& port, system::Files& files) {
  return std::any_of(port.port->netdevs.begin(), port.port->netdevs.end(), [&](const auto& netdev) {
    const auto id = files.read(fmt::format("/sys/class/net/{}/phys_switch_id", netdev));
    return id && *id && !base::trim(**id).empty();
  });
}

/// Whether a port of mlx5 has raw packets only, of which rdma_cm knows nothing.
bool is_raw(const PortRef& port, system::Files& files) {
  return port.device->driver.starts_with("mlx5_core") && is_in_switchdev_mode(port, files);
}

/// Whether a port without GIDs may be the idle one of a bond, from which the kernel has taken them.
bool is_idle_in_bond(const PortRef& port, const World& world) {
  if (is_raw(port, world.host().files)) return false;
  return std::any_of(port.port->netdevs.begin(), port.port->netdevs.end(), [&](const auto& netdev) {
    const auto* link = world.named(netdev);
    const auto* master = link == nullptr || link->master == 0 ? nullptr : world.link(link->master);
    return master != nullptr && master->kind == "bond";
  });
}

/// Why an Ethernet port has no GID at all: mlx5 with enable_roce=false (mlx5_get_roce_state()) or in
/// switchdev mode (raw_eth_profile, mlx5_port_rep_immutable()), or no interface.
std::string switched_off(const PortRef& port, system::Files& files) {
  const auto& device = *port.device;
  if (is_raw(port, files))
    return fmt::format(
        "{} is in switchdev mode, where its ports have raw packets only and no GIDs: configure RoCE on its "
        "virtual functions or sub-functions{}",
        device.name,
        device.pci.empty() ? ""
                           : fmt::format(", or run: devlink dev eswitch set pci/{} mode legacy", device.pci));
  std::string why = fmt::format("RoCE is switched off on {}: its GID table is empty", device.name);
  if (device.driver.starts_with("mlx5_core") && !device.pci.empty())
    why += fmt::format(
        "; devlink dev param set pci/{0} name enable_roce value true cmode driverinit, then devlink dev "
        "reload pci/{0}",
        device.pci);
  return why;
}

Roce values_of(const RoceWritten& known) {
  Roce out;
  if (known.gid_type) out.mode = mode_of(*known.gid_type);
  if (known.tos) out.tos = model::Tos{*known.tos};
  return out;
}

constexpr std::array kRoceFiles{OwnedFile{.path = kRoceRecordFile,
                                          .what = "RoCE defaults that were written.",
                                          .extent = OwnedFile::Extent::kRecord}};

class RoceKind final : public Kind,
                       public ClearsAway,
                       public NeedsWatching,
                       public HasHiddenState,
                       public MayBeMeant {
 public:
  // Foreign ones are not listed: `show` has a table of them.
  RoceKind()
      : Kind({.name = kRoceKind,
              .fields = model::specs<Roce>(),
              .traits = {.listed_when_foreign = false, .on_any_interface = true, .on_rdma_port = true},
              .files = kRoceFiles,
              .lost_after_withdraw = "RoCE defaults (cma_roce_mode, cma_roce_tos, or configfs rdma_cm)"}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto& port : bind_roce(bound, diagnostics)) {
      auto desired = desired_of(*port.section, fields(), {std::string(kRoceKind), port.id}, port.label);
      desired.needs = port.needs;
      desired.pending = port.pending;
      warn_without_settings(*port.section, port.label, desired, diagnostics);
      check_soft(port, diagnostics);
      const auto [marking, is_dscp, also] = roce_marking(*port.section);
      if (also != nullptr) {
        diagnostics.push_back(model::diagnose(Severity::kError, marking->where, key_of_roce("dscp"),
                                              "conflicts with tos; both set the same value",
                                              "write one of them: tos = dscp * 4 + ECN bits",
                                              {{also->where, "tos"}}));
      } else if (is_dscp) {
        const auto number = std::get<std::int64_t>(marking->value);
        desired.settings["tos"] = model::Tos::of_dscp(number).number;
        desired.origins["tos"] = marking->where;
      } else {
        desired.policy.erase("dscp");  // replaced by tos
      }
      if (desired.pending) desired.settings.clear();
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    if (world.offline()) return out;
    std::optional<RoceRecords> records;
    std::optional<std::string> rdma_cm;
    for (const auto& device : world.snapshot().devices) {
      for (const auto& port : device.ports) {
        if (port.link_layer != "Ethernet") continue;
        auto& host = world.host();
        if (!records) {
          auto read = read_roce_records(host.files);
          if (!read) return base::fail(read.error());
          records = std::move(*read);
          auto instance = host.rdma_cm.observe_instance();
          if (!instance) return base::fail(instance.error());
          rdma_cm = std::move(*instance);
        }
        Observed observed;
        observed.key = {std::string(kRoceKind), roce_id(device, port.number)};
        observed.label = fmt::format("{}/{}", device.name, port.number);
        observed.instance = fmt::format("{}/{}/{}", host.boot_id, device.instance, *rdma_cm);
        const auto written = known_of(device, port.number, *records, *rdma_cm, host);
        if (!written) return base::fail(written.error());
        const auto known = values_of(*written);
        observed.settings = model::to_attributes(known);
        if (known.tos) observed.facts["dscp"] = known.tos->dscp();
        out.push_back(std::move(observed));
      }
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    const bool unloaded = world.has_host() && was_unloaded(world.host());
    for (auto& resource : desired) {
      if (resource.key.kind != kRoceKind || resource.pending) continue;
      if (unloaded) {
        postpone(resource, "rdma_cm is not loaded");
        continue;
      }
      const auto wanted = model::from_attributes<Roce>(resource.settings);
      const auto port = roce_port(resource.key.id, world);
      if (!port || resource.settings.empty()) continue;
      if (wanted.mode && port->device->node_type == kIwarp && port->device->soft.empty()) {
        // Its GIDs read "IB/RoCE v1" (ib_cache_gid_type_str()), and mean nothing.
        diagnostics.push_back(model::diagnose(
            Severity::kError, resource.origins.at("mode"), key_of_roce("mode"),
            fmt::format("{} is iWARP ({}), which has no RoCE version", resource.label, port->device->driver),
            "remove mode"));
        continue;
      }
      const auto table = world.host().rdma.observe_gids(port->device->name, port->port->number);
      // rdma_cm has the idle port of a bond, and takes what its driver can do.
      if (table && table->empty() && is_idle_in_bond(*port, world)) continue;
      if (table && table->empty()) {
        // rdma_cm has no port there: its folder in configfs cannot be made (ENODEV).
        postpone(resource, switched_off(*port, world.host().files));
        continue;
      }
      if (!wanted.mode || !table) continue;  // the kernel will say
      std::set<std::string> offered;
      for (const auto& gid : *table) {
        if (const auto mode = mode_of(gid.type)) offered.insert(std::string(model::text_of(*mode)));
      }
      if (offered.contains(std::string(model::text_of(*wanted.mode)))) continue;
      const std::vector<std::string> names(offered.begin(), offered.end());
      diagnostics.push_back(model::diagnose(
          Severity::kError, resource.origins.at("mode"), key_of_roce("mode"),
          fmt::format("{} has no GID of RoCE {}; it offers {}", resource.label, model::text_of(*wanted.mode),
                      names.empty() ? "none" : base::join(names, ", ")),
          "`rdma-configctl show` lists the GID table"));
    }
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    const auto world = World::observe(host);
    if (!world) return base::fail(world.error());
    std::map<const RdmaDevice*, std::vector<const Change*>> by_device;
    for (const auto& change : changes) {
      const auto port = roce_port(change.key.id, *world);
      // Defaults go with their device, also when the same plan removes it (a software device).
      if (!port && model::from_attributes<Roce>(change.after).mode == std::nullopt &&
          model::from_attributes<Roce>(change.after).tos == std::nullopt)
        continue;
      if (!port) {
        return base::fail(
            base::Error{base::Code::kNotFound, fmt::format("{}: the port does not exist", change.label), 0});
      }
      by_device[port->device].push_back(&change);
    }
    if (by_device.empty()) return {};
    if (was_unloaded(host)) return base::fail(base::Code::kNotFound, "rdma_cm was unloaded during the apply");
    if (auto done = host.rdma_cm.start(); !done) return done;
    auto records = read_roce_records(host.files);
    if (!records) return base::fail(records.error());
    const auto rdma_cm = host.rdma_cm.observe_instance();
    if (!rdma_cm) return base::fail(rdma_cm.error());
    drop_stale(*records, *world, *rdma_cm);
    for (const auto& [device, mine] : by_device) {
      if (auto done = write_roce_defaults(host, *device, mine, *records, *rdma_cm); !done) return done;
    }
    return {};
  }

  Result<void> recover(std::span<const Change> /*changes*/, system::Host& host) const override {
    auto records = read_roce_records(host.files);
    if (!records) return base::fail(records.error());
    const auto before = *records;
    for (auto at = records->begin(); at != records->end();) {
      auto& record = at->second;
      if (record.folder.empty()) {
        ++at;
        continue;
      }
      // The change under way may have been carried out or not: see.
      std::optional<RoceDefaults> actual;
      const auto folders = host.rdma_cm.observe_folders();
      if (!folders) return base::fail(folders.error());
      const bool stayed = std::find(folders->begin(), folders->end(), record.folder) != folders->end();
      if (stayed || host.rdma_cm.make_folder(record.folder)) {
        const auto observed = host.rdma_cm.observe_defaults(record.folder, number_at_end(at->first));
        if (!observed) return base::fail(observed.error());
        actual = *observed;
        if (auto done = host.rdma_cm.remove_folder(record.folder); !done) return done;
      }
      record.folder.clear();
      if (!actual || !record.found || record.found == actual) {
        at = records->erase(at);
      } else {
        record.written = {actual->gid_type, actual->tos};
        ++at;
      }
    }
    return *records == before ? Result<void>{} : write_roce_records(host.files, *records);
  }

  std::vector<std::string> clear_away(std::span<const Change> /*changes*/,
                                      system::Host& host) const override {
    std::vector<std::string> left;
    const auto records = read_roce_records(host.files);
    if (!records) return left;
    std::set<std::string> ours;
    for (const auto& [instance, record] : *records) ours.insert(record.folder);
    const auto folders = host.rdma_cm.observe_folders();
    if (!folders) return left;
    for (const auto& folder : *folders) {
      if (ours.contains(folder) && !host.rdma_cm.remove_folder(folder))
        left.push_back(fmt::format("{}: its folder in configfs cannot be removed", folder));
    }
    return left;
  }

  Verdict judge(const Desired& desired, const Observed* /*observed*/,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    const auto port = roce_port(desired.key.id, world);
    if (!port || world.offline()) return {};
    Verdict verdict;
    if (auto other = overruled(desired, *port, world.host().files); !other.empty())
      verdict.warnings.push_back(std::move(other));
    const auto folders = world.host().rdma_cm.observe_folders();
    if (!folders || std::find(folders->begin(), folders->end(), port->device->name) == folders->end())
      return verdict;
    verdict.warnings.push_back(
        fmt::format("another program left the folder /sys/kernel/config/rdma_cm/{0}, so rdma_cm cannot be "
                    "unloaded; rmdir it, "
                    "the values stay",
                    port->device->name));
    return verdict;
  }

  void watched(const model::ResourceReport& /*resource*/, system::Settings& out) const override {
    out.handles.insert("/sys/kernel/config/rdma_cm");
  }

  Result<void> refresh_hidden(system::Host& host, const std::set<std::string>& handles) const override {
    return observe_roce_defaults(host, handles);
  }

  /// An entry by a name that nothing has now may mean any port: of that number, where it gives one.
  [[nodiscard]] std::string why_held(const model::Key& key, const std::vector<Desired>& desired,
                                     const World& world) const override {
    for (const auto& resource : desired) {
      if (resource.key.kind != kRoceKind || !resource.pending || roce_port(resource.key.id, world)) continue;
      const auto slash = resource.key.id.rfind('/');
      if (slash != std::string::npos && !key.id.ends_with(resource.key.id.substr(slash))) continue;
      return fmt::format("[[roce]] {} may mean it ({})", resource.label, *resource.pending);
    }
    return {};
  }

  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    const auto port = roce_port(key.id, world);
    return port && port->port->link_layer == "Ethernet";
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    const auto port = roce_port(change.key.id, world);
    // A plan may re-create a software device, and then sets its defaults.
    return port && port->device->soft.empty() ? port->device->instance : std::string();
  }

 private:
  /// Whether somebody has unloaded the rdma_cm of this boot that we had set defaults in, and nobody asks for
  /// it now: an administrator who unloads modules (a restart of openibd) wants them to stay so, and a load
  /// would pull in the rest of the stack. Loading rdma_cm again wakes us. One that was never loaded is not
  /// waited for.
  static bool was_unloaded(system::Host& host) {
    if (!host.holding || host.offline) return false;
    const auto now = host.rdma_cm.observe_instance();
    if (!now || !now->empty()) return false;
    const auto records = read_roce_records(host.files);
    return records && std::any_of(records->begin(), records->end(), [&](const auto& record) {
             return record.first.starts_with(host.boot_id + "/");
           });
  }

  /// Through a folder that is there, else what we wrote to this very device.
  static Result<RoceWritten> known_of(const RdmaDevice& device, int port, const RoceRecords& records,
                                      const std::string& rdma_cm, system::Host& host) {
    if (rdma_cm.empty()) return RoceWritten{};
    const auto now = host.rdma_cm.observe_defaults(device.name, port);
    if (!now) return base::fail(now.error());
    if (*now) return RoceWritten{(*now)->gid_type, (*now)->tos};
    const auto at = records.find(roce_instance(device, port, rdma_cm, host.boot_id));
    return at == records.end() ? RoceWritten{} : at->second.written;
  }

  /// The warning that MLNX_OFED's driver overrides the default's DSCP; empty if it does not.
  static std::string overruled(const Desired& desired, const PortRef& port, system::Files& files) {
    const auto wanted = model::from_attributes<Roce>(desired.settings).tos;
    const auto forced = wanted ? forced_traffic_class(port, files) : std::nullopt;
    if (!forced || model::Tos{*forced}.dscp() == wanted->dscp()) return {};
    const auto file = traffic_class_file(port);
    return fmt::format(
        "the driver gives all connections of {}/{} traffic class {} (DSCP {}), not tos {} (DSCP {}): "
        "`echo {} > {}`, and remove the boot-time setting",
        port.device->name, port.port->number, *forced, model::Tos{*forced}.dscp(), wanted->number,
        wanted->dscp(), wanted->number, file);
  }

  /// The features of software devices are known before they are made.
  static void check_soft(const RocePort& port, Diagnostics& diagnostics) {
    if (!port.soft) return;
    const auto* mode = port.section->find("mode");
    if (*port.soft == model::SoftType::kSiw) {
      diagnostics.push_back(
          model::diagnose(Severity::kError, port.section->where, entry_of_roce(),
                          fmt::format("{} is Soft-iWARP, which does not speak RoCE", port.label),
                          "remove the entry, or create the device with type = \"rxe\""));
    } else if (mode != nullptr && model::text_of(mode->value) == model::text_of(model::RoceMode::kV1)) {
      diagnostics.push_back(model::diagnose(
          Severity::kError, mode->where, key_of_roce("mode"),
          fmt::format("{} is Soft-RoCE, which supports only RoCE v2", port.label), "write mode = \"v2\""));
    }
  }

  /// Records of devices that have gone, or of an rdma_cm that was unloaded, speak of nothing.
  static void drop_stale(RoceRecords& records, const World& world, const std::string& rdma_cm) {
    std::set<std::string> there;
    for (const auto& device : world.snapshot().devices) {
      for (const auto& port : device.ports)
        there.insert(roce_instance(device, port.number, rdma_cm, world.host().boot_id));
    }
    std::erase_if(records, [&](const auto& record) { return !there.contains(record.first); });
  }
};

}  // namespace

const Kind& roce() {
  static const RoceKind kInstance;
  return kInstance;
}

model::SectionSpec roce_section() {
  model::SectionSpec spec{.name = "roce",
                          .doc = "Defaults of a RoCE port for connections made by rdma_cm.",
                          .identities = {{"device", "port"}, {"interface"}},
                          .defaults = true};
  add_written(spec.fields, model::specs<Roce>());
  return spec;
}

}  // namespace rdmacfg::kinds
