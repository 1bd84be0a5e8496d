// SPDX-License-Identifier: Apache-2.0
#include "ctl/host_facts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "formats/modprobe_conf.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "kinds/host/module.hpp"

namespace rdmacfg::ctl {

using model::ResourceReport;
using model::Section;

namespace {

constexpr std::array<const char*, 9> kServices{
    "rdma-configd.service", "rdma-ndd.service", "iwpmd.service",   "ibacm.service", "srp_daemon.service",
    "opensm.service",       "lldpad.service",   "openibd.service", "slurmd.service"};

// Drivers and upper layers of drivers/infiniband, and what carries their names elsewhere in the kernel.
constexpr std::array<std::string_view, 8> kFamilies{"ib_",   "iw_",     "rdma_",     "mlx4_",
                                                    "mlx5_", "rpcrdma", "nvme_rdma", "nvmet_rdma"};
constexpr std::array<std::string_view, 17> kModules{
    "bnxt_re", "efa",    "erdma",       "hfi1",       "hns_roce_hw_v2", "irdma",
    "mana_ib", "ocrdma", "opa_vnic",    "qedr",       "rdmavt",         "rds_rdma",
    "siw",     "smc",    "usnic_verbs", "vmw_pvrdma", "iw_cxgb4"};

bool is_rdma(std::string_view module) {
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](std::string_view family) { return module.starts_with(family); }) ||
         std::find(kModules.begin(), kModules.end(), module) != kModules.end();
}

std::vector<std::string> ids_of(const std::vector<ResourceReport>& resources, std::string_view kind) {
  std::vector<std::string> out;
  for (const auto& resource : resources) {
    if (resource.key.kind == kind) out.push_back(resource.key.id);
  }
  return out;
}

std::vector<DcbView> dcb_of(kinds::World& world, const std::vector<ResourceReport>& resources) {
  std::set<std::string> names;
  for (auto& id : ids_of(resources, kinds::kDcbKind)) names.insert(std::move(id));
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (port.link_layer == "Ethernet") names.insert(port.netdevs.begin(), port.netdevs.end());
    }
  }
  std::vector<DcbView> out;
  for (const auto& name : names) {
    const auto state = world.host().dcb.observe_dcb(name);
    if (state && *state) out.push_back({name, kinds::describe_dcb(**state)});
  }
  return out;
}

std::vector<ModuleView> modules_of(kinds::World& world, const std::vector<ResourceReport>& resources) {
  auto& host = world.host();
  std::map<std::string, std::map<std::string, model::ModuleOption>> options;
  const auto foreign = kinds::read_foreign_lines(host.files, kinds::KernelOptions::kLeftOut);
  enum class Place { kBeforeOurs, kAfterOurs };
  const auto take = [&](Place place) {
    for (const auto& line : foreign) {
      if (line.sort != kinds::ForeignLine::Sort::kOption || line.later != (place == Place::kAfterOurs))
        continue;
      options[line.module].insert_or_assign(line.option.name, line.option);
    }
  };
  take(Place::kBeforeOurs);
  for (const auto path : {kinds::kModuleOptionsFile, kinds::kPfcOptionsFile}) {
    const auto ours = kinds::read_option_lines(host.files, path);
    if (!ours) continue;
    for (const auto& [module, list] : *ours) {
      for (const auto& option : list.list) options[module].insert_or_assign(option.name, option);
    }
  }
  take(Place::kAfterOurs);
  std::set<std::string> names, loaded;
  if (!world.offline()) {
    if (auto found = host.modules.observe_loaded()) loaded.insert(found->begin(), found->end());
  }
  for (const auto& name : loaded) {
    if (is_rdma(name)) names.insert(name);
  }
  for (const auto& [name, list] : options) {
    if (is_rdma(name)) names.insert(name);
  }
  for (auto& id : ids_of(resources, kinds::kModuleKind)) names.insert(std::move(id));
  std::vector<ModuleView> out;
  for (const auto& name : names) {
    ModuleView view{name, world.offline() ? std::nullopt : std::optional(loaded.contains(name)), {}, {}};
    for (const auto& [parameter, option] : options[name]) {
      view.wanted.push_back(option);
      if (world.offline()) continue;
      if (auto value = host.modules.parameter(name, parameter))
        view.running.push_back({parameter, std::move(*value), true});
    }
    out.push_back(std::move(view));
  }
  return out;
}

