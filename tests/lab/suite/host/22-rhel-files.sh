# SPDX-License-Identifier: Apache-2.0
# The files of RHEL laid out in a guest: OpenSM built for /etc/rdma and started by opensm-launch with /etc/sysconfig/opensm, images by
# dracut with rdma-core's module, no initramfs-tools. Short scripts stand for RHEL's programs; the OpenSM behind them is Debian's.
# nightly: CI has the cases of tests/data
# lab: --full --timeout 900
# tree: full
systemctl mask -q --runtime rdma-configd; no_daemon; systemctl stop NetworkManager opensm 'opensm@*'; systemctl disable -q opensm
rm -f /etc/os-release /etc/default/opensm /usr/lib/systemd/system/opensm.service /usr/lib/systemd/system/opensm@.service /usr/sbin/update-initramfs /usr/sbin/mkinitramfs
rm -rf /etc/opensm
printf 'ID="rhel"\nID_LIKE="fedora"\nVERSION_ID="9.5"\n' >/etc/os-release
mkdir -p /etc/sysconfig /etc/rdma /usr/libexec /usr/lib/lab /usr/lib/dracut/modules.d/05rdma
mv /usr/sbin/opensm /usr/lib/lab/opensm
cat >/usr/sbin/opensm <<'E'
#!/bin/sh
exec /usr/lib/lab/opensm --config /etc/rdma/opensm.conf --Pconfig /etc/rdma/partitions.conf "$@"
E
# A manager for each port, with the subnet prefix of its place.
cat >/usr/libexec/opensm-launch <<'E'
#!/bin/bash
trap '' HUP
. /etc/sysconfig/opensm
n=0
for guid in $GUIDS; do
	opensm ${PRIORITY:+-p "$PRIORITY"} -g "$guid" -f "/var/log/opensm.$guid.log" --subnet_prefix "$(printf '0xfe800000000000%02x' $n)" &
	n=$((n + 1))
done
[ -n "$GUIDS" ] || opensm &
wait
E
printf '[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/usr/libexec/opensm-launch\n[Install]\nWantedBy=multi-user.target\n' >/usr/lib/systemd/system/opensm.service
printf '# GUIDs to start OpenSM on, and its priority\n#GUIDS="0x12345678"\n#PRIORITY=15\n' >/etc/sysconfig/opensm
echo '# OpenSM' >/etc/rdma/opensm.conf
image=/boot/initramfs-$(uname -r).img
cat >/usr/bin/dracut <<E
#!/bin/sh
echo "\$*" >>/var/log/dracut.args
cd / && find etc/modprobe.d etc/udev/rules.d -type f | cpio -o -H newc --quiet >$image.new && mv $image.new $image
E
printf '#!/bin/bash\n' >/usr/lib/dracut/modules.d/05rdma/module-setup.sh
chmod 755 /usr/sbin/opensm /usr/libexec/opensm-launch /usr/bin/dracut; dracut -f; : >/var/log/dracut.args
systemctl daemon-reload; cp /etc/sysconfig/opensm /tmp/before

lab-load ib:mlx4_0:1 ib:mlx4_1:1 sm=external || exit 1
echo "cable mlx4_1 1 1" >/proc/fake_hca	# a subnet of its own
conf <<E
[[opensm]]
guid = "00:02:c9:03:00:a0:b0:01"
[[opensm]]
guid = "00:02:c9:03:00:a0:b0:11"
[[partition]]
pkey = 0x7fff
mtu = 4096
members = ["ALL=full", "ALL_SWITCHES=full"]
[[module]]
name = "mlx4_core"
load = false
options = ["num_vfs=4"]
[[ipoib]]
guid = "00:02:c9:03:00:a0:b0:01"
name = "fab0"
E
exits "diff" 2 ctl diff; has "the prefix of the second port is named" "$OUT" 0xfe80000000000001; has "dracut is to run" "$OUT" "dracut -f"
apply >/tmp/first 2>&1
is "ports at boot" "$(. /etc/sysconfig/opensm; echo "$GUIDS") $(systemctl is-enabled opensm)" "0x0002c90300a0b001 0x0002c90300a0b011 enabled"
has "partitions are where OpenSM reads them" "$(cat /etc/rdma/partitions.conf)" 0x7fff
ok "and nowhere else" test ! -e /etc/opensm
ok "both subnets are up" lab-wait 90 '[ "$(cat /sys/class/infiniband/*/ports/1/state | sort -u)" = "4: ACTIVE" ]'
ok "each has its prefix" lab-wait 30 '[ "$(cut -c1-19 /sys/class/infiniband/*/ports/1/gids/0 | sort | xargs)" = "fe80:0000:0000:0000 fe80:0000:0000:0001" ]'
ok "carrier" wait_carrier fab0; is "with the MTU of the partition" "$(mtu fab0)" 4092
ok "the image was made by dracut" grep -q -- '-f' /var/log/dracut.args
has "and holds the options" "$(cpio -t --quiet <"$image")" etc/modprobe.d/rdma-configd.conf
in_sync

# rdma-core's dracut module loads ib_ipoib in the image, which therefore needs the names.
n=$(wc -l </var/log/dracut.args)
sed -i 's/"fab0"/"fab1"/' $CONF
exits "another name" 2 ctl diff; has "dracut is to run for it" "$OUT" "dracut -f"
exits "is given" 0 apply; is "the image was made once more" "$(wc -l </var/log/dracut.args)" $((n + 1))

echo 'version = 1' | conf; exits "dropped" 0 apply
ok "the file is as it was" cmp /etc/sysconfig/opensm /tmp/before
is "no OpenSM" "$(systemctl is-active opensm) $(systemctl is-enabled opensm) $(pgrep -xc opensm)" "inactive disabled 0"
ok "no partitions" test ! -s /etc/rdma/partitions.conf
