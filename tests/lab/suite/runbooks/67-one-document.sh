# SPDX-License-Identifier: Apache-2.0
# One document for a whole host: RDMA names, RoCE, Soft-RoCE, PFC of a driver and of an interface, memlock, OpenSM and
# partitions, port types, services, sysctl.  Then all of it again after a reboot, with no hand on it.
# nightly: CI has time for the core and the daemon
# lab: --full --timeout 1200
# tree: full
# boots: 2
CM=/sys/kernel/config/rdma_cm
default() { mkdir "$CM/$1" && echo "$(cat "$CM/$1/ports/1/default_roce_mode") $(cat "$CM/$1/ports/1/default_roce_tos")"; rmdir "$CM/$1"; }
settled() {
	lab-wait 90 'test -z "$(systemctl list-jobs --no-legend | grep rdma-configd)"'; sleep 2
	lab-wait 90 'busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State | grep -q idle'
}
eth() { ls /sys/bus/pci/devices/0000:00:12.0/net; }
if [ "$BOOT" = 1 ]; then
	# An image that holds no more than what is looked for in it: a whole one takes minutes here.
	sed -i 's/^MODULES=.*/MODULES=list/; s/^COMPRESS=.*/COMPRESS=gzip/; s/^BUSYBOX=.*/BUSYBOX=n/' /etc/initramfs-tools/initramfs.conf
	echo CONFIG_RD_GZIP=y >"/boot/config-$(uname -r)"
	mv /usr/sbin/mkinitramfs /usr/sbin/mkinitramfs.real
	cat >/usr/sbin/mkinitramfs <<-'X'
	#!/bin/sh
	while [ $# -gt 0 ]; do [ "$1" != -o ] || out=$2; shift; done
	echo run >>/var/log/mkinit.count
	cd / && find etc/modprobe.d etc/modules-load.d etc/udev/rules.d -type f | cpio -o -H newc --quiet >"$out"
	X
	chmod +x /usr/sbin/mkinitramfs
	update-initramfs -c -k "$(uname -r)"; : >/var/log/mkinit.count
	# The adapters are there before anything of ours runs, as those of a real host
	cat >/etc/systemd/system/lab-hardware.service <<-X
	[Unit]
	DefaultDependencies=no
	After=local-fs.target systemd-udevd.service systemd-modules-load.service
	Before=rdma-configd.service sysinit.target
	[Service]
	Type=oneshot
	RemainAfterExit=yes
	ExecStart=/lab/lab-load ib:mlx4_0:1 ib:mlx4_1:1 roce:mlx5_2:1 ib:mlx4_3:2 sm=external
	ExecStart=ip link add v0 type veth peer name v1
	ExecStart=ip link set v0 up
	ExecStart=ip link set v1 up
	[Install]
	WantedBy=sysinit.target
	X
	printf '[Service]\nExecStart=/bin/sleep 100000\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/worker.service
	useradd -m alice; getent group rdma >/dev/null || groupadd -r rdma; usermod -aG rdma alice
	systemctl daemon-reload
	for unit in opensm srp_daemon; do systemctl disable -q $unit; systemctl stop $unit; done
	systemctl enable -q lab-hardware rdma-configd worker; systemctl start worker lab-hardware
	udevadm settle; lab-wait 30 'test -d /sys/bus/pci/devices/0000:00:12.0/net'
	conf <<-X
	version = 1
	[[rdma_device]]
	pci = "0000:00:12.0"
	name = "mlx5_storage"
	[[roce]]
	interface = "$(eth)"
	mode = "v1"
	dscp = 26
	[[soft_rdma]]
	interface = "v0"
	type = "rxe"
	name = "rxe_lab"
	[[roce]]
	device = "rxe_lab"
	port = 1
	mode = "v2"
	tos = 104
	[[pfc]]
	interface = "$(eth)"
	priorities = [3]
	traffic_classes = [0, 0, 0, 1, 0, 0, 2, 0]
	bandwidth = [40, 60]
	strict = [2]
	dscp = ["26:3", "48:6"]
	[[module]]
	name = "mlx4_en"
	[[pfc]]
	driver = "mlx4_en"
	priorities = [3]
	[[memlock]]
	domain = "@rdma"
	limit = "unlimited"
	units = ["worker"]
	restart = true
	sessions = true
	[[opensm]]
	guid = "00:02:c9:03:00:a0:b0:01"
	priority = 10
	[[opensm]]
	guid = "00:02:c9:03:00:a0:b0:11"
	priority = 5
	[[partition]]
	pkey = 0x7fff
	mtu = 4096
	members = ["ALL=full", "ALL_SWITCHES=full"]
	[[partition]]
	pkey = 0x8005
	members = ["ALL=full"]
	[[ipoib]]
	guid = "00:02:c9:03:00:a0:b0:01"
	name = "fab0"
	[[ipoib.pkey]]
	pkey = 5
	[[mlx4_port]]
	pci = "0000:00:13.0"
	ports = ["ib", "eth"]
	[[service]]
	name = "srp_daemon"
	enabled = true
	running = true
	[[sysctl]]
	interface = "fab0"
	arp_ignore = 1
	rp_filter = 2
	[[sysctl]]
	interface = "all"
	rp_filter = 0
	X
	applies "apply"
fi
settled; lab-wait 60 'test -e /sys/class/infiniband/rxe_lab'
E=$(eth)
ok "the RDMA device has our name" test -e /sys/class/infiniband/mlx5_storage
is "RoCE defaults of the port" "$(default mlx5_storage)" "IB/RoCE v1 106"
is "RoCE defaults of Soft-RoCE" "$(default rxe_lab)" "RoCE v2 104"
is "no folder is left" "$(ls $CM)" ""
has "PFC" "$(dcb pfc show dev "$E")" "3:on"
OUT=$(dcb ets show dev "$E"); has "traffic classes" "$OUT" "6:2"; has "bandwidth" "$OUT" "0:40 1:60"; has "strict" "$OUT" "2:strict"
has "DSCP" "$(dcb app show dev "$E" | tr -s ' ')" "dscp-prio AF31:3 CS6:6"
is "options of the driver" "$(cat /sys/module/mlx4_en/parameters/pfc[rt]x | xargs)" "8 8"
is "the initramfs was rebuilt once" "$(wc -l </var/log/mkinit.count)" 1
is "and holds the options" "$(lsinitramfs "/boot/initrd.img-$(uname -r)" | grep -c rdma-configd-pfc.conf)" 1
is "locked memory of a login" "$(su - alice -c 'ulimit -l; ulimit -H -l' | xargs)" "unlimited unlimited"
is "locked memory of a service" "$(sed -n 's/^Max locked memory *\([a-z0-9]*\).*/\1/p' "/proc/$(systemctl show -P MainPID worker)/limits")" unlimited
lab-wait 60 'systemctl is-active -q opensm@0x0002c90300a0b001 opensm@0x0002c90300a0b011'
is "subnet managers" "$(systemctl is-active opensm@0x0002c90300a0b001 opensm@0x0002c90300a0b011 | xargs)" "active active"
ok "carrier" wait_carrier fab0
ok "carrier of the partition" wait_carrier fab0.8005
ok "the higher priority is master" lab-wait 60 'sminfo | grep -q "priority 10 .*MASTER"'
is "srp_daemon" "$(systemctl is-enabled srp_daemon) $(systemctl is-active srp_daemon)" "enabled active"
is "port types" "$(cat /sys/bus/pci/devices/0000:00:13.0/mlx4_port[12] | xargs)" "ib eth"
is "kernel settings" "$(cat /proc/sys/net/ipv4/conf/fab0/{arp_ignore,rp_filter} /proc/sys/net/ipv4/conf/all/rp_filter | xargs)" "1 2 0"
settled; lab-wait 60 'rdma-configctl diff'; exits "diff" 0 ctl diff
is "nothing failed" "$(systemctl --failed --no-legend | xargs)" ""
