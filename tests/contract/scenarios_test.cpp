// SPDX-License-Identifier: Apache-2.0
#include "contract/scenarios.hpp"

namespace rdmacfg::contract {

namespace {

/// Two adapters; everything that can get lost on the way is there.
constexpr const char* kBusyHost = R"({
  "devices": [
    { "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
      { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002", "0x8003"], "interface": {
          "name": "ib0", "up": true,
          "items": ["addr4 192.0.2.1/24", "addr6 2001:db8::1/64", "route 198.51.100.0/24 via 192.0.2.9",
                    "route 2001:db8:1::/48 via 2001:db8::9", "rule iif ib0 lookup 7", "neigh 192.0.2.9"],
          "children": [
            { "pkey": "0x8002", "name": "ib0.8002", "up": true,
              "items": ["addr4 192.0.3.1/24", "addr6 2001:db8:3::1/64", "route 203.0.113.0/24 via 192.0.3.9",
                        "rule oif ib0.8002 lookup 8", "neigh 192.0.3.9"] },
            { "pkey": "0x8003", "name": "quiet", "by": "sysfs", "items": ["addr4 192.0.4.1/24"] } ] } },
      { "guid": "00:02:c9:03:00:31:78:f3", "interface": { "name": "ib1", "altnames": ["second"] } } ] },
    { "name": "mlx4_1", "pci": "0000:11:00.0", "ports": [
      { "guid": "00:02:c9:03:00:31:79:02", "pkeys": ["0xffff", "0x8002"], "interface": {
          "name": "ib2", "up": true, "items": ["addr4 192.0.5.1/24", "addr6 2001:db8:5::1/64"] } } ] } ],
  "links": [{ "name": "eth0", "up": true, "items": ["addr4 203.0.113.1/24"] }],
  "files": { "/etc/udev/rules.d/60-other.rules": "# nothing of ours\n" }
})";

/// The P_Key interface has an alternative name.
constexpr const char* kAltname = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
      "interface": { "name": "ib0", "up": true, "children": [
        { "pkey": "0x8002", "name": "ib0.8002", "up": true, "altnames": ["fab0"], "items": ["addr4 192.0.3.1/24"] } ] } } ] }]
})";

constexpr const char* kManyChildren = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2",
      "pkeys": ["0xffff", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "interface": { "name": "ib0", "up": true, "children": [
        { "pkey": 1, "up": true, "items": ["addr4 192.0.2.1/24"] }, { "pkey": 2, "up": true },
        { "pkey": 3, "by": "sysfs", "mode": "connected", "up": true, "items": ["addr6 2001:db8:3::1/64"] },
        { "pkey": 4 }, { "pkey": 5, "up": true }, { "pkey": 6, "up": true }, { "pkey": 7 },
        { "pkey": 8, "items": ["addr4 192.0.8.1/24"] }, { "pkey": 9, "umcast": true }, { "pkey": 10 } ] } }] }]
})";

/// Made by somebody with `ip link add … mode connected`: without a mode file.
constexpr const char* kConnectedChild = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
      "interface": { "name": "ib0", "up": true, "children": [
        { "pkey": "0x8002", "mode": "connected", "up": true,
          "items": ["addr4 192.0.3.1/24", "addr6 2001:db8:3::1/64", "route 203.0.113.0/24 via 192.0.3.9"] } ] } }] }]
})";

/// Partitions with two interfaces each.
constexpr const char* kTwins = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002", "0x8003"],
      "interface": { "name": "ib0", "up": true, "children": [
        { "pkey": "0x8002", "name": "first", "up": true, "items": ["addr4 192.0.2.1/24"] },
        { "pkey": "0x8002", "name": "second", "up": true, "items": ["addr4 192.0.2.2/24"] },
        { "pkey": "0x8003", "name": "third" }, { "pkey": "0x8003", "name": "fourth", "by": "sysfs" } ] } } ] }]
})";

/// A driver that runs with other options than the document will want, and one that is not loaded.
constexpr const char* kModules = R"({
  "modules": {
    "mlx4_core": { "loaded": true, "parameters": { "num_vfs": "0" } },
    "mlx4_en": { "parameters": { "pfctx": "0", "pfcrx": "0", "udp_rss": "1" } },
    "rdma_ucm": {} },
  "files": { "/etc/modprobe.d/other.conf": "options mlx4_en udp_rss=1\n" }
})";
/// The same with an adapter and an initramfs, which has not been rebuilt since a rule was written.
constexpr const char* kDrivers = R"({
  "initramfs": { "tool": "update-initramfs -u" },
  "mlx4_ports": { "0000:20:00.0": ["ib", "ib"], "0000:21:00.0": ["auto", "ib"] },
  "modules": {
    "mlx4_core": { "loaded": true, "parameters": { "num_vfs": "0" } },
    "mlx4_en": { "parameters": { "pfctx": "0", "pfcrx": "0" } } },
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0" } } ] }]
})";
/// A RoCE interface that somebody has had his hands on.
constexpr const char* kEthernet = R"({
  "links": [{ "name": "eth0", "up": true, "items": ["addr4 203.0.113.1/24"] }],
  "dcb": { "eth0": { "pfc": 2, "dcbx": 2, "apps": ["26:0", "26:1", "10:2", "1/2114:3"] } }
})";
/// With what a driver that closes the device drops: routes, the default one too, and a VLAN on it.
std::string adapter(const std::string& driver, const std::string& more) {
  return R"({ "links": [
    { "name": "eth0", "up": true,
      "items": ["addr4 203.0.113.1/24", "addr6 2001:db8::1/64", "route default via 203.0.113.254",
                "route 2001:db8:1::/48 via 2001:db8::9"] },
    { "name": "vlan5", "kind": "vlan", "parent": "eth0", "up": true,
      "items": ["addr4 198.51.100.1/24", "route 192.0.2.0/24 via 198.51.100.9"] } ],
    "rules": ["iif eth0 lookup 7"], "dcb": { "eth0": { "driver": ")" +
         driver + "\"" + more + " } } }";
}
constexpr const char* kLosslessPort = "version = 1\n[[lossless]]\ninterface = \"eth0\"\n";
std::string bonded_pair(const std::string& driver) {
  const auto adapter = "{ \"driver\": \"" + driver + "\" }";
  return R"({
  "links": [{ "name": "bond0", "kind": "bond", "over": ["eth0", "eth1"], "up": true },
            { "name": "eth0", "up": true }, { "name": "eth1", "up": true }],
  "dcb": { "eth0": )" +
         adapter + ", \"eth1\": " + adapter + " } }";
}
constexpr const char* kClasses =
    "priorities = [3]\ntraffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\nbandwidth = [50, 50]\n";
constexpr const char* kEth0 = "[[pfc]]\ninterface = \"eth0\"\n";
constexpr const char* kModuleCore = "[[module]]\nname = \"mlx4_core\"\n";
constexpr const char* kModuleEn = "[[module]]\nname = \"mlx4_en\"\n";
constexpr const char* kServices = R"({ "units": {
  "rdma-ndd.service": {}, "iwpmd.service": { "enabled": true, "running": true } } })";

constexpr const char* kSettings = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true } } ] }],
  "groups": ["rdma"], "units": { "slurmd.service": { "enabled": true, "running": true } },
  "sysctl": { "net/ipv4/neigh/default/gc_thresh3": "1024" } })";

constexpr const char* kSubnetManager = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true } } ] }],
  "units": { "opensm.service": {}, "opensm@.service": { "installable": false } },
  "files": { "/etc/default/opensm": "PORTS=ALL\n",
             "/etc/opensm/partitions.conf": "Default=0x7fff, ipoib : ALL=full;\n" } })";

/// Debian's opensm.service starts one on every port at boot.
constexpr const char* kSubnetManagerOnAll = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true } } ] }],
  "units": { "opensm.service": { "enabled": true }, "opensm@.service": { "installable": false } },
  "files": { "/etc/default/opensm": "PORTS=ALL\n" } })";

