# SPDX-License-Identifier: Apache-2.0
# Verbs async events: a port's event that no interface shows wakes the daemon; and a device that is held open for it
# keeps nobody from removing it, nor its driver, nor uverbs.
# nightly: CI has time for the core and the daemon
# lab: --full --timeout 900
# tree: full
systemctl stop NetworkManager
conf <<X
[[ipoib]]
guid  = "00:02:c9:03:00:31:78:f2"
name  = "mlx4_ib0"
state = "down"
X
lab-load ib:mlx4_0:2 roce:mlx5_0:1 guid_base=0x0002c903003178f1
manager() { busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager "$1"; }
idle() { lab-wait 60 '[ "$(busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State)" = "s \"idle\"" ]'; sleep 2; }
pid() { systemctl show -P MainPID rdma-configd; }
# How many devices it holds open; a slow machine gets to it after the host is as it should be.
holds() { lab-wait 60 "[ \$(ls -l /proc/$(pid)/fd | grep -c /dev/infiniband/uverbs) = $1 ]"; }
# How often it has been at work since the last time.
worked() { sleep 3; idle; local n; n=$(grep -c '"working"' /tmp/signals); echo $((n - seen)); }
listen() { seen=$(grep -c '"working"' /tmp/signals); }
quiet() { for _ in $(seq 10); do listen; [ "$(worked)" != 0 ] || return 0; done; return 1; }
ok "configured" lab-wait 90 'rdma-configctl diff >/dev/null 2>&1'
ok "idle" idle
ok "both devices are held open" holds 2
is "descriptors are not a concern" "$(sed -n 's/^Max open files *\([0-9]*\) .*/\1/p' /proc/$(pid)/limits)" 65536
ok "not by a process that stays" lab-wait 30 '[ "$(pgrep -c rdma-configd)" = 1 ]'
busctl monitor --match "type=signal,interface=org.freedesktop.DBus.Properties,path=/org/rdmaconfigd1" >/tmp/signals 2>/dev/null & monitor=$!
sleep 1; ok "nothing happens, nothing is done" quiet
listen; echo "pkey mlx4_0 1 5 0x8005" >/proc/fake_hca
is "a P_Key that comes to a port whose interface is down" "$(($(worked) > 0))" 1
listen; for i in $(seq 300); do echo "pkey mlx4_0 1 5 0x80$((i % 90 + 10))"; done | while read -r line; do echo "$line" >/proc/fake_hca; done
n=$(worked); is "300 of them do not make 300 looks ($n)" "$((n > 0 && n < 30))" 1

# An interface that is up and has no carrier: why it has none changes without a message of its own.
sed -i 's/"down"/"up"/' $CONF; applies "up"; ok "carrier" lab-wait 60 'test "$(cat /sys/class/net/mlx4_ib0/carrier)" = 1'; idle
echo "sa mlx4_0 1 off" >/proc/fake_hca; echo "port mlx4_0 1 down" >/proc/fake_hca
ok "no carrier" lab-wait 60 'test "$(cat /sys/class/net/mlx4_ib0/carrier)" = 0'; ok "quiet" quiet; listen
echo "port mlx4_0 1 active" >/proc/fake_hca
is "a port that comes, without carrier" "$(($(worked) > 0))" 1
echo "sa mlx4_0 1 on" >/proc/fake_hca; ok "carrier again" lab-wait 90 'test "$(cat /sys/class/net/mlx4_ib0/carrier)" = 1'; idle

# Devices that go.
first=$(ls /sys/class/infiniband | head -1)
echo "del $first" >/proc/fake_hca; ok "one is removed" lab-wait 20 "! test -e /sys/class/infiniband/$first"; idle
ok "it is not held any more" holds 1
echo "add ib $first 2" >/proc/fake_hca; udevadm settle; idle
ok "it comes back, and is" holds 2
rmmod fake_hca; is "the driver is unloaded" $? 0
modprobe -r rdma_ucm; ok "and uverbs, which it was the last to use, at once" test ! -e /sys/module/ib_uverbs
idle; ok "nothing is held" holds 0
lab-load ib:mlx4_0:2 roce:mlx5_0:1 guid_base=0x0002c903003178f1
ok "configured again" lab-wait 90 'rdma-configctl diff >/dev/null 2>&1'; idle
ok "held again" holds 2
# A driver of this kernel whose devices cannot be taken from those that have them open.
rmmod fake_hca; ip link add d0 type dummy; ip link set d0 up; modprobe rdma_rxe; rdma link add rxe0 type rxe netdev d0
conf <<X
[[roce]]
device = "rxe0"
port   = 1
mode   = "v2"
X
exits "of rxe something is wanted" 0 apply; idle
ok "it is not held open" holds 0
before=$(cat /sys/module/rdma_rxe/refcnt); for f in /dev/infiniband/uverbs*; do is "which would keep its driver ($f)" "$( (exec 5<>"$f"; cat /sys/module/rdma_rxe/refcnt) )" $((before + 1)); done
rdma link del rxe0; is "its device is removed" $? 0
rmmod rdma_rxe; is "and its driver unloaded" $? 0
kill $monitor
