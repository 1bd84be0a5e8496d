# SPDX-License-Identifier: Apache-2.0
# Adapters that are not what their kind is by default: sub-functions, RoCE switched off, iWARP, Omni-Path, enhanced IPoIB
# that takes its time, and drivers that do not take user contexts away. Files are those of Linux 6.1's drivers.
# nightly: CI has time for the core and the daemon
# lab: --pci 8 --timeout 900
I=/sys/class/infiniband
lab() { echo "$*" >/proc/fake_hca; }
netdev() { sed -n "s/^$1 port 1 .* netdev \([^ ]*\).*/\1/p" /proc/fake_hca; }
lab-load roce:pf:1 roce:sf:1:sf=pf roce:off:1:roce=off iwarp:iw:1 opa:hfi:1 eib:eib:1:mtu=300:open=200 roce:b:1:dcb=bnxt roce:irdma:1:dcb=ice:train=100 || exit 1

# mellanox/mlx5/core/sf/dev/dev.c:72-132
is "a sub-function is below its function" "$(readlink -f $I/sf/device)" "$(readlink -f $I/pf/device)/mlx5_core.sf.1"
is "and not on the PCI bus" "$(basename "$(readlink $I/sf/device/subsystem)") $(basename "$(readlink $I/sf/device/driver)")" "auxiliary mlx5_core.sf"
is "it has a number" "$(cat $I/sf/device/sfnum)" 1
has "en_dcbnl.c:1066: and no DCB" "$(dcb dcbx show dev "$(netdev sf)" 2>&1)" "not supported"
P=$(basename "$(readlink -f $I/pf/device)"); echo 1 >"/sys/bus/pci/devices/$P/remove"; ok "it goes with its function" test ! -e $I/sf
echo 1 >/sys/bus/pci/rescan; ok "which comes back" lab-wait 5 "test -e $I/pf"
is "under its driver's name" "$(basename "$(readlink $I/pf/device/driver)")" mlx5_core
lab "add roce sf2 1 0 sf=pf"; ok "another one" test -e $I/sf2; lab del sf2

# infiniband/hw/mlx5/main.c:4850 of Linux 6.12: two devices of one function
lab "add eib smi 1 0 beside=eib"; is "two devices at one address" "$(readlink -f $I/smi/device)" "$(readlink -f $I/eib/device)"
ok "the first stays while the second is there" bash -c '! echo "reload eib" >/proc/fake_hca 2>/dev/null'; lab del smi; ok "and when it has gone" test -e $I/eib

# infiniband/hw/mlx5/main.c:2884: no RoCE, no GIDs, nothing for the connection manager
is "RoCE off: no GID" "$(ls $I/off/ports/1/gids | wc -l)" 0; is "an Ethernet port all the same" "$(cat $I/off/ports/1/link_layer)" Ethernet
ok "and none of rdma_cm's" bash -c '! mkdir /sys/kernel/config/rdma_cm/off 2>/dev/null'
lab set off roce=on; ok "switched on" test "$(ls $I/off/ports/1/gids | wc -l)" -gt 0
mkdir /sys/kernel/config/rdma_cm/off; ok "rdma_cm has it" test -e /sys/kernel/config/rdma_cm/off/ports/1/default_roce_mode; rmdir /sys/kernel/config/rdma_cm/off

# infiniband/hw/mlx5/main.c:3325 of Linux 6.12, mellanox/mlx5/core/en_rep.c: the uplink of a switch
lab set off switchdev; is "switchdev: no GID" "$(ls $I/off/ports/1/gids | wc -l)" 0; ok "a switch" grep -q . "/sys/class/net/$(netdev off)/phys_switch_id"
lab set off switchdev=0; ok "none" bash -c "! cat /sys/class/net/$(netdev off)/phys_switch_id 2>/dev/null"

# infiniband/hw/irdma/verbs.c:3649, :3667
is "iWARP" "$(cat $I/iw/node_type)" "4: RNIC"; is "says what is not so of its GID" "$(cat $I/iw/ports/1/gid_attrs/types/0)" "IB/RoCE v1"
M=$(netdev iw); is "which is the interface's address" "$(tr -d : <$I/iw/ports/1/gids/0 | cut -c1-12)" "$(tr -d : <"/sys/class/net/$M/address")"
E=$(netdev irdma); ip link set "$E" up; ip addr add 10.9.0.1/24 dev "$E"; wait_carrier "$E"
types() { cat $I/"$1"/ports/1/gid_attrs/types/* 2>/dev/null | sort -u | xargs; }
ok "RoCE v2 alone with irdma" lab-wait 5 "cat $I/irdma/ports/1/gid_attrs/types/* 2>/dev/null | grep -q v2"; is "and nothing else" "$(types irdma)" "RoCE v2"

# infiniband/hw/hfi1/verbs.c:1396-1400
P=$(lab-net b041); is "Omni-Path: MTU" "$(mtu "$P")" 10236
ip link set "$P" up; ok "its groups take it" wait_carrier "$P"; is "MTU with carrier" "$(mtu "$P")" 10236; ip link set "$P" mtu 8188; is "and less" "$(mtu "$P")" 8188
ok "not more" bash -c "! ip link set $P mtu 10237 2>/dev/null"

# mellanox/mlx5/core/ipoib/ipoib.c:516, infiniband/ulp/ipoib/ipoib_main.c:257. Nobody is told: RTNL is held all the time.
P=$(lab-net b051); ip link set "$P" up; wait_carrier "$P"; was=$(cat "/sys/class/net/$P/carrier_changes")
ip link set "$P" mtu 2044; is "a change of MTU takes the carrier of enhanced IPoIB" "$(($(cat "/sys/class/net/$P/carrier_changes") - was))" 2; ok "and gives it back" carrier "$P"

# bnxt_re has no disassociate_ucontext: a process that has it open holds the module (infiniband/core/uverbs_main.c, ib_uverbs_open)
open() { local u; u=$(basename "$(ls -d $I/"$1"/device/infiniband_verbs/uverbs*)"); was=$(cat /sys/module/fake_hca/refcnt); exec 8<"/dev/infiniband/$u"; now=$(cat /sys/module/fake_hca/refcnt); exec 8<&-; echo $((now - was)); }
is "bnxt_re: a reference for who has it open" "$(open b)" 1; is "none with mlx5" "$(open pf)" 0
lab set b dcb=hns3; is "another driver at run time" "$(basename "$(readlink $I/b/device/driver)") $(open b)" "hns3 0"
ok "uninstalled" rmmod fake_hca

devs=; for i in {0..9} a b c d e; do devs="$devs ib:m$i:1"; done
ok "15 adapters" lab-load $devs pkeys=4; ok "the sixteenth" bash -c 'echo "add ib mf 1" >/proc/fake_hca'; is "all are there" "$(ls $I | wc -l)" 16
ok "and no more" bash -c '! echo "add ib mg 1" >/proc/fake_hca 2>/dev/null'; rmmod fake_hca
ok "sixteen at once" lab-load $devs ib:mf:1 pkeys=4; is "all of them" "$(ls $I | wc -l)" 16
