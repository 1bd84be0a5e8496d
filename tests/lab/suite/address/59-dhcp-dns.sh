# Addresses from a real DHCP server and router on the fabric, over NetworkManager and systemd-networkd, and name servers
# through a real systemd-resolved.
# nightly: CI has the addresses that documents write
# lab: --full --mem 2048 --timeout 900
lab-load ib:mlx4_0:2 || exit 1
no_daemon
systemctl is-active -q NetworkManager || systemctl start NetworkManager
a=$(lab-net b001) b=$(lab-net b002)
nmcli device set "$b" managed no
ip netns add peer; ip link set "$b" netns peer; ip -n peer link set "$b" up; ip -n peer link set lo up
ip -n peer addr add 192.0.2.2/24 dev "$b"; ip -n peer -6 addr add 2001:db8::2/64 dev "$b" nodad
ip -n peer link add link "$b" name kid type ipoib pkey 0x8002; ip -n peer link set kid up; ip -n peer addr add 192.0.3.2/24 dev kid
ip netns exec peer dnsmasq --conf-file=/dev/null --user=root --pid-file=/tmp/dnsmasq.pid --log-facility=/tmp/dnsmasq.log --log-dhcp --no-resolv --no-hosts \
	--dhcp-leasefile=/tmp/leases --dhcp-authoritative --dhcp-broadcast --dhcp-range=192.0.2.100,192.0.2.120,255.255.255.0,1h \
	--dhcp-range=192.0.3.100,192.0.3.120,255.255.255.0,1h --dhcp-range=2001:db8::,ra-stateless,64,1h --enable-ra \
	--dhcp-option=option:router,192.0.2.2 --dhcp-option=option:dns-server,192.0.2.2 --address=/node1.example.net/192.0.2.99 || fail "dnsmasq"
global() { ip -j "-$2" addr show dev "$1" | jq -r '.[0].addr_info[] | select(.scope == "global") | "\(.local)/\(.prefixlen)"' | sort | xargs; }	# INTERFACE 4|6
doc() { printf 'version = 1\n[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "fab0"\n%s\n' "$1" | conf; }
auto='ipv4 = { method = "auto" }
ipv6 = { method = "auto" }
[[ipoib.pkey]]
pkey = 0x8002
ipv4 = { method = "auto" }'
for backend in networkmanager networkd; do
	if [ $backend = networkd ]; then systemctl start systemd-networkd; fi
	doc "backend = \"$backend\"
$auto"
	exits "$backend: apply" 0 apply
	ok "$backend: an address of the server" lab-wait 90 'ip -4 -o addr show dev fab0 | grep -q "192\.0\.2\.1[0-2][0-9]/24"'
	ok "$backend: an address from the router" lab-wait 90 'ip -6 -o addr show dev fab0 scope global | grep -q 2001:db8'
	ok "$backend: and the P_Key interface has one" lab-wait 90 'ip -4 -o addr show dev fab0.8002 | grep -q "192\.0\.3\.1[0-2][0-9]/24"'
	ok "$backend: the router's route" lab-wait 30 'ip route show default dev fab0 | grep -q 192.0.2.2'
	ok "$backend: ping" wait_ping 192.0.2.2; ok "$backend: ping over the partition" wait_ping 192.0.3.2
	lab-wait 60 'rdma-configctl diff'; exits "$backend: values from the server are not drift" 0 ctl diff; no_writes "$backend: second apply"
	if [ $backend = networkd ]; then	# 257.5 drops what servers gave when it restarts (systemd#37198)
		systemctl restart systemd-networkd
		ok "$backend: an address again after its restart" lab-wait 90 'ip -4 -o addr show dev fab0 | grep -q "192\.0\.2\.1[0-2][0-9]/24" && ip -4 -o addr show dev fab0.8002 | grep -q "192\.0\.3\.1[0-2][0-9]/24"'
		ok "$backend: in sync after its restart" lab-wait 60 'rdma-configctl diff'
	fi
	leased=$(global fab0 4)
	# a written address beside, then only that one
	doc "backend = \"$backend\"
