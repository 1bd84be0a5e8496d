# Addresses of every backend, side by side on one host, come back by themselves: after a driver reload and after a reboot.
# nightly: CI has time for the core and the daemon
# lab: --full --mem 2048
# tree: full
# boots: 2
port() {	# GUIDEND NAME BACKEND NUMBER
	cat <<X
[[ipoib]]
guid = "00:02:c9:03:00:a0:b0:$1"
name = "$2"
backend = "$3"
ipv4 = { addresses = ["192.0.$4.1/24"], routes = [{ to = "10.$4.0.0/16", via = "192.0.$4.9" }] }
  [[ipoib.pkey]]
  pkey = 0x8002
  ipv4 = { addresses = ["192.0.1$4.1/24"] }
X
}
if [ $BOOT = 1 ]; then
	systemctl enable -q systemd-networkd; systemctl start systemd-networkd
	{ echo "version = 1"; port 01 dir0 direct 2; port 02 net0 networkd 3; port 11 man0 networkmanager 4; } | conf
fi
# Without metrics: NetworkManager gives 151 where it remembers that the interface before the reload had 150.
all() { ip -j -4 addr | jq -r '.[] | select(.ifname | test("^(dir|net|man)0")) | .ifname as $i | .addr_info[] | "\($i) \(.local)/\(.prefixlen)"' | sort | xargs; ip -j -4 route | jq -r '.[] | select(.protocol == "static") | "\(.dst) \(.gateway) \(.dev)"' | sort | xargs; }
want='dir0 192.0.2.1/24 dir0.8002 192.0.12.1/24 man0 192.0.4.1/24 man0.8002 192.0.14.1/24 net0 192.0.3.1/24 net0.8002 192.0.13.1/24
10.2.0.0/16 192.0.2.9 dir0 10.3.0.0/16 192.0.3.9 net0 10.4.0.0/16 192.0.4.9 man0'
there() {
	lab-wait 60 "[ \$(ip -4 -o addr | grep -cE ' (dir|net|man)0') = 6 ]"; lab-wait 20 'test -z "$(systemctl list-jobs --no-legend | grep rdma-configd)"'
	becomes "$1" all "$want" 180	# managers set routes after addresses
	lab-wait 60 'rdma-configctl diff'; exits "$1: diff" 0 ctl diff
}
lab-load ib:mlx4_0:2 ib:mlx4_1:1
[ $BOOT = 1 ] && there "hardware appears" || there "after a reboot"
rmmod fake_hca; lab-load ib:mlx4_0:2 ib:mlx4_1:1; there "driver reload"
