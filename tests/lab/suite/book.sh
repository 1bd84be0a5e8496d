# SPDX-License-Identifier: Apache-2.0
# The shared functions of the books, the scenarios that apply a whole document of docs/runbooks and judge by the runbook's own tools each step of
# docs/RUNBOOK.md that has the book's letter. Sourced in the guest after lib.sh.
RUNBOOK=/suite/docs/RUNBOOK.md BOOK_STEPS='' BOOK_AT='' BOOK_CHECKS=0
IQN=iqn.2026-01.org.example:scratch NQN=nqn.2014-08.org.example:scratch HOST_NQN=nqn.2014-08.org.example:node1
CM=/sys/kernel/config/rdma_cm

# A step that nothing was checked of would pass for judged.
book_judged() { [ -z "$BOOK_AT" ] || [ $((N + FAILS)) -gt "$BOOK_CHECKS" ] || fail "step $BOOK_AT: nothing was checked"; }
step() { book_judged; BOOK_AT=$1 BOOK_CHECKS=$((N + FAILS)) BOOK_STEPS+="$1 "; echo "-- step $1"; }	# NUMBER: the checks that follow are of it
not_here() { BOOK_STEPS+="$1 "; echo "-- step $1 is not judged: $2"; }	# NUMBER WHY
book_end() {	# LETTER
	book_judged
	is "the steps that were judged are those of the runbook" "$(tr ' ' '\n' <<<"$BOOK_STEPS" | grep . | sort -nu | xargs)" \
		"$(awk -F' *[|] *' -v letter="$1" '$2 ~ /^[0-9]+$/ && index($4, letter) { print $2 }' $RUNBOOK | sort -nu | xargs)"
}

document() { mkdir -p /etc/rdma-configd; cp "/suite/docs/runbooks/$1.toml" $CONF; }	# NAME
without() { awk -v RS= -v ORS='\n\n' -v text="$1" 'index($0, text) == 0' $CONF >/tmp/without && cp /tmp/without $CONF; }	# TEXT: entries that have it go

hardware() {	# ARGUMENTS OF lab-load: adapters that are there before anything of ours at each boot; further commands on standard input
	{
		cat <<-'X'
		[Unit]
		DefaultDependencies=no
		After=local-fs.target systemd-udevd.service systemd-modules-load.service
		Before=rdma-configd.service network-pre.target sysinit.target
		Wants=network-pre.target
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		X
		echo "ExecStart=/lab/lab-load $*"
		sed 's/^/ExecStart=/'
		printf '[Install]\nWantedBy=sysinit.target\n'
	} >/etc/systemd/system/lab-hardware.service
	# The Ethernet interface of the adapter in the third slot has the name that the documents know.
	printf '[Match]\nPath=pci-0000:00:12.0*\nType=ether\n[Link]\nName=ens1f0np0\n' >/etc/systemd/network/10-lab.link
	printf '[Service]\nExecStart=/bin/sleep 100000\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/slurmd.service
	getent group rdma >/dev/null || groupadd -r rdma
	useradd -m -G rdma alice
	systemctl daemon-reload; udevadm control --reload
	for unit in opensm srp_daemon; do systemctl disable -q $unit; systemctl stop $unit; done
	systemctl enable -q lab-hardware rdma-configd slurmd; systemctl start lab-hardware slurmd
	udevadm settle; systemctl stop rdma-ndd
}
cheap_initramfs() {	# a whole image takes minutes here: one that holds what is looked for in it
	sed -i 's/^MODULES=.*/MODULES=list/; s/^COMPRESS=.*/COMPRESS=gzip/; s/^BUSYBOX=.*/BUSYBOX=n/' /etc/initramfs-tools/initramfs.conf
	echo CONFIG_RD_GZIP=y >"/boot/config-$(uname -r)"
	mv /usr/sbin/mkinitramfs /usr/sbin/mkinitramfs.real
	cat >/usr/sbin/mkinitramfs <<-'X'
	#!/bin/sh
	while [ $# -gt 0 ]; do [ "$1" != -o ] || out=$2; shift; done
	cd / && find etc/modprobe.d etc/modules-load.d etc/udev/rules.d -type f | cpio -o -H newc --quiet >"$out"
	X
	chmod +x /usr/sbin/mkinitramfs
	update-initramfs -c -k "$(uname -r)"
}
# The file systems of storage(), which the hardware's unit mounts at each boot.
MOUNTS="/bin/sh -c 'mountpoint -q /srv/export || mount -o loop /srv/export.img /srv/export; mountpoint -q /srv/back || mount -o loop /srv/back.img /srv/back'"
storage() {	# before hardware: the part that the administrator has beside the document
	local i
	for i in export back; do file_system $i 96M; mount -o loop /srv/$i.img /srv/$i; done
	truncate -s 32M /srv/back/disk.img /srv/back/nvme.img
	nfs_exports
	echo "InitiatorName=iqn.2026-01.org.example:node1" >/etc/iscsi/initiatorname.iscsi
	echo $HOST_NQN >/etc/nvme/hostnqn
	configfs
}

# A new host is brought up in the order in which things need each other, as an administrator would; a boot does the same by itself.
first_stage() {	# SECTION...: all but these
	local s only=()
	for s in $(sed -n 's/^ *\[\[*\([a-z0-9_]*\).*/\1/p' $CONF | sort -u); do
		case " $* " in *" $s "*) ;; *) only+=(--only "$s");; esac
	done
	exits "apply of all but $*" 0 apply --pending-ok "${only[@]}"
}
# The daemon may be at work, too, as interfaces have appeared: it holds the lock meanwhile.
stage() { local s only=(); lab-wait 300 'flock -n /run/rdma-configd.lock true'; for s; do only+=(--only "$s"); done; exits "apply of $*" 0 apply --pending-ok "${only[@]}"; }	# SECTION...
partition_is_up() { ok "the partition is in the table" lab-wait 120 'grep -q 0x8002 /sys/class/infiniband/ibp0s16/ports/1/pkeys/*'; }
holds() {	# the host matches the document, and stays so
	[ "$BOOT" = 1 ] || daemon_holds
	ok "in sync" lab-wait 400 'rdma-configctl diff >/dev/null'
	exits "diff is empty" 0 ctl diff
}

