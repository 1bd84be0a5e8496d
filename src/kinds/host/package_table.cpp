// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/package_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/os_release.hpp"
#include "kinds/mounts.hpp"
#include "system/ostree.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::array kPackageTable{
    Package{"rdma-core",
            "",
            "",
            {"/usr/lib/udev/rdma_rename", "/lib/udev/rdma_rename"},
            "udev rules, modules and services of the RDMA stack"},
    Package{"ibverbs-providers",
            "libibverbs",
            "libibverbs",
            {"/etc/libibverbs.d/mlx5.driver"},
            "user-space drivers of RDMA adapters",
            {},
            "rdma-core"},
    Package{"ibverbs-utils",
            "libibverbs-utils",
            "libibverbs-utils",
            {"/usr/bin/ibv_devinfo"},
            "ibv_devinfo, ibv_rc_pingpong",
            {},
            "rdma-core"},
    Package{"rdmacm-utils",
            "librdmacm-utils",
            "librdmacm-utils",
            {"/usr/bin/rping"},
            "rping, ucmatose and other tests of connections",
            {},
            "rdma-core"},
    Package{"infiniband-diags",
            "",
            "",
            {"/usr/sbin/ibstat", "/usr/bin/ibstat"},
            "ibstat, iblinkinfo, perfquery",
            {},
            "rdma-core"},
    Package{"perftest", "", "", {"/usr/bin/ib_write_bw"}, "ib_write_bw, ib_send_lat", {}, kOnlyInAur},
    Package{"opensm", "", "", {"/usr/sbin/opensm", "/usr/bin/opensm"}, "subnet manager", {}, kOnlyInAur},
    Package{"srptools",
            "srp_daemon",
            "srp_daemon",
            {"/usr/sbin/srp_daemon", "/usr/bin/srp_daemon"},
            "SRP initiator",
            {},
            "rdma-core"},
    Package{"ibacm",
            "",
            "",
            {"/usr/sbin/ibacm", "/usr/bin/ibacm"},
            "address resolution for large fabrics",
            {},
            "rdma-core"},
    Package{"nvme-cli", "", "", {"/usr/sbin/nvme", "/usr/bin/nvme"}, "NVMe over Fabrics, initiator"},
    Package{"nvmetcli",
            "",
            "",
            {"/usr/sbin/nvmetcli", "/usr/bin/nvmetcli"},
            "NVMe over Fabrics, target (not in Debian 12)",
            {},
            kOnlyInAur},
    Package{"targetcli-fb",
            "targetcli",
            "python3-targetcli-fb",
            {"/usr/bin/targetcli", "/usr/sbin/targetcli"},
            "SRP and iSER targets (LIO)",
            {},
            kOnlyInAur},
    Package{"nfs-kernel-server",
            "nfs-utils",
            "nfs-kernel-server",
            {"/usr/sbin/rpc.nfsd", "/sbin/rpc.nfsd", "/usr/bin/rpc.nfsd"},
            "NFS server",
            {},
            "nfs-utils"},
    Package{"nfs-common",
            "nfs-utils",
            "nfs-client",
            {"/usr/sbin/mount.nfs", "/sbin/mount.nfs", "/usr/bin/mount.nfs"},
            "NFS mounts",
            {},
            "nfs-utils"},
    Package{"open-iscsi",
            "iscsi-initiator-utils",
            "open-iscsi",
            {"/usr/sbin/iscsiadm", "/sbin/iscsiadm", "/usr/bin/iscsiadm"},
            "iSER initiator"},
    Package{"lldpad", "", "open-lldp", {"/usr/sbin/lldpad"}, "LLDP and DCBX", {}, kOnlyInAur},
    Package{"mstflint", "", "", {"/usr/bin/mstflint"}, "firmware of NVIDIA's adapters", {}, kOnlyInAur},
    Package{"ethtool",
            "",
            "",
            {"/usr/sbin/ethtool", "/sbin/ethtool", "/usr/bin/ethtool"},
            "settings of Ethernet adapters"},
    Package{"iproute2", "iproute", "iproute2", {"/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"}, "ip, rdma, dcb"},
    Package{"iwpmd",
            "",
            "",
            {"/usr/sbin/iwpmd", "/usr/bin/iwpmd"},
            "port mapper of iWARP",
            "rdma-core",
            "rdma-core"},
    Package{"rdma-ndd",
            "rdma-core",
            "",
            {"/usr/sbin/rdma-ndd", "/usr/bin/rdma-ndd"},
            "node descriptions",
            "rdma-core",
            "rdma-core"},
    Package{"smc-tools",
            "",
            "",
            {"/usr/bin/smc_pnet"},
            "smcr, smc_pnet, smc_run (not in Debian)",
            {},
            kOnlyInAur},
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kUnitsOf{{
    {"rdma-ndd.", "rdma-ndd"},
    {"rdma-hw.", "rdma-core"},
    {"rdma-load-modules@", "rdma-core"},
    {"iwpmd.", "iwpmd"},
    {"srp_daemon", "srptools"},
    {"srpd.", "srptools"},
    {"ibacm.", "ibacm"},
    {"opensm", "opensm"},
    {"lldpad.", "lldpad"},
    {"nvmf-", "nvme-cli"},
    {"nfs-server.", "nfs-kernel-server"},
    {"iscsid.", "open-iscsi"},
    {"iscsi.", "open-iscsi"},
    {"open-iscsi.", "open-iscsi"},
}};

