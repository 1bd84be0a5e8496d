# Names: an interface that is up, swaps and circles, alternative names, names that are taken, rules of others.
# nightly: CI has time for the core and the daemon
# lab: --snap
systemctl stop NetworkManager; no_daemon
lab-load ib:mlx4_0:2 ib:mlx4_1:2 || exit 1
a=$(lab-net b001) b=$(lab-net b002) c=$(lab-net b011) d=$(lab-net b012)
for i in $a $b $c; do ip link set $i up; done
ip addr add 10.1.0.1/24 dev $a; ip addr add 10.1.0.9/32 peer 10.1.0.10 dev $a; ip -6 addr add fd00:1::1/64 dev $a nodad
ip addr add 10.2.0.1/24 dev $b; ip -6 addr add fd00:2::1/64 dev $b nodad; ip -6 route add fd00:77::/64 via fd00:2::7 metric 77
ip route add 10.99.0.0/16 via 10.1.0.7 table 99 metric 5; ip rule add oif $a lookup 99 pref 99
ip neigh add 10.1.0.66 lladdr "$(cat /sys/class/net/$b/address)" nud permanent dev $a
ip link add link $a name $a.8005 type ipoib pkey 0x8005; ip link set $a.8005 up; ip -6 addr add fd00:5::1/64 dev $a.8005 nodad; ip addr add 10.5.0.1/24 dev $a.8005
ip link add link $a name quiet type ipoib pkey 0x8006; ip link set quiet down
ip link property add dev $c altname third
for i in $a $b $c $a.8005; do wait_carrier $i; done
g() { echo "00:02:c9:03:00:a0:b0:$1"; }
entry() { printf '[[ipoib]]\nguid = "%s"\nname = "%s"\n%s\n' "$(g $1)" "$2" "${3:-}"; }
{ entry 01 first; entry 02 second; } | conf
exits "rename two that are up" 0 apply; is "first" "$(lab-net b001)" first; is "second" "$(lab-net b002)" second
for w in "10.1.0.1/24" "10.1.0.9 peer 10.1.0.10" "fd00:1::1/64"; do has "first keeps $w" "$(ip addr show first)" "$w"; done
has "second keeps its IPv6 route" "$(ip -6 route)" "fd00:77::/64 via fd00:2::7 dev second metric 77"
has "route of another table" "$(ip route show table 99)" "10.99.0.0/16 via 10.1.0.7 dev first metric 5"
has "rule follows" "$(ip rule)" "oif first lookup 99"
has "permanent neighbour" "$(ip neigh show dev first nud permanent)" "10.1.0.66 lladdr"
has "child keeps IPv6" "$(ip addr show $a.8005)" "fd00:5::1/64"; has "child keeps IPv4" "$(ip addr show $a.8005)" "10.5.0.1/24"
is "a child that was down stays down" "$(json link show quiet | jq -r '.[0].flags | index("UP")')" null
up_again() { local i; for i in first second $a.8005; do wait_carrier $i; done; }	# a kernel may take interfaces down for a new name
up_again; before=$(picture | sed 's/\bfirst\b/@A/g; s/\bsecond\b/@B/g')
{ entry 01 second; entry 02 first; } | conf
exits "swap" 0 apply; is "swapped a" "$(lab-net b001)" second; is "swapped b" "$(lab-net b002)" first; up_again
is "swap keeps everything else" "$(picture | sed 's/\bsecond\b/@A/g; s/\bfirst\b/@B/g' | sort)" "$(echo "$before" | sort)"
exits "diff after swap" 0 ctl diff
{ entry 01 first; entry 02 third; entry 11 second; } | conf
exits "circle with an alternative name of its own kin" 1 ctl diff; has "names the holder" "$OUT" "alternative name"
ip link property del dev $c altname third
exits "circle of three" 0 apply; is "1" "$(lab-net b001)" first; is "2" "$(lab-net b002)" third; is "3" "$(lab-net b011)" second
ip link property add dev $d altname fourth
{ entry 01 first; entry 02 third; entry 11 second; entry 12 fourth; } | conf
exits "an own alternative name becomes the name" 0 apply; is "4" "$(lab-net b012)" fourth
ip link add dum0 type dummy
{ entry 12 dum0; } | conf
exits "a name that is taken" 1 apply; has "says by whom" "$OUT" "already the name of"; is "nothing changed" "$(lab-net b012)" fourth
for n in ib0 'much_too_long_name' 'a/b' ''; do { entry 12 "$n"; } | conf; exits "name '$n'" 1 apply; done; is "still nothing changed" "$(lab-net b012)" fourth
mkdir -p /etc/systemd/network
printf '[Match]\nMACAddress=00:02:c9:03:00:a0:b0:12\n[Link]\nName=linkname\n' > /etc/systemd/network/10-x.link
echo 'ACTION=="add", ATTR{address}=="?*00:02:c9:03:00:a0:b0:12", NAME="late"' > /etc/udev/rules.d/99-late.rules
{ entry 12 fourth; } | conf
exits "conflicting files are warned of" 2 ctl diff; has "the rule and its line" "$OUT" "99-late.rules:1"; has "the link file" "$OUT" "10-x.link:4"
rm /etc/udev/rules.d/99-late.rules /etc/systemd/network/10-x.link
exits "names that are dropped" 0 apply; is "one rule is left" "$(grep -c NAME= /etc/udev/rules.d/70-rdma-configd-ipoib.rules)" 1
rm /etc/rdma-configd/config.toml; echo 'version = 1' | conf; exits "all dropped" 0 apply; is "no file" "$(ls /etc/udev/rules.d/70-rdma-configd-ipoib.rules 2>&1 | grep -c cannot)" 1
# An interface that is down is one hop of an IPv6 route that lives by another one: nothing of that can be put back.
a=$(lab-net b001) b=$(lab-net b002)
ip link set "$a" up; ip link set "$b" up
ip -6 addr add 2001:db8:a::1/64 dev "$a" nodad; ip -6 addr add 2001:db8:b::1/64 dev "$b" nodad
ok "a route over two" ip -6 route add 2001:db8:ab::/48 nexthop via 2001:db8:a::9 dev "$a" nexthop via 2001:db8:b::9 dev "$b"
ip link set "$a" down
{ entry 01 lowered 'state = "down"'; } | conf; exits "renamed while it is down" 0 apply
{ entry 01 raised; } | conf; exits "and up again" 0 apply; has "it is up" "$(ip link show raised)" ",UP"; ok "carrier" wait_carrier raised
exits "diff" 0 ctl diff
# A bond goes with its last interface, so one that would have to be re-created is refused.
if modprobe bonding max_bonds=0; then
	ip link add link raised name kid type ipoib pkey 0x8003
	ip link add bond0 type bond mode active-backup miimon 100 fail_over_mac active; ip link set kid master bond0; ip link set bond0 up
	printf '[[ipoib]]\nguid = "%s"\nname = "raised"\n[[ipoib.pkey]]\npkey = 3\nname = "kid"\nmode = "connected"\n' "$(g 01)" | conf
	exits "one of a bond is not re-created" 1 apply; has "names the bond" "$OUT" "bond0"; ok "the bond is there" ip link show bond0
	ip link set kid nomaster; ip link del bond0; exits "without the bond it is" 0 apply; is "connected" "$(mode kid)" connected
fi
