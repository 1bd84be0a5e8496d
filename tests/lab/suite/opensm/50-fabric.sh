# A real OpenSM: a P_Key that is not in the table, a partition that appears later, no subnet manager.
# nightly: CI has time for the core and the daemon
# lab: --snap
systemctl stop NetworkManager
lab-load ib:mlx4_0:1 ib:mlx4_1:1 sm=external || exit 1
a=$(lab-net b001) b=$(lab-net b011)
ip netns add x; ip link set $b netns x; n="ip netns exec x"
conf <<X
[[ipoib]]
guid = "00:02:c9:03:00:a0:b0:01"
name = "fab0"
mtu = 4092
  [[ipoib.pkey]]
  pkey = 0x8002
X
exits "without a subnet manager" 5 apply; has "says so" "$OUT" "no subnet manager"
is "made all the same" "$(pkey fab0.8002)" 0x8002
mkdir -p /etc/opensm; echo 'Default=0x7fff, ipoib, mtu=5 : ALL=full, ALL_SWITCHES=full;' >/etc/opensm/partitions.conf
opensm -B -f /tmp/opensm.log -g 0x0002c90300a0b001 >/dev/null 2>&1
ok "carrier from OpenSM" wait_carrier fab0
exits "P_Key not in the table" 5 apply; has "says so" "$OUT" "0x8002 is not in the table"
exits "diff says it too" 5 ctl diff; is "mtu of the partition" "$(mtu fab0)" 4092
echo 'storage=0x8002, ipoib, mtu=5 : ALL=full;' >>/etc/opensm/partitions.conf; kill -HUP $(pidof opensm)
ok "carrier when the partition appears" wait_carrier fab0.8002
exits "in sync" 0 apply
$n ip link add link $b name c type ipoib pkey 0x8002; $n ip link set $b up; $n ip link set c up; $n ip addr add 10.8.0.2/24 dev c; ip addr add 10.8.0.1/24 dev fab0.8002
wait_ping 10.8.0.2; ok "ping over the partition" ping -c 2 -i .3 -W 2 10.8.0.2
printf 'Default=0x7fff, ipoib, mtu=5 : ALL=full, ALL_SWITCHES=full;\nstorage=0x8002, ipoib, mtu=5 : ALL=limited;\n' >/etc/opensm/partitions.conf; kill -HUP $(pidof opensm)
lab-wait 30 'out=$(rdma-configctl diff 2>&1) && grep -q "limited member" <<<"$out"'	# OpenSM is done, and the interface has joined again
exits "limited membership" 0 ctl diff; has "is warned of" "$OUT" "limited member"
has "show has the table" "$(ctl show)" 0x0002
echo 'Default=0x7fff, ipoib : ALL=full, ALL_SWITCHES=full;' >/etc/opensm/partitions.conf; kill -HUP $(pidof opensm)
lab-wait 30 'rdma-configctl diff 2>&1 | grep -q "not in the table"'
exits "a partition that is taken away" 5 ctl diff; has "says so" "$OUT" "not in the table"