constexpr const char* kSubnetManagerOfRhel = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true } },
    { "guid": "00:02:c9:03:00:31:78:f4" } ] }],
  "units": { "opensm.service": {} },
  "files": { "/etc/sysconfig/opensm": "#GUIDS=\"\"\n", "/etc/rdma/opensm.conf": "" } })";

constexpr const char* kMemlock =
    "version = 1\n[[memlock]]\ndomain = \"@rdma\"\nlimit = \"unlimited\"\nunits = [\"slurmd\"]\n";

constexpr const char* kSysctl =
    "version = 1\n[[sysctl]]\ninterface = \"ib0\"\narp_ignore = 1\nrp_filter = 2\n"
    "[[sysctl]]\nkey = \"net.ipv4.neigh.default.gc_thresh3\"\nvalue = 8192\n";
constexpr const char* kNfs = R"({
  "files": { "/usr/sbin/mount.nfs": "", "/etc/nfs.conf": "[nfsd]\nthreads=8\n",
             "/etc/systemd/system/other.mount": "[Mount]\nWhat=a:/b\nWhere=/other\n" },
  "units": { "remote-fs.target": {}, "nfs-server.service": { "enabled": true, "running": true } } })";
constexpr const char* kNvmeTargets = R"({
  "files": { "/etc/nvme/discovery.conf": "--transport=tcp --traddr=198.51.100.1\n" },
  "units": { "remote-fs.target": {}, "nvmf-autoconnect.service": { "oneshot": true } },
  "nvme_host": { "targets": { "192.0.2.1": ["nqn.x:a", "nqn.x:b"], "192.0.2.2": ["nqn.x:a"] },
                 "controllers": { "nvme0": { "address": "192.0.2.9", "subsystem": "nqn.x:a" } } } })";
constexpr const char* kNvmeHost = "version = 1\n[[nvme_connection]]\naddress = \"192.0.2.1\"\n";
constexpr const char* kNvmeHostOther =
    "version = 1\n[[nvme_connection]]\naddress = \"192.0.2.1\"\nctrl_loss_tmo = -1\n"
    "[[nvme_connection]]\naddress = \"192.0.2.2\"\n";
constexpr const char* kNvmeHostPorts =
    "version = 1\n[[nvme_connection]]\naddress = \"192.0.2.1\"\nport = [4420, 4421]\n";
constexpr const char* kIserTargets = R"({
  "files": { "/usr/sbin/iscsiadm": "" },
  "units": { "remote-fs.target": {} },
  "iscsi": { "targets": ["iqn.2026-01.org.example:a 192.0.2.1:3260,1", "iqn.2026-01.org.example:a 192.0.2.1:860,1",
                         "iqn.2026-01.org.example:b [2001:db8::1]:3260,1"],
             "sessions": { "session1": { "target": "iqn.2026-01.org.example:c", "address": "192.0.2.1",
                                         "transport": "tcp", "interface": "default" } } } })";
constexpr const char* kIserOne =
    "version = 1\n[[iser_session]]\ntarget = \"iqn.2026-01.org.example:a\"\naddress = \"192.0.2.1\"\n";
constexpr const char* kIserOther =
    "version = 1\n[[iser_session]]\ntarget = \"iqn.2026-01.org.example:a\"\naddress = \"192.0.2.1\"\n"
    "port = 860\n[[iser_session]]\ntarget = \"iqn.2026-01.org.example:b\"\naddress = \"2001:db8::1\"\n";
constexpr const char* kSrp = R"({
  "files": { "/etc/srp_daemon.conf": "# d\n" },
  "units": { "srp_daemon.service": { "enabled": true, "running": true }, "srp_daemon_port@.service": {},
             "srp_daemon_port@mlx4_0:1.service": { "running": true } } })";
constexpr const char* kSrpStopped =
    R"({ "units": { "srp_daemon.service": {}, "srp_daemon_port@.service": {} } })";
constexpr const char* kSrpOne =
    "version = 1\n[srp_initiator]\nothers = false\n[[srp_rule]]\nname = \"a\"\nioc_guid = \"66\"\n";
constexpr const char* kSrpOther =
    "version = 1\n[srp_initiator]\nothers = true\n[[srp_rule]]\nname = \"a\"\ndgid = \"fe80::2\"\n"
    "allow = false\n[[srp_rule]]\nname = \"b\"\npkey = 32769\nioc_guid = \"67\"\nqueue_size = 128\n";
constexpr const char* kNfsPort = "version = 1\n[nfs_server]\nrdma_port = 20049\n";
constexpr const char* kNfsOtherPort = "version = 1\n[nfs_server]\nrdma_port = 20050\n";
std::string nfs_mounts(const std::string& server, const std::string& more = "") {
  return "version = 1\n[[nfs_mount]]\npath = \"/data\"\nserver = \"" + server + "\"\nexport = \"/export\"\n" +
         more + "[[nfs_mount]]\npath = \"/data/a-b\"\nserver = \"192.0.2.9\"\nexport = \"/x\"\n";
}

/// Subsystems of others, one of them on the port that the document needs.
constexpr const char* kNvme = R"({ "nvme_target": {
  "subsystems": { "nqn.2014-08.org.example:theirs": { "hosts": ["nqn.2014-08.org.example:host1"],
                                                       "namespaces": { "1": "/dev/sdb" } },
                  "nqn.2014-08.org.example:two": { "any_host": true, "namespaces": { "1": "/dev/sdc", "2": "/dev/sdd" } } },
  "ports": { "1": { "address": "192.0.2.1", "subsystems": ["nqn.2014-08.org.example:theirs", "nqn.2014-08.org.example:two"] },
             "2": { "transport": "tcp", "address": "192.0.2.1", "subsystems": ["nqn.2014-08.org.example:theirs"] } } } })";
std::string nvme_subsystem(const std::string& name, const std::string& more, const std::string& device) {
  return "[[nvme_target]]\nnqn = \"nqn.2014-08.org.example:" + name + "\"\n" + more +
         "[[nvme_target.namespace]]\nnsid = 1\ndevice = \"" + device + "\"\n";
}
const std::string kNvmeOne =
    "version = 1\n" + nvme_subsystem("one",
                                     "hosts = [\"nqn.2014-08.org.example:host1\"]\n"
                                     "addresses = [\"192.0.2.1\", \"2001:db8::1\"]\n",
                                     "/dev/sde");
const std::string kNvmeOther =
    "version = 1\n" + nvme_subsystem("one", "any_host = true\naddresses = [\"192.0.2.2\"]\n", "/dev/sdf");
const std::string kNvmeTheirs =
    "version = 1\n" + nvme_subsystem("two",
                                     "hosts = [\"nqn.2014-08.org.example:host2\"]\n"
                                     "addresses = [\"192.0.2.3\"]\n",
                                     "/dev/sde");

/// Targets of others, with a backstore that the document needs, too.
constexpr const char* kLio = R"({
  "devices": [{ "name": "mlx4_0", "node_guid": "0002:c903:0031:78f1", "ports": [{ "guid": "0002:c903:0031:78f2" }] }],
  "files": { "/etc/machine-id": "0123456789abcdef0123456789abcdef\n" },
  "lio": {
    "backstores": { "iblock_0/theirs": "/dev/sdb", "ramdisk_1/rd": "" },
    "targets": {
      "iqn.2026-01.org.example:theirs": { "luns": { "0": "iblock_0/theirs" }, "portals": { "192.0.2.1:3260": false },
        "acls": { "iqn.2026-01.org.example:h": { "luns": [0] } } },
      "iqn.2026-01.org.example:two": { "any_initiator": true, "luns": { "3": "ramdisk_1/rd", "4": "iblock_0/theirs" },
        "acls": { "iqn.2026-01.org.example:h": { "luns": [3] } }, "portals": { "192.0.2.9:3260": true } },
      "iqn.2026-01.org.example:off": { "enabled": false, "any_initiator": true, "luns": { "0": "ramdisk_1/rd" },
        "portals": { "192.0.2.8:3260": false } } } } })";
