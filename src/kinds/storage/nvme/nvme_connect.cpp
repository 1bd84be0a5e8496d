// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nvme/nvme_connect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "kinds/storage/nvme/nvme_connection.hpp"
#include "kinds/storage/nvme/nvme_found.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;

Result<DiscoveryConf> read_discovery_conf(system::Files& files) {
  auto file = read_marked(files, std::string(kDiscoveryFile));
  if (!file) return base::fail(file.error());
  auto out = parse_discovery_conf(file->text.value_or(""));
  if (file->damage) out.damage = std::move(file->damage);
  return out;
}

DiskUses nvme_disk_uses(system::Host& host) {
  return [&host](const auto& names) { return host.nvme_host.uses(names); };
}

namespace {
constexpr std::int64_t kDiscoveryPort = 8009;  // nvme-disc of IANA's registry
}  // namespace

std::set<std::string> ports_left(std::string_view before, std::string_view after, const std::string& address,
                                 const NvmeControllers& controllers) {
  auto out = services_of_lines(before);
  const auto wanted = services_of_lines(after);
  for (const auto& port : wanted) out.erase(port);
  const auto [first, end] = controllers.equal_range(address);
  const bool used = std::any_of(
      first, end, [&](const auto& controller) { return wanted.contains(controller.second.service); });
  return used ? out : std::set<std::string>{};
}

std::vector<std::string> missing_connections(const std::vector<std::string>& subsystems,
                                             const std::vector<std::int64_t>& ports,
                                             const std::string& address, const NvmeControllers& controllers) {
  std::set<std::string> names, services;
  for (auto [at, end] = controllers.equal_range(address); at != end; ++at) {
    names.insert(at->second.subsystem);
    services.insert(at->second.service);
  }
  std::vector<std::string> out;
  for (const auto& nqn : subsystems) {
    if (!names.contains(nqn)) out.push_back(nqn);
  }
  // A line's port is that of a discovery controller. Its log says at which ports subsystems are, and names
  // other discovery controllers (nvmf_connect_disc_entry() of libnvme): only a guess asks for one at each.
  if (!subsystems.empty()) return out;
  std::vector<std::string> unused;
  for (const auto port : ports) {
    if (port == kDiscoveryPort) continue;  // its service may have no other use
    if (!services.contains(std::to_string(port))) unused.push_back(fmt::format("port {}", port));
  }
  const bool any = std::any_of(ports.begin(), ports.end(),
                               [&](const auto port) { return services.contains(std::to_string(port)); });
  if (any) out.insert(out.end(), unused.begin(), unused.end());
  return out;
}

Result<void> reload_nvme_units(system::Host& host) {
  const std::vector<std::string> names{kConnectUnit, "remote-fs.target"};
  return reload_changed_units(names, host);
}

