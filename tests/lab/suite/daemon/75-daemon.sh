# The daemon: new devices are configured, drift is repaired, an unconfirmed apply goes.
# long
# lab: --full --timeout 900
# tree: full
conf <<X
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "mlx4_ib0"
mode = "connected"
mtu  = 65520
  [[ipoib.pkey]]
  pkey = 0x8002
X
lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
ok "hardware appears: configured" lab-wait 90 'test "$(cat /sys/class/net/mlx4_ib0/mtu)" = 65520 -a -e /sys/class/net/mlx4_ib0.8002'
ok "the service is active" lab-wait 60 'systemctl -q is-active rdma-configd.service'
lab-wait 90 'rdma-configctl diff'; exits "diff" 0 ctl diff	# joins may be under way
is "nothing failed" "$(systemctl list-units --failed --no-legend 'rdma-configd*')" ""
ok "it is on the bus" lab-wait 60 'busctl status org.rdmaconfigd1'
ok "idle" lab-wait 60 '[ "$(busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State)" = "s \"idle\"" ]'
has "introspection" "$(busctl introspect org.rdmaconfigd1 /org/rdmaconfigd1)" ".Apply"
ok "STATUS= tells" lab-wait 60 'systemctl show -p StatusText rdma-configd | grep -q "generation 1 is active"'	# it may look once more meanwhile

ip link set mlx4_ib0 mtu 2044
ok "drift is repaired" lab-wait 60 'test "$(cat /sys/class/net/mlx4_ib0/mtu)" = 65520'
ok "and the journal says so" lab-wait 30 "journalctl -u rdma-configd -o cat --no-pager | grep -q 'repaired: ipoib mlx4_ib0: mtu 2044 → 65520'"
ip link del mlx4_ib0.8002
ok "a child that was deleted comes back" lab-wait 60 'test -e /sys/class/net/mlx4_ib0.8002'
ok "and the journal says what it is" lab-wait 30 "journalctl -u rdma-configd -o cat --no-pager | grep -q 'repaired: pkey mlx4_ib0.8002: made again'"
is "each explanation is filled in" "$(journalctl -u rdma-configd -x --no-pager | grep -c '@RDMA_\|Subject: RDMA_\|: RDMA_CHANGE')" 0
rmmod fake_hca; lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
ok "driver reload" lab-wait 90 'test "$(cat /sys/class/net/mlx4_ib0/mtu)" = 65520 -a -e /sys/class/net/mlx4_ib0.8002'; lab-wait 90 'rdma-configctl diff'

# addresses, routes and files; and somebody who does not give up
systemctl stop NetworkManager
sed -i '/^mtu  = 65520/a backend = "direct"\nipv4 = { addresses = ["192.0.2.1/24"], routes = [{ to = "10.9.0.0/16" }] }' $CONF
exits "addresses" 0 apply
ip addr del 192.0.2.1/24 dev mlx4_ib0
ok "an address that was deleted comes back" lab-wait 60 'ip -4 addr show dev mlx4_ib0 | grep -q 192.0.2.1/24 && ip route show 10.9.0.0/16 | grep -q mlx4_ib0'
ip route del 10.9.0.0/16 dev mlx4_ib0
ok "a route that was deleted comes back" lab-wait 60 'ip route show 10.9.0.0/16 | grep -q mlx4_ib0'
rm /etc/udev/rules.d/71-rdma-configd-backend.rules
ok "a file that was deleted comes back" lab-wait 60 'test -e /etc/udev/rules.d/71-rdma-configd-backend.rules'
(while :; do ip link del mlx4_ib0.8002; sleep .3; done) 2>/dev/null & fighter=$!
ok "who deletes a child again and again contends" lab-wait 90 'busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager Contended | grep -q "has removed mlx4_ib0.8002"'
kill $fighter; wait $fighter 2>/dev/null; lab-wait 10 '! pgrep -x ip'	# its last command, too
sed -i '/^backend = /d; /^ipv4 = /d' $CONF
applies "an apply starts over"; ok "the child is there" test -e /sys/class/net/mlx4_ib0.8002

