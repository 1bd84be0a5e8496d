# SPDX-License-Identifier: Apache-2.0
# Drift that no message tells of, and what must not keep it from being repaired: a masked file of ours, a fight over another
# setting, a message bus that was restarted; and a deadline that a reload of the units does not put off.
# nightly: CI has time for the core and the daemon
# lab: --full --timeout 900
# tree: full
systemctl stop NetworkManager
conf <<X
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "mlx4_ib0"
mode = "connected"
mtu  = 2044
umcast = false
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f3"
name = "mlx4_ib1"
mtu  = 2044
[[rdma_device]]
pci = "00:11.0"
name = "sto"
[[roce]]
device = "sto"
port = 1
mode = "v2"
dscp = 26
[[sysctl]]
interface = "mlx4_ib0"
arp_ignore = 1
[[service]]
name = "helper.service"
running = true
X
printf '[Service]\nExecStart=/bin/sleep 1000\n' >/etc/systemd/system/helper.service; systemctl daemon-reload
lab-load ib:mlx4_0:2 roce:mlx5_0:1 guid_base=0x0002c903003178f1
CM=/sys/kernel/config/rdma_cm
idle() { lab-wait 60 '[ "$(busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State)" = "s \"idle\"" ]'; }
said() { lab-wait 30 "journalctl -u rdma-configd -o cat --no-pager | grep -qF '$1'"; }
default() { mkdir $CM/sto && cat $CM/sto/ports/1/default_roce_mode; rmdir $CM/sto; }
ok "configured" lab-wait 90 'rdma-configctl diff >/dev/null 2>&1'
ok "idle" idle; sleep 2

echo 1 >/sys/class/net/mlx4_ib0/umcast
ok "umcast" said 'repaired: ipoib mlx4_ib0: umcast yes → no'
echo datagram >/sys/class/net/mlx4_ib0/mode
ok "a mode that leaves the MTU alone" said 'repaired: ipoib mlx4_ib0: mode datagram → connected'
echo 0 >/proc/sys/net/ipv4/conf/mlx4_ib0/arp_ignore
ok "a kernel setting" said 'repaired: sysctl mlx4_ib0 arp_ignore: value 0 → 1'
chmod 666 /etc/sysctl.d/zz-rdma-configd.conf
ok "who may write a file of ours" said 'zz-rdma-configd.conf: access'; is "its mode" "$(stat -c %a /etc/sysctl.d/zz-rdma-configd.conf)" 644
systemctl stop helper
ok "a service" said 'repaired: service helper.service: running no → yes'; ok "it runs" systemctl -q is-active helper
mkdir $CM/sto; echo "IB/RoCE v1" >$CM/sto/ports/1/default_roce_mode; rmdir $CM/sto
ok "RoCE defaults, through a folder that is gone" said 'repaired: roce sto/1: mode v1 → v2'
mkdir $CM/sto; sleep 2; echo "IB/RoCE v1" >$CM/sto/ports/1/default_roce_mode
ok "and through one that is there" lab-wait 30 "grep -q 'RoCE v2' $CM/sto/ports/1/default_roce_mode"; rmdir $CM/sto; idle; sleep 2
n=$(journalctl -u rdma-configd -o cat --no-pager | grep -c repaired)
is "who only reads" "$(default)" "RoCE v2"; sleep 3
is "does not cause a repair" "$(journalctl -u rdma-configd -o cat --no-pager | grep -c repaired)" "$n"
ok "rdma_cm can be unloaded" unload_rdma_cm
modprobe rdma_cm
ok "and loaded" lab-wait 30 "mkdir $CM/sto 2>/dev/null; grep -q 106 $CM/sto/ports/1/default_roce_tos; rc=\$?; rmdir $CM/sto; exit \$rc"

ln -sfn /dev/null /etc/udev/rules.d/70-rdma-configd-ipoib.rules
ip link set mlx4_ib1 mtu 1400
ok "beside a masked file the rest is held" lab-wait 30 'test "$(cat /sys/class/net/mlx4_ib1/mtu)" = 2044'
ok "and the file is named" said '70-rdma-configd-ipoib.rules is a symbolic link'
rm /etc/udev/rules.d/70-rdma-configd-ipoib.rules
ok "it is written again" lab-wait 60 'grep -q mlx4_ib1 /etc/udev/rules.d/70-rdma-configd-ipoib.rules'
pid=$(systemctl show -P MainPID rdma-configd)
systemctl restart dbus; sleep 2
ok "back on the bus" lab-wait 60 'busctl status org.rdmaconfigd1'
is "the same daemon" "$(systemctl show -P MainPID rdma-configd)" "$pid"
systemctl stop helper
ok "which listens" lab-wait 30 'systemctl -q is-active helper'
# One repair of it was above.
for i in 1 2; do ip link set mlx4_ib1 mtu 1400; lab-wait 30 'test "$(cat /sys/class/net/mlx4_ib1/mtu)" = 2044'; sleep 1; done
ip link set mlx4_ib1 mtu 1400
ok "a fight is over" lab-wait 30 'busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager Contended | grep -q "changed mtu of mlx4_ib1"'
ip link set mlx4_ib1 down
ok "another setting of the same interface is held" lab-wait 30 'ip link show mlx4_ib1 | grep -q "[<,]UP"'
is "the one that was fought for is left" "$(mtu mlx4_ib1)" 1400

sed -i 's/^mtu  = 2044/mtu  = 2000/' $CONF
exits "apply --confirm" 0 apply --confirm 40
systemctl mask --runtime -q rdma-configd; systemctl kill -s KILL --kill-whom=main rdma-configd; systemctl stop rdma-configd
sleep 20; systemctl daemon-reload	# a deadline that it put off would be 20 s later
ok "rolled back in time, without the daemon and with a reload in between" command lab-wait 32 'test "$(cat /sys/class/net/mlx4_ib0/mtu)" = 2044'
