// SPDX-License-Identifier: Apache-2.0
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {
namespace {

/// A host together with the adapters that it refers to.
struct LinuxHost {
  explicit LinuxHost(const std::filesystem::path& root)
      : files(make_linux_files(root)),
        host{.links = *links,
             .ipoib = *ipoib,
             .rdma = *rdma,
             .rdma_admin = *rdma_admin,
             .rdma_cm = *rdma_cm,
             .files = *files,
             .udev = *udev,
             .units = *units,
             .timers = *timers,
             .boot_id = linux_boot_id(),
             .offline = root != "/"} {}

  std::unique_ptr<Links> links = make_linux_links();
  std::unique_ptr<Ipoib> ipoib = make_linux_ipoib();
  std::unique_ptr<Rdma> rdma = make_linux_rdma();
  std::unique_ptr<RdmaAdmin> rdma_admin = make_linux_rdma_admin();
  std::unique_ptr<Udev> udev = make_linux_udev();
  std::unique_ptr<Units> units = make_linux_units();
  std::unique_ptr<Timers> timers = make_linux_timers();
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