std::string lio_target(const std::string& wwn, const std::string& more, const std::string& disk) {
  return "[[lio_target]]\nwwn = \"" + wwn + "\"\n" + more + "[[lio_target.lun]]\nnumber = 0\n" + disk + "\n";
}
const std::string kLioOne = "version = 1\n" + lio_target("iqn.2026-01.org.example:one",
                                                         "initiators = [\"iqn.2026-01.org.example:h\"]\n"
                                                         "addresses = [\"192.0.2.1\", \"2001:db8::1\"]\n",
                                                         "device = \"/dev/sde\"");
const std::string kLioOther =
    "version = 1\n" + lio_target("iqn.2026-01.org.example:one",
                                 "any_initiator = true\naddresses = [\"192.0.2.2\"]\n", "file = \"/srv/x\"");
const std::string kLioTheirs =
    "version = 1\n" +
    lio_target("iqn.2026-01.org.example:two",
               "initiators = [\"iqn.2026-01.org.example:i\"]\naddresses = [\"192.0.2.3\"]\n",
               "device = \"/dev/sdb\"");
const std::string kLioOff =
    "version = 1\n" +
    lio_target("iqn.2026-01.org.example:off",
               "initiators = [\"iqn.2026-01.org.example:i\"]\naddresses = [\"192.0.2.8\"]\n",
               "device = \"/dev/sdb\"");
const std::string kLioSrp =
    kLioOne +
    lio_target("0002:c903:0031:78f2", "initiators = [\"0002:c903:0031:78f9\"]\n", "device = \"/dev/sde\"");

/// RoCE, and interfaces for software devices.
constexpr const char* kEthernetHost = R"({
  "devices": [
    { "name": "rocep16s0", "driver": "mlx5_core", "pci": "0000:10:00.0", "node_guid": "0002:c903:0031:78f1", "ports": [
      { "guid": "0002:c903:0031:78f2", "link_layer": "Ethernet", "netdev": "ens1f0np0" }] },
    { "name": "rocep17s0", "driver": "mlx5_core", "pci": "0000:11:00.0", "node_guid": "0002:c903:0031:7901", "ports": [
      { "guid": "0002:c903:0031:7902", "link_layer": "Ethernet", "netdev": "ens2f0np0" }] }],
  "links": [{ "name": "ens1f0np0", "up": true }, { "name": "ens2f0np0" }, { "name": "eth0", "up": true }, { "name": "eth1" }],
  "rdma_cm": true
})";

constexpr const char* kD1 = "version = 1\n[[rdma_device]]\npci = \"0000:10:00.0\"\n";
constexpr const char* kD2 = "[[rdma_device]]\nnode_guid = \"0002:c903:0031:7901\"\n";
constexpr const char* kS0 = "version = 1\n[[soft_rdma]]\ninterface = \"eth0\"\ntype = \"rxe\"\n";
constexpr const char* kS1 = "[[soft_rdma]]\ninterface = \"eth1\"\ntype = \"rxe\"\n";

constexpr const char* kR1 = "version = 1\n[[roce]]\ndevice = \"rocep16s0\"\nport = 1\n";
constexpr const char* kR2 = "[[roce]]\ninterface = \"ens2f0np0\"\n";

/// Addresses of ours next to those of others.
constexpr const char* kAddressed = R"({
  "resolved": true,
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"], "interface": { "name": "ib0", "up": true,
        "items": ["addr4 192.0.2.7/24", "addr6 2001:db8:9::1/64", "route 198.51.100.0/24 via 192.0.2.9"] } },
    { "guid": "00:02:c9:03:00:31:78:f3", "interface": { "name": "ib1" } } ] }],
  "links": [{ "name": "eth0", "up": true, "items": ["addr4 203.0.113.1/24"] }]
})";
constexpr const char* kDirect =
    "backend = \"direct\"\nipv4 = { addresses = [\"192.0.2.1/24\", \"192.0.2.2/24\"], gateway = "
    "\"192.0.2.254\", "
    "dns = [\"192.0.2.53\"] }\nipv6 = { addresses = [\"2001:db8::1/64\"], routes = [{ to = "
    "\"2001:db8:1::/48\", via "
    "= \"2001:db8::9\" }] }\n";

/// An interface whose only IPv4 address is ours, and over which others have routes.
constexpr const char* kRouted = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true, "items": [
        "addr6 2001:db8:9::1/64", "route 10.7.0.0/16 table 7", "route 10.8.0.0/16 via 192.0.2.9 table 7"] } },
    { "guid": "00:02:c9:03:00:31:78:f3", "interface": { "name": "ib1", "up": true } } ] }]
})";

constexpr const char* kManaged = R"({
  "network_manager": { "fails": [] },
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
      "interface": { "name": "ib0", "up": true } } ] }]
})";
/// NetworkManager reads files of its configuration: it can be told at once what it is not to manage.
constexpr const char* kToldManager = R"({
  "network_manager": { "fails": [] },
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
      "interface": { "name": "ib0", "up": true } } ] }],
  "files": { "/etc/NetworkManager/conf.d/calico.conf": "[keyfile]\nunmanaged-devices=interface-name:cali*\n" }
})";
/// The same with an interface that somebody else configures.
constexpr const char* kToldManagerBeside = R"({
  "network_manager": { "fails": [] },
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true, "items": [
        "addr4 192.0.2.7/24", "addr6 2001:db8:9::1/64", "route 10.7.0.0/16 table 7"] } } ] }],
  "files": { "/etc/NetworkManager/conf.d/calico.conf": "[keyfile]\nunmanaged-devices=interface-name:cali*\n" }
})";
/// NetworkManager has a P_Key interface for somebody else's profile, under a name without the membership bit.
constexpr const char* kManagedByNumber = R"({
  "network_manager": { "fails": [] },
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x800a"],
      "interface": { "name": "ib0", "up": true } } ] }],
  "files": { "/etc/NetworkManager/system-connections/part.nmconnection": "[connection]\nid=part\nuuid=0d3a9e5e-1111-4222-8333-444455556666\ntype=infiniband\n\n[infiniband]\np-key=10\nparent=ib0\n\n[ipv4]\nmethod=manual\naddress1=192.0.3.1/24\n" }
})";
/// The same for an ifcfg file that says no UUID.
constexpr const char* kManagedByIfcfg = R"({
  "network_manager": { "fails": [] },
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x800a"],
      "interface": { "name": "ib0", "up": true } } ] }],
  "files": { "/etc/sysconfig/network-scripts/ifcfg-part": "TYPE=InfiniBand\nDEVICE=ib0.800a\nPKEY=yes\nPKEY_ID=10\nPHYSDEV=ib0\nIPADDR=192.0.3.1\nPREFIX=24\n" }
})";
/// The same hosts with systemd-networkd; addresses of others are there.
constexpr const char* kNetworked = R"({
  "networkd": { "fails": [] },
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"], "interface": { "name": "ib0", "up": true,
        "items": ["addr4 192.0.2.7/24", "addr6 2001:db8:9::1/64", "route 198.51.100.0/24 via 192.0.2.9"] } } ] }]
})";
constexpr const char* kNetwork =
    "backend = \"networkd\"\nipv4 = { addresses = [\"192.0.2.1/24\"], gateway = \"192.0.2.254\", dns = "
    "[\"192.0.2.53\"] }\n";
constexpr const char* kSameDirect =
    "backend = \"direct\"\nipv4 = { addresses = [\"192.0.2.1/24\"], gateway = \"192.0.2.254\" }\n";
constexpr const char* kChildAddress = "ipv4 = { addresses = [\"192.0.3.1/24\"] }\n";
constexpr const char* kProfile =
    "backend = \"networkmanager\"\nipv4 = { addresses = [\"192.0.2.1/24\"], gateway = \"192.0.2.254\" }\n";

