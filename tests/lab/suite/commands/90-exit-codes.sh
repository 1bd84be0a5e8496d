# Every exit code, and what bad input says.
# nightly: in CI the tests of rdma-configctl have the exit codes
# lab: --snap
systemctl stop NetworkManager; no_daemon
lab-load ib:mlx4_0:2 || exit 1
a=$(lab-net b001); was=$(picture)
exits "no configuration: diff" 1 ctl diff; has "says what to write" "$OUT" /etc/rdma-configd/config.toml
exits "no configuration: show" 0 ctl show
conf <<<$'[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nmtu = 4092'
exits "2: there are changes" 2 ctl diff; exits "dry run" 2 apply --dry-run
is "a dry run changes nothing" "$(picture)" "$was"
exits "0: done" 0 apply; exits "0: in sync" 0 ctl diff
conf <<<$'[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nmtuu = 4092'; exits "1: a typo" 1 apply; has "place" "$OUT" "config.toml:4:1"; has "suggestion" "$OUT" 'did you mean "mtu"'
conf <<<$'[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\n[[ipoib]]\nguid = "0002:c903:00a0:b001"'; exits "1: a GUID twice" 1 apply; has "both places" "$OUT" "config.toml:3"
conf <<<$'[[ipoib]]\ndevice = "'$(ls /sys/class/infiniband)$'"\nport = 1\n[[ipoib]]\nguid = "0002:c903:00a0:b001"'; exits "1: two entries that are one port" 1 apply; has "says so" "$OUT" "another entry already selects"
conf <<<$'[[ipoib]]\ndevice = "'$(ls /sys/class/infiniband)$'"\nport = 3'; exits "1: a port that the device does not have" 1 apply
conf <<<$'[[ipoib]\nguid = 1'; exits "1: not TOML" 1 apply; has "place" "$OUT" "config.toml:2"
conf <<<$'[[ipiob]]\nguid = "00:02:c9:03:00:a0:b0:01"'; exits "1: an unknown section" 1 apply; has "suggestion" "$OUT" ipoib
rm $CONF; ln -s /nowhere $CONF; exits "1: a dangling link" 1 apply; rm $CONF; mkdir $CONF; exits "1: a folder" 1 apply; rmdir $CONF
conf <<<$'[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"'; chmod 000 $CONF; exits "1: unreadable" 1 setpriv --reuid 65534 rdma-configctl diff
chmod 644 $CONF; exits "1: apply by a user who may not" 1 setpriv --reuid 65534 --clear-groups rdma-configctl apply --yes
conf <<<$'[[ipoib]]\nguid = "00:02:c9:03:00:00:00:01"'; exits "5: a device that is not there" 5 apply; exits "0 with --pending-ok" 0 apply --pending-ok
exits "1: an option that does not exist" 1 ctl apply --yess; exits "1: a command that does not exist" 1 ctl aply; has "suggestion" "$OUT" apply
exits "1: not on a terminal, without --yes" 1 ctl apply
for json in "show --json" "diff --json" "apply --yes --json" "validate --json"; do ctl $json 2>/dev/null | jq -e .schema >/dev/null && pass "$json is JSON" || fail "$json is not JSON" "$(ctl $json 2>&1 | head -5)"; done
# 3 and 4: a refusal in the middle, undone; and one that also keeps the undoing from working
conf <<<$'[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nmtu = 2044\n[[ipoib.pkey]]\npkey = 2\nmode = "connected"'
was=$(picture)
OUT=$(strace -f -o /dev/null -P /sys/class/net/$a/create_child -e inject=openat,write:error=EIO rdma-configctl apply --yes 2>&1); is "3: failed and undone" $? 3
is "as before" "$(picture)" "$was"; has "says that it was undone" "$OUT" "undone"
conf <<<$'[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nmode = "connected"\n[[ipoib.pkey]]\npkey = 2\nmode = "connected"'
OUT=$(strace -f -o /dev/null -P /sys/class/net/$a/create_child -P /sys/class/net/$a/mode -e inject=openat,write:error=EIO:when=2+ rdma-configctl apply --yes 2>&1); is "4: undoing is incomplete" $? 4
has "what is left is named" "$OUT" "mode is connected"
exits "and the next apply goes on from there" 0 apply
# offline: files only
mkdir -p /tmp/image/etc/rdma-configd; conf <<<$'[[ipoib]]\nguid = "00:02:c9:03:00:a0:b0:01"\nname = "image_ib"\nmtu = 2044'; cp $CONF /tmp/image$CONF
was=$(picture); exits "offline" 0 apply --root /tmp/image; has "the rule is there" "$(cat /tmp/image/etc/udev/rules.d/70-rdma-configd-ipoib.rules)" image_ib; is "the host is as before" "$(picture)" "$was"
exits "offline: second diff" 0 ctl diff --root /tmp/image
