# Transport modes and MTUs, limits of adapters, and limits of the fabric.
# nightly: CI has time for the core and the daemon
# lab: --snap
systemctl stop NetworkManager; no_daemon
lab-load ib:mlx4_0:2 eib:mlx5_0:1 || exit 1
a=$(lab-net b001) e=$(lab-net b011)
set_to() { printf '[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:%s"\n%s\n' "$1" "$2" | conf; }
set_to 01 $'mode = "connected"'; exits "connected" 0 apply; is "mode" "$(mode $a)" connected; is "mtu follows by itself" "$(mtu $a)" 65520
no_writes "again"
set_to 01 $'mode = "datagram"\nmtu = 4092'; exits "datagram 4092" 0 apply; is "mode" "$(mode $a)" datagram; is "mtu" "$(mtu $a)" 4092
set_to 01 $'mode = "connected"\nmtu = 65520'; exits "connected 65520" 0 apply; is "mtu" "$(mtu $a)" 65520
set_to 01 $'mode = "connected"\nmtu = 2044\numcast = true'; exits "connected 2044, umcast" 0 apply; is "mtu" "$(mtu $a)" 2044; is "umcast" "$(cat /sys/class/net/$a/umcast)" 1
set_to 01 $'mode = "datagram"\nmtu = 2044\numcast = false'; exits "datagram 2044" 0 apply; is "mtu" "$(mtu $a)" 2044
wait_carrier $a; was=$(picture)
set_to 01 $'mode = "datagram"\nmtu = 65520'; exits "65520 in datagram mode" 1 apply; has "says where" "$OUT" "config.toml:5:"; has "says why" "$OUT" "only possible in connected mode"
set_to 01 $'mtu = 65520'; exits "65520 without a mode" 1 apply; has "says what to add" "$OUT" 'mode = "connected"'
set_to 01 $'mode = "datagram"\nmtu = 4093'; exits "4093 on a 4096 link" 1 apply; has "says the limit" "$OUT" 4092
set_to 01 $'mtu = 65521'; exits "65521" 1 apply
set_to 01 $'mtu = 60'; exits "60" 1 apply
set_to 11 $'mode = "connected"\nmtu = 65520'; exits "connected without the hardware" 1 apply; has "says so" "$OUT" "does not support connected mode"; has "and what to do" "$OUT" 'on_unsupported = "datagram"'
is "nothing changed" "$(picture)" "$was"
set_to 11 $'mode = "connected"\nmtu = 65520\non_unsupported = "datagram"'; exits "on_unsupported" 0 apply; is "mode" "$(mode $e)" datagram; is "mtu" "$(mtu $e)" 4092
no_writes "again"
# The fabric's multicast group has 2048: the kernel says yes and does 2044.
rmmod fake_hca; lab-load ib:mlx4_0:1; a=$(lab-net b001)
echo "mcmtu mlx4_0 1 2048" > /proc/fake_hca 2>/dev/null || echo "mcmtu $(ls /sys/class/infiniband) 1 2048" > /proc/fake_hca
set_to 01 $'mode = "datagram"\nmtu = 4092'; exits "limited by the fabric" 5 apply; has "says by what" "$OUT" "multicast group"; is "mtu" "$(mtu $a)" 2044
exits "limited is 0 with --pending-ok" 0 apply --pending-ok
no_writes "not tried again" 5
echo "mcmtu $(ls /sys/class/infiniband) 1 4096" > /proc/fake_hca; sleep 2	# the kernel joins the group again, at a moment of its own
ok "tried again when asked" lab-wait 60 'rdma-configctl apply --yes --retry'; is "mtu" "$(mtu $a)" 4092
# Up and down
set_to 01 $'state = "down"'; exits "down" 0 apply; is "is down" "$(cat /sys/class/net/$a/operstate)" down
set_to 01 $'state = "up"'; exits "up" 0 apply; ok "is up" wait_carrier $a
m=$(mtu $a); set_to 01 $'state = "ignore"\nmtu = 1500'; exits "ignore" 0 apply; is "untouched" "$(mtu $a)" "$m"
set_to 01 $'state = "absent"'; exits "a port's interface cannot be absent" 1 apply
