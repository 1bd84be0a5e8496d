// SPDX-License-Identifier: Apache-2.0
#include "ctl/bundle/taped_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace rdmacfg::ctl {

// Not unnamed: TapedHost::Ports has members of these types.
namespace taped {

using base::Result;
using Name = const std::string&;

inline base::Failure refuse_to_change() {
  return base::fail_errno(EROFS, "a host in a report cannot be changed");
}

/// What every port has.
class Taped {
 public:
  Taped(Tape& tape, system::Host* real) : tape_(tape), real_(real) {}

 protected:
  template <class Real>
  auto ask(Name question, Name about, Real real) {
    return tape_.ask(question, about, std::move(real));
  }

  Tape& tape_;
  system::Host* real_;  ///< nullptr while it replays, when nobody is asked
};

inline std::string port_of_tape(Name device, int port) { return fmt::format("{}/{}", device, port); }

class TapedLinks final : public system::Links, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<system::Link>> observe_links() override {
    return ask("links", "", [&] { return real_->links.observe_links(); });
  }
  Result<std::vector<system::Carried>> observe_carried(std::span<const system::Link> links) override {
    std::vector<system::Carried> out;
    for (const auto& link : links) out.push_back({.index = link.index, .name = link.name, .items = {}});
    return out;
  }
  Result<void> execute(std::span<const system::LinkRequest> /*requests*/) override {
    return refuse_to_change();
  }
  Result<void> restore_carried(const system::Carried& /*carried*/, int /*index*/, Name /*name*/) override {
    return refuse_to_change();
  }
  Result<std::vector<int>> wait_for_carrier(std::span<const int> /*indexes*/,
                                            std::chrono::milliseconds /*time*/) override {
    return std::vector<int>();
  }
  std::vector<std::string> lacking(const system::Carried& /*then*/, const system::Carried& /*now*/) override {
    return {};
  }
};

class TapedInet final : public system::Inet, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<system::InetAddress>> observe_addresses() override {
    return ask("addresses", "", [&] { return real_->inet.observe_addresses(); });
  }
  Result<std::vector<system::InetRoute>> observe_routes() override {
    return ask("routes", "", [&] { return real_->inet.observe_routes(); });
  }
  Result<void> execute(std::span<const system::InetRequest> /*requests*/) override {
    return refuse_to_change();
  }
  Result<void> wait_for_addresses(const std::set<int>& /*indexes*/,
                                  std::chrono::milliseconds /*time*/) override {
    return {};
  }
};

class TapedResolver final : public system::Resolver, Taped {
 public:
  using Taped::Taped;
  Result<std::optional<system::LinkDns>> observe_dns(int index) override {
    return ask("dns", std::to_string(index), [&] { return real_->resolver.observe_dns(index); });
  }
  Result<void> set_dns(int /*index*/, const system::LinkDns& /*dns*/) override { return refuse_to_change(); }
};

class TapedNetworkManager final : public system::NetworkManager, Taped {
 public:
  using Taped::Taped;
  Result<std::optional<system::NmState>> observe() override {
    return ask("networkmanager", "", [&] { return real_->network_manager.observe(); });
  }
  Result<void> load(std::span<const std::string> /*files*/) override { return refuse_to_change(); }
  Result<void> remove(Name /*uuid*/) override { return refuse_to_change(); }
  Result<void> activate(Name /*uuid*/, Name /*interface*/, std::chrono::milliseconds /*time*/) override {
    return refuse_to_change();
  }
  Result<void> deactivate(Name /*uuid*/) override { return refuse_to_change(); }
  Result<void> reapply(Name /*interface*/) override { return refuse_to_change(); }
  void wait_for_release(std::span<const std::string> /*interfaces*/,
                        std::chrono::milliseconds /*time*/) override {}
  Result<std::string> create_checkpoint(std::span<const std::string> /*names*/,
                                        std::chrono::seconds /*time*/) override {
    return refuse_to_change();
  }
  Result<void> extend_checkpoint(Name /*checkpoint*/, std::chrono::seconds /*time*/) override {
    return refuse_to_change();
  }
  Result<void> destroy_checkpoint(Name /*checkpoint*/) override { return refuse_to_change(); }
  Result<void> rollback(Name /*checkpoint*/) override { return refuse_to_change(); }
};