# The result of each step, as the tools of the runbooks tell it.
lid() { ibstat "$1" "$2" | sed -n 's/^[[:space:]]*Base lid: //p'; }	# DEVICE PORT
roce_default() { mkdir "$CM/$1" && echo "$(cat "$CM/$1/ports/1/default_roce_mode") $(cat "$CM/$1/ports/1/default_roce_tos")"; rmdir "$CM/$1"; }	# DEVICE
session_limit() { su - alice -c 'ulimit -l; ulimit -H -l' | xargs; }
service_limit() { sed -n 's/^Max locked memory *\([a-z0-9]*\).*/\1/p' "/proc/$(systemctl show -P MainPID slurmd)/limits"; }
neighbour() {	# GUIDEND ADDRESS CHILD-ADDRESS: another port of the fabric, in a namespace of its own
	local i; i=$(lab-net "$1"); nmcli device set "$i" managed no >/dev/null 2>&1
	ip netns add peer; ip link set "$i" netns peer
	ip -n peer link set "$i" type ipoib mode connected
	ip -n peer link add link "$i" name kid type ipoib pkey 0x8002
	ip -n peer link set "$i" up; ip -n peer link set kid up
	ip -n peer addr add "$2" dev "$i"; ip -n peer addr add "$3" dev kid
}

