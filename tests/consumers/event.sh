#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In namespaces of its own: udev's rules of ROOT on an add event of the IPoIB interface of the port GUID, in a made-up sysfs.
set -eu
root=$1 guid=$2
sys=$root/sys; pci=$sys/devices/pci0/0000:10:00.0
rm -rf "$sys"; mkdir -p "$pci/net/ib0" "$sys/bus/pci/drivers/mlx4_core" "$sys/class/net" "$root/etc/udev/rules.d"
printf 'DRIVER=mlx4_core\nPCI_SLOT_NAME=0000:10:00.0\n' >"$pci/uevent"
ln -s ../../../bus/pci "$pci/subsystem"; ln -s ../../../bus/pci/drivers/mlx4_core "$pci/driver"
printf 'INTERFACE=ib0\nIFINDEX=77\n' >"$pci/net/ib0/uevent"
ln -s ../../../../../class/net "$pci/net/ib0/subsystem"
echo 32 >"$pci/net/ib0/type"; echo 77 >"$pci/net/ib0/ifindex"
echo "80:00:02:08:fe:80:00:00:00:00:00:00:$guid" >"$pci/net/ib0/address"
echo 00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff >"$pci/net/ib0/broadcast"
ln -s ../../devices/pci0/0000:10:00.0/net/ib0 "$sys/class/net/ib0"
mkdir -p /etc/udev/rules.d
mount --bind "$root/etc/udev/rules.d" /etc/udev/rules.d
mount -t tmpfs none /usr/lib/udev/rules.d
mount -t tmpfs none /run
mount --rbind "$sys" /sys
# From systemd 257 on the result is a list with headings: it is printed as earlier releases do.
SYSTEMD_DEVICE_VERIFY_SYSFS=0 udevadm test --action=add /sys/class/net/ib0 2>&1 | awk -v quote="'" '
	/^Network interface name:/ { getline; sub(/^ +/, ""); print "NAME " quote $0 quote; next }
	{ sub(/^  /, "", $0); print }'
