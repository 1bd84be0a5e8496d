# Exported files are understood by their tools: systemd-networkd and NetworkManager set the host up from it alone.
# nightly: CI compares the files with what the tools are documented to read
# lab: --snap --mem 2048
cat >/tmp/want.toml <<X
version = 1
[[ipoib]]
guid = "00:02:c9:03:00:a0:b0:01"
name = "fab0"
mode = "connected"
mtu  = 65520
ipv4 = { addresses = ["192.0.2.1/24"], gateway = "192.0.2.2", routes = [{ to = "198.51.100.0/24", via = "192.0.2.9", metric = 5, table = 1000 }] }
ipv6 = { addresses = ["2001:db8::1/64"] }
  [[ipoib.pkey]]
  pkey = 0x8002
  mode = "datagram"
  mtu  = 2044
  ipv4 = { addresses = ["192.0.3.1/24"] }
X
addresses() { ip -j addr show dev "$1" | jq -r '.[0].addr_info[] | select(.scope == "global") | "\(.local)/\(.prefixlen)"' | sort | xargs; }
export_to() { rdma-configctl export "$1" --config /tmp/want.toml --output / >/tmp/out 2>&1; }
as_wanted() {	# TOOL
	ok "$1: the address" lab-wait 60 'ip addr show fab0 | grep -q 192.0.2.1/24'; ok "$1: the P_Key interface's" lab-wait 60 'ip addr show fab0.8002 | grep -q 192.0.3.1/24'
	becomes "$1: addresses" "addresses fab0" "192.0.2.1/24 2001:db8::1/64"
	becomes "$1: mode" "mode fab0" connected; ok "$1: MTU" lab-wait 10 'test "$(cat /sys/class/net/fab0/mtu)" = 65520'
	becomes "$1: the P_Key interface: mode" "mode fab0.8002" datagram; becomes "$1: its MTU" "mtu fab0.8002" 2044; is "$1: its P_Key" "$(pkey fab0.8002)" 0x8002
	ok "$1: default route" lab-wait 30 'ip route show default | grep -qF "via 192.0.2.2 dev fab0"'
	ok "$1: route, with its metric" lab-wait 30 'ip route show table 1000 | grep -q "198\.51\.100\.0/24 via 192\.0\.2\.9 dev fab0 .*metric 5"'
}
systemctl stop NetworkManager; systemctl start systemd-networkd
ok "export networkd" export_to networkd; udevadm control --reload; networkctl reload
lab-load ib:mlx4_0:1; udevadm settle
as_wanted networkd
systemctl stop 'systemd-networkd*.socket' systemd-networkd; rmmod fake_hca; rm -f /etc/systemd/network/* /etc/udev/rules.d/70-persistent-ipoib.rules
ok "export nm" export_to nm; udevadm control --reload; systemctl start NetworkManager; nmcli connection reload
lab-load ib:mlx4_0:1; udevadm settle
as_wanted NetworkManager
nmcli -f NAME,TYPE,DEVICE connection show
