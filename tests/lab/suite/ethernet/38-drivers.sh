# SPDX-License-Identifier: Apache-2.0
# Each played driver's answers, refusals and side effects, as an independent dcb sees them: a row for each fact,
# with the line of Linux 6.1 that it was read from. Files are those of drivers/net/ethernet, named in the headings.
# nightly: CI has time for the core and the daemon
# lab: --pci 12 --timeout 900
# row LINE WHAT done|refused|same 'COMMAND'; then reads compares what reads back. Debian's dcb does not say that ETS and
# PFC were refused: then it is done when something has changed, and "same" when nothing should.
lab-load roce:m5:1:train=150 roce:m4:1:dcb=mlx4 roce:m4p:1:dcb=mlx4pfc roce:ice:1:dcb=ice:train=150 roce:ice4:1:dcb=ice:tcs=4 roce:icefw:1:dcb=ice:agent \
	roce:bnxt:1:dcb=bnxt:tcs=5 roce:bnxtfw:1:dcb=bnxt:agent roce:hns:1:dcb=hns3:train=150 roce:qede:1:dcb=qede iwarp:i40e:1:dcb=i40e:train=150 iwarp:i40efw:1:dcb=i40e:agent || exit 1
of() { sed -n "s/^$1 port 1 .* netdev \([^ ]*\).*/\1/p" /proc/fake_hca; }
lab() { echo "$*" >/proc/fake_hca; }
on() { D=$1 E=$(of "$1"); export E; }
line() { tr -s ' ' <<<"$1" | sed 's/ $//'; }
bw() { line "$(dcb ets show dev "$E" tc-bw | sed 's/tc-bw //')"; }
tsa() { line "$(dcb ets show dev "$E" tc-tsa | sed 's/tc-tsa //')"; }
prio() { line "$(dcb ets show dev "$E" prio-tc | sed 's/prio-tc //')"; }
cap() { dcb ets show dev "$E" ets-cap | tr -dc 0-9; }
pfc() { dcb pfc show dev "$E" prio-pfc | grep -o '[0-7]:on' | tr -d '\n'; }
app() { line "$(dcb -N app show dev "$E" dscp-prio | sed 's/dscp-prio //')"; }
addr() { ip -o addr show dev "$E" scope global | wc -l; }
row() {
	local out rc got was='' what
	what=$(cut -d' ' -f2 <<<"$4"); [ "$what" = app ] || [ "$what" = dcbx ] || was=$(dcb "$what" show dev "$E" 2>&1)
	for _ in 1 2 3; do	# dcb numbers its messages by the second, and trips when that changes between two of them
		out=$(eval "$4" 2>&1); rc=$?
		[[ $out = *"Protocol error"* ]] || break
	done
	got=done; [ $rc = 0 ] && [ -z "$out" ] || got=refused
	if [ $got = done ] && [ -n "$was" ] && [ "$(dcb "$what" show dev "$E" 2>&1)" = "$was" ]; then
		[ "$3" = same ] && got=same || got=refused
	fi
	if [ $got = "$3" ]; then pass "$D $1: $2, $3"; else fail "$D $1: $2: $got, want $3" "$4: exit $rc, $out"; fi
}
reads() { is "$D $1: $2" "$($3)" "$4"; }		# LINE WHAT READER WANT
changes() { cat "/sys/class/net/$E/carrier_changes"; }
blinks() {	# LINE WHAT COMMAND: carrier is lost, and comes back
	local was; ip link set "$E" up; wait_carrier "$E"; was=$(changes)
	eval "$3"; [ "$(changes)" != "$was" ] && pass "$D $1: $2 takes the carrier" || fail "$D $1: $2 keeps the carrier"
	ok "$D $1: and it comes back" wait_carrier "$E"
}
holds() {	# LINE WHAT COMMAND: carrier is not lost
	local was; ip link set "$E" up; wait_carrier "$E"; was=$(changes); eval "$3"; is "$D $1: $2 keeps the carrier" "$(changes)" "$was"
}
STRICT="1:strict 2:strict 3:strict 4:strict 5:strict 6:strict 7:strict"

