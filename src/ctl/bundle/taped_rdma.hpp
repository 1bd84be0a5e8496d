// SPDX-License-Identifier: Apache-2.0
// RDMA devices over a tape: their attributes, the defaults of rdma_cm, port types of mlx4; NFS and NVMe over
// RDMA; PCI devices.
#pragma once

#include "base/text.hpp"
#include "ctl/bundle/taped_port.hpp"

namespace rdmacfg::ctl::taped {

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

class TapedMlx4Ports final : public system::Mlx4Ports, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<system::Mlx4Device>> observe_mlx4() override {
    return ask("mlx4_ports", "", [&] { return real_->mlx4_ports.observe_mlx4(); });
  }
  Result<void> set_type(Name /*pci*/, int /*port*/, Name /*type*/) override { return refuse_to_change(); }
};

class TapedNfsd final : public system::Nfsd, Taped {
 public:
  using Taped::Taped;
  Result<std::optional<std::vector<int>>> observe_rdma_ports() override {
    return ask("nfsd.rdma_ports", "", [&] { return real_->nfsd.observe_rdma_ports(); });
  }
  Result<void> listen_rdma(int /*port*/) override { return refuse_to_change(); }
};

class TapedNvmeTarget final : public system::NvmeTarget, Taped {
 public:
  using Taped::Taped;
  Result<std::optional<system::NvmeTargetState>> observe() override {
    return ask("nvme_target", "", [&] { return real_->nvme_target.observe(); });
  }
  Result<void> start() override { return refuse_to_change(); }
  Result<void> make_subsystem(Name /*nqn*/) override { return refuse_to_change(); }
  Result<void> remove_subsystem(Name /*nqn*/) override { return refuse_to_change(); }
  Result<void> set_any_host(Name /*nqn*/, bool /*any*/) override { return refuse_to_change(); }
  Result<void> allow_host(Name /*nqn*/, Name /*host*/) override { return refuse_to_change(); }
  Result<void> disallow_host(Name /*nqn*/, Name /*host*/) override { return refuse_to_change(); }
  Result<void> make_namespace(Name /*nqn*/, const system::NvmeNamespace& /*wanted*/) override {
    return refuse_to_change();
  }
  Result<void> remove_namespace(Name /*nqn*/, int /*nsid*/) override { return refuse_to_change(); }
  Result<void> make_port(const system::NvmePort& /*port*/) override { return refuse_to_change(); }
  Result<void> remove_port(int /*id*/) override { return refuse_to_change(); }
  Result<void> offer(int /*port*/, Name /*nqn*/) override { return refuse_to_change(); }
  Result<void> withdraw(int /*port*/, Name /*nqn*/) override { return refuse_to_change(); }
};

class TapedNvmeHost final : public system::NvmeHost, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<system::NvmeController>> observe() override {
    return ask("nvme_host", "", [&] { return real_->nvme_host.observe(); });
  }
  Result<std::vector<system::DiskUse>> uses(const std::vector<std::string>& names) override {
    return ask("nvme_host.uses", base::join(names, " "), [&] { return real_->nvme_host.uses(names); });
  }
  Result<void> disconnect(Name /*name*/) override { return refuse_to_change(); }
};

class TapedIscsi final : public system::Iscsi, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<system::IscsiSession>> observe() override {
    return ask("iscsi", "", [&] { return real_->iscsi.observe(); });
  }
  Result<std::vector<system::DiskUse>> uses(const std::vector<std::string>& names) override {
    return ask("iscsi.uses", base::join(names, " "), [&] { return real_->iscsi.uses(names); });
  }
};

class TapedLio final : public system::Lio, Taped {
  using Target = const system::LioTargetId&;

 public:
  using Taped::Taped;
  Result<std::optional<system::LioState>> observe() override {
    return ask("lio", "", [&] { return real_->lio.observe(); });
  }
  Result<void> start(Name /*fabric*/) override { return refuse_to_change(); }
  Result<void> make_backstore(const system::LioBackstore& /*wanted*/) override { return refuse_to_change(); }
  Result<void> remove_backstore(Name /*id*/) override { return refuse_to_change(); }
  Result<void> make_target(Target /*target*/) override { return refuse_to_change(); }
  Result<void> remove_group(Target /*target*/) override { return refuse_to_change(); }
  Result<void> remove_target(Target /*target*/) override { return refuse_to_change(); }
  Result<void> enable(Target /*target*/, bool /*enabled*/) override { return refuse_to_change(); }
  Result<void> allow_any(Target /*target*/) override { return refuse_to_change(); }
  Result<void> make_lun(Target /*target*/, const system::LioLun& /*lun*/) override {
    return refuse_to_change();
  }
  Result<void> remove_lun(Target /*target*/, int /*number*/) override { return refuse_to_change(); }
  Result<void> make_acl(Target /*target*/, Name /*initiator*/) override { return refuse_to_change(); }
  Result<void> remove_acl(Target /*target*/, Name /*initiator*/) override { return refuse_to_change(); }
  Result<void> map(Target /*target*/, Name /*initiator*/, const system::LioMapping& /*mapping*/) override {
    return refuse_to_change();
  }
  Result<void> unmap(Target /*target*/, Name /*initiator*/, int /*number*/) override {
    return refuse_to_change();
  }
  Result<void> make_portal(Target /*target*/, const system::LioPortal& /*portal*/) override {
    return refuse_to_change();
  }
  Result<void> remove_portal(Target /*target*/, Name /*name*/) override { return refuse_to_change(); }
};

class TapedPci final : public system::Pci, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<std::string>> list() override {
    return ask("pci", "", [&] { return real_->pci.list(); });
  }
  Result<std::optional<system::PciCapabilities>> observe(Name address) override {
    return ask("pci.device", address, [&] { return real_->pci.observe(address); });
  }
};

class TapedPackages final : public system::Packages, Taped {
 public:
  using Taped::Taped;
  bool has(Name path) override {
    return ask("package.file", path, [&] { return real_->packages.has(path); });
  }
  bool can_install() override {
    return ask("packages", "", [&] { return real_->packages.can_install(); });
  }
  Result<void> install(std::span<const std::string> /*names*/) override { return refuse_to_change(); }
};

class TapedRdmaSystem final : public system::RdmaSystem, Taped {
 public:
  using Taped::Taped;
  std::optional<bool> observe_shared() override {
    return ask("rdma.shared", "", [&] { return real_->rdma_system.observe_shared(); });
  }
  Result<void> set_shared(bool /*shared*/) override { return refuse_to_change(); }
};

}  // namespace rdmacfg::ctl::taped