class TapedNetworkd final : public system::Networkd, Taped {
 public:
  using Taped::Taped;
  /// All interfaces are asked for, so that another document finds the answer too.
  Result<std::optional<std::vector<system::NetworkdLink>>> observe(std::span<const int> indexes) override {
    auto all = ask("networkd", "", [&]() -> Result<std::optional<std::vector<system::NetworkdLink>>> {
      auto links = real_->links.observe_links();
      if (!links) return base::fail(links.error());
      std::vector<int> every;
      for (const auto& link : *links) every.push_back(link.index);
      return real_->networkd.observe(every);
    });
    if (all && *all) {
      std::erase_if(**all, [&](const auto& link) {
        return std::find(indexes.begin(), indexes.end(), link.index) == indexes.end();
      });
    }
    return all;
  }
  Result<void> reload() override { return refuse_to_change(); }
  Result<void> reconfigure(int /*index*/) override { return refuse_to_change(); }
  bool pause(std::chrono::milliseconds /*time*/) override { return false; }
};

class TapedIpoib final : public system::Ipoib, Taped {
 public:
  using Taped::Taped;
  bool has_mode_file(Name name) override {
    return ask("ipoib.mode_file", name, [&] { return real_->ipoib.has_mode_file(name); });
  }
  Result<void> write_mode(Name /*name*/, model::IpoibMode /*mode*/) override { return refuse_to_change(); }
  Result<void> create_child(Name /*parent*/, model::Pkey /*pkey*/) override { return refuse_to_change(); }
};

class TapedRdma final : public system::Rdma, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<system::RdmaDevice>> observe_devices(const std::set<std::string>& children) override {
    return ask("rdma", "", [&] { return real_->rdma.observe_devices(children); });
  }
  Result<std::vector<std::uint16_t>> observe_pkeys(Name device, int port) override {
    return ask("rdma.pkeys", port_of_tape(device, port),
               [&] { return real_->rdma.observe_pkeys(device, port); });
  }
  Result<std::vector<system::Gid>> observe_gids(Name device, int port) override {
    return ask("rdma.gids", port_of_tape(device, port),
               [&] { return real_->rdma.observe_gids(device, port); });
  }
  std::optional<system::PortMtu> observe_mtu(Name device, int port) override {
    return ask("rdma.mtu", port_of_tape(device, port), [&] { return real_->rdma.observe_mtu(device, port); });
  }
  std::optional<system::DeviceIds> observe_ids(Name device) override {
    return ask("rdma.ids", device, [&] { return real_->rdma.observe_ids(device); });
  }
};

class TapedRdmaAdmin final : public system::RdmaAdmin {
 public:
  Result<void> rename_device(Name /*device*/, Name /*name*/) override { return refuse_to_change(); }
  Result<void> new_link(Name /*name*/, Name /*type*/, Name /*interface*/) override {
    return refuse_to_change();
  }
  Result<void> delete_link(Name /*name*/) override { return refuse_to_change(); }
};

