# docs/RUNBOOK.md: in each section the steps by hand, then an apply of the document, which finds the running system as it wants it.
# nightly: it takes minutes
# lab: --full --timeout 1800
# tree: full
D=/suite/docs
systemctl disable -q --now NetworkManager opensm 2>/dev/null; systemctl start systemd-resolved
printf '[Service]\nExecStart=/bin/sleep 100000\n' >/etc/systemd/system/slurmd.service; systemctl daemon-reload; systemctl start slurmd
getent group rdma >/dev/null || groupadd -r rdma; useradd -m -G rdma alice
update-initramfs() { :; }	# takes minutes here, and has a scenario of its own
section() { awk -v title="$1" '/^## / { in_it = $0 == "## " title } in_it' $D/RUNBOOK.md | sed 's/0000:10:00\.0/0000:00:10.0/'; }
blocks() { awk -v fence="\`\`\`$1" '/^```/ { if (inside) print "\001"; inside = !inside && $0 == fence; next } inside' | awk -v RS='\001\n' -v n="$2" 'NR == n'; }	# LANGUAGE NUMBER
CM=/sys/kernel/config/rdma_cm
live() {	# the running system, without names of protocols that routes are said to be from
	picture | sed 's/ proto [a-z]*//; s/ pref medium//' | grep -v fe80
	rdma -j dev | jq -r '.[].ifname' | sort; rdma link | awk '/rxe/ { print $2, $NF }'
	for d in $(rdma -j dev | jq -r '.[].ifname'); do mkdir $CM/$d 2>/dev/null || continue; echo "$d $(cat $CM/$d/ports/1/default_roce_*)"; rmdir $CM/$d; done
	[ ! -e /sys/class/net/ens1f0np0 ] || { dcb pfc show dev ens1f0np0; dcb ets show dev ens1f0np0; dcb app show dev ens1f0np0; } | grep -v '^$'
	grep -H . /sys/bus/pci/devices/*/mlx4_port*
	grep -H . /sys/module/mlx4_en/parameters/pfc* /sys/module/mlx4_core/parameters/num_vfs 2>/dev/null; ls -d /sys/module/ib_umad 2>/dev/null
	grep -H . /proc/sys/net/ipv4/conf/*/{arp_ignore,arp_announce,rp_filter} | grep -v /v[01]/
	su - alice -c 'ulimit -l'; grep locked "/proc/$(systemctl show -P MainPID slurmd)/limits"
	resolvectl dns mlx4_ib0; resolvectl domain mlx4_ib0
	systemctl is-active opensm opensm@0x0002c903003178f2; sort -u /sys/class/infiniband/mlx4_0/ports/1/pkeys/*
} 2>/dev/null
fresh() {	# DEVICES: new adapters, and nothing of the section before
	printf 'version = 1\n' | conf; apply --pending-ok >/dev/null 2>&1
	rdma link delete rxe0 2>/dev/null; ip link delete eno1 2>/dev/null
	rm -f /etc/rdma/mlx4.conf /etc/udev/rules.d/{60,70}-* /etc/modprobe.d/mlx4* /etc/modules-load.d/* /etc/security/limits.d/* /etc/sysctl.d/90-*
	rm -rf /etc/systemd/system/slurmd.service.d; systemctl daemon-reload; systemctl restart slurmd; udevadm control --reload
	systemctl stop opensm 'opensm@*' 2>/dev/null
	modprobe -r mlx4_en mlx4_core 2>/dev/null; modprobe -r ib_umad 2>/dev/null
	rmmod fake_hca 2>/dev/null; lab-load "$@" || exit 1; udevadm settle
	for f in /sys/class/net/*; do
		case ${f##*/} in lo) continue;; esac
		if grep -q '00:02:c9:03:00:31:78:f2$' $f/address 2>/dev/null; then ib=${f##*/}
		elif [ "$(cat $f/type)" = 1 ] && [ -d $f/device/infiniband ]; then
			ip link set "${f##*/}" down; ip link set "${f##*/}" name ens1f0np0; ip link set ens1f0np0 up
			rdma dev set "$(ls $f/device/infiniband /sys/class/net/ens1f0np0/device/infiniband 2>/dev/null | tail -1)" name mlx5_0
		fi
	done
}
joined() { local i; for i in $(ip -o link show up type ipoib | sed 's/^[0-9]*: //; s/[@:].*//'); do wait_carrier "$i"; done; }
section_is() {	# TITLE NUMBER [PENDING_OK]
	local steps document before by_hand
	steps=$(section "$1" | blocks sh "$2"); document=$(section "$1" | blocks toml "$2")
	[ -n "$steps" ] && [ -n "$document" ] || { fail "$1: it has steps and a document"; return; }
	before=$(live)
	OUT=$(set -eE; trap 'echo "failed: $BASH_COMMAND"' ERR; eval "$steps" 2>&1) || { fail "$1: by hand" "$OUT"; return; }
	pass "$1 ($2): by hand"; udevadm settle; joined; sleep 3
	by_hand=$(live)
	if [ "$before" = "$by_hand" ]; then fail "$1 ($2): the steps do something" "$before"; fi
	rm -f /etc/opensm/partitions.conf	# as the text says
	{ echo "$document"; printf '[initramfs]\npolicy = "report"\n'; } | conf
	applies "$1 ($2): the document" ${3:-}; said=$OUT; joined
	if [ "$(live)" = "$by_hand" ]; then pass "$1 ($2): the running system is as by hand"; else fail "$1 ($2): the running system is as by hand" "$(diff <(echo "$by_hand") <(live)); echo "$said")"; fi
}
ports() { fresh devs=ib:mlx4_0:2 guid_base=0x0002c903003178f1; }
named() { ports; ip link set "$ib" down; ip link set "$ib" name mlx4_ib0; }
ports; section_is "Name an IPoIB interface" 1
named; section_is "Connected mode and MTU" 1
named; section_is "A partition (P_Key interface)" 1
named; section_is "Addresses" 1
ports; section_is "Name RDMA devices" 1
fresh roce:mlx5_0:1; section_is "RoCE v2 as default, and its ToS" 1
ports; section_is "Lossless Ethernet (PFC)" 1
fresh roce:mlx5_0:1; section_is "Lossless Ethernet (PFC)" 2
ports; section_is "Locked memory" 1 --pending-ok
ports; section_is "Kernel modules" 1
ports; ip link add eno1 type veth peer name v1; ip link set eno1 up; section_is "Soft-RoCE" 1
fresh devs=ib:mlx4_0:2 guid_base=0x0002c903003178f1 sm=external; section_is "A subnet manager" 1
named; section_is "Several rails in one subnet" 1
ports; section_is "ConnectX-3: port types" 1
is "every section with steps was run" "$(grep -c '^```sh' $D/RUNBOOK.md)" 14
