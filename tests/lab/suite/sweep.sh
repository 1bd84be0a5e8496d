# SPDX-License-Identifier: Apache-2.0
# The shared parts of the sweeps: a reference apply that uses all there is (netlink, configfs, /proc, files, journal and, where
# there is a systemd, D-Bus), from one document to another, and the host's state then. Sourced in the guest. DCB=DRIVER
# applies flow control to that driver's adapter instead (`dcb=` in docs/LAB.md); the host's default routes lead over it.
systemd() { [ -d /run/systemd/system ]; }
! systemd || systemctl stop NetworkManager
if [ -n "${DCB:-}" ]; then	# link-local addresses are complete at once
	modprobe ipv6; for f in all default; do echo 0 >/proc/sys/net/ipv6/conf/$f/accept_dad; done
fi
lab-load ib:mlx4_0:2 "roce:mlx5_1:1:dcb=${DCB:-mlx5}:train=100" || exit 1
E=$(sed -n 's/.* port 1 roce .* netdev \([^ ]*\).*/\1/p' /proc/fake_hca)
i=$(lab-net b001)
IB=$(basename "$(readlink -f "/sys/class/net/$i/device/infiniband"/*)") R=
for d in /sys/class/infiniband/*; do d=${d##*/}; [ "$d" = "$IB" ] || R=$d; done
if systemd; then
	printf '[Service]\nExecStart=/bin/sleep 10000\n' >/etc/systemd/system/worker.service
	systemctl daemon-reload; systemctl start worker; rollback_unit
