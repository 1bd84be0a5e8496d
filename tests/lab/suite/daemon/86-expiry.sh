# Applies that nobody confirms, in real time: three times, 20 with LAB_NIGHTLY=1 (LAB_POINTS is another number), every third
# with the daemon killed; then one that a reboot comes before, and one that is confirmed; with LAB_NIGHTLY=1 also a driver
# reload meanwhile, and the active document once more.
# nightly: CI has time for the core and the daemon
# lab: --full --timeout 1800
# tree: full
# boots: 2
systemctl stop NetworkManager
lab-load ib:mlx4_0:2
first() { printf '[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "one"\nmtu = 2044\n[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:02"\nname = "two"\n[[ipoib.pkey]]\npkey = 0x8002\n' | conf; }
if [ "$BOOT" = 2 ]; then
	ok "after the reboot, what was before" lab-wait 90 'test "$(cat /sys/class/net/one/mtu)" = 2044 -a -e /sys/class/net/two.8002'
	ok "history says so" lab-wait 30 'rdma-configctl history | grep -q "rolled back"'
	lab-wait 90 'rdma-configctl diff'	# joins may be under way
	sed -i 's/2044/4000/' $CONF
	exits "apply --confirm" 0 apply --confirm 30
	exits "confirm" 0 ctl confirm
	[ -z "$NIGHTLY" ] || sleep 35
	is "it stays" "$(mtu one)" 4000
else
	first; applies "the first one"
	# How long after its deadline all is recorded, in milliseconds; a figure, nothing is asserted about it.
	late() {
		local due boot
		due=$(grep -o '"deadline_ms": [0-9]*' /var/lib/rdma-configd/generations.json | grep -o '[0-9]*$') || return 0
		boot=$(perl -MTime::HiRes=clock_gettime,CLOCK_REALTIME,CLOCK_BOOTTIME -e 'printf "%d", 1000 * (clock_gettime(CLOCK_REALTIME) - clock_gettime(CLOCK_BOOTTIME))')
		lab-wait 60 'grep -q "unconfirmed\": null" /var/lib/rdma-configd/generations.json' || { echo "time $1: it still waits"; return; }
		echo $(($(date -d "$(stat -c %y /var/lib/rdma-configd/generations.json)" +%s%3N) - boot - due)) >>/tmp/late
	}
	few=3; [ -z "$NIGHTLY" ] || few=20
	bad=0 times=${POINTS:-$few} modes=(datagram connected) names=(one three) mtus=(1500 2044 3000)
	joined() { wait_carrier one; wait_carrier two; wait_carrier two.8002; }
	for i in $(seq $times); do
		joined; was=$(picture)
		printf '[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "%s"\nmode = "%s"\nmtu = %s\n[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:02"\nname = "%s"\n[[ipoib.pkey]]\npkey = 0x800%d\n' \
			"${names[RANDOM % 2]}" "${modes[RANDOM % 2]}" "${mtus[RANDOM % 3]}" "${names[1]}x" $((RANDOM % 8 + 1)) | conf
		# A guest that needs longer than that for it takes it back at once, and says so.
		apply --confirm 4 >/tmp/out 2>&1 || grep -q 'allowed for its confirmation, and was rolled back' /tmp/out || { bad=$((bad + 1)); echo "time $i"; tail -5 /tmp/out; }
		[ $((i % 3)) != 0 ] || systemctl kill -s KILL rdma-configd
		late $i
		joined; now=$(picture); [ "$now" = "$was" ] || { bad=$((bad + 1)); echo "time $i:"; diff <(echo "$was") <(echo "$now"); }
		first; [ $bad -lt 4 ] || break
	done
	is "$times applies left to expire are taken back" "$bad" 0
	sort -n /tmp/late | awk '{ a[NR] = $1 } END { print "after the deadline: median " a[int((NR + 1) / 2)] " ms, at most " a[NR] " ms" }'

	if [ -n "$NIGHTLY" ]; then
	# A driver reload meanwhile: the daemon makes everything on the new device, and that goes, too.
	printf '[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "one"\nmode = "connected"\nmtu = 30000\n[[ipoib.pkey]]\npkey = 0x8002\n[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:02"\nname = "two"\n[[ipoib.pkey]]\npkey = 0x8002\n' | conf
	exits "apply --confirm, and then a driver reload" 0 apply --confirm 90
	rmmod fake_hca; lab-load ib:mlx4_0:2
	ok "all is re-created" lab-wait 25 'test "$(cat /sys/class/net/one/mtu)" = 30000 -a -e /sys/class/net/one.8002'
	lab-wait 120 'grep -q "unconfirmed\": null" /var/lib/rdma-configd/generations.json'
	ok "what was made on the new device is taken back" lab-wait 60 'test "$(cat /sys/class/net/one/mtu)" = 2044 -a ! -e /sys/class/net/one.8002'
	is "mode" "$(mode one)" datagram
	ok "and what both generations have is there" test -e /sys/class/net/two.8002
	has "history says so" "$(ctl history)" "rolled back: it was not confirmed in time"

	# The active document once more: drift that an apply repairs comes back when nobody confirms that, and is left.
	joined; first; exits "as it is" 0 apply
	exits "nothing to confirm" 0 apply --confirm 4; has "it says so" "$OUT" "there is nothing to confirm"
	exits "and confirm agrees" 0 ctl confirm
	fates=$(ctl history | grep -c "rolled back")
	systemctl stop rdma-configd; ip link set one mtu 1800
	exits "drift, repaired to be confirmed" 0 apply --confirm 30; is "repaired" "$(mtu one)" 2044
	systemctl start rdma-configd
	lab-wait 60 'grep -q "unconfirmed\": null" /var/lib/rdma-configd/generations.json'
	is "taken back" "$(mtu one)" 1800
	is "no generation was rolled back for it" "$(ctl history | grep -c "rolled back")" $fates
	ip link set two up; sleep 3; systemctl reload rdma-configd; sleep 3
	is "and left" "$(mtu one)" 1800
	exits "asked for, it is done" 0 apply; is "done" "$(mtu one)" 2044
	fi
	sed -i 's/2044/4000/' $CONF
	exits "apply --confirm, and then a reboot" 0 apply --confirm 600
	is "it is there" "$(mtu one)" 4000
	first
fi
