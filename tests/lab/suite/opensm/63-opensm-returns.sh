# A subnet manager whose port goes and comes back is restarted, once: PCI remove and rescan, reload of the driver, another
# port type and back; and when the port comes back within seconds of the subnet manager's start.
# nightly: CI has time for the core and the daemon
# lab: --full --timeout 900
# tree: full
systemctl stop NetworkManager opensm
systemctl disable opensm 2>/dev/null
conf <<X
[[opensm]]
guid = "00:02:c9:03:00:a0:b0:01"
[[ipoib]]
guid = "00:02:c9:03:00:a0:b0:01"
name = "fab0"
X
load() { lab-load ib:mlx4_0:1 ib:mlx4_1:1 sm=external; }
load || exit 1
unit=opensm@0x0002c90300a0b001.service pci=0000:00:10.0
pid() { systemctl show -p MainPID --value $unit; }
# The fabric has all it needs of a subnet manager, and no second restart follows.
returned() {	# WHAT OLD-PID
	ok "$1: it is restarted" lab-wait 90 "p=\$(systemctl show -p MainPID --value $unit); [ \$p != 0 ] && [ \$p != $2 ]"
	ok "$1: every port is active" lab-wait 90 '[ "$(cat /sys/class/infiniband/*/ports/1/state | sort -u)" = "4: ACTIVE" ]'
	ok "$1: carrier" wait_carrier fab0
	ok "$1: in sync" lab-wait 60 'rdma-configctl diff'
	local new; new=$(pid); sleep 8; is "$1: it goes on" "$(pid)" "$new"
}
ok "the daemon starts it" lab-wait 90 "systemctl -q is-active $unit"
ok "the fabric is up" wait_carrier fab0
sleep 6

old=$(pid); echo 1 >/sys/bus/pci/devices/$pci/remove; sleep 2; echo 1 >/sys/bus/pci/rescan
returned "PCI rescan" "$old"
ok "the journal says why" lab-wait 30 "journalctl -u rdma-configd -o cat --no-pager | grep -q 'opensm on 00:02:c9:03:00:a0:b0:01'"

# systemd restarts it, and the port goes and comes back at once: udev's record is less than five seconds younger.
systemctl restart $unit; ok "it runs again" lab-wait 30 "systemctl -q is-active $unit"; sleep 1
old=$(pid); echo 1 >/sys/bus/pci/devices/$pci/remove; echo 1 >/sys/bus/pci/rescan
returned "soon after its start" "$old"

old=$(pid); rmmod fake_hca && load
returned "driver reload" "$old"

old=$(pid); echo eth >/sys/bus/pci/devices/$pci/mlx4_port1; sleep 2; echo ib >/sys/bus/pci/devices/$pci/mlx4_port1
returned "port type" "$old"
exits "doctor finds nothing of it" 0 bash -c '! rdma-configctl doctor | grep opensm'
