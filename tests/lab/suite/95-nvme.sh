# SPDX-License-Identifier: Apache-2.0
# An NVMe target on Soft-RoCE: made beside a subsystem of others, a disk that carries data over a reboot, and what is left when it is dropped.
# The guest is its own host: by hand, by the document, after a boot, and while a file system of the disk is mounted.
# nightly
# lab: --full --timeout 1500 --mem 3072
# tree: full
# boots: 2
NQN=nqn.2014-08.org.example:scratch HOST=nqn.2014-08.org.example:node1 T=/sys/kernel/config/nvmet
connect() { nvme connect -t rdma -a 192.0.2.1 -s 4420 -n $NQN -q $HOST; lab-wait 60 '[ -b "$(echo /dev/nvme*n1)" ]'; }
disconnect() { nvme disconnect -n $NQN; }
linked() { grep -l '^traddr=192.0.2.1,' /sys/class/nvme/nvme*/address 2>/dev/null | wc -l; }	# controllers at the target's address
state() { cat "$(grep -l "^$NQN$" /sys/class/nvme/nvme*/subsysnqn | sed 's,subsysnqn,state,')"; }
export -f linked state; export NQN	# for lab-wait
modprobe -a nvme_rdma nvmet_rdma
disk_at_boot
if [ "$BOOT" = 1 ]; then
	echo $HOST >/etc/nvme/hostnqn	# the name that the target lets in
	conf <<-X
	$(soft_roce)

	[[nvme_target]]
	nqn       = "$NQN"
	hosts     = ["$HOST"]
	addresses = ["192.0.2.1"]

	  [[nvme_target.namespace]]
	  nsid   = 1
	  device = "/srv/back/disk.img"
	X
	configfs
	mkdir $T/subsystems/nqn.2014-08.org.example:theirs $T/ports/1; echo 1 >$T/subsystems/nqn.2014-08.org.example:theirs/attr_allow_any_host
	exits "apply of the device" 0 apply --only soft_rdma
	exits "apply" 0 apply
	ok "what others made is there" test -d $T/subsystems/nqn.2014-08.org.example:theirs -a -d $T/ports/1
else
	daemon_holds
	ok "the target is there after the boot" lab-wait 120 "[ \"\$(cat $T/subsystems/$NQN/namespaces/1/enable)\" = 1 ]"
	ok "and is offered" lab-wait 60 "[ -e $T/ports/49152/subsystems/$NQN ]"
fi
is "the namespace is enabled" "$(cat $T/subsystems/$NQN/namespaces/1/enable)" 1
is "only the host may" "$(ls $T/subsystems/$NQN/allowed_hosts)" $HOST
is "its UUID is that of the name" "$(tee -a /root/uuids <$T/subsystems/$NQN/namespaces/1/device_uuid)" "$(head -1 /root/uuids)"
if [ "$BOOT" = 1 ]; then
	ok "a host connects" connect
else
	ok "the host is connected after the boot" lab-wait 180 "[ \"\$(linked)\" = 1 ] && [ \"\$(state)\" = live ] && [ -b \"\$(echo /dev/nvme*n1)\" ]"
fi
DISK=$(echo /dev/nvme*n1)	# checks run in subshells
keeps_data "$DISK"
if [ "$BOOT" = 1 ]; then
	sed -i '/^\[\[nvme_target\]\]/i [[nvme_connection]]\naddress = "192.0.2.1"\n' $CONF
	exits "a connection that is there stays" 0 apply
	sed -i '/nvme_connection/,+2d' $CONF
	exits "also when the entry is dropped" 0 apply
	is "it was not ours" "$(linked)" 1
	disconnect
	sed -i '/^\[\[nvme_target\]\]/i [[nvme_connection]]\naddress = "192.0.2.1"\n' $CONF
	exits "the document connects" 0 apply
	is "one controller" "$(linked) $(state)" "1 live"
	ok "nvme-cli's service is enabled" systemctl -q is-enabled nvmf-autoconnect
	ok "and waits for the interfaces" sh -c 'systemctl show -P After nvmf-autoconnect | grep -qw rdma-configd-online.target'
	disconnect
	exits "it is connected again" 0 apply
	is "one controller again" "$(linked)" 1
fi
in_sync
[ "$BOOT" = 1 ] && finish

goes_when_free "$DISK" '/nvme_connection/,+2d' linked
ok "and no line" sh -c '! grep -q traddr=192.0.2.1 /etc/nvme/discovery.conf'

truncate -s 32M /srv/back/other.img
sed -i 's/disk.img/other.img/' $CONF
exits "another device" 0 apply
is "it is that one" "$(cat $T/subsystems/$NQN/namespaces/1/device_path)" /srv/back/other.img
sed -i 's,/srv/back/other.img,/srv/back/none.img,' $CONF
exits "one that is not there" 3 apply
is "the former one is back" "$(cat $T/subsystems/$NQN/namespaces/1/device_path) $(cat $T/subsystems/$NQN/namespaces/1/enable)" "/srv/back/other.img 1"
sed -i '/nvme_target/,$d' $CONF
exits "dropped" 0 apply
ok "nothing is left" test ! -e $T/subsystems/$NQN -a ! -e $T/ports/49152 -a ! -e $T/hosts/$HOST
