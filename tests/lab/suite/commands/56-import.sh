# A host that was set up by hand becomes a document, and a document becomes commands that do what apply does.
# nightly: CI has time for the core and the daemon
# lab: --snap
systemctl stop NetworkManager; no_daemon
lab-load ib:mlx4_0:2 || exit 1
a=$(lab-net b001)
ip link set "$a" type ipoib mode connected; ip link set "$a" mtu 65520; ip link set "$a" up
ip link add link "$a" name "$a.8002" type ipoib pkey 0x8002; ip link set "$a.8002" mtu 2044; ip link set "$a.8002" up
ip addr add 192.0.2.1/24 brd + dev "$a"; ip route add 198.51.100.0/24 via 192.0.2.9 dev "$a" metric 5
wait_carrier "$a"; wait_carrier "$a.8002"
# live
mkdir -p /etc/rdma-configd
exits "import live" 0 ctl import live --output $CONF; has "what is left to others is said" "$OUT" "not taken over without --adopt: 192.0.2.1/24"
cat $CONF
has "mode" "$(cat $CONF)" 'mode = "connected"'; has "the P_Key interface" "$(cat $CONF)" 'pkey = 0x8002'
exits "validate" 0 ctl validate
exits "diff is empty" 0 ctl diff
before=$(picture); exits "apply" 0 apply; is "and changed nothing" "$(picture)" "$before"
no_writes "second apply"
exits "import live --adopt" 0 ctl import live --adopt --output /tmp/adopted.toml
has "the address" "$(cat /tmp/adopted.toml)" 'addresses = ["192.0.2.1/24"]'; has "the route" "$(cat /tmp/adopted.toml)" 'to = "198.51.100.0/24"'
exits "valid" 0 ctl validate --config /tmp/adopted.toml
# files that name the interface as the host does
mkdir -p /etc/sysconfig/network-scripts
printf 'DEVICE=%s\nTYPE=InfiniBand\nCONNECTED_MODE=yes\nMTU=65520\nONBOOT=yes\n' "$a" >"/etc/sysconfig/network-scripts/ifcfg-$a"
exits "import ifcfg" 0 rdma-configctl import ifcfg --output /tmp/ifcfg.toml; has "the GUID is the host's" "$(cat /tmp/ifcfg.toml)" 00:02:c9:03:00:a0:b0:01
exits "nothing to do" 0 ctl diff --config /tmp/ifcfg.toml
# commands: they do the same as apply
rm -f $CONF; rm -rf /var/lib/rdma-configd
cat >/tmp/want.toml <<X
version = 1
[[ipoib]]
guid = "00:02:c9:03:00:a0:b0:02"
name = "fab1"
backend = "direct"
mode = "connected"
mtu = 65520
ipv4 = { addresses = ["192.0.4.1/24"], gateway = "192.0.4.2", routes = [{ to = "203.0.113.0/24", via = "192.0.4.9", metric = 5, table = 1000 }] }
ipv6 = { addresses = ["2001:db8::1/64"] }
[[ipoib.pkey]]
pkey = 0x8002
mode = "connected"
mtu = 65520
ipv4 = { addresses = ["192.0.5.1/24"] }
[[ipoib.pkey]]
pkey = 0x8003
name = "part3"
mtu = 2044
umcast = true
X
exits "export commands" 0 rdma-configctl export commands --config /tmp/want.toml; printf '%s\n' "$OUT" >/tmp/runbook.sh
ok "the runbook" sh -e /tmp/runbook.sh; ok "again" sh -e /tmp/runbook.sh
wait_carriers 'fab1*'; wait_carrier part3; sleep 2
commands=$(picture)
is "name" "$(lab-net b002)" fab1; is "mode" "$(mode fab1.8002)" connected; is "mtu" "$(mtu part3)" 2044
exits "diff: only what apply owns" 2 ctl diff --config /tmp/want.toml; hasnt "no mode" "$OUT" "mode"; hasnt "no mtu" "$OUT" "mtu"
# the same from the beginning by apply
ip link del part3; ip link del fab1.8002; ip addr flush dev fab1; ip link set fab1 down
ip link set fab1 type ipoib mode datagram; ip link set fab1 name was1; rm -f /etc/udev/rules.d/70-persistent-ipoib.rules
exits "apply" 0 apply --config /tmp/want.toml
wait_carriers 'fab1*'; wait_carrier part3; sleep 2
is "commands and apply give the same" "$(picture)" "$commands"
