# The daemon over a host's life: a name that comes late, a crash beside a half-edited document, who waits for it, groups.
# nightly: the CI's 75 has the rest
# lab: --full --timeout 900
# tree: full
unnamed() { hostname localhost; : >/etc/hostname; }
unnamed
conf <<X1
[match]
host = "gpu*"
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "mlx4_ib0"
backend = "direct"
ipv4 = { addresses = ["192.0.2.1/24"] }
[[memlock]]
domain = "@mpi"
limit = "unlimited"
X1
lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
ok "the service is active" lab-wait 90 'systemctl -q is-active rdma-configd.service'
ok "it says why it waits" lab-wait 60 'systemctl show -p StatusText rdma-configd | grep -q "no name"'
ok "nothing is named yet" test ! -e /sys/class/net/mlx4_ib0
exits "an apply now" 1 apply
hostname gpu007
ok "the name comes: configured" lab-wait 90 'ip -4 addr show dev mlx4_ib0 2>/dev/null | grep -q 192.0.2.1/24'
ok "the daemon has made the group" lab-wait 30 'getent group mpi'
ok "idle" lab-wait 60 '[ "$(busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State)" = "s \"idle\"" ]'
exits "online" 0 ctl wait-online --timeout 60
ok "the target is reached" timeout 90 systemctl start rdma-configd-online.target
unnamed
systemctl restart rdma-configd
ok "without its name it is held to what it was" lab-wait 60 'ip -4 addr show dev mlx4_ib0 | grep -q 192.0.2.1/24'
ok "and the rules are there" grep -q mlx4_ib0 /etc/udev/rules.d/70-rdma-configd-ipoib.rules
hostname gpu007
ok "degraded no more" lab-wait 60 '[ "$(busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State)" = "s \"idle\"" ]'

# A crash is not a boot: a file that somebody is just writing is not applied.
cp $CONF /tmp/whole
sed -i '/^ipv4/d' $CONF
was=$(systemctl show -p NRestarts --value rdma-configd)
kill -9 "$(systemctl show -p MainPID --value rdma-configd)"
ok "started again" lab-wait 60 "[ \$(systemctl show -p NRestarts --value rdma-configd) != $was ] && systemctl -q is-active rdma-configd"
sleep 5
ok "the half-edited document is not applied" sh -c 'ip -4 addr show dev mlx4_ib0 | grep -q 192.0.2.1/24'
systemctl reload rdma-configd
ok "a reload applies it" lab-wait 60 '! ip -4 addr show dev mlx4_ib0 | grep -q 192.0.2.1/24'
cp /tmp/whole $CONF
exits "apply" 0 apply

# drift = "report": neither a crash nor a restart is a reason to repair; new resources are made.
conf <<'X'
[daemon]
drift = "report"
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "mlx4_ib0"
mtu = 2044
X
exits "drift = report" 0 apply
was=$(mtu mlx4_ib0)
ip link set mlx4_ib0 mtu 1800
drifted() { journalctl -u rdma-configd -o cat --no-pager | grep -c 'drifted: ipoib mlx4_ib0: mtu'; }
ok "drift is reported" lab-wait 60 "journalctl -u rdma-configd -o cat --no-pager | grep -q 'drifted: ipoib mlx4_ib0: mtu'"
for how in kill restart; do
	n=$(drifted)
	case $how in
	kill)
		was_restarts=$(systemctl show -p NRestarts --value rdma-configd)
		kill -9 "$(systemctl show -p MainPID --value rdma-configd)"
		ok "$how: started again" lab-wait 60 "[ \$(systemctl show -p NRestarts --value rdma-configd) != $was_restarts ] && systemctl -q is-active rdma-configd";;
	restart) ok "$how" systemctl restart rdma-configd;;
	esac
	ok "$how: it is reported again" lab-wait 60 "[ \$(journalctl -u rdma-configd -o cat --no-pager | grep -c 'drifted: ipoib mlx4_ib0: mtu') -gt $n ]"
	sleep 2
	is "$how: the MTU stays" "$(mtu mlx4_ib0)" 1800
done
rmmod fake_hca; lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
ok "a driver reload is not drift" lab-wait 90 "test \"\$(cat /sys/class/net/mlx4_ib0/mtu)\" = $was"
wait_carrier mlx4_ib0; cp /tmp/whole $CONF
exits "apply" 0 apply

# Verbs devices beyond the 32 with a number of their own are asked for their MTU like any other.
rmmod fake_hca
for i in $(seq 0 33); do ip link add "dummy$i" type dummy && ip link set "dummy$i" up && rdma link add "rxe$i" type rxe netdev "dummy$i"; done 2>/tmp/out || fail "34 devices" "$(cat /tmp/out)"
lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
ib=$(basename "$(readlink -f "/sys/class/net/$(lab-net 78f2)/device/infiniband"/*)")
verbs=$(grep -lx "$ib" /sys/class/infiniband_verbs/uverbs*/ibdev); verbs=${verbs%/ibdev}; verbs=${verbs##*/uverbs}
ok "the adapter is uverbs$verbs" test "$verbs" -ge 32
ok "the daemon asks it for its MTU" lab-wait 60 "rdma-configctl show --json | jq -e '.. | objects | select(.mtu_max? == 4096)'"
