# SPDX-License-Identifier: Apache-2.0
# verify: do packets come back?  doctor: findings provoked on the real kernel.  show agrees with ibstat and ibv_devinfo.
# nightly: CI has time for the core and the daemon
# lab: --snap
# tree: bin
systemctl stop NetworkManager 2>/dev/null
lab-load ib:mlx4_0:2 roce:mlx5_1:1; modprobe -a ib_ipoib ib_umad rdma_ucm; udevadm settle
P=$(lab-net b001); Q=$(lab-net b002); DEV=$(basename /sys/class/infiniband/ibp0s16)
ip link set "$P" up; wait_carrier "$P"

# A management datagram over the fabric
LID=$((0x$(sed -n 's/.*guid 0002c90300a0b002 lid 0x\([0-9a-f]*\).*/\1/p' /proc/fake_hca)))
exits "MAD ping of a LID" 0 ctl verify --mad "$LID" --from "$DEV/1"
has "it says who answered" "$OUT" "00:02:c9:03:00:a0:b0:02"
exits "MAD ping of a GUID" 0 ctl verify --mad 0002:c903:00a0:b002 --from "$DEV/1"
has "every one is answered" "$OUT" "5 of 5"
exits "nobody at this LID" 1 ctl verify --mad 4000 --from "$DEV/1" --count 1
exits "no such port" 1 ctl verify --mad 4000 --from mlx4_9/1

# A reliable connection over Soft-RoCE
ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up; ip addr add 198.51.100.1/24 dev v0
rdma link add rxe_a type rxe netdev v0; lab-wait 30 'grep -q ":ffff:c633:6401$" /sys/class/infiniband/rxe_a/ports/1/gids/*'
rdma-configctl verify --server --once --to 198.51.100.1 >/tmp/server 2>&1 &
lab-wait 10 'grep -q listening /tmp/server'
exits "RC ping-pong" 0 timeout 90 rdma-configctl verify --client 198.51.100.1 --count 10
has "every message comes back" "$OUT" "10 of 10"
has "over the soft device" "$OUT" "rxe_a"
wait %1; is "the server ends" "$?" 0
exits "nobody listens" 1 timeout 90 rdma-configctl verify --client 198.51.100.1
has "it says what to do" "$OUT" "verify --server"

# IPoIB, to a neighbour in another network namespace
ip netns add peer; ip link set "$Q" netns peer; ip addr add 192.0.2.1/24 dev "$P"
ip -n peer addr add 192.0.2.2/24 dev "$Q"; ip -n peer link set "$Q" up; sleep 2
wait_ping 192.0.2.2
exits "ping over IPoIB" 0 ctl verify --ipoib "$P" --to 192.0.2.2
has "all are answered" "$OUT" "5 of 5"
exits "nobody has this address" 1 ctl verify --ipoib "$P" --to 192.0.2.9 --count 1

# show and what the distribution's own programs say
show=$(ctl show --json)
value() { jq -r ".devices[] | select(.name == \"$dev\") | $1" <<<"$show"; }
port() { value ".ports[$((number - 1))] | $1"; }
guid() { local g; g=$(tr -d : <<<"$1"); echo "0x${g#null}"; }
stat_of() { ibstat "$dev" ${2:+"$2"} | sed -n "s/^[[:space:]]*$1: //p" | head -1; }
for dev in $(jq -r '.devices[].name' <<<"$show"); do
	is "ibstat $dev: number of ports" "$(value '.ports | length')" "$(stat_of 'Number of ports')"
	is "ibstat $dev: node GUID" "$(guid "$(value .node_guid)")" "$(stat_of 'Node GUID')"
	is "ibstat $dev: system image GUID" "$(guid "$(value .system_guid)")" "$(stat_of 'System image GUID')"
	if [ "$(value .soft)" = null ]; then	# of a software device ibstat has blanks
		is "ibstat $dev: firmware" "$(value .firmware)" "$(stat_of 'Firmware version')"
		is "ibstat $dev: hardware" "$(value .hardware | sed 's/^0x//')" "$(stat_of 'Hardware version' | sed 's/^0x//')"
		is "ibstat $dev: CA type" "$(value .hca_type)" "$(stat_of 'CA type')"
	fi
	for number in $(value '.ports[].port'); do
		is "ibstat $dev/$number: state" "$(port .state | tr A-Z a-z)" "$(stat_of State "$number" | tr A-Z a-z)"
		is "ibstat $dev/$number: physical state" "$(port .physical_state)" "$(stat_of 'Physical state' "$number")"
		is "ibstat $dev/$number: base LID" "$(port .lid)" "$(stat_of 'Base lid' "$number")"
		is "ibstat $dev/$number: LMC" "$(port .lmc)" "$(stat_of LMC "$number")"
		is "ibstat $dev/$number: SM LID" "$(port .sm_lid)" "$(stat_of 'SM lid' "$number")"
		is "ibstat $dev/$number: capability mask" "$(printf '0x%08x' "$(port .capabilities)")" "$(stat_of 'Capability mask' "$number")"
		is "ibstat $dev/$number: port GUID" "$(guid "$(port .guid)")" "$(stat_of 'Port GUID' "$number")"
		is "ibstat $dev/$number: link layer" "$(port .link_layer)" "$(stat_of 'Link layer' "$number")"
	done
