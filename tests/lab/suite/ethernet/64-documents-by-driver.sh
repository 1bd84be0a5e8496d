# SPDX-License-Identifier: Apache-2.0
# [[pfc]] and [[lossless]] on every driver that the lab plays: a document is done and read back with an independent dcb, or
# refused or left pending before anything was written, never undone in the middle; addresses, routes and the default
# route over the interface are there after each step, and policy rules.
# nightly: each driver takes seconds
# lab: --pci 15 --timeout 1800
modprobe ipv6; modprobe bonding max_bonds=0
for f in all default; do echo 0 >/proc/sys/net/ipv6/conf/$f/accept_dad; done	# else link-local addresses are complete later
lab-load roce:m5:1:train=200 roce:m4:1:dcb=mlx4 roce:m4pfc:1:dcb=mlx4pfc roce:ice:1:dcb=ice:train=200 roce:ice4:1:dcb=ice:tcs=4:train=200 roce:icefw:1:dcb=ice:agent iwarp:i40e:1:dcb=i40e:train=200 iwarp:i40efw:1:dcb=i40e:agent \
	roce:bnxt:1:dcb=bnxt roce:bnxt3:1:dcb=bnxt:tcs=3:lltc=1 roce:bnxt1:1:dcb=bnxt:tcs=1:lltc=1 roce:bnxtfw:1:dcb=bnxt:agent \
	roce:hns:1:dcb=hns3:train=200 roce:qede:1:dcb=qede roce:qedeneg:1:dcb=qede:negotiated || exit 1