# ---- mellanox/mlx5/core/en_dcbnl.c
on m5
reads 1087 "a class of the vendor's for each priority at load" tsa "0:vendor 1:vendor 2:vendor 3:vendor 4:vendor 5:vendor 6:vendor 7:vendor"
reads 1106 "priorities 0 and 1 are exchanged" prio "0:1 1:0 2:2 3:3 4:4 5:5 6:6 7:7"
row 320 "shares that are 90 in sum" refused 'dcb ets set dev $E tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:50 1:40'
row 313 "a credit-based shaper" refused 'dcb ets set dev $E tc-tsa 0:cbs'
row 320 "50 and 50, the others strict" done 'dcb ets set dev $E tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:50 1:50'
reads 161 "strict classes have no share" bw "0:50 1:50 2:0 3:0 4:0 5:0 6:0 7:0"
row 328 "ETS with 0 % beside 100 %" done 'dcb ets set dev $E tc-tsa all:ets tc-bw all:0 0:30 1:70'
reads 144 "which read back 0" bw "0:30 1:70 2:0 3:0 4:0 5:0 6:0 7:0"; reads 151 "and are ETS" tsa "0:ets 1:ets 2:ets 3:ets 4:ets 5:ets 6:ets 7:ets"
row 304 "a class above 7 is beyond what dcb can say; all in class 7" done 'dcb ets set dev $E prio-tc all:7'
blinks 394 "another set of lossless priorities" 'dcb pfc set dev $E prio-pfc 3:on'
holds 390 "the same set" 'dcb pfc set dev $E prio-pfc 3:on'
reads 372 "the cable's length is the delay" "eval dcb pfc show dev \$E delay | tr -dc 0-9" 7
row 475 "an entry that is not for DSCP" refused 'dcb app add dev $E ethtype-prio 0x8915:3'
row 485 "the first DSCP" done 'dcb app add dev $E dscp-prio 26:3'
has "m5 486: the port trusts DSCP" "$(grep '^m5 ' /proc/fake_hca)" "trust dscp"
has "m5 1248: the other 63 are as the firmware has them" "$(grep '^m5 ' /proc/fake_hca)" "dscp2prio 00000000111111112222222233333333"
row 499 "another priority for it" done 'dcb app add dev $E dscp-prio 26:5'; reads 500 "replaces the entry" app "26:5"
row 537 "deleting what is not there" refused 'dcb app del dev $E dscp-prio 26:3'
row 546 "deleting it" done 'dcb app del dev $E dscp-prio 26:5'
has "m5 546: it maps to 0 now" "$(grep '^m5 ' /proc/fake_hca)" "dscp2prio 00000000111111112222222233033333"
has "m5 554: and the port trusts VLAN tags" "$(grep '^m5 ' /proc/fake_hca)" "trust pcp"
dcb app add dev "$E" dscp-prio 26:3; dcb pfc set dev "$E" prio-pfc 3:on; lab reload m5; on m5
is "m5 1137: after a reload all are listed" "$(app | wc -w)" 64
reads 1294 "and ETS is as at first" prio "0:1 1:0 2:2 3:3 4:4 5:5 6:6 7:7"; reads 374 "lossless priorities stay" pfc 3:on
row 436 "a mode under an agent" refused 'dcb dcbx set dev $E lld-managed'
row 454 "CEE alone" refused 'dcb dcbx set dev $E cee'
ip link set "$E" up; lab reset m5 3000; is "m5: while the firmware is reset, ETS is not said" "$(dcb ets show dev "$E" 2>/dev/null)" ""
ok "m5: it is, after that" lab-wait 10 'dcb ets show dev $E 2>/dev/null | grep -q ets-cap'; reads 1235 "DSCPs are forgotten" app ""

# ---- mellanox/mlx4/en_dcb_nl.c
on m4
row 333 "shares that are 90 in sum" refused 'dcb ets set dev $E tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:50 1:40'
row 333 "50 and 50" done 'dcb ets set dev $E tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:50 1:50'
holds 411 "lossless priorities" 'dcb pfc set dev $E prio-pfc 3:on'; reads 406 "which read back" pfc 3:on
row 710 "any entry, as there is no setapp" done 'dcb app add dev $E dscp-prio 26:3 26:4 ethtype-prio 0x8915:3'
reads 710 "two for one DSCP: nothing of it is in the adapter" app "26:3 26:4"
row 466 "IEEE and CEE" refused 'dcb dcbx set dev $E host ieee cee lld-managed'
row 477 "IEEE alone" done 'dcb dcbx set dev $E host ieee'; reads 479 "clears what is lossless" pfc ""
on m4p
is "m4p en_netdev.c:3255: no ETS without the firmware's" "$(dcb ets show dev "$E" 2>/dev/null)" ""
row 411 "lossless priorities" done 'dcb pfc set dev $E prio-pfc 3:on'; reads 406 "which read back" pfc 3:on