done
dev=$DEV number=1
info() { ibv_devinfo -d "$dev" -i 1 -v | sed -n "s/^[[:space:]]*$1:[[:space:]]*//p" | head -1; }
is "ibv_devinfo: firmware" "$(value .firmware)" "$(info fw_ver)"
is "ibv_devinfo: vendor" "$(printf '0x%04x' "$(value .vendor_id)")" "$(info vendor_id)"
is "ibv_devinfo: part" "$(value .vendor_part_id)" "$(info vendor_part_id)"
is "ibv_devinfo: node GUID" "$(value .node_guid | tr -d :)" "$(info node_guid | tr -d :)"
is "ibv_devinfo: ports" "$(value '.ports | length')" "$(info phys_port_cnt)"
is "ibv_devinfo: board id" "$(value .board_id)" "$(info board_id)"
is "ibv_devinfo: active MTU" "$(port .mtu_active)" "$(info active_mtu | cut -d' ' -f1)"
is "ibv_devinfo: largest MTU" "$(port .mtu_max)" "$(info max_mtu | cut -d' ' -f1)"
is "ibv_devinfo: LID" "$(port .lid)" "$(info port_lid)"
is "ibv_devinfo: SM LID" "$(port .sm_lid)" "$(info sm_lid)"
is "ibv_devinfo: GID 0" "$(port '.gids[0].gid')" "$(info 'GID\[ *0\]' | cut -d, -f1)"
for limit in max_qp max_qp_wr max_sge max_cq max_cqe max_mr max_pd max_qp_rd_atom max_srq max_ah max_mcast_grp max_pkeys; do
	is "ibv_devinfo: $limit" "$(value ".limits.$limit")" "$(info $limit)"
done
# ibv_devices and ibstatus. ibdev2netdev and show_gids come with MLNX_OFED: the files that they read, and `rdma link`
is "ibv_devices: all of them with their node GUID" "$(jq -r '.devices[] | "\(.name) \(.node_guid | gsub(":"; ""))"' <<<"$show" | sort)" \
	"$(ibv_devices | awk 'NR > 2 { print $1, $2 }' | sort)"
