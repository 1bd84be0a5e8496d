# Partitions of a real OpenSM --snap or --full: 101 of them with 100 children, one removed, limited
# membership; Debian's opensm.service; rapid link flaps.
systemctl stop NetworkManager
lab-load ib:mlx4_0:2 eib:mlx5_0:1 sm=external || exit 99
carrier() { [ "$(cat /sys/class/net/$1/carrier 2>/dev/null)" = 1 ]; }
step() { echo "== $(date +%M:%S.%2N) $*"; }
until_ok() { for t in $(seq 200); do eval "$1" && { echo "$2 after $t tenths"; return; }; sleep .1; done; echo "$2: no"; }
a=$(lab-net b001) b=$(lab-net b002) c=$(lab-net b011); conf=/etc/opensm/partitions.conf; mkdir -p /etc/opensm
step opensm.service; systemctl start opensm; sleep 2; systemctl list-units --no-legend 'opensm@*'; sminfo; systemctl stop opensm; sleep 1
{ echo "Default=0x7fff, ipoib : ALL=full;"; for i in $(seq 2 101); do printf 'p%d=0x%04x, ipoib : ALL=full;\n' $i $((0x8000 | i)); done; } >$conf
opensm -B -f /tmp/opensm.log -g 0x0002c90300a0b001 >/dev/null 2>&1
ip link set $a up; until_ok "carrier $a" "carrier of the parent"
step "100 children"
for i in $(seq 2 101); do printf 'link add link %s name c%d type ipoib pkey 0x%04x\n' $a $i $((0x8000 | i)); done | ip -batch -
for i in $(seq 2 101); do echo "link set c$i up"; done | ip -batch -
step "all up"; until_ok '[ $(cat /sys/class/net/c*/carrier | grep -c 1) = 100 ]' "carrier of all"
sed -i '/0x8005/d' $conf; kill -HUP $(pidof opensm); until_ok "! carrier c5" "partition removed: carrier of c5 gone"
step delete; for i in $(seq 2 101); do echo "link del c$i"; done | ip -batch -
step "limited members"
printf 'Default=0x7fff, ipoib : ALL=limited, SELF=full;\ns=0x0002, ipoib : ALL=limited;\n' >$conf
kill -HUP $(pidof opensm); sleep 2
for d in /sys/class/infiniband/*/ports/1/pkeys; do echo "$d $(head -qn1 $d/{0,1})"; done
ip netns add x; ip link set $c netns x
for n in "" "ip netns exec x"; do
	if [ -z "$n" ]; then i=$a h=1; else i=$c h=2; fi
	$n ip link set $i up; $n ip addr add 10.0.0.$h/24 dev $i
	$n ip link add link $i name child type ipoib pkey 0x0002; $n ip link set child up; $n ip addr add 10.0.2.$h/24 dev child
done
sleep 2; echo "limited to full: $(ping -c2 -i .2 -W1 10.0.0.2 | grep -o '[0-9] received'); limited to limited: $(ping -c2 -i .2 -W1 10.0.2.2 | grep -o '[0-9] received')"
step "12 flaps"; for i in $(seq 12); do echo "port mlx4_0 2 down" >/proc/fake_hca; echo "port mlx4_0 2 active" >/proc/fake_hca; sleep .05; done
until_ok "grep -q 'a0b002.* active' /proc/fake_hca" "active again"; step end
