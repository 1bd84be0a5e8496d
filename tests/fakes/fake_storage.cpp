// SPDX-License-Identifier: Apache-2.0
#include "fakes/fake_storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"
#include "formats/storage/discovery_conf.hpp"
#include "formats/storage/iser_unit.hpp"
#include "formats/storage/nfs_conf.hpp"

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;
using system::LioAcl;
using system::LioBackstore;
using system::LioLun;
using system::LioMapping;
using system::LioPortal;
using system::LioState;
using system::LioTarget;
using system::LioTargetId;
using system::NvmeNamespace;
using system::NvmePort;
using system::NvmeSubsystem;
using system::NvmeTargetState;

namespace {

void insert_sorted(std::vector<std::string>& list, const std::string& text) {
  list.push_back(text);
  std::sort(list.begin(), list.end());
}

bool holds(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

LioAcl* acl_of(LioTarget& target, const std::string& initiator) {
  const auto at = std::find_if(target.acls.begin(), target.acls.end(),
                               [&](const auto& acl) { return acl.initiator == initiator; });
  return at == target.acls.end() ? nullptr : &*at;
}

bool has_lun(const LioTarget& target, int number) {
  return std::any_of(target.luns.begin(), target.luns.end(),
                     [&](const auto& lun) { return lun.number == number; });
}

template <class T, class Less>
void add_sorted(std::vector<T>& list, T item, Less less) {
  list.push_back(std::move(item));
  std::sort(list.begin(), list.end(), less);
}

}  // namespace

void FakeNvmeTarget::reboot() {
  loaded = false;
  subsystems.clear();
  ports.clear();
  hosts.clear();
}

std::string FakeNvmeTarget::dump() const {
  std::string out;
  for (const auto& [nqn, subsystem] : subsystems) {
    out +=
        fmt::format("nvme {} hosts {}\n", nqn, subsystem.any_host ? "any" : base::join(subsystem.hosts, ","));
    for (const auto& space : subsystem.namespaces)
      out += fmt::format("  namespace {} {}{}\n", space.nsid, space.device, space.enabled ? "" : " disabled");
  }
  for (const auto& [id, port] : ports) {
    out += fmt::format("nvme-port {} {} {} {} {}: {}\n", id, port.transport, port.family, port.address,
                       port.service, base::join(port.subsystems, ","));
  }
  for (const auto& host : hosts) out += fmt::format("nvme-host {}\n", host);
  return out;
}

Result<void> FakeNvmeTarget::call(const std::string& what, const std::function<int()>& effect) {
  const int err = faults_.call(what, effect);
  return err == 0 ? Result<void>() : fail_errno(err, what);
}

Result<void> FakeNvmeTarget::change(const std::string& nqn, const std::string& what,
                                    const std::function<int(NvmeSubsystem&)>& effect) {
  return call(what, [&] {
    const auto at = subsystems.find(nqn);
    return at == subsystems.end() ? ENOENT : effect(at->second);
  });
}

Result<std::optional<NvmeTargetState>> FakeNvmeTarget::observe() {
  ++looks;
  if (!loaded) return std::optional<NvmeTargetState>{};
  NvmeTargetState state;
  for (const auto& [nqn, subsystem] : subsystems) state.subsystems.push_back(subsystem);
  for (const auto& [id, port] : ports) state.ports.push_back(port);
  return std::optional(std::move(state));
}

Result<void> FakeNvmeTarget::start() {
  loaded = true;  // a module that is loaded changes nothing that anybody sees
  return {};
}

Result<void> FakeNvmeTarget::make_subsystem(const std::string& nqn) {
  if (subsystems.contains(nqn)) return {};
  return call(nqn + ": make the subsystem", [&] {
    subsystems[nqn].nqn = nqn;
    return 0;
  });
}

Result<void> FakeNvmeTarget::remove_subsystem(const std::string& nqn) {
  if (!subsystems.contains(nqn)) return {};
  return change(nqn, nqn + ": remove the subsystem", [&](NvmeSubsystem& subsystem) {
    if (!subsystem.namespaces.empty() || !subsystem.hosts.empty()) return ENOTEMPTY;
    for (const auto& [id, port] : ports) {
      if (holds(port.subsystems, nqn)) return EBUSY;
    }
    subsystems.erase(nqn);
    return 0;
  });
}

Result<void> FakeNvmeTarget::set_any_host(const std::string& nqn, bool any) {
  return change(nqn, fmt::format("{}: let {} connect", nqn, any ? "any host" : "named hosts only"),
                [&](NvmeSubsystem& subsystem) {
                  if (any && !subsystem.hosts.empty()) return EINVAL;
                  subsystem.any_host = any;
                  return 0;
                });
}

Result<void> FakeNvmeTarget::allow_host(const std::string& nqn, const std::string& host) {
  return change(nqn, fmt::format("{}: let {} connect", nqn, host), [&](NvmeSubsystem& subsystem) {
    if (subsystem.any_host) return EINVAL;
    hosts.insert(host);
    if (!holds(subsystem.hosts, host)) insert_sorted(subsystem.hosts, host);
    return 0;
  });
}

Result<void> FakeNvmeTarget::disallow_host(const std::string& nqn, const std::string& host) {
  return change(nqn, fmt::format("{}: do not let {} connect", nqn, host), [&](NvmeSubsystem& subsystem) {
    std::erase(subsystem.hosts, host);
    const bool named = std::any_of(subsystems.begin(), subsystems.end(),
                                   [&](const auto& other) { return holds(other.second.hosts, host); });
    if (!named) hosts.erase(host);
    return 0;
  });
}

Result<void> FakeNvmeTarget::make_namespace(const std::string& nqn, const NvmeNamespace& wanted) {
  return change(nqn, fmt::format("{}: offer {} as namespace {}", nqn, wanted.device, wanted.nsid),
                [&](NvmeSubsystem& subsystem) {
                  if (missing_devices.contains(wanted.device)) return ENOENT;
                  std::erase_if(subsystem.namespaces, [&](const auto& space) {
                    return space.nsid == wanted.nsid && !space.enabled;
                  });
                  for (const auto& space : subsystem.namespaces) {
                    if (space.nsid == wanted.nsid) return EBUSY;  // its attributes cannot be written
                  }
                  subsystem.namespaces.push_back(wanted);
                  std::sort(subsystem.namespaces.begin(), subsystem.namespaces.end(),
                            [](const auto& a, const auto& b) { return a.nsid < b.nsid; });
                  return 0;
                });
}

Result<void> FakeNvmeTarget::remove_namespace(const std::string& nqn, int nsid) {
  return change(nqn, fmt::format("{}: remove namespace {}", nqn, nsid), [&](NvmeSubsystem& subsystem) {
    std::erase_if(subsystem.namespaces, [&](const auto& space) { return space.nsid == nsid; });
    return 0;
  });
}

Result<void> FakeNvmeTarget::make_port(const NvmePort& port) {
  return call(fmt::format("create the NVMe port {} {}", port.address, port.service), [&] {
    if (!ports.try_emplace(port.id, port).second) return EEXIST;
    ports[port.id].subsystems.clear();
    return 0;
  });
}

Result<void> FakeNvmeTarget::remove_port(int id) {
  if (!ports.contains(id)) return {};
  return call(fmt::format("remove the NVMe port {}", id), [&] {
    if (!ports.at(id).subsystems.empty()) return ENOTEMPTY;
    ports.erase(id);
    return 0;
  });
}

Result<void> FakeNvmeTarget::offer(int port, const std::string& nqn) {
  return change(nqn, fmt::format("{}: offer it on port {}", nqn, port), [&](NvmeSubsystem& /*one*/) {
    const auto at = ports.find(port);
    if (at == ports.end()) return ENOENT;
    if (!holds(at->second.subsystems, nqn)) insert_sorted(at->second.subsystems, nqn);
    return 0;
  });
}

Result<void> FakeNvmeTarget::withdraw(int port, const std::string& nqn) {
  return call(fmt::format("{}: withdraw it from port {}", nqn, port), [&] {
    const auto at = ports.find(port);
    if (at != ports.end()) std::erase(at->second.subsystems, nqn);
    return 0;
  });
}

FakeNvmeHost::FakeNvmeHost(Faults& faults, MemoryFiles& files, FakeUnits& units)
    : faults_(faults), files_(files) {
  units.started = [this](const std::string& unit) {
    if (unit == kinds::kAutoconnectUnit) connect_all();
  };
}

void FakeNvmeHost::connect_all() {
  const auto file = files_.content.find(std::string(kinds::kDiscoveryFile));
  if (file == files_.content.end()) return;
  for (const auto line : base::split(file->second, '\n')) {
    if (line.starts_with('#')) continue;
    const auto address = kinds::traddr_of(line);
    const auto services = kinds::services_of_lines(line);
    const auto service = services.empty() ? std::string("4420") : *services.begin();
    auto offers = targets.find(address + " " + service);
    if (offers == targets.end()) offers = targets.find(address);
    if (offers == targets.end()) continue;
    for (const auto& nqn : offers->second) {
      std::set<std::string> names;
      bool there = false;
      for (const auto& controller : controllers) {
        names.insert(controller.name);
        there = there || (controller.subsystem == nqn && controller.address == address &&
                          controller.service == service);
      }
      if (there) continue;
      int number = 0;
      while (names.contains(fmt::format("nvme{}", number))) ++number;
      controllers.push_back({fmt::format("nvme{}", number), nqn, "rdma", address, service, "live"});
    }
  }
}

std::string FakeNvmeHost::dump() const {
  std::set<std::string> lines;
  for (const auto& controller : controllers)
    lines.insert(fmt::format("nvme-connection {} {} {} {} {}\n", controller.transport, controller.address,
                             controller.service, controller.subsystem, controller.state));
  std::string out;
  for (const auto& line : lines) out += line;
  return out;
}

Result<std::vector<system::DiskUse>> FakeNvmeHost::uses(const std::vector<std::string>& names) {
  ++looks;
  std::set<std::string> subsystems;
  for (const auto& controller : controllers) {
    if (holds(names, controller.name)) subsystems.insert(controller.subsystem);
  }
  std::vector<system::DiskUse> out;
  for (const auto& subsystem : subsystems) {
    const bool stays = multipath.contains(subsystem) &&
                       std::any_of(controllers.begin(), controllers.end(), [&](const auto& controller) {
                         return controller.subsystem == subsystem && !holds(names, controller.name);
                       });
    const auto at = stays ? used.end() : used.find(subsystem);
    if (at != used.end()) out.insert(out.end(), at->second.begin(), at->second.end());
  }
  return out;
}

Result<void> FakeNvmeHost::disconnect(const std::string& name) {
  const auto at = std::find_if(controllers.begin(), controllers.end(),
                               [&](const auto& controller) { return controller.name == name; });
  if (at == controllers.end()) return {};
  const auto what = fmt::format("{} {}: disconnect", at->address, at->subsystem);
  const int err = faults_.call(what, [&] {
    controllers.erase(at);
    return 0;
  });
  return err == 0 ? Result<void>() : fail_errno(err, what);
}

FakeIscsi::FakeIscsi(FakeUnits& units) : units_(units) {
  units.started = [this, others = units.started](const std::string& unit) {
    if (others) others(unit);
    if (unit == kinds::kIserUnit) run_iscsiadm();
  };
}

void FakeIscsi::run_iscsiadm() {
  const auto unit = units_.units.find(std::string(kinds::kIserUnit));
  if (unit == units_.units.end()) return;
  const auto logins = kinds::parse_iser_unit(unit->second.fragment);
  const auto is_at = [](const system::IscsiSession& session, const kinds::IserPortal& portal) {
    return session.interface == kinds::kIserInterface && session.target == portal.target &&
           session.address == portal.address.text() && session.port == portal.port &&
           session.group == portal.group;
  };
  for (const auto& portal : logins.leaving) {
    if (stuck) continue;
    std::erase_if(sessions, [&](const auto& session) { return is_at(session, portal); });
    records.erase(portal.text());
  }
  const bool rests = !logins.resting.empty() && (logins.boot.empty() || logins.boot == boot_id);
  for (const auto& portal : logins.resting) {
    if (!stuck) std::erase_if(sessions, [&](const auto& session) { return is_at(session, portal); });
  }
  auto logged_in = logins.wanted;
  for (const auto& portal : logins.resting) {
    if (records.contains(portal.text())) logged_in.insert(portal);
  }
  for (const auto& portal : logged_in) {
    records.insert(portal.text());
    if (rests) continue;
    const bool there = std::any_of(sessions.begin(), sessions.end(),
                                   [&](const auto& session) { return is_at(session, portal); });
    if (there || !targets.contains(portal.text())) continue;
    int number = 1;
    const auto taken = [&](const auto& session) { return session.name == fmt::format("session{}", number); };
    while (std::any_of(sessions.begin(), sessions.end(), taken)) ++number;
    sessions.push_back({fmt::format("session{}", number), portal.target, portal.address.text(), portal.port,
                        portal.group, "iser", std::string(kinds::kIserInterface), "LOGGED_IN"});
  }
}

std::string FakeIscsi::dump() const {
  std::set<std::string> lines;
  for (const auto& session : sessions)
    lines.insert(fmt::format("iscsi-session {} {} {}:{},{} by {} {}\n", session.transport, session.target,
                             session.address, session.port, session.group, session.interface, session.state));
  for (const auto& record : records) lines.insert(fmt::format("iscsi-record {}\n", record));
  std::string out;
  for (const auto& line : lines) out += line;
  return out;
}

Result<std::vector<system::DiskUse>> FakeIscsi::uses(const std::vector<std::string>& names) {
  ++looks;
  std::set<std::string> going;
  for (const auto& session : sessions) {
    if (holds(names, session.name)) going.insert(session.target);
  }
  std::vector<system::DiskUse> out;
  for (const auto& target : going) {
    const bool stays =
        multipath.contains(target) && std::any_of(sessions.begin(), sessions.end(), [&](const auto& session) {
          return session.target == target && !holds(names, session.name);
        });
    const auto at = stays ? used.end() : used.find(target);
    if (at != used.end()) out.insert(out.end(), at->second.begin(), at->second.end());
  }
  return out;
}

bool FakeNfsd::runs() const {
  const auto at = units_.units.find("nfs-server.service");
  const bool running = at != units_.units.end() && at->second.running;
  if (!running) {
    if (!by_hand) ports_.clear();
    return by_hand;
  }
  if (at->second.starts_seen != starts_seen_) {  // rpc.nfsd, as the files are read then
    starts_seen_ = at->second.starts_seen;
    ports_.clear();
    std::string all;
    for (const auto& [path, text] : files_.content) {
      const bool read =
          path == "/etc/nfs.conf" || (path.starts_with("/etc/nfs.conf.d/") && path.ends_with(".conf"));
      if (read) all += text + "\n";
    }
    const auto says = kinds::parse_nfs_conf(all);
    if (says.rdma == true) ports_.insert(static_cast<int>(says.port.value_or(20049)));
  }
  return true;
}

std::string FakeNfsd::dump() const {
  if (!runs()) return {};
  std::string out = "nfsd";
  for (const int port : ports_) out += fmt::format(" rdma {}", port);
  return out + "\n";
}

Result<std::optional<std::vector<int>>> FakeNfsd::observe_rdma_ports() {
  if (hidden || !runs()) return std::optional<std::vector<int>>{};
  return std::optional(std::vector<int>(ports_.begin(), ports_.end()));
}

Result<void> FakeNfsd::listen_rdma(int port) {
  const auto what = fmt::format("nfsd: serve RDMA on port {}", port);
  const int err = faults_.call(what, [&] {
    if (hidden) return ENOENT;
    if (!runs()) return EIO;
    if (listen_error != 0) return listen_error;
    return ports_.insert(port).second ? 0 : EADDRINUSE;
  });
  return err == 0 ? Result<void>() : fail_errno(err, what);
}

void FakeLio::reboot() {
  loaded = false;
  backstores.clear();
  targets.clear();
}

std::string FakeLio::dump() const {
  std::string out;
  for (const auto& [id, backstore] : backstores)
    out += fmt::format("backstore {} {} {}{}\n", id, backstore.path, backstore.serial,
                       backstore.enabled ? "" : " disabled");
  for (const auto& [id, target] : targets) {
    out += fmt::format("target {} {}{}{}{}\n", id.fabric, id.wwn, target.enabled ? "" : " disabled",
                       target.any_initiator ? " any" : "", target.write_protected ? " write-protected" : "");
    for (const auto& lun : target.luns) out += fmt::format("  lun {} {}\n", lun.number, lun.backstore);
    for (const auto& acl : target.acls) {
      out += fmt::format("  acl {}", acl.initiator);
      for (const auto& lun : acl.luns)
        out += fmt::format(" {}={}{}", lun.number, lun.lun, lun.read_only ? " ro" : "");
      out += "\n";
    }
    for (const auto& portal : target.portals)
      out += fmt::format("  portal {}{}\n", portal.name, portal.iser ? " iser" : "");
  }
  return out;
}

Result<void> FakeLio::call(const std::string& what, const std::function<int()>& effect) {
  const int err = faults_.call(what, effect);
  return err == 0 ? Result<void>() : base::fail_errno(err, what);
}

Result<void> FakeLio::change(const LioTargetId& target, const std::string& what,
                             const std::function<int(LioTarget&)>& effect) {
  return call(target.wwn + ": " + what, [&] {
    const auto at = targets.find(target);
    return at == targets.end() ? ENOENT : effect(at->second);
  });
}

Result<std::optional<LioState>> FakeLio::observe() {
  ++looks;
  if (!loaded) return std::optional<LioState>{};
  LioState state;
  for (const auto& [id, backstore] : backstores) state.backstores.push_back(backstore);
  for (const auto& [id, target] : targets) state.targets.push_back(target);
  return std::optional(std::move(state));
}

Result<void> FakeLio::start(const std::string& /*fabric*/) {
  loaded = true;  // a module that is loaded changes nothing that anybody sees
  return {};
}

Result<void> FakeLio::make_backstore(const LioBackstore& wanted) {
  return call("offer " + wanted.path, [&] {
    if (missing.contains(wanted.path)) return ENOENT;
    const bool claims = wanted.id.starts_with("iblock_");
    for (const auto& [id, backstore] : backstores) {
      if (claims && id != wanted.id && id.starts_with("iblock_") && backstore.enabled &&
          backstore.path == wanted.path)
        return EBUSY;
    }
    backstores[wanted.id] = wanted;
    backstores[wanted.id].enabled = true;
    return 0;
  });
}

Result<void> FakeLio::remove_backstore(const std::string& id) {
  if (!backstores.contains(id)) return {};
  return call("remove the backstore " + id, [&] {
    for (const auto& [name, target] : targets) {
      for (const auto& lun : target.luns) {
        if (lun.backstore == id) return EBUSY;
      }
    }
    backstores.erase(id);
    return 0;
  });
}

Result<void> FakeLio::make_target(const LioTargetId& target) {
  const auto there = targets.find(target);
  if (there != targets.end() && there->second.groups > 0) return {};
  return call(target.wwn + ": make the target", [&] {
    targets[target] = {.id = target};
    return 0;
  });
}

Result<void> FakeLio::remove_group(const LioTargetId& target) {
  return change(target, "remove the portal group", [&](LioTarget& changed) {
    if (target.fabric != "iscsi") return EINVAL;
    if (!changed.luns.empty() || !changed.acls.empty() || !changed.portals.empty()) return ENOTEMPTY;
    changed = {.id = target, .groups = 0};
    return 0;
  });
}

Result<void> FakeLio::remove_target(const LioTargetId& target) {
  if (!targets.contains(target)) return {};
  return change(target, "remove the target", [&](LioTarget& changed) {
    if (!changed.luns.empty() || !changed.acls.empty() || !changed.portals.empty()) return ENOTEMPTY;
    targets.erase(target);
    return 0;
  });
}

Result<void> FakeLio::enable(const LioTargetId& target, bool enabled) {
  return change(target, enabled ? "enable it" : "disable it", [&](LioTarget& changed) {
    changed.enabled = enabled;
    if (!enabled) changed.guests.clear();
    for (auto& acl : changed.acls) acl.logged_in = acl.logged_in && enabled;
    return 0;
  });
}

Result<void> FakeLio::allow_any(const LioTargetId& target) {
  return change(target, "let any initiator log in", [&](LioTarget& changed) {
    if (target.fabric != "iscsi") return ENOENT;
    changed.any_initiator = true;
    changed.write_protected = false;
    return 0;
  });
}

Result<void> FakeLio::make_lun(const LioTargetId& target, const LioLun& lun) {
  return change(
      target, fmt::format("offer {} as LUN {}", lun.backstore, lun.number), [&](LioTarget& changed) {
        const auto at = backstores.find(lun.backstore);
        if (!lun.backstore.empty() && at == backstores.end()) return ENOENT;
        if (!lun.backstore.empty() && !at->second.enabled) return ENODEV;
        for (auto& there : changed.luns) {
          if (there.number != lun.number) continue;
          if (!there.backstore.empty() && there.backstore != lun.backstore) return EEXIST;
          there.backstore = lun.backstore;
          return 0;
        }
        add_sorted(changed.luns, lun, [](const auto& a, const auto& b) { return a.number < b.number; });
        return 0;
      });
}

Result<void> FakeLio::remove_lun(const LioTargetId& target, int number) {
  return change(target, fmt::format("remove LUN {}", number), [&](LioTarget& changed) {
    for (const auto& acl : changed.acls) {
      for (const auto& lun : acl.luns) {
        if (lun.lun == number) return EBUSY;
      }
    }
    std::erase_if(changed.luns, [&](const auto& lun) { return lun.number == number; });
    return 0;
  });
}

Result<void> FakeLio::make_acl(const LioTargetId& target, const std::string& initiator) {
  return change(target, fmt::format("let {} log in", initiator), [&](LioTarget& changed) {
    if (acl_of(changed, initiator) != nullptr) return 0;
    LioAcl made;
    made.initiator = initiator;
    add_sorted(changed.acls, made, [](const auto& a, const auto& b) { return a.initiator < b.initiator; });
    return 0;
  });
}

Result<void> FakeLio::remove_acl(const LioTargetId& target, const std::string& initiator) {
  return change(target, fmt::format("do not let {} log in", initiator), [&](LioTarget& changed) {
    const auto* acl = acl_of(changed, initiator);
    if (acl == nullptr) return 0;
    if (!acl->luns.empty()) return ENOTEMPTY;
    std::erase_if(changed.acls, [&](const auto& there) { return there.initiator == initiator; });
    return 0;
  });
}

Result<void> FakeLio::map(const LioTargetId& target, const std::string& initiator,
                          const LioMapping& mapping) {
  return change(target, fmt::format("show LUN {} to {}", mapping.lun, initiator), [&](LioTarget& changed) {
    auto* acl = acl_of(changed, initiator);
    if (acl == nullptr || !has_lun(changed, mapping.lun)) return ENOENT;
    for (auto& there : acl->luns) {
      if (there.number != mapping.number) continue;
      if (there.lun != mapping.lun) return EEXIST;
      there = mapping;
      return 0;
    }
    add_sorted(acl->luns, mapping, [](const auto& a, const auto& b) { return a.number < b.number; });
    return 0;
  });
}

Result<void> FakeLio::unmap(const LioTargetId& target, const std::string& initiator, int number) {
  return change(target, fmt::format("hide LUN {} from {}", number, initiator), [&](LioTarget& changed) {
    auto* acl = acl_of(changed, initiator);
    if (acl != nullptr) std::erase_if(acl->luns, [&](const auto& lun) { return lun.number == number; });
    return 0;
  });
}

Result<void> FakeLio::make_portal(const LioTargetId& target, const LioPortal& portal) {
  return change(target, "listen on " + portal.name, [&](LioTarget& changed) {
    if (target.fabric != "iscsi") return ENOSYS;
    if (portal.iser && no_rdma.contains(portal.name)) return ENODEV;
    std::erase_if(changed.portals, [&](const auto& there) { return there.name == portal.name; });
    add_sorted(changed.portals, portal, [](const auto& a, const auto& b) { return a.name < b.name; });
    return 0;
  });
}

Result<void> FakeLio::remove_portal(const LioTargetId& target, const std::string& name) {
  return change(target, "do not listen on " + name, [&](LioTarget& changed) {
    std::erase_if(changed.portals, [&](const auto& there) { return there.name == name; });
    return 0;
  });
}

}  // namespace rdmacfg::fakes
