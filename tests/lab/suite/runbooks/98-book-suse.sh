# SPDX-License-Identifier: Apache-2.0
# docs/runbooks/suse.toml: SUSE's runbooks as one document, whose steps the runbooks' own tools judge; and again after a reboot.
# nightly
# long
# lab: --full --timeout 2400 --mem 3072
# tree: full
# boots: 2
. /suite/book.sh
LATER="ipoib nvme_target lio_target nvme_connection iser_session"
if [ "$BOOT" = 1 ]; then
	systemctl disable -q --now NetworkManager
	storage
	hardware ib:mlx4_0:2 ib:mlx4_1:1 roce:mlx5_2:1 sm=external <<-X
	/bin/sh -c 'echo "cable mlx4_1 1 1" >/proc/fake_hca'
	/bin/sh -c 'ip link add eno1 type veth peer name v1; ip addr add 192.0.2.1/24 dev eno1; ip link set v1 up; ip link set eno1 up'
	$MOUNTS
	X
	document suse
	modinfo rds_rdma >/dev/null 2>&1 || { without 'name = "rds_rdma"'; without 'net.rds.max_unacked_packets'; }
	first_stage $LATER
	partition_is_up
	stage ipoib
	stage nvme_target lio_target
	stage nvme_connection iser_session
	exits "apply" 0 apply --pending-ok
fi
holds
neighbour b002 192.0.3.2/24 192.0.4.2/24

judge_packages rdma-core libibverbs1 ibverbs-utils infiniband-diags perftest opensm srptools nvme-cli open-iscsi
judge_modules nvme_rdma nvmet_rdma
judge_ipoib
judge_addresses 23
judge_rdma_name
judge_memlock
judge_manager 14
judge_second_subnet
judge_ndd
judge_nvme
judge_srp
judge_lio
judge_iser
judge_look
if grep -q 'name = "rds_rdma"' $CONF; then
	step 40; ok "the module is loaded" test -d /sys/module/rds_rdma; is "its setting" "$(sysctl -n net.rds.max_unacked_packets)" 16
else
	not_here 40 "this kernel has no RDS over RDMA"
fi
book_end S
holds
no_writes "second apply"