namespace {

/// NvmeControllers that are there before our first line for their address are not ours.
Result<void> note_found(std::span<const Change> changes, const DiscoveryConf& conf,
                        const NvmeControllers& controllers, system::Host& host) {
  std::set<std::string> there;
  for (const auto& change : changes) {
    if (change.operation != model::Operation::kCreate || conf.ours.contains(change.key.id)) continue;
    for (auto [at, end] = controllers.equal_range(change.key.id); at != end; ++at)
      there.insert(found_text(at->second, change.key.id));
  }
  if (there.empty()) return {};
  auto found = read_nvme_found(host);
  if (!found) return base::fail(found.error());
  const auto known = found->size();
  found->merge(there);
  return found->size() == known ? Result<void>{} : write_nvme_found(*found, host);
}

/// Ports that entries leave, by their addresses.
using PortsByAddress = std::map<std::string, std::set<std::string>>;

/// Notes in their lines that they are to go, for a run that ends in between. `left`: of these addresses only
/// the lines of such ports.
Result<void> mark_going(const LeavingSessions& leaving, const PortsByAddress& left, DiscoveryConf& conf,
                        system::Host& host) {
  bool marked = false;
  for (const auto& [address, names] : leaving.by_id) {
    const auto at = conf.ours.find(address);
    if (at == conf.ours.end()) continue;
    std::vector<std::string> lines;
    for (const auto line : base::split(std::string_view(at->second), '\n')) {
      const auto ports = services_of_lines(line);
      const auto only = left.find(address);
      const bool goes = only == left.end() || std::any_of(ports.begin(), ports.end(), [&](const auto& port) {
                          return only->second.contains(port);
                        });
      const bool fresh = goes && !line.starts_with(kGoingMark);
      lines.push_back(fmt::format("{}{}", fresh ? kGoingMark : std::string_view(), line));
      marked = marked || fresh;
    }
    at->second = base::join(lines, "\n");
  }
  if (!marked) return {};
  if (conf.damage) return base::fail(error_of(*conf.damage, kDiscoveryFile));
  return host.files.edit(std::string(kDiscoveryFile), render_discovery_conf(conf));
}

/// Of what goes, of ports that an entry leaves, and of connections that are undone. None is disconnected
/// before all of them may be: each may be the last path to a disk once the others are gone.
Result<void> disconnect_leaving(std::span<const Change> changes, DiscoveryConf& conf,
                                const NvmeControllers& controllers, system::Host& host) {
  LeavingSessions leaving;
  PortsByAddress left;
  std::string label;
  NvmeOwners owners(host);
  for (const auto& change : changes) {
    if (change.operation == model::Operation::kCreate) continue;
    const auto wanted = model::from_attributes<NvmeConnection>(change.after);
    const auto& address = change.key.id;
    std::set<std::string> ports;
    if (wanted.line && (wanted.connected == true || !change.differs_in("connected"))) {
      const auto at = conf.ours.find(address);
      if (at != conf.ours.end()) ports = ports_left(at->second, *wanted.line, address, controllers);
      if (ports.empty()) continue;
    }
    auto names = ports.empty() ? owners.ours_at(address, conf, controllers)
                               : owners.ours_at_ports(address, ports, conf, controllers);
    if (!names) return base::fail(names.error());
    if (names->empty()) continue;
    label = leaving.by_id.empty() ? change.label : "NVMe targets";
    leaving.by_id.emplace(address, std::move(*names));
    if (!ports.empty()) left.emplace(address, std::move(ports));
  }
  if (leaving.by_id.empty()) return {};
  const auto names = leaving.all();
  if (auto done = require_unused(label, names, nvme_disk_uses(host)); !done) return done;
  if (auto done = mark_going(leaving, left, conf, host); !done) return done;
  for (const auto& name : names) {
    if (auto done = host.nvme_host.disconnect(name); !done) return done;
  }
  const auto now = observe_nvme_controllers(host);
  if (!now) return base::fail(now.error());
  for (const auto& [address, controller] : *now) {
    const auto at = leaving.by_id.find(address);
    if (at == leaving.by_id.end()) continue;
    if (std::find(at->second.begin(), at->second.end(), controller.name) != at->second.end())
      return base::fail(base::Code::kIo,
                        fmt::format("NVMe target {}: {} is still connected", address, controller.name));
  }
  return {};
}

/// A run that ends in between finds a line of ours, and goes on with that.
Result<void> write_lines(std::span<const Change> changes, DiscoveryConf& conf, system::Host& host) {
  const auto before = render_discovery_conf(conf);
  bool at_boot = false;
  for (const auto& change : changes) {
    const auto wanted = model::from_attributes<NvmeConnection>(change.after);
    if (wanted.line) {
      conf.ours.insert_or_assign(change.key.id, *wanted.line);
    } else {
      conf.ours.erase(change.key.id);
    }
    at_boot = at_boot || wanted.at_boot == true;
  }
  const auto content = render_discovery_conf(conf);
  const auto write_conf = [&]() -> Result<void> {
    if (content == before) return {};
    if (conf.damage) return base::fail(error_of(*conf.damage, kDiscoveryFile));
    const std::string path(kDiscoveryFile);
    if (content.empty()) return host.files.remove(path);
    if (auto done = host.files.edit(path, content); !done) return done;
    // Without its line nobody would know whose the drop-ins are.
    const auto written = host.files.read(path);
    if (!written) return base::fail(written.error());
    if (*written == content) return {};
    return base::fail(base::Code::kIo, path + ": its content is not what was written");
  };
  const std::string drop_in(kAutoconnectDropIn), boot(kNvmeBootDropIn);
  if (conf.ours.empty()) {
    if (auto done = host.files.remove(drop_in); !done) return done;
    if (auto done = host.files.remove(boot); !done) return done;
    return write_conf();
  }
  if (auto done = write_conf(); !done || !at_boot) return done;
  if (auto done = host.files.write(drop_in, render_autoconnect_drop_in()); !done) return done;
  return host.files.write(boot, render_nvme_boot_drop_in());
}

Result<std::vector<std::string>> without_connection(std::span<const Change> changes, system::Host& host) {
  const auto controllers = observe_nvme_controllers(host);
  if (!controllers) return base::fail(controllers.error());
  std::vector<std::string> out;
  for (const auto& change : changes) {
    const auto wanted = model::from_attributes<NvmeConnection>(change.after);
    if (wanted.connected == true && !controllers->contains(change.key.id)) out.push_back(change.label);
  }
  return out;
}

Result<void> connect_missing(std::span<const Change> changes,
                             const std::map<std::string, std::string>& before, system::Host& host) {
  const bool fresh = std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    const auto wanted = model::from_attributes<NvmeConnection>(change.after);
    const auto at = before.find(change.key.id);
    return wanted.connected == true && wanted.line && (at == before.end() || at->second != *wanted.line);
  });
  return reach_targets({.always = fresh,
                        .missing = [&] { return without_connection(changes, host); },
                        .start = [&] { return host.units.act(system::UnitAction::kStart, kConnectUnit); },
                        .unit = kConnectUnit,
                        .failed = "nvme-cli made no connection"},
                       host);
}

Result<void> forget_found(std::span<const Change> changes, system::Host& host) {
  auto found = read_nvme_found(host);
  if (!found) return base::fail(found.error());
  const auto known = found->size();
  std::set<std::string> gone;
  for (const auto& change : changes) {
    if (!model::from_attributes<NvmeConnection>(change.after).line) gone.insert(change.key.id);
  }
  std::erase_if(*found, [&](const auto& text) { return gone.contains(text.substr(0, text.find(' '))); });
  return found->size() == known ? Result<void>{} : write_nvme_found(*found, host);
}

}  // namespace

Result<void> apply_nvme_connections(std::span<const Change> changes, system::Host& host) {
  auto conf = read_discovery_conf(host.files);
  if (!conf) return base::fail(conf.error());
  if (host.offline) return write_lines(changes, *conf, host);
  const auto before = conf->ours;
  const auto controllers = observe_nvme_controllers(host);
  if (!controllers) return base::fail(controllers.error());
  if (auto done = note_found(changes, *conf, *controllers, host); !done) return done;
  if (auto done = disconnect_leaving(changes, *conf, *controllers, host); !done) return done;
  if (auto done = write_lines(changes, *conf, host); !done) return done;
  if (auto done = reload_nvme_units(host); !done) return done;
  if (auto done = connect_missing(changes, before, host); !done) return done;
  return forget_found(changes, host);
}

}  // namespace rdmacfg::kinds
