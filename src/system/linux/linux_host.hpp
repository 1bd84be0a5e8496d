// SPDX-License-Identifier: Apache-2.0
// The adapters to a real Linux. No raw C pointer and no library type leaves this folder.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "system/events.hpp"
#include "system/function_test.hpp"
#include "system/host.hpp"
#include "system/linux/dbus/bus_limits.hpp"

namespace rdmacfg::system {

/// rtnetlink over libnl-3; the socket is opened at the first use.
std::unique_ptr<Links> make_linux_links();

/// Addresses and routes over rtnetlink; the socket is opened at the first use.
std::unique_ptr<Inet> make_linux_inet();

/// systemd-resolved by its D-Bus API.
std::unique_ptr<Resolver> make_linux_resolver(const BusLimits& limits = {});

/// NetworkManager by its D-Bus API.
std::unique_ptr<NetworkManager> make_linux_network_manager(const BusLimits& limits = {});

/// systemd-networkd by its D-Bus API.
std::unique_ptr<Networkd> make_linux_networkd(const BusLimits& limits = {});

/// /sys/class/net/*/{mode,create_child}.
std::unique_ptr<Ipoib> make_linux_ipoib(const std::filesystem::path& sysfs = "/sys");

/// The interface of a device's port as RDMA netlink tells it; nothing without one here.
using NetdevOf = std::function<std::optional<std::string>(const std::string& device, int port)>;
std::optional<std::string> netlink_netdev_of(const std::string& device, int port);

/// The names of the devices that RDMA netlink knows; nothing when it cannot be asked. One that is being
/// removed is not among them (ib_core's disable_device()), while sysfs has it until its last client has let
/// go.
using Registered = std::function<std::optional<std::map<std::string, std::string>>()>;
std::optional<std::map<std::string, std::string>> netlink_registered();

/// /sys/class/infiniband, and libibverbs for MTUs. Kernels before 6.6 do not tell there what an iWARP
/// device runs over: `netdev_of` is asked.
std::unique_ptr<Rdma> make_linux_rdma(std::filesystem::path sysfs = "/sys",
                                      NetdevOf netdev_of = netlink_netdev_of,
                                      Registered registered = netlink_registered);

/// RDMA netlink; the socket is opened at the first use.
std::unique_ptr<RdmaAdmin> make_linux_rdma_admin();

/// /sys/kernel/config/rdma_cm; `units` is asked to load the module and to mount configfs.
std::unique_ptr<RdmaCm> make_linux_rdma_cm(Units& units, std::filesystem::path sysfs = "/sys");

/// Management datagrams, ICMP and reliable connections; libraries are loaded at the first use.
std::unique_ptr<FunctionTest> make_linux_function_test();

/// Files below `root`; openat2 keeps every path inside it.
std::unique_ptr<Files> make_linux_files(std::filesystem::path root = "/");

/// systemd-udevd by its manager's D-Bus API.
std::unique_ptr<Udev> make_linux_udev(BusLimits limits = {});

/// systemd by its manager's D-Bus API; the connection is opened at the first use.
std::unique_ptr<Units> make_linux_units(BusLimits limits = {});
/// libkmod and /sys/module.
std::unique_ptr<Modules> make_linux_modules(std::filesystem::path sysfs = "/sys");

/// update-initramfs or dracut, run by a unit of ours.
/// `mounts`: the table that says what is mounted read-only, proc_mounts(5). Of PID 1, since the service
/// itself sees most of the system so (ProtectSystem=). Of an image tree nothing is known.
std::unique_ptr<Initramfs> make_linux_initramfs(std::filesystem::path root = "/",
                                                const std::filesystem::path& mounts = "/proc/1/mounts");

/// dcbnl over rtnetlink; the socket is opened at the first use.
std::unique_ptr<Dcb> make_linux_dcb();

/// /sys/bus/pci/devices/*/mlx4_port{1,2}.
std::unique_ptr<Mlx4Ports> make_linux_mlx4_ports(const std::filesystem::path& sysfs = "/sys");

/// /proc/fs/nfsd.
std::unique_ptr<Nfsd> make_linux_nfsd(const std::filesystem::path& proc = "/proc");

/// /sys/kernel/config/nvmet; `units` is asked to mount configfs, and to open devices that the caller cannot
/// see.
std::unique_ptr<NvmeTarget> make_linux_nvme_target(Units& units, Modules& modules,
                                                   const std::filesystem::path& sysfs = "/sys");

/// /sys/class/nvme, and what /proc tells of the disks there.
std::unique_ptr<NvmeHost> make_linux_nvme_host(const std::filesystem::path& sysfs = "/sys",
                                               const std::filesystem::path& proc = "/proc");

/// /sys/class/iscsi_session, and what /proc tells of the disks there.
std::unique_ptr<Iscsi> make_linux_iscsi(const std::filesystem::path& sysfs = "/sys",
                                        const std::filesystem::path& proc = "/proc");

/// /sys/kernel/config/target; `units` is asked to mount configfs, and to open devices and files that the
/// caller cannot.
std::unique_ptr<Lio> make_linux_lio(Units& units, Modules& modules,
                                    const std::filesystem::path& sysfs = "/sys");

/// rtnetlink: IPoIB interfaces with their addresses and routes, with kAll the other interfaces, too; DCB.
base::Result<std::unique_ptr<EventSource>> watch_links(WatchedLinks links);

/// udev, after its rules: RDMA devices and kernel modules.
base::Result<std::unique_ptr<EventSource>> watch_devices();

/// inotify: files in these folders that are `ours`, by their path.
base::Result<std::unique_ptr<FileSource>> watch_files(const std::vector<std::string>& folders,
                                                      std::function<bool(const std::string& path)> ours);

/// inotify: settings that are files of the kernel's.
base::Result<std::unique_ptr<SettingSource>> watch_settings();

/// Transient timers of systemd.
std::unique_ptr<Timers> make_linux_timers(BusLimits limits = {});

/// getpwnam(3), getgrnam(3), systemd-sysusers(8).
std::unique_ptr<Accounts> make_linux_accounts();

/// /proc/sys.
std::unique_ptr<Sysctl> make_linux_sysctl();

/// RDMA netlink.
std::unique_ptr<RdmaSystem> make_linux_rdma_system();

/// /sys/bus/pci.
std::unique_ptr<Pci> make_linux_pci(const std::filesystem::path& sysfs = "/sys");

/// PackageKit.
std::unique_ptr<Packages> make_linux_packages(const BusLimits& limits = {});

/// /proc/sys/kernel/random/boot_id, empty when it cannot be read.
std::string linux_boot_id();

/// The node's name, as uname(2) or else /etc/hostname gives it; empty when nobody has named it (yet).
std::string linux_host_name();

/// Type of the first file system on the path to a folder that may never answer, since another host or a
/// program serves it: "nfs4", "fuse.sshfs", "autofs". Read from `table` (proc_pid_mountinfo(5)), without
/// touching the file systems. Empty: none; the file system of "/" does not count. Without a table: "unknown".
std::string type_unless_local(const std::filesystem::path& folder,
                              const std::filesystem::path& table = "/proc/self/mountinfo");

/// All of them together, with files below `root`; another root than "/" makes an offline host.
std::shared_ptr<Host> make_linux_host(const std::filesystem::path& root = "/");

}  // namespace rdmacfg::system
