# Two OpenSM instances and the partitions of one document: a fabric without a manager comes up, a new partition reaches
# the ports and its interface, the standby takes over.
# nightly: CI has time for the core and the daemon
# lab: --snap
systemctl stop NetworkManager opensm
systemctl disable opensm 2>/dev/null; cp -a /etc/default/opensm /tmp/before
lab-load ib:mlx4_0:1 ib:mlx4_1:1 sm=external || exit 1
document() { cat <<X
version = 1
[[opensm]]
guid = "00:02:c9:03:00:a0:b0:01"
priority = 10
[[opensm]]
guid = "00:02:c9:03:00:a0:b0:11"
priority = 5
[[partition]]
pkey = 0x7fff
mtu = 4096
members = ["ALL=full", "ALL_SWITCHES=full"]
$1
[[ipoib]]
guid = "00:02:c9:03:00:a0:b0:01"
name = "fab0"
X
}
document | conf
apply >/tmp/first 2>&1; has "opensm is started" "$(systemctl is-active opensm@0x0002c90300a0b001 opensm@0x0002c90300a0b011 | xargs)" "active active"
ok "the fabric is up" wait_carrier fab0
ok "every port is active" lab-wait 60 '[ "$(cat /sys/class/infiniband/*/ports/1/state | sort -u)" = "4: ACTIVE" ]'
ok "the higher priority is master" lab-wait 15 'sminfo | grep -q "priority 10 .*MASTER"'
is "at boot" "$(. /etc/default/opensm; echo "$PORTS") $(systemctl is-enabled opensm)" "0x0002c90300a0b001 0x0002c90300a0b011 enabled"
wait_carriers 'fab0*'; exits "in sync" 0 apply; no_writes "again"
{ document '[[partition]]
pkey = 0x8005
members = ["ALL=full"]'; printf '  [[ipoib.pkey]]\n  pkey = 0x8005\n'; } | conf
apply >/tmp/second 2>&1
ok "the partition is in the table" lab-wait 10 'grep -q 0x8005 /sys/class/infiniband/*/ports/1/pkeys/*'
ok "its interface has carrier" wait_carrier fab0.8005
wait_carriers 'fab0*'; exits "in sync with the partition" 0 apply
# an option of opensm.conf, beside what the administrator has there
printf '# admin\nqos FALSE\n' >/etc/opensm/opensm.conf
was=$(systemctl show -p MainPID opensm@0x0002c90300a0b001)
{ document '[[opensm_option]]
key = "max_wire_smps"
value = 7'; } | conf
exits "an option is planned" 2 ctl diff; has "its interruption is named" "$OUT" "opensm@0x0002c90300a0b001.service is restarted"
apply >/tmp/option 2>&1
is "opensm.conf" "$(grep -v '^# rdma' /etc/opensm/opensm.conf | xargs)" "# admin qos FALSE max_wire_smps 7"
hasnt "it was restarted" "$(systemctl show -p MainPID opensm@0x0002c90300a0b001)" "$was"
ok "OpenSM has read it" lab-wait 20 'grep -h -A3 "max_wire_smps" /var/log/opensm*.log /var/log/syslog 2>/dev/null | grep -q 7 || journalctl -u "opensm@*" -o cat --no-pager | grep -q "max_wire_smps = 7"'
ok "the higher priority is master again" lab-wait 30 'sminfo | grep -q "priority 10 .*MASTER"'
wait_carriers 'fab0*'; exits "in sync with the option" 0 apply; no_writes "with the option"
document | conf; apply >/tmp/option 2>&1
is "dropped: what the administrator wrote" "$(xargs </etc/opensm/opensm.conf)" "# admin qos FALSE"
# the standby has an option of its own, and with it a file and a cache of its own; the master goes on
was=$(systemctl show -p MainPID opensm@0x0002c90300a0b001)
document | sed '/^priority = 5$/a [[opensm.option]]\nkey = "max_wire_smps"\nvalue = 6' | conf
apply >/tmp/own 2>&1
is "its own file" "$(grep -v '^#' /etc/opensm/opensm-0x0002c90300a0b011.conf)" "max_wire_smps 6"
# systemd takes a service of Type=simple for started before it runs its program.
ok "it is read" lab-wait 30 'tr "\0" " " <"/proc/$(systemctl show -P MainPID opensm@0x0002c90300a0b011)/cmdline" | grep -qF -- "--config /etc/opensm/opensm-0x0002c90300a0b011.conf"'
ok "its own cache" lab-wait 20 'test -e /var/cache/opensm.0x0002c90300a0b011/guid2lid'
is "the master went on" "$(systemctl show -p MainPID opensm@0x0002c90300a0b001)" "$was"
wait_carriers 'fab0*'; exits "in sync with its own option" 0 apply; no_writes "with its own option"
document | conf; apply >/tmp/own 2>&1
is "its own file is gone" "$(ls /etc/opensm/opensm-*.conf 2>/dev/null)" ""
ok "both run" lab-wait 20 '[ "$(pgrep -xc opensm)" = 2 ]'; ok "the higher priority is master again" lab-wait 30 'sminfo | grep -q "priority 10 .*MASTER"'
systemctl kill -s KILL opensm@0x0002c90300a0b001
ok "the standby takes over" lab-wait 90 'sminfo | grep -q "priority 5 .*MASTER"'
echo 'version = 1' | conf; apply >/tmp/third 2>&1
is "dropped: none runs" "$(systemctl is-active opensm@0x0002c90300a0b001 opensm@0x0002c90300a0b011 | grep -x active; pgrep -x opensm)" ""
ok "dropped: the file is as it was" cmp /etc/default/opensm /tmp/before
is "dropped: opensm.service is as it was" "$(systemctl is-enabled opensm)" disabled
is "dropped: no drop-in is left" "$(ls /etc/systemd/system/opensm@*.d/* 2>/dev/null)" ""
exits "in sync without them" 0 apply; no_writes "without them"
