// SPDX-License-Identifier: Apache-2.0
// Packages that RDMA hosts need, by family of distributions. Sources: debian/control of rdma-core, opensm,
// nvme-cli, targetcli-fb, nfs-utils, open-iscsi; redhat/ and suse/ rdma-core.spec; Fedora's and openSUSE's
// package indexes; Arch's wiki.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "system/files.hpp"
#include "system/packages.hpp"

namespace rdmacfg::kinds {

/// kOstree, kTransactional: of RHEL's and of SUSE's family, with a root that is another one after the next
/// boot. kBootc: of RHEL's family, with a root that a new image of its container changes.
enum class Distribution { kUnknown, kDebian, kRhel, kSuse, kOstree, kTransactional, kBootc, kArch };

/// As Package::arch: Arch has no package of it, only its users' repository, from which pacman installs
/// nothing.
inline constexpr std::string_view kOnlyInAur = "-";

struct Package {
  std::string_view name;                ///< in documents: Debian's, unless `debian` has that
  std::string_view rhel, suse;          ///< empty: the same
  std::array<std::string_view, 3> has;  ///< one of these files is there where it is installed; empty: no more
  std::string_view what;                ///< for people
  std::string_view debian = {};         ///< of what is a package of its own elsewhere; empty: the same
  std::string_view arch = {};           ///< empty: the same; or kOnlyInAur
};

std::span<const Package> packages();

/// By the name of any family; nullptr for one that is not in the table.
const Package* find_package(std::string_view name);

/// The package with a systemd unit, by the beginning of its name; nullptr where it is not known.
const Package* package_of_unit(std::string_view unit);

/// os-release(5): ID and ID_LIKE; ostree(1) by what it leaves, bootc(8) where there is no rpm-ostree beside
/// it or what is deployed is a container image, transactional-update(8) where the root is a read-only btrfs,
/// too.
Distribution distribution(system::Files& files);

/// Whether one of its files is there.
bool is_installed(const Package& package, system::Packages& host);

std::string_view name_on(const Package& package, Distribution distribution);

/// "apt install opensm"; empty for an unknown distribution, and where its own packages lack one of them.
std::string install_command(Distribution distribution, std::span<const Package* const> wanted);

/// "", or " (rpm-ostree kargs --append)": the way to kernel arguments where files of the boot loader have
/// none.
std::string_view way_to_kernel_arguments(Distribution distribution);

/// ": apt install opensm", or where the distribution is not known "; package opensm has it".
std::string how_to_get(const Package& package, system::Files& files);

/// "linux-modules-extra-6.8.0-41-generic may have it: apt install …": the package that may have a module
/// which the kernel `release` lacks; empty where none is known.
std::string package_of_modules(system::Files& files, std::string_view release);

/// "there is no iscsiadm: apt install open-iscsi"; `package`: a name of the table.
std::string without_program(std::string_view program, std::string_view package, system::Files& files);

/// "OpenSM is not installed: apt install opensm"
std::string without_opensm(system::Files& files);

}  // namespace rdmacfg::kinds
