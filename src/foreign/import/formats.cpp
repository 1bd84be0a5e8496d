// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/formats.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr auto kUdevFiles = std::to_array<Where>({{"/etc/udev/rules.d", "*.rules"},
                                                  {"/run/udev/rules.d", "*.rules"},
                                                  {"/usr/local/lib/udev/rules.d", "*.rules"},
                                                  {"/etc/systemd/network", "*.link"},
                                                  {"/run/systemd/network", "*.link"},
                                                  {"/usr/local/lib/systemd/network", "*.link"}});

constexpr auto kKeyfiles = std::to_array<Where>({{"/etc/NetworkManager/system-connections", "*"},
                                                 {"/run/NetworkManager/system-connections", "*"},
                                                 {"/usr/lib/NetworkManager/system-connections", "*"},
                                                 {"/etc/NetworkManager", "NetworkManager.conf"},
                                                 {"/etc/NetworkManager/conf.d", "*.conf"},
                                                 {"/run/NetworkManager/conf.d", "*.conf"},
                                                 {"/usr/lib/NetworkManager/conf.d", "*.conf"}});

constexpr auto kIfcfgFiles = std::to_array<Where>({{"/etc/sysconfig/network-scripts", "ifcfg-*"},
                                                   {"/etc/sysconfig/network-scripts", "route-*"},
                                                   {"/etc/sysconfig/network-scripts", "route6-*"},
                                                   {"/etc/sysconfig/network-scripts", "rule-*"},
                                                   {"/etc/sysconfig/network-scripts", "rule6-*"},
                                                   {"/etc/sysconfig", "network"}});

constexpr auto kNetworkdFiles = std::to_array<Where>({{"/etc/systemd/network", "*.netdev"},
                                                      {"/run/systemd/network", "*.netdev"},
                                                      {"/usr/local/lib/systemd/network", "*.netdev"},
                                                      {"/usr/lib/systemd/network", "*.netdev"},
                                                      {"/etc/systemd/network", "*.network"},
                                                      {"/run/systemd/network", "*.network"},
                                                      {"/usr/local/lib/systemd/network", "*.network"},
                                                      {"/usr/lib/systemd/network", "*.network"}});

// Unlike systemd's, a file in /run hides that in /etc (netplan(5)).
constexpr auto kNetplanFiles = std::to_array<Where>({{"/run/netplan", "*.yaml"},
                                                     {"/etc/netplan", "*.yaml"},
                                                     {"/lib/netplan", "*.yaml"},
                                                     {"/usr/lib/netplan", "*.yaml"}});

constexpr auto kWickedFiles = std::to_array<Where>({{"/etc/sysconfig/network", "ifcfg-*"},
                                                    {"/etc/sysconfig/network", "ifroute-*"},
                                                    {"/etc/sysconfig/network", "routes"},
                                                    {"/etc/wicked/ifconfig", "*.xml"}});

constexpr auto kIfupdownFiles =
    std::to_array<Where>({{"/etc/network", "interfaces"}, {"/etc/network/interfaces.d", "*"}});

constexpr auto kNmstateFiles = std::to_array<Where>({{"/etc/nmstate", "*.yml"}, {"/etc/nmstate", "*.yaml"}});

constexpr auto kSystemRoleFiles =
    std::to_array<Where>({{"/etc/ansible/host_vars", "*.yml"}, {"/etc/ansible/host_vars", "*.yaml"}});

constexpr auto kCloudInitFiles =
    std::to_array<Where>({{"/etc/cloud", "cloud.cfg"},
                          {"/etc/cloud/cloud.cfg.d", "*.cfg"},
                          {"/var/lib/cloud/seed/nocloud", "network-config"},
                          {"/var/lib/cloud/seed/nocloud-net", "network-config"}});

constexpr auto kCmdlineFiles = std::to_array<Where>({{"/etc/default", "grub"},
                                                     {"/etc/default/grub.d", "*.cfg"},
                                                     {"/etc/kernel", "cmdline"},
                                                     {"/etc/cmdline.d", "*.conf"},
                                                     {"/etc", "dracut.conf"},
                                                     {"/etc/dracut.conf.d", "*.conf", Masking::kNone}});

