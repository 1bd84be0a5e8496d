# Differences between kernels and between releases of NetworkManager, each with its handling (docs/COMPATIBILITY.md). A part that the
# guest's kernel or release lacks is left out, by name.
# nightly: it is for the matrix (tests/matrix/lab)
# lab: --snap --mem 2048 --timeout 900
# tree: full
systemctl mask -q --runtime rdma-configd; no_daemon; systemctl stop NetworkManager
lab-load ib:mlx4_0:2 ib:mlx4_1:1 || exit 1
a=$(lab-net b001) b=$(lab-net b002)
doc() { printf '[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "%s"\n%s\n' "$1" "${2:-}" | conf; }
addresses() { ip -j addr show dev "$1" | jq -r '.[0].addr_info[] | select(.scope == "global") | "\(.local)/\(.prefixlen)"' | sort | xargs; }

# Linux 6.2 (bd039b5ea2a9) renames an interface that is up. Older ones refuse: it is down for a moment, and what it loses is put back.
ip link set "$a" up; ip addr add 192.0.2.1/24 dev "$a"; ip -6 addr add 2001:db8::1/64 dev "$a" nodad
ok "carrier" wait_carrier "$a"; sleep 1
was=$(cat "/sys/class/net/$a/carrier_changes")
doc fab0; plan=$(rdma-configctl diff)
if kernel_from 6.2; then is "the plan interrupts nothing" "$(grep interrupts <<<"$plan")" ""; else has "the plan says what is interrupted" "$plan" "link down for a moment"; fi
exits "a name for an interface that is up" 0 apply; is "it has the name" "$(lab-net b001)" fab0
ok "carrier under the name" wait_carrier fab0
if kernel_from 6.2; then
	is "it never went down" "$(cat /sys/class/net/fab0/carrier_changes)" "$was"
else
	ok "it went down and came back" test "$(cat /sys/class/net/fab0/carrier_changes)" -gt "$was"
	skip "a rename that interrupts nothing: Linux 6.2"
fi
is "the addresses are there" "$(addresses fab0)" "192.0.2.1/24 2001:db8::1/64"
exits "diff" 0 ctl diff

# systemd 258 ignores an owner in udev's rules unless a system user has the name: our rules name none, and the package's group is a system group.
ok "group rdma is a system group" test "$(getent group rdma | cut -d: -f3)" -lt 1000
is "no rule of ours names an owner" "$(grep -lE '(OWNER|GROUP) *:?=' /etc/udev/rules.d/*rdma-configd* /usr/lib/udev/rules.d/*rdma-configd*)" ""

# NetworkManager
ip addr flush dev fab0
systemctl start NetworkManager
nmcli device set "$b" managed no
ip netns add peer; ip link set "$b" netns peer; ip -n peer link set "$b" up; ip -n peer addr add 192.0.2.1/24 dev "$b"
active() { nmcli -t -f NAME,DEVICE connection show --active | grep -v '^lo:' | sort | xargs; }
# 1.46 (790e4231f4) looks for other hosts that have an IPv4 address, on Ethernet only: on the fabric an address is used at once.
doc fab0 'backend = "networkmanager"
ipv4 = { addresses = ["192.0.2.1/24"] }'
exits "an address that another host of the fabric has" 0 apply
is "is there" "$(addresses fab0)" "192.0.2.1/24"
package_from network-manager 1.46 || skip "a search for other hosts with the address: NetworkManager 1.46"
# 1.46 (4bb3ad0977) lists 100 addresses of an interface on D-Bus; they are read from the kernel.
list=$(for n in $(seq 1 120); do printf '"198.51.100.%d/25", ' $n; done)
doc fab0 "backend = \"networkmanager\"
ipv4 = { addresses = [${list%, }] }"
exits "120 addresses" 0 apply --allow-removal; ok "all are there" lab-wait 60 '[ "$(ip -4 -o addr show dev fab0 | wc -l)" = 120 ]'
lab-wait 60 'rdma-configctl diff'; exits "in sync" 0 ctl diff; no_writes "second apply"
if package_from network-manager 1.46; then
	ok "NetworkManager lists fewer" test "$(nmcli -g IP4.ADDRESS device show fab0 | tr '|' '\n' | grep -c 198.51.100)" -lt 120
else
	skip "a list of addresses that is cut: NetworkManager 1.46"
fi
# 1.44 (4610fd67e6) names a P_Key interface PARENT.PKEY whatever the profile says; before, it refuses such a profile.
file=/etc/NetworkManager/system-connections/theirs.nmconnection
printf '[connection]\nid=theirs\nuuid=5f0a3b62-7a1c-4a0e-9f5b-1d2e3f405163\ntype=infiniband\ninterface-name=storage\n[infiniband]\np-key=0x8002\nparent=fab0\ntransport-mode=datagram\n[ipv4]\nmethod=manual\naddress1=192.0.5.1/24\n[ipv6]\nmethod=disabled\n' >$file
chmod 600 $file; nmcli connection load $file >/dev/null 2>&1; nmcli connection up theirs >/dev/null 2>&1
if package_from network-manager 1.44; then
	has "a profile with another name is used" "$(active)" "theirs:fab0.8002"
else
	hasnt "a profile with another name is not used" "$(active)" theirs
	skip "names of P_Key interfaces that are made right: NetworkManager 1.44"
