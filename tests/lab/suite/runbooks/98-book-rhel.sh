# SPDX-License-Identifier: Apache-2.0
# docs/runbooks/rhel.toml: Red Hat's runbook as one document, whose steps the runbook's own tools judge; and again after a reboot.
# nightly
# long
# lab: --full --timeout 3000 --mem 3072
# tree: full
# boots: 2
. /suite/book.sh
LATER="ipoib nfs_server nvme_target lio_target nfs_mount nvme_connection iser_session"
if [ "$BOOT" = 1 ]; then
	cheap_initramfs; storage
	hardware ib:mlx4_0:2 ib:mlx4_1:1 roce:mlx5_2:1 ib:mlx4_3:2 sm=external <<-X
	/bin/sh -c 'echo "cable mlx4_1 1 1" >/proc/fake_hca'
	/bin/sh -c 'ip link add eno1 type veth peer name v1; ip addr add 192.0.2.1/24 dev eno1; ip link set v1 up; ip link set eno1 up'
	$MOUNTS
	X
	systemctl enable -q nfs-server; systemctl restart nfs-server
	document rhel
	without 'type      = "siw"'
	modinfo smc >/dev/null 2>&1 || { without 'name = "smc"'; without 'net.smc.wmem'; }
	first_stage $LATER
	partition_is_up
	stage ipoib
	stage nfs_server nvme_target lio_target
	stage nfs_mount nvme_connection iser_session
	exits "apply" 0 apply --pending-ok
fi
holds
neighbour b002 192.0.3.2/24 192.0.4.2/24

judge_packages rdma-core libibverbs1 ibverbs-utils rdmacm-utils infiniband-diags perftest opensm srptools nvme-cli open-iscsi nfs-kernel-server
judge_modules nvme_rdma nvmet_rdma
judge_options
judge_ipoib
judge_addresses 22
is "NetworkManager has them active" "$(nmcli -t -f NAME,DEVICE connection show --active | grep mlx4_ib0 | sort | xargs)" "mlx4_ib0.8002:mlx4_ib0.8002 mlx4_ib0:mlx4_ib0"
is "in its profile" "$(nmcli -g ipv4.addresses,infiniband.transport-mode connection show mlx4_ib0 | xargs)" "192.0.3.1/24 connected"
judge_rdma_name
judge_memlock
step 7
is "RoCE version" "$(roce_default mlx5_storage)" "IB/RoCE v1 0"
judge_rxe
judge_siw rhel
judge_pfc_of_driver
judge_pfc
judge_port_types
judge_manager 14
judge_second_subnet
judge_partitions
judge_opensm_options
judge_ndd
judge_nfs
judge_nvme
judge_srp
judge_lio
judge_iser
judge_look
judge_fabric
judge_trial
judge_counters
if grep -q 'name = "smc"' $CONF; then
	step 40; ok "the module is loaded" test -d /sys/module/smc; is "its setting" "$(sysctl -n net.smc.wmem)" 262144
else
	not_here 40 "this kernel has no SMC; tests/lab/suite/runbooks/98-book-suse.sh has RDS"
fi
book_end R
holds
no_writes "second apply"