/// Our udev rules, with lines of others in them.
constexpr const char* kEdited = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "interface": { "name": "ib0", "up": true, "items": ["addr4 192.0.2.1/24"] } } ] }],
  "files": {
    "/etc/udev/rules.d/59-rdma-configd-rdma-device.rules": "# of others\nACTION==\"add\", SUBSYSTEM==\"infiniband\", DEVPATH==\"*/0000:10:00.0/infiniband/*\", PROGRAM=\"rdma_rename %k NAME_FIXED mlx4_0\"",
    "/etc/udev/rules.d/70-rdma-configd-ipoib.rules": "ACTION==\"add\", SUBSYSTEM==\"net\", ATTR{address}==\"?*00:02:c9:03:00:31:78:f2\", NAME=\"other\"\nACTION==\"add\", ATTR{address}==\"?*78:f3\", NAME=\"evil0\"\n",
    "/etc/udev/rules.d/71-rdma-configd-backend.rules": "# of others\n" }
})";

constexpr const char* kA = "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n";
constexpr const char* kB = "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f3\"\n";
constexpr const char* kC = "[[ipoib]]\nguid = \"00:02:c9:03:00:31:79:02\"\n";

std::string text(std::initializer_list<const char*> parts) {
  std::string out;
  for (const auto* part : parts) out += part;
  return out;
}

std::string child(const char* pkey, const char* more = "") {
  return std::string("[[ipoib.pkey]]\npkey = ") + pkey + "\n" + more;
}

std::vector<Scenario> interface_scenarios() {
  return {
      {.name = "rename", .host = kBusyHost, .documents = {text({kA, "name = \"mlx4_ib0\"\n"})}},
      {.name = "rule_only",
       .host = kBusyHost,
       .documents = {text({kA, "name = \"same\"\n"}), text({kC, "name = \"x\"\nmtu = 2044\n"})}},
      {.name = "swap",
       .host = kBusyHost,
       .documents = {text({kA, "name = \"compute\"\n", kC, "name = \"storage\"\n"}),
                     text({kA, "name = \"storage\"\n", kC, "name = \"compute\"\n"})}},
      {.name = "names_in_the_way",
       .host = kAltname,
       .documents = {text({kA, "[[ipoib]]\nguid = \"00:02:c9:03:00:31:99:01\"\nname = \"fab0\"\n"}),
                     text({kA, "name = \"fab0\"\n[[ipoib.pkey]]\npkey = 0x8002\nstate = \"absent\"\n",
                           "[[ipoib]]\nmatch = { device = \"mlx4_7\" }\n"})},
       .exit = model::Exit::kPartly},
      {.name = "cycle_and_altname",
       .host = kBusyHost,
       .documents = {text({kA, "name = \"a\"\n", kB, "name = \"b\"\n", kC, "name = \"c\"\n"}),
                     text({kA, "name = \"b\"\n", kB, "name = \"second\"\n", kC, "name = \"a\"\n"})}},
      {.name = "name_dropped",
       .host = kBusyHost,
       .documents = {text({kA, "name = \"mlx4_ib0\"\n"}), text({kA})}},
      {.name = "port_absent",
       .host = kBusyHost,
       .documents = {text({kA, "name = \"mlx4_ib0\"\n",
                           "[[ipoib]]\nguid = \"00:02:c9:03:00:31:80:00\"\nname = \"late\"\n"})},
       .exit = model::Exit::kPartly},
      {.name = "connected",
       .host = kBusyHost,
       .documents = {text({kA, "mode = \"connected\"\nmtu = 65520\numcast = true\n", kB, "mtu = 2044\n", kC,
                           "mode = \"connected\"\nmtu = 9000\n"})}},
      {.name = "down",
       .host = kBusyHost,
       .documents = {text({kA, "state = \"down\"\n", kC, "state = \"down\"\nmtu = 1500\n"})}},
      {.name = "up",
       .host = kBusyHost,
       .documents = {text({kA, "state = \"down\"\n"}), text({kA, "mtu = 2044\n"})}},
      {.name = "below_ipv6", .host = kBusyHost, .documents = {text({kC, "mtu = 1000\n"})}},
      {.name = "released",
       .host = kBusyHost,
       .documents = {text({kA, "mode = \"connected\"\nmtu = 65520\numcast = true\n"}), "version = 1\n"}},
  };
}

std::vector<Scenario> child_scenarios() {
  return {
      {.name = "children",
       .host = kBusyHost,
       .documents = {text({kC}) + child("0x8002", "mtu = 2044\n") +
                     child("0x8004", "name = \"own\"\nmode = \"connected\"\n")},
       .created = {"ib2.8002", "own"},
       .exit = model::Exit::kPartly},
      {.name = "everything",
       .host = kBusyHost,
       .documents = {text({kA, "name = \"mlx4_ib0\"\nmode = \"connected\"\nmtu = 65520\n"}) +
                     child("0x8002", "mtu = 2044\n") +
                     child("0x8003", "mode = \"connected\"\nmtu = 65520\n") + kC + "name = \"mlx4_ib1\"\n" +
                     child("0x8002", "mode = \"connected\"\n")},
       .created = {"mlx4_ib1.8002"}},
      {.name = "child_made_anew",
       .host = kBusyHost,
       .documents = {text({kA}) + child("0x8002", "mode = \"connected\"\nmtu = 65520\n")}},
      {.name = "child_made_connected_without_mtu",
       .host = kBusyHost,
       .documents = {text({kA}) + child("0x8002", "mode = \"connected\"\n")}},
      {.name = "connected_child_made_datagram_without_mtu",
       .host = kConnectedChild,
       .documents = {text({kA}) + child("0x8002", "mode = \"datagram\"\n")}},
      {.name = "child_made_anew_under_another_name",
       .host = kBusyHost,
       .documents = {text({kA}) + child("0x8002", "name = \"fast\"\nmode = \"connected\"\nmtu = 9000\n")}},
      {.name = "child_names_swapped",
       .host = kBusyHost,
       .documents = {text({kA}) + child("0x8002", "name = \"quiet\"\n") +
                     child("0x8003", "name = \"ib0.8002\"\nstate = \"down\"\n")}},
      {.name = "child_down",
       .host = kBusyHost,
       .documents = {text({kA}) + child("0x8002", "state = \"down\"\n")}},
      {.name = "child_absent",
       .host = kBusyHost,
       .documents = {text({kA}) + child("0x8002", "state = \"absent\"\n")}},
      {.name = "down_child_absent",
       .host = kBusyHost,
       .documents = {text({kA}) + child("0x8003", "state = \"absent\"\n")}},
      {.name = "child_dropped",
       .host = kBusyHost,
       .documents = {text({kC}) + child("0x8002", "mode = \"connected\"\n"), text({kC})}},
      {.name = "child_settings_dropped",
       .host = kBusyHost,
       .documents = {text({kC}) + child("0x8002", "mode = \"connected\"\nmtu = 60000\numcast = true\n"),
                     text({kC}) + child("0x8002")}},
  };
}

std::vector<Scenario> sibling_scenarios() {
  return {
      {.name = "child_of_a_long_name_made_connected",
       .host = kBusyHost,
       .documents = {"version = 1\n" + text({kB, "name = \"partition_ib0\"\n"}) +
                         child("0x8002", "name = \"old\"\n"),
                     "version = 1\n" + text({kB, "name = \"partition_ib0\"\n"}) +
                         child("0x8002", "name = \"fast\"\nmode = \"connected\"\nmtu = 9000\n") +
                         child("0x8003", "name = \"slow\"\nmode = \"connected\"\n") + kC +
                         child("0x8002", "name = \"a\"\nmode = \"connected\"\n") +
                         child("0x8003", "name = \"b\"\nmode = \"connected\"\n")},
       .created = {"slow", "a", "b"},
       .exit = model::Exit::kPartly},
      {.name = "two_of_one_partition",
       .host = kTwins,
       .documents = {text({kA, "prune = true\n"}) +
                     child("0x8002", "name = \"first\"\nmode = \"connected\"\nmtu = 9000\n") +
                     child("0x8003", "state = \"absent\"\n")}},
      {.name = "pruned", .host = kBusyHost, .documents = {text({kA, "prune = true\n"}) + child("0x8002")}},
      {.name = "many_pruned",
       .host = kManyChildren,
       .documents = {text({kA, "prune = true\n"}) + child("1")}},
      {.name = "many_dropped",
       .host = kManyChildren,
       .documents = {text({kA}) + child("1", "mtu = 2044\n") + child("4", "mode = \"connected\"\n"),
                     text({kA}) + child("5", "mtu = 2044\n")}},
  };
}

