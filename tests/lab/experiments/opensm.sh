# A real OpenSM in the guest: LIDs, carrier, partitions, link down and up, hot plug, the SM moving to another
# port.  Prints one line a step, which the selftest compares.  --snap or --full.
systemctl stop NetworkManager
lab-load ib:mlx4_0:2 eib:mlx5_0:1 sm=external || exit 99
until_ok() { if lab-wait 60 "$1"; then echo "$2: yes"; else echo "$2: no"; fi; }
carrier() { [ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ]; }
export -f carrier
a=$(lab-net b001) b=$(lab-net b002) c=$(lab-net b011)
mkdir -p /etc/opensm
cat >/etc/opensm/partitions.conf <<X
Default=0x7fff, ipoib, mtu=5 : ALL=full, ALL_SWITCHES=full;
storage=0x8002, ipoib, mtu=5 : 0x0002c90300a0b001=full, 0x0002c90300a0b011=full;
X
ip netns add x; ip link set "$c" netns x
for n in "" "-n x"; do
	if [ -z "$n" ]; then i=$a h=1; else i=$c h=2; fi
	ip $n link add link "$i" name child type ipoib pkey 0x8002
	ip $n link set "$i" up; ip $n link set child up
	ip $n addr add 10.0.0.$h/24 dev "$i"; ip $n addr add 10.0.2.$h/24 dev child
done
ip link set "$b" up; ip link add link "$b" name other type ipoib pkey 0x8002; ip link set other up
sleep 1; echo "before: $(cut -d' ' -f8-9 /proc/fake_hca | sort | uniq -c | xargs), carrier $(cat "/sys/class/net/$a/carrier")"
opensm -B -f /tmp/opensm.log -g 0x0002c90300a0b001 >/dev/null 2>&1
until_ok "carrier $a && carrier $b && carrier child" "carrier from OpenSM"
echo "P_Keys: $(grep -l 0x8002 /sys/class/infiniband/*/ports/*/pkeys/1 | wc -l) ports, non-member's carrier $(cat /sys/class/net/other/carrier)"
until_ok "ping -c1 -W1 10.0.0.2" "ping"
until_ok "ping -c1 -W1 10.0.2.2" "ping on the child"
echo "ibhosts $(ibhosts | wc -l), ibnetdiscover $(ibnetdiscover | grep -c '^Ca\|^Switch'), saquery $(saquery | grep -c node_guid), sminfo $(sminfo | grep -o MASTER)"
first=$(ls /sys/class/infiniband | head -1) last=$(ls /sys/class/infiniband | tail -1)
ibping -S -P 1 -C "$last" & lab-wait 60 "ibping -c 1 -P 1 -C $first $(cat "/sys/class/infiniband/$last/ports/1/lid") | grep -q '1 received'"
echo "ibping: $(ibping -c 2 -P 1 -C "$first" "$(cat "/sys/class/infiniband/$last/ports/1/lid")" | grep -o '2 received')"; kill $!
echo "port mlx4_0 2 down" >/proc/fake_hca; until_ok "! carrier $b" "cable pulled"
echo "port mlx4_0 2 active" >/proc/fake_hca; until_ok "carrier $b" "cable plugged"
echo "backup=0x8003, ipoib : ALL=full;" >>/etc/opensm/partitions.conf; kill -HUP "$(pidof opensm)"
until_ok "grep -q 0x8003 /sys/class/infiniband/*/ports/2/pkeys/1" "new partition after SIGHUP"
echo "add ib mlx4_1 1" >/proc/fake_hca; until_ok "grep -q 'a0b021 lid 0x[1-9].* active' /proc/fake_hca" "hot plug"
echo "del mlx4_1" >/proc/fake_hca
kill -9 "$(pidof opensm)"; ip link set "$b" down; ip link set "$b" up; sleep 1; echo "without SM: carrier $(cat "/sys/class/net/$b/carrier")"
opensm -B -f /tmp/opensm2.log -g 0x0002c90300a0b011 >/dev/null 2>&1
until_ok "carrier $b && sminfo | grep -q b011.*MASTER" "OpenSM on another port"
lab-no-warnings && echo "no kernel warnings"
