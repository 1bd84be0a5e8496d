# The administrator's runbook in one document: a name, connected mode, 65520 bytes, a P_Key; with traffic before and after.
# lab: --snap
systemctl stop NetworkManager; no_daemon
lab-load ib:mlx4_0:2 ib:mlx4_1:1 guid_base=0x0002c903003178f1 || exit 1
old=$(lab-net 78f2) peer=$(lab-net 7902)
ip netns add x; ip link set "$peer" netns x
n="ip netns exec x"
$n ip link set "$peer" up; $n ip addr add 192.0.2.2/24 dev "$peer"
ip link set "$old" up; ip addr add 192.0.2.1/24 dev "$old"; ip -6 addr add 2001:db8:1::1/64 dev "$old" nodad
ip route add 198.51.100.0/24 via 192.0.2.2; ip rule add iif "$old" lookup 77 pref 777
wait_carrier "$old"; wait_ping 192.0.2.2; ok "ping before" ping -c 2 -i .3 -W 2 192.0.2.2
conf <<X
version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "mlx4_ib0"
mode = "connected"
mtu  = 65520
  [[ipoib.pkey]]
  pkey = 0x8002
  mode = "datagram"
  mtu  = 2044
X
exits "validate" 0 ctl validate
exits "show" 0 ctl show; has "show: port GUID" "$OUT" 00:02:c9:03:00:31:78:f2
exits "diff" 2 ctl diff; has "diff: the new name" "$OUT" mlx4_ib0; has "diff: the child" "$OUT" mlx4_ib0.8002; has "diff: interruption" "$OUT" "stalls for a moment"
# Linux 6.2 renames an interface that is up.
if kernel_from 6.2; then hasnt "diff: the link stays up" "$OUT" "down for a moment"; else has "diff: the link goes down" "$OUT" "down for a moment"; fi
exits "apply" 0 apply; echo "$OUT"
is "name" "$(lab-net 78f2)" mlx4_ib0
is "mode" "$(mode mlx4_ib0)" connected; is "mtu" "$(mtu mlx4_ib0)" 65520
is "child's P_Key" "$(pkey mlx4_ib0.8002)" 0x8002; is "child's mtu" "$(mtu mlx4_ib0.8002)" 2044; is "child's mode" "$(mode mlx4_ib0.8002)" datagram
has "IPv4 kept" "$(ip addr show mlx4_ib0)" 192.0.2.1/24; has "IPv6 put back" "$(ip addr show mlx4_ib0)" 2001:db8:1::1/64
has "route put back" "$(ip route)" "198.51.100.0/24 via 192.0.2.2 dev mlx4_ib0"; has "rule follows the name" "$(ip rule)" "iif mlx4_ib0 lookup 77"
hasnt "no rule of the old name" "$(ip rule)" "iif $old "
has "udev rule" "$(cat /etc/udev/rules.d/70-rdma-configd-ipoib.rules)" 'ATTR{address}=="?*00:02:c9:03:00:31:78:f2", NAME="mlx4_ib0"'
wait_carriers 'mlx4_ib0*'; exits "second diff" 0 ctl diff
no_writes "second apply"
$n ip link set "$peer" type ipoib mode connected; $n ip link set "$peer" mtu 65520
wait_carrier mlx4_ib0; wait_ping 192.0.2.2
ok "ping of 65492 bytes" wait_ping 192.0.2.2 -M do -s 65492
$n ip link add link "$peer" name pc type ipoib pkey 0x8002; $n ip link set pc up; $n ip addr add 192.0.3.2/24 dev pc
ip addr add 192.0.3.1/24 dev mlx4_ib0.8002; ok "child's carrier" wait_carrier mlx4_ib0.8002
wait_ping 192.0.3.2
ok "ping over the partition" ping -c 3 -i .3 -W 2 192.0.3.2
# The driver is reloaded: udev names, and an apply brings back the rest.
ip netns exec x ip link set "$peer" netns 1; rmmod fake_hca; lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
is "name after reload" "$(lab-net 78f2)" mlx4_ib0
exits "diff after reload" 2 ctl diff; exits "apply after reload" 0 apply
is "mode after reload" "$(mode mlx4_ib0)" connected; is "child after reload" "$(mtu mlx4_ib0.8002)" 2044