constexpr auto kScriptFiles =
    std::to_array<Where>({{"/etc", "rc.local"},
                          {"/etc/rc.d", "rc.local", Masking::kNone},
                          {"/etc/init.d", "boot.local"},
                          {"/etc/NetworkManager/dispatcher.d", "*", Masking::kNone},
                          {"/etc/networkd-dispatcher/*.d", "*", Masking::kNone},
                          {"/etc/network/if-*.d", "*", Masking::kNone},
                          {"/etc", "crontab"},
                          {"/etc/cron.d", "*", Masking::kNone},
                          {"/var/spool/cron", "root", Masking::kNone},
                          {"/var/spool/cron/crontabs", "root", Masking::kNone},
                          {"/var/spool/cron/tabs", "root", Masking::kNone},
                          {"/etc/systemd/system", "*.service", Masking::kByName, Links::kLeftOut},
                          {"/etc/systemd/system/*.service.d", "*.conf", Masking::kNone}});

constexpr auto kSysfsFiles = std::to_array<Where>({{"/etc", "sysfs.conf"},
                                                   {"/etc/sysfs.d", "*.conf", Masking::kNone},
                                                   {"/etc/tmpfiles.d", "*.conf"},
                                                   {"/run/tmpfiles.d", "*.conf"},
                                                   {"/usr/local/lib/tmpfiles.d", "*.conf"},
                                                   {"/etc/tuned", "active_profile"},
                                                   {"/etc/tuned/*", "tuned.conf", Masking::kNone},
                                                   {"/etc/tuned/profiles/*", "tuned.conf", Masking::kNone}});

constexpr auto kOpenibFiles = std::to_array<Where>({{"/etc/infiniband", "openib.conf"}});

constexpr auto kRdmaConfFiles =
    std::to_array<Where>({{"/etc/rdma", "rdma.conf"},
                          {"/etc/rdma", "sriov-vfs"},
                          {"/etc/rdma", "ibacm_*.cfg"},
                          {"/etc", "fstab"},
                          {"/etc", "auto.*"},
                          {"/etc/systemd/system", "*.mount", Masking::kByName, Links::kLeftOut},
                          {"/etc", "lnet.conf"},
                          {"/etc/beegfs", "*.conf", Masking::kNone},
                          {"/etc/beegfs", "*.itf"},
                          {"/etc", "nccl.conf"},
                          {"/etc/ucx", "ucx.conf"},
                          {"/etc/openmpi*", "openmpi-mca-params.conf", Masking::kNone},
                          {"/etc/ceph", "*.conf", Masking::kNone},
                          {"/var/mmfs/gen", "mmfs.cfg"},
                          {"/etc", "environment"},
                          {"/etc/environment.d", "*.conf", Masking::kNone},
                          {"/etc/profile.d", "*.sh", Masking::kNone},
                          {"/etc/profile.d", "*.csh", Masking::kNone},
                          {"/etc", "nfs.conf"},
                          {"/etc/nfs.conf.d", "*.conf", Masking::kNone},
                          // The records of portals without a group are files in the folder of their target.
                          {"/etc/iscsi/nodes/*", "*", Masking::kNone, Links::kLeftOut},
                          {"/etc/iscsi/nodes/*/*", "*", Masking::kNone, Links::kLeftOut},
                          {"/var/lib/iscsi/nodes/*", "*", Masking::kNone, Links::kLeftOut},
                          {"/var/lib/iscsi/nodes/*/*", "*", Masking::kNone, Links::kLeftOut}});

constexpr auto kSrpFiles =
    std::to_array<Where>({{"/etc", "srp_daemon.conf"},
                          {"/etc/default", "srptools"},
                          {"/etc/systemd/system/srp_daemon.service.d", "*.conf", Masking::kNone},
                          {"/etc/systemd/system/srp_daemon_port@*.service.d", "*.conf", Masking::kNone}});

// That of MLNX_OFED is the same list, which its connectx_port_config writes.
constexpr auto kMlx4ConfFiles =
    std::to_array<Where>({{"/etc/rdma", "mlx4.conf"}, {"/etc/infiniband", "connectx.conf"}});

constexpr auto kModprobeFiles = std::to_array<Where>({{"/etc", "modprobe.conf"},
                                                      {"/etc/modprobe.d", "*.conf", Masking::kNone},
                                                      {"/etc/modules-load.d", "*.conf", Masking::kNone},
                                                      {"/etc", "modules"},
                                                      {"/etc/initramfs-tools", "modules", Masking::kNone},
                                                      {"/etc/rdma/modules", "*.conf", Masking::kNone}});

constexpr auto kSysctlFiles =
    std::to_array<Where>({{"/etc", "sysctl.conf"}, {"/etc/sysctl.d", "*.conf"}, {"/run/sysctl.d", "*.conf"}});

constexpr auto kLimitsFiles =
    std::to_array<Where>({{"/etc/security", "limits.conf"},
                          {"/etc/security/limits.d", "*.conf"},
                          {"/etc/systemd/system/*.service.d", "*.conf", Masking::kNone},
                          {"/etc/systemd", "system.conf"},
                          {"/etc/systemd", "user.conf"},
                          {"/etc/systemd/system.conf.d", "*.conf", Masking::kNone}});