std::vector<Scenario> adapter_scenarios() {
  return {
      {.name = "modules",
       .host = kModules,
       .documents = {text({"version = 1\n", kModuleCore, "options = [\"num_vfs=4\"]\n", kModuleEn,
                           "options = [\"udp_rss=0\"]\n", "[[module]]\nname = \"rdma_ucm\"\n"})},
       .exit = model::Exit::kPartly},
      {.name = "pfc_of_a_driver",
       .host = kDrivers,
       .documents = {text(
           {kA, "name = \"first\"\n", kModuleEn, "[[pfc]]\ndriver = \"mlx4_en\"\npriorities = [3]\n"})}},
      {.name = "pfc_of_a_running_driver_changed",
       .host = kDrivers,
       .documents = {text({kA, kModuleCore, "options = [\"num_vfs=4\"]\n",
                           "[[pfc]]\ndriver = \"mlx4_en\"\npriorities = [3]\n"}),
                     text({kA, "name = \"first\"\n", kModuleCore, "options = [\"num_vfs=8\"]\n"})},
       .exit = model::Exit::kPartly},
      {.name = "pfc_priorities_changed",
       .host = kDrivers,
       .documents = {text({"version = 1\n[[pfc]]\ndriver = \"mlx4_en\"\npriorities = [3]\n"}),
                     text({"version = 1\n[[pfc]]\ndriver = \"mlx4_en\"\npriorities = [3, 4]\n"})}},
      {.name = "port_types_of_an_old_board",
       .host = R"({ "mlx4_ports": { "0000:20:00.0": ["ib", "ib"] }, "mlx4_without_dpdp": ["0000:20:00.0"] })",
       .documents = {"version = 1\n[[mlx4_port]]\npci = \"0000:20:00.0\"\nports = [\"eth\", \"eth\"]\n",
                     "version = 1\n[[mlx4_port]]\npci = \"0000:20:00.0\"\nports = [\"ib\", \"ib\"]\n"}},
      {.name = "port_types",
       .host = kDrivers,
       .documents =
           {text({"version = 1\n[[mlx4_port]]\npci = \"0000:20:00.0\"\nports = [\"eth\", \"eth\"]\n"}),
            text({"version = 1\n[[mlx4_port]]\npci = \"20:00.0\"\nports = [\"ib\", \"eth\"]\n"
                  "[[mlx4_port]]\npci = \"21:00.0\"\nports = [\"eth\", \"eth\"]\n"})}},
      {.name = "pfc_dropped",
       .host = kDrivers,
       .documents = {text({kA, "name = \"first\"\n", "[[pfc]]\ndriver = \"mlx4_en\"\npriorities = [3]\n"}),
                     text({kA, "name = \"first\"\n"})}},
  };
}

std::vector<Scenario> dcb_scenarios() {
  return {
      {.name = "dcb",
       .host = kEthernet,
       .documents = {text(
           {"version = 1\n", kEth0,
            "priorities = [3]\ntraffic_classes = [0, 0, 0, 1, 0, 0, 2, 0]\n"
            "bandwidth = [40, 60]\nstrict = [2]\ndscp = [\"26:3\", \"48:6\"]\ndcbx = \"host\"\n"})}},
      {.name = "dcb_released",
       .host = kEthernet,
       .documents = {text({"version = 1\n", kEth0,
                           "priorities = [3]\nbandwidth = [40, 60]\ndscp = [\"26:3\"]\ndcbx = \"host\"\n"}),
                     text({"version = 1\n", kEth0, "dscp = []\ndcbx = \"host\"\n"})}},
      {.name = "dcb_trust",
       .host = adapter("", ", \"trust\": [\"pcp\"]"),
       .documents = {text({"version = 1\n", kEth0,
                           "priorities = [3]\ndscp = [\"26:3\"]\n"
                           "trust = [\"dscp\", \"pcp\"]\n"})}},
      {.name = "dcb_trust_dropped",
       .host = adapter("", ", \"trust\": [\"pcp\"]"),
       .documents = {text({"version = 1\n", kEth0, "dscp = [\"26:3\"]\ntrust = []\n"}), "version = 1\n"}},
      {.name = "dcb_mlx5",
       .host = adapter("mlx5_core", ""),
       .documents = {text({"version = 1\n", kEth0, kClasses})}},
      {.name = "dcb_mlx5_bond",
       .host = bonded_pair("mlx5_core"),
       .documents = {text({"version = 1\n", kEth0, kClasses, "[[pfc]]\ninterface = \"eth1\"\n", kClasses})}},
      {.name = "dcb_ice", .host = adapter("ice", ""), .documents = {kLosslessPort}},
      {.name = "dcb_ice_remapped",
       .host = adapter("ice", ""),
       .documents = {kLosslessPort,
                     text({"version = 1\n", kEth0, "priorities = [4]\ndscp = [\"26:4\", \"48:6\"]\n"})}},
      {.name = "dcb_ice_dropped", .host = adapter("ice", ""), .documents = {kLosslessPort, "version = 1\n"}},
      {.name = "dcb_bnxt",
       .host = adapter("bnxt_en", ", \"classes\": 3, \"pfc_capability\": 2"),
       .documents = {kLosslessPort}},
      {.name = "dcb_hns3_bond",
       .host = bonded_pair("hns3"),
       .documents = {text({"version = 1\n", kEth0, kClasses, "[[pfc]]\ninterface = \"eth1\"\n", kClasses})}},
      {.name = "dcb_mlx4", .host = adapter("mlx4_core", ""), .documents = {kLosslessPort}},
      {.name = "dcb_mlx4_without_ets",
       .host = adapter("mlx4_core", ", \"without_ets\": true"),
       .documents = {kLosslessPort}},
      {.name = "dcb_i40e", .host = adapter("i40e", ""), .documents = {kLosslessPort, "version = 1\n"}},
      {.name = "dcb_ice_four_classes",
       .host = adapter("ice", ", \"classes\": 4"),
       .documents = {text({"version = 1\n", kEth0, "dscp = [\"26:3\"]\n"}), kLosslessPort}},
      {.name = "dcb_hns3", .host = adapter("hns3", ", \"classes\": 4"), .documents = {kLosslessPort}},
  };
}

