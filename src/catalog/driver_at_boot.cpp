// SPDX-License-Identifier: Apache-2.0
#include "catalog/driver_at_boot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "formats/modprobe_conf.hpp"
#include "kinds/ethernet/dcb.hpp"
#include "kinds/ethernet/roce_ports.hpp"
#include "kinds/host/module.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;

namespace {

/// The module that makes RDMA devices of a driver's adapters.
struct RdmaModule {
  std::string_view driver;
  std::string_view module;
};

// drivers/infiniband/hw of Linux; rdma-core, kernel-boot/rdma-hw-modules.rules. Other drivers do both.
constexpr std::array<RdmaModule, 10> kRdmaModules{{{"mlx5_core", "mlx5_ib"},
                                                   {"mlx4_core", "mlx4_ib"},
                                                   {"bnxt_en", "bnxt_re"},
                                                   {"ice", "irdma"},
                                                   {"i40e", "irdma"},
                                                   {"hns3", "hns_roce_hw_v2"},
                                                   {"qede", "qedr"},
                                                   {"cxgb4", "iw_cxgb4"},
                                                   {"be2net", "ocrdma"},
                                                   {"mana", "mana_ib"}}};

/// A module that an entry needs at the next boot.
struct NeededModule {
  std::string name;
  std::string lost;       ///< what does not come back without it: "RDMA devices of mlx5_core"
  bool is_in_use = true;  ///< this boot has it, whatever its command line says
};

/// Lines that keep one module out.
struct KeepingOut {
  std::vector<ForeignLine> now;           ///< of modprobe.d and the running command line
  std::vector<ForeignLine> at_next_boot;  ///< of the next command line
};

using KeepingOutByModule = std::map<std::string, KeepingOut>;

KeepingOutByModule lines_that_keep_out(system::Host& host) {
  KeepingOutByModule out;
  for (auto& line : read_foreign_lines(host)) {
    if (!line.keeps_out()) continue;
    auto& lines = out[line.module].now;
    lines.push_back(std::move(line));
  }
  for (const auto& [module, lines] : next_boot_settings(host)) {
    for (const auto& line : lines) {
      if (line.keeps_out()) out[module].at_next_boot.push_back(line);
    }
  }
  return out;
}

/// The section of the entries of a kind whose devices need a driver; empty for other kinds.
std::string_view section_of_device_kind(std::string_view kind) {
  if (kind == kDcbKind) return "pfc";
  constexpr std::array<std::string_view, 6> kSections{"ipoib", "pkey",      "roce",
                                                      "pfc",   "mlx4_port", "rdma_device"};
  const auto at = std::find(kSections.begin(), kSections.end(), kind);
  return at == kSections.end() ? std::string_view() : *at;
}

/// The device that the entry is about; nullptr while it is not there.
const system::RdmaDevice* device_of_entry(const model::Key& key, const World& world) {
  if (key.kind == "roce") {
    const auto port = roce_port(key.id, world);
    return port ? port->device : nullptr;
  }
  if (key.kind == "ipoib" || key.kind == "pkey") {
    const auto guid = model::Guid::parse(std::string_view(key.id).substr(0, key.id.find('/')));
    if (!guid) return nullptr;
    const auto port = world.port(*guid);
    return port ? port->device : nullptr;
  }
  for (const auto& device : world.snapshot().devices) {
    if (device.pci == key.id || (device.node_guid.number != 0 && device.node_guid.text() == key.id))
      return &device;
  }
  return nullptr;
}

/// "mlx5_core" of "mlx5_core.sf", the driver of a sub-function.
std::string module_of_driver(std::string_view driver) {
  return std::string(driver.substr(0, driver.find('.')));
}

void add_rdma_modules(const std::string& driver, std::vector<NeededModule>& out) {
  const auto lost = fmt::format("RDMA devices of {}", driver);
  out.push_back({.name = driver, .lost = lost});
  const auto at = std::find_if(kRdmaModules.begin(), kRdmaModules.end(),
                               [&](const RdmaModule& row) { return row.driver == driver; });
  if (at != kRdmaModules.end()) out.push_back({.name = std::string(at->module), .lost = lost});
}

void add_ethernet_modules(const std::string& driver, std::vector<NeededModule>& out) {
  const auto lost = fmt::format("interfaces of {}", driver);
  out.push_back({.name = driver, .lost = lost});
  if (driver == "mlx4_core") out.push_back({.name = "mlx4_en", .lost = lost});
}

bool is_loaded_now(const std::string& module, World& world) {
  if (world.offline()) return false;
  const auto loaded = world.host().modules.observe_loaded();
  return loaded && std::binary_search(loaded->begin(), loaded->end(), module);
}

std::vector<NeededModule> modules_needed_by(const Desired& resource, World& world) {
  const auto& key = resource.key;
  std::vector<NeededModule> out;
  if (key.kind == "pfc") {
    out.push_back({.name = key.id,
                   .lost = fmt::format("interfaces of {}", key.id),
                   .is_in_use = is_loaded_now(key.id, world)});
    return out;
  }
  if (world.offline()) return out;
  if (key.kind == kDcbKind) {
    const auto state = world.host().dcb.observe_dcb(key.id);
    if (state && *state && !(*state)->driver.empty())
      add_ethernet_modules(module_of_driver((*state)->driver), out);
    return out;
  }
  if (key.kind == "mlx4_port") {
    // Pending without an adapter of this driver.
    if (!resource.pending) out.push_back({.name = "mlx4_core", .lost = "ports of mlx4_core"});
    return out;
  }
  const auto* device = device_of_entry(key, world);
  if (device == nullptr || device->driver.empty()) return out;
  const auto driver = module_of_driver(device->driver);
  add_rdma_modules(driver, out);
  if (key.kind == "roce") add_ethernet_modules(driver, out);
  return out;
}

/// Entries whose devices need a driver, in the order of the document.
std::vector<const Desired*> entries_with_devices(const std::vector<Desired>& desired) {
  std::vector<const Desired*> out;
  for (const auto& resource : desired) {
    if (!resource.absent && !resource.ignore && !section_of_device_kind(resource.key.kind).empty())
      out.push_back(&resource);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Desired* a, const Desired* b) { return a->where < b->where; });
  return out;
}

