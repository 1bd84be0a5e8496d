// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "base/text.hpp"
#include "fakes/drivers/fake_drivers_json.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::fakes {

namespace {

using nlohmann::json;

std::uint16_t key_of(const json& value) {
  if (value.is_number()) return value.get<std::uint16_t>();
  const auto number = base::parse_number(value.get<std::string>());
  if (!number || *number > 0xffff) throw std::runtime_error("no P_Key: " + value.dump());
  return static_cast<std::uint16_t>(*number);
}

std::uint64_t guid_in(const json& value) {
  const auto guid = model::Guid::parse(value.get<std::string>());
  if (!guid) throw std::runtime_error(guid.error().message);
  return guid->number;
}

/// Common parts of interfaces of all sorts. The mode decides about the MTU, "up" about addresses and
/// routes.
void describe(FakeKernel& kernel, const std::string& name, const json& from) {
  if (from.value("mode", "datagram") == "connected") kernel.set_mode(name, model::IpoibMode::kConnected);
  if (from.contains("mtu")) kernel.set_mtu(name, from.at("mtu").get<std::int64_t>());
  Interface& link = kernel.link(name);
  link.umcast = from.value("umcast", false);
  link.group = from.value("group", 0U);
  for (const auto& altname : from.value("altnames", json::array()))
    link.altnames.push_back(altname.get<std::string>());
  if (from.value("up", false)) kernel.set_up(name);
  for (const auto& item : from.value("items", json::array())) kernel.carry(name, item.get<std::string>());
}

void describe_child(FakeKernel& kernel, const std::string& parent, const json& from) {
  allow_keys(from, {"pkey", "name", "by", "mode", "mtu", "umcast", "group", "altnames", "up", "items"},
             "child");
  const auto by = from.value("by", "netlink");
  if (by != "netlink" && by != "sysfs") throw std::runtime_error("child: by " + by);
  const Interface& made = kernel.add_child(parent, key_of(from.at("pkey")), from.value("name", ""),
                                           by == "sysfs" ? Maker::kSysfs : Maker::kNetlink);
  describe(kernel, made.name, from);
}

Port port_of(const json& from, int number) {
  allow_keys(from,
             {"guid", "state", "link_layer", "mtu", "group_mtu", "group_mtus", "pkeys", "pkeys_readable",
              "sm", "rate", "interface", "netdev", "in_bond", "gid_types", "roce_mode", "roce_tos"},
             "port");
  Port port;
  port.number = number;
  port.guid = guid_in(from.at("guid"));
  port.state = from.value("state", port.state);
  port.link_layer = from.value("link_layer", port.link_layer);
  port.mtu = from.value("mtu", port.mtu);
  port.group_mtu = from.value("group_mtu", port.mtu);
  const json group_mtus = from.value("group_mtus", json::object());
  for (const auto& [key, mtu] : group_mtus.items()) {
    port.group_mtus[key_of(key) & 0x7fffU] = mtu.get<int>();
  }
  if (from.contains("pkeys")) {
    port.pkeys.clear();
    for (const auto& key : from.at("pkeys")) port.pkeys.push_back(key_of(key));
  }
  port.pkeys_readable = from.value("pkeys_readable", true);
  port.sm = from.value("sm", true);
  port.rate = from.value("rate", port.rate);
  port.netdev = from.value("netdev", "");
  port.in_bond = from.value("in_bond", "");
  port.gid_types = from.value("gid_types", port.gid_types);
  port.roce_mode = from.value("roce_mode", "");
  port.roce_tos = from.value("roce_tos", 0);
  return port;
}

void describe_device(FakeKernel& kernel, const json& from) {
  allow_keys(
      from,
      {"name", "driver", "pci", "node_guid", "connected", "verbs", "soft", "ports", "iwarp", "firmware"},
      "device");
  Device device;
  device.name = from.at("name").get<std::string>();
  device.driver = from.value("driver", device.driver);
  device.iwarp = from.value("iwarp", false);
  device.pci = from.value("pci", "");
  device.firmware = from.value("firmware", device.firmware);
  device.connected = from.value("connected", true);
  device.verbs = from.value("verbs", true);
  device.soft = from.value("soft", "");
  for (const auto& port : from.at("ports"))
    device.ports.push_back(port_of(port, static_cast<int>(device.ports.size()) + 1));
  device.node_guid = from.contains("node_guid") ? guid_in(from.at("node_guid"))
                     : device.ports.empty()     ? 0
                                                : device.ports.front().guid - 1;
  kernel.add_device(device);
  std::map<int, json> interfaces;  // by ifindex
  for (auto& link : kernel.machine.links) {
    if (link.device != device.name || link.parent != 0) continue;
    const json interface =
        from.at("ports").at(static_cast<std::size_t>(link.port - 1)).value("interface", json::object());
    allow_keys(interface, {"name", "mode", "mtu", "umcast", "group", "altnames", "up", "items", "children"},
               "interface");
    interfaces.emplace(link.index, interface);
    if (interface.contains("name")) link.name.clear();  // so that two may have each other's ibN
  }
  for (const auto& [index, interface] : interfaces) {
    Interface& link = *kernel.machine.find(index);
    const std::string name = interface.value("name", link.name);
    if (name != link.name && kernel.machine.in_use(name)) throw std::runtime_error("two interfaces " + name);
    link.name = name;
  }
  for (const auto& [index, interface] : interfaces) {
    const std::string name = kernel.machine.find(index)->name;
    describe(kernel, name, interface);
    for (const auto& child : interface.value("children", json::array())) describe_child(kernel, name, child);
  }
}

FakeUnit unit_of(const json& from) {
  allow_keys(from,
             {"enabled", "running", "masked", "installable", "starts", "reloads", "needed", "refuses",
              "oneshot", "aliases", "hangs", "generated", "indirect", "transient"},
             "unit");
  FakeUnit unit;
  unit.enabled = from.value("enabled", unit.enabled);
  unit.running = from.value("running", unit.running);
  unit.masked = from.value("masked", unit.masked);
  unit.installable = from.value("installable", unit.installable);
  unit.starts = from.value("starts", unit.starts);
  unit.reloads = from.value("reloads", unit.reloads);
  unit.refuses = from.value("refuses", unit.refuses);
  unit.needed = from.value("needed", unit.needed);
  unit.oneshot = from.value("oneshot", unit.oneshot);
  unit.aliases = from.value("aliases", unit.aliases);
  unit.hangs = from.value("hangs", unit.hangs);
  unit.generated = from.value("generated", unit.generated);
  unit.indirect = from.value("indirect", unit.indirect);
  unit.transient = from.value("transient", unit.transient);
  return unit;
}

void describe_nvme_target(FakeKernel& kernel, const json& from) {
  allow_keys(from, {"subsystems", "ports", "missing"}, "nvme_target");
  auto& target = kernel.nvme_target;
  target.loaded = true;
  for (const auto& path : from.value("missing", json::array()))
    target.missing_devices.insert(path.get<std::string>());
  const json subsystems = from.value("subsystems", json::object());
  for (const auto& [nqn, entry] : subsystems.items()) {
    allow_keys(entry, {"any_host", "hosts", "namespaces"}, "nvme_target subsystem");
    auto& made = target.subsystems[nqn];
    made.nqn = nqn;
    made.any_host = entry.value("any_host", false);
    made.hosts = entry.value("hosts", made.hosts);
    target.hosts.insert(made.hosts.begin(), made.hosts.end());
    const json spaces = entry.value("namespaces", json::object());
    for (const auto& [nsid, device] : spaces.items())
      made.namespaces.push_back({std::stoi(nsid), device.get<std::string>(), "", true});
  }
  const json ports = from.value("ports", json::object());
  for (const auto& [id, entry] : ports.items()) {
    allow_keys(entry, {"transport", "address", "service", "subsystems"}, "nvme_target port");
    system::NvmePort port{.id = std::stoi(id),
                          .transport = entry.value("transport", "rdma"),
                          .family = "ipv4",
                          .address = entry.value("address", ""),
                          .service = entry.value("service", "4420"),
                          .subsystems = entry.value("subsystems", std::vector<std::string>{})};
    target.ports[port.id] = std::move(port);
  }
}

void describe_lio(FakeKernel& kernel, const json& from) {
  allow_keys(from, {"backstores", "targets", "missing", "no_rdma"}, "lio");
  auto& lio = kernel.lio;
  lio.loaded = true;
  for (const auto& path : from.value("missing", json::array())) lio.missing.insert(path.get<std::string>());
  for (const auto& name : from.value("no_rdma", json::array())) lio.no_rdma.insert(name.get<std::string>());
  const json backstores = from.value("backstores", json::object());
  for (const auto& [id, path] : backstores.items())
    lio.backstores[id] = {.id = id, .path = path.get<std::string>(), .serial = "theirs", .enabled = true};
  const json targets = from.value("targets", json::object());
  for (const auto& [wwn, entry] : targets.items()) {
    allow_keys(entry,
               {"groups", "enabled", "any_initiator", "authentication", "write_protected", "luns", "acls",
                "portals", "guests"},
               "lio target");
    system::LioTarget made{.id = {wwn.starts_with("0x") ? "srpt" : "iscsi", wwn},
                           .groups = entry.value("groups", 1),
                           .enabled = entry.value("enabled", true),
                           .any_initiator = entry.value("any_initiator", false),
                           .authentication = entry.value("authentication", false),
                           .write_protected = entry.value("write_protected", false)};
    const json luns = entry.value("luns", json::object());
    for (const auto& [number, backstore] : luns.items())
      made.luns.push_back({std::stoi(number), backstore.get<std::string>()});
    const json acls = entry.value("acls", json::object());
    for (const auto& [initiator, acl] : acls.items()) {
      allow_keys(acl, {"luns", "logged_in"}, "lio acl");
      system::LioAcl& added = made.acls.emplace_back();
      added.initiator = initiator;
      added.logged_in = acl.value("logged_in", false);
      added.has_secret = made.authentication;
      for (const int number : acl.value("luns", std::vector<int>{}))
        added.luns.push_back({number, number, false});
    }
    const json portals = entry.value("portals", json::object());
    for (const auto& [name, iser] : portals.items()) made.portals.push_back({name, iser.get<bool>()});
    made.guests = entry.value("guests", made.guests);
    lio.targets[made.id] = std::move(made);
  }
}

std::map<std::string, std::vector<system::DiskUse>> uses_in(const json& from) {
  std::map<std::string, std::vector<system::DiskUse>> out;
  const json used = from.value("used", json::object());
  for (const auto& [name, texts] : used.items()) {
    for (const auto& text : texts) out[name].push_back({text.get<std::string>()});
  }
  return out;
}

void describe_nvme_host(FakeKernel& kernel, const json& from) {
  allow_keys(from, {"targets", "controllers", "used"}, "nvme_host");
  auto& host = kernel.nvme_host;
  host.targets = from.value("targets", host.targets);
  host.used = uses_in(from);
  const json controllers = from.value("controllers", json::object());
  for (const auto& [name, entry] : controllers.items()) {
    allow_keys(entry, {"subsystem", "transport", "address", "service", "state"}, "nvme_host controller");
    host.controllers.push_back({name, entry.value("subsystem", ""), entry.value("transport", "rdma"),
                                entry.value("address", ""), entry.value("service", "4420"),
                                entry.value("state", "live")});
  }
}

void describe_iscsi(FakeKernel& kernel, const json& from) {
  allow_keys(from, {"targets", "sessions", "records", "used", "stuck"}, "iscsi");
  auto& iscsi = kernel.iscsi;
  iscsi.targets = from.value("targets", iscsi.targets);
  iscsi.records = from.value("records", iscsi.records);
  iscsi.used = uses_in(from);
  iscsi.stuck = from.value("stuck", iscsi.stuck);
  const json sessions = from.value("sessions", json::object());
  for (const auto& [name, entry] : sessions.items()) {
    allow_keys(entry, {"target", "address", "port", "group", "transport", "interface", "state"},
               "iscsi session");
    iscsi.sessions.push_back({name, entry.value("target", ""), entry.value("address", ""),
                              entry.value("port", 3260), entry.value("group", 1),
                              entry.value("transport", "iser"), entry.value("interface", "rdma-configd"),
                              entry.value("state", "LOGGED_IN")});
  }
}

void describe_links(FakeKernel& kernel, const json& from) {
  for (const auto& link : from.value("links", json::array())) {
    allow_keys(link, {"name", "kind", "mtu", "group", "altnames", "up", "items", "master", "parent", "over"},
               "link");
    const auto name = link.at("name").get<std::string>();
    if (kernel.machine.in_use(name)) throw std::runtime_error("two interfaces " + name);
    Interface& made = kernel.machine.add_link(name, link.value("kind", ""));
    if (link.contains("master")) made.master = kernel.link(link.at("master").get<std::string>()).index;
    if (link.contains("parent")) made.parent = kernel.link(link.at("parent").get<std::string>()).index;
    describe(kernel, name, link);
  }
}

void describe_masters(FakeKernel& kernel, const json& from) {
  for (const auto& link : from.value("links", json::array())) {
    for (const auto& name : link.value("over", json::array())) {
      Interface& master = kernel.link(link.at("name").get<std::string>());
      Interface& slave = kernel.link(name.get<std::string>());
      slave.master = master.index;
      if (master.guid == 0) master.guid = slave.guid;  // it takes the address of the first (bond_enslave())
    }
  }
}

void describe_rdma_system(FakeKernel& kernel, const json& from) {
  if (const json described = from.value("rdma_system", json::object()); !described.empty()) {
    allow_keys(described, {"loaded", "shared", "other_namespaces"}, "rdma_system");
    kernel.rdma_system.loaded = described.value("loaded", true);
    kernel.rdma_system.shared = described.value("shared", true);
    kernel.rdma_system.other_namespaces = described.value("other_namespaces", false);
  }
}

void describe_pci(FakeKernel& kernel, const json& from) {
  const json described_pci = from.value("pci", json::object());
  for (const auto& [address, entry] : described_pci.items()) {
    allow_keys(entry, {"bridge", "max_read_request", "redirects"}, "pci");
    system::PciCapabilities found{
        .bridge = entry.value("bridge", false), .max_read_request = {}, .redirects = {}};
    if (entry.contains("max_read_request")) found.max_read_request = entry.at("max_read_request").get<int>();
    if (entry.contains("redirects")) found.redirects = entry.at("redirects").get<bool>();
    kernel.pci.devices[address] = found;
  }
}

void describe_storage(FakeKernel& kernel, const json& from) {
  if (const json described = from.value("nvme_target", json::object()); !described.empty())
    describe_nvme_target(kernel, described);
  if (const json described = from.value("lio", json::object()); !described.empty())
    describe_lio(kernel, described);
  if (const json described = from.value("nvme_host", json::object()); !described.empty())
    describe_nvme_host(kernel, described);
  if (const json described = from.value("iscsi", json::object()); !described.empty())
    describe_iscsi(kernel, described);
}

void describe_managers(FakeKernel& kernel, const json& from) {
  if (const json described = from.value("network_manager", json::object()); !described.empty()) {
    allow_keys(described, {"fails"}, "network_manager");
    for (const auto& id : described.value("fails", json::array()))
      kernel.network_manager.fails.insert(id.get<std::string>());
    kernel.network_manager.start();
  }
  if (const json described = from.value("networkd", json::object()); !described.empty()) {
    allow_keys(described, {"fails"}, "networkd");
    for (const auto& name : described.value("fails", json::array()))
      kernel.networkd.fails.insert(name.get<std::string>());
    kernel.networkd.start();
  }
}

}  // namespace

