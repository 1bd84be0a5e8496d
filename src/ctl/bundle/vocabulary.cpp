// SPDX-License-Identifier: Apache-2.0
#include "ctl/bundle/vocabulary.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "catalog/all.hpp"
#include "kinds/expect/rows.hpp"

namespace rdmacfg::ctl {

namespace {

constexpr std::string_view kVocabulary =
    // Sizes, udev's substitutions, who manages a network.
    "root KiB MiB GiB TiB K M G T B k n b E org rdmaconfigd1 rdmaconfigd ID_NET_MANAGED_BY "
    // Folders and files.
    "etc usr lib run var proc sys net class devices bus pci kernel config debug module modules parameters "
    "dev "
    "udev rules d db conf cfg toml json bak local libexec share data tmp root home systemd system network "
    "service timer socket target mount path slice scope multi user wants requires default sysconfig rdma "
    "configd configctl rdma_configd RDMA_CONFIGD admin infiniband infiniband_mad infiniband_verbs uverbs "
    "umad "
    "modprobe load security limits sysctl sysusers tmpfiles NetworkManager connections nmconnection opensm "
    "openib openibd partitions qos interfaces interface netplan yaml yml cloud init ifcfg scripts states "
    "state "
    "journal generations unconfirmed taken back roce defaults initramfs degraded applied withdrawn zz rc "
    "hostname hosts nsswitch passwd group osrelease version os release cmdline igmp tcp self "
    "persistent ipoib device naming setup link unmanaged backend pfc netns memlock keep off "
    "control attached transient generator early late "
    // DiskUse::Sort, as answers.hpp writes it.
    "other mount btrfs pool swap "
    // Interfaces, devices, drivers, modules.
    "ib eth bond bonding team br bridge lo dummy veth vlan vxlan macvlan ipvlan docker virbr tun tap wg "
    "wireguard mlx4_ mlx5_ mlx4_ib mlx5_ib mlx4_core mlx5_core mlx4_en mlx5_sf mlx5 mlx4 hfi1 hfi1_ qib qib_ "
    "irdma irdma_ ice i40e i40iw bnxt_en bnxt_re bnxt_re_ hns hns3 hns_roce_hw_v hns_ qede qed qedr qedr_ "
    "cxgb iw_cxgb cxgb4 erdma erdma_ mana mana_ib efa efa_ ocrdma usnic_verbs vmw_pvrdma siw siw_ rxe rxe_ "
    "rdma_rxe rdma_cm rdma_ucm iw_cm ib_core ib_cm ib_umad ib_uverbs ib_ipoib ib_isert ib_iser ib_srp "
    "ib_srpt "
    "ib_sa ib_mad nvme nvmet nvme_rdma nvmet_rdma svcrdma xprtrdma rpcrdma smc smc_diag rds rds_rdma lustre "
    "ko2iblnd nvidia nvidia_peermem ib_uverbs opa_vnic mlxfw mlxdevm mlx_compat knem xpmem lldpad dcbd "
    "fake_hca fake_ib pfctx pfcrx num_vfs probe_vf log_num_mgm_entry_size ipoib_enhanced send_queue_size "
    "recv_queue_size debug_level netns_mode options install softdep blacklist alias "
    // The kernel's answers.
    "ACTIVE INIT DOWN ARMED ACTIVE_DEFER NOP LinkUp Polling Disabled Sleep LinkErrorRecovery "
    "PortConfigurationTraining "
    "InfiniBand Ethernet CA RNIC SWITCH ROUTER MT ConnectX Gb sec 1X 2X 4X 8X 12X SDR DDR QDR FDR EDR HDR "
    "NDR XDR IB RoCE "
    "v v1 v2 fe ff auto up down datagram connected iWARP amd64 x86_64 aarch64 ppc64le s390x generic el el8 "
    "el9 fc uek rt lts smp debug64 azure aws gcp oracle cloud default bpo deb Debian GNU Linux Ubuntu Rocky "
    "AlmaLinux Red Hat Enterprise Fedora SUSE openSUSE Leap SLES ID VERSION_ID NAME PRETTY_NAME bookworm "
    "trixie noble jammy debian ubuntu rhel rocky almalinux fedora sles opensuse centos suse rhcos "
    "phys_switch_id enabled disabled static masked loaded not found bad setting error active inactive failed "
    "activating "
    "deactivating reloading running dead exited restart start stop reload indirect generated transient "
    "configured configuring pending unmanaged linger strict ets shaper vendor willing host firmware "
    // udev rules.
    "ACTION SUBSYSTEM SUBSYSTEMS KERNEL KERNELS DRIVER DRIVERS ATTR ATTRS ENV NAME SYMLINK IMPORT PROGRAM "
    "RUN "
    "RESULT LABEL GOTO TAG TAGS OPTIONS DEVPATH OWNER GROUP MODE TEST builtin program parent file db address "
    "type dev_id dev_port add change remove move bind online node_guid sys_image_guid ID_NET_NAME "
    "ID_NET_NAME_PATH ID_NET_NAME_SLOT ID_NET_NAME_ONBOARD ID_PATH INTERFACE NM_UNMANAGED rdma_rename "
    "NAME_FALLBACK NAME_KERNEL NAME_PCI NAME_GUID NAME_ONBOARD NAME_FIXED RDMA_CONFIGD_BACKEND "
    "RDMA_CONFIGD_PORT RDMA_CONFIGD_OF_PORT RDMA_CONFIGD_BROADCAST RDMA_CONFIGD_UNMANAGED net_setup_link "
    "SYSTEMD_WANTS ID_MM_CANDIDATE "
    // Keyfiles, units, networkd, ifcfg, limits, OpenSM, cloud-init.
    "connection id uuid type interface-name autoconnect priority transport mode mtu mac p key parent ipv4 "
    "ipv6 "
    "keyfile method manual shared link address address1 addresses gateway route route1 routes dns search may "
    "fail "
    "never "
    "true false yes no on off infiniband bond slave master controller port Match Link Network Address Route "
    "DHCPv IPv IPv6AcceptRA IPoIB NetDev Kind Name MACAddress Property Unmanaged DHCP LinkLocalAddressing "
    "KeepConfiguration ConfigureWithoutCarrier DNS Domains Gateway Destination Metric Table RouteMetric "
    "MTUBytes "
    "PartitionKey Mode IgnoreUserspaceMulticastGroups RequiredForOnline Unit Service Install Description "
    "Documentation After Before Wants Requires Conflicts PartOf BindsTo WantedBy RequiredBy Type ExecStart "
    "ExecStartPre ExecReload Restart RestartSec LimitMEMLOCK LimitNOFILE Environment EnvironmentFile "
    "infinity "
    "oneshot simple notify forking DEVICE TYPE CONNECTED_MODE MTU PKEY PKEY_ID PKEY_ID_NM PHYSDEV HWADDR "
    "ONBOOT "
    "BOOTPROTO IPADDR PREFIX NETMASK NM_CONTROLLED USERCTL SET_IPOIB_CM IPOIB_MTU soft hard unlimited nofile "
    "core nproc memlock as rss stack PORTS GUIDS PRIORITY OPENSM_OPTIONS guid sm_priority log_flags log_file "
    "Default ALL ALL_CAS ALL_SWITCHES ALL_ROUTERS SELF full limited both ipoib rate sl scope defmember indx0 "
    "mgroup sm subnet_prefix max_wire_smps babbling_port_policy routing_engine ftree minhop updn dfsssp lash "
    "torus dor network: config: disabled ethernets version renderer m s "
    // Kernel settings.
    "fs vm kernel core ipv4 ipv6 neigh conf all arp_ignore arp_announce arp_filter rp_filter accept_ra "
    "accept_dad disable_ipv6 promote_secondaries gc_thresh gc_thresh1 gc_thresh2 gc_thresh3 tcp_rmem "
    "tcp_wmem "
    "rmem_max wmem_max rmem_default wmem_default netdev_max_backlog tcp_timestamps tcp_sack tcp_low_latency "
    "optmem_max shmmax shmall nr_hugepages max_map_count forwarding ip_forward log_martians "
    "base_reachable_time_ms "
    // Answers to expectations.
    "always madvise performance powersave schedutil ondemand conservative userspace tsc hpet acpi_pm kvm hv "
    "clock notsupported notimplemented forceoff identity DMA FQ blocked GT PCIe Unknown powersupersave N A "
    // systemd's units around RDMA.
    "ndd lldpad slurmd slurm srp_daemon srpd iwpmd ibacm rshim mst openvswitch firewalld nftables iptables "
    "networking wicked wickedd dhcpcd networkd resolved udevd timesyncd tuned irqbalance mlnx snap nv sriov "
    "multipathd iscsid iscsi iscsiadm iser sessions nvmf autoconnect autofs nfs server client mountd chronyd "
    "ptp4l phc2sys "
    // rdma-configd's records.
    "schema records kind id created instance before managed limits wanted got reason boot index field name "
    "value "
    "address route nm_profile networkd link_name ipoib pkey port file unknown none absent ignore before: "
    "object mode ToS found folder stale unfinished dropped files policy "
    // The words that it writes into files.
    "Written by from its configuration changes made here are lost what is changed do edit not Kernel at "
    "Names of IPoIB RDMA Options Modules software configures the which and P_Key over it Who when lines "
    "between "
    "two marks end for was there stands above had line break its s a to with in this one it's be before were "
    "stopped started document ports managed block markers overwritten program The that each them interfaces";

std::unordered_set<std::string> all_known_words() {
  std::unordered_set<std::string> out;
  const auto add_all = [&](std::string_view text) {
    const auto is_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_word(text[end])) ++end;
      if (end > at) out.emplace(text.substr(at, end - at));
      at = end + 1;
    }
  };
  add_all(kVocabulary);
  const auto add_section = [&](const auto& self, const model::SectionSpec& section) -> void {
    add_all(section.name);
    for (const auto& field : section.fields) {
      add_all(field.name);
      add_all(field.schema);  // enumerations
    }
    for (const auto& child : section.children) self(self, child);
  };
  for (const auto& section : kinds::grammar()) add_section(add_section, section);
  for (const auto* kind : kinds::all_kinds()) add_all(kind->name());
  for (const auto& row : kinds::expect_rows()) {
    add_all(row.name);
    add_all(row.reads);
  }
  return out;
}

}  // namespace

bool is_known_word(std::string_view word) {
  static const auto kKnown = all_known_words();
  return kKnown.contains(std::string(word));
}

}  // namespace rdmacfg::ctl
