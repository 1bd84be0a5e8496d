# The networkmanager backend against the real NetworkManager: from the document to activated profiles, ping, updates, restart, rollback.
# long
# lab: --snap --mem 2048
lab-load ib:mlx4_0:2 || exit 1
systemctl is-active -q NetworkManager || systemctl start NetworkManager
a=$(lab-net b001) b=$(lab-net b002)
systemctl stop rdma-configd 2>/dev/null; no_daemon
nmcli device set "$b" managed no
ip netns add peer; ip link set "$b" netns peer; ip -n peer link set "$b" up
ip -n peer addr add 192.0.2.2/24 dev "$b"; ip -n peer -6 addr add 2001:db8::2/64 dev "$b" nodad
ip -n peer link add link "$b" name kid type ipoib pkey 0x8002; ip -n peer link set kid up; ip -n peer addr add 192.0.3.2/24 dev kid
addresses() { ip -j addr show dev "$1" | jq -r '.[0].addr_info[] | select(.scope == "global") | "\(.local)/\(.prefixlen)"' | sort | xargs; }
active() { nmcli -t -f NAME,DEVICE connection show --active | grep -v '^lo:' | sort | xargs; }
uuid() { nmcli -g connection.uuid connection show "$1"; }
base='version = 1
[[ipoib]]
guid = "00:02:c9:03:00:a0:b0:01"
name = "fab0"
'
doc() { printf '%s%s\n' "$base" "$1" | conf; }
whole='mode = "datagram"
mtu = 2044
ipv4 = { addresses = ["192.0.2.1/24"], gateway = "192.0.2.2", dns = ["192.0.2.53"], search = ["example.net"] }
ipv6 = { addresses = ["2001:db8::1/64"] }
[[ipoib.pkey]]
pkey = 0x8002
mtu = 2044
ipv4 = { addresses = ["192.0.3.1/24"], routes = [{ to = "198.51.100.0/24", via = "192.0.3.2", metric = 5, table = 1000 }] }'
doc "$whole"
exits "diff" 2 ctl diff; exits "apply: auto is NetworkManager" 0 apply
is "active profiles" "$(active)" "fab0.8002:fab0.8002 fab0:fab0"
is "addresses" "$(addresses fab0)" "192.0.2.1/24 2001:db8::1/64"; is "of the child" "$(addresses fab0.8002)" "192.0.3.1/24"
is "MTUs" "$(mtu fab0) $(mtu fab0.8002)" "2044 2044"
is "P_Key" "$(pkey fab0.8002)" 0x8002
has "route" "$(ip route show table 1000)" "198.51.100.0/24 via 192.0.3.2"
ok "ping" wait_ping 192.0.2.2; ok "ping over the partition" wait_ping 192.0.3.2; ok "ping over IPv6" wait_ping 2001:db8::2
is "files are private" "$(stat -c %a:%U /etc/NetworkManager/system-connections/rdma-configd-* | sort -u | xargs)" "600:root"
is "parent in the profile" "$(nmcli -g infiniband.parent,infiniband.p-key connection show fab0.8002 | xargs)" "fab0 0x8002"
exits "in sync" 0 ctl diff; no_writes "second apply"
# an MTU alone does not take the link down
changes() { cat "/sys/class/net/$1/carrier_changes"; }
was=$(changes fab0) index=$(cat /sys/class/net/fab0.8002/ifindex)
doc "${whole/mtu = 2044/mtu = 1500}"; exits "another MTU" 0 apply
is "MTU" "$(mtu fab0)" 1500; is "carrier did not change" "$(changes fab0)" "$was"; is "the child is the same" "$(cat /sys/class/net/fab0.8002/ifindex)" "$index"
sed -i 's/192.0.2.1\/24/192.0.2.11\/24/' $CONF; exits "another address" 0 apply; is "address" "$(addresses fab0)" "192.0.2.11/24 2001:db8::1/64"; is "carrier did not change" "$(changes fab0)" "$was"
# NetworkManager restarted
systemctl restart NetworkManager; ok "profiles are up again" lab-wait 30 '[ "$(nmcli -t -f NAME,STATE connection show --active | grep -c "^fab0.*:activated")" = 2 ]'
lab-wait 60 'rdma-configctl diff'; exits "in sync after its restart" 0 ctl diff
# it has forgotten that it made the P_Key interface, which goes with its profile all the same
sed '/^\[\[ipoib.pkey/,$d' $CONF >/tmp/without; cp $CONF /tmp/with; conf </tmp/without
exits "the P_Key interface dropped" 0 apply; ok "it is gone" test ! -e /sys/class/net/fab0.8002; hasnt "and not foreign" "$(ctl diff 2>&1)" 8002
conf </tmp/with; exits "and made again" 0 apply; is "address" "$(addresses fab0.8002)" "192.0.3.1/24"
# what may be read by root only is said, and the rest compared
exits "diff by somebody else" 5 setpriv --reuid=65534 --regid=65534 --clear-groups rdma-configctl diff; has "says what it cannot read" "$OUT" "read by root only"
# drift
ip addr del 192.0.2.11/24 dev fab0; exits "a deleted address is seen" 2 ctl diff; exits "and comes back" 0 apply; is "address" "$(addresses fab0)" "192.0.2.11/24 2001:db8::1/64"
# a mode change is named
doc "${whole/mode = \"datagram\"/mode = \"connected\"}"; exits "diff of a mode" 2 ctl diff; has "names the interruption" "$OUT" "activated again"
exits "another mode" 0 apply; is "mode" "$(mode fab0)" connected; ok "ping" wait_ping 192.0.2.2
# a port with a P_Key interface gets another name: NetworkManager renames none, so that one is re-created
sed -i 's/name = "fab0"/name = "fab9"/' $CONF; exits "diff of another name" 2 ctl diff; has "names the interruption" "$OUT" "re-created"
exits "another name" 0 apply; is "active profiles" "$(active)" "fab9.8002:fab9.8002 fab9:fab9"; ok "ping over the partition" wait_ping 192.0.3.2
sed -i 's/name = "fab9"/name = "fab0"/' $CONF; exits "and back" 0 apply; is "active profiles" "$(active)" "fab0.8002:fab0.8002 fab0:fab0"
# an activation that fails is rolled back: a P_Key that cannot be made, since its name is taken
before=$(active) profile=$(cat /etc/NetworkManager/system-connections/rdma-configd-*b001.nmconnection 2>/dev/null || cat /etc/NetworkManager/system-connections/rdma-configd-0002c90300a0b001.nmconnection)
ip link add fab0.8003 type dummy
doc "${whole/mode = \"datagram\"/mode = \"connected\"}
[[ipoib.pkey]]
pkey = 0x8003
ipv4 = { addresses = [\"192.0.6.1/24\"] }"
exits "a failing activation" 3 apply
is "activation as before" "$(active)" "$before"; is "no third profile" "$(ls /etc/NetworkManager/system-connections | grep -c rdma-configd)" 2
ip link del fab0.8003
# foreign profiles are left alone
nmcli connection add type infiniband con-name foreign ifname fab0 autoconnect no transport-mode datagram ipv4.method disabled >/dev/null
echo "$base" | conf; exits "taken back: the default route stays without being asked for" 1 rdma-configctl apply --yes
exits "taken back" 0 apply --allow-removal
is "only the foreign profile is left" "$(nmcli -t -f NAME connection show | grep -v '^lo$' | xargs)" "foreign"
# a P_Key interface that NetworkManager has for a profile of others, named after the P_Key as that one writes it
nmcli connection delete foreign >/dev/null
lab-wait 30 '! nmcli -t -f DEVICE,STATE device | grep -q "^fab0:\(unavailable\|deactivating\)"'
for profile in "port" "part"; do
	file=/etc/NetworkManager/system-connections/$profile.nmconnection
	printf '[connection]\nid=%s\nuuid=%s\ntype=infiniband\n' $profile "$(cat /proc/sys/kernel/random/uuid)" >$file
	if [ $profile = port ]; then printf 'interface-name=fab0\n[infiniband]\ntransport-mode=datagram\n[ipv4]\nmethod=manual\naddress1=192.0.2.1/24\n'; else
		printf '[infiniband]\np-key=10\nparent=fab0\ntransport-mode=datagram\n[ipv4]\nmethod=manual\naddress1=192.0.5.1/24\n'; fi >>$file
	chmod 600 $file; nmcli connection load $file; nmcli connection up $profile >/dev/null
done
is "profiles of others" "$(active)" "part:fab0.000a port:fab0"
doc 'backend = "networkmanager"
ipv4 = { addresses = ["192.0.2.1/24"] }
[[ipoib.pkey]]
pkey = 0x800a
ipv4 = { addresses = ["192.0.5.1/24"] }'
exits "diff of an adoption" 2 ctl diff; has "names the other profile" "$OUT" "part.nmconnection is a profile for the same interface"
ip link add fab0.800a type dummy; exits "an adoption that fails" 3 apply
becomes "the profiles of others are active again" active "part:fab0.000a port:fab0"; becomes "with the address" "addresses fab0.000a" "192.0.5.1/24"	# NetworkManager brings them up
ip link del fab0.800a; exits "an adoption" 0 apply
is "active profiles" "$(active)" "fab0.800a:fab0.800a fab0:fab0"; is "address" "$(addresses fab0.800a)" "192.0.5.1/24"; ok "the other one is gone" test ! -e /sys/class/net/fab0.000a
exits "in sync" 0 ctl diff
# what nobody confirms goes back with the mode and the MTU, which NetworkManager leaves as they are; so does what fails
conf </dev/null; exits "taken back" 0 apply --allow-removal
nmcli connection delete port part >/dev/null; lab-wait 30 '! nmcli -t -f DEVICE connection show --active | grep -q ^fab0'	# it answers before it is done
ip link set fab0 up; echo datagram >/sys/class/net/fab0/mode; ip link set fab0 mtu 2044
doc 'backend = "direct"'; exits "the port alone" 0 apply
connected='mode = "connected"
mtu = 65520
backend = "networkmanager"
ipv4 = { addresses = ["192.0.2.1/24"] }'
rollback_unit
doc "$connected"; exits "connected, unconfirmed" 0 apply --confirm 300
is "mode and MTU" "$(mode fab0) $(mtu fab0)" "connected 65520"
rolls_back "rolled back"
is "mode and MTU" "$(mode fab0) $(mtu fab0)" "datagram 2044"; is "no profile" "$(active)" ""
ip link add fab0.8003 type dummy
doc "$connected
[[ipoib.pkey]]
pkey = 0x8003
ipv4 = { addresses = [\"192.0.6.1/24\"] }"
exits "a failing activation" 3 apply
is "mode and MTU" "$(mode fab0) $(mtu fab0)" "datagram 2044"; is "no profile" "$(active)" ""
