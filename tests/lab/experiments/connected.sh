# IPoIB connected mode between two adapters, the second in a network namespace.  --snap or --full.
[ "$(systemctl is-active NetworkManager)" != active ] || systemctl stop NetworkManager
lab-load ib:mlx4_0:1 ib:mlx4_1:1 || exit 99
a=$(lab-net b001) b=$(lab-net b011)
ip netns add x; ip link set "$b" netns x
ip link set "$a" type ipoib mode connected; ip -n x link set "$b" type ipoib mode connected
ip link set "$a" up; ip addr add 10.0.0.1/24 dev "$a"
ip -n x link set "$b" up; ip -n x addr add 10.0.0.2/24 dev "$b"
lab-wait 60 'ping -c1 -W1 10.0.0.2'
for s in 56 30000 65492; do echo "ping -s $s: $(ping -M do -c 3 -i .2 -s $s 10.0.0.2 | grep -o '[0-9] received')"; done
echo "RC queue pairs: $(rdma res show qp | grep -c 'type RC state RTS')"
