// SPDX-License-Identifier: Apache-2.0
#include "ctl/bundle/taped_host.hpp"

#include <utility>

#include "ctl/bundle/taped_network.hpp"
#include "ctl/bundle/taped_rdma.hpp"
#include "ctl/bundle/taped_system.hpp"

namespace rdmacfg::ctl {

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
        nfsd(tape, real),
        nvme_target(tape, real),
        nvme_host(tape, real),
        iscsi(tape, real),
        lio(tape, real),
        accounts(tape, real),
        sysctl(tape, real),
        rdma_system(tape, real),
        pci(tape, real),
        packages(tape, real),
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
             .nfsd = nfsd,
             .nvme_target = nvme_target,
             .nvme_host = nvme_host,
             .iscsi = iscsi,
             .lio = lio,
             .accounts = accounts,
             .sysctl = sysctl,
             .rdma_system = rdma_system,
             .pci = pci,
             .packages = packages,
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
  taped::TapedNfsd nfsd;
  taped::TapedNvmeTarget nvme_target;
  taped::TapedNvmeHost nvme_host;
  taped::TapedIscsi iscsi;
  taped::TapedLio lio;
  taped::TapedAccounts accounts;
  taped::TapedSysctl sysctl;
  taped::TapedRdmaSystem rdma_system;
  taped::TapedPci pci;
  taped::TapedPackages packages;
  system::Host host;
};

TapedHost::TapedHost(Tape& tape, system::Host& real)
    : ports_(std::make_unique<Ports>(tape, &real, real.boot_id)) {}
TapedHost::TapedHost(Tape& tape, std::string boot_id)
    : ports_(std::make_unique<Ports>(tape, nullptr, std::move(boot_id))) {}
TapedHost::~TapedHost() = default;
system::Host& TapedHost::host() { return ports_->host; }

}  // namespace rdmacfg::ctl
