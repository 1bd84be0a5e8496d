// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "growth_samples.hpp"
#include "growth_texts.hpp"

namespace rdmacfg::bench {

namespace {

std::map<std::string, std::string> one_file(const std::string& path, std::string text) {
  return {{path, std::move(text)}};
}

ImportSample file(std::string format, std::string name, std::string path, std::string head, Line line) {
  return {std::move(format), std::move(name), [=](int n) { return one_file(path, head + lines(n, line)); }};
}

ImportSample files(std::string format, std::string name, Line path, Line text) {
  return {std::move(format), std::move(name), [=](int n) {
            std::map<std::string, std::string> out;
            for (int i = 0; i < n; ++i) out.emplace(path(i), text(i));
            return out;
          }};
}

std::string address20(int i) { return "80:00:00:48:fe:80:00:00:00:00:00:00:" + guid(i); }

std::string rule(int i, const std::string& name) {
  return fmt::format(
      "ACTION==\"add\", SUBSYSTEM==\"net\", DRIVERS==\"?*\", ATTR{{type}}==\"32\", "
      "ATTR{{address}}==\"?*{}\", NAME=\"{}\"\n",
      guid(i), name);
}

std::vector<ImportSample> systemd_imports() {
  const std::string rules = "/etc/udev/rules.d/70-persistent-ipoib.rules";
  return {
      file("udev", "rules", rules, "", [](int i) { return rule(i, fmt::format("n{}", i)); }),
      file("udev", "refused names", rules, "", [](int i) { return rule(i, fmt::format("bad name {}", i)); }),
      file("udev", "one name", rules, "", [](int i) { return rule(i, "same"); }),
      file("udev", "nonsense", rules, "", [](int) { return std::string("what is this\n"); }),
      files(
          "udev", "link files", [](int i) { return fmt::format("/etc/systemd/network/{:05}.link", i); },
          [](int i) { return fmt::format("[Match]\nMACAddress={}\n[Link]\nName=n{}\n", address20(i), i); }),
      files(
          "networkd", "files", [](int i) { return fmt::format("/etc/systemd/network/{:05}.network", i); },
          [](int i) {
            return fmt::format("[Match]\nName=ib{}\n[Network]\nAddress={}/8\n[Link]\nMTUBytes=2044\n", i,
                               address(i));
          }),
      {"networkd", "netdevs",
       [](int n) {
         std::map<std::string, std::string> out;
         std::string parent = "[Match]\nName=ib0\n[Network]\n";
         for (int i = 0; i < n; ++i) {
           out.emplace(fmt::format("/etc/systemd/network/{:05}.netdev", i),
                       fmt::format("[NetDev]\nName=c{}\nKind=ipoib\n[IPoIB]\nPartitionKey={}\n", i, i + 1));
           parent += fmt::format("IPoIB=c{}\n", i);
         }
         out.emplace("/etc/systemd/network/a.network", parent);
         return out;
       }},
      file("networkd", "addresses", "/etc/systemd/network/ib0.network", "[Match]\nName=ib0\n[Network]\n",
           [](int i) { return fmt::format("Address={}/8\n", address(i)); }),
      file("networkd", "routes", "/etc/systemd/network/ib0.network",
           "[Match]\nName=ib0\n[Network]\nAddress=10.0.0.1/8\n",
           [](int i) {
             return fmt::format("[Route]\nDestination=11.{}.{}.0/24\nGateway=10.0.0.2\n", i >> 8, i & 0xff);
           }),
  };
}

std::vector<ImportSample> network_manager_imports() {
  return {
      files(
          "nm", "profiles",
          [](int i) { return fmt::format("/etc/NetworkManager/system-connections/{:05}.nmconnection", i); },
          [](int i) {
            return fmt::format(
                "[connection]\nid=n{0}\ntype=infiniband\ninterface-name=n{0}\n[infiniband]\nmac-address={1}"
                "\ntransport-mode=datagram\n[ipv4]\nmethod=manual\naddress1={2}/8\n",
                i, address20(i), address(i));
          }),
      files(
          "nm", "refused profiles",
          [](int i) { return fmt::format("/etc/NetworkManager/system-connections/{:05}.nmconnection", i); },
          [](int i) {
            return fmt::format(
                "[connection]\nid=n{0}\ntype=infiniband\ninterface-name=n{0}\n[infiniband]\nmac-address={1}"
                "\nmtu=1\ntransport-mode=datagram\n",
                i, address20(i));
          }),
      file(
          "nm", "addresses", "/etc/NetworkManager/system-connections/ib0.nmconnection",
          "[connection]\nid=ib0\ntype=infiniband\ninterface-name=ib0\n[infiniband]\nmac-address=80:00:00:48:"
          "fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:00\ntransport-mode=datagram\n[ipv4]\nmethod=manual\n",
          [](int i) { return fmt::format("address{}={}/8\n", i + 1, address(i)); }),
      file("nm", "unknown keys", "/etc/NetworkManager/system-connections/ib0.nmconnection",
           "[connection]\nid=ib0\ntype=infiniband\ninterface-name=ib0\n[infiniband]\nmac-address=80:00:00:48:"
           "fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:00\ntransport-mode=datagram\n",
           [](int i) { return fmt::format("what{}={}\n", i + 1, i); }),
      file("nm", "removed devices", "/etc/NetworkManager/conf.d/a.conf", "[keyfile]\n",
           [](int i) {
             return fmt::format(
                 "unmanaged-devices+=interface-name:ib{0}\nunmanaged-devices-=interface-name:x{0}\n", i);
           }),
  };
}

std::vector<ImportSample> sysconfig_imports() {
  return {
      files(
          "ifcfg", "files",
          [](int i) { return fmt::format("/etc/sysconfig/network-scripts/ifcfg-n{:05}", i); },
          [](int i) {
            return fmt::format("DEVICE=n{}\nTYPE=InfiniBand\nHWADDR={}\nIPADDR={}\nPREFIX=8\n", i,
                               address20(i), address(i));
          }),
      files(
          "ifcfg", "refused files",
          [](int i) { return fmt::format("/etc/sysconfig/network-scripts/ifcfg-n{:05}", i); },
          [](int i) {
            return fmt::format("DEVICE=n{}\nTYPE=InfiniBand\nHWADDR={}\nMTU=1\nCONNECTED_MODE=no\n", i,
                               address20(i));
          }),
      {"ifcfg", "routes",
       [](int n) {
         return std::map<std::string, std::string>{
             {"/etc/sysconfig/network-scripts/ifcfg-ib0",
              "DEVICE=ib0\nTYPE=InfiniBand\nHWADDR=" + address20(0) + "\nIPADDR=10.0.0.1\nPREFIX=8\n"},
             {"/etc/sysconfig/network-scripts/route-ib0",
              lines(n, [](int i) { return fmt::format("11.{}.{}.0/24 via 10.0.0.2\n", i >> 8, i & 0xff); })}};
       }},
      file("ifcfg", "nonsense", "/etc/sysconfig/network-scripts/ifcfg-ib0", "DEVICE=ib0\nTYPE=InfiniBand\n",
           [](int i) { return fmt::format("K{}=\"v\n", i); }),
      files(
          "wicked", "files", [](int i) { return fmt::format("/etc/sysconfig/network/ifcfg-ib{}", i); },
          [](int i) {
            return fmt::format("BOOTPROTO=static\nSTARTMODE=auto\nIPOIB_MODE=datagram\nIPADDR={}/8\n",
                               address(i));
          }),
      {"wicked", "routes",
       [](int n) {
         return std::map<std::string, std::string>{
             {"/etc/sysconfig/network/ifcfg-ib0",
              "BOOTPROTO=static\nSTARTMODE=auto\nIPOIB_MODE=datagram\nIPADDR=10.0.0.1/8\n"},
             {"/etc/sysconfig/network/routes", lines(n, [](int i) {
                return fmt::format("11.{}.{}.0/24 10.0.0.2 - ib0\n", i >> 8, i & 0xff);
              })}};
       }},
  };
}

std::vector<ImportSample> yaml_imports() {
  return {
      file("netplan", "interfaces", "/etc/netplan/a.yaml", "network:\n  version: 2\n  ethernets:\n",
           [](int i) {
             return fmt::format("    ib{}:\n      infiniband-mode: datagram\n      addresses: [{}/8]\n", i,
                                address(i));
           }),
      file("netplan", "refused interfaces", "/etc/netplan/a.yaml", "network:\n  version: 2\n  ethernets:\n",
           [](int i) { return fmt::format("    ib{}:\n      infiniband-mode: what\n      mtu: 1\n", i); }),
      file("netplan", "addresses", "/etc/netplan/a.yaml",
           "network:\n  version: 2\n  ethernets:\n    ib0:\n      infiniband-mode: datagram\n      "
           "addresses:\n",
           [](int i) { return fmt::format("        - {}/8\n", address(i)); }),
      file(
          "nmstate", "interfaces", "/etc/nmstate/a.yml", "interfaces:\n",
          [](int i) {
            return fmt::format(
                "- name: ib{}\n  type: infiniband\n  mac-address: \"{}\"\n  infiniband: {{mode: datagram}}\n",
                i, address20(i));
          }),
      file("nmstate", "refused interfaces", "/etc/nmstate/a.yml", "interfaces:\n",
           [](int i) {
             return fmt::format(
                 "- name: ib{}\n  type: infiniband\n  mac-address: \"{}\"\n  mtu: 1\n  infiniband: {{mode: "
                 "datagram}}\n",
                 i, address20(i));
           }),
      file("nmstate", "routes", "/etc/nmstate/a.yml",
           "interfaces:\n- name: ib0\n  type: infiniband\n  mac-address: "
           "\"80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:00\"\n  infiniband: {mode: "
           "datagram}\nroutes:\n  config:\n",
           [](int i) {
             return fmt::format(
                 "  - destination: 11.{}.{}.0/24\n    next-hop-address: 10.0.0.2\n    next-hop-interface: "
                 "ib0\n",
                 i >> 8, i & 0xff);
           }),
  };
}

std::vector<ImportSample> ifupdown_imports() {
  return {
      file("ifupdown", "interfaces", "/etc/network/interfaces", "",
           [](int i) {
             return fmt::format(
                 "auto ib{0}\niface ib{0} inet static\n  address {1}/8\n  pre-up echo connected > "
                 "/sys/class/net/ib{0}/mode\n",
                 i, address(i));
           }),
      file("ifupdown", "refused lines", "/etc/network/interfaces",
           "auto ib0\niface ib0 inet static\n  address 10.0.0.1/8\n",
           [](int i) { return fmt::format("  post-up do-something {}\n", i); }),
      file("ifupdown", "routes", "/etc/network/interfaces",
           "auto ib0\niface ib0 inet static\n  address 10.0.0.1/8\n",
           [](int i) {
             return fmt::format("  up ip route add 11.{}.{}.0/24 via 10.0.0.2\n", i >> 8, i & 0xff);
           }),
      file("ifupdown", "stanzas of one", "/etc/network/interfaces", "",
           [](int i) { return fmt::format("iface ib0 inet static\n  address {}/8\n", address(i)); }),
  };
}

std::vector<ImportSample> boot_imports() {
  return {
      file("openib", "lines", "/etc/infiniband/openib.conf", "SET_IPOIB_CM=yes\n",
           [](int i) { return fmt::format("K{}_LOAD=yes\n", i); }),
      file("rdma-conf", "lines", "/etc/rdma/rdma.conf", "IPOIB_LOAD=yes\n",
           [](int i) { return fmt::format("K{}_LOAD=yes\n", i); }),
      file("mlx4-conf", "lines", "/etc/rdma/mlx4.conf", "",
           [](int i) { return fmt::format("{} ib eth\n", pci(i)); }),
      file("mlx4-conf", "refused lines", "/etc/rdma/mlx4.conf", "",
           [](int i) { return fmt::format("{} eth ib\n", pci(i)); }),
      file("modprobe", "options", "/etc/modprobe.d/a.conf", "",
           [](int i) { return fmt::format("options mlx5_core p{}=1\n", i); }),
      file("modprobe", "refused options", "/etc/modprobe.d/a.conf", "",
           [](int i) { return fmt::format("options mlx5_core p{}\n", i); }),
      file("modprobe", "one option", "/etc/modprobe.d/a.conf", "",
           [](int i) { return fmt::format("options mlx5_core p={}\n", i); }),
      file("modprobe", "modules", "/etc/modules-load.d/a.conf", "",
           [](int i) { return fmt::format("mlx5_{}\n", i); }),
      file("limits", "lines", "/etc/security/limits.conf", "",
           [](int i) { return fmt::format("u{} - memlock unlimited\n", i); }),
      file("limits", "refused lines", "/etc/security/limits.conf", "",
           [](int i) { return fmt::format("u{} soft memlock 1\nu{} hard memlock 2\n", i, i); }),
      file("limits", "domains that are not valid", "/etc/security/limits.conf", "",
           [](int i) { return fmt::format("%u:{} - memlock unlimited\n", i); }),
  };
}

std::vector<ImportSample> fabric_imports() {
  return {
      file("sysfs", "attributes", "/etc/sysfs.conf", "",
           [](int i) { return fmt::format("class/net/ib{}/mode = connected\n", i); }),
      {"sysfs", "merged profiles",
       [](int n) {
         const auto sections = [n](const char* name) {
           return lines(n, [name](int i) {
             return fmt::format("[s{0}]\ntype=sysctl\nnet.smc.{1}{0}={0}\n", i, name);
           });
         };
         return std::map<std::string, std::string>{{"/etc/tuned/active_profile", "a b\n"},
                                                   {"/etc/tuned/a/tuned.conf", sections("a")},
                                                   {"/etc/tuned/b/tuned.conf", sections("b")}};
       }},
      file("opensm", "partitions", "/etc/opensm/partitions.conf", "",
           [](int i) { return fmt::format("p{}={:#x},ipoib : ALL=full;\n", i, i + 1); }),
      file("opensm", "refused partitions", "/etc/opensm/partitions.conf", "",
           [](int i) { return fmt::format("p{}={:#x},ipoib : ALL=most;\n", i, i + 1); }),
      file("opensm", "one partition", "/etc/opensm/partitions.conf", "",
           [](int i) { return fmt::format("p=0x2,ipoib : {}=full;\n", guid_number(i)); }),
      file("opensm", "options", "/etc/opensm/opensm.conf", "",
           [](int i) { return fmt::format("k{} {}\n", i, i); }),
      file("srp", "rules", "/etc/srp_daemon.conf", "",
           [](int i) { return fmt::format("a ioc_guid={:x},queue_size=64\n", i + 1); }),
      file("srp", "refused rules", "/etc/srp_daemon.conf", "",
           [](int i) { return fmt::format("b ioc_guid={:x}\n", i + 1); }),
      file("nvme", "lines", "/etc/nvme/discovery.conf", "",
           [](int i) { return fmt::format("--transport=rdma --traddr={}\n", address(i)); }),
      {"lio", "targets",
       [](int n) {
         return one_file(
             "/etc/target/saveconfig.json",
             "{\"targets\": [" + lines(n, [](int i) {
               return fmt::format(
                   R"({{"fabric": "srpt", "tpgs": [{{"node_acls": [{{"node_wwn": "ib.{0:032x}"}}]}}], )"
                   R"("wwn": "ib.{0:032x}"}},)",
                   i + 1);
             }) + "]}\n");
       }},
      {"opensm", "ports",
       [](int n) {
         return one_file("/etc/default/opensm",
                         "PORTS=\"" + lines(n, [](int i) { return guid_number(i + 1) + " "; }) + "\"\n");
       }},
  };
}

std::vector<ImportSample> make_imports() {
  std::vector<ImportSample> out;
  for (const auto& group : {systemd_imports(), network_manager_imports(), sysconfig_imports(), yaml_imports(),
                            ifupdown_imports(), boot_imports(), fabric_imports()})
    out.insert(out.end(), group.begin(), group.end());
  return out;
}

}  // namespace

const std::vector<ImportSample>& imports() {
  static const auto kAll = make_imports();
  return kAll;
}

}  // namespace rdmacfg::bench
