# The real ib_ipoib's permissions and refusals: MTU, modes, children, names, addresses.  --bare; read the output.
t() { echo "\$ $*"; "$@" 2>&1; r=$?; [ $r = 0 ] || echo "   -> exit $r"; }
w() { echo "\$ echo $1 > $2"; sh -c "echo $1 > $2" 2>&1 || echo "   -> exit 1"; }
show() { echo "   $1: $(cat /sys/class/net/$1/mode) mtu $(cat /sys/class/net/$1/mtu) carrier $(cat /sys/class/net/$1/carrier 2>&1) oper $(cat /sys/class/net/$1/operstate)"; }
lab-load ${HCA:-ib:mlx4_0:2}
mtulim() { for m in $*; do if ip link set $dev mtu $m 2>/tmp/e; then echo "   mtu $m ok, reads $(cat /sys/class/net/$dev/mtu)"; else echo "   mtu $m: $(cat /tmp/e)"; fi; done; }
echo "== link up, carrier"
show ib0; t ip link set ib0 up; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; [ "$(cat /sys/class/net/ib0/carrier)" = 1 ] && { echo "   carrier after $i x 0.1 s"; break; }; done; show ib0; t ip -br link
echo "== MTU limits, datagram"
dev=ib0 mtulim 71 72 575 1280 2044 4092 4093 4096 65520
ip link set ib0 mtu 4092
echo "== connected, by sysfs, while up"
w connected /sys/class/net/ib0/mode; show ib0; dev=ib0 mtulim 65520 65521 2044 65520
echo "== back to datagram at mtu 65520"
w datagram /sys/class/net/ib0/mode; show ib0; sleep .3; show ib0
echo "== connected by netlink, and nonsense"
t ip link set ib0 type ipoib mode connected; show ib0; t ip link set ib0 mtu 65520; show ib0
w nonsense /sys/class/net/ib0/mode; t ip link set ib0 type ipoib mode bogus
t ip link set ib0 type ipoib mode datagram; show ib0
t ip link set ib0 type ipoib umcast 1; cat /sys/class/net/ib0/umcast
t ip link set ib0 type ipoib pkey 0x8005; cat /sys/class/net/ib0/pkey
echo "== mtu in the same message as the mode"
t ip link set ib0 mtu 65520 type ipoib mode connected; show ib0
t ip link set ib0 mtu 2044 type ipoib mode datagram; show ib0
t ip link set ib0 mtu 4092
echo "== children by netlink"
t ip link add link ib0 name ib0.8002 type ipoib pkey 0x8002 mode datagram; show ib0.8002; t ip link set ib0.8002 up; sleep .3; show ib0.8002
ip -d link show ib0.8002
t ip link add link ib0 name dup type ipoib pkey 0x8002
t ip link add link ib0 name low type ipoib pkey 0x0002; ip -d link show low 2>/dev/null | grep pkey; t ip link del low
t ip link add link ib0 name same type ipoib pkey 0xffff
t ip link add link ib0 name zero type ipoib pkey 0x0
t ip link add link ib0 name zero8 type ipoib pkey 0x8000
t ip link add link ib0 name big type ipoib pkey 0x18002
t ip link add link ib0 name nopkey type ipoib; ip -d link show nopkey 2>/dev/null | grep pkey;  t ip link del nopkey
t ip link add link ib0 name notin type ipoib pkey 0x9abc; show notin; t ip link set notin up; sleep .5; show notin; ip -br link show notin
w "'pkey mlx4_0 1 7 0x9abc'" /proc/fake_hca; sleep 1.5; echo "   after the pkey was put in the table:"; show notin; t ip link del notin
t ip link add link ib0 name conn type ipoib pkey 0x8003 mode connected; show conn; dev=conn mtulim 65520 4092; t ip link set conn up; show conn
w datagram /sys/class/net/conn/mode; show conn; w connected /sys/class/net/conn/mode; show conn
t ip link set conn type ipoib mode datagram; show conn; t ip link del conn
t ip link add link ib0.8002 name grand type ipoib pkey 0x8004; ip -d link show grand 2>/dev/null | grep -E 'pkey|@'
t ip link del grand
t ip link add link ib0 type ipoib pkey 0x8006; ip -br link | tail -1
echo "== children by sysfs"
w 0x8007 /sys/class/net/ib0/create_child; ip -br link | tail -1; show ib0.8007; ls /sys/class/net/ib0.8007 | tr '\n' ' '; echo
w 0x8007 /sys/class/net/ib0/create_child; w 0x8000 /sys/class/net/ib0/create_child; w 0 /sys/class/net/ib0/create_child; w xyz /sys/class/net/ib0/create_child; w 0xffff /sys/class/net/ib0/create_child
w 0x0008 /sys/class/net/ib0/create_child; ip -br link | tail -1; w 0x0008 /sys/class/net/ib0/delete_child; w 0x8008 /sys/class/net/ib0/delete_child
w 0x8007 /sys/class/net/ib0/delete_child; w 0x8007 /sys/class/net/ib0/delete_child
t ip link add link ib0 name renamed type ipoib pkey 0x8009; w 0x8009 /sys/class/net/ib0/delete_child
w 0x800a /sys/class/net/ib0/create_child; t ip link del ib0.800a
echo "== renames"
t ip link set ib0 name ibx; t ip link set ib1 name iby; ip -br link; t ip link set ib0.8002 up; ip link set ib0 down 2>/dev/null; t ip link set ib0 name mlx4_ib0; ip -br link
P=$(ls /sys/class/net | grep -E '^(ibx|mlx4_ib0)$'); w 0x800b /sys/class/net/$P/create_child; ip -br link | tail -1
echo "== address"
t ip link set $P address 80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:a0:b0:99
t ip link set $P address 00:00:00:00:fe:80:00:00:00:00:00:00:00:02:c9:03:00:a0:b0:77; ip link show $P | tail -1
echo "== bond, macvlan, vlan, bridge, netns"
ip link add br0 type bridge 2>&1; t ip link set $P master br0; t ip link add link $P name v0 type vlan id 5
t ip netns add n1; t ip link set ib1 netns n1; t ip link set iby netns n1
t ip link del $P
dmesg | tail -15
