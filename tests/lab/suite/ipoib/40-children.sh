# P_Key children: 200 (80 in CI) made, changed and removed; spellings; made by others; modes; adoption; prune.
# lab: --snap
# at night: --mem 3072
systemctl stop NetworkManager; no_daemon
lab-load ib:mlx4_0:2 eib:mlx5_0:1 pkeys=256 guid_base=0x0002c90300a0b000 || exit 1
a=$(lab-net b001)
doc() { printf '[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "p"\n%s\n' "${1:-}"; }
kids() { ls /sys/class/net | grep -c '^p\.'; }
n=80; [ -z "$NIGHTLY" ] || n=200
last=$(printf 'p.%x' $((0x8000 + n))) left=$((n - n / 4))
{ doc; for i in $(seq 1 $n); do printf '[[ipoib.pkey]]\npkey = 0x%x\nmtu = 2044\n' $((0x8000 + i)); done; } | conf
exits "$n made" 0 apply; is "are there" "$(kids)" $n; is "last one" "$(mtu $last)" 2044
ok "carrier of each" wait_carriers 'p.*'
no_writes "second apply"
sed -i 's/mtu = 2044/mtu = 1500/' $CONF; exits "$n changed" 0 apply; is "changed" "$(cat /sys/class/net/p.*/mtu | sort | uniq -c | xargs)" "$n 1500"
{ doc; for i in $(seq $left -1 1); do printf '[[ipoib.pkey]]\npkey = %d\nmtu = 1500\n' $i; done; } | conf
exits "a quarter dropped, others spelled without the membership bit, in another order" 0 apply; is "$left left" "$(kids)" $left
exits "in sync" 0 ctl diff
doc | conf; exits "$left removed" 0 apply; is "none left" "$(kids)" 0; is "the group is back" "$(field p group)" default
# made by others
ip link add link p name foreign type ipoib pkey 0x8010; ip link add link p name other type ipoib pkey 0x8011
echo 0x8012 > /sys/class/net/p/create_child
doc | conf; exits "foreign ones are left alone" 0 apply; ok "there" test -e /sys/class/net/foreign -a -e /sys/class/net/p.8012
exits "show names them" 0 ctl show; has "foreign" "$OUT" foreign
doc $'[[ipoib.pkey]]\npkey = 0x10\nname = "adopted"\nmtu = 1800' | conf; exits "adopted under another name" 0 apply; is "mtu" "$(mtu adopted)" 1800; is "P_Key" "$(pkey adopted)" 0x8010
doc | conf; exits "not removed when it is dropped, since we did not make it" 0 apply; ok "still there" test -e /sys/class/net/adopted
doc 'prune = true' | conf; exits "prune" 0 apply; is "only ours are left" "$(ip -o link show type ipoib | grep -c 'adopted\|other\|p\.8012')" 0
# modes
doc $'[[ipoib.pkey]]\npkey = 0x8002\nmode = "connected"\nmtu = 65520\n[[ipoib.pkey]]\npkey = 0x8003' | conf
exits "a connected child under a datagram parent" 0 apply; is "mode" "$(mode p.8002)" connected; is "mtu" "$(mtu p.8002)" 65520; is "parent" "$(mode p)" datagram
wait_carriers 'p*'; ip addr add 10.3.0.1/24 dev p.8003; ip -6 addr add fd00:3::1/64 dev p.8003 nodad
sed -i 's/pkey = 0x8003/pkey = 0x8003\nmode = "connected"/' $CONF
exits "diff of a netlink-made child that shall be connected" 2 ctl diff; has "says that it is re-created" "$OUT" "re-created"
exits "is re-created" 0 apply; is "mode" "$(mode p.8003)" connected; has "with its address" "$(ip addr show p.8003)" 10.3.0.1/24; has "and IPv6" "$(ip addr show p.8003)" fd00:3::1/64
wait_carriers 'p*'; sed -i 's/"connected"/"datagram"/; s/65520/2044/' $CONF; exits "back to datagram" 0 apply; is "mode" "$(mode p.8002)" datagram
# names
wait_carriers 'p*'; sed -i 's/name = "p"/name = "renamed"/' $CONF; exits "children follow the name of their parent" 0 apply; ok "renamed" test -e /sys/class/net/renamed.8003; has "address kept" "$(ip addr show renamed.8003)" 10.3.0.1/24; has "IPv6 kept" "$(ip addr show renamed.8003)" fd00:3::1/64
sed -i 's/name = "renamed"/name = "a_longer_name"/' $CONF; exits "a name that gets too long" 1 apply; has "says so" "$OUT" "18 characters"
# refusals
wait_carriers 'renamed*'; was=$(picture)
for k in 0 0x8000 0x10000 -1 '"x"' '""'; do doc "[[ipoib.pkey]]
pkey = $k" | conf; exits "P_Key $k" 1 apply; has "its place" "$OUT" "config.toml:6:8"; done
doc $'[[ipoib.pkey]]\npkey = 0x0005\n[[ipoib.pkey]]\npkey = 0x8005' | conf; exits "the same partition twice" 1 apply; has "both places" "$OUT" "config.toml:6"
doc $'[[ipoib.pkey]]\npkey = 0x7fff' | conf; exits "the parent's own P_Key" 1 apply; has "says so" "$OUT" "is the P_Key of"
is "nothing changed" "$(picture)" "$was"
doc $'[[ipoib.pkey]]\npkey = 2\nstate = "down"\n[[ipoib.pkey]]\npkey = 3\nstate = "absent"' | sed 's/name = "p"/name = "renamed"/' | conf
exits "down and absent" 0 apply; is "down" "$(field renamed.8002 operstate)" DOWN; is "absent" "$(ls /sys/class/net | grep -c 8003)" 0
# a long name of the port: the names that the kernel gives connected ones at first have a part of it
doc $'[[ipoib.pkey]]\npkey = 4\nname = "fast"\nmode = "connected"\n[[ipoib.pkey]]\npkey = 5\nname = "slow"\nmode = "connected"' | sed 's/name = "p"/name = "partition_ib0"/' | conf
exits "connected ones over a port with a long name" 0 apply; is "modes" "$(mode fast) $(mode slow)" "connected connected"