fi
grep -q '^rdma:' /etc/group || echo 'rdma:x:997:' >>/etc/group
flow_control() {	# NAME PRIORITY DSCP SHARE
	cat <<-X
	version = 1
	# $1
	[[pfc]]
	interface = "$E"
	priorities = [$2]
	dscp = ["$3:$2", "48:6"]
	$([ "$DCB" = ice ] && echo "bandwidth = [$((100 - $4 - 30)), 5, 5, $([ "$2" = 3 ] && echo "$4, 5" || echo "5, $4"), 5, 5, 5]" ||
		echo "traffic_classes = [$([ "$2" = 3 ] && echo "0, 0, 0, 1, 0" || echo "0, 0, 0, 0, 1"), 0, 2, 0]
	bandwidth = [$((100 - $4)), $4]
	strict = [2]")
	[[roce]]
	device = "$R"
	port = 1
	dscp = $3
	X
}
document() {	# NAME MODE MTU CHILD ROCE TOS LIMIT
	cat <<-X
	version = 1
	[[ipoib]]
	guid = "00:02:c9:03:00:a0:b0:01"
	name = "$1"
	mode = "$2"
	mtu  = $3
	  [[ipoib.pkey]]
	  pkey = 0x8001
	  mtu  = 2044
	  [[ipoib.pkey]]
	  pkey = $4
	  mtu  = 2044
	[[roce]]
	device = "$R"
	port = 1
	mode = "$5"
	tos  = $6
	[[memlock]]
	domain = "@rdma"
	limit = "$7"
	$(! systemd || echo 'units = ["worker"]')
	[[sysctl]]
	key = "net.ipv4.neigh.default.gc_thresh3"
	value = $((4096 + $6))
	[initramfs]
	policy = "report"
	[[pfc]]
	driver = "mlx4_en"
	priorities = [$(($6 / 8 % 8))]
	X
}
document old0 datagram 2044 0x8002 v1 104 64M >/tmp/old.toml
document new0 connected 65520 0x8003 v2 24 unlimited >/tmp/new.toml
if [ -n "${DCB:-}" ]; then flow_control old0 3 26 50 >/tmp/old.toml; flow_control new0 4 34 40 >/tmp/new.toml; fi
say_dcb() { local out; for _ in 1 2 3; do out=$(dcb -N "$@" 2>&1); [[ $out = *"Protocol error"* ]] || break; done; echo "$out"; }	# which numbers its messages by the second
# How classes are served that no priority leads to is nobody's.
dcb_is() {
	local class priorities algorithms
	[ -n "${DCB:-}" ] || return
	say_dcb pfc show dev "$E" prio-pfc; say_dcb app show dev "$E"; say_dcb ets show dev "$E" willing tc-bw; say_dcb dcbx show dev "$E"
	priorities=$(say_dcb ets show dev "$E" prio-tc) algorithms=$(say_dcb ets show dev "$E" tc-tsa); echo "$priorities"
	for class in $(grep -o ':[0-7]' <<<"$priorities" | sort -u | tr -d :); do grep -o "$class:[a-z]*" <<<"$algorithms"; done
}
files() { find /etc/udev/rules.d /etc/modprobe.d /etc/modules-load.d /etc/sysctl.d /etc/security/limits.d /etc/systemd/system /etc/sysusers.d -type f -exec sha256sum {} + 2>/dev/null | sort -k2; }
roce() { local d=/sys/kernel/config/rdma_cm/$R; mkdir "$d" && cat "$d/ports/1/default_roce_mode" "$d/ports/1/default_roce_tos"; rmdir "$d"; }
joined() { local i; for i in $(ip -o link show up type ipoib | sed 's/^[0-9]*: //; s/[@:].*//'); do wait_carrier "$i"; done; }
# The host's state, without parts that change by themselves. Link-local addresses come with the carrier.
digest() {
	joined
	ip -d -o link show type ipoib | sed 's/^[0-9]*: //; s/ link\/infiniband [0-9a-f:]*//; s/ qlen [0-9]*//; s/state [A-Z]*//; s/,LOWER_UP//; s/NO-CARRIER,//; s/numtxqueues.*//' | sort
	ip -o addr | grep -v ' lo ' | sed 's/^[0-9]*: //; s/ tentative//; s/ dadfailed//' | sort
	ip route | sed 's/ linkdown//' | sort; ip -6 route | sed 's/ linkdown//' | grep -v '^multicast\|^ff00' | sort; ip rule; dcb_is
	roce; cat /proc/sys/net/ipv4/neigh/default/gc_thresh3; files; ls -A /var/lib/rdma-configd
}
. /suite/hold.sh
DAEMON=$(find /usr/libexec /usr/lib -name rdma-configd -type f -perm /1 2>/dev/null | head -1)
hold() { hold_by "$DAEMON" /tmp/held; }
which_is() {	# the document of the active generation
	case $(cat "/var/lib/rdma-configd/generations/$(active).json") in *old0*) echo old;; *new0*) echo new;; *) echo none;; esac
}
to() { rdma-configctl --config "/tmp/$1.toml" apply --local --yes >/tmp/out 2>&1; rc=$?; [ $rc = 0 ] || [ $rc = 5 ]; }	# old | new
to old || { fail "the first apply" "$(cat /tmp/out)"; exit 1; }
L=old0; if [ -n "${DCB:-}" ]; then L=$E; ip link set "$E" up; wait_carrier "$E"; fi
ip addr add 10.7.0.1/24 dev $L; ip -6 addr add fd00:7::1/64 dev $L nodad; ip rule add iif $L lookup 77 pref 777
if [ -n "${DCB:-}" ]; then ip route add default via 10.7.0.254 dev "$E"; ip -6 route add default via fd00:7::fe dev "$E"; ip route add 192.0.2.0/24 via 10.7.0.254 table 77; fi
to new || { fail "the second apply" "$(cat /tmp/out)"; exit 1; }; to old	# both have been generations before
OLD=$(digest); files >/tmp/files.old
strace -f -o /tmp/trace rdma-configctl --config /tmp/new.toml apply --local --yes >/tmp/out 2>&1
NEW=$(digest); files >/tmp/files.new
to old; is "there and back" "$(digest)" "$OLD"
# Every call from the lock on, until the end: its name, and the how manieth of that name it is.
awk '{
	sub(/^[0-9]+ +/, ""); if ($0 !~ /^[a-z0-9_]+\(/) next
	name = $0; sub(/\(.*/, "", name); n[name]++
	if (index($0, "rdma-configd.lock")) on = 1
	if (on && name != "exit_group") print name, n[name]
}' /tmp/trace >/tmp/points
ALL=$(wc -l </tmp/points)
# HOW-MANY, evenly; of these, with PART=K/N, every Nth from the Kth on
points() { awk -v all="$ALL" -v want="$1" -v part="${PART:-1/1}" 'BEGIN {split(part, of, "/")}
	int(NR * want / all) > int((NR - 1) * want / all) && n++ % of[2] == of[1] - 1' /tmp/points; }
so_far() { [ $((k % 20)) != 0 ] || echo "     $k points, $BAD wrong"; }	# a line now and then: a night is long, and may be cut
BAD=0
complain() { BAD=$((BAD + 1)); [ $BAD -gt 5 ] || { echo "     $call $n${confirm:+ (unconfirmed)}: $1"; shift; [ $# = 0 ] || "$@" | head -8 | sed 's/^/       /'; }; }
check_is() {	# WHAT DIGEST
	local now; now=$(digest)
	[ "$now" != "$2" ] || return 0
	echo "$2" >/tmp/was; echo "$now" >/tmp/is
	complain "$1" diff /tmp/was /tmp/is; [ $BAD -gt 5 ] || tail -3 /tmp/out
	return 1
}
# The daemon goes on, and the host is what the ledger says.
goes_on() {	# WHAT
	hold || { complain "$1: the daemon cannot hold" cat /tmp/held; return 1; }
	case $(which_is) in old) check_is "$1: the ledger says old, but" "$OLD";; new) check_is "$1: the ledger says new, but" "$NEW";; *) complain "$1: the ledger says $(which_is)"; false;; esac
}
ledger_is() { [ "$(which_is)" = "$2" ] || complain "$1: the ledger says $(which_is)"; }	# WHAT old|new
# A lasting fault is reported once, and does not count for every later point.
back_is() { check_is "the way back" "$OLD" || { to new; NEW=$(digest); to old; OLD=$(digest); }; }

# Kills an apply at POINTS of its system calls. Each file is the old or the new one; an apply that was to be confirmed goes,
# any other is finished by the next run as if nothing had happened.
kill_sweep() {	# POINTS
	local killed=0 began=0 unconfirmed=0 k=0 call n confirm
	points "$1" >/tmp/chosen
	while read -r call n; do
		k=$((k + 1)); confirm=; [ $((k % 2)) = 0 ] || ! systemd || confirm="--confirm 3600"	# it needs a timer of systemd
		kill-at "$call" "$n" rdma-configctl --config /tmp/new.toml apply --local --yes $confirm >/tmp/out 2>&1
		[ $? != 137 ] || killed=$((killed + 1))
		[ ! -e /var/lib/rdma-configd/journal.json ] || began=$((began + 1))
		# The next apply takes away what was written for a file that never got its name.
		files | grep -v '/\.rdma-configd-' | grep -vxFf /tmp/files.old | grep -vxFf /tmp/files.new >/tmp/torn && complain "neither the old nor the new" cat /tmp/torn
		if [ -n "$confirm" ]; then
			unconfirmed=$((unconfirmed + 1))
			hold || complain "the daemon cannot hold" cat /tmp/held
			grep -q '"unconfirmed": null' /var/lib/rdma-configd/generations.json || rdma-configctl rollback --local --yes >/tmp/out 2>&1
			check_is "not as before" "$OLD"; ledger_is "taken back" old
		else
			goes_on "after the kill"
			to new || complain "the next apply: exit $rc" cat /tmp/out
			check_is "another state than without a kill" "$NEW"; ledger_is "the next apply" new
		fi
		to old || complain "the way back: exit $rc" cat /tmp/out
		back_is; so_far
	done </tmp/chosen 2>/dev/null
	echo "kill sweep: $ALL system calls, killed at $killed, $began of them with a journal, $unconfirmed unconfirmed: $BAD wrong"
	is "killed at $killed points: old or new, as the ledger says, and then as without a kill" "$BAD" 0
	if [ $((killed * 2)) -gt "$(wc -l </tmp/chosen)" ]; then pass "it was killed"; else fail "it was killed $killed times only"; fi
}

ERRNOS="EPERM ENOENT EINTR EIO EBADF EAGAIN ENOMEM EACCES EBUSY EINVAL EMFILE ENOSPC"
FD_CALLS=openat,openat2,socket,dup,epoll_create1,eventfd2,signalfd4,timerfd_create,memfd_create,fcntl,close
# Descriptors that are still open where a trace ends.
open_at_end() {
	awk '{
		sub(/^[0-9]+ +/, "")
		if ($0 ~ /^(openat|openat2|socket|dup|epoll_create1|eventfd2|signalfd4|timerfd_create|memfd_create)\(/ && $NF ~ /^[0-9]+$/) open[$NF] = 1
		else if (match($0, /^fcntl\([0-9]+, F_DUPFD(_CLOEXEC)?,.* = [0-9]+$/)) open[$NF] = 1
		else if ($0 ~ /^close\([0-9]+\)/ && $0 !~ / = -1 EBADF/) { fd = $0; sub(/^close\(/, "", fd); sub(/\).*/, "", fd); delete open[fd] }
	} END { n = 0; for (fd in open) n++; print n }' "$1"
}
# Lets POINTS of the calls of an apply fail, each with one errno after the other (EACH=1: with every one): it is undone, or
# done all the same, and says so; no crash, no descriptor left open.
error_sweep() {	# POINTS
	local k=0 call n e rc errnos before held failed=0 undone=0 done=0 partly=0 forgotten=0
	held=$(open_at_end /tmp/trace)
	points "$1" >/tmp/chosen
	while read -r call n; do
		# The C library aborts on a futex that fails strangely; and brk never fails with an errno (the kernel answers with the
		# break as it is): the library takes one for an address. Memory that is not to be had is mmap's ENOMEM.
		case $call in exit*|rt_sigreturn|execve|futex|brk) continue;; esac
		k=$((k + 1)); errnos=$ERRNOS
		[ -n "${EACH:-}" ] || errnos=$(echo "$ERRNOS" | cut -d' ' -f$((k % 12 + 1)))
		for e in $errnos; do
			failed=$((failed + 1)) before=$(history)
			strace -f --seccomp-bpf -o /tmp/t -e trace="$FD_CALLS,$call" -e inject="$call:error=$e:when=$n" rdma-configctl --config /tmp/new.toml apply --local --yes >/tmp/out 2>&1
			rc=$?
			# That the file of what we made is not there cannot be told from its having been removed: then what no document names
			# any more is somebody else's, and stays.
			if grep -q '"state.json".*ENOENT.*(INJECTED)' /tmp/t; then
				forgotten=$((forgotten + 1))
				ip -o link show type ipoib | sed -n 's/^[0-9]*: \([^@ ]*\)@.*/\1/p' | xargs -rn1 ip link del; to new; to old; back_is
				continue
			fi
			n="$n $e"
			case $rc in
			0) done=$((done + 1)); check_is "exit 0, but" "$NEW"; ledger_is "exit 0" new; goes_on "exit 0"; ledger_is "exit 0, and the daemon went another way" new;;
			1|3)
				undone=$((undone + 1)); check_is "exit $rc, but" "$OLD"; grep -q error: /tmp/out || complain "no error is said" cat /tmp/out
				ledger_is "exit $rc" old; [ "$(history)" = "$before" ] || complain "exit $rc: the history has changed"
				goes_on "exit $rc"; ledger_is "exit $rc, and the daemon went another way" old;;
			5) partly=$((partly + 1)); ledger_is "exit 5" new; to new || complain "the next apply: exit $rc" cat /tmp/out; check_is "after another apply" "$NEW";;
			*) complain "exit $rc" tail -5 /tmp/out;;
			esac
			# A close that was not done is not the program's to mend.
			[ "$call" = close ] || [ "$(open_at_end /tmp/t)" -le "$held" ] || complain "descriptors left open"
			n=${n% *}
			to old || complain "the way back: exit $rc" cat /tmp/out
			back_is
		done
		so_far
	done </tmp/chosen
	echo "error sweep: $ALL system calls, $failed failed: $done done all the same, $partly in part, $undone undone or refused, $forgotten that took the memory away: $BAD wrong"
	is "$failed failing calls: all or nothing, in the ledger too, and said" "$BAD" 0
}