# drift that is only reported; a new device is configured all the same
printf '[daemon]\ndrift = "report"\n' >>$CONF
exits "drift = report" 0 apply
ip link set mlx4_ib0 mtu 2044
ok "drift is reported" lab-wait 60 "journalctl -u rdma-configd -o cat --no-pager | grep -q 'drifted: ipoib mlx4_ib0: mtu 65520 → 2044'"
is "and left" "$(mtu mlx4_ib0)" 2044
ip link del mlx4_ib0.8002; rmmod fake_hca; lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
ok "a driver reload is not drift" lab-wait 90 'test "$(cat /sys/class/net/mlx4_ib0/mtu)" = 65520 -a -e /sys/class/net/mlx4_ib0.8002'
lab-wait 90 'rdma-configctl diff'	# joins may be under way
sed -i '/^\[daemon\]/,$d' $CONF; exits "drift = repair again" 0 apply

# a confirmed change, by the daemon
sed -i 's/mtu  = 65520/mtu  = 4092/' $CONF
exits "apply --confirm" 0 apply --confirm 30
has "it says until when" "$OUT" "unless you run \`rdma-configctl confirm\` before then"
is "applied" "$(mtu mlx4_ib0)" 4092
has "history" "$(ctl history)" "waits for confirmation until"
ok "rolled back" lab-wait 60 'test "$(cat /sys/class/net/mlx4_ib0/mtu)" = 65520'
ok "history says so" lab-wait 60 'rdma-configctl history | grep -q "rolled back: it was not confirmed in time"'	# once all is verified
systemctl reload rdma-configd; lab-wait 60 '! busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State | grep -q working'
is "a document that was rolled back is not applied by itself" "$(mtu mlx4_ib0)" 65520
exits "asked for, it is" 0 apply; is "applied" "$(mtu mlx4_ib0)" 4092

# the daemon killed in between: the timer of the service manager does it
sed -i 's/mtu  = 4092/mtu  = 2044/' $CONF
exits "apply --confirm, once more" 0 apply --confirm 30
systemctl mask --runtime -q rdma-configd; systemctl kill -s KILL --kill-whom=main rdma-configd; systemctl stop rdma-configd
ok "the daemon is gone" test "$(systemctl is-active rdma-configd)" != active
ok "rolled back without the daemon" lab-wait 60 'test "$(cat /sys/class/net/mlx4_ib0/mtu)" = 4092'
systemctl unmask --runtime -q rdma-configd
exits "without it, apply works too" 0 apply; is "applied" "$(mtu mlx4_ib0)" 2044
exits "confirm: nothing waits" 1 ctl confirm
exits "rollback" 0 ctl rollback --yes; is "rolled back" "$(mtu mlx4_ib0)" 4092

# kill -9 of a working daemon
systemctl reset-failed -q rdma-configd; systemctl start rdma-configd
for i in 1 2 3; do
	ip link set mlx4_ib0 mtu 1500; sleep .$i; systemctl kill -s KILL rdma-configd
	ok "killed $i: it comes back and repairs" lab-wait 60 'test "$(cat /sys/class/net/mlx4_ib0/mtu)" = 4092'
done
ok "and is active" lab-wait 60 'systemctl -q is-active rdma-configd'
out=$(systemd-analyze security --no-pager rdma-configd.service | tail -1)
ok "exposure is at most 1.8: $out" awk -v e="$(grep -o '[0-9]\.[0-9]' <<<"$out")" 'BEGIN {exit !(e <= 1.8)}'

# metrics
mkdir -p /var/lib/prometheus/node-exporter; prom=/var/lib/prometheus/node-exporter/rdma-configd.prom
printf '[daemon]\nmetrics = "/var/lib/prometheus/node-exporter"\n' >>$CONF
systemctl restart rdma-configd
ok "the daemon keeps metrics" lab-wait 60 "grep -q '^rdma_configd_up 1' $prom"
ok "everything is in sync" lab-wait 60 "! grep -E 'status=\"(differs|failed)\".* [1-9]' $prom"
ip link set mlx4_ib0 mtu 1500
ok "a repair counts" lab-wait 60 "grep -q '^rdma_configd_repairs_total{kind=\"ipoib\"} [1-9]' $prom"
counts='^rdma_configd_generation\|^rdma_configd_repairs_total\|^rdma_configd_up'
lab-wait 30 "diff <(rdma-configctl metrics | grep '$counts') <(grep '$counts' $prom)"	# the file is written after the repair
is "rdma-configctl says the same" "$(ctl metrics | grep "$counts")" "$(grep "$counts" $prom)"
systemctl stop rdma-configd
ok "a stopped daemon says so" grep -q '^rdma_configd_up 0' $prom
sed -i 's/^metrics = .*/audit = 0/' $CONF	# without the section it is the document that was rolled back
systemctl start rdma-configd
ok "the file goes with its line" lab-wait 60 "test ! -e $prom"
