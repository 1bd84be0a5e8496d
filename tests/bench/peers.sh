# SPDX-License-Identifier: Apache-2.0
# Runs in the full guest after measure.sh: N P_Key interfaces by each of four programs, RUNS rounds of one after the other.
systemctl mask -q --runtime --now rdma-configd.service
systemctl mask -q --runtime systemd-networkd-wait-online.service
systemctl stop NetworkManager systemd-networkd.socket systemd-networkd 2>/dev/null
lab-load ib:mlx4_0:1 pkeys=$((N + 2)) || { echo "the adapter cannot be loaded"; exit 1; }
p=$(lab-net b001) || exit 1
ip link set "$p" up; sleep 1
mtu=2044
child() { printf '%s.%04x' "$p" $((0x8000 + $1)); }
address() { echo "10.$((1 + $1 / 250)).$(($1 % 250)).1/24"; }

# ---- the same by each program
document() {	# CHILDREN
	printf 'version = 1\n[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nbackend = "direct"\n'
	local i
	for ((i = 1; i <= $1; i++)); do
		printf '[[ipoib.pkey]]\npkey = 0x%x\nmode = "datagram"\nmtu = %d\nipv4 = { addresses = ["%s"] }\n' $((0x8000 + i)) $mtu "$(address $i)"
	done
}
mkdir -p /tmp/networkd /tmp/nm /etc/NetworkManager/conf.d
document "$N" >/tmp/full.toml; document 0 >/tmp/none.toml
: >/tmp/by-one; : >/tmp/added; : >/tmp/set; : >/tmp/removed; children=()
bare_network="[Match]
Name=$p
[Network]
LinkLocalAddressing=no
IPv6AcceptRA=no
ConfigureWithoutCarrier=yes"
echo "$bare_network" >/tmp/networkd/10-port.network
for ((i = 1; i <= N; i++)); do
	c=$(child $i) a=$(address $i); children+=("$c")
	add=$(printf 'link add link %s name %s type ipoib pkey 0x%x' "$p" "$c" $((0x8000 + i)))
	set=$(printf 'link set %s mtu %d\naddr add %s dev %s\nlink set %s up' "$c" $mtu "$a" "$c" "$c")
	printf '%s\n%s\n' "$add" "$set" >>/tmp/by-one; echo "$add" >>/tmp/added; echo "$set" >>/tmp/set; echo "link del $c" >>/tmp/removed
	echo "IPoIB=$c" >>/tmp/networkd/10-port.network
	printf '[NetDev]\nName=%s\nKind=ipoib\n[IPoIB]\nPartitionKey=%d\nMode=datagram\n' "$c" $((0x8000 + i)) >"/tmp/networkd/20-$c.netdev"
	printf '[Match]\nName=%s\n[Link]\nMTUBytes=%d\n[Network]\nAddress=%s\nLinkLocalAddressing=no\nIPv6AcceptRA=no\nConfigureWithoutCarrier=yes\n' \
		"$c" $mtu "$a" >"/tmp/networkd/20-$c.network"
	printf '[connection]\nid=%s\nuuid=00000000-0000-4000-8000-%012x\ntype=infiniband\ninterface-name=%s\n[infiniband]\nmtu=%d\np-key=%d\nparent=%s\ntransport-mode=datagram\n[ipv4]\nmethod=manual\naddress1=%s\n[ipv6]\nmethod=disabled\n' \
		"$c" $i "$c" $mtu $((0x8000 + i)) "$p" "$a" >"/tmp/nm/bench-$c.nmconnection"
done
cat /tmp/added /tmp/set >/tmp/phases
chmod 600 /tmp/nm/*
printf '[device-bench]\nmatch-device=interface-name:*\nignore-carrier=yes\n' >/etc/NetworkManager/conf.d/bench.conf
profiles=/etc/NetworkManager/system-connections

# ---- whether all is there
kids() { local all=("/sys/class/net/$p".*); if [ -e "${all[0]}" ]; then echo ${#all[@]}; else echo 0; fi; }
complete() {	# each with its MTU, up and with its address
	local f m
	[ "$(kids)" = "$N" ] || return 1
	for f in "/sys/class/net/$p".*/mtu; do { read -r m <"$f" && [ "$m" = $mtu ]; } 2>/dev/null || return 1; done
	[ "$(ip -4 -o addr show up | grep -c ": $p\.[0-9a-f]*  *inet 10\.")" = "$N" ]
}
gone() { [ "$(kids)" = 0 ]; }
await() {	# CONDITION
	local end=$((SECONDS + 600))
	until "$1"; do [ $SECONDS -lt $end ] || { echo "not $1 in 600 s: $(kids) of $N interfaces"; return 1; }; sleep .1; done
}
check() { "$2" || echo "$1: not $2 when the command had ended: $(kids) of $N interfaces"; }	# NAME CONDITION
clear() {	# without traces of the run before
	gone || ip -force -batch /tmp/removed 2>/dev/null
	ip link set "$p" up
}