constexpr auto kOpensmFiles =
    std::to_array<Where>({{"/etc/opensm", "opensm*.conf"},
                          {"/etc/rdma", "opensm.conf", Masking::kNone},
                          {"/etc/rdma", "opensm.conf.[0-9]*"},
                          {"/etc/default", "opensm"},
                          {"/etc/sysconfig", "opensm", Masking::kNone},
                          {"/etc/systemd/system/opensm@*.service.d", "*.conf", Masking::kNone},
                          {"/etc/opensm", "partitions.conf"},
                          {"/etc/opensm", "qos-policy.conf"},
                          {"/etc/rdma", "partitions.conf"}});

constexpr auto kNvmeFiles = std::to_array<Where>({{"/etc/nvme", "discovery.conf"},
                                                  {"/etc/nvme", "config.json"},
                                                  {"/etc/nvme", "nvme-fabrics.conf"},
                                                  {"/etc/nvme/nvme-fabrics.conf.d", "*.conf", Masking::kNone},
                                                  {"/etc/nvmet", "config.json", Masking::kNone}});

constexpr auto kLioFiles =
    std::to_array<Where>({{"/etc/target", "saveconfig.json", Masking::kNone},
                          {"/etc/rtslib-fb-target", "saveconfig.json", Masking::kNone}});

constexpr auto kFormats = std::to_array<Format>({
    {.name = "udev",
     .doc = "udev rules and .link files: names of interfaces and of RDMA devices",
     .places = kUdevFiles,
     .parse = parse_udev,
     .by_name = true},
    {.name = "nm",
     .doc = "keyfiles of NetworkManager",
     .places = kKeyfiles,
     .parse = parse_nm,
     .interfaces = true},
    {.name = "ifcfg",
     .doc = "ifcfg files of RHEL and Fedora",
     .places = kIfcfgFiles,
     .parse = parse_ifcfg,
     .interfaces = true,
     .by_name = true},
    {.name = "networkd",
     .doc = "files of systemd-networkd",
     .places = kNetworkdFiles,
     .parse = parse_networkd,
     .interfaces = true,
     .by_name = true},
    {.name = "netplan",
     .doc = "YAML of netplan",
     .places = kNetplanFiles,
     .parse = parse_netplan,
     .interfaces = true},
    {.name = "wicked",
     .doc = "ifcfg files of SUSE, and wicked's own XML",
     .places = kWickedFiles,
     .parse = parse_wicked,
     .interfaces = true,
     .by_name = true},
    {.name = "ifupdown",
     .doc = "interfaces(5) of Debian",
     .places = kIfupdownFiles,
     .parse = parse_ifupdown,
     .interfaces = true},
    {.name = "nmstate",
     .doc = "YAML of nmstate",
     .places = kNmstateFiles,
     .parse = parse_nmstate,
     .interfaces = true},
    {.name = "system-roles",
     .doc = "network_connections of Ansible's role linux-system-roles.network",
     .places = kSystemRoleFiles,
     .parse = parse_system_roles,
     .interfaces = true,
     .alone = true},
    {.name = "cloud-init",
     .doc = "network configuration of cloud-init",
     .places = kCloudInitFiles,
     .parse = parse_cloud_init,
     .interfaces = true},
    {.name = "cmdline",
     .doc = "the kernel command line: ip=, ib.pkey=, options of RDMA modules",
     .places = kCmdlineFiles,
     .parse = parse_cmdline,
     .interfaces = true,
     .by_name = true},
    {.name = "scripts",
     .doc = "shell scripts and services of systemd: commands that set IPoIB interfaces up",
     .places = kScriptFiles,
     .parse = parse_scripts,
     .interfaces = true},
    {.name = "sysfs",
     .doc = "sysfs.conf, tmpfiles.d and profiles of tuned: settings of IPoIB interfaces",
     .places = kSysfsFiles,
     .parse = parse_sysfs,
     .interfaces = true,
     .by_name = true},
    {.name = "openib", .doc = "openib.conf of OFED", .places = kOpenibFiles, .parse = parse_openib},
    {.name = "rdma-conf",
     .doc = "rdma.conf of RHEL; ibacm, virtual functions and storage over RDMA are named",
     .places = kRdmaConfFiles,
     .parse = parse_rdma_conf,
     .by_name = true},
    {.name = "mlx4-conf",
     .doc = "mlx4.conf, and connectx.conf of MLNX_OFED: port types of ConnectX-3",
     .places = kMlx4ConfFiles,
     .parse = parse_mlx4_conf},
    {.name = "modprobe",
     .doc = "modprobe.d, modules-load.d and rdma-core's lists of modules",
     .places = kModprobeFiles,
     .parse = parse_modprobe,
     .by_name = true},
    {.name = "sysctl",
     .doc = "sysctl.conf and sysctl.d: settings of IPoIB interfaces, of ARP and of neighbour tables",
     .places = kSysctlFiles,
     .parse = parse_sysctl,
     .interfaces = true},
    {.name = "limits",
     .doc = "limits.conf, limits.d and LimitMEMLOCK of services: locked memory",
     .places = kLimitsFiles,
     .parse = parse_limits,
     .by_name = true},
    {.name = "opensm",
     .doc = "opensm.conf, its ports and partitions.conf",
     .places = kOpensmFiles,
     .parse = parse_opensm},
    {.name = "srp",
     .doc = "srp_daemon.conf: the SRP targets that the host logs in to",
     .places = kSrpFiles,
     .parse = parse_srp},
    {.name = "nvme",
     .doc = "discovery.conf and config.json of nvme-cli, config.json of nvmetcli: NVMe over RDMA",
     .places = kNvmeFiles,
     .parse = parse_nvme,
     .by_name = true},
    {.name = "lio",
     .doc = "saveconfig.json of targetcli: iSER and SRP targets",
     .places = kLioFiles,
     .parse = parse_lio},
});

