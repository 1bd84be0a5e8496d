# Addresses, routes and their owner with the direct backend: two ports reach each other, foreign ones stay, drift is repaired.
# nightly: CI has time for the core and the daemon
# lab: --snap
systemctl stop NetworkManager; no_daemon
lab-load ib:mlx4_0:2 || exit 1
a=$(lab-net b001) b=$(lab-net b002)
# The second port lives in a namespace of its own, or the kernel would answer itself.
ip netns add peer; ip link set "$b" netns peer; ip netns exec peer ip link set "$b" up
ip netns exec peer ip addr add 192.0.2.2/24 dev "$b"; ip netns exec peer ip -6 addr add 2001:db8::2/64 dev "$b" nodad
addresses() { ip -j addr show dev "$1" | jq -r '.[0].addr_info[] | select(.scope == "global") | "\(.local)/\(.prefixlen)"' | sort | xargs; }
routes() { ip -j "$1" route show dev "$2" table all | jq -r '.[] | select(.protocol == "static") | "\(.dst) \(.gateway // "-") \(.metric // 0) \(.table // "main")"' | sort | xargs; }
doc() { printf 'version = 1\n[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "fab0"\nbackend = "direct"\n%s\n' "$1" | conf; }
ip link set "$a" up; ok "carrier of the port" wait_carrier "$a"; ip addr add 192.0.2.77/24 dev "$a"; ip route add 203.0.113.0/24 via 192.0.2.2 dev "$a"
doc 'mtu = 2044
ipv4 = { addresses = ["192.0.2.1/24", "192.0.4.1/24"], gateway = "192.0.2.2", routes = [{ to = "198.51.100.0/24", via = "192.0.2.2", metric = 5, table = 1000 }, { to = "10.9.0.0/16" }] }
ipv6 = { addresses = ["2001:db8::1/64"], gateway = "2001:db8::2" }
[[ipoib.pkey]]
pkey = 0x8002
mtu = 2044
ipv4 = { addresses = ["192.0.3.1/24"] }'
exits "diff" 2 ctl diff; exits "apply" 0 apply
is "addresses" "$(addresses fab0)" "192.0.2.1/24 192.0.2.77/24 192.0.4.1/24 2001:db8::1/64"
is "of the P_Key interface" "$(addresses fab0.8002)" "192.0.3.1/24"
is "IPv4 routes" "$(routes -4 fab0)" "10.9.0.0/16 - 150 main 198.51.100.0/24 192.0.2.2 5 1000 default 192.0.2.2 150 main"
is "IPv6 routes" "$(routes -6 fab0)" "default 2001:db8::2 150 main"
has "somebody else's route is there" "$(ip route show 203.0.113.0/24)" "192.0.2.2"
is "broadcast address" "$(ip -j -4 addr show dev fab0 | jq -r '.[0].addr_info[] | select(.local == "192.0.2.1") | .broadcast')" 192.0.2.255
ok "carrier" wait_carrier fab0
ok "ping" wait_ping 192.0.2.2; ok "ping over IPv6" wait_ping 2001:db8::2
no_writes "second apply"
exits "in sync" 0 ctl diff
has "others are told to keep off" "$(cat /etc/udev/rules.d/71-rdma-configd-backend.rules)" '?*00:02:c9:03:00:a0:b0:01", ENV{RDMA_CONFIGD_BACKEND}="direct", ENV{NM_UNMANAGED}="1"'
exits "show" 0 ctl show; has "shows an address" "$OUT" "192.0.2.1/24"
# drift
ip addr del 192.0.4.1/24 dev fab0; ip route del default dev fab0
exits "drift is seen" 2 ctl diff; exits "and repaired" 0 apply; is "addresses" "$(addresses fab0)" "192.0.2.1/24 192.0.2.77/24 192.0.4.1/24 2001:db8::1/64"
# Without carrier the kernel does not ask whether another host has an IPv6 address, which is pending until then.
ip link set fab0 down; ip link set fab0 up; ok "carrier again" wait_carrier fab0
exits "what a link that went down lost" 0 apply; is "IPv6" "$(ip -6 -j addr show dev fab0 | jq '[.[0].addr_info[] | select(.scope == "global")] | length')" 1
is "IPv4 routes" "$(routes -4 fab0 | wc -w)" 12
# a mode change takes the child away and back
doc 'mode = "connected"
mtu = 65520
ipv4 = { addresses = ["192.0.2.1/24"], gateway = "192.0.2.2" }
[[ipoib.pkey]]
pkey = 0x8002
mode = "connected"
ipv4 = { addresses = ["192.0.3.1/24"] }'
exits "another mode, fewer addresses, without a default route of IPv6" 0 apply --allow-removal
is "ours went, others stayed" "$(addresses fab0)" "192.0.2.1/24 192.0.2.77/24"; is "routes" "$(routes -4 fab0)" "default 192.0.2.2 150 main"
is "the child has its address" "$(addresses fab0.8002) $(mode fab0.8002)" "192.0.3.1/24 connected"
ok "ping" wait_ping 192.0.2.2
# the only address is another one, the first of two goes, the gateway moves: nobody's route is lost
sysctl -q -w net.ipv4.conf.fab0.promote_secondaries=1
ip addr del 192.0.2.77/24 dev fab0; ip route add 203.0.113.128/25 via 192.0.2.2 dev fab0 table 99; ip route add 10.8.0.0/16 dev fab0
for p in 0 1; do
  sysctl -q -w net.ipv4.conf.all.promote_secondaries=$p net.ipv4.conf.fab0.promote_secondaries=$p
  for list in '"192.0.2.11/24"' '"192.0.2.11/24", "192.0.2.1/24"' '"192.0.2.1/24"'; do
    doc "ipv4 = { addresses = [$list], gateway = \"192.0.2.2\" }"
    exits "addresses $list, promote_secondaries=$p" 0 apply; exits "hold" 0 ctl diff
    is "the gateway's route" "$(routes -4 fab0)" "default 192.0.2.2 150 main"
    has "a route of others" "$(ip route show table 99)" "via 192.0.2.2"; has "one without next hop" "$(ip route show 10.8.0.0/16)" fab0
  done