ALL="m5 m4 m4pfc ice ice4 icefw i40e i40efw bnxt bnxt3 bnxt1 bnxtfw hns qede qedeneg"
of() { sed -n "s/^$1 port 1 .* netdev \([^ ]*\).*/\1/p" /proc/fake_hca; }
dcb_of() { dcb ets show dev "$E" 2>&1 | grep -v ^reco; dcb pfc show dev "$E" 2>&1; dcb -N app show dev "$E" 2>&1; dcb dcbx show dev "$E" 2>&1; }
addresses() { ip -o addr show dev "$E" | sed 's/^[0-9]*: //; s/ tentative//; s/ dadfailed//; s/valid_lft.*//' | sort; ip route show table all dev "$E" | sed 's/ linkdown//' | grep -v broadcast | sort; ip -6 route show table all dev "$E" | sed 's/ linkdown//' | grep -vE '^(multicast|ff00)' | sort; ip rule; ip -6 rule; }
at() { cat "/sys/class/net/$E/carrier_changes"; }
differ() { echo "$1" >/tmp/was; echo "$2" >/tmp/is; diff /tmp/was /tmp/is; }
document() {	# NAME
	case $1 in
	lossless) printf '[[lossless]]\ninterface = "%s"\n' "$E";;
	pfc) printf '[[pfc]]\ninterface = "%s"\npriorities = [3]\n' "$E";;
	classes) printf '[[pfc]]\ninterface = "%s"\npriorities = [3]\ntraffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\nbandwidth = [50, 50]\n' "$E";;
	two) printf '[[pfc]]\ninterface = "%s"\npriorities = [3, 4]\ntraffic_classes = [0, 0, 0, 1, 1, 0, 0, 0]\nbandwidth = [40, 60]\n' "$E";;
	zero) printf '[[pfc]]\ninterface = "%s"\ntraffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\nbandwidth = [0, 100]\n' "$E";;
	strict) printf '[[pfc]]\ninterface = "%s"\npriorities = [3]\ntraffic_classes = [0, 0, 0, 1, 0, 0, 2, 0]\nbandwidth = [40, 60]\nstrict = [2]\ndscp = ["26:3", "48:6"]\n' "$E";;
	dscp) printf '[[pfc]]\ninterface = "%s"\ndscp = ["26:3"]\n' "$E";;
	high) printf '[[pfc]]\ninterface = "%s"\npriorities = [6]\ndscp = ["26:6"]\n' "$E";;
	host) printf '[[pfc]]\ninterface = "%s"\ndcbx = "host"\n' "$E";;
	esac
}
# The classes of the document, as dcb reads them.
reads_back() {	# NAME
	local ets part parts=''
	ets=$(dcb ets show dev "$E" 2>&1 | grep -v ^reco | tr -s ' \n' ' '; dcb pfc show dev "$E" prio-pfc; dcb -N app show dev "$E"; dcb dcbx show dev "$E")
	case $1 in
	classes) parts="3:1|tc-bw 0:50 1:50|3:on";;
	two) parts="3:1 4:1|tc-bw 0:40 1:60|3:on 4:on";;
	zero) parts="3:1|tc-bw 0:0 1:100";;
	strict) parts="3:1|6:2|tc-bw 0:40 1:60 2:0|2:strict|3:on|48:6";;
	high) parts="6:on|26:6";;
	host) parts="host";;
	esac
	while [ -n "$parts" ]; do
		part=${parts%%|*}; [ "$part" = "$parts" ] && parts='' || parts=${parts#*|}
		has "$D $1: $part" "$ets" "$part"
	done
}
# Whether it may be refused or pending is the driver's affair: 38-drivers.sh has what each takes. That PFC and DSCPs of a
# document that was done are there is not; qede alone has what the switch agreed to.
try() {	# NAME
	local was before changes rc out
	was=$(dcb_of) before=$(addresses) changes=$(at); document "$1" | conf
	out=$(apply 2>&1); rc=$?
	case $rc in
	0)
		[ "$(addresses)" = "$before" ] && pass "$D $1: done, addresses and routes are there" || fail "$D $1: addresses and routes" "$(differ "$before" "$(addresses)")"
		reads_back "$1"
		case $1 in
		lossless|pfc|classes|strict) has "$D $1: lossless" "$(dcb pfc show dev "$E" prio-pfc)" "3:on";;
		esac
		case $D-$1 in
		*-dscp|*-strict|m5-lossless|ice*-lossless|bnxt*-lossless|hns-lossless) has "$D $1: DSCP" "$(dcb -N app show dev "$E" dscp-prio)" "26:3";;
		esac
		exits "$D $1: and stays" 0 ctl diff
		conf <<<''; exits "$D $1: dropped" 0 apply
		[ "$(addresses)" = "$before" ] && pass "$D $1: addresses and routes after that" || fail "$D $1: addresses and routes after it was dropped" "$(differ "$before" "$(addresses)")"
		is "$D $1: what was lossless before" "$(dcb pfc show dev "$E" prio-pfc 2>&1)" "$(grep prio-pfc <<<"$was")"; is "$D $1: DSCPs as before" "$(dcb -N app show dev "$E" 2>&1)" "$(grep dscp-prio <<<"$was")";;
	1|5)
		if [ "$(dcb_of)" = "$was" ] && [ "$(addresses)" = "$before" ] && [ "$(at)" = "$changes" ]; then
			pass "$D $1: refused ($rc), nothing was written"
		else
			fail "$D $1: exit $rc, and something was written" "$(differ "$was$before" "$(dcb_of)$(addresses)")"
		fi
		[ $rc = 5 ] || has "$D $1: it says what" "$out" "error:"; hasnt "$D $1: the kernel was not asked" "$out" "Invalid argument";;
	*) fail "$D $1: exit $rc, undone in the middle" "$out"; conf <<<''; apply >/dev/null 2>&1;;
	esac
}
n=1
for D in $ALL; do
	E=$(of "$D"); n=$((n + 1))
	ip link set "$E" up; ip addr add "10.$n.0.1/24" dev "$E"; ip -6 addr add "fd00:$n::1/64" dev "$E" nodad; wait_carrier "$E"
	ip route add "192.0.2.$n/32" via "10.$n.0.254"; ip route add default via "10.$n.0.254" metric $n; ip -6 route add default via "fd00:$n::fe" metric $n
	ip rule add iif "$E" lookup $((100 + n)); ip route add 198.51.100.0/24 via "10.$n.0.254" table $((100 + n))
	for d in lossless ${NIGHTLY:+pfc classes two zero strict dscp high host}; do try "$d"; done
	[ "$D" != m5 ] && [ "$D" != ice ] || [ -n "$NIGHTLY" ] || for d in strict dscp; do try "$d"; done