std::unique_ptr<FakeKernel> FakeKernel::parse(std::string_view text) {
  auto kernel = std::make_unique<FakeKernel>();
  kernel->add(text);
  return kernel;
}

void FakeKernel::add(std::string_view text) {
  const json from = json::parse(text, nullptr, true, true);
  allow_keys(
      from,
      {"writings",    "rename_up",  "slow_carrier",      "devices",     "links",       "rules",
       "files",       "unreadable", "systemd",           "units",       "modules",     "module_tree",
       "initramfs",   "dcb",        "mlx4_ports",        "users",       "groups",      "sysctl",
       "rdma_system", "rdma_cm",    "rdma_cm_folders",   "soft_types",  "resolved",    "network_manager",
       "duplicates",  "networkd",   "mlx4_without_dpdp", "pci",         "nvme_target", "nvme_host",
       "iscsi",       "births",     "packagekit",        "nfsd_hidden", "lio",         "cuts_whole_names"},
      "host");
  machine.rename_up = from.value("rename_up", machine.rename_up);
  machine.slow_carrier = from.value("slow_carrier", machine.slow_carrier);
  machine.cuts_whole_names = from.value("cuts_whole_names", machine.cuts_whole_names);
  describe_links(*this, from);
  for (const auto& device : from.value("devices", json::array())) describe_device(*this, device);
  describe_masters(*this, from);
  machine.soft_types = from.value("soft_types", machine.soft_types);
  for (const auto& type : machine.soft_types) modules.modules.try_emplace(type == "rxe" ? "rdma_rxe" : type);
  if (from.value("rdma_cm", false)) machine.load_rdma_cm();
  for (const auto& folder : from.value("rdma_cm_folders", json::array())) {
    if (machine.make_folder(folder.get<std::string>()) != 0) throw std::runtime_error("rdma_cm_folders");
  }
  for (const auto& rule : from.value("rules", json::array()))
    machine.rules.push_back(rule.get<std::string>());
  const json described_files = from.value("files", json::object());
  for (const auto& [path, content] : described_files.items()) {
    files.content[path] = content.get<std::string>();
  }
  const json described_births = from.value("births", json::object());
  for (const auto& [path, born] : described_births.items()) files.births[path] = born.get<std::uint64_t>();
  const json described_writings = from.value("writings", json::object());
  for (const auto& [path, at] : described_writings.items()) files.writings[path] = at.get<std::uint64_t>();
  describe_drivers(*this, from);
  for (const auto& path : from.value("unreadable", json::array()))
    files.unreadable.insert(path.get<std::string>());
  for (const auto& name : from.value("users", json::array())) accounts.users.insert(name.get<std::string>());
  for (const auto& name : from.value("groups", json::array()))
    accounts.groups.insert(name.get<std::string>());
  const json described_sysctl = from.value("sysctl", json::object());
  for (const auto& [path, value] : described_sysctl.items()) sysctl.set(path, value.get<std::string>());
  sysctl.keep_as_booted();
  describe_rdma_system(*this, from);
  describe_pci(*this, from);
  nfsd.hidden = from.value("nfsd_hidden", nfsd.hidden);
  describe_storage(*this, from);
  if (const json described = from.value("packagekit", json::object()); !described.empty()) {
    packages.answers = true;
    for (const auto& [name, file] : described.items()) packages.repositories[name] = file.get<std::string>();
  }
  resolver.running = from.value("resolved", resolver.running);
  for (const auto& address : from.value("duplicates", json::array()))
    inet.duplicates.insert(address.get<std::string>());
  describe_managers(*this, from);
  units.answers = from.value("systemd", units.answers);
  const json described_units = from.value("units", json::object());
  for (const auto& [name, unit] : described_units.items()) units.add(name, unit_of(unit));
  units.read_fragments();
}

}  // namespace rdmacfg::fakes
