# SPDX-License-Identifier: Apache-2.0
# The shared functions of the lab suite's scenarios; sourced in the guest.
FAILS=0 N=0
pass() { N=$((N + 1)); echo "ok $SCENARIO: $1"; }
fail() { FAILS=$((FAILS + 1)); echo "FAIL $SCENARIO: $1"; [ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/     /' | tail -n "${LINES_SHOWN:-25}"; }
ok() { local what=$1 out; shift; if out=$("$@" 2>&1); then pass "$what"; else fail "$what (exit $?)" "$out"; fi; }		# WHAT COMMAND...
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: got '$2', want '$3'"; fi; }			# WHAT GOT WANT
has() { case $2 in *"$3"*) pass "$1";; *) fail "$1: no '$3' in" "$2";; esac; }				# WHAT TEXT PART
hasnt() { case $2 in *"$3"*) fail "$1: '$3' in" "$2";; *) pass "$1";; esac; }
exits() { local what=$1 want=$2; shift 2; OUT=$("$@" 2>&1); local rc=$?; if [ $rc -eq "$want" ]; then pass "$what: exit $want"; else fail "$what: exit $rc, want $want" "$OUT"; fi; }
finish() { if [ -z "${MAY_WARN:-}" ]; then out=$(lab-no-warnings) && pass "no kernel warning" || fail "kernel warnings" "$out"; fi; exit $((FAILS > 0)); }

# The counters of a build that counts are files that its processes map, so these lie in the guest (9p maps none) and go to the share
# at the end. A client of another user has to open root's file. Before a reboot the daemon runs on: the reboot is to find it as it would be.
if [ -n "${COVERAGE:-}" ]; then
	export LLVM_PROFILE_FILE=/run/coverage/%m%c.profraw
	mkdir -p /run/coverage
	for program in /usr/bin/rdma-configctl /usr/libexec/rdma-configd; do "$program" --version >/dev/null 2>&1; done
	chmod 777 /run/coverage; chmod 666 /run/coverage/*.profraw
	counts() {
		local file
		[ "$BOOT" != "$BOOTS" ] || ! command -v systemctl || timeout 150 systemctl stop rdma-configd.service
		for file in /run/coverage/*.profraw; do cp "$file" "$COVERAGE/$SCENARIO-$BOOT-${file##*/}"; done
	}
	trap 'counts >/dev/null 2>&1' EXIT
fi