# ---- intel/ice/ice_dcb_nl.c
on ice
reads lib:640 "one class at load" tsa "0:ets $STRICT"
ip link set "$E" up; ip addr add 10.1.0.1/24 dev "$E"; ip route add default via 10.1.0.9
row 275 "lossless priorities" done 'dcb pfc set dev $E prio-pfc 3:on'
ok "ice 21: the device was closed: its default route is gone" test -z "$(ip route show default)"; is "ice 21: the address of IPv4 is not" "$(addr)" 1
ip -6 addr add fd00::1/64 dev "$E" nodad; wait_carrier "$E"
row lib:364 "the same again" same 'dcb pfc set dev $E prio-pfc 3:on'; is "ice lib:364: nothing happens then" "$(ip -6 -o addr show dev "$E" scope global | wc -l)" 1
row lib:340 "shares that are 90 in sum, of two classes" refused 'dcb ets set dev $E prio-tc all:0 3:1 tc-tsa 0:ets 1:ets tc-bw all:0 0:50 1:40'
row 106 "50 and 50" done 'dcb ets set dev $E prio-tc all:0 3:1 tc-tsa 0:ets 1:ets tc-bw all:0 0:50 1:50'
is "ice 21: the address of IPv6 is gone" "$(ip -6 -o addr show dev "$E" scope global | wc -l)" 0
reads 45 "what was set" bw "0:50 1:50 2:0 3:0 4:0 5:0 6:0 7:0"
row 707 "an entry that is not for DSCP" refused 'dcb app add dev $E ethtype-prio 0x8915:3'
row 741 "the first DSCP" done 'dcb app add dev $E dscp-prio 26:3'
reads 793 "rewrites shares" bw "0:100 1:0 2:0 3:0 4:0 5:0 6:0 7:0"; reads 800 "and classes" prio "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7"
row 745 "it once more, with another priority" refused 'dcb app add dev $E dscp-prio 26:5'; reads 748 "it has the first" app "26:3"
row 741 "the first again" refused 'dcb app add dev $E dscp-prio 26:3'
row 106 "shares in DSCP mode" done 'dcb ets set dev $E prio-tc all:0 tc-bw all:0 0:40 3:60'
reads 83 "classes stay" prio "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7"; reads 45 "shares are taken" bw "0:40 1:0 2:0 3:60 4:0 5:0 6:0 7:0"
row 176 "another mode in DSCP mode" refused 'dcb dcbx set dev $E host cee'
row 903 "the last DSCP deleted" done 'dcb app del dev $E dscp-prio 26:3'
reads lib:640 "everything is as at load: shares" bw "0:100 1:0 2:0 3:0 4:0 5:0 6:0 7:0"; reads lib:648 "and lossless priorities" pfc ""
row 846 "then a change of shares" done 'dcb ets set dev $E willing off'; reads 273 "brings back what was lossless: it was told once" pfc 3:on
row 170 "the mode that it is in" refused 'dcb dcbx set dev $E host ieee'
on ice4
row 729 "a priority for which there is no class" refused 'dcb app add dev $E dscp-prio 34:4'
row 729 "one for which there is" done 'dcb app add dev $E dscp-prio 26:3'
reads 98 "ets_cap is unknown until ETS was set" cap 0; reads 787 "classes of 4" prio "0:0 1:1 2:2 3:3 4:0 5:0 6:0 7:0"
on icefw
has "icefw lib:812: the agent is in charge" "$(dcb dcbx show dev "$E")" "lld-managed"
row 69 "shares" refused 'dcb ets set dev $E willing off'; row 260 "lossless priorities" refused 'dcb pfc set dev $E prio-pfc 3:on'
row 711 "a DSCP" refused 'dcb app add dev $E dscp-prio 26:3'; row 160 "the host in charge" refused 'dcb dcbx set dev $E host ieee'
lab set icefw agent=0; on icefw; row "ice_ethtool.c:1206" "once the agent is off" done 'dcb pfc set dev $E prio-pfc 3:on'

lab set ice4 linux=6.12; on ice4; modprobe bonding max_bonds=0; ip link add bo type bond mode active-backup; ip link set "$E" down; ip link set "$E" master bo
row "73 of 6.12" "lossless priorities in a bond" refused 'dcb pfc set dev $E prio-pfc 3:on'; row "763 of 6.12" "a DSCP" refused 'dcb app add dev $E dscp-prio 26:3'
ip link set "$E" nomaster; row "73 of 6.12" "outside of it" done 'dcb pfc set dev $E prio-pfc 3:on'; ip link del bo