std::vector<Scenario> host_scenarios() {
  return {
      {.name = "modules_changed",
       .host = kModules,
       .documents = {text({"version = 1\n", kModuleCore, kModuleEn, "options = [\"udp_rss=0\"]\n"}),
                     text({"version = 1\n", kModuleEn,
                           "load = false\noptions = [\"udp_rss=0\", \"pfctx=0\"]\n"})}},
      {.name = "services",
       .host = kServices,
       .documents = {"version = 1\n[[service]]\nname = \"rdma-ndd\"\nenabled = true\nrunning = true\n"
                     "[[service]]\nname = \"iwpmd\"\nenabled = false\nrunning = false\n"}},
      {.name = "service_dropped",
       .host = kServices,
       .documents = {"version = 1\n[[service]]\nname = \"rdma-ndd\"\nenabled = true\nrunning = true\n",
                     "version = 1\n"}},
      {.name = "memlock", .host = kSettings, .documents = {kMemlock}, .exit = model::Exit::kPartly},
      {.name = "memlock_restart", .host = kSettings, .documents = {text({kMemlock, "restart = true\n"})}},
      {.name = "memlock_changed",
       .host = kSettings,
       .documents = {text({kMemlock, "restart = true\n"}),
                     "version = 1\n[[memlock]]\ndomain = \"@rdma\"\nlimit = 1024\nunits = [\"slurmd\"]\n"
                     "restart = true\n"}},
      {.name = "memlock_dropped", .host = kSettings, .documents = {kMemlock, "version = 1\n"}},
      {.name = "memlock_group",
       .host = kServices,
       .documents = {"version = 1\n[[memlock]]\ndomain = \"@rdma\"\nlimit = 1\n"}},
      {.name = "module_over_rdma",
       .host = R"({ "modules": { "ib_srp": {} },
           "files": { "/lib/systemd/system/rdma-load-modules@.service": "" } })",
       .documents = {"version = 1\n[[module]]\nname = \"ib_srp\"\n", "version = 1\n"}},
      {.name = "sysctl", .host = kSettings, .documents = {kSysctl}},
      {.name = "sysctl_dropped", .host = kSettings, .documents = {kSysctl, "version = 1\n"}},
      {.name = "sysctl_renamed",
       .host = kSettings,
       .documents = {"version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nname = \"fab1\"\n"
                     "[[sysctl]]\ninterface = \"fab1\"\narp_ignore = 1\n",
                     "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nname = \"fab0\"\n"
                     "[[sysctl]]\ninterface = \"fab0\"\narp_ignore = 1\nrp_filter = 2\n",
                     "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nname = \"fab2\"\n"}},
      {.name = "rdma_system",
       .host = kServices,
       .documents = {"version = 1\n[rdma_system]\nnetns = \"exclusive\"\n"}},
      {.name = "rdma_system_in_the_initramfs",
       .host = kDrivers,
       .documents = {"version = 1\n[rdma_system]\nnetns = \"exclusive\"\n",
                     "version = 1\n[rdma_system]\nnetns = \"shared\"\n"}},
  };
}

std::vector<Scenario> opensm_scenarios() {
  return {
      {.name = "opensm_started",
       .host = kSubnetManager,
       .documents = {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = "
                     "3\nbeside_other = true\n"}},
      {.name = "opensm",
       .host = kSubnetManager,
       .documents =
           {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 3\n"
            "[[partition]]\npkey = 2\n",
            "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 4\n"
            "[[partition]]\npkey = 2\nmtu = 4096\n[[partition.group]]\nmgid = \"ff12:401b::707\"\n"}},
      {.name = "opensm_dropped",
       .host = kSubnetManager,
       .documents = {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 3\n"
                     "[[partition]]\npkey = 2\n",
                     "version = 1\n"}},
      {.name = "opensm_on_all",
       .host = kSubnetManagerOnAll,
       .documents = {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 3\n",
                     "version = 1\n"}},
      {.name = "opensm_option",
       .host = kSubnetManager,
       .documents = {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"
                     "[[opensm_option]]\nkey = \"max_wire_smps\"\nvalue = 8\n",
                     "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"
                     "[[opensm_option]]\nkey = \"max_wire_smps\"\nvalue = 16\n"
                     "[[opensm_option]]\nkey = \"routing_engine\"\nvalue = \"updn\"\n",
                     "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"}},
      {.name = "opensm_file",
       .host = kSubnetManager,
       .documents =
           {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"
            "[[opensm_file]]\noption = \"root_guid_file\"\nguids = [\"0x200000\"]\n",
            "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"
            "[[opensm_file]]\noption = \"root_guid_file\"\nguids = [\"0x200001\"]\n"
            "[[opensm_file]]\noption = \"node_name_map_name\"\nlines = [\"0x200001 \\\"leaf\\\"\"]\n",
            "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"}},
      {.name = "opensm_file_changed",
       .host = kSubnetManager,
       .documents =
           {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"
            "[[opensm_file]]\noption = \"root_guid_file\"\nguids = [\"0x200000\"]\n",
            "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"
            "[[opensm_file]]\noption = \"root_guid_file\"\nguids = [\"0x200001\"]\n"
            "[[opensm_file]]\noption = \"node_name_map_name\"\nlines = [\"0x200001 \\\"leaf\\\"\"]\n"}},
  };
}

std::vector<Scenario> own_opensm_conf_scenarios() {
  return {
      {.name = "opensm_own_conf",
       .host = kSubnetManager,
       .documents =
           {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 3\nbeside_other = true\n"
            "[[opensm.option]]\nkey = \"sweep_interval\"\nvalue = 5\n"
            "[[opensm.file]]\noption = \"root_guid_file\"\nguids = [\"0x200000\"]\n",
            "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 3\nbeside_other = true\n"
            "[[opensm.option]]\nkey = \"sweep_interval\"\nvalue = 7\n"
            "[[opensm.option]]\nkey = \"routing_engine\"\nvalue = \"updn\"\n"
            "[[opensm.file]]\noption = \"root_guid_file\"\nguids = [\"0x200001\"]\n"
            "[[opensm_option]]\nkey = \"max_wire_smps\"\nvalue = 8\n",
            "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 3\nbeside_other = "
            "true\n"}},
      {.name = "opensm_own_conf_started",
       .host = kSubnetManager,
       .documents = {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbeside_other = true\n"
                     "[[opensm.option]]\nkey = \"sweep_interval\"\nvalue = 5\n"}},
      {.name = "opensm_own_conf_dropped",
       .host = kSubnetManager,
       .documents =
           {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbeside_other = true\n"
            "[[opensm.option]]\nkey = \"sweep_interval\"\nvalue = 5\n"
            "[[opensm.file]]\noption = \"node_name_map_name\"\nlines = [\"0x200001 \\\"leaf\\\"\"]\n",
            "version = 1\n"}},
      {.name = "opensm_option_of_rhel",
       .host = kSubnetManagerOfRhel,
       .documents = {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n",
                     "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n"
                     "[[opensm_option]]\nkey = \"max_wire_smps\"\nvalue = 8\n"}},
      {.name = "opensm_own_conf_of_rhel",
       .host = kSubnetManagerOfRhel,
       .documents =
           {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 3\nbeside_other = true\n"
            "[[opensm.option]]\nkey = \"sweep_interval\"\nvalue = 5\n"
            "[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f4\"\npriority = 3\nbeside_other = true\n"
            "[[opensm.option]]\nkey = \"subnet_prefix\"\nvalue = \"0xfe80000000000001\"\n",
            "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 3\nbeside_other = true\n"
            "[[opensm.option]]\nkey = \"sweep_interval\"\nvalue = 7\n",
            "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 3\nbeside_other = "
            "true\n"}},
      {.name = "opensm_own_conf_of_rhel_dropped",
       .host = kSubnetManagerOfRhel,
       .documents = {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbeside_other = true\n"
                     "[[opensm.option]]\nkey = \"sweep_interval\"\nvalue = 5\n",
                     "version = 1\n"}},
      {.name = "opensm_of_rhel",
       .host = kSubnetManagerOfRhel,
       .documents = {"version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 3\n"
                     "[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f4\"\n[[partition]]\npkey = 2\n",
                     "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f4\"\npriority = 4\n",
                     "version = 1\n"}},
  };
}

std::vector<Scenario> device_scenarios() {
  return {
      {.name = "devices_renamed",
       .host = kEthernetHost,
       .documents = {text({kD1, "name = \"storage\"\n", kD2, "name = \"compute\"\n"})}},
      {.name = "devices_swapped",
       .host = kEthernetHost,
       .documents = {text({kD1, "name = \"a\"\n", kD2, "name = \"b\"\n"}),
                     text({kD1, "name = \"b\"\n", kD2, "name = \"a\"\n"})}},
      {.name = "edited_files",
       .host = kEdited,
       .documents = {text({kA,
                           "name = \"fab0\"\nbackend = \"direct\"\nipv4 = { addresses = [\"192.0.2.1/24\"] "
                           "}\n[[rdma_device]]\npci = \"0000:10:00.0\"\nname = \"mlx4_0\"\n"})},
       .edited = true},
      {.name = "edited_files_dropped", .host = kEdited, .documents = {"version = 1\n"}, .edited = true},
      {.name = "device_name_dropped",
       .host = kEthernetHost,
       .documents = {text({kD1, "name = \"a\"\n", kD2, "name = \"b\"\n"}), text({kD1, "name = \"a\"\n"})}},
      {.name = "soft_made",
       .host = kEthernetHost,
       .documents = {text({kS0, "name = \"rxe0\"\n", kS1, "name = \"rxe1\"\n"})}},
      {.name = "soft_changed",
       .host = kEthernetHost,
       .documents = {text({kS0, "name = \"rxe0\"\n"}),
                     text({kS0, "name = \"fast\"\n", kS1, "name = \"rxe0\"\n"})}},
      {.name = "soft_dropped",
       .host = kEthernetHost,
       .documents = {text({kS0, "name = \"rxe0\"\n", kS1, "name = \"rxe1\"\n"}),
                     text({kS0, "name = \"rxe0\"\n"})}},
      {.name = "roce_set",
       .host = kEthernetHost,
       .documents = {text({kR1, "mode = \"v1\"\ndscp = 26\n", kR2, "tos = 8\n"})}},
      {.name = "roce_changed",
       .host = kEthernetHost,
       .documents = {text({kR1, "mode = \"v1\"\ndscp = 26\n"}),
                     text({kR1, "tos = 0\n", kR2, "mode = \"v1\"\n"})}},
  };
}

