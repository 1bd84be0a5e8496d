# Limits of a login and of a service, units over D-Bus, kernel settings live and in their file; taken back again.
# nightly: CI has time for the core and the daemon
# lab: --snap
systemctl stop NetworkManager
lab-load ib:mlx4_0:1 || exit 1
i=$(lab-net b001)
printf '[Service]\nExecStart=/bin/sleep 1000\n' >/etc/systemd/system/worker.service
printf '[Service]\nExecStart=/bin/sleep 1000\n' >/etc/systemd/system/helper.service
systemctl daemon-reload; systemctl start worker; systemctl stop iwpmd srp_daemon 2>/dev/null; systemctl disable -q srp_daemon 2>/dev/null
limit() { sed -n 's/^Max locked memory *\([a-z0-9]*\).*/\1/p' "/proc/$(systemctl show -P MainPID worker)/limits"; }
document() { cat <<X
version = 1
[[memlock]]
domain = "@rdma"
limit = "unlimited"
units = ["worker"]
$1
[[service]]
name = "helper"
running = true
[[service]]
name = "srp_daemon"
enabled = true
running = true
[[sysctl]]
interface = "$i"
arp_ignore = 1
arp_announce = 2
rp_filter = 2
[[sysctl]]
key = "net.ipv4.neigh.default.gc_thresh3"
value = 8192
X
}
document | conf
gc=$(cat /proc/sys/net/ipv4/neigh/default/gc_thresh3) was=$(limit) srp=$(systemctl is-enabled srp_daemon) rp=$(cat /proc/sys/net/ipv4/conf/$i/rp_filter)
exits "diff" 2 ctl diff
exits "apply, with a restart pending" 5 apply; has "says which" "$OUT" "restart of worker.service is needed"
is "the worker runs on" "$(limit)" "$was"
exits "diff says the same" 5 ctl diff
no_writes "second apply" 5
document 'restart = true' | conf; exits "apply with restart" 0 apply
is "limit of the service" "$(limit)" unlimited
is "systemd has read it" "$(systemctl show -P NeedDaemonReload worker)" no
ok "group" getent group rdma
useradd -m alice; usermod -aG rdma alice
is "limit at login" "$(su - alice -c 'ulimit -l; ulimit -H -l' | xargs)" "unlimited unlimited"
is "a unit without [Install] runs" "$(systemctl is-active helper)" active
is "srp_daemon" "$(systemctl is-enabled srp_daemon) $(systemctl is-active srp_daemon)" "enabled active"
is "live" "$(cat /proc/sys/net/ipv4/conf/$i/{arp_ignore,arp_announce,rp_filter} /proc/sys/net/ipv4/neigh/default/gc_thresh3 | xargs)" "1 2 2 8192"
echo 0 >/proc/sys/net/ipv4/conf/$i/arp_ignore; /lib/systemd/systemd-sysctl; is "systemd-sysctl reads our file" "$(cat /proc/sys/net/ipv4/conf/$i/arp_ignore)" 1
exits "in sync" 0 ctl diff; no_writes "third apply"
echo 'version = 1' | conf; exits "taken back" 0 apply
is "no drop-in" "$(ls /etc/systemd/system/worker.service.d 2>/dev/null)" ""
is "no limits" "$(ls /etc/security/limits.d | grep rdma-configd)" ""
is "settings are back" "$(cat /proc/sys/net/ipv4/conf/$i/{arp_ignore,arp_announce,rp_filter} /proc/sys/net/ipv4/neigh/default/gc_thresh3 | xargs)" "0 0 $rp $gc"
is "srp_daemon is back" "$(systemctl is-enabled srp_daemon)" "$srp"
printf '[Service]\nExecStartPre=/bin/sh -c "test $$(ulimit -l) != unlimited"\nExecStart=/bin/sleep 1000\n' >/etc/systemd/system/picky.service
systemctl daemon-reload; systemctl start picky
printf 'version = 1\n[[memlock]]\ndomain = "@rdma"\nlimit = "unlimited"\nunits = ["picky"]\nrestart = true\n' | conf
exits "a restart that fails" 3 apply; has "says which" "$OUT" "picky.service: restart"
is "the service runs again" "$(systemctl is-active picky)" active
is "without our drop-in" "$(ls /etc/systemd/system/picky.service.d 2>/dev/null)" ""
printf 'version = 1\n[[service]]\nname = "iwpmd"\nrunning = true\n' | conf
exits "a unit that systemd stops at once" 5 apply; has "says so" "$OUT" "StopWhenUnneeded=yes"
printf '[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\nAlias=workd.service\n' >/etc/systemd/system/worker.service
systemctl daemon-reload; systemctl enable -q worker; systemctl restart worker
printf 'version = 1\n[[memlock]]\ndomain = "@rdma"\nlimit = "unlimited"\nunits = ["workd"]\nrestart = true\n' | conf
exits "a unit by its alias" 0 apply; is "limit of the unit" "$(limit)" unlimited
printf 'version = 1\n[[service]]\nname = "workd"\nenabled = false\n' | conf
exits "a service by its alias" 1 apply; has "says whose" "$OUT" "alias of worker.service"
printf '[Service]\nType=oneshot\nExecStart=/bin/true\n' >/etc/systemd/system/once.service; systemctl daemon-reload
printf 'version = 1\n[[service]]\nname = "once"\nrunning = true\n' | conf
exits "a service that ends" 1 apply; has "says so" "$OUT" "Type=oneshot"
ports=net.ipv4.ip_local_reserved_ports
printf 'version = 1\n[[sysctl]]\nkey = "%s"\nvalue = "1000"\n[[sysctl]]\nkey = "net.core.somaxconn"\nvalue = "0x400"\n' $ports | conf
exits "from an empty value" 0 apply; no_writes "numbers in another spelling"
printf 'version = 1\n[[sysctl]]\nkey = "%s"\nvalue = "1000,1001,1002"\n' $ports | conf
exits "a list that the kernel rewrites" 3 apply; has "says how" "$OUT" '"1000-1002"'
echo 'version = 1' | conf; exits "back to an empty value" 0 apply; is "no ports" "$(cat /proc/sys/${ports//.//})" ""
printf 'version = 1\n[[sysctl]]\nkey = "net.ipv4.route.flush"\nvalue = 1\n' | conf
exits "a setting that is only written" 1 apply; has "says so" "$OUT" "cannot be read back"
printf 'version = 1\n[rdma_system]\nnetns = "exclusive"\n' | conf; ip netns add other
exits "another namespace holds the mode" 5 apply; has "says so" "$OUT" "no other network namespace"
is "the mode is as it was" "$(rdma system | grep -o 'netns [a-z]*')" "netns shared"
is "the option is written" "$(grep -o 'netns_mode=.' /etc/modprobe.d/rdma-configd-netns.conf)" "netns_mode=0"
