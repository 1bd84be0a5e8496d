// SPDX-License-Identifier: Apache-2.0
// The part of `show` about the host around its RDMA devices: flow control, limits, modules, services.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/limits_conf.hpp"
#include "kinds/ethernet/dcb.hpp"
#include "kinds/world.hpp"
#include "model/report.hpp"
#include "model/section.hpp"
#include "model/types/module_types.hpp"

namespace rdmacfg::ctl {

/// DCB of an Ethernet interface that an RDMA port or the document speaks of.
struct DcbView {
  std::string interface;
  kinds::InterfaceDcb dcb;
};

/// An RDMA module that is loaded, or one that modprobe.d or the document speaks of.
struct ModuleView {
  std::string name;
  std::optional<bool> loaded;                ///< nothing: not looked at (--root)
  std::vector<model::ModuleOption> wanted;   ///< what modprobe would give it, of all files
  std::vector<model::ModuleOption> running;  ///< of the same parameters, where /sys/module shows them
};

/// A unit that concerns RDMA and is there.
struct ServiceView {
  system::Unit unit;
  std::optional<model::LockLimit> memlock;  ///< of its main process
  std::optional<std::int64_t> priority;     ///< that we gave a subnet manager
};

/// The meaning of a [[lossless]] entry.
struct ExpansionView {
  struct Setting {
    model::Key key;
    std::string name;
    model::Value value;
    model::Location origin;
  };
  std::string interface;
  model::Location where;
  std::vector<Setting> settings;
};

struct HostFacts {
  std::vector<DcbView> dcb;
  std::vector<kinds::MemlockLine> memlock;
  std::vector<ModuleView> modules;
  std::vector<ServiceView> services;
  std::vector<ExpansionView> expansions;

  [[nodiscard]] bool empty() const {
    return dcb.empty() && memlock.empty() && modules.empty() && services.empty() && expansions.empty();
  }
};

/// Unreadable values are left out. `resources` and `sections` are those of the document.
HostFacts facts_of(kinds::World& world, const std::vector<model::ResourceReport>& resources,
                   const std::vector<model::Section>& sections);

/// Leaves what is called so: interfaces, domains, modules, units.
void narrow(const std::vector<std::string>& names, HostFacts& facts);
std::vector<std::string> names_in(const HostFacts& facts);

}  // namespace rdmacfg::ctl