done
# a lease of others goes with our first address, and comes back as it was
sysctl -q -w net.ipv4.conf.all.promote_secondaries=0 net.ipv4.conf.fab0.promote_secondaries=0
ip addr add 192.0.2.78/24 dev fab0 label fab0:1 metric 77 valid_lft 3000 preferred_lft 2000
doc 'ipv4 = { addresses = ["192.0.2.11/24"], gateway = "192.0.2.2" }'
exits "another address beside a lease" 0 apply
lease=$(ip -4 addr show dev fab0 to 192.0.2.78)
for word in "metric 77" "fab0:1" dynamic; do has "the lease is as it was" "$lease" "$word"; done
sysctl -q -w net.ipv4.conf.all.promote_secondaries=1 net.ipv4.conf.fab0.promote_secondaries=1
doc 'ipv4 = { addresses = ["192.0.2.1/24"], gateway = "192.0.2.2" }'
exits "the former address again" 0 apply; ip addr del 192.0.2.78/24 dev fab0
ip route del 10.8.0.0/16 dev fab0; ip route del 203.0.113.128/25 table 99; ip addr add 192.0.2.77/24 dev fab0
# duplicates on the fabric
ip -6 -n peer addr add 2001:db8::5/64 dev "$b" nodad
doc 'ipv6 = { addresses = ["2001:db8::5/64"] }
ipv4 = { addresses = ["192.0.2.1/24"] }'
exits "an IPv6 address that another host has" 5 apply --allow-removal; has "says so" "$OUT" "another host has this address"
# a route of somebody else's that the document takes over
ip route replace 203.0.113.0/24 via 192.0.2.2 dev fab0
doc 'ipv4 = { addresses = ["192.0.2.1/24", "192.0.5.1/24"], routes = [{ to = "203.0.113.0/24", via = "192.0.2.9", metric = 0 }] }'
exits "it gets our next hop" 0 apply
has "next hop" "$(ip route show 203.0.113.0/24)" "via 192.0.2.9"
echo 'version = 1' | conf; exits "taken back" 0 apply
is "only foreign addresses are left" "$(addresses fab0 2>/dev/null || addresses "$a")" "192.0.2.77/24"
has "the route has its next hop back" "$(ip route show 203.0.113.0/24)" "via 192.0.2.2"
ok "no rule is left" test ! -e /etc/udev/rules.d/71-rdma-configd-backend.rules
