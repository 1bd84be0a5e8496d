# The networkd backend against the real systemd-networkd: addresses, routes, ping, updates, restart, drift, rollback; then the same document with the others.
# nightly: CI has time for the core and the daemon
# lab: --snap --mem 2048
systemctl stop NetworkManager; systemctl mask -q --runtime NetworkManager; no_daemon
lab-load ib:mlx4_0:2 || exit 1
systemctl start systemd-networkd
a=$(lab-net b001) b=$(lab-net b002)
ip netns add peer; ip link set "$b" netns peer; ip -n peer link set "$b" up
ip -n peer addr add 192.0.2.2/24 dev "$b"; ip -n peer -6 addr add 2001:db8::2/64 dev "$b" nodad
ip -n peer link add link "$b" name kid type ipoib pkey 0x8002; ip -n peer link set kid up; ip -n peer addr add 192.0.3.2/24 dev kid
addresses() { ip -j addr show dev "$1" | jq -r '.[0].addr_info[] | select(.scope == "global") | "\(.local)/\(.prefixlen)"' | sort | xargs; }
# A backend's settings, as the kernel has them: addresses, and routes with next hop, metric and table.
all() {
	for i in fab0 fab0.8002; do addresses $i; done
	for f in -4 -6; do ip -j $f route show table all | jq -r '.[] | select(.protocol == "static" and (.dev | startswith("fab"))) | "\(.dev) \(.dst) \(.gateway // "-") \(.metric // 0) \(.table // "main")"' | sort; done
}
doc() { printf 'version = 1\n[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "fab0"\n%s\n' "$1" | conf; }
whole='backend = "networkd"
mtu = 2044
ipv4 = { addresses = ["192.0.2.1/24", "192.0.4.1/24"], gateway = "192.0.2.2", dns = ["192.0.2.53"], search = ["example.net"], routes = [{ to = "10.9.0.0/16" }] }
ipv6 = { addresses = ["2001:db8::1/64"], gateway = "2001:db8::2" }
[[ipoib.pkey]]
pkey = 0x8002
mtu = 2044
ipv4 = { addresses = ["192.0.3.1/24"], routes = [{ to = "198.51.100.0/24", via = "192.0.3.2", metric = 5, table = 1000 }] }'
ip link set "$a" up; ip addr add 192.0.2.77/24 dev "$a"
doc "$whole"
exits "diff" 2 ctl diff; exits "apply" 0 apply
is "addresses; somebody else's stays" "$(addresses fab0)" "192.0.2.1/24 192.0.2.77/24 192.0.4.1/24 2001:db8::1/64"; is "of the child" "$(addresses fab0.8002)" "192.0.3.1/24"
has "route" "$(ip route show table 1000)" "198.51.100.0/24 via 192.0.3.2"; has "default route" "$(ip route show default)" "via 192.0.2.2 dev fab0 proto static metric 150"
has "its own files" "$(networkctl status fab0 fab0.8002)" "09-rdma-configd-0002c90300a0b001-0x8002.network"
has "name servers" "$(networkctl status fab0)" "192.0.2.53"
ok "ping" wait_ping 192.0.2.2; ok "ping over the partition" wait_ping 192.0.3.2; ok "ping over IPv6" wait_ping 2001:db8::2
exits "in sync" 0 ctl diff; no_writes "second apply"
ip addr del 192.0.2.77/24 dev fab0
theirs=$(all)
# an update does not take the link down
changes() { cat "/sys/class/net/$1/carrier_changes"; }
was=$(changes fab0) index=$(cat /sys/class/net/fab0.8002/ifindex)
doc "${whole/192.0.2.1\/24/192.0.2.11\/24}"; exits "another address" 0 apply
is "addresses" "$(addresses fab0)" "192.0.2.11/24 192.0.4.1/24 2001:db8::1/64"; is "carrier did not change" "$(changes fab0)" "$was"; is "the child is the same" "$(cat /sys/class/net/fab0.8002/ifindex)" "$index"
exits "in sync" 0 ctl diff
# restart, drift
systemctl restart systemd-networkd; ok "it manages them again" lab-wait 30 'networkctl status fab0 | grep -q "(configured)" && networkctl status fab0.8002 | grep -q "(configured)"'
lab-wait 60 'rdma-configctl diff'; exits "in sync after a restart" 0 ctl diff; is "addresses" "$(addresses fab0)" "192.0.2.11/24 192.0.4.1/24 2001:db8::1/64"
ip addr del 192.0.2.11/24 dev fab0; ip route flush table 1000
exits "drift is seen" 2 ctl diff; has "and named" "$OUT" "sets the interface's addresses and routes again"; exits "and repaired" 0 apply
is "addresses" "$(addresses fab0)" "192.0.2.11/24 192.0.4.1/24 2001:db8::1/64"; has "route" "$(ip route show table 1000)" "198.51.100.0/24 via 192.0.3.2"
# a failure is rolled back: another file takes the P_Key interface away from ours
before=$(all) files=$(cat /etc/systemd/network/09-rdma-configd-*)
printf '[Match]\nName=fab0.8003\n[Network]\nLinkLocalAddressing=no\n' >/etc/systemd/network/05-mine.network
sed -i '/^\[\[ipoib.pkey/,$d; s/192.0.2.11/192.0.2.1/' $CONF
cat >>$CONF <<'E'
[[ipoib.pkey]]
pkey = 0x8003
ipv4 = { addresses = ["192.0.6.1/24"] }
E
exits "a failing apply" 3 apply; has "names the file" "$OUT" "05-mine.network"
becomes "all is as before" all "$before"; is "files too" "$(cat /etc/systemd/network/09-rdma-configd-*)" "$files"
rm /etc/systemd/network/05-mine.network
# the other backends; in the guest there is no systemd-resolved, so direct is asked for none
bare=${whole/, dns = \[*\"example.net\"\]/}
doc "$whole"; exits "back to the whole document" 0 apply; is "as it was at first" "$(all)" "$theirs"
doc "${bare/\"networkd\"/\"direct\"}"; exits "diff of a switch" 2 ctl diff; has "names the interruption" "$OUT" "from networkd to direct"
exits "direct" 0 apply; is "the same addresses and routes" "$(all)" "$theirs"; ok "networkd keeps off" lab-wait 30 'networkctl list fab0 | grep -q unmanaged'; exits "in sync" 0 ctl diff
doc "$whole"; exits "back to networkd" 0 apply; is "the same addresses and routes" "$(all)" "$theirs"; exits "in sync" 0 ctl diff
systemctl unmask -q --runtime NetworkManager; systemctl start NetworkManager
doc "${whole/\"networkd\"/\"networkmanager\"}"; exits "networkmanager" 0 apply; is "the same addresses and routes" "$(all)" "$theirs"; exits "in sync" 0 ctl diff
doc "${bare/\"networkd\"/\"direct\"}"; exits "from there to direct, in one apply" 0 apply; is "the same addresses and routes" "$(all)" "$theirs"; exits "in sync" 0 ctl diff
ok "ping over the partition" wait_ping 192.0.3.2
# the driver comes back: networkd finds its interfaces by their GUID and P_Key
systemctl stop NetworkManager; doc "$whole"; exits "networkd" 0 apply
ip netns del peer; lab-wait 30 'lab-net b002'; rmmod fake_hca; lab-load ib:mlx4_0:1
ok "networkd has the port again" lab-wait 30 'networkctl list fab0 | grep -q configured'	# until then the addresses are pending
exits "after the driver was reloaded" 0 apply; is "the same addresses and routes" "$(all)" "$theirs"
echo 'version = 1' | conf; exits "taken back: the default route stays without being asked for" 1 apply; exits "taken back" 0 apply --allow-removal
becomes "no addresses are left" "addresses fab0" ""; ok "no child" test ! -e /sys/class/net/fab0.8002; is "no file" "$(ls /etc/systemd/network | xargs)" ""