# ---- each program
ctl() {	# DOCUMENT; 5: something is waiting, such as for carrier
	local rc=0
	rdma-configctl --config "$1" apply --yes || rc=$?
	[ $rc = 0 ] || [ $rc = 5 ]
}
forget() {	# the host knows nothing of rdma-configd
	local folder
	for folder in /etc/udev/rules.d /etc/systemd/network /etc/systemd/system "$profiles" /etc/NetworkManager/conf.d /etc/modprobe.d /etc/modules-load.d /etc/sysctl.d; do
		[ ! -d "$folder" ] || find "$folder" -name '*rdma-configd*' -type f -delete
	done
	rm -rf /var/lib/rdma-configd
	udevadm control --reload; udevadm trigger --subsystem-match=net --action=change; udevadm settle
	clear
}
networkd_make() { networkctl reload && await complete; }
networkd_remove() { networkctl delete "${children[@]}" && await gone; }
nm_make() { nmcli connection load "$profiles"/bench-*.nmconnection && await complete; }
nm_remove() { nmcli --wait 600 connection delete "${children[@]}" && await gone; }
manager() {	# it has seen the port
	systemctl start NetworkManager
	lab-wait 60 "nmcli -t -f DEVICE device | grep -qx '$p'" || echo "NetworkManager does not see $p"
}
port_profile() {	# P_Key interfaces of NetworkManager are over a port that is NetworkManager's
	nmcli connection add type infiniband con-name bench-port ifname "$p" transport-mode datagram ipv4.method disabled ipv6.method disabled >/dev/null
	nmcli connection up bench-port >/dev/null || echo "NetworkManager does not take the port"
}

direct_round() {
	systemctl stop NetworkManager systemd-networkd.socket systemd-networkd 2>/dev/null
	ctl /tmp/none.toml >/dev/null 2>&1	# the file that says whose the port is, so that it is not new
	run ours_make ctl /tmp/full.toml; check ours_make complete
	run ours_noop ctl /tmp/full.toml
	run ip_dump ip -d link
	run ours_remove ctl /tmp/none.toml; check ours_remove gone; clear
	run ip_make_one_by_one ip -batch /tmp/by-one; check ip_make_one_by_one complete
	run ip_remove ip -batch /tmp/removed; check ip_remove gone; clear
	run ip_make_in_phases ip -batch /tmp/phases; check ip_make_in_phases complete
	clear
	forget
}
networkd_round() {
	echo "$bare_network" >/etc/systemd/network/10-port.network
	systemctl start systemd-networkd
	lab-wait 60 "networkctl --no-legend list '$p' | grep -q configured"
	cp /tmp/networkd/* /etc/systemd/network/
	run networkd_make networkd_make
	run networkd_remove networkd_remove
	rm -f /etc/systemd/network/10-port.network /etc/systemd/network/20-"$p".*
	systemctl stop systemd-networkd.socket systemd-networkd 2>/dev/null
	clear
}
manager_round() {
	manager
	run ip_make_in_phases_beside_manager ip -batch /tmp/phases; check ip_make_in_phases_beside_manager complete
	clear
	run ours_first_make ctl /tmp/full.toml; check ours_first_make complete
	ctl /tmp/none.toml >/dev/null 2>&1
	systemctl stop NetworkManager
	forget
	manager
	port_profile
	cp /tmp/nm/* "$profiles/"
	run manager_make nm_make
	run manager_remove nm_remove
	rm -f "$profiles"/bench-*
	systemctl stop NetworkManager
	clear
}

echo "full guest, $(. /etc/os-release; echo "$PRETTY_NAME"), kernel $(uname -r), $(nproc) processors; $N P_Key interfaces, $RUNS interleaved runs"
for ((r = 1; r <= RUNS; r++)); do direct_round; networkd_round; manager_round; done
echo
for t in ours_make ours_first_make ip_make_one_by_one ip_make_in_phases ip_make_in_phases_beside_manager networkd_make manager_make \
	ours_remove ip_remove networkd_remove manager_remove ours_noop ip_dump; do stat $t; done
printf '\n%-66s %8s %6s\n' "ratio of the medians" measured goal
goal "creation, against ip interface by interface" ours_make ip_make_one_by_one -
goal "creation, against ip in phases" ours_make ip_make_in_phases 0.8
goal "creation, against systemd-networkd" ours_make networkd_make 0.3
goal "creation, against NetworkManager" ours_make manager_make 0.3
goal "first apply beside NetworkManager, against ip in phases" ours_first_make ip_make_in_phases 0.8
goal "first apply beside NetworkManager, against ip in phases beside it" ours_first_make ip_make_in_phases_beside_manager 0.8
goal "removal, against ip" ours_remove ip_remove 0.6
goal "removal, against systemd-networkd" ours_remove networkd_remove -
goal "removal, against NetworkManager" ours_remove manager_remove -
goal "an apply with nothing to do, against one ip -d link" ours_noop ip_dump 2
