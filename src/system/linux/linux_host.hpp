// SPDX-License-Identifier: Apache-2.0
// The adapters to a real Linux. No raw C pointer and no library type leaves this folder.
#pragma once

#include <filesystem>
#include <memory>

#include "system/function_test.hpp"
#include "system/host.hpp"

namespace rdmacfg::system {

/// rtnetlink over libnl-3; the socket is opened at the first use.
std::unique_ptr<Links> make_linux_links();

/// /sys/class/net/*/{mode,create_child}.
std::unique_ptr<Ipoib> make_linux_ipoib(std::filesystem::path sysfs = "/sys");

/// /sys/class/infiniband, and libibverbs for MTUs.
std::unique_ptr<Rdma> make_linux_rdma(std::filesystem::path sysfs = "/sys");

/// RDMA netlink; the socket is opened at the first use.
std::unique_ptr<RdmaAdmin> make_linux_rdma_admin();

/// /sys/kernel/config/rdma_cm; `units` is asked to load the module and to mount configfs.
std::unique_ptr<RdmaCm> make_linux_rdma_cm(Units& units, std::filesystem::path sysfs = "/sys");

/// Management datagrams, ICMP and reliable connections; libraries are loaded at the first use.
std::unique_ptr<FunctionTest> make_linux_function_test();

/// Files below `root`; openat2 keeps every path inside it.
std::unique_ptr<Files> make_linux_files(std::filesystem::path root = "/");

/// systemd-udevd by its manager's D-Bus API.
std::unique_ptr<Udev> make_linux_udev();

/// systemd by its manager's D-Bus API; the connection is opened at the first use.
std::unique_ptr<Units> make_linux_units();

/// Transient timers of systemd.
std::unique_ptr<Timers> make_linux_timers();

/// /proc/sys/kernel/random/boot_id, empty when it cannot be read.
std::string linux_boot_id();

/// The node's name, as uname(2) gives it.
std::string linux_host_name();

/// All of them together, with files below `root`; another root than "/" makes an offline host.
std::shared_ptr<Host> make_linux_host(const std::filesystem::path& root = "/");

}  // namespace rdmacfg::system