bool file_is_there(system::Files& files, const std::string& path) {
  const auto file = files.read_linked(path);
  return file && file->has_value();
}

/// Whether a program is there; programs may be too large to be read.
bool has_program(system::Files& files, std::string_view name) {
  const auto names = files.list("/usr/bin");
  return names && std::find(names->begin(), names->end(), name) != names->end();
}

/// Whether zypper refuses to change the root and names transactional-update (NeedsWritableRoot::check() in
/// zypper's conditions.cc). A tree without a table of mounts has the program alone to go by.
bool is_transactional(system::Files& files) {
  if (!file_is_there(files, "/usr/sbin/transactional-update")) return false;
  const auto mounts = observe_mounts(files);
  const auto root = mounts.find("/");
  return root == mounts.end() || (root->second.type == "btrfs" && root->second.read_only);
}

}  // namespace

std::span<const Package> packages() { return kPackageTable; }

const Package* find_package(std::string_view name) {
  const auto at = std::find_if(kPackageTable.begin(), kPackageTable.end(),
                               [&](const Package& package) { return package.name == name; });
  if (at != kPackageTable.end()) return &*at;
  const auto other = std::find_if(kPackageTable.begin(), kPackageTable.end(), [&](const Package& package) {
    return !name.empty() && (package.rhel == name || package.suse == name);
  });
  return other == kPackageTable.end() ? nullptr : &*other;
}

const Package* package_of_unit(std::string_view unit) {
  for (const auto& [begin, package] : kUnitsOf) {
    if (unit.starts_with(begin)) return find_package(package);
  }
  return nullptr;
}

Distribution distribution(system::Files& files) {
  const auto ids = observe_distribution_ids(files);
  const auto is = [&](std::string_view word) { return ids.find(word) != std::string::npos; };
  if (is("suse")) return is_transactional(files) ? Distribution::kTransactional : Distribution::kSuse;
  if (is("rhel") || is("fedora") || is("centos")) {
    if (!file_is_there(files, "/run/ostree-booted")) return Distribution::kRhel;
    if (!has_program(files, "bootc")) return Distribution::kOstree;
    return !has_program(files, "rpm-ostree") || system::deploys_container(files) ? Distribution::kBootc
                                                                                 : Distribution::kOstree;
  }
  if (is("debian") || is("ubuntu")) return Distribution::kDebian;
  if (is("arch")) return Distribution::kArch;
  return Distribution::kUnknown;
}

bool is_installed(const Package& package, system::Packages& host) {
  return std::any_of(package.has.begin(), package.has.end(),
                     [&](auto path) { return !path.empty() && host.has(std::string(path)); });
}