CONF=/etc/rdma-configd/config.toml
# From standard input; a document that does not say its version gets that as its first line.
conf() { mkdir -p /etc/rdma-configd; cat >$CONF; grep -q '^version' $CONF || sed -i '1s/^/version = 1\n/' $CONF; [ -s $CONF ] || echo 'version = 1' >$CONF; }
ctl() { rdma-configctl "$@"; }
apply() { rdma-configctl apply --yes "${PATIENCE[@]}" "$@"; }
# An apply that is told no time waits 2 s for a join and 4 s for duplicate address detection; on a slow machine both may take longer, and are
# pending then (exit 5). With a time it goes past the daemon.
PATIENCE=()
no_daemon() { PATIENCE=(--wait 60); }
# The unit that the timer of `apply --confirm` starts, in a guest without ours ("# tree: full" has them).
rollback_unit() {
	! systemctl cat rdma-configd-rollback.service >/dev/null 2>&1 || return 0
	printf '[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nExecStart=%s rollback --expired --local\nSuccessExitStatus=5\n' \
		"$(command -v rdma-configctl)" >/etc/systemd/system/rdma-configd-rollback.service
	systemctl daemon-reload
}
join_is_open() { [ "$1" = 5 ] && [[ $OUT = *"no carrier: "*" its multicast group"* ]]; }	# EXIT
# The same of the daemon, which is told no time: a join that was under way, and nothing else, may need another apply.
applies() {	# WHAT [OPTION...]
	local what=$1 rc; shift
	OUT=$(apply "$@" 2>&1); rc=$?
	if join_is_open $rc; then
		lab-wait 90 'rdma-configctl diff'
		OUT=$(apply "$@" 2>&1); rc=$?
	fi
	if [ $rc = 0 ]; then pass "$what: exit 0"; else fail "$what: exit $rc, want 0" "$OUT"; fi
}
# Nor can a rollback be told a time, and another one would go further back.
rolls_back() {	# WHAT
	local rc
	OUT=$(ctl rollback --yes 2>&1); rc=$?
	if [ $rc = 0 ] || join_is_open $rc; then pass "$1: exit $rc"; else fail "$1: exit $rc, want 0" "$OUT"; fi
}
json() { ip -j -d "$@"; }
field() { ip -j -d link show dev "$1" 2>/dev/null | jq -r ".[0].$2"; }		# INTERFACE JQ-PATH
mtu() { cat "/sys/class/net/$1/mtu" 2>&1; }
pkey() { ip -d link show dev "$1" | grep -o "pkey *0x[0-9a-f]*" | sed "s/pkey *//"; }
mode() { ip -d link show dev "$1" | sed -n 's/.* mode *\([a-z]*\) *umcast.*/\1/p'; }
carrier() { [ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ]; }
# Seconds are those of a usual machine: one of CI may take three times as long.
lab-wait() { command lab-wait $(($1 * 3)) "$2"; }
# A join that fails is tried again after up to 16 s (ipoib_multicast.c), and the guest may be slow: hence the long waits.
# The kernel adds link-local addresses and clears "linkdown" of routes when operstate follows the carrier.
wait_carrier() { local end=$((SECONDS + 90)); until carrier "$1" && ! grep -q down "/sys/class/net/$1/operstate"; do [ $SECONDS -lt $end ] || return 1; sleep .1; done; }
# A second look reports an interface that is up without carrier as pending: its join may have been refused.
wait_carriers() { local end=$((SECONDS + 90)); while grep -qsxE '0|down|lowerlayerdown' /sys/class/net/$1/{carrier,operstate}; do [ $SECONDS -lt $end ] || return 1; sleep .1; done; }	# PATTERN
wait_ping() { local end=$((SECONDS + 90)); until ping -c 1 -W 2 "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || return 1; sleep .2; done; }	# ADDRESS [OPTION...]
# For effects that other programs have at a moment of their own.
becomes() { local end=$((SECONDS + ${4:-90})) got; until got=$($2); [ "$got" = "$3" ] || [ $SECONDS -ge $end ]; do sleep .2; done; is "$1" "$got" "$3"; }	# WHAT FUNCTION WANT [SECONDS]
# Everything that an interface is, without what changes by itself: to compare before and after.
picture() {
	ip -d -o link show type ipoib | sed 's/^[0-9]*: //; s/ link\/infiniband [0-9a-f:]*//; s/ qlen [0-9]*//; s/state [A-Z]*//; s/<[^>]*>//; s/numtxqueues.*//' | sort
	ip -j -d link show type ipoib | jq -c '.[] | [.ifname, ([.flags[] | select(. == "UP")])]' | sort
	ip -o addr | grep -v ' lo ' | sed 's/^[0-9]*: //; s/ tentative//; s/ dadfailed//' | sort
	ip route show table all | grep -v ' linkdown' | grep -vE '^(local|broadcast|multicast|ff00|anycast)' | sort; ip -6 route show table all | grep -vE '^(local|ff00|multicast|anycast)' | sort
	ip rule; ip -6 rule
}
# Runs a command and leaves in $WROTE the calls that changed something: netlink requests other than dumps, and files
# made, opened for writing, renamed or removed, but for the counts of a build that counts.  Its exit status is in $TRACED.
writes() {
	strace -f -s 0 -o /tmp/trace -e trace=sendto,sendmsg,openat,openat2,write,pwrite64,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,fsync,ftruncate,link,symlink "$@" >/tmp/traced.out 2>&1
	TRACED=$?
	WROTE=$(grep -E 'RTM_(NEW|DEL|SET)|NLM_F_ACK|O_(WRONLY|RDWR|CREAT)|(rename|unlink|mkdir|fsync|ftruncate|symlink)[a-z0-9]*\(' /tmp/trace | grep -vE '/dev/(tty|null)|rdma-configd\.lock|infiniband/uverbs|'"${COVERAGE:+/run/coverage/|mkdir\\(\"/run(/coverage)?\", 0755\\)|}"'RTM_GETDCB')
}
no_writes() { writes rdma-configctl apply --yes; is "$1: no write" "$(head -3 <<<"$WROTE")" ""; is "$1: exit" "$TRACED" "${2:-0}"; }		# WHAT [EXIT]
daemon_holds() { ok "the daemon holds the document" lab-wait 120 'systemctl -q is-active rdma-configd'; }		# after a boot
in_sync() { lab-wait 60 'rdma-configctl diff >/dev/null'; exits "diff is empty" 0 ctl diff; no_writes "second apply"; }

# Shared by the scenarios of storage over Soft-RoCE: an interface and file systems that exist at each boot before a service needs them.
veth_at_boot() {	# [COMMAND]: v0 with 192.0.2.1, and what else is to be done then
	cat >/etc/systemd/system/lab-net.service <<-X
	[Unit]
	DefaultDependencies=no
	Before=network-pre.target
	Wants=network-pre.target
	[Service]
	Type=oneshot
	RemainAfterExit=yes
	ExecStart=/bin/sh -c 'ip link add v0 type veth peer name v1; ip addr add 192.0.2.1/24 dev v0; ip link set v1 up; ip link set v0 up${1:+; $1}'
	[Install]
	WantedBy=sysinit.target
	X
	systemctl daemon-reload; systemctl enable -q lab-net; systemctl start lab-net
}
soft_roce() { printf '[[soft_rdma]]\ninterface = "v0"\ntype = "rxe"\nname = "rxe_lab"\n'; }	# the entries of the document for it
# Files of the guest's overlay can neither be exported nor opened for direct I/O: a file system of its own in /srv/NAME.img, for /srv/NAME.
file_system() { truncate -s "$2" "/srv/$1.img"; mkfs.ext4 -q "/srv/$1.img"; mkdir -p "/srv/$1"; }	# NAME SIZE
disk_at_boot() {	# /srv/back with disk.img, and veth_at_boot
	# The guest's own start passes over images in its overlay.
	[ "$BOOT" = 1 ] || { mountpoint -q /srv/back || mount /srv/back; return; }
	file_system back 96M
	echo '/srv/back.img /srv/back ext4 loop 0 0' >>/etc/fstab
	systemctl daemon-reload; mount /srv/back
	truncate -s 32M /srv/back/disk.img
	veth_at_boot
}
# An entry of the document: disk.img by iSER for one initiator.
iser_target() {	# IQN INITIATOR
	printf '[[lio_target]]\nwwn        = "%s"\ninitiators = ["%s"]\naddresses  = ["192.0.2.1"]\n\n' "$1" "$2"
	printf '  [[lio_target.lun]]\n  number = 0\n  file   = "/srv/back/disk.img"\n'
}
# Which modules use rdma_cm depends on the kernel and on rdma-core's lists: whichever they are. modprobe takes along what nobody uses any more.
unload_rdma_cm() {
	local turn holder
	for turn in $(seq 20); do	# the daemon may have a folder in configfs at the moment
		[ -e /sys/module/rdma_cm ] || break
		[ "$turn" -le 3 ] || sleep .5
		for holder in /sys/module/rdma_cm/holders/*; do [ ! -e "$holder" ] || modprobe -r "${holder##*/}" 2>/dev/null; done
		rmmod rdma_cm 2>/dev/null
	done
	[ ! -e /sys/module/rdma_cm ]
}
# Names a part that a scenario leaves out on this kernel or release; it does not count as passed.
skip() { echo "skipped $SCENARIO: $1"; }	# WHAT
kernel_from() { [ "$(printf '%s\n' "$1" "$(uname -r | sed 's/[^0-9.].*//')" | sort -V | head -1)" = "$1" ]; }	# VERSION
package_from() { dpkg --compare-versions "$(dpkg-query -W -f '${Version}' "$1" | sed 's/^[0-9]*://')" ge "$2"; }	# PACKAGE VERSION
configfs() { mountpoint -q /sys/kernel/config || systemctl start sys-kernel-config.mount; }
nfs_exports() {	# /srv/export, with a server that forgets its clients soon
	mkdir -p /etc/nfs.conf.d
	echo '/srv/export *(rw,no_root_squash,no_subtree_check,insecure,fsid=0)' >/etc/exports
	printf '[nfsd]\ngrace-time=10\nlease-time=10\nthreads=2\n' >/etc/nfs.conf.d/lab.conf
}
# Entries that SCRIPT of sed takes out of the document stay while a file system of DISK is mounted; COUNT prints how many sessions there are.
goes_when_free() {	# DISK SCRIPT COUNT
	mkfs.ext4 -q "$1"; mkdir -p /mnt/disk; mount "$1" /mnt/disk
	sed -i "$2" $CONF
	exits "a disk in use stays" 5 apply
	has "says why" "$OUT" "is mounted on /mnt/disk"
	is "it is connected" "$("$3")" 1
	umount /mnt/disk
	exits "dropped, with the disk free" 0 apply
	is "no session is left" "$("$3")" 0
}
keeps_data() {	# DISK: written before the first reboot, read at each boot
	if [ "$BOOT" = 1 ]; then
		head -c 8M /dev/urandom >/root/data
		ok "data are written" dd if=/root/data of="$1" bs=1M oflag=direct status=none
	fi
	is "and read" "$(dd if="$1" bs=1M count=8 iflag=direct status=none | sha256sum)" "$(sha256sum </root/data)"
}