class TapedRdmaCm final : public system::RdmaCm, Taped {
 public:
  using Taped::Taped;
  Result<std::string> observe_instance() override {
    return ask("rdma_cm", "", [&] { return real_->rdma_cm.observe_instance(); });
  }
  Result<std::vector<std::string>> observe_folders() override {
    return ask("rdma_cm.folders", "", [&] { return real_->rdma_cm.observe_folders(); });
  }
  Result<std::optional<system::RoceDefaults>> observe_defaults(Name device, int port) override {
    return ask("rdma_cm.defaults", port_of_tape(device, port),
               [&] { return real_->rdma_cm.observe_defaults(device, port); });
  }
  Result<void> start() override { return refuse_to_change(); }
  Result<bool> make_folder(Name /*device*/) override { return refuse_to_change(); }
  [[nodiscard]] std::size_t folders_made() const override { return 0; }
  Result<void> write_gid_type(Name /*device*/, int /*port*/, Name /*type*/) override {
    return refuse_to_change();
  }
  Result<void> write_tos(Name /*device*/, int /*port*/, int /*tos*/) override { return refuse_to_change(); }
  Result<void> remove_folder(Name /*device*/) override { return refuse_to_change(); }
};

class TapedFiles final : public system::Files, Taped {
 public:
  using Taped::Taped;
  Result<std::optional<std::string>> read(Name path) override {
    if (is_ours_alone(path)) return std::optional<std::string>();
    return ask("file", path, [&] { return real_->files.read(path); });
  }
  Result<std::optional<std::string>> read_linked(Name path) override {
    return ask("file.linked", path, [&] { return real_->files.read_linked(path); });
  }
  Result<std::vector<std::string>> list(Name folder) override {
    if (is_ours_alone(folder)) return std::vector<std::string>();
    return ask("folder", folder, [&] { return real_->files.list(folder); });
  }
  std::string odd_access(Name path, bool is_private) override {
    return ask(is_private ? "file.private_access" : "file.access", path,
               [&] { return real_->files.odd_access(path, is_private); });
  }
  bool hidden(Name path) override {
    return ask("file.hidden", path, [&] { return real_->files.hidden(path); });
  }
  bool masks(Name path) override {
    return ask("file.masks", path, [&] { return real_->files.masks(path); });
  }
  bool open_to_others(Name path) override {
    return ask("file.open_to_others", path, [&] { return real_->files.open_to_others(path); });
  }
  Result<void> write(Name /*path*/, std::string_view /*content*/) override { return refuse_to_change(); }
  Result<void> write_private(Name /*path*/, std::string_view /*content*/) override {
    return refuse_to_change();
  }
  Result<void> remove(Name /*path*/) override { return refuse_to_change(); }

 private:
  /// Who applied which document when: it says nothing about how the host is.
  static bool is_ours_alone(Name path) { return path.starts_with("/var/lib/rdma-configd/generations"); }
};

class TapedUdev final : public system::Udev {
 public:
  Result<void> reload_rules() override { return refuse_to_change(); }
  Result<void> trigger(std::span<const std::string> /*interfaces*/) override { return refuse_to_change(); }
};

class TapedUnits final : public system::Units, Taped {
 public:
  using Taped::Taped;
  /// One by one, so that every set of them can be answered.
  Result<std::optional<std::vector<system::Unit>>> observe_units(
      std::span<const std::string> names) override {
    std::vector<system::Unit> out;
    for (const auto& name : names) {
      auto found = ask("unit", name, [&] { return real_->units.observe_units(std::span(&name, 1)); });
      if (!found) return base::fail(found.error());
      if (*found && !(*found)->empty()) {
        out.push_back((*found)->front());
      } else if (tape_.replays() && answers()) {
        system::Unit unit;
        unit.name = unit.id = name;
        unit.load = "not-found";
        out.push_back(std::move(unit));
      } else {
        return std::optional<std::vector<system::Unit>>();
      }
    }
    return out;
  }
  Result<std::optional<std::vector<system::Unit>>> observe_instances(Name unit) override {
    return ask("unit.instances", unit, [&] { return real_->units.observe_instances(unit); });
  }
  std::optional<model::LockLimit> observe_memlock(std::int64_t pid) override {
    return ask("memlock", std::to_string(pid), [&] { return real_->units.observe_memlock(pid); });
  }
  Result<void> set_enabled(Name /*unit*/, bool /*enabled*/) override { return refuse_to_change(); }
  Result<void> act(system::UnitAction /*action*/, Name /*unit*/) override { return refuse_to_change(); }
  Result<void> signal(Name /*unit*/, int /*number*/) override { return refuse_to_change(); }
  Result<void> reload_manager() override { return refuse_to_change(); }

