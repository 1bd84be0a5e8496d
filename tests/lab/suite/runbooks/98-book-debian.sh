# SPDX-License-Identifier: Apache-2.0
# docs/runbooks/debian.toml: the pages of Debian's wiki as one document, whose steps the runbook's own tools judge; and again after a reboot.
# nightly
# lab: --full --timeout 2000
# tree: full
# boots: 2
. /suite/book.sh
if [ "$BOOT" = 1 ]; then
	systemctl disable -q --now NetworkManager
	systemctl enable -q --now systemd-networkd
	hardware ib:mlx4_0:2 ib:mlx4_1:1 sm=external <<-'X'
	/bin/sh -c 'echo "cable mlx4_1 1 1" >/proc/fake_hca'
	/bin/sh -c 'ip link add eno1 type veth peer name v1; ip addr add 192.0.2.1/24 dev eno1; ip link set v1 up; ip link set eno1 up'
	X
	document debian
	first_stage ipoib
	partition_is_up
	exits "apply" 0 apply --pending-ok
fi
holds
neighbour b002 192.0.3.2/24 192.0.4.2/24

judge_packages rdma-core ibverbs-providers ibverbs-utils rdmacm-utils infiniband-diags perftest opensm
judge_modules ib_srp
judge_ipoib
judge_addresses 23
step 24
is "systemd-networkd configures it" "$(networkctl list --no-legend mlx4_ib1 | awk '{ print $5 }')" configured
has "from a file of ours" "$(networkctl status mlx4_ib1)" rdma-configd
has "address" "$(ip -4 -o addr show dev mlx4_ib1)" "inet 192.0.5.1/24"
judge_memlock
judge_rxe
judge_manager
judge_second_subnet
judge_partitions
judge_look
judge_fabric
judge_trial
book_end D
holds
no_writes "second apply"
