# SPDX-License-Identifier: Apache-2.0
# An iSER initiator on Soft-RoCE: the guest logs in to its own target by the document, a disk that carries data over a reboot, a disk in use, and what is
# left when the entry is dropped.
# nightly
# lab: --full --timeout 1500 --mem 3072
# tree: full
# boots: 2
IQN=iqn.2026-01.org.example:scratch HOST=iqn.2026-01.org.example:node1
sessions() { grep -lx "$IQN" /sys/class/iscsi_session/*/targetname 2>/dev/null | wc -l; }
disk() { echo "/dev/$(ls -d /sys/class/iscsi_session/*/device/target*/*/block/* 2>/dev/null | sed 's,.*/,,' | head -1)"; }
export -f sessions disk; export IQN	# for lab-wait
disk_at_boot
if [ "$BOOT" = 1 ]; then
	echo "InitiatorName=$HOST" >/etc/iscsi/initiatorname.iscsi
	conf <<-X
	$(soft_roce)

	$(iser_target "$IQN" "$HOST")

	[[iser_session]]
	target  = "$IQN"
	address = "192.0.2.1"
	X
	configfs
	exits "apply of the device" 0 apply --only soft_rdma
	exits "apply of the target" 0 apply --only lio_target
	exits "apply" 0 apply
else
	ok "the host is logged in after the boot" lab-wait 400 '[ "$(sessions)" = 1 ] && [ -b "$(disk)" ]'
fi
is "one session" "$(sessions)" 1
ok "over iSER" sh -c "iscsiadm -m session | grep -q '^iser: .* 192.0.2.1:3260,1 $IQN '"
is "by an interface of its own" "$(cat /sys/class/iscsi_session/*/ifacename)" rdma-configd
ok "with a record that open-iscsi leaves alone" sh -c "iscsiadm -m node -T $IQN -I rdma-configd | grep -q 'node.startup = manual'"
lab-wait 60 '[ -b "$(disk)" ]'; DISK=$(disk)	# checks run in subshells
keeps_data "$DISK"
in_sync
[ "$BOOT" = 1 ] && finish

goes_when_free "$DISK" '/iser_session/,$d' sessions
ok "no record" sh -c "! iscsiadm -m node -T $IQN"
ok "and no interface of open-iscsi" sh -c '! iscsiadm -m iface | grep -q rdma-configd'

iscsiadm -m discovery -t st -p 192.0.2.1 -I iser
iscsiadm -m node -T $IQN -p 192.0.2.1 -I iser --login
printf '\n[[iser_session]]\ntarget = "%s"\naddress = "192.0.2.1"\n' $IQN >>$CONF
exits "a session of others is not doubled" 5 apply
is "it is the only one" "$(sessions) $(cat /sys/class/iscsi_session/*/ifacename)" "1 iser"
iscsiadm -m node -T $IQN -I iser --logout
exits "once it is gone the document logs in" 0 apply
is "by its own interface" "$(sessions) $(cat /sys/class/iscsi_session/*/ifacename)" "1 rdma-configd"