 private:
  /// Whether the host of the tape had a systemd that answers.
  [[nodiscard]] bool answers() const {
    const auto units = tape_.answers().find("unit");
    return units != tape_.answers().end() &&
           std::any_of(units->begin(), units->end(), [](const auto& one) { return one.is_array(); });
  }
};

class TapedTimers final : public system::Timers {
 public:
  Result<void> arm(Name /*name*/, std::chrono::milliseconds /*delay*/) override { return refuse_to_change(); }
  Result<void> disarm(Name /*name*/) override { return refuse_to_change(); }
};

class TapedModules final : public system::Modules, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<std::string>> observe_loaded() override {
    return ask("modules", "", [&] { return real_->modules.observe_loaded(); });
  }
  std::optional<std::string> parameter(Name module, Name name) override {
    return ask("module.parameter", module + ' ' + name,
               [&] { return real_->modules.parameter(module, name); });
  }
  bool hidden(Name module, Name name) override {
    return ask("module.hidden", module + ' ' + name, [&] { return real_->modules.hidden(module, name); });
  }
  bool loaded_after(Name module, Name path) override {
    return ask("module.loaded_after", module + ' ' + path,
               [&] { return real_->modules.loaded_after(module, path); });
  }
  bool has_tree() override {
    return ask("module.tree", "", [&] { return real_->modules.has_tree(); });
  }
  Result<std::optional<system::ModuleInfo>> info(Name module) override {
    return ask("module.info", module, [&] { return real_->modules.info(module); });
  }
  std::vector<std::string> known() override { return {}; }
  Result<void> load(Name /*module*/) override { return refuse_to_change(); }
  Result<void> unload(Name /*module*/) override { return refuse_to_change(); }
};

class TapedInitramfs final : public system::Initramfs, Taped {
 public:
  using Taped::Taped;
  std::optional<std::string> tool() override {
    return ask("initramfs.tool", "", [&] { return real_->initramfs.tool(); });
  }
  bool has_image() override {
    return ask("initramfs.image", "", [&] { return real_->initramfs.has_image(); });
  }
  bool newer_than(std::span<const std::string> paths) override {
    return ask("initramfs.newer", fmt::format("{}", fmt::join(paths, " ")),
               [&] { return real_->initramfs.newer_than(paths); });
  }
  Result<void> rebuild() override { return refuse_to_change(); }
};

class TapedDcb final : public system::Dcb, Taped {
 public:
  using Taped::Taped;
  Result<std::optional<system::DcbState>> observe_dcb(Name interface) override {
    return ask("dcb", interface, [&] { return real_->dcb.observe_dcb(interface); });
  }
  Result<void> set_pfc(Name /*interface*/, std::uint8_t /*priorities*/) override {
    return refuse_to_change();
  }
  Result<void> set_ets(Name /*interface*/, const system::Ets& /*ets*/) override { return refuse_to_change(); }
  Result<void> add_app(Name /*interface*/, const system::DcbApp& /*app*/) override {
    return refuse_to_change();
  }
  Result<void> delete_app(Name /*interface*/, const system::DcbApp& /*app*/) override {
    return refuse_to_change();
  }
  Result<void> set_dcbx(Name /*interface*/, std::uint8_t /*mode*/) override { return refuse_to_change(); }
};

class TapedMlx4Ports final : public system::Mlx4Ports, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<system::Mlx4Device>> observe_mlx4() override {
    return ask("mlx4_ports", "", [&] { return real_->mlx4_ports.observe_mlx4(); });
  }
  Result<void> set_type(Name /*pci*/, int /*port*/, Name /*type*/) override { return refuse_to_change(); }
};