# ---- intel/i40e/i40e_dcb_nl.c; "main" is i40e_main.c
on i40e
reads main:7143 "one class at load" tsa "0:ets $STRICT"; reads main:7142 "with all of it" bw "0:100 1:0 2:0 3:0 4:0 5:0 6:0 7:0"
row main:7009 "a class of the vendor's that is used" refused 'dcb ets set dev $E tc-tsa 0:vendor'
row main:5445 "a gap between classes" done 'dcb ets set dev $E prio-tc all:0 3:2 tc-tsa all:strict 0:ets 2:ets tc-bw all:0 0:50 2:50'
reads 54 "which reads back as it was set, though it is one class" prio "0:0 1:0 2:0 3:2 4:0 5:0 6:0 7:0"
ip addr add 10.2.0.1/24 dev "$E"; ip -6 addr add fd00:2::1/64 dev "$E" nodad
blinks main:9385 "other classes" 'dcb ets set dev $E prio-tc all:0 3:1 tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:50 1:50'
holds main:9392 "other shares" 'dcb ets set dev $E tc-bw 0:40 1:60'; reads 48 "which read back" bw "0:40 1:60 2:0 3:0 4:0 5:0 6:0 7:0"
blinks main:9404 "lossless priorities" 'dcb pfc set dev $E prio-pfc 3:on'
is "i40e main:5268: the device is not closed: its addresses stay" "$(addr)" 2
row 209 "an entry that is not for DSCP" done 'dcb app add dev $E ethtype-prio 0x8915:3'
row 209 "two priorities for one DSCP" done 'dcb app add dev $E dscp-prio 26:3 26:4'; reads 209 "both are listed" app "26:3 26:4"
row 206 "as many as LLDP sends" done 'dcb app add dev $E dscp-prio $(printf "%s:1 " {32..59})'; row 206 "and one more" refused 'dcb app add dev $E dscp-prio 60:1'
row 793 "the mode that it is in" done 'dcb dcbx set dev $E host ieee'; row 788 "IEEE and CEE" refused 'dcb dcbx set dev $E host ieee cee'
lab port i40e 1 down; reads main:9994 "the cable is pulled: nothing is lossless" pfc ""; reads main:9997 "and there is one class" prio "0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0"
lab port i40e 1 active; ok "i40e main:9884: plugged in" wait_carrier "$E"; reads main:9991 "it stays so" pfc ""
on i40efw
has "i40efw main:7227: the agent is in charge" "$(dcb dcbx show dev "$E")" "lld-managed"
row 113 "shares" refused 'dcb ets set dev $E willing off'; row 161 "lossless priorities" refused 'dcb pfc set dev $E prio-pfc 3:on'
row 201 "a DSCP" refused 'dcb app add dev $E dscp-prio 26:3'; row 783 "the host in charge" refused 'dcb dcbx set dev $E host ieee'
lab set i40efw agent=0; on i40efw; row "i40e_ethtool.c:5417 of 6.12" "once the agent is off" done 'dcb pfc set dev $E prio-pfc 3:on'

# ---- broadcom/bnxt/bnxt_dcb.c
on bnxt
row 258 "lossless priorities before ETS" refused 'dcb pfc set dev $E prio-pfc 3:on'
row 488 "ETS on class 6 of 5" refused 'dcb ets set dev $E tc-tsa all:strict 6:ets'
row 480 "a priority in class 6 of 5" refused 'dcb ets set dev $E prio-tc all:0 3:6'
row 508 "a class that is used and starves" refused 'dcb ets set dev $E prio-tc all:0 3:2 tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:100'
row 504 "more than 100 %" refused 'dcb ets set dev $E prio-tc all:0 3:2 tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:70 1:70'
row 557 "50 and 50" done 'dcb ets set dev $E prio-tc all:0 3:1 tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:50 1:50'
reads 547 "which read back" bw "0:50 1:50 2:0 3:0 4:0 5:0 6:0 7:0"
row 249 "then lossless priorities" done 'dcb pfc set dev $E prio-pfc 3:on'
row 557 "a class for each of 1, 2, 3" done 'dcb ets set dev $E prio-tc all:0 1:1 2:2 3:3 tc-tsa all:strict tc-bw all:0'
row 272 "three lossless classes of 2" refused 'dcb pfc set dev $E prio-pfc 1:on 2:on 3:on'
row 557 "the three priorities in one class" done 'dcb ets set dev $E prio-tc all:0 1:1 2:1 3:1'
row 272 "priorities are not counted" done 'dcb pfc set dev $E prio-pfc 1:on 2:on 3:on'
row 681 "two priorities for one DSCP" done 'dcb app add dev $E dscp-prio 26:3 26:4'; reads 681 "both are listed" app "26:3 26:4"
row 745 "IEEE and CEE" refused 'dcb dcbx set dev $E host ieee cee'
row 753 "nobody in charge" done 'dcb dcbx set dev $E static'; row 564 "then nothing can be set: shares" refused 'dcb ets set dev $E willing off'
row 639 "lossless priorities" refused 'dcb pfc set dev $E prio-pfc all:off'; row 673 "a DSCP" refused 'dcb app add dev $E dscp-prio 10:1'
row 740 "until the host is in charge again" done 'dcb dcbx set dev $E host ieee'
on bnxtfw
row 564 "shares under the agent" refused 'dcb ets set dev $E willing off'; row 737 "the host in charge" refused 'dcb dcbx set dev $E host ieee'

