// SPDX-License-Identifier: Apache-2.0
#include "foreign/formats.hpp"

#include <algorithm>

namespace rdmacfg::foreign {

const std::vector<Format>& formats() {
  static const std::vector<Format> kFormats{
      {"udev",
       "udev rules and .link files: names of interfaces and of RDMA devices",
       {{"/etc/udev/rules.d", "*.rules"},
        {"/run/udev/rules.d", "*.rules"},
        {"/etc/systemd/network", "*.link"},
        {"/run/systemd/network", "*.link"}},
       parse_udev},
      {"nm",
       "keyfiles of NetworkManager",
       {{"/etc/NetworkManager/system-connections", "*"},
        {"/run/NetworkManager/system-connections", "*"},
        {"/usr/lib/NetworkManager/system-connections", "*"}},
       parse_nm,
       true},
      {"ifcfg",
       "ifcfg files of RHEL and Fedora",
       {{"/etc/sysconfig/network-scripts", "ifcfg-*"},
        {"/etc/sysconfig/network-scripts", "route-*"},
        {"/etc/sysconfig/network-scripts", "route6-*"},
        {"/etc/sysconfig/network-scripts", "rule-*"},
        {"/etc/sysconfig/network-scripts", "rule6-*"}},
       parse_ifcfg,
       true},
      {"networkd",
       "files of systemd-networkd",
       {{"/etc/systemd/network", "*.netdev"},
        {"/run/systemd/network", "*.netdev"},
        {"/usr/lib/systemd/network", "*.netdev"},
        {"/etc/systemd/network", "*.network"},
        {"/run/systemd/network", "*.network"},
        {"/usr/lib/systemd/network", "*.network"}},
       parse_networkd,
       true},
      {"netplan",
       "YAML of netplan",
       {{"/etc/netplan", "*.yaml"},
        {"/run/netplan", "*.yaml"},
        {"/usr/lib/netplan", "*.yaml"},
        {"/lib/netplan", "*.yaml"}},
       parse_netplan,
       true},
      {"wicked",
       "ifcfg files of SUSE",
       {{"/etc/sysconfig/network", "ifcfg-*"},
        {"/etc/sysconfig/network", "ifroute-*"},
        {"/etc/sysconfig/network", "routes"}},
       parse_wicked,
       true},
      {"ifupdown",
       "interfaces(5) of Debian",
       {{"/etc/network", "interfaces"}, {"/etc/network/interfaces.d", "*"}},
       parse_ifupdown,
       true},
      {"nmstate",
       "YAML of nmstate",
       {{"/etc/nmstate", "*.yml"}, {"/etc/nmstate", "*.yaml"}},
       parse_nmstate,
       true},
      {"openib", "openib.conf of OFED", {{"/etc/infiniband", "openib.conf"}}, parse_openib},
      {"rdma-conf", "rdma.conf of RHEL", {{"/etc/rdma", "rdma.conf"}}, parse_rdma_conf},
      {"mlx4-conf", "mlx4.conf: port types of ConnectX-3", {{"/etc/rdma", "mlx4.conf"}}, parse_mlx4_conf},
      {"modprobe",
       "modprobe.d, modules-load.d and rdma-core's lists of modules",
       {{"/etc/modprobe.d", "*.conf"}, {"/etc/modules-load.d", "*.conf"}},
       parse_modprobe},
      {"limits",
       "limits.conf and limits.d: locked memory",
       {{"/etc/security", "limits.conf"}, {"/etc/security/limits.d", "*.conf"}},
       parse_limits},
      {"opensm",
       "opensm.conf, its ports and partitions.conf",
       {{"/etc/opensm", "opensm.conf"},
        {"/etc/rdma", "opensm.conf"},
        {"/etc/default", "opensm"},
        {"/etc/sysconfig", "opensm"},
        {"/etc/opensm", "partitions.conf"},
        {"/etc/rdma", "partitions.conf"}},
       parse_opensm},
  };
  return kFormats;
}

const Format* find_format(std::string_view name) {
  const auto at =
      std::find_if(formats().begin(), formats().end(), [&](const Format& one) { return one.name == name; });
  return at == formats().end() ? nullptr : &*at;
}

}  // namespace rdmacfg::foreign
