# SPDX-License-Identifier: Apache-2.0
# docs/runbooks/nvidia.toml: those steps of the MLNX_OFED manual that the kernel can do itself as one document, whose steps the tools of the manual judge;
# and again after a reboot. Then all of it is taken back.
# nightly
# long
# lab: --full --timeout 3000 --mem 3072
# tree: full
# boots: 2
. /suite/book.sh
LATER="ipoib sysctl nfs_server nvme_target lio_target nfs_mount nvme_connection iser_session expect"
if [ "$BOOT" = 1 ]; then
	systemctl disable -q --now NetworkManager
	cheap_initramfs; storage
	hardware ib:mlx4_0:2 ib:mlx4_1:1 roce:mlx5_2:1 ib:mlx4_3:2 sm=external <<-X
	/bin/sh -c 'ip link add eno1 type veth peer name v1; ip addr add 192.0.2.1/24 dev eno1; ip link set v1 up; ip link set eno1 up'
	$MOUNTS
	X
	systemctl enable -q nfs-server; systemctl restart nfs-server
	document nvidia
	# By hand the other mode, where no service has a network namespace of its own, which holds the mode.
	rdma system set netns exclusive
	stage rdma_system
	first_stage $LATER
	partition_is_up
	stage ipoib
	stage nfs_server nvme_target lio_target
	stage nfs_mount nvme_connection iser_session
	applies "apply"
fi
holds
neighbour b002 192.0.3.2/24 192.0.4.2/24

judge_packages rdma-core libibverbs1 ibverbs-utils rdmacm-utils infiniband-diags perftest opensm srptools nvme-cli open-iscsi nfs-kernel-server
judge_modules nvme_rdma nvmet_rdma
judge_options
judge_ipoib
judge_addresses 23
judge_memlock
step 7
has "RoCE version" "$(roce_default mlx5_storage)" "RoCE v2"
step 8
has "ToS" "$(roce_default mlx5_storage)" " 106"
judge_rxe
judge_pfc_of_driver
judge_pfc AF31:3
judge_port_types
judge_manager 14
is "the standby runs" "$(systemctl is-active opensm@0x0002c90300a0b011)" active
judge_partitions
has "OpenSM has made the group" "$(saquery -C ibp0s16 -P 1 -g)" ff12:401b:8002::707
judge_opensm_options
step 19
ok "it knows the file" opensm_read "root_guid_file = /etc/opensm/rdma-root-guids.conf"
has "which has the root" "$(cat /etc/opensm/rdma-root-guids.conf)" 0x0002c90200b00000
step 25
is "of the rail" "$(sysctl -n net.ipv4.conf.mlx4_ib0.arp_ignore net.ipv4.conf.mlx4_ib0.arp_announce net.ipv4.conf.mlx4_ib0.rp_filter | xargs)" "1 2 2"
is "of the neighbour table" "$(sysctl -n net.ipv4.neigh.default.gc_thresh3)" 8192
step 42
is "buffers of sockets" "$(sysctl -n net.core.rmem_max)" 16777216
step 26
has "the mode" "$(rdma system)" "netns shared"
is "and for each load of ib_core" "$(grep -o 'netns_mode=.' /etc/modprobe.d/rdma-configd-netns.conf)" netns_mode=1
judge_ndd
judge_nfs
judge_nvme
judge_srp
judge_lio
judge_iser
judge_look
judge_fabric
judge_trial
step 38
has "ibstat: rate" "$(ibstat ibp0s16 1)" "Rate: 40"
has "ibstat: firmware" "$(ibstat ibp0s16)" "Firmware version: 2.42.5000"
echo "errors mlx4_0 1 12" >/proc/fake_hca
exits "too many errors are unmet" 5 ctl diff; has "says which" "$OUT" symbol_error
echo "errors mlx4_0 1 0" >/proc/fake_hca
judge_counters
holds
no_writes "second apply"
[ "$BOOT" = 1 ] && finish

step 41
cp $CONF /root/whole
sed -i 's/^mtu     = 65520/mtu     = 4000/' $CONF
exits "a change" 0 apply; is "the MTU" "$(mtu mlx4_ib0)" 4000
exits "rollback" 0 ctl rollback --yes; is "the MTU of before" "$(mtu mlx4_ib0)" 65520
cp /root/whole $CONF; exits "the whole document" 0 apply
exits "withdraw" 0 ctl withdraw --yes
is "the host stays as it is" "$(mode mlx4_ib0) $(mtu mlx4_ib0)" "connected 65520"
has "and the files are the administrator's" "$(head -1 /etc/systemd/system/scratch.mount)" "yours now"
book_end N
