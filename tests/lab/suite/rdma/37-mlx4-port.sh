# nightly: CI has time for the core and the daemon
# Port types of a ConnectX-3 adapter, which goes away and returns; and all of it again after a reboot.
# lab: --full
# tree: full
# boots: 2
systemctl stop NetworkManager
lab-load ib:mlx4_0:2 || exit 1
pci=0000:00:10.0; types() { cat /sys/bus/pci/devices/$pci/mlx4_port1 /sys/bus/pci/devices/$pci/mlx4_port2 | tr '\n' ' '; }
layers() { cat /sys/class/infiniband/*/ports/*/link_layer | tr '\n' ' '; }
settled() { lab-wait 20 'test -z "$(systemctl list-jobs --no-legend | grep rdma-configd)"'; }
if [ $BOOT = 1 ]; then
	conf <<<$'[[mlx4_port]]\npci = "00:10.0"\nports = ["eth", "ib"]'; exits "eth beside ib" 1 apply; has "says why" "$OUT" "port 1 can be eth only where port 2 is eth"
	conf <<<$'[[mlx4_port]]\npci = "00:10.0"\nports = ["eth", "eth"]'
	exits "diff" 2 ctl diff; has "what it interrupts" "$OUT" "removed and added again"; is "looking changes nothing" "$(types)" "ib ib "
	exits "both Ethernet" 0 apply; is "types" "$(types)" "eth eth "; ok "link layers" lab-wait 10 'test "$(cat /sys/class/infiniband/*/ports/*/link_layer | tr "\n" " ")" = "Ethernet Ethernet "'
	settled; no_writes "a second apply"
	# Everything on the adapter goes and comes back with it, and is as the document says at the end of the same apply.
	fab() { printf '[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "fab0"\n[[ipoib.pkey]]\npkey = 0x8002\n[[mlx4_port]]\npci = "00:10.0"\nports = ["ib", "%s"]\n' $1 | conf; }
	fab ib; applies "with interfaces"; settled
	fab eth; applies "types changed under interfaces"; is "types" "$(types)" "ib eth "; lab-wait 60 'rdma-configctl diff'; exits "it is whole" 0 ctl diff
	ok "the P_Key interface is there" ip link show fab0.8002; settled
	fab ib; exits "taken back" 0 apply --confirm 60; exits "it is whole" 0 lab-wait 15 'rdma-configctl diff'; ok "expired" lab-wait 40 'rdma-configctl history | grep -q "not confirmed"'
	is "types" "$(types)" "ib eth "; fab eth; settled; lab-wait 60 'rdma-configctl diff'; exits "whole again" 0 ctl diff
	# A board without DPDP (mellanox/mlx4/main.c:307, 1177): both or none.
	conf <<<''; exits "nothing" 0 apply; echo "set mlx4_0 dpdp=off" >/proc/fake_hca; settled; is "types" "$(types)" "ib ib "
	ok "one port is refused" bash -c "! echo eth 2>/dev/null >/sys/bus/pci/devices/$pci/mlx4_port2"; echo ib >/sys/bus/pci/devices/$pci/mlx4_port2
	conf <<<$'[[mlx4_port]]\npci = "00:10.0"\nports = ["eth", "eth"]'; exits "both of an old board" 0 apply; is "types" "$(types)" "eth eth "; settled
	conf <<<$'[[mlx4_port]]\npci = "00:10.0"\nports = ["ib", "eth"]'; apply >/tmp/out 2>&1; is "one of an old board is undone" "$?" 3; is "types" "$(types)" "eth eth "; settled
	echo eth >/sys/bus/pci/devices/$pci/mlx4_port2; is "and not kept in mind" "$(types)" "eth eth "
	conf <<<$'[[mlx4_port]]\npci = "00:10.0"\nports = ["ib", "ib"]'; exits "both back" 0 apply; settled; echo "set mlx4_0 dpdp=on" >/proc/fake_hca; settled
	conf <<<$'[[mlx4_port]]\npci = "00:10.0"\nports = ["ib", "ib"]'; exits "none of it" 0 apply; settled
	conf <<<$'[[mlx4_port]]\npci = "00:10.0"\nports = ["ib", "eth"]'; exits "port 1 back" 0 apply; is "types" "$(types)" "ib eth "; has "the file" "$(cat /etc/rdma/mlx4.conf)" "$pci ib eth"
	exits "in sync" 0 ctl diff
else
	ok "after a reboot" lab-wait 30 'test "$(cat /sys/bus/pci/devices/0000:00:10.0/mlx4_port2)" = eth'; settled; is "types" "$(types)" "ib eth "; lab-wait 60 'rdma-configctl diff'; exits "in sync" 0 ctl diff
	is "no unit failed" "$(systemctl list-units --failed --no-legend 'rdma-configd*')" ""
fi