ipv4 = { method = \"auto\", addresses = [\"198.51.100.1/24\"] }"
	exits "$backend: with an address of its own" 0 apply
	ok "$backend: both" lab-wait 60 'ip -4 -o addr show dev fab0 | grep -q 198.51.100.1/24 && ip -4 -o addr show dev fab0 | grep -q "192\.0\.2\.1[0-2][0-9]/24"'
	ok "$backend: the P_Key interface is gone" test ! -e /sys/class/net/fab0.8002
	doc "backend = \"$backend\"
ipv4 = { method = \"manual\", addresses = [\"198.51.100.1/24\"] }
ipv6 = { method = \"link-local\" }"
	exits "$backend: manual" 0 apply
	ok "$backend: the lease's address is gone" lab-wait 60 "[ \"\$(ip -j -4 addr show dev fab0 | jq -r '.[0].addr_info[].local' | xargs)\" = 198.51.100.1 ]"
	ok "$backend: and the router's" lab-wait 60 '! ip -6 -o addr show dev fab0 scope global | grep -q 2001:db8'
	ok "$backend: link-local" lab-wait 60 'ip -6 -o addr show dev fab0 | grep -q fe80'
	lab-wait 60 'rdma-configctl diff'; exits "$backend: in sync" 0 ctl diff
	doc "backend = \"$backend\"
ipv4 = { method = \"disabled\" }
ipv6 = { method = \"disabled\" }"
	exits "$backend: disabled" 0 apply
	ok "$backend: no address" lab-wait 60 '[ -z "$(ip -o addr show dev fab0)" ]'
	lab-wait 60 'rdma-configctl diff'; exits "$backend: in sync" 0 ctl diff
	echo "     $backend leased $leased"
done

# direct: no DHCP; name servers through systemd-resolved, at once or when it comes
doc 'backend = "direct"
ipv4 = { method = "auto" }'
exits "direct: no DHCP" 1 apply; has "says who can" "$OUT" networkmanager
doc 'backend = "direct"
ipv4 = { addresses = ["192.0.2.1/24"], dns = ["192.0.2.2"], search = ["example.net"] }'
exits "direct: nobody takes name servers yet" 5 apply; has "says so" "$OUT" systemd-resolved
systemctl enable -q --now systemd-resolved; lab-wait 30 'busctl status org.freedesktop.resolve1'	# its D-Bus name is an alias that this makes
exits "direct: with systemd-resolved" 0 apply
has "it has the name server" "$(resolvectl dns fab0)" 192.0.2.2; has "and the domain" "$(resolvectl domain fab0)" example.net
ok "direct: ping" wait_ping 192.0.2.2
has "a name is found" "$(resolvectl query node1 2>&1)" 192.0.2.99
exits "direct: in sync" 0 ctl diff; no_writes "direct: second apply"
resolvectl dns fab0 192.0.2.77
exits "drift is seen" 2 ctl diff; has "and named" "$OUT" 192.0.2.77
exits "and repaired" 0 apply; has "name server" "$(resolvectl dns fab0)" 192.0.2.2
systemctl restart systemd-resolved; lab-wait 30 'busctl status org.freedesktop.resolve1'
exits "after its restart" 0 apply; has "name server" "$(resolvectl dns fab0)" 192.0.2.2
doc 'backend = "direct"
ipv4 = { addresses = ["192.0.2.1/24"] }'
exits "taken back" 0 apply; hasnt "no name server" "$(resolvectl dns fab0)" 192.0.2.2; hasnt "no domain" "$(resolvectl domain fab0)" example.net
# the network managers hand them over by themselves
for backend in networkmanager networkd; do
	systemctl restart NetworkManager
	doc "backend = \"$backend\"
ipv4 = { addresses = [\"192.0.2.1/24\"], dns = [\"192.0.2.2\"], search = [\"example.net\"] }"
	exits "$backend: name servers" 0 apply
	ok "$backend: systemd-resolved has them" lab-wait 60 'resolvectl dns fab0 | grep -q 192.0.2.2 && resolvectl domain fab0 | grep -q example.net'
	lab-wait 60 'rdma-configctl diff'; exits "$backend: in sync" 0 ctl diff
done
kill "$(cat /tmp/dnsmasq.pid)"
# nobody answers any more
doc 'backend = "networkd"
ipv4 = { method = "auto" }'
apply >/dev/null 2>&1; ok "no lease" lab-wait 30 '[ -z "$(ip -4 -o addr show dev fab0)" ]'
exits "doctor: no DHCP server" 2 ctl doctor; has "it says so" "$OUT" "no DHCP server has given"
