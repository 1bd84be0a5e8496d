# SPDX-License-Identifier: Apache-2.0
# Expectations on adapters whose lanes and error counters can be played: unmet and met in status, diff, journal, metrics
# and on the bus, once each, and nothing written by a look.
# nightly
# lab: --full --timeout 900
# tree: full
systemctl stop NetworkManager
mkdir -p /var/lib/prometheus/node-exporter
conf <<X
[daemon]
metrics = "/var/lib/prometheus/node-exporter"
audit   = 60

[[expect]]
name         = "fabric"
match        = { driver = "fake_hca", link_layer = "InfiniBand" }
devices      = 1
active_ports = 2
rate         = 40
width        = 4
link_layer   = "InfiniBand"
subnet_manager = true

  [[expect.counter]]
  name = "symbol_error"
  max  = 10

[[expect]]
name = "errors"
  [[expect.counter]]
  name   = "symbol_error"
  growth = 5
  window = "60s"

[[expect]]
name         = "host"
acs_redirect = false

  [[expect.setting]]
  name = "vm.max_map_count"
  min  = 1024
X
lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1

manager() { busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager "$1"; }
idle() { lab-wait 60 '[ "$(busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State)" = "s \"idle\"" ]'; sleep 2; }
journal() { journalctl -o cat -u rdma-configd --since "@$since" | grep -c "$1"; }
port() { rdma-configctl show --json | jq -r ".resources[] | select(.label | test(\"$1 of .*/1\$\")) | .status"; }
echo "errors mlx4_0 1 0" >/proc/fake_hca
ok "the daemon holds the document" lab-wait 90 'busctl status org.rdmaconfigd1 >/dev/null 2>&1'
ok "idle" idle
ok "ports are active" lab-wait 60 "rdma-configctl show --json | jq -e '[.resources[] | select(.kind == \"expect\" and .status == \"unmet\")] | length == 0'"
is "a growth is not known at first" "$(port errors)" pending
is "the host" "$(rdma-configctl show --json | jq -r '.resources[] | select(.label == "host") | .status')" in_sync
ok "the daemon has taken readings" lab-wait 60 'grep -q symbol_error /run/rdma-configd/counters'

# A link that loses lanes.
since=$(date +%s); sleep 1
echo "lanes mlx4_0 1 1" >/proc/fake_hca; echo "port mlx4_0 1 down" >/proc/fake_hca; sleep 1; echo "port mlx4_0 1 active" >/proc/fake_hca
ok "it is unmet" lab-wait 60 "rdma-configctl show --json | jq -e '.resources[] | select(.status == \"unmet\" and (.reason | test(\"width is 1 lanes, expected at least 4 lanes\")))'"
idle
exits "diff" 5 rdma-configctl diff
has "diff has the reason" "$OUT" "expected at least 40 Gb/s"
exits "status" 5 rdma-configctl status
has "status has the headline" "$OUT" "an expectation is not met"
exits "--pending-ok does not hide it" 5 rdma-configctl status --pending-ok
exits "doctor" 2 rdma-configctl doctor
has "doctor names it" "$OUT" "unmet"
ok "the bus has it" lab-wait 60 'busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager Unmet | grep -qF "expected at least 40 Gb/s"'
ok "metrics have it" lab-wait 60 "grep -q '^rdma_configd_resources{kind=\"expect\",status=\"unmet\"} 1\$' /var/lib/prometheus/node-exporter/rdma-configd.prom"
lab-wait 60 "journalctl -o cat -u rdma-configd --since @$since | grep -q 'not as expected: .*width is 1'"
n=$(journal 'not as expected: .*width is 1')
ok "the journal has it ($n)" test "$n" -ge 1
for _ in 1 2 3; do ip link add d0 type dummy; ip link del d0; sleep 1; done; idle
is "once" "$(journal 'not as expected: .*width is 1')" "$n"
OUT=$(/usr/share/doc/rdma-configd/examples/checks/check_rdma_configd 2>&1 || true)
[ -z "$OUT" ] || has "the check of Nagios, where it is installed" "$OUT" RDMA
writes rdma-configctl diff; is "diff writes nothing" "$(head -3 <<<"$WROTE")" ""
exits "an apply" 5 apply

echo "lanes mlx4_0 1 4" >/proc/fake_hca; echo "port mlx4_0 1 down" >/proc/fake_hca; sleep 1; echo "port mlx4_0 1 active" >/proc/fake_hca
ok "it is met again" lab-wait 60 "rdma-configctl show --json | jq -e '[.resources[] | select(.kind == \"expect\" and .status == \"unmet\")] | length == 0'"
idle
ok "and the journal says so" lab-wait 30 "journalctl -o cat -u rdma-configd --since @$since | grep -q 'as expected again'"

# Errors: too many at once, and too fast.
echo "errors mlx4_0 1 11" >/proc/fake_hca
is "the maximum" "$(port fabric)" unmet
is "the growth" "$(port errors)" unmet
has "with both numbers" "$(rdma-configctl diff)" "symbol_error is 11, expected at most 10"
# A reset is one only of a value that the daemon has read, which an audit has it do.
ok "the daemon has read it" lab-wait 200 'grep -Eq "symbol_error .*:11( |$)" /run/rdma-configd/counters'
echo "errors mlx4_0 1 0" >/proc/fake_hca
is "a counter that was reset" "$(port errors)" pending

# Port 2 loses its cable: the number of active ports.
echo "port mlx4_0 2 down" >/proc/fake_hca
ok "active ports" lab-wait 60 "rdma-configctl diff | grep -q 'active_ports is 1, expected at least 2'"
echo "port mlx4_0 2 active" >/proc/fake_hca

# The adapter goes: everything that was expected of it is not met.
echo "del mlx4_0" >/proc/fake_hca
ok "nothing matches" lab-wait 60 "rdma-configctl diff | grep -q 'no port of this host matches'"
finish