status_of() { ibstatus "$dev:$number" | sed -n "s/^[[:space:]]*$1:[[:space:]]*//p"; }
netdevs_by_pci() {
	local at
	for at in "/sys/class/infiniband/$dev/device/net"/*; do
		[ "$(cat "$at/dev_port" 2>/dev/null)" != $((number - 1)) ] || basename "$at"
	done
}
gids_in_sysfs() {	# INDEX GID TYPE NETDEV of each place that is in use
	local at=/sys/class/infiniband/$dev/ports/$number index gid type netdev
	for index in $(ls "$at/gids" | sort -n); do
		gid='' type='' netdev=''
		{ read -r gid <"$at/gids/$index"; } 2>/dev/null
		[ -n "${gid//[0:]/}" ] || continue
		{ read -r type <"$at/gid_attrs/types/$index"; read -r netdev <"$at/gid_attrs/ndevs/$index"; } 2>/dev/null
		echo "$index $gid $type $netdev"
	done
}
show=$(ctl show --json)
for dev in $(jq -r '.devices[].name' <<<"$show"); do
	for number in $(value '.ports[].port'); do
		is "ibstatus $dev/$number: default GID" "$(port '[.gids[] | select(.index == 0) | .gid][0] // "0000:0000:0000:0000:0000:0000:0000:0000"')" \
			"$(status_of 'default gid')"
		is "ibstatus $dev/$number: base LID" "$(printf '0x%x' "$(port .lid)")" "$(status_of 'base lid')"
		is "ibstatus $dev/$number: SM LID" "$(printf '0x%x' "$(port .sm_lid)")" "$(status_of 'sm lid')"
		is "ibstatus $dev/$number: state" "$(port .state)" "$(status_of state | sed 's/^[0-9]*: *//')"
		is "ibstatus $dev/$number: physical state" "$(port .physical_state)" "$(status_of 'phys state' | sed 's/^[0-9]*: *//')"
		is "ibstatus $dev/$number: rate" "$(port .rate)" "$(status_of rate)"
		is "ibstatus $dev/$number: link layer" "$(port .link_layer)" "$(status_of link_layer)"
		is "show_gids $dev/$number" "$(port '.gids[] | "\(.index) \(.gid) \(.type) \(.netdev // "")"')" "$(gids_in_sysfs)"
		if [ "$(port .link_layer)" = Ethernet ]; then
			is "ibdev2netdev $dev/$number, by rdma link" "$(port '.netdevs[0]')" "$(rdma -j link show "$dev/$number" | jq -r '.[0].netdev')"
		else
			is "ibdev2netdev $dev/$number" "$(port '.netdevs | sort | join(" ")')" "$(netdevs_by_pci | xargs)"
		fi
	done
done
ok "a port of InfiniBand has an interface" jq -e --arg p "$P" '[.devices[].ports[] | select(.link_layer == "InfiniBand") | .netdevs[]] | index($p) != null' <<<"$show"
ok "and one of Ethernet has GIDs" jq -e '[.devices[].ports[] | select(.link_layer == "Ethernet") | .gids[]] | length > 0' <<<"$show"
has "show lists GIDs" "$(ctl show)" "GID TABLES"
has "show NAME lists limits" "$(ctl show "$DEV")" "queue pairs"

# Counters, and rdma statistic: rxe has counted the messages above
counted=$(ctl show counters --json)
statistic=$(rdma -j statistic show link rxe_a/1)
for counter in sent_pkts rcvd_pkts duplicate_request out_of_seq_request; do
	is "rdma statistic: $counter" "$(jq -r ".devices[] | select(.name == \"rxe_a\") | .ports[0].counters.$counter" <<<"$counted")" \
		"$(jq -r ".[0].$counter" <<<"$statistic")"
done
ok "packets were sent" test "$(jq '.[0].sent_pkts' <<<"$statistic")" -gt 0
has "show counters lists what is above 0" "$(ctl show counters rxe_a)" "rxe_a/1  sent_pkts"
is "and nothing else" "$(ctl show counters rxe_a | grep -c ' 0 ')" 0

# doctor
exits "doctor: nothing" 0 ctl doctor
echo "pkey $DEV 1 2 0" >/proc/fake_hca
ip link add link "$P" name gone type ipoib pkey 0x8002; ip link set gone up
exits "doctor: P_Key missing" 2 ctl doctor
has "it names the partition" "$OUT" "P_Key 0x8002 is not in the table"
ip link del gone
mkdir -p /sys/kernel/config/rdma_cm/rxe_a
exits "doctor: rdma_cm pinned" 2 ctl doctor
has "it names the folder" "$OUT" "/sys/kernel/config/rdma_cm/rxe_a"
rmdir /sys/kernel/config/rdma_cm/rxe_a
systemctl start lldpad
exits "doctor: lldpad" 2 ctl doctor
has "it names lldpad" "$OUT" "lldpad.service"
systemctl stop lldpad
is "doctor --json" "$(ctl doctor --json | jq -r '.schema')" org.rdmaconfigd.doctor/1