class TapedAccounts final : public system::Accounts, Taped {
 public:
  using Taped::Taped;
  bool has_user(Name name) override {
    return ask("account.user", name, [&] { return real_->accounts.has_user(name); });
  }
  Result<bool> has_group(Name name) override {
    return ask("account.group", name, [&] { return real_->accounts.has_group(name); });
  }
  Result<void> make_declared(Name /*file*/) override { return refuse_to_change(); }
};

class TapedSysctl final : public system::Sysctl, Taped {
 public:
  using Taped::Taped;
  std::optional<std::string> read(Name path) override {
    return ask("sysctl", path, [&] { return real_->sysctl.read(path); });
  }
  bool hidden(Name path) override {
    return ask("sysctl.hidden", path, [&] { return real_->sysctl.hidden(path); });
  }
  Result<void> write(Name /*path*/, std::string_view /*value*/) override { return refuse_to_change(); }
};

class TapedRdmaSystem final : public system::RdmaSystem, Taped {
 public:
  using Taped::Taped;
  std::optional<bool> observe_shared() override {
    return ask("rdma.shared", "", [&] { return real_->rdma_system.observe_shared(); });
  }
  Result<void> set_shared(bool /*shared*/) override { return refuse_to_change(); }
};

}  // namespace taped

struct TapedHost::Ports {
  Ports(Tape& tape, system::Host* real, std::string boot_id)
      : links(tape, real),
        inet(tape, real),
        resolver(tape, real),
        network_manager(tape, real),
        networkd(tape, real),
        ipoib(tape, real),
        rdma(tape, real),
        rdma_cm(tape, real),
        files(tape, real),
        units(tape, real),
        modules(tape, real),
        initramfs(tape, real),
        dcb(tape, real),
        mlx4_ports(tape, real),
        accounts(tape, real),
        sysctl(tape, real),
        rdma_system(tape, real),
        host{.links = links,
             .inet = inet,
             .resolver = resolver,
             .network_manager = network_manager,
             .networkd = networkd,
             .ipoib = ipoib,
             .rdma = rdma,
             .rdma_admin = rdma_admin,
             .rdma_cm = rdma_cm,
             .files = files,
             .udev = udev,
             .units = units,
             .timers = timers,
             .modules = modules,
             .initramfs = initramfs,
             .dcb = dcb,
             .mlx4_ports = mlx4_ports,
             .accounts = accounts,
             .sysctl = sysctl,
             .rdma_system = rdma_system,
             .boot_id = std::move(boot_id)} {}

  taped::TapedLinks links;
  taped::TapedInet inet;
  taped::TapedResolver resolver;
  taped::TapedNetworkManager network_manager;
  taped::TapedNetworkd networkd;
  taped::TapedIpoib ipoib;
  taped::TapedRdma rdma;
  taped::TapedRdmaAdmin rdma_admin;
  taped::TapedRdmaCm rdma_cm;
  taped::TapedFiles files;
  taped::TapedUdev udev;
  taped::TapedUnits units;
  taped::TapedTimers timers;
  taped::TapedModules modules;
  taped::TapedInitramfs initramfs;
  taped::TapedDcb dcb;
  taped::TapedMlx4Ports mlx4_ports;
  taped::TapedAccounts accounts;
  taped::TapedSysctl sysctl;
  taped::TapedRdmaSystem rdma_system;
  system::Host host;
};

TapedHost::TapedHost(Tape& tape, system::Host& real)
    : ports_(std::make_unique<Ports>(tape, &real, real.boot_id)) {}
TapedHost::TapedHost(Tape& tape, std::string boot_id)
    : ports_(std::make_unique<Ports>(tape, nullptr, std::move(boot_id))) {}
TapedHost::~TapedHost() = default;
system::Host& TapedHost::host() { return ports_->host; }

}  // namespace rdmacfg::ctl
