# PFC, traffic classes and DSCPs of a RoCE interface, read back with the independent dcb.
# nightly: CI has time for the core and the daemon
# lab: --snap
systemctl stop NetworkManager
lab-load roce:mlx5_0:1 roce:plain:1:dcb=plain || exit 1
of() { sed -n "s/.* netdev \([^ ]*\) dcb $1.*/\1/p" /proc/fake_hca; }
e=$(of mlx5) p=$(of plain)
dcb app add dev "$e" dscp-prio 26:0 10:1; dcb pfc set dev "$e" prio-pfc 1:on
show() { dcb pfc show dev "$e"; dcb ets show dev "$e"; dcb app show dev "$e" | tr -s ' '; dcb dcbx show dev "$e"; }
was=$(show)
conf <<X
[[pfc]]
interface = "$e"
priorities = [3]
traffic_classes = [0, 0, 0, 1, 0, 0, 2, 0]
bandwidth = [40, 60]
strict = [2]
dscp = ["26:3", "48:6"]
X
exits "diff" 2 ctl diff; is "looking changes nothing" "$(show)" "$was"
exits "apply" 0 apply
OUT=$(dcb pfc show dev "$e"); has "PFC" "$OUT" "3:on"; has "and no other" "$OUT" "1:off"
OUT=$(dcb ets show dev "$e"); has "traffic classes" "$OUT" "3:1"; has "and" "$OUT" "6:2"; has "bandwidth" "$OUT" "0:40 1:60"; has "strict" "$OUT" "2:strict"; has "ETS" "$OUT" "1:ets"
OUT=$(dcb app show dev "$e" | tr -s ' '); has "DSCP" "$OUT" "dscp-prio AF31:3 CS6:6"; hasnt "stale entries are gone" "$OUT" "AF11"; hasnt "and its other priority" "$OUT" "AF31:0"
no_writes "a second apply"
dcb app add dev "$e" dscp-prio 26:5; exits "a duplicate from elsewhere" 2 ctl diff; exits "is removed" 0 apply; hasnt "gone" "$(dcb app show dev "$e")" "AF31:5"
OUT=$(strace -f -o /dev/null -e inject=sendmsg:error=EPERM:when=8+ rdma-configctl apply --yes 2>&1); exits "still in sync" 0 ctl diff
conf <<<''; exits "dropped" 0 apply; is "as before" "$(show)" "$was"
# mlx5 takes no other entries than those of DSCPs
dcb app add dev "$p" ethtype-prio 0x8915:3; conf <<<"[[pfc]]
interface = \"$p\"
dscp = [\"26:3\"]"
exits "apply beside an entry of another sort" 0 apply; OUT=$(dcb app show dev "$p" | tr -s ' '); has "DSCP" "$OUT" "AF31:3"; has "the other is left alone" "$OUT" "ethtype-prio"
conf <<<''; exits "dropped" 0 apply
# The order of trust: of Linux 6.2 and of plain, no other driver here; the rest of an entry is set in any case
release=$(uname -r) minor=$(uname -r | cut -d. -f2); newer=$((${release%%.*} * 100 + ${minor%%[!0-9]*} >= 602))
order() { dcb apptrust show dev "$p" 2>/dev/null | tr -s ' ' | sed -n 's/^order: \(.*[^ ]\) *$/\1/p'; }	# dcb has it since iproute2 6.2
trust() { conf <<<"[[pfc]]
interface = \"$1\"
priorities = [4]
trust = [$2]"; }
if [ $newer = 1 ]; then
	shown=$(order)
	trust "$p" '"pcp"'; exits "an order of trust" 0 apply; no_writes "a second apply of the order"
	[ -z "$shown" ] || is "dcb shows it" "$(order)" "pcp"
	trust "$p" ''; exits "no trust at all" 0 apply; exits "it reads back" 0 ctl diff
	trust "$p" '"pcp", "dscp"'; exits "an order that the driver does not take" 3 apply; has "says so" "$OUT" "does not take trust = [pcp, dscp]"
	trust "$p" '"pcp"'; exits "the order again" 0 apply
	conf <<<''; exits "dropped" 0 apply; [ -z "$shown" ] || is "the order is as before" "$(order)" "$shown"
	why="mlx5_core does not support an order of trust on Linux $release"
else
	trust "$p" '"pcp"'; exits "a kernel without an order of trust" 5 apply; has "says so" "$OUT" "Linux $release does not support an order of trust"
	has "the rest is set" "$(dcb pfc show dev "$p")" "4:on"; no_writes "a second apply" 5
	conf <<<''; exits "dropped" 0 apply
	why="Linux $release does not support an order of trust"
fi
trust "$e" '"dscp"'; exits "a driver without an order of trust" 5 apply; has "says why" "$OUT" "$why"; has "the rest is set" "$(dcb pfc show dev "$e")" "4:on"
conf <<<''; exits "dropped" 0 apply; is "as before" "$(show)" "$was"
conf <<<$'[[pfc]]\ninterface = "lo"\npriorities = [3]'; exits "lo has no DCB" 1 apply; has "says so" "$OUT" "has no data center bridging"
conf <<<$'[[pfc]]\ninterface = "ens1"\npriorities = [3]'; exits "an interface that is not there" 5 apply
conf <<<"[[lossless]]
interface = \"$e\""
exits "the preset explained" 2 ctl diff --explain; has "by its own line" "$OUT" "config.toml:2"
exits "the preset" 0 apply; OUT=$(show); has "PFC" "$OUT" "3:on"; has "DSCP" "$OUT" "AF31:3"; has "class" "$OUT" "3:1"; has "shares" "$OUT" "0:50 1:50"
no_writes "a second apply of the preset"
# lldpad
echo 512 >/run/lldpad.pid; lldpad -d >/dev/null 2>&1; if command lab-wait 5 'grep -q lldpad /proc/$(cat /run/lldpad.pid)/comm'; then OUT=$(ctl diff 2>&1); has "lldpad is named" "$OUT" "lldpad runs"; lldpad -k >/dev/null 2>&1; else pass "lldpad does not start here"; fi
rm -f /run/lldpad.pid
