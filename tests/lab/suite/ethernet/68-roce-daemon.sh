# SPDX-License-Identifier: Apache-2.0
# RoCE, DCB and names while the daemon runs: repairs without intervention after a rename, a re-add, a
# reload of rdma_cm, and changes by others; and its messages about settings that it cannot see.
# nightly: CI has time for the core and the daemon
# lab: --full --timeout 1200
# tree: full
CM=/sys/kernel/config/rdma_cm
default() { mkdir "$CM/$1" && echo "$(cat "$CM/$1/ports/1/default_roce_mode") $(cat "$CM/$1/ports/1/default_roce_tos")"; rmdir "$CM/$1"; }
idle() {
	sleep 3; lab-wait 90 'test -z "$(systemctl list-jobs --no-legend | grep rdma-configd)"'
	lab-wait 90 'busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State | grep -q idle'
}
systemctl stop NetworkManager
ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up
lab-load roce:mlx5_1:1 roce:mlx5_2:1 roce:mlx5_3:1 iwarp:x722:1:dcb=i40e:train=200; udevadm settle; modprobe bonding max_bonds=0
lab-wait 30 'test -d /sys/bus/pci/devices/0000:00:13.0/net'
E=$(ls /sys/bus/pci/devices/0000:00:10.0/net) F=$(ls /sys/bus/pci/devices/0000:00:11.0/net) G=$(ls /sys/bus/pci/devices/0000:00:12.0/net) H=$(ls /sys/bus/pci/devices/0000:00:13.0/net)
ip link add bond0 type bond mode active-backup
for port in "$F" "$G"; do ip link set "$port" down; ip link set "$port" master bond0; done; ip link set bond0 up
conf <<X
version = 1
[[rdma_device]]
pci = "00:10.0"
name = "sto"
[[roce]]
interface = "$E"
mode = "v1"
[[soft_rdma]]
interface = "v0"
type = "rxe"
name = "rxe_lab"
[[roce]]
device = "rxe_lab"
port = 1
mode = "v2"
tos = 104
[[lossless]]
interface = "$E"
[[lossless]]
interface = "bond0"
priority = 5
dscp = 46
[[lossless]]
interface = "$H"
[[sysctl]]
interface = "v0"
arp_ignore = 1
X
systemctl enable -q rdma-configd; systemctl start rdma-configd; idle
exits "apply" 0 apply; idle
right() {
	is "$1: the device" "$(default sto)" "IB/RoCE v1 106"
	is "$1: Soft-RoCE" "$(default rxe_lab)" "RoCE v2 104"
	lab-wait 60 'rdma-configctl diff'; exits "$1: diff" 0 ctl diff
}
right "at first"
for port in "$F" "$G"; do has "flow control of $port in the bond" "$(dcb pfc show dev "$port")" "5:on"; done

rdma dev set sto name evil
ok "a renamed device gets its name back" lab-wait 60 'test -e /sys/class/infiniband/sto'; idle; right "rename"
echo 1 >/sys/bus/pci/devices/0000:00:10.0/remove; lab-wait 20 '! test -e /sys/class/infiniband/sto'; echo 1 >/sys/bus/pci/rescan
ok "a device that comes again has its name" lab-wait 60 'test -e /sys/class/infiniband/sto'; idle; right "re-add"
unload_rdma_cm; idle
ok "rdma_cm that somebody unloads stays so" test ! -e /sys/module/rdma_cm
exits "an apply by hand would load it" 2 ctl diff; ok "looking does not" test ! -e /sys/module/rdma_cm
modprobe rdma_cm; idle; right "reload of rdma_cm"
rdma link delete rxe_lab
ok "a soft device that was deleted comes back" lab-wait 60 'test -e /sys/class/infiniband/rxe_lab'; idle; right "rdma link delete"
ip link del v0; idle; ip link add v0 type veth peer name v1; ip link set v0 up
ok "and with its interface" lab-wait 60 'test -e /sys/class/infiniband/rxe_lab'; idle; right "interface made again"
is "and the interface's setting" "$(cat /proc/sys/net/ipv4/conf/v0/arp_ignore)" 1

dcb pfc set dev "$E" prio-pfc all:off
ok "flow control comes back" lab-wait 60 "dcb pfc show dev $E | grep -q 3:on"
dcb app add dev "$E" dscp-prio 26:5
ok "and the table of DSCPs" lab-wait 60 "test \"\$(dcb app show dev $E | xargs)\" = 'dscp-prio AF31:3'"
ip link set "$G" nomaster; idle; ip link set "$G" down; dcb pfc set dev "$G" prio-pfc all:off; ip link set "$G" master bond0
ok "a port that joins the bond gets it" lab-wait 60 "dcb pfc show dev $G | grep -q 5:on"
idle; right "in the end"

# Resume, recovery and a change of the switchdev mode on mlx5: the same interface with the ETS of a load. And a cable
# that is pulled, on i40e. No message of DCB tells of either.
ip link set "$E" up; ip link set "$H" up; idle
R=$(basename "$(ls -d /sys/bus/pci/devices/0000:00:10.0/infiniband/*)") X=$(basename "$(ls -d /sys/bus/pci/devices/0000:00:13.0/infiniband/*)")
echo "reset $R 2000" >/proc/fake_hca
ok "classes are back after a reset" lab-wait 60 "dcb ets show dev $E tc-bw | grep -q '0:50 1:50'"
ok "and the table of DSCPs" lab-wait 60 "test \"\$(dcb app show dev $E | xargs)\" = 'dscp-prio AF31:3'"
ok "flow control of i40e" lab-wait 60 "dcb pfc show dev $H | grep -q 3:on"
echo "port $X 1 down" >/proc/fake_hca; sleep 1; echo "port $X 1 active" >/proc/fake_hca
ok "and again after its cable was pulled" lab-wait 60 "dcb pfc show dev $H | grep -q 3:on"; idle; right "in the end"

sed -i 's/mode = "v1"/mode = "v2"/' $CONF
exits "apply --confirm" 0 apply --confirm 40; is "the other mode" "$(default sto)" "RoCE v2 106"
ok "not confirmed: as before" lab-wait 60 "mkdir $CM/sto; grep -q 'IB/RoCE v1' $CM/sto/ports/1/default_roce_mode; rc=\$?; rmdir $CM/sto; exit \$rc"
