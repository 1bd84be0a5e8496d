# SPDX-License-Identifier: Apache-2.0
# Runs in the guest after measure.sh: N children, RUNS runs of each way, one after the other.
systemctl stop NetworkManager 2>/dev/null
lab-load ib:mlx4_0:1 pkeys=$((N + 2)) || { echo "the adapter cannot be loaded"; exit 1; }
p=$(lab-net b001); ip link set $p up; sleep 1
mkdir -p /etc/rdma-configd
doc() { printf 'version = 1\n[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\n'; [ "$1" = 0 ] || for i in $(seq 1 $1); do printf '[[ipoib.pkey]]\npkey = 0x%x\nmode = "datagram"\nmtu = 2044\n' $((0x8000 + i)); done; }
doc $N > /tmp/full.toml; doc 0 > /tmp/none.toml
for i in $(seq 1 $N); do c=$p.$(printf %04x $((0x8000 + i))); printf 'link add link %s name %s type ipoib pkey 0x%x\nlink set %s mtu 2044\nlink set %s up\n' $p $c $((0x8000 + i)) $c $c; done > /tmp/by-one
for i in $(seq 1 $N); do printf 'link add link %s name %s type ipoib pkey 0x%x\n' $p $p.$(printf %04x $((0x8000 + i))) $((0x8000 + i)); done > /tmp/all
for i in $(seq 1 $N); do printf 'link set %s mtu 2044\nlink set %s up\n' $p.$(printf %04x $((0x8000 + i))) $p.$(printf %04x $((0x8000 + i))); done >> /tmp/all
for i in $(seq 1 $N); do echo "link del $p.$(printf %04x $((0x8000 + i)))"; done > /tmp/del
kids() { ls /sys/class/net | grep -c "^$p\."; }
A="rdma-configctl --config"
$A /tmp/none.toml apply --yes >/dev/null 2>&1
[ -z "$NOOP" ] || $A /tmp/full.toml apply --yes >/dev/null 2>&1
for r in $(seq $RUNS); do
	if [ -n "$NOOP" ]; then run ours_noop $A /tmp/full.toml apply --yes; run ip_dump ip -d link; continue; fi
	run ours_make $A /tmp/full.toml apply --yes; [ $(kids) = $N ] || echo "only $(kids)"
	run ours_noop $A /tmp/full.toml apply --yes
	run ip_dump ip -d link
	run ours_remove $A /tmp/none.toml apply --yes; [ $(kids) = 0 ] || echo "$(kids) left"
	run ip_make_one_by_one ip -batch /tmp/by-one
	run ip_remove ip -batch /tmp/del
	run ip_make_all_then_up ip -batch /tmp/all
	ip -batch /tmp/del
done
echo "$GUEST guest, $N P_Key interfaces, $RUNS interleaved runs"
[ -z "$NOOP" ] || { stat ours_noop; stat ip_dump; ratio ours_noop ip_dump; exit; }
for t in ours_make ip_make_one_by_one ip_make_all_then_up ours_remove ip_remove ours_noop ip_dump; do stat $t; done
ratio ours_make ip_make_one_by_one; ratio ours_make ip_make_all_then_up; ratio ours_remove ip_remove; ratio ours_noop ip_dump
