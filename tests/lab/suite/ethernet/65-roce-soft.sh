# SPDX-License-Identifier: Apache-2.0
# Soft-RoCE, names of RDMA devices and RoCE defaults, read back from the kernel; then again after a reboot.
# nightly: CI has time for the core and the daemon
# lab: --full
# tree: full
# boots: 2
CM=/sys/kernel/config/rdma_cm
# Reads a default as an administrator would, and leaves no folder: DEVICE FILE
default() { mkdir "$CM/$1" && cat "$CM/$1/ports/1/$2"; rmdir "$CM/$1"; }
rdma_names() { rdma -j dev | jq -r '.[].ifname' | sort | tr '\n' ' '; }
# A folder that the daemon has made keeps default() from making it.
at_rest() { lab-wait 60 '! busctl --auto-start=no get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State | grep -q working'; }
instance() { stat -L -c %i "/sys/class/infiniband/$1/"; }

ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up
lab-load roce:mlx5_1:1 ib:mlx4_0:1; udevadm settle
PCI=$(basename "$(readlink -f /sys/bus/pci/devices/0000:00:10.0)")
if [ "$BOOT" = 1 ]; then
	lab-wait 60 '! systemctl list-jobs --no-legend | grep -q .'
	ok "rdma_cm can be unloaded at first" unload_rdma_cm
	modules=$(lsmod | cut -d' ' -f1 | sort)
	conf <<-X
	version = 1
	[[soft_rdma]]
	interface = "v0"
	type = "rxe"
	name = "rxe_lab"
	[[rdma_device]]
	pci = "$PCI"
	name = "mlx5_storage"
	[[roce]]
	device = "mlx5_storage"
	port = 1
	mode = "v1"
	dscp = 26
	[[roce]]
	device = "rxe_lab"
	port = 1
	mode = "v2"
	tos = 104
	X
	has "rdma-core names the device before us" "$(rdma_names)" rocep
	exits "diff" 2 ctl diff
	is "observing loads nothing" "$(lsmod | cut -d' ' -f1 | sort)" "$modules"
	exits "apply" 0 apply
else
	lab-wait 20 "test -e /sys/class/infiniband/mlx5_storage && test -e /sys/class/infiniband/rxe_lab"
	systemctl list-units 'rdma-configd-apply@*' --all --no-legend | tail -3
	lab-wait 20 "! systemctl list-jobs --no-legend | grep -q rdma-configd"; lab-wait 60 'rdma-configctl diff'
fi
has "the device has our name" "$(rdma_names)" mlx5_storage
has "the soft device is there" "$(rdma_names)" rxe_lab
is "it runs over the interface" "$(cat /sys/class/infiniband/rxe_lab/parent)" v0
at_rest
is "no folder is left" "$(ls $CM 2>/dev/null)" ""
is "RoCE mode of the port" "$(default mlx5_storage default_roce_mode)" "IB/RoCE v1"
is "ToS of the port" "$(default mlx5_storage default_roce_tos)" 106
is "RoCE mode of the soft device" "$(default rxe_lab default_roce_mode)" "RoCE v2"
is "ToS of the soft device" "$(default rxe_lab default_roce_tos)" 104
no_writes "second apply"
exits "diff is empty" 0 ctl diff
[ "$BOOT" = 1 ] || return 0 2>/dev/null || finish

# The apply units that events start are what an administrator's host has too; here each step is looked at by itself.
before=$(instance mlx5_storage)
echo 1 >/sys/bus/pci/devices/$PCI/remove; lab-wait 10 '! test -e /sys/class/infiniband/mlx5_storage'
echo 1 >/sys/bus/pci/rescan; lab-wait 20 'test -e /sys/class/infiniband/mlx5_storage'
ok "the name is there after a re-add" test -e /sys/class/infiniband/mlx5_storage
hasnt "it is another registration" "$(instance mlx5_storage)" "$before"
lab-wait 20 '! systemctl list-jobs --no-legend | grep -q rdma-configd'
apply >/dev/null; at_rest
is "RoCE mode after a re-add" "$(default mlx5_storage default_roce_mode)" "IB/RoCE v1"
is "ToS after a re-add" "$(default mlx5_storage default_roce_tos)" 106

ok "rdma_cm can be unloaded" unload_rdma_cm
exits "the reload is noticed" 2 ctl diff
exits "apply after the reload" 0 apply; at_rest
is "RoCE mode after the reload" "$(default mlx5_storage default_roce_mode)" "IB/RoCE v1"

ip link del v0; lab-wait 5 '! test -e /sys/class/infiniband/rxe_lab'
exits "without its interface the soft device is pending" 5 apply
ip link add v0 type veth peer name v1; ip link set v0 up
lab-wait 20 'test -e /sys/class/infiniband/rxe_lab'
ok "the soft device comes back with its interface" test -e /sys/class/infiniband/rxe_lab
sed -i 's/device = "mlx5_storage"/device = "mlx4_0"/' $CONF
exits "an unknown name is pending" 5 apply
exits "refused on an InfiniBand port" 1 bash -c "sed -i 's/mlx4_0/ibp0s17/' $CONF; rdma-configctl apply --yes"
has "it says why" "$OUT" "runs InfiniBand now"
sed -i 's/ibp0s17/mlx5_storage/; s/v2/v1/' $CONF
exits "a mode without a GID is refused" 1 apply
has "it names what is offered" "$OUT" "supports only RoCE v2"
cp $CONF /tmp/full; printf 'version = 1\n' >$CONF
exits "dropped" 0 apply
hasnt "what we made goes" "$(rdma_names)" rxe_lab
is "the mode is as it was found" "$(default mlx5_storage default_roce_mode)" "RoCE v2"
is "no file of ours is left" "$(ls /etc/udev/rules.d /etc/modules-load.d | grep rdma-configd)" ""
printf 'version = 1\n[[soft_rdma]]\ninterface = "v0"\ntype = "siw"\nname = "siw0"\n' >$CONF
if modinfo siw >/dev/null 2>&1; then
	skip "no Soft-iWARP: this kernel has it"
else
	exits "no Soft-iWARP in this kernel" 1 apply; has "it says so" "$OUT" "the running kernel has no module siw"
fi
sed -i 's/mode = "v1"/mode = "v2"/; 0,/mode = "v2"/s//mode = "v1"/' /tmp/full; cp /tmp/full $CONF
exits "for the next boot" 0 apply
