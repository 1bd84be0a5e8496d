# RTNL contention: modes are changed and children made while others add and remove links.  The kernel must not warn.
# nightly: it takes minutes
# lab: --bare --timeout 3600 --mem 1500
lab-load ib:mlx4_0:2 || exit 1
no_daemon
a=$(lab-net b001)
(while :; do ip link add dum type dummy; ip link set dum up; ip link del dum; done) 2>/dev/null & w1=$!
(while :; do ip link add v0 type veth peer name v1; ip link del v0; done) 2>/dev/null & w2=$!
doc() { printf '[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nmode = "%s"\n[[ipoib.pkey]]\npkey = 2\nmode = "%s"\n%s\n' "$1" "$2" "$3" | conf; }
bad=0; turns=25; [ -z "${NIGHTLY:-}" ] || turns=125
for i in $(seq $turns); do	# each turn: two modes of the parent, two of a child, two children made and removed
	doc connected datagram $'[[ipoib.pkey]]\npkey = 3\nmode = "connected"\n[[ipoib.pkey]]\npkey = 4'
	apply >/tmp/out 2>&1 || { bad=$((bad + 1)); cat /tmp/out; }
	[ "$(mode $a) $(mode $a.8002) $(mode $a.8003) $(mode $a.8004)" = "connected datagram connected datagram" ] || bad=$((bad + 1))
	doc datagram connected
	apply >/tmp/out 2>&1 || { bad=$((bad + 1)); cat /tmp/out; }
	[ "$(mode $a) $(mode $a.8002)" = "datagram connected" ] || bad=$((bad + 1))
	[ $bad -gt 3 ] && break
done
kill $w1 $w2
is "$((turns * 4)) mode changes and creations under contention" $bad 0