std::vector<ServiceView> services_of(kinds::World& world, const std::vector<ResourceReport>& resources) {
  auto& host = world.host();
  std::set<std::string> names(kServices.begin(), kServices.end());
  std::map<std::string, std::int64_t> priorities;
  for (const auto* kind : {"service", "memlock_unit"}) {
    for (auto& id : ids_of(resources, kind)) {
      if (id.find("@.") == std::string::npos) names.insert(std::move(id));
    }
  }
  const auto add_port = [&](model::Guid guid) {
    const auto unit = kinds::opensm_unit(guid);
    names.insert(unit);
    const auto drop_in = host.files.read(kinds::opensm_drop_in(guid));
    if (!drop_in || !*drop_in) return;
    if (const auto priority = kinds::parse_opensm_drop_in(**drop_in)) priorities.emplace(unit, *priority);
  };
  for (const auto& id : ids_of(resources, "opensm")) {
    if (const auto guid = model::Guid::parse(id)) add_port(*guid);
  }
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (port.link_layer == "InfiniBand" && port.guid.number != 0) add_port(port.guid);
    }
  }
  auto units = host.units.observe_units(std::vector<std::string>(names.begin(), names.end()));
  std::vector<ServiceView> out;
  if (!units || !*units) return out;
  for (auto& unit : **units) {
    // Of instances there are as many as ports: those that nobody started or set a priority for say nothing.
    const bool instance = unit.name.find('@') != std::string::npos;
    const auto priority = priorities.find(unit.name);
    if (!unit.there() || (instance && unit.active == "inactive" && priority == priorities.end())) continue;
    ServiceView view;
    if (unit.main_pid != 0) view.memlock = host.units.observe_memlock(unit.main_pid);
    if (priority != priorities.end()) view.priority = priority->second;
    view.unit = std::move(unit);
    out.push_back(std::move(view));
  }
  return out;
}

std::vector<ExpansionView> expansions_of(const std::vector<ResourceReport>& resources,
                                         const std::vector<Section>& sections) {
  std::vector<ExpansionView> out;
  for (const auto& section : sections) {
    const auto* interface = section.path == "lossless" ? section.find("interface") : nullptr;
    if (interface == nullptr) continue;
    ExpansionView view{model::text_of(interface->value), section.where, {}};
    const auto is_its = [&](const model::Location& where) {
      return where == section.where ||
             std::any_of(section.entries.begin(), section.entries.end(),
                         [&](const auto& entry) { return entry.second.where == where; });
    };
    for (const auto& resource : resources) {
      for (const auto& attribute : resource.attributes) {
        if (!attribute.origin || attribute.wanted == model::Value{} || !is_its(*attribute.origin)) continue;
        view.settings.push_back({resource.key, attribute.name, attribute.wanted, *attribute.origin});
      }
    }
    out.push_back(std::move(view));
  }
  return out;
}

}  // namespace

HostFacts facts_of(kinds::World& world, const std::vector<ResourceReport>& resources,
                   const std::vector<Section>& sections) {
  HostFacts facts;
  facts.memlock = kinds::memlock_lines(world.host().files);
  facts.modules = modules_of(world, resources);
  facts.expansions = expansions_of(resources, sections);
  if (world.offline()) return facts;
  facts.dcb = dcb_of(world, resources);
  facts.services = services_of(world, resources);
  return facts;
}

void narrow(const std::vector<std::string>& names, HostFacts& facts) {
  const auto other = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) == names.end();
  };
  std::erase_if(facts.dcb, [&](const auto& dcb) { return other(dcb.interface); });
  std::erase_if(facts.memlock, [&](const auto& limit) { return other(limit.domain); });
  std::erase_if(facts.modules, [&](const auto& module) { return other(module.name); });
  std::erase_if(facts.services, [&](const auto& service) { return other(service.unit.name); });
  std::erase_if(facts.expansions, [&](const auto& expansion) { return other(expansion.interface); });
}

std::vector<std::string> names_in(const HostFacts& facts) {
  std::vector<std::string> names;
  for (const auto& dcb : facts.dcb) names.push_back(dcb.interface);
  for (const auto& limit : facts.memlock) names.push_back(limit.domain);
  for (const auto& module : facts.modules) names.push_back(module.name);
  for (const auto& service : facts.services) names.push_back(service.unit.name);
  return names;
}

}  // namespace rdmacfg::ctl
