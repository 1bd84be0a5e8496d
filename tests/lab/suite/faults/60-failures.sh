# Devices that go away in the middle, a kill in the middle, refusals in the middle: the old state, or the new one.
# long
# lab: --snap --timeout 600
systemctl stop NetworkManager; no_daemon
lab-load ib:mlx4_0:2 ib:mlx4_1:2 || exit 1
dev=$(basename "$(readlink -f /sys/class/net/$(lab-net b011)/device/infiniband/*)")
g() { echo "00:02:c9:03:00:a0:b0:$1"; }
doc() { for p in 01 11; do printf '[[ipoib]]\nguid = "%s"\nname = "n%s"\n' "$(g $p)" $p; for i in $(seq 1 ${1:-30}); do printf '[[ipoib.pkey]]\npkey = %d\nmtu = 1500\n' $i; done; done; }
doc 40 | conf
( sleep .${RANDOM:0:1}; echo "del $dev" > /proc/fake_hca ) & rdma-configctl apply --yes >/tmp/out 2>&1; rc=$?; wait
case $rc in 5|0) pass "device removed in the middle: exit $rc";; *) fail "device removed in the middle: exit $rc" "$(cat /tmp/out)";; esac
is "the other one is done" "$(ls /sys/class/net | grep -c '^n01\.')" 40
exits "its part is pending" 5 apply; has "says so" "$OUT" "no port has this GUID now"
echo "add ib mlx4_1 2" > /proc/fake_hca; udevadm settle; wait_carriers 'n01*'
exits "it is back" 0 apply; is "children" "$(ls /sys/class/net | grep -c '^n11\.')" 40; wait_carriers 'n[01]1*'
exits "in sync" 0 ctl diff
# kill -9 at many moments; then an apply ends where an uninterrupted one does
full=$(picture)
reset() { printf 'version = 1\n[[ipoib]]\nguid = "%s"\nname = "old"\nmtu = 2044\n' "$(g 01)" | conf; apply >/dev/null 2>&1; ip addr flush dev old; ip addr add 10.7.0.1/24 dev old; ip -6 addr add fd00:7::1/64 dev old nodad; wait_carrier old; }
want= moments="0.06 0.2 0.4" step=6
[ -z "$NIGHTLY" ] || moments="0.02 0.06 0.1 0.14 0.18 0.24 0.3 0.4 0.5 0.7" step=1
for t in $moments; do
	reset; doc 12 | conf
	rdma-configctl apply --yes >/dev/null 2>&1 & p=$!; sleep $t; kill -9 $p 2>/dev/null; wait $p 2>/dev/null
	OUT=$(apply 2>&1); rc=$?
	wait_carriers 'n01*'	# after a kill at the end of an apply nothing is left to change, and joins are under way
	[ $rc != 5 ] || { OUT=$(apply 2>&1); rc=$?; }
	now=$(picture)
	[ -n "$want" ] || want=$now
	if [ $rc -ne 0 ]; then fail "killed after $t s: exit $rc" "$OUT"; elif [ "$now" != "$want" ]; then fail "killed after $t s: another state" "$(diff <(echo "$want") <(echo "$now"))"; else N=$((N + 1)); fi
	ip addr show n01 | grep -q fd00:7::1/64 || fail "address lost by a kill after $t s"
	[ ! -e /var/lib/rdma-configd/journal.json ] || fail "the journal is left"
	printf 'version = 1\n' | conf; apply >/dev/null 2>&1
done
pass "killed after $moments s: the same state each time"
# A refusal in the middle (strace makes a call fail): everything is as before.
reset; was=$(picture); doc 8 | conf; bad=0; n=0
for at in $(seq 1 $step 30); do
	strace -f -o /dev/null -e trace=sendmsg,sendto -e inject=sendmsg,sendto:error=ENOBUFS:when=$at rdma-configctl apply --yes "${PATIENCE[@]}" >/tmp/out 2>&1; rc=$?
	case $rc in
	0) break;;
	1|3) n=$((n + 1)); wait_carrier old; [ "$(picture)" = "$was" ] || { bad=$((bad + 1)); diff <(echo "$was") <(picture) | head -5; };;
	*) bad=$((bad + 1)); echo "call $at: exit $rc"; tail -5 /tmp/out;;
	esac
done
is "netlink failing at one call after the other, $n times: undone" "$bad" 0
