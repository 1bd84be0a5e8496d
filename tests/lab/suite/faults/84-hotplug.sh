# A device is removed and comes back again and again, at a random moment of an apply: a few times, 50 with
# LAB_NIGHTLY=1 (LAB_POINTS is another number).
# nightly: CI has time for the core and the daemon
# lab: --snap --timeout 3600 --mem 2000
systemctl stop NetworkManager
lab-load ib:mlx4_0:2 ib:mlx4_1:2 || exit 1
dev=$(basename "$(readlink -f /sys/class/net/$(lab-net b011)/device/infiniband/*)")
doc() { for p in 01 11; do printf '[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:%s"\nname = "n%s"\nmode = "%s"\n' $p $p "$1"; for k in $(seq "$2" $(($2 + 9))); do printf '[[ipoib.pkey]]\npkey = %d\nmtu = 1500\n' $k; done; done; }
few=3; [ -z "$NIGHTLY" ] || few=50
times=${POINTS:-$few} bad=0 whole=0 part=0 gone=0
for i in $(seq $times); do
	if [ $((i % 2)) = 0 ]; then doc datagram 1 | conf; else doc connected 6 | conf; fi
	( sleep "$((RANDOM % 2)).$((RANDOM % 10))"; echo "del $dev" >/proc/fake_hca; sleep ".$((RANDOM % 5))"; echo "add ib mlx4_1 2" >/proc/fake_hca ) &
	apply >/tmp/out 2>&1; rc=$?; wait $!
	case $rc in
	0) whole=$((whole + 1));;
	5) part=$((part + 1)); grep -q "no port has this GUID now\|removed during the apply" /tmp/out && gone=$((gone + 1));;
	*) bad=$((bad + 1)); echo "time $i: exit $rc"; tail -5 /tmp/out;;
	esac
	udevadm settle
	dev=$(basename "$(readlink -f /sys/class/net/$(lab-net b011)/device/infiniband/*)")
	OUT=$(apply 2>&1); rc=$?
	[ $rc != 5 ] || { wait_carriers 'n[01]1*'; OUT=$(apply 2>&1); rc=$?; }	# nothing was left to change, and joins were under way
	if [ $rc -ne 0 ] || [ "$(ls /sys/class/net | grep -c '^n[01]1\.')" != 20 ]; then bad=$((bad + 1)); echo "time $i, the device is back: exit $rc"; tail -5 <<<"$OUT"; ls /sys/class/net | tr '\n' ' '; fi
	[ ! -e /var/lib/rdma-configd/journal.json ] || { bad=$((bad + 1)); echo "time $i: the journal is left"; }
	[ $bad -lt 4 ] || break
done
echo "hotplug: removed and added $times times while applying: $whole applies whole, $part with the device pending ($gone said so)"
is "$times removals in the middle" "$bad" 0