std::vector<Scenario> address_scenarios() {
  return {
      {.name = "addresses",
       .host = kAddressed,
       .documents = {text({kA, kDirect}) + child("0x8002", "ipv4 = { addresses = [\"192.0.3.1/24\"] }\n")},
       .created = {"ib0.8002"}},
      {.name = "addresses_of_a_renamed_interface",
       .host = kAddressed,
       .documents = {text({kA, kDirect, kB, "ipv4 = { addresses = [\"192.0.4.1/24\"] }\n"}),
                     text({kA, kDirect, "name = \"fab0\"\nmode = \"connected\"\n", kB,
                           "ipv4 = { addresses = [\"192.0.4.2/24\"], routes = [{ "
                           "to = \"10.0.0.0/8\", via = \"192.0.4.9\" }] }\n"})}},
      {.name = "addresses_changed",
       .host = kAddressed,
       .documents = {text({kA, kDirect}),
                     text({kA,
                           "backend = \"direct\"\nipv4 = { addresses = [\"192.0.2.2/24\"], gateway = "
                           "\"192.0.2.253\", dns = [\"192.0.2.54\"], search = [\"example.net\"] }\n"})}},
      {.name = "addresses_dropped_with_a_rename",
       .host = kAddressed,
       .documents = {text({kA, kDirect, "name = \"fab0\"\n"}), text({kA, "name = \"fab1\"\n"})}},
      {.name = "addresses_changed_with_a_rename",
       .host = kAddressed,
       .documents = {text({kA, kDirect, "name = \"fab0\"\n"}), text({kA, kSameDirect, "name = \"fab1\"\n"})}},
      {.name = "last_address_dropped_with_a_rename",
       .host = kRouted,
       .documents = {text({kA, kSameDirect, "name = \"fab0\"\n"}), text({kA, "name = \"fab1\"\n"})}},
      {.name = "addresses_of_a_child_dropped_with_a_rename_of_its_port",
       .host = kAddressed,
       .documents = {text({kA, "backend = \"direct\"\nname = \"fab0\"\n"}) +
                         child("0x8002",
                               "ipv4 = { addresses = [\"192.0.3.1/24\"], routes = [{ "
                               "to = \"10.0.0.0/8\", via = \"192.0.3.9\" }] }\n"),
                     text({kA, "name = \"fab1\"\n"}) + child("0x8002")}},
      {.name = "addresses_of_a_child_dropped_while_it_is_made_anew",
       .host = kAddressed,
       .documents = {text({kA, "backend = \"direct\"\n"}) +
                         child("0x8002", "ipv4 = { addresses = [\"192.0.3.1/24\"] }\n"),
                     text({kA}) + child("0x8002", "mode = \"connected\"\n")}},
  };
}

std::vector<Scenario> dropped_address_scenarios() {
  return {
      {.name = "addresses_dropped", .host = kAddressed, .documents = {text({kA, kDirect}), "version = 1\n"}},
      {.name = "only_address_changed",
       .host = kRouted,
       .documents = {text({kA, kSameDirect}),
                     text({kA,
                           "backend = \"direct\"\nipv4 = { addresses = [\"192.0.2.11/24\"], gateway = "
                           "\"192.0.2.254\" }\n"})}},
      {.name = "first_address_of_a_network_dropped",
       .host = kRouted,
       .documents = {text({kA,
                           "backend = \"direct\"\nipv4 = { addresses = [\"192.0.2.11/24\", "
                           "\"192.0.2.1/24\"], gateway = \"192.0.2.254\" }\n"}),
                     text({kA, kSameDirect})}},
      {.name = "last_address_dropped",
       .host = kRouted,
       .documents = {text({kA, kSameDirect}), "version = 1\n"}},
      {.name = "gateway_moved",
       .host = kRouted,
       .documents = {text({kA, kSameDirect, kB,
                           "backend = \"direct\"\nipv4 = { addresses = [\"192.0.4.1/24\"] }\n"}),
                     text({kA, "backend = \"direct\"\nipv4 = { addresses = [\"192.0.2.1/24\"] }\n", kB,
                           "backend = \"direct\"\nipv4 = { addresses = [\"192.0.4.1/24\"], gateway = "
                           "\"192.0.4.254\" }\n"})}},
  };
}

std::vector<Scenario> profile_scenarios() {
  return {
      {.name = "profiles",
       .host = kManaged,
       .documents = {text({kA, kProfile, "mtu = 2044\n"}) +
                     child("0x8002", "ipv4 = { addresses = [\"192.0.3.1/24\"] }\n")},
       .created = {"ib0.8002"}},
      {.name = "profiles_changed",
       .host = kManaged,
       .documents = {text({kA, kProfile, "mtu = 2044\n"}),
                     text({kA, kProfile, "mode = \"connected\"\nmtu = 65520\n"})}},
      {.name = "profiles_connected",
       .host = kManaged,
       .documents = {text({kA, kProfile, "mode = \"connected\"\nmtu = 65520\n"})}},
      {.name = "profiles_connected_after_direct",
       .host = kManaged,
       .documents = {text({kA, "backend = \"direct\"\nmtu = 1500\n"}) + child("0x8002", "mtu = 1400\n"),
                     text({kA, kProfile, "mode = \"connected\"\nmtu = 9000\n"}) +
                         child("0x8002", "mode = \"connected\"\n") + kChildAddress}},
      {.name = "profiles_with_an_mtu",
       .host = kManaged,
       .documents = {text({kA, kProfile}) + child("0x8002", kChildAddress),
                     text({kA, kProfile, "mtu = 2044\n"}) +
                         child("0x8002", text({"mode = \"connected\"\n", kChildAddress}).c_str())}},
      {.name = "addresses_of_a_child_that_goes",
       .host = kAddressed,
       .documents = {text({kA, kDirect}) + child("0x8002", kChildAddress), text({kA, kDirect})}},
      {.name = "addresses_of_what_goes_down",
       .host = kAddressed,
       .documents = {text({kA, kDirect}), text({kA, kDirect, "state = \"down\"\n"})}},
      {.name = "profiles_dropped", .host = kManaged, .documents = {text({kA, kProfile}), "version = 1\n"}},
  };
}

