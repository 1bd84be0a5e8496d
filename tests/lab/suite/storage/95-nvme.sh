# SPDX-License-Identifier: Apache-2.0
# An NVMe target on Soft-RoCE: made beside a subsystem of others, a disk that carries data over a reboot, and what is left when it is dropped.
# The guest is its own host: by hand, by the document, after a boot, on two ports, and while a file system of the disk is mounted.
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

# All that hosts can tell, as nvmet shows it.
tree() { (cd $T && grep -s . subsystems/*/attr_allow_any_host subsystems/*/namespaces/*/{device_path,device_uuid,enable} ports/*/addr_{trtype,adrfam,traddr,trsvcid}; find . -type l | sort); }
SAVED=/root/export/etc/nvmet/config.json
ctl export nvmetcli --output /root/export	# the other sections have no place in it
is "export nvmetcli: the file is root's" "$(stat -c %a $SAVED)" 600
is "on stdout it is the same" "$(ctl export nvmetcli 2>/dev/null)" "$(cat $SAVED)"
exits "import nvme of it" 0 ctl import nvme $SAVED
is "its namespace has the UUID" "$(jq -r '.subsystems[0].namespaces[0].device.uuid' $SAVED)" "$(head -1 /root/uuids)"
if command -v nvmetcli; then
	systemctl stop rdma-configd.service	# it would make again what nvmetcli clears
	disconnect
	tree >/root/ours
	ok "nvmetcli restores it" nvmetcli restore $SAVED
	is "the tree is the same" "$(tree)" "$(cat /root/ours)"
	systemctl start rdma-configd.service
	ok "the host is connected again" lab-wait 180 '[ "$(linked)" = 1 ] && [ "$(state)" = live ]'
else
	skip "nvmetcli restores what is exported: Debian has no nvmetcli"
fi

# A second subsystem on a second port of the address, and a port of others whose discovery service has nothing for this host.
SECOND=nqn.2014-08.org.example:second THEIRS=nqn.2014-08.org.example:theirs
services() { sed -n 's/^traddr=192.0.2.1,trsvcid=\([0-9]*\).*/\1/p' /sys/class/nvme/nvme*/address | sort | tr '\n' ' '; }
cp $CONF /root/one-port.toml
truncate -s 32M /srv/back/second.img
cat >>$CONF <<-X

[[nvme_target]]
nqn       = "$SECOND"
hosts     = ["$HOST"]
addresses = ["192.0.2.1"]
port      = 4421

  [[nvme_target.namespace]]
  nsid   = 1
  device = "/srv/back/second.img"
X
exits "a subsystem on a second port" 0 apply
is "both ports are offered" "$(cat $T/ports/*/addr_trsvcid | sort | tr '\n' ' ')" "4420 4421 "
is "each has its subsystem" "$(for port in $T/ports/*; do echo "$(cat $port/addr_trsvcid) $(ls $port/subsystems)"; done | sort)" "4420 $NQN
4421 $SECOND"
sed -i 's/^address = "192.0.2.1"$/&\nport = [4420, 4421]/' $CONF
exits "a connection to both" 0 apply
becomes "a controller at each" services "4420 4421 "
is "a line for each" "$(grep -c '^--transport=rdma --traddr=192.0.2.1 --trsvcid=442[01]' /etc/nvme/discovery.conf)" 2
in_sync
mkdir $T/subsystems/$THEIRS $T/ports/2
echo rdma >$T/ports/2/addr_trtype; echo ipv4 >$T/ports/2/addr_adrfam; echo 192.0.2.1 >$T/ports/2/addr_traddr; echo 4430 >$T/ports/2/addr_trsvcid
ln -s $T/subsystems/$THEIRS $T/ports/2/subsystems/$THEIRS
sed -i 's/^port = \[.*/port = [4420, 4421, 4430]/' $CONF
exits "a port with a discovery service alone" 5 apply
has "names the port" "$OUT" "no connection to port 4430"
sed -i 's/^port = \[.*/&\nsubsystems = ["'$NQN'", "'$SECOND'"]/' $CONF
exits "is not waited for once subsystems are named" 0 apply
becomes "the controllers are as before" services "4420 4421 "	# those of a discovery go by themselves
sed -i '/^port = \[/d; /^subsystems = /d' $CONF
exits "the second port is left" 0 apply
becomes "with its controller alone" services "4420 "
cp /root/one-port.toml $CONF
exits "its subsystem is dropped" 0 apply
ok "and its port" sh -c '! grep -qx 4421 '$T'/ports/*/addr_trsvcid'
ok "that of others is there" test -e $T/ports/2/subsystems/$THEIRS
rm $T/ports/2/subsystems/$THEIRS; rmdir $T/ports/2 $T/subsystems/$THEIRS

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