/// Other names of tools and of their files, in lower case.
struct OtherName {
  std::string_view name, format;
};
constexpr auto kOtherNames = std::to_array<OtherName>({{"networkmanager", "nm"},
                                                       {"nmcli", "nm"},
                                                       {"keyfile", "nm"},
                                                       {"keyfiles", "nm"},
                                                       {"nmconnection", "nm"},
                                                       {"sysconfig", "ifcfg"},
                                                       {"network-scripts", "ifcfg"},
                                                       {"systemd-networkd", "networkd"},
                                                       {"interfaces", "ifupdown"},
                                                       {"ifupdown2", "ifupdown"},
                                                       {"ifupdown-ng", "ifupdown"},
                                                       {"nmstatectl", "nmstate"},
                                                       {"ansible", "system-roles"},
                                                       {"cloudinit", "cloud-init"},
                                                       {"grub", "cmdline"},
                                                       {"dracut", "cmdline"},
                                                       {"script", "scripts"},
                                                       {"rc.local", "scripts"},
                                                       {"sysfsutils", "sysfs"},
                                                       {"sysfs.conf", "sysfs"},
                                                       {"tmpfiles", "sysfs"},
                                                       {"tmpfiles.d", "sysfs"},
                                                       {"tuned", "sysfs"},
                                                       {"ofed", "openib"},
                                                       {"openib.conf", "openib"},
                                                       {"rdma.conf", "rdma-conf"},
                                                       {"mlx4", "mlx4-conf"},
                                                       {"mlx4.conf", "mlx4-conf"},
                                                       {"connectx.conf", "mlx4-conf"},
                                                       {"modules", "modprobe"},
                                                       {"modprobe.d", "modprobe"},
                                                       {"modules-load.d", "modprobe"},
                                                       {"sysctl.d", "sysctl"},
                                                       {"sysctl.conf", "sysctl"},
                                                       {"limits.d", "limits"},
                                                       {"limits.conf", "limits"},
                                                       {"opensm.conf", "opensm"},
                                                       {"partitions.conf", "opensm"},
                                                       {"nvmet", "nvme"},
                                                       {"nvmetcli", "nvme"},
                                                       {"nvme-cli", "nvme"},
                                                       {"targetcli", "lio"},
                                                       {"rtslib", "lio"},
                                                       {"srp_daemon", "srp"},
                                                       {"srp_daemon.conf", "srp"},
                                                       {"srptools", "srp"}});

}  // namespace

std::span<const Format> formats() { return kFormats; }

bool is_crontab(std::string_view path) {
  return path.ends_with("/crontab") || path.find("/cron.d/") != std::string_view::npos ||
         path.find("/spool/cron/") != std::string_view::npos;
}

const Format* find_format(std::string_view name) {
  const auto at = std::find_if(kFormats.begin(), kFormats.end(),
                               [&](const Format& format) { return format.name == name; });
  return at == kFormats.end() ? nullptr : &*at;
}

std::string_view format_called(std::string_view name) {
  const auto word = base::lower(name);
  const auto at = std::find_if(kOtherNames.begin(), kOtherNames.end(),
                               [&](const OtherName& other) { return other.name == word; });
  return at == kOtherNames.end() ? std::string_view() : at->format;
}

}  // namespace rdmacfg::foreign