std::vector<Scenario> manager_scenarios() {
  return {
      {.name = "networks",
       .host = kNetworked,
       .documents = {text({kA, kNetwork, "mtu = 2044\n"}) + child("0x8002", kChildAddress)},
       .created = {"ib0.8002"}},
      {.name = "networks_changed",
       .host = kNetworked,
       .documents = {text({kA, kNetwork}),
                     text(
                         {kA,
                          "backend = \"networkd\"\nipv4 = { addresses = [\"192.0.2.2/24\"], routes = [{ to = "
                          "\"10.0.0.0/8\", via = \"192.0.2.9\" }] }\nipv6 = { method = \"disabled\" }\n"})}},
      {.name = "networks_dropped",
       .host = kNetworked,
       .documents = {text({kA, kNetwork}) + child("0x8002", kChildAddress), "version = 1\n"}},
      {.name = "networks_of_what_goes_down",
       .host = kNetworked,
       .documents = {text({kA, kNetwork}), text({kA, kNetwork, "state = \"down\"\n"})}},
      {.name = "networkd_to_direct",
       .host = kNetworked,
       .documents = {text({kA, kNetwork}) + child("0x8002", kChildAddress),
                     text({kA, kSameDirect}) + child("0x8002", kChildAddress)}},
      {.name = "direct_to_networkd",
       .host = kNetworked,
       .documents = {text({kA, kSameDirect}) + child("0x8002", kChildAddress),
                     text({kA, kNetwork}) + child("0x8002", kChildAddress)}},
      {.name = "networkmanager_to_direct",
       .host = kManaged,
       .documents = {text({kA, kProfile}) + child("0x8002", kChildAddress),
                     text({kA, kSameDirect}) + child("0x8002", kChildAddress)}},
      {.name = "direct_to_networkmanager",
       .host = kManaged,
       .documents = {text({kA, kSameDirect}) + child("0x8002", kChildAddress),
                     text({kA, kProfile}) + child("0x8002", kChildAddress)}},
  };
}

std::vector<Scenario> released_port_scenarios() {
  return {
      {.name = "networkmanager_lets_go", .host = kToldManager, .documents = {text({kA, kSameDirect})}},
      {.name = "networkmanager_lets_go_of_what_others_configure",
       .host = kToldManagerBeside,
       .documents = {text({kA, kSameDirect})}},
      {.name = "networkmanager_takes_back",
       .host = kToldManager,
       .documents = {text({kA, kSameDirect}), "version = 1\n"}},
      {.name = "networkmanager_that_is_told_to_direct",
       .host = kToldManager,
       .documents = {text({kA, kProfile}) + child("0x8002", kChildAddress),
                     text({kA, kSameDirect}) + child("0x8002", kChildAddress)}},
      {.name = "direct_to_networkmanager_that_is_told",
       .host = kToldManager,
       .documents = {text({kA, kSameDirect}) + child("0x8002", kChildAddress),
                     text({kA, kProfile}) + child("0x8002", kChildAddress)}},
  };
}

std::vector<Scenario> other_profile_scenarios() {
  return {
      {.name = "profiles_of_a_renamed_port",
       .host = kManaged,
       .documents = {text({kA, kProfile, "name = \"fab0\"\n"}) + child("0x8002", kChildAddress),
                     text({kA, kProfile, "name = \"fab1\"\n"}) + child("0x8002", kChildAddress)},
       .created = {"fab1.8002"}},
      {.name = "child_of_another_profile_adopted",
       .host = kManagedByNumber,
       .documents = {text({kA, kProfile}) + child("0x800a", kChildAddress)},
       .created = {"ib0.800a"}},
      {.name = "child_of_an_ifcfg_file_adopted",
       .host = kManagedByIfcfg,
       .documents = {text({kA, kProfile}) + child("0x800a", kChildAddress)}},
  };
}

std::vector<Scenario> storage_scenarios() {
  return {
      {.name = "nfs_server", .host = kNfs, .documents = {kNfsPort}},
      {.name = "nfs_server_on_another_port", .host = kNfs, .documents = {kNfsPort, kNfsOtherPort}},
      {.name = "nfs_server_dropped", .host = kNfs, .documents = {kNfsPort, "version = 1\n"}},
      {.name = "nfs_mounts", .host = kNfs, .documents = {nfs_mounts("192.0.2.1")}},
      {.name = "nfs_mounts_of_another_server",
       .host = kNfs,
       .documents = {nfs_mounts("192.0.2.1"), nfs_mounts("192.0.2.2")}},
      {.name = "nfs_mounts_not_any_more",
       .host = kNfs,
       .documents = {nfs_mounts("192.0.2.1"), nfs_mounts("192.0.2.1", "mount = false\n")}},
      {.name = "nfs_mounts_dropped", .host = kNfs, .documents = {nfs_mounts("192.0.2.1"), "version = 1\n"}},
      {.name = "nvme_target", .host = "{}", .documents = {kNvmeOne}},
      {.name = "nvme_target_beside_others", .host = kNvme, .documents = {kNvmeOne}},
      {.name = "nvme_target_changed", .host = kNvme, .documents = {kNvmeOne, kNvmeOther}},
      {.name = "nvme_target_of_others", .host = kNvme, .documents = {kNvmeTheirs}},
      {.name = "nvme_target_given_back", .host = kNvme, .documents = {kNvmeTheirs, "version = 1\n"}},
      {.name = "nvme_target_dropped", .host = kNvme, .documents = {kNvmeOne, "version = 1\n"}},
      {.name = "nvme_connection", .host = kNvmeTargets, .documents = {kNvmeHost}},
      {.name = "nvme_connection_changed", .host = kNvmeTargets, .documents = {kNvmeHost, kNvmeHostOther}},
      {.name = "nvme_connection_fewer", .host = kNvmeTargets, .documents = {kNvmeHostOther, kNvmeHost}},
      {.name = "nvme_connection_port_left", .host = kNvmeTargets, .documents = {kNvmeHostPorts, kNvmeHost}},
      {.name = "nvme_connection_dropped", .host = kNvmeTargets, .documents = {kNvmeHost, "version = 1\n"}},
      {.name = "iser_session", .host = kIserTargets, .documents = {kIserOne}},
      {.name = "iser_session_changed", .host = kIserTargets, .documents = {kIserOne, kIserOther}},
      {.name = "iser_session_fewer", .host = kIserTargets, .documents = {kIserOther, kIserOne}},
      {.name = "iser_session_dropped", .host = kIserTargets, .documents = {kIserOne, "version = 1\n"}},
      {.name = "lio_target", .host = kLio, .documents = {kLioOne}},
      {.name = "lio_target_changed", .host = kLio, .documents = {kLioOne, kLioOther}},
      {.name = "lio_target_named_again", .host = kLio, .documents = {kLioOther, kLioOne}},
      {.name = "lio_target_of_others", .host = kLio, .documents = {kLioTheirs}},
      {.name = "lio_target_given_back", .host = kLio, .documents = {kLioTheirs, "version = 1\n"}},
      {.name = "lio_target_of_others_disabled", .host = kLio, .documents = {kLioOff}},
      {.name = "lio_target_disabled_again", .host = kLio, .documents = {kLioOff, "version = 1\n"}},
      {.name = "lio_target_dropped", .host = kLio, .documents = {kLioOne, "version = 1\n"}},
      {.name = "lio_target_of_srp", .host = kLio, .documents = {kLioSrp}},
      {.name = "lio_target_of_srp_dropped", .host = kLio, .documents = {kLioSrp, kLioOne}},
      {.name = "srp_rules", .host = kSrp, .documents = {kSrpOne}},
      {.name = "srp_rules_of_a_stopped_daemon", .host = kSrpStopped, .documents = {kSrpOne}},
      {.name = "srp_rules_changed", .host = kSrp, .documents = {kSrpOne, kSrpOther}},
      {.name = "srp_rules_dropped", .host = kSrp, .documents = {kSrpOne, "version = 1\n"}},
      {.name = "srp_rules_of_a_stopped_daemon_dropped",
       .host = kSrpStopped,
       .documents = {kSrpOne, "version = 1\n"}},
  };
}

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> out;
  for (const auto& group :
       {interface_scenarios(), child_scenarios(), sibling_scenarios(), adapter_scenarios(), dcb_scenarios(),
        host_scenarios(), opensm_scenarios(), own_opensm_conf_scenarios(), device_scenarios(),
        address_scenarios(), dropped_address_scenarios(), profile_scenarios(), manager_scenarios(),
        released_port_scenarios(), other_profile_scenarios(), storage_scenarios()})
    out.insert(out.end(), group.begin(), group.end());
  return out;
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const auto kAll = all_scenarios();
  return kAll;
}

}  // namespace rdmacfg::contract
