# nightly: CI has time for the core and the daemon
# Kernel modules with options, PFC of mlx4_en by its options, and the initramfs that holds them: of the real modprobe,
# systemd and initramfs-tools.
# lab: --snap --timeout 900
# tree: full
systemctl stop NetworkManager
sed -i 's/^MODULES=.*/MODULES=list/; s/^COMPRESS=.*/COMPRESS=gzip/; s/^BUSYBOX=.*/BUSYBOX=n/' /etc/initramfs-tools/initramfs.conf
echo CONFIG_RD_GZIP=y >/boot/config-$(uname -r)  # mkinitramfs looks there for what the kernel can unpack
for h in /usr/share/initramfs-tools/hooks/*; do [ "${h##*/}" = kmod ] || rm "$h"; done
# The real mkinitramfs takes minutes on an emulated CPU: it runs once, and else one that packs only what concerns us.
mv /usr/sbin/mkinitramfs /usr/sbin/mkinitramfs.real
cat >/usr/sbin/mkinitramfs <<'X'
#!/bin/sh
[ ! -e /run/real ] || exec /usr/sbin/mkinitramfs.real "$@"
while [ $# -gt 0 ]; do [ "$1" != -o ] || out=$2; shift; done
cd / && find etc/modprobe.d etc/modules-load.d etc/udev/rules.d -type f | cpio -o -H newc --quiet >"$out"
X
chmod +x /usr/sbin/mkinitramfs
image=/boot/initrd.img-$(uname -r); ok "an initramfs to begin with" update-initramfs -c -k "$(uname -r)"
holds() { lsinitramfs "$image" 2>&1 | grep -c "$1"; }
made() { stat -c '%i %Y' "$image"; }
pfctx() { cat "/sys/module/mlx4_en/parameters/$1" 2>&1; }
conf <<X
[[module]]
name = "mlx4_en"
[[pfc]]
driver = "mlx4_en"
priorities = [3]
X
was=$(made); exits "diff" 2 ctl diff; is "nothing is loaded by looking" "$(ls -d /sys/module/mlx4_en 2>/dev/null)" ""
touch /run/real; exits "module, PFC, initramfs" 0 apply; rm /run/real
is "pfctx" "$(pfctx pfctx)" 8; is "pfcrx" "$(pfctx pfcrx)" 8
is "it is in the initramfs" "$(holds etc/modprobe.d/rdma-configd-pfc.conf)" 1
ok "our unit made it" lab-wait 30 "journalctl -u rdma-configd-update-initramfs --no-pager | grep -qF '$image'"
[ "$(made)" != "$was" ] && pass "rebuilt" || fail "not rebuilt"
was=$(made); no_writes "a second apply"; is "not rebuilt when nothing changed" "$(made)" "$was"
has "at boot" "$(cat /etc/modules-load.d/rdma-configd.conf)" mlx4_en
sed -i 's/\[3\]/[3, 4]/' $CONF; exits "changed while it runs" 5 apply; has "pending" "$OUT" "runs with pfctx=8"
is "the file" "$(grep -c 'pfctx=0x18 pfcrx=0x18' /etc/modprobe.d/rdma-configd-pfc.conf)" 1; is "still as loaded" "$(pfctx pfctx)" 8
modprobe -r mlx4_en; modprobe mlx4_en; is "after a driver reload" "$(pfctx pfctx)" 24; exits "in sync" 0 ctl diff
echo 'options mlx4_en pfctx=1' >/etc/modprobe.d/zz.conf; exits "another file wins" 0 ctl diff; has "it is named" "$OUT" "/etc/modprobe.d/zz.conf:1"; rm /etc/modprobe.d/zz.conf
cat >>$CONF <<X
[initramfs]
policy = "report"
X
sed -i 's/\[3, 4\]/[4]/' $CONF; was=$(made); exits "policy report" 5 apply; has "says what to run" "$OUT" "initramfs stale: run update-initramfs -u"; is "left alone" "$(made)" "$was"
modprobe -r mlx4_en; modprobe mlx4_en; sleep 1.1; update-initramfs -u >/dev/null 2>&1; exits "done by hand" 0 ctl diff
sed -i 's/report/rebuild/' $CONF; was=$(made); exits "policy rebuild finds it done" 0 apply; is "left alone" "$(made)" "$was"
conf <<<$'[[module]]\nname = "mlx4_en"\noptions = ["pfctxx=8"]'; exits "unknown option" 1 apply; has "suggestion" "$OUT" 'did you mean "pfctx"'
conf <<<$'[[module]]\nname = "mlx4_em"'; exits "unknown module" 1 apply; has "suggestion" "$OUT" 'did you mean "mlx4_en"'
echo 'blacklist mlx4-en' >/etc/modprobe.d/zz.conf; conf <<<$'[[module]]\nname = "mlx4_en"'; exits "blacklisted" 1 apply; has "place" "$OUT" "/etc/modprobe.d/zz.conf:1"; rm /etc/modprobe.d/zz.conf
# Modules that work over RDMA devices are loaded when one appears, by rdma-core's unit.
conf <<<$'[[module]]\nname = "ib_srp"'; exits "a module over RDMA devices" 0 apply; is "loaded now" "$(lsmod | grep -c ^ib_srp)" 1
has "in rdma-core's folder" "$(cat /etc/rdma/modules/rdma_configd.conf)" ib_srp; is "and only there" "$(ls /etc/modules-load.d | grep -c rdma-configd)" 0
modprobe -r ib_srp; systemctl stop rdma-configd 2>/dev/null; lab-load ib:mlx4_0:1
ok "loaded with the hardware" lab-wait 20 'systemctl is-active -q rdma-load-modules@rdma_configd && lsmod | grep -q ^ib_srp'
conf <<<''; exits "dropped" 0 apply; is "no list is left" "$(ls /etc/rdma/modules | grep -c rdma_configd)" 0
systemctl is-active -q rdma-configd && modprobe -r ib_srp; conf <<<$'[[module]]\nname = "ib_srp"'; exits "through the daemon" 0 apply; is "loaded by it" "$(lsmod | grep -c ^ib_srp)" 1
conf <<<$'[[module]]\nname = "mlx4_em"'; exits "it knows the modules" 1 apply; has "suggestion" "$OUT" 'did you mean "mlx4_en"'
conf <<<''; exits "dropped again" 0 apply; modprobe -r ib_srp
conf <<<$'[[module]]\nname = "ib_srp"'; exits "loaded by it, and not confirmed" 0 apply --confirm 40; is "it is loaded" "$(lsmod | grep -c ^ib_srp)" 1
ok "it is unloaded again" lab-wait 60 '! test -e /sys/module/ib_srp'; ok "and the history says why" lab-wait 30 'rdma-configctl history | grep -q "rolled back"'
conf <<<''; exits "nothing is wanted" 0 apply; systemctl stop rdma-configd
# A failure after the module was loaded takes it, and the initramfs, back.
modprobe -r mlx4_en mlx4_core; conf <<<''; exits "everything dropped" 0 apply; is "no file is left" "$(ls /etc/modprobe.d /etc/modules-load.d | grep -c rdma-configd)" 0
is "nor in the initramfs" "$(holds rdma-configd)" 0
conf <<<$'[[module]]\nname = "mlx4_en"\n[[pfc]]\ndriver = "mlx4_en"\npriorities = [3]'
mkdir -p /run/systemd/system/rdma-configd-update-initramfs.service.d; printf '[Service]\nExecStart=\nExecStart=/bin/false\n' >/run/systemd/system/rdma-configd-update-initramfs.service.d/x.conf; systemctl daemon-reload
OUT=$(apply 2>&1); rc=$?; [ $rc = 3 ] || [ $rc = 4 ] && pass "no initramfs: undone" || fail "no initramfs: exit $rc" "$OUT"
has "says where to look" "$OUT" "journalctl -u rdma-configd-update-initramfs"
is "the module is gone again" "$(ls -d /sys/module/mlx4_en 2>/dev/null)" ""; is "so are the files" "$(ls /etc/modprobe.d | grep -c rdma-configd)" 0
sed -i 's,/bin/false,/bin/true,' /run/systemd/system/rdma-configd-update-initramfs.service.d/x.conf; systemctl daemon-reload
OUT=$(apply 2>&1); rc=$?; [ $rc = 3 ] || [ $rc = 4 ] && pass "a tool that makes nothing: undone" || fail "a tool that makes nothing: exit $rc" "$OUT"
has "says so" "$OUT" "built no image"
rm -r /run/systemd/system/rdma-configd-update-initramfs.service.d; systemctl daemon-reload; exits "and then it works" 0 apply