# ---- hisilicon/hns3/hns3pf/hclge_dcb.c
on hns
reads main:1577 "one class at load" tsa "0:ets $STRICT"; reads main:1577 "with all of it" bw "0:100 1:0 2:0 3:0 4:0 5:0 6:0 7:0"
row 144 "ETS on a class that no priority uses" refused 'dcb ets set dev $E prio-tc all:0 3:1 tc-tsa all:ets tc-bw all:0 0:50 1:50'
row 154 "ETS with 0 %" refused 'dcb ets set dev $E prio-tc all:0 3:1 tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:100'
row 172 "shares that are 90 in sum" refused 'dcb ets set dev $E prio-tc all:0 3:1 tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:50 1:40'
row 167 "a class of the vendor's" refused 'dcb ets set dev $E tc-tsa 0:vendor'
blinks 264 "other classes" 'dcb ets set dev $E prio-tc all:0 3:1 tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:50 1:50'
reads 56 "which read back" bw "0:50 1:50 2:0 3:0 4:0 5:0 6:0 7:0"
holds 284 "other shares" 'dcb ets set dev $E tc-bw 0:40 1:60'
blinks 357 "lossless priorities" 'dcb pfc set dev $E prio-pfc 3:on'
row 378 "an entry that is not for DSCP" refused 'dcb app add dev $E ethtype-prio 0x8915:3'
row 389 "a DSCP" done 'dcb app add dev $E dscp-prio 26:3'; row 386 "it again" done 'dcb app add dev $E dscp-prio 26:3'
row 411 "another priority for it" done 'dcb app add dev $E dscp-prio 26:5'; reads 411 "replaces the entry" app "26:5"
row 426 "deleting what is not there" refused 'dcb app del dev $E dscp-prio 26:3'
lab reset hns 3000; row "hns3_dcbnl.c:11" "in a reset: shares" refused 'dcb ets set dev $E tc-bw 0:50 1:50'
lab reset hns 3000; row "hns3_dcbnl.c:47" "lossless priorities" refused 'dcb pfc set dev $E prio-pfc 3:off'
ok "hns: after that" lab-wait 10 'dcb ets show dev $E 2>/dev/null | grep -q ets-cap'; reads tm "all is as it was set" bw "0:40 1:60 2:0 3:0 4:0 5:0 6:0 7:0"

# ---- qlogic/qed/qed_dcbx.c
on qede
is "qede 1295: nothing is said while DCBX was not negotiated" "$(dcb ets show dev "$E" 2>/dev/null; dcb dcbx show dev "$E")" ""
row 2084 "lossless priorities" refused 'dcb pfc set dev $E prio-pfc 3:on'
lab set qede negotiated
reads 2154 "negotiated: the switch's" bw "0:50 1:50 2:0 3:0 4:0 5:0 6:0 7:0"; reads 2064 "and its lossless priorities" pfc 3:on
row 2170 "other shares" same 'dcb ets set dev $E tc-bw 0:40 1:60'; reads 1208 "nothing changes by that" bw "0:50 1:50 2:0 3:0 4:0 5:0 6:0 7:0"
row 2080 "other lossless priorities" same 'dcb pfc set dev $E prio-pfc 4:on'; reads 1208 "nothing changes by that either" pfc 3:on
row 2244 "a DSCP" refused 'dcb app add dev $E dscp-prio 26:3'; reads "qede_dcbnl.c" "the core lists it all the same" app "26:3"
row 1815 "the host in charge" done 'dcb dcbx set dev $E host ieee'; is "qede 1549: which does not read back" "$(dcb dcbx show dev "$E" | xargs)" ieee

# ---- names, places, links
for d in m5:mlx5_core m4:mlx4_core ice:ice i40e:i40e bnxt:bnxt_en hns:hns3 qede:qede; do is "driver of ${d%%:*}" "$(basename "$(readlink "/sys/class/infiniband/${d%%:*}/device/driver")")" "${d##*:}"; done