fi
doc fab0 'backend = "networkmanager"
ipv4 = { addresses = ["192.0.2.1/24"] }
[[ipoib.pkey]]
pkey = 0x8002
ipv4 = { addresses = ["192.0.5.1/24"] }'
exits "the same interface by the document" 2 ctl diff; has "the other profile is named" "$OUT" "theirs.nmconnection is a profile for the same interface"
exits "is made" 0 apply --allow-removal; is "by our profile" "$(active)" "fab0.8002:fab0.8002 fab0:fab0"; is "with its address" "$(addresses fab0.8002)" "192.0.5.1/24"
nmcli connection delete theirs >/dev/null 2>&1; rm -f $file
# 1.46 (86db3df6ac) goes by ID_NET_MANAGED_BY, older ones by NM_UNMANAGED: both are in our rules.
# It reads both when an interface appears (nm-device.c, device_link_changed()); of those it knows, it is told by its configuration.
state() { nmcli -g GENERAL.STATE device show fab0; }
file=/etc/NetworkManager/conf.d/zz-rdma-configd-unmanaged.conf
printf '[keyfile]\nunmanaged-devices=interface-name:cali*\n' >/etc/NetworkManager/conf.d/calico.conf
doc fab0 'backend = "direct"
ipv4 = { addresses = ["192.0.2.1/24"] }'
exits "direct" 0 apply --allow-removal
has "NetworkManager keeps off at once" "$(state)" unmanaged
is "the address is there" "$(addresses fab0)" "192.0.2.1/24"; ok "the link is up" wait_carrier fab0
exits "diff" 0 ctl diff; no_writes "second apply"
mv $file /run/; nmcli general reload conf; ok "without the file it takes the port" lab-wait 30 '! nmcli -g GENERAL.STATE device show fab0 | grep -q unmanaged'
exits "it is told again" 0 apply; has "it lets go again" "$(state)" unmanaged; has "the address is back" "$(addresses fab0)" "192.0.2.1/24"
rm -f /run/${file##*/}
# A port that others configure: nothing changes as it is let go, and all is put back as it is taken.
conf <<<''; exits "taken back" 0 apply --allow-removal; ok "no file is left" test ! -e $file
ip link set fab0 up; ip addr replace 198.51.100.7/24 dev fab0; ip -6 addr replace 2001:db8::7/64 dev fab0 nodad
ok "connected by others" lab-wait 30 'nmcli -t -f DEVICE,STATE device | grep -q "^fab0:connected (externally)"'
ok "carrier" wait_carrier fab0; was=$(cat /sys/class/net/fab0/carrier_changes)
doc fab0 'backend = "direct"
ipv4 = { addresses = ["192.0.2.1/24"] }'
exits "direct beside them" 0 apply; has "is unmanaged" "$(state)" unmanaged
is "nothing was lost" "$(addresses fab0)" "192.0.2.1/24 198.51.100.7/24 2001:db8::7/64"
is "and the link never went down" "$(cat /sys/class/net/fab0/carrier_changes)" "$was"
conf <<<''; exits "taken back" 0 apply --allow-removal
is "addresses of others stay" "$(addresses fab0)" "198.51.100.7/24 2001:db8::7/64"
ip addr flush dev fab0 scope global
for backend in networkmanager direct; do
	doc fab0 "backend = \"$backend\"
ipv4 = { addresses = [\"192.0.2.1/24\"] }"
	exits "to $backend" 0 apply --allow-removal; is "its address" "$(addresses fab0)" "192.0.2.1/24"
done
has "again it keeps off" "$(state)" unmanaged
rm -f /etc/NetworkManager/conf.d/calico.conf
systemctl restart NetworkManager
ok "NetworkManager keeps off" lab-wait 30 'nmcli -g GENERAL.STATE device show fab0 | grep -q unmanaged'
is "the address is there" "$(addresses fab0)" "192.0.2.1/24"
package_from network-manager 1.46 || skip "ID_NET_MANAGED_BY: NetworkManager 1.46"
conf <<<''; exits "taken back" 0 apply --allow-removal; systemctl stop NetworkManager; ip netns del peer; lab-wait 30 'lab-net b002'

# Linux 6.17 and 6.16.1 (f1208b05574f) make IPoIB interfaces in the namespace of their adapter. One that is not this host's has no port here.
systemctl stop polkit 2>/dev/null	# newer ones run in a network namespace of their own, which keeps the mode
if ! kernel_from 6.16.1; then
	skip "IPoIB interfaces in the namespace of their adapter: Linux 6.16.1"
elif ! rdma system set netns exclusive 2>/dev/null; then
	skip "IPoIB interfaces in the namespace of their adapter: a service of this release has a namespace, which keeps the mode"
else
	device=$(basename "$(readlink -f "/sys/class/net/$(lab-net b001)/device/infiniband"/*)")
	ip netns add other; ok "an adapter goes to another namespace" rdma dev set "$device" netns other
	ok "and its interfaces" lab-wait 30 'ip -n other -d link show type ipoib | grep -q ipoib'
	doc fab0; exits "it is pending" 5 ctl diff; has "says why" "$OUT" "no port has this GUID now"
	ip netns del other; lab-wait 60 'lab-net b001'; udevadm settle
	exits "it comes back" 0 apply; is "with its name" "$(lab-net b001)" fab0
fi
