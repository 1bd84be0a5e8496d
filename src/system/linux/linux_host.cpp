// SPDX-License-Identifier: Apache-2.0
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {
namespace {

/// A host together with the adapters that it refers to.
struct LinuxHost {
  explicit LinuxHost(const std::filesystem::path& root)
      : initramfs(make_linux_initramfs(root)),
        files(make_linux_files(root)),
        host{.links = *links,
             .inet = *inet,
             .resolver = *resolver,
             .network_manager = *network_manager,
             .networkd = *networkd,
             .ipoib = *ipoib,
             .rdma = *rdma,
             .rdma_admin = *rdma_admin,
             .rdma_cm = *rdma_cm,
             .files = *files,
             .udev = *udev,
             .units = *units,
             .timers = *timers,
             .modules = *modules,
             .initramfs = *initramfs,
             .dcb = *dcb,
             .mlx4_ports = *mlx4_ports,
             .nfsd = *nfsd,
             .nvme_target = *nvme_target,
             .nvme_host = *nvme_host,
             .iscsi = *iscsi,
             .lio = *lio,
             .accounts = *accounts,
             .sysctl = *sysctl,
             .rdma_system = *rdma_system,
             .pci = *pci,
             .packages = *packages,
             .boot_id = linux_boot_id(),
             .offline = root != "/"} {}

  BusLimits limits;  ///< of all that ask managers: a silent one is waited for once
  std::unique_ptr<Links> links = make_linux_links();
  std::unique_ptr<Inet> inet = make_linux_inet();
  std::unique_ptr<Resolver> resolver = make_linux_resolver(limits);
  std::unique_ptr<NetworkManager> network_manager = make_linux_network_manager(limits);
  std::unique_ptr<Networkd> networkd = make_linux_networkd(limits);
  std::unique_ptr<Ipoib> ipoib = make_linux_ipoib();
  std::unique_ptr<Rdma> rdma = make_linux_rdma();
  std::unique_ptr<RdmaAdmin> rdma_admin = make_linux_rdma_admin();
  std::unique_ptr<Udev> udev = make_linux_udev(limits);
  std::unique_ptr<Units> units = make_linux_units(limits);
  std::unique_ptr<Timers> timers = make_linux_timers(limits);
  std::unique_ptr<Modules> modules = make_linux_modules();
  std::unique_ptr<Initramfs> initramfs;
  std::unique_ptr<Dcb> dcb = make_linux_dcb();
  std::unique_ptr<Mlx4Ports> mlx4_ports = make_linux_mlx4_ports();
  std::unique_ptr<Nfsd> nfsd = make_linux_nfsd();
  std::unique_ptr<Accounts> accounts = make_linux_accounts();
  std::unique_ptr<Sysctl> sysctl = make_linux_sysctl();
  std::unique_ptr<RdmaSystem> rdma_system = make_linux_rdma_system();
  std::unique_ptr<Pci> pci = make_linux_pci();
  std::unique_ptr<NvmeTarget> nvme_target = make_linux_nvme_target(*units, *modules);
  std::unique_ptr<NvmeHost> nvme_host = make_linux_nvme_host();
  std::unique_ptr<Iscsi> iscsi = make_linux_iscsi();
  std::unique_ptr<Lio> lio = make_linux_lio(*units, *modules);
  std::unique_ptr<Packages> packages = make_linux_packages(limits);
  std::unique_ptr<RdmaCm> rdma_cm = make_linux_rdma_cm(*units);
  std::unique_ptr<Files> files;
  Host host;
};

}  // namespace

std::shared_ptr<Host> make_linux_host(const std::filesystem::path& root) {
  auto owner = std::make_shared<LinuxHost>(root);
  return {owner, &owner->host};
}

}  // namespace rdmacfg::system