std::string_view name_on(const Package& package, Distribution distribution) {
  const bool rhel = distribution == Distribution::kRhel || distribution == Distribution::kOstree ||
                    distribution == Distribution::kBootc;
  const bool suse = distribution == Distribution::kSuse || distribution == Distribution::kTransactional;
  const bool arch = distribution == Distribution::kArch;
  const auto other = rhel ? package.rhel : suse ? package.suse : arch ? package.arch : package.debian;
  return other.empty() || other == kOnlyInAur ? package.name : other;
}

std::string install_command(Distribution distribution, std::span<const Package* const> wanted) {
  constexpr std::array<std::string_view, 8> kCommands{"",
                                                      "apt install",
                                                      "dnf install",
                                                      "zypper install",
                                                      "rpm-ostree install",
                                                      "transactional-update pkg install",
                                                      "dnf install",
                                                      "pacman -S"};
  const auto is_elsewhere = [&](const Package* package) {
    return distribution == Distribution::kArch && package->arch == kOnlyInAur;
  };
  if (std::any_of(wanted.begin(), wanted.end(), is_elsewhere)) return {};
  std::string out(kCommands.at(static_cast<std::size_t>(distribution)));
  if (out.empty()) return out;
  for (const auto* package : wanted) out.append(" ").append(name_on(*package, distribution));
  if (distribution == Distribution::kBootc) out += " in the Containerfile of its image";
  return out;
}

std::string_view way_to_kernel_arguments(Distribution distribution) {
  if (distribution == Distribution::kOstree) return " (rpm-ostree kargs --append)";
  if (distribution == Distribution::kBootc) return " (in /usr/lib/bootc/kargs.d of its image)";
  return {};
}

std::string how_to_get(const Package& package, system::Files& files) {
  const std::array<const Package*, 1> wanted{&package};
  const auto command = install_command(distribution(files), wanted);
  return command.empty() ? fmt::format("; package {} has it", name_on(package, Distribution::kUnknown))
                         : ": " + command;
}

std::string package_of_modules(system::Files& files, std::string_view release) {
  constexpr std::string_view kCloud = "-cloud-";
  if (release.empty()) return {};
  const auto here = distribution(files);
  std::string name;
  if (here == Distribution::kDebian && observe_distribution_ids(files).starts_with("ubuntu")) {
    name = fmt::format("linux-modules-extra-{}", release);
  } else if (const auto cloud = release.find(kCloud);
             here == Distribution::kDebian && cloud != std::string_view::npos) {
    // "6.1.0-18-cloud-amd64": the other kernel of the release has the drivers that this one leaves out.
    name = fmt::format("linux-image-{}", release.substr(cloud + kCloud.size()));
  } else if (here == Distribution::kRhel || here == Distribution::kOstree || here == Distribution::kBootc) {
    // "5.14.0-570.12.1.el9_6.x86_64+rt" is of the packages kernel-rt-…, "6.12.0-100.28.2.el10uek.x86_64" of
    // Oracle's kernel-uek-….
    const auto plus = release.find('+');
    const auto flavour = release.find("uek.") != std::string_view::npos ? std::string_view("uek")
                         : plus == std::string_view::npos               ? std::string_view()
                                                                        : release.substr(plus + 1);
    name = fmt::format("kernel{}{}-modules-extra-{}", flavour.empty() ? "" : "-", flavour,
                       release.substr(0, plus));
  }
  std::string condition;
  constexpr std::string_view kSuseFlavour = "-default";
  if ((here == Distribution::kSuse || here == Distribution::kTransactional) &&
      release.ends_with(kSuseFlavour)) {
    // Both have the same release; images for virtual machines come with the subset.
    name = "kernel-default";
    condition = ", if kernel-default-base is installed";
  }
  if (name.empty()) return {};
  const Package package{name, {}, {}, {}, {}, {}, {}};
  const std::array<const Package*, 1> wanted{&package};
  return fmt::format("{} may have it{}: {}", name, condition, install_command(here, wanted));
}

std::string without_program(std::string_view program, std::string_view package, system::Files& files) {
  return fmt::format("there is no {}{}", program, how_to_get(*find_package(package), files));
}

std::string without_opensm(system::Files& files) {
  return "OpenSM is not installed" + how_to_get(*find_package("opensm"), files);
}

}  // namespace rdmacfg::kinds
