// SPDX-License-Identifier: Apache-2.0
// Packages that RDMA hosts need, by family of distributions. Sources: debian/control of rdma-core, opensm,
// nvme-cli, targetcli-fb, nfs-utils, open-iscsi; redhat/ and suse/ rdma-core.spec; Fedora's and openSUSE's
// package indexes.
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
/// boot. kBootc: of RHEL's family, with a root that only a new image of its container changes.
enum class Distribution { kUnknown, kDebian, kRhel, kSuse, kOstree, kTransactional, kBootc };

struct Package {
  std::string_view name;                ///< in documents: Debian's, unless `debian` has that
  std::string_view rhel, suse;          ///< empty: the same
  std::array<std::string_view, 3> has;  ///< one of these files is there where it is installed; empty: no more
  std::string_view what;                ///< for people
  std::string_view debian = {};         ///< of what is a package of its own elsewhere; empty: the same
};

std::span<const Package> packages();

/// By the name of any family; nullptr for one that is not in the table.
const Package* find_package(std::string_view name);

/// The package with a systemd unit, by the beginning of its name; nullptr where it is not known.
const Package* package_of_unit(std::string_view unit);

/// os-release(5): ID and ID_LIKE; ostree(1) by what it leaves, bootc(8) where there is no rpm-ostree beside
/// it, transactional-update(8) where the root is a read-only btrfs, too.
Distribution distribution(system::Files& files);

/// Whether one of its files is there.
bool is_installed(const Package& package, system::Packages& host);

std::string_view name_on(const Package& package, Distribution distribution);

/// "apt install opensm"; empty for an unknown distribution.
std::string install_command(Distribution distribution, std::span<const Package* const> wanted);

/// "", or " (rpm-ostree kargs --append)": the way to kernel arguments where files of the boot loader have
/// none.
std::string_view way_to_kernel_arguments(Distribution distribution);

/// ": apt install opensm", or where the distribution is not known "; package opensm has it".
std::string how_to_get(const Package& package, system::Files& files);

/// "there is no iscsiadm: apt install open-iscsi"; `package`: a name of the table.
std::string without_program(std::string_view program, std::string_view package, system::Files& files);

/// "OpenSM is not installed: apt install opensm"
std::string without_opensm(system::Files& files);

}  // namespace rdmacfg::kinds
