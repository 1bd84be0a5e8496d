// SPDX-License-Identifier: Apache-2.0
// The tools whose files are read and written, one .cpp file each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Whether a file is hidden by one of the same name in an earlier folder of its format.
enum class Masking { kByName, kNone };
/// Whether symbolic links are read: those in /etc/systemd/system lead to files of packages.
enum class Links { kFollowed, kLeftOut };

/// Files of a folder: "/etc/udev/rules.d", "*.rules".
struct Where {
  std::string_view folder;  ///< the last parts may be patterns: "/etc/systemd/system/*.service.d"
  std::string_view pattern;
  Masking masking = Masking::kByName;
  Links links = Links::kFollowed;
};

/// A language that is imported.
struct Format {
  std::string_view name;  ///< as on the command line
  std::string_view doc;   ///< one line
  std::span<const Where> places;
  void (*parse)(std::span<const File> files, Claims& claims) = nullptr;
  bool interfaces = false;  ///< its interfaces are known by names, which udev's rules give
  bool alone = false;       ///< `host` leaves it out: its files may be about other hosts
  bool by_name = false;     ///< the name of a file says what is in it, or for which interface it is
};

/// All of them; of what two say about one interface the first counts.
std::span<const Format> formats();
const Format* find_format(std::string_view name);
/// The name of the format that people call so: "nm" of "NetworkManager" or "keyfile"; empty of other words.
std::string_view format_called(std::string_view name);

class DropIns;

/// One .link file of udev, with its drop-ins.
void parse_link(const File& file, const DropIns& drop_ins, Claims& claims);

void parse_ifcfg(std::span<const File> files, Claims& claims);
void parse_nm(std::span<const File> files, Claims& claims);
void parse_udev(std::span<const File> files, Claims& claims);
void parse_networkd(std::span<const File> files, Claims& claims);
void parse_netplan(std::span<const File> files, Claims& claims);
void parse_nmstate(std::span<const File> files, Claims& claims);
void parse_system_roles(std::span<const File> files, Claims& claims);
void parse_wicked(std::span<const File> files, Claims& claims);
void parse_ifupdown(std::span<const File> files, Claims& claims);
void parse_openib(std::span<const File> files, Claims& claims);
void parse_rdma_conf(std::span<const File> files, Claims& claims);
void parse_mlx4_conf(std::span<const File> files, Claims& claims);
void parse_modprobe(std::span<const File> files, Claims& claims);
void parse_limits(std::span<const File> files, Claims& claims);
void parse_opensm(std::span<const File> files, Claims& claims);
void parse_sysctl(std::span<const File> files, Claims& claims);
void parse_cmdline(std::span<const File> files, Claims& claims);
void parse_scripts(std::span<const File> files, Claims& claims);
void parse_sysfs(std::span<const File> files, Claims& claims);
void parse_cloud_init(std::span<const File> files, Claims& claims);
void parse_srp(std::span<const File> files, Claims& claims);
void parse_nvme(std::span<const File> files, Claims& claims);
void parse_lio(std::span<const File> files, Claims& claims);

/// Whether it is a file of cron: crontab(5), of the system or of root.
bool is_crontab(std::string_view path);

/// Whether a module is one of RDMA hardware or of what works over it.
bool is_rdma_module(std::string_view name);

/// The module that modprobe loads for a name: both halves of NFS over RDMA have been one since Linux 4.0.
std::string loaded_for(std::string module);

}  // namespace rdmacfg::foreign
