# SPDX-License-Identifier: Apache-2.0
# Runs in the full guest after measure.sh: the daemon beside systemd-networkd and NetworkManager, first idle, then with N children.
DAEMONS="rdma-configd systemd-networkd NetworkManager"
property() { busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager "$1"; }
idle() { lab-wait 300 '[ "$(busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State)" = "s \"idle\"" ]' || echo "it never became idle"; udevadm settle; sleep 5; }
pid() { systemctl show -P MainPID "$1"; }
field() { awk -v want="$2:" '$1 == want { print $2 }' "/proc/$(pid "$1")/$3"; }	# UNIT FIELD FILE
switches() { cat /proc/"$(pid "$1")"/task/*/status | awk '/^voluntary/ { n += $2 } END { print n }'; }
memory() {	# WHEN: in KiB
	local unit
	for unit in $DAEMONS; do
		printf 'memory %-22s %-18s resident %6d KiB   proportional %6d KiB\n' "$1" "$unit" "$(field "$unit" VmRSS status)" "$(field "$unit" Pss smaps_rollup)"
	done
}
wakeups() {	# WHEN
	local unit; declare -A before
	for unit in $DAEMONS; do before[$unit]=$(switches "$unit"); done
	sleep 60
	for unit in $DAEMONS; do printf 'wakeups in 60 s %-12s %-18s %d\n' "$1" "$unit" $(($(switches "$unit") - before[$unit])); done
}
took() { local name=$1 a; shift; a=$(now); "$@" >/tmp/out 2>&1 || { echo "$name: exit $?"; tail -3 /tmp/out; }; echo $(($(now) - a)) >>"/tmp/t.$name"; }
starts() {	# WHEN: from the program's start to READY=1
	local unit r
	for r in $(seq "$RUNS"); do
		for unit in $DAEMONS; do
			systemctl reset-failed "$unit" 2>/dev/null; systemctl restart "$unit"; sleep 2
			echo $(($(systemctl show -P ActiveEnterTimestampMonotonic "$unit") - $(systemctl show -P ExecMainStartTimestampMonotonic "$unit"))) >>"/tmp/t.start-$1-$unit"
		done
	done
	idle
	for unit in $DAEMONS; do stat "start-$1-$unit"; done
	ratio "start-$1-rdma-configd" "start-$1-systemd-networkd"; ratio "start-$1-rdma-configd" "start-$1-NetworkManager"
}
document() { printf 'version = 1\n[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "mlx4_ib0"\nmtu = 4092\n'; for i in $(seq "$1"); do printf '[[ipoib.pkey]]\npkey = 0x%x\n' $((0x8000 + i)); done; }

mkdir -p /etc/rdma-configd; document 0 >/etc/rdma-configd/config.toml
lab-load ib:mlx4_0:1 pkeys=$((N + 2)) || { echo "the adapter cannot be loaded"; exit 1; }
systemctl start systemd-networkd NetworkManager
lab-wait 60 'test -e /sys/class/net/mlx4_ib0'; idle
echo "full guest, $(nproc) processors, emulated; $RUNS runs"
memory "1 interface"; wakeups "1 interface"; starts 1-interface

for r in $(seq "$RUNS"); do
	[ "$r" = 1 ] || systemctl restart rdma-configd	# what is changed back three times is left alone
	idle; a=$(now); ip link set mlx4_ib0 mtu 2044
	until read -r m </sys/class/net/mlx4_ib0/mtu && [ "$m" = 4092 ]; do [ $(($(now) - a)) -lt 60000000 ] || { echo "no repair"; break; }; done
	echo $(($(now) - a)) >>/tmp/t.drift-to-repaired
	took ip-sets-mtu ip link set mlx4_ib0 mtu 4092
done
stat drift-to-repaired; stat ip-sets-mtu; ratio drift-to-repaired ip-sets-mtu

document "$N" >/etc/rdma-configd/config.toml
rdma-configctl apply --yes >/tmp/out 2>&1 || tail -5 /tmp/out
[ "$(ls /sys/class/net | grep -c '^mlx4_ib0\.')" = "$N" ] || echo "not all children are there"
idle; sleep 20
memory "$N P_Key interfaces"; wakeups "$N"
for r in $(seq "$RUNS"); do
	took ctl-show rdma-configctl show; took ctl-show-local rdma-configctl show --local; took ctl-diff rdma-configctl diff
	took busctl-property property State
	took ip-d-link ip -d link; took nmcli-device nmcli -t -f DEVICE,STATE device; took networkctl-list networkctl --no-pager list
done
for t in ctl-show ctl-show-local ctl-diff busctl-property ip-d-link nmcli-device networkctl-list; do stat $t; done
ratio ctl-show ip-d-link; ratio ctl-show nmcli-device; ratio ctl-show networkctl-list
starts "$N-interfaces"