done

# A host that is reached over ice alone: whatever fails in the middle, the way to it is there.
D=ice E=$(of ice); before=$(addresses); was=$(dcb_of); document lossless | conf
for k in ${NIGHTLY:+5 8 11 17 20 26 29 32} 14 23; do
	strace -f --seccomp-bpf -o /dev/null -e trace=sendmsg -e inject="sendmsg:error=EPERM:when=$k" rdma-configctl apply --yes >/tmp/out 2>&1; rc=$?
	is "ice: call $k fails ($rc): addresses and routes" "$(addresses)" "$before"
	[ $rc = 0 ] && conf <<<'' && apply >/dev/null 2>&1; document lossless | conf
	is "ice: call $k fails: lossless priorities" "$(dcb pfc show dev "$E" prio-pfc)" "$(grep prio-pfc <<<"$was")"
done
conf <<<''; apply >/dev/null 2>&1
# Each write of DCB (0x4f where strace does not know the protocol) fails once, after those before it were done: undone, and the way to the host is there.
document lossless | conf; strace -f -o /tmp/calls -e trace=sendmsg rdma-configctl apply --yes >/tmp/out 2>&1
conf <<<''; apply >/dev/null 2>&1; before=$(addresses) was=$(dcb_of) undone=0
for k in $(awk '{ n[$1]++ } /nlmsg_type=(RTM_SETDCB|0x4f)/ { print n[$1] }' /tmp/calls); do
	document lossless | conf
	strace -f --seccomp-bpf -o /dev/null -e trace=sendmsg -e inject="sendmsg:error=EIO:when=$k" rdma-configctl apply --yes >/tmp/out 2>&1; rc=$?
	[ $rc = 3 ] && undone=$((undone + 1))
	is "ice: write $k fails ($rc): addresses, routes, rules" "$(addresses)" "$before"; is "ice: write $k fails: DCB" "$(dcb_of)" "$was"
	conf <<<''; exits "ice: write $k fails: nothing is left" 0 ctl diff
done
ok "ice: it was undone ($undone)" test $undone -gt 1

# The ports of a bond, one after the other: it never is without a carrier.
echo "del i40efw" >/proc/fake_hca; echo "add roce m5b 1 0 train=400" >/proc/fake_hca; echo "set m5 train=400" >/proc/fake_hca
A=$(of m5) B=$(of m5b); ip addr flush dev "$A"
ip link add bond0 type bond mode active-backup miimon 50
for E in $A $B; do ip link set "$E" down; ip link set "$E" master bond0; done
ip link set bond0 up; ip addr add 10.77.0.1/24 dev bond0; wait_carrier "$A"; wait_carrier "$B"; wait_carrier bond0
E=bond0; document lossless | conf; was=$(at) a=$(cat "/sys/class/net/$A/carrier_changes") b=$(cat "/sys/class/net/$B/carrier_changes")
exits "lossless over a bond" 0 apply
for E in $A $B; do has "$E of the bond" "$(dcb pfc show dev "$E")" "3:on"; done
is "each port lost its carrier once" "$(($(cat "/sys/class/net/$A/carrier_changes") - a)) $(($(cat "/sys/class/net/$B/carrier_changes") - b))" "2 2"
E=bond0; is "the bond did not" "$(at)" "$was"
conf <<<''; exits "dropped" 0 apply; is "nor on the way back" "$(at)" "$was"; wait_carrier "$A"; wait_carrier "$B"