judge_packages() { step 1; ok "every package is installed" dpkg-query -W "$@"; }	# PACKAGE...
judge_modules() { step 2; local m; for m; do ok "module $m is loaded" test -d "/sys/module/$m"; done; }	# MODULE...
judge_options() {
	step 3
	is "the driver has its option" "$(cat /sys/module/mlx4_core/parameters/num_vfs)" 4
	is "the initramfs holds the options" "$(lsinitramfs "/boot/initrd.img-$(uname -r)" | grep -c 'modprobe.d/rdma-configd-pfc.conf')" 1
}
judge_ipoib() {	# step 4, 20 and 21, which every runbook has
	step 4; is "name of the interface" "$(lab-net b001)" mlx4_ib0
	step 20; is "mode and MTU" "$(mode mlx4_ib0) $(mtu mlx4_ib0)" "connected 65520"
	step 21; is "partition, mode and MTU" "$(pkey mlx4_ib0.8002) $(mode mlx4_ib0.8002) $(mtu mlx4_ib0.8002)" "0x8002 datagram 2044"
	ok "carrier of the partition" wait_carrier mlx4_ib0.8002
}
judge_addresses() {	# STEP: and packets come back
	step "$1"
	has "address" "$(ip -4 -o addr show dev mlx4_ib0)" "inet 192.0.3.1/24"
	has "address of the partition" "$(ip -4 -o addr show dev mlx4_ib0.8002)" "inet 192.0.4.1/24"
	ok "ping" wait_ping 192.0.3.2; ok "ping over the partition" wait_ping 192.0.4.2
}
judge_rdma_name() { step 5; has "RDMA device" "$(rdma link show mlx5_storage/1)" "link mlx5_storage/1"; has "for verbs" "$(ibv_devices)" mlx5_storage; }
judge_memlock() { step 6; is "limit of a login" "$(session_limit)" "unlimited unlimited"; is "limit of the service" "$(service_limit)" unlimited; }
judge_rxe() { step 9; has "the device is over its interface" "$(rdma link show rxe0/1)" "netdev eno1"; }
judge_siw() {	# DOCUMENT: Debian's kernels have no siw; one that has it would take the lab's adapters for its own (docs/LAB.md)
	if modinfo siw >/dev/null 2>&1; then not_here 10 "siw takes the lab's adapters for its own"; return; fi
	step 10; exits "Soft-iWARP on a kernel without siw" 1 ctl diff --config "/suite/docs/runbooks/$1.toml"
	has "the module is named" "$OUT" "the running kernel has no module siw for siw devices"
	is "no link of siw is there" "$(rdma link | grep -c siw)" 0
}
judge_pfc_of_driver() { step 11; is "pfctx, pfcrx" "$(cat /sys/module/mlx4_en/parameters/pfc[rt]x | xargs)" "8 8"; }
judge_pfc() {	# DSCP, or none
	step 12
	has "flow control" "$(dcb pfc show dev ens1f0np0)" "3:on"
	local ets; ets=$(dcb ets show dev ens1f0np0); has "traffic class" "$ets" "3:1"; has "bandwidth" "$ets" "0:50 1:50"
	[ -z "${1:-}" ] || has "DSCP" "$(dcb app show dev ens1f0np0 | tr -s ' ')" "dscp-prio $1"
}
judge_port_types() { step 13; is "port types" "$(cat /sys/bus/pci/devices/0000:00:13.0/mlx4_port[12] | xargs)" "ib eth"; }
judge_manager() {	# PRIORITY: 14, and 16 where the runbook has it
	step 14; is "it starts at boot" "$(systemctl is-enabled opensm)" enabled
	ok "a master of this host" lab-wait 120 'sminfo -C ibp0s16 -P 1 | grep -q "sm guid 0x2c90300a0b001, .*MASTER"'
	[ -z "${1:-}" ] || { step 16; has "its priority" "$(sminfo -C ibp0s16 -P 1)" "priority $1 "; }
}
judge_second_subnet() { step 15; ok "a master in the second subnet" lab-wait 120 'sminfo -C ibp0s17 -P 1 | grep -q "sm guid 0x2c90300a0b011, .*MASTER"'; }
judge_partitions() { step 17; has "the port's table" "$(smpquery -C ibp0s16 -P 1 pkeys "$(lid ibp0s16 1)" 1)" 0x8002; }
opensm_read() { lab-wait 30 "grep -hs '$1' /var/log/opensm*.log || journalctl -u 'opensm@*' -o cat --no-pager | grep '$1'"; }	# TEXT
judge_opensm_options() { step 18; ok "OpenSM has read the option" opensm_read "max_wire_smps = 7"; }
judge_ndd() { step 27; is "the service runs" "$(systemctl is-active rdma-ndd)" active; has "and has told the host's name" "$(cat /sys/class/infiniband/ibp0s16/node_desc)" "$(uname -n)"; }
judge_nfs() {
	step 28; has "the server's file" "$(nfsconf --get nfsd rdma-port)" 20049; ok "it listens" grep -q '^rdma 20049$' /proc/fs/nfsd/portlist
	step 29
	ok "it is mounted" lab-wait 240 'findmnt -rn /scratch'; has "over RDMA" "$(findmnt -rno OPTIONS /scratch)" proto=rdma
	[ "$BOOT" = 1 ] || is "the data of before the boot" "$(sha256sum </scratch/data)" "$(cat /root/nfs.sum)"
	ok "data are written" sh -c 'head -c 2M /dev/urandom >/scratch/data && sync -f /scratch'
	sha256sum </scratch/data >/root/nfs.sum; is "and are on the server" "$(sha256sum </srv/export/data)" "$(cat /root/nfs.sum)"
}
judge_nvme() {
	step 30; has "the target is offered" "$(nvme discover -t rdma -a 192.0.2.1 -s 4420 -q $HOST_NQN)" "$NQN"
	step 31; ok "the host is connected" lab-wait 240 "nvme list-subsys | grep -A3 $NQN | grep -q live"
	judge_disk nvme "$(basename "$(ls /dev/nvme*n1 | head -1)")"
}
judge_lio() {
	step 33; has "the iSER target is offered" "$(iscsiadm -m discovery -t st -p 192.0.2.1 -I iser -o nonpersistent)" "192.0.2.1:3260,1 $IQN"
	is "by iSER, too" "$(cat /sys/kernel/config/target/iscsi/$IQN/tpgt_1/np/192.0.2.1:3260/iser)" 1
	is "the SRP target is enabled" "$(cat /sys/kernel/config/target/srpt/0xfe800000000000000002c90300a0b001/tpgt_1/enable)" 1
}
judge_iser() {
	step 34; ok "the host is logged in" lab-wait 400 "iscsiadm -m session | grep -q '^iser: .* 192.0.2.1:3260,1 $IQN '"
	lab-wait 60 'ls /sys/class/iscsi_session/*/device/target*/*/block/*'
	judge_disk iser "$(basename "$(ls -d /sys/class/iscsi_session/*/device/target*/*/block/* | head -1)")"
}
judge_disk() {	# NAME BLOCK-DEVICE: its data are those of the boot before
	ok "$1: there is a disk" test -b "/dev/$2"
	[ "$BOOT" != 1 ] || { head -c 2M /dev/urandom >"/root/$1.data"; ok "$1: data are written" dd if="/root/$1.data" of="/dev/$2" bs=1M oflag=direct status=none; }
	is "$1: data are read" "$(dd if="/dev/$2" bs=1M count=2 iflag=direct status=none | sha256sum)" "$(sha256sum <"/root/$1.data")"
}
judge_srp() {	# the simulated adapters have no queues for programs: srp_daemon reads its rules, opens the port, and ends
	local device rules=/etc/rdma/srp_daemon.conf
	step 32; is "srp_daemon" "$(systemctl is-enabled srp_daemon) $(systemctl is-active srp_daemon)" "enabled active"
	for device in $(ibstat -l); do grep -q InfiniBand "/sys/class/infiniband/$device/ports/1/link_layer" && break; done
	# On any port: udev may handle a port's umad before rdma-core has renamed the device, and then the unit of its new name waits.
	ok "it is started on a port" lab-wait 90 "journalctl -b -o cat -u 'srp_daemon_port@*' | grep -q Started"
	journalctl -b -o cat -u 'srp_daemon_port@*' | grep -q Started || systemctl list-units --all --no-legend 'sys-subsystem-rdma*' 'srp_daemon*'
	has "its rules are ours" "$(systemctl cat srp_daemon_port@$device:1)" "$rules:/etc/srp_daemon.conf"
	has "which say" "$(cat $rules)" "a ioc_guid=00a0b80200402bef,queue_size=128"
	has "it takes our rules" "$(timeout 60 srp_daemon -o -c -v -f $rules -i "$device" -p 1 2>&1)" ": $rules"
	{ cat $rules; echo "a ioc_guid=zz"; } >/tmp/srp_rules
	hasnt "and no wrong one" "$(timeout 60 srp_daemon -o -c -v -f /tmp/srp_rules -i "$device" -p 1 2>&1)" ": /tmp/srp_rules"
}
judge_look() {	# `show` beside ibstat and ibv_devinfo
	step 35
	local show dev; show=$(ctl show --json)
	for dev in $(jq -r '.devices[] | select(.ports[0].link_layer == "InfiniBand") | .name' <<<"$show"); do
		is "ibstat $dev: port GUIDs" "$(jq -r ".devices[] | select(.name == \"$dev\") | .ports[] | select(.link_layer == \"InfiniBand\") | .guid" <<<"$show" | tr -d : | sed 's/^/0x/' | xargs)" \
			"$(ibstat "$dev" | awk '/Port GUID:/ { guid = $3 } /Link layer: InfiniBand/ { print guid }' | xargs)"
		is "ibstat $dev: states" "$(jq -r ".devices[] | select(.name == \"$dev\") | .ports[].state" <<<"$show" | tr A-Z a-z | xargs)" \
			"$(ibstat "$dev" | sed -n 's/^[[:space:]]*State: //p' | tr A-Z a-z | xargs)"
		is "ibv_devinfo $dev: firmware" "$(jq -r ".devices[] | select(.name == \"$dev\") | .firmware" <<<"$show")" \
			"$(ibv_devinfo -d "$dev" | sed -n 's/^[[:space:]]*fw_ver:[[:space:]]*//p')"
	done
}
judge_fabric() {	# `fabric` beside infiniband-diags
	step 36
	local fabric; fabric=$(ctl fabric --from ibp0s16/1 --json)
	is "ibhosts" "$(jq .summary.hosts <<<"$fabric")" "$(ibhosts -C ibp0s16 -P 1 | grep -c '^Ca')"
	is "ibswitches" "$(jq .summary.switches <<<"$fabric")" "$(ibswitches -C ibp0s16 -P 1 | grep -c '^Switch')"
	is "sminfo" "$(jq -r '.managers[0].port_guid' <<<"$fabric" | tr -d : | sed 's/^0*/0x/')" "$(sminfo -C ibp0s16 -P 1 | sed 's/.*sm guid \(0x[0-9a-f]*\),.*/\1/')"
}
judge_trial() {	# the runbooks' tries, and `verify` in their place
	step 37
	ibping -S -C ibp0s16 -P 2 >/dev/null 2>&1 & local server=$! gid
	lab-wait 30 "timeout 60 ibping -c 1 -C ibp0s16 -P 1 $(lid ibp0s16 2) | grep -q ' 0% packet loss'"
	has "ibping" "$(timeout 60 ibping -c 3 -C ibp0s16 -P 1 "$(lid ibp0s16 2)")" " 0% packet loss"
	kill $server
	exits "verify in its place" 0 ctl verify --mad "$(lid ibp0s16 2)" --from ibp0s16/1
	timeout 120 rping -s -a 192.0.2.1 -C 3 >/dev/null 2>&1 & server=$!
	lab-wait 10 'rdma resource show cm_id | grep -q "LISTEN.*rping"'; ok "rping" timeout 60 rping -c -a 192.0.2.1 -C 3 -v; wait $server
	gid=$(grep -l ':ffff:c000:0201$' /sys/class/infiniband/rxe0/ports/1/gids/* | sed 's,.*/,,' | head -1)
	timeout 120 ibv_rc_pingpong -d rxe0 -g "$gid" -n 100 >/dev/null 2>&1 & server=$!
	lab-wait 10 'ss -Hltn "sport = :18515" | grep -q .'; ok "ibv_rc_pingpong" timeout 60 ibv_rc_pingpong -d rxe0 -g "$gid" -n 100 192.0.2.1; wait $server
	timeout 120 rdma-configctl verify --server --once --to 192.0.2.1 >/tmp/server 2>&1 & server=$!
	lab-wait 90 'grep -q listening /tmp/server'
	exits "verify in their place" 0 timeout 60 rdma-configctl verify --client 192.0.2.1 --count 10; wait $server
	exits "verify in the place of ping" 0 ctl verify --ipoib mlx4_ib0 --to 192.0.3.2
}
judge_counters() {
	step 39
	echo "errors mlx4_0 1 7" >/proc/fake_hca
	is "perfquery" "$(perfquery -C ibp0s16 -P 1 | sed -n 's/^SymbolErrorCounter:\.*//p')" 7
	is "show counters" "$(ctl show counters --json | jq '.devices[] | select(.name == "ibp0s16") | .ports[0].counters.symbol_error')" 7
	echo "errors mlx4_0 1 0" >/proc/fake_hca
	is "rdma statistic" "$(ctl show counters --json | jq '.devices[] | select(.name == "rxe0") | .ports[0].counters.duplicate_request')" \
		"$(rdma -j statistic show link rxe0/1 | jq '.[0].duplicate_request')"
}
