# The daemon in a storm of link events (some 10,000 with LAB_NIGHTLY=1), and a fighter that sets an MTU back each time. It stops
# fighting and says so, does other work on time, and its processor time and its writes stay small.
# nightly: CI has time for the core and the daemon
# lab: --full --timeout 1800 --mem 2500
# tree: full
systemctl stop NetworkManager
conf <<X
[[ipoib]]
guid = "00:02:c9:03:00:a0:b0:01"
name = "mlx4_ib0"
mtu  = 4092
[[ipoib]]
guid = "00:02:c9:03:00:a0:b0:02"
name = "mlx4_ib1"
  [[ipoib.pkey]]
  pkey = 0x8002
X
lab-load ib:mlx4_0:2
ok "configured" lab-wait 90 'test -e /sys/class/net/mlx4_ib1.8002'
ok "idle" lab-wait 60 '[ "$(busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State)" = "s \"idle\"" ]'
cpu() { systemctl show -P CPUUsageNSec rdma-configd; }
repairs() { journalctl -u rdma-configd -o cat --no-pager | grep -c "repaired: ipoib mlx4_ib0: mtu"; }
# Each write of a file makes a new one in its place.
(while :; do stat -c '%n %i' /var/lib/rdma-configd/*.json /etc/udev/rules.d/*; sleep .1; done >>/tmp/written) 2>/dev/null & watcher=$!
before=$(cpu); start=$SECONDS
(while :; do ip link set mlx4_ib0 mtu 2044; sleep .2; done) 2>/dev/null & fighter=$!
links=150; [ -z "$NIGHTLY" ] || links=2500
for i in $(seq $links); do echo "link add s$i type dummy"; echo "link set s$i up"; done >/tmp/up	# at least two events each; how many more depends on how the links' states are told together
for i in $(seq $links); do echo "link del s$i"; done >/tmp/down
(ip monitor link >/tmp/events) & monitor=$!; lab-wait 10 'test -s /tmp/events'		# it hears of the fighter
ip -batch /tmp/up; ip -batch /tmp/down
ip link del mlx4_ib1.8002
ok "what the storm does not concern is repaired" lab-wait 60 'test -e /sys/class/net/mlx4_ib1.8002'
ok "it stops fighting" lab-wait 90 'busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager Contended | grep -q mlx4_ib0'
n=$(repairs); sleep 10
is "and does not begin again" "$(repairs)" "$n"
[ "$n" -le 4 ] && pass "$n repairs of what is fought for" || fail "$n repairs of what is fought for"
journalctl -u rdma-configd -o short-monotonic --no-pager | grep -v 'state "' | tail -40 | cut -c1-250
kill $fighter $monitor $watcher; took=$((SECONDS - start))
spent=$((($(cpu) - before) / 1000000))
echo "storm: $(grep -c '^[0-9]' /tmp/events) link events and a fighter in $took s: $spent ms of processor time, $n repairs, $(sort -u /tmp/written | wc -l) files seen"
# Of each repair and of the interface that is re-created: the journal and the state, beside what was there.
seen=$(sort -u /tmp/written | wc -l); bound=$((4 * (n + 2) + 8))
[ "$seen" -le "$bound" ] && pass "few writes" || fail "$seen files seen, want at most $bound" "$(sort -u /tmp/written)"
[ "$(grep -c '^[0-9]' /tmp/events)" -ge $((links * 2)) ] && pass "a storm it was" || fail "only $(grep -c '^[0-9]' /tmp/events) events"
is "the service never failed" "$(systemctl show -P NRestarts rdma-configd)" 0
