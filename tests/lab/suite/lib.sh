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

CONF=/etc/rdma-configd/config.toml
# From standard input; a document that does not say its version gets that as its first line.
conf() { mkdir -p /etc/rdma-configd; cat >$CONF; grep -q '^version' $CONF || sed -i '1s/^/version = 1\n/' $CONF; [ -s $CONF ] || echo 'version = 1' >$CONF; }
ctl() { rdma-configctl "$@"; }
apply() { rdma-configctl apply --yes "$@"; }
json() { ip -j -d "$@"; }
field() { ip -j -d link show dev "$1" 2>/dev/null | jq -r ".[0].$2"; }		# INTERFACE JQ-PATH
mtu() { cat "/sys/class/net/$1/mtu" 2>&1; }
pkey() { ip -d link show dev "$1" | grep -o "pkey *0x[0-9a-f]*" | sed "s/pkey *//"; }
mode() { ip -d link show dev "$1" | sed -n 's/.* mode *\([a-z]*\) *umcast.*/\1/p'; }
carrier() { [ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ]; }
# A join that fails is tried again after up to 16 s (ipoib_multicast.c), and the guest may be slow: hence the long waits.
wait_carrier() { local end=$((SECONDS + 90)); until carrier "$1"; do [ $SECONDS -lt $end ] || return 1; sleep .1; done; }
wait_ping() { local end=$((SECONDS + 90)); until ping -c 1 -W 1 "$1" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || return 1; sleep .2; done; }	# ADDRESS
# Everything that an interface is, without what changes by itself: to compare before and after.
picture() {
	ip -d -o link show type ipoib | sed 's/^[0-9]*: //; s/ link\/infiniband [0-9a-f:]*//; s/ qlen [0-9]*//; s/state [A-Z]*//; s/<[^>]*>//; s/numtxqueues.*//' | sort
	ip -j -d link show type ipoib | jq -c '.[] | [.ifname, ([.flags[] | select(. == "UP")])]' | sort
	ip -o addr | grep -v ' lo ' | sed 's/^[0-9]*: //; s/ tentative//; s/ dadfailed//' | sort
	ip route show table all | grep -v ' linkdown' | grep -vE '^(local|broadcast|multicast|ff00|anycast)' | sort; ip -6 route show table all | grep -vE '^(local|ff00|multicast|anycast)' | sort
	ip rule; ip -6 rule
}
# Runs a command and leaves in $WROTE the calls that changed something: netlink requests other than dumps, and files
# made, opened for writing, renamed or removed.  Its exit status is in $TRACED.
writes() {
	strace -f -s 0 -o /tmp/trace -e trace=sendto,sendmsg,openat,openat2,write,pwrite64,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,fsync,ftruncate,link,symlink "$@" >/tmp/traced.out 2>&1
	TRACED=$?
	WROTE=$(grep -E 'RTM_(NEW|DEL|SET)|NLM_F_ACK|O_(WRONLY|RDWR|CREAT)|(rename|unlink|mkdir|fsync|ftruncate|symlink)[a-z0-9]*\(' /tmp/trace | grep -vE '/dev/(tty|null)|rdma-configd\.lock|infiniband/uverbs|RTM_GETDCB')
}
no_writes() { writes rdma-configctl apply --yes; is "$1: no write" "$(head -3 <<<"$WROTE")" ""; is "$1: exit" "$TRACED" "${2:-0}"; }		# WHAT [EXIT]
