# SPDX-License-Identifier: Apache-2.0
# Targets of LIO: by iSER over Soft-RoCE and by SRP on an InfiniBand port, made beside those of others, held over a reboot, the same as rtslib restores
# them from what `export targetcli` writes, and what is left when they are dropped.
# nightly
# lab: --full --timeout 1500 --mem 3072
# tree: full
# boots: 2
IQN=iqn.2026-01.org.example:scratch HOST=iqn.2026-01.org.example:node1 T=/sys/kernel/config/target
A=$T/iscsi/$IQN/tpgt_1 S=$T/srpt/0xfe800000000000000002c90300a0b001/tpgt_1
lab-load ib:mlx4_0:1
disk_at_boot
if [ "$BOOT" = 1 ]; then
	conf <<-X
	$(soft_roce)

	$(iser_target "$IQN" "$HOST")

	[[lio_target]]
	wwn        = "0002:c903:00a0:b001"
	initiators = ["0002:c903:0031:78f2"]

	  [[lio_target.lun]]
	  number = 0
	  file   = "/srv/back/disk.img"
	X
	configfs
	modprobe -a target_core_mod iscsi_target_mod
	mkdir -p $T/iscsi/iqn.2026-01.org.example:theirs/tpgt_1
	exits "apply of the device" 0 apply --only soft_rdma
	exits "apply" 0 apply
	ok "what others made is there" test -d $T/iscsi/iqn.2026-01.org.example:theirs/tpgt_1
else
	daemon_holds
	ok "the iSER target is there after the boot" lab-wait 120 "[ \"\$(cat $A/enable)\" = 1 ]"
	ok "and the SRP target" lab-wait 120 "[ \"\$(cat $S/enable)\" = 1 ]"
fi
is "iSER is offered" "$(cat $A/np/192.0.2.1:3260/iser)" 1
is "only the initiator may log in" "$(ls $A/acls) $(cat $A/attrib/generate_node_acls)" "$HOST 0"
is "it sees the disk" "$(cat $A/acls/$HOST/lun_0/write_protect)" 0
is "one backstore is behind both" "$(ls -d $T/core/*_*/*/ | wc -l) $(readlink -f $A/lun/lun_0/disk)" "1 $(readlink -f $S/lun/lun_0/disk)"
is "the initiator's port has both identifiers" "$(ls $S/acls | tr '\n' ' ')" "0x00000000000000000002c903003178f2 0x0002c90300a0b0010002c903003178f2 "
is "its serial number stays" "$(tee -a /root/serials <"$(readlink -f $A/lun/lun_0/disk)/wwn/vpd_unit_serial")" "$(head -1 /root/serials)"
in_sync
[ "$BOOT" = 1 ] && finish

# All that initiators can tell, with the names of backstores, but without the numbers of their adapters, which rtslib gives from 0 on.
linked_to() { basename "$(readlink -f "$(find "$1" -maxdepth 1 -type l)")"; }	# FOLDER
tree() {
	local group at
	for group in $T/iscsi/*/tpgt_1 $T/srpt/*/tpgt_1; do
		echo "${group#$T/} enabled $(cat "$group/enable")"
		(cd "$group/attrib" && grep -s . authentication cache_dynamic_acls demo_mode_write_protect generate_node_acls)
		for at in "$group"/lun/lun_*; do echo "${at##*/} $(linked_to "$at")"; done
		for at in "$group"/acls/*/lun_*; do echo "${at#"$group"/} $(linked_to "$at") write_protect $(cat "$at/write_protect")"; done
		for at in "$group"/np/*; do [ ! -e "$at" ] || echo "${at##*/} iser $(cat "$at/iser")"; done
	done
	for at in $T/core/*_*/*/; do echo "$(basename "$at") $(cat "$at/udev_path") $(cat "$at/enable") $(cat "$at/wwn/vpd_unit_serial")"; done
}
# As targetctl and targetcli restoreconfig clear_existing=True do; prints each object that could not be restored.
restores() { python3 -c 'import sys; from rtslib_fb import RTSRoot; sys.exit("\n".join(RTSRoot().restore_from_file(sys.argv[1])) or 0)' "$1"; }	# FILE
SAVED=/root/export/etc/rtslib-fb-target/saveconfig.json
exits "export targetcli" 5 ctl export targetcli --output /root/export
is "nothing but the other section is left out" "$(grep -o 'not expressed: .*' <<<"$OUT")" "not expressed: targetcli does not support [[soft_rdma]]"
is "its file is root's" "$(stat -c %a $SAVED)" 600
is "on stdout it is the same" "$(ctl export targetcli 2>/dev/null)" "$(cat $SAVED)"
exits "import lio of it" 0 ctl import lio $SAVED
if python3 -c 'import rtslib_fb'; then
	mkdir -p /etc/target /etc/rtslib-fb-target	# rtslib insists on its folder
	systemctl stop rdma-configd.service	# it would make again what rtslib clears
	tree >/root/ours
	ok "rtslib restores it" restores $SAVED
	is "the tree is the same" "$(tree)" "$(cat /root/ours)"
	systemctl start rdma-configd.service
	in_sync
else
	skip "rtslib restores what is exported: there is no rtslib"
fi

truncate -s 32M /srv/back/other.img
sed -i 's/disk.img/other.img/' $CONF
exits "another file" 0 apply
is "it is that one" "$(cat "$(readlink -f $A/lun/lun_0/disk)/udev_path")" /srv/back/other.img
sed -i 's,/srv/back/other.img,/srv/back/none.img,' $CONF
exits "one that is not there" 3 apply
is "the former one is back" "$(cat "$(readlink -f $A/lun/lun_0/disk)/udev_path") $(cat $A/enable)" "/srv/back/other.img 1"
sed -i 's,/srv/back/none.img,/srv/back/other.img,; s/^initiators = \["iqn.*/any_initiator = true/' $CONF
exits "any initiator" 0 apply
is "may log in" "$(cat $A/attrib/generate_node_acls) $(cat $A/attrib/demo_mode_write_protect) $(ls $A/acls)" "1 0 "
sed -i '/lio_target/,$d' $CONF
exits "dropped" 0 apply
ok "nothing is left" test ! -e $T/iscsi/$IQN -a ! -e ${S%/*}
is "nor a backstore" "$(ls $T/core | grep -c iblock_ ; ls $T/core | grep -c fileio_)" "0
0"