/// Modules whose [[module]] entry loads them.
std::set<std::string> modules_with_entries(const std::vector<Desired>& desired) {
  std::set<std::string> out;
  for (const auto& resource : desired) {
    if (resource.key.kind == kModuleKind &&
        model::value_of(resource.settings, "at_boot") == model::Value{true})
      out.insert(resource.key.id);
  }
  return out;
}

bool is_built_in_module(const std::string& module, World& world) {
  if (world.offline()) return false;
  const auto info = world.host().modules.info(module);
  return info && *info && (*info)->builtin;
}

/// Whether something loads the module by its name, without -b: NVIDIA's openibd, or a driver that has no
/// devices on the auxiliary bus, whose aliases would do: mlx4_core before Linux 6.6 (mlx4_request_modules()),
/// mlx5_core before 5.11 (init_one()).
bool is_requested_by_name(const std::string& module, system::Files& files) {
  const auto openibd = files.read_linked("/etc/infiniband/openib.conf");
  if (openibd && *openibd) return true;
  const bool of_mlx4 = module == "mlx4_ib" || module == "mlx4_en";
  if (!of_mlx4 && module != "mlx5_ib") return false;
  const std::string_view driver = of_mlx4 ? "mlx4_core." : "mlx5_core.";
  const auto devices = files.list("/sys/bus/auxiliary/devices");
  return !devices || std::none_of(devices->begin(), devices->end(),
                                  [&](const auto& name) { return name.starts_with(driver); });
}

std::string remedy_at_boot(const ForeignLine& line) {
  auto out = remedy_of_keeping_out(line);
  if (line.of_command_line() || line.stops_modprobe()) return out;
  return out +
         fmt::format(": udev and systemd-modules-load heed it, only `modprobe {}` does not", line.module);
}

void warn_of_needed(const NeededModule& needed, const KeepingOut& lines, const Desired& resource,
                    system::Files& files, Diagnostics& diagnostics) {
  const bool by_name = is_requested_by_name(needed.name, files);
  const auto holds = [&](const ForeignLine& line) { return !by_name || line.stops_modprobe(); };
  const model::Subject subject{.section = std::string(section_of_device_kind(resource.key.kind))};
  for (const auto& line : lines.now) {
    if (!holds(line) || (line.of_command_line() && needed.is_in_use)) continue;
    diagnostics.push_back(model::diagnose(
        model::Severity::kWarning, resource.where, subject,
        fmt::format("{}: {} are gone after a reboot", kept_out_by(line, "loaded at boot"), needed.lost),
        remedy_at_boot(line)));
  }
  std::vector<ForeignLine> next;
  std::copy_if(lines.at_next_boot.begin(), lines.at_next_boot.end(), std::back_inserter(next), holds);
  const auto before = diagnostics.size();
  warn_of_blacklist_at_next_boot(fmt::format("[[{}]]", subject.section), needed.name, resource.where, next,
                                 diagnostics);
  for (auto i = before; i < diagnostics.size(); ++i) diagnostics[i].subject = subject;
}

}  // namespace

void warn_of_drivers_at_boot(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
  if (!world.has_host()) return;
  std::optional<KeepingOutByModule> lines;  // once they are needed
  auto told = modules_with_entries(desired);
  for (const auto* resource : entries_with_devices(desired)) {
    if (!lines) lines = lines_that_keep_out(world.host());
    if (lines->empty()) return;
    for (const auto& needed : modules_needed_by(*resource, world)) {
      const auto at = lines->find(needed.name);
      if (at == lines->end() || !told.insert(needed.name).second || is_built_in_module(needed.name, world))
        continue;
      warn_of_needed(needed, at->second, *resource, world.host().files, diagnostics);
    }
  }
}

}  // namespace rdmacfg::kinds
