# An apply (netlink, configfs, files, journal, D-Bus) is killed at each of its system calls. Each file is the old or the
# new one; one that was to be confirmed goes, any other is finished by the next run, as if nothing had happened.
# CI takes a few points; LAB_NIGHTLY=1 takes 500. Figures: docs/RELIABILITY.md.
# lab: --snap --timeout 7000
systemctl stop NetworkManager
lab-load ib:mlx4_0:2 roce:mlx5_1:1 || exit 1
printf '[Service]\nExecStart=/bin/sleep 10000\n' >/etc/systemd/system/worker.service
systemctl daemon-reload; systemctl start worker
PCI=$(basename "$(readlink -f /sys/bus/pci/devices/0000:00:11.0)")
document() {	# NAME MODE MTU CHILD ROCE TOS LIMIT
	cat <<-X
	version = 1
	[[ipoib]]
	guid = "00:02:c9:03:00:a0:b0:01"
	name = "$1"
	mode = "$2"
	mtu  = $3
	  [[ipoib.pkey]]
	  pkey = 0x8001
	  mtu  = 2044
	  [[ipoib.pkey]]
	  pkey = $4
	  mtu  = 2044
	[[roce]]
	device = "$(rdma -j dev | jq -r '.[].ifname' | grep -v "$IB")"
	port = 1
	mode = "$5"
	tos  = $6
	[[memlock]]
	domain = "@rdma"
	limit = "$7"
	units = ["worker"]
	[[sysctl]]
	key = "net.ipv4.neigh.default.gc_thresh3"
	value = $((4096 + $6))
	[initramfs]
	policy = "report"
	[[pfc]]
	driver = "mlx4_en"
	priorities = [$(($6 / 8 % 8))]
	X
}
IB=$(basename "$(readlink -f /sys/class/net/"$(lab-net b001)"/device/infiniband/*)")
document old0 datagram 2044 0x8002 v1 104 "64M" >/tmp/old.toml
document new0 connected 65520 0x8003 v2 24 "unlimited" >/tmp/new.toml
FOLDERS="/etc/udev/rules.d /etc/modprobe.d /etc/modules-load.d /etc/sysctl.d /etc/security/limits.d /etc/systemd/system /etc/sysusers.d"
files() { find $FOLDERS -type f -exec sha256sum {} + 2>/dev/null | sort -k2; }
roce() { local d=/sys/kernel/config/rdma_cm/$R; mkdir "$d" && cat "$d/ports/1/default_roce_mode" "$d/ports/1/default_roce_tos"; rmdir "$d"; }
R=$(sed -n 's/^device = "\(.*\)"/\1/p' /tmp/old.toml)
digest() { picture; roce; cat /proc/sys/net/ipv4/neigh/default/gc_thresh3; files; ls -A /run/rdma-configd /var/lib/rdma-configd; }
to() { rdma-configctl --config "/tmp/$1.toml" apply --local --yes >/tmp/out 2>&1; }
to old; case $? in 0|5) ;; *) fail "the first apply" "$(cat /tmp/out)"; exit 1;; esac
ip addr add 10.7.0.1/24 dev old0; ip -6 addr add fd00:7::1/64 dev old0 nodad; ip rule add iif old0 lookup 77 pref 777
to new; to old	# both have been generations before
OLD=$(digest); files >/tmp/files.old
strace -f -o /tmp/trace rdma-configctl --config /tmp/new.toml apply --local --yes >/tmp/out 2>&1
NEW=$(digest); files >/tmp/files.new
is "there and back" "$(to old; digest)" "$OLD"
# Every call after the document was opened: its name, and the how manieth of that name it is.
awk '{ sub(/^[0-9]+ +/, ""); if ($0 !~ /^[a-z0-9_]+\(/) next; name = $0; sub(/\(.*/, "", name); n[name]++; if (index($0, "new.toml\", O_")) on = 1; if (on && name != "exit_group") print name, n[name] }' /tmp/trace >/tmp/points
all=$(wc -l </tmp/points); step=$((all / ${NIGHTLY:+500}${NIGHTLY:-20})); [ -n "$NIGHTLY" ] && step=$((all / 500)); [ $step -gt 0 ] || step=1
killed=0 began=0 bad=0 unconfirmed=0
complain() { bad=$((bad + 1)); [ $bad -gt 5 ] || echo "     killed at $call $n${confirm:+ (unconfirmed)}: $1"; }
i=0
while read -r call n; do
	i=$((i + 1)); [ $((i % step)) = 0 ] || continue
	confirm=; [ $((i / step % 3)) = 0 ] && confirm="--confirm 3600"
	strace -f -o /tmp/t -e trace="$call" -e inject="$call:signal=KILL:when=$n" rdma-configctl --config /tmp/new.toml apply --local --yes $confirm >/tmp/out 2>&1
	rc=$?; [ $rc = 137 ] && killed=$((killed + 1))
	while read -r sum file; do
		grep -qxF "$sum  $file" /tmp/files.old /tmp/files.new || complain "$file is neither the old nor the new one"
	done < <(files)
	while read -r _ file; do
		[ -e "$file" ] || ! grep -qF "  $file" /tmp/files.new || complain "$file is gone"
	done </tmp/files.old
	[ "$(digest)" = "$OLD" ] || began=$((began + 1))
	if [ -n "$confirm" ]; then
		unconfirmed=$((unconfirmed + 1))
		rdma-configctl rollback --local --yes >/tmp/out 2>&1	# refused when nothing was begun
		rdma-configctl rollback --expired --local >/tmp/out2 2>&1
		now=$(digest); [ "$now" = "$OLD" ] || { complain "not as before"; diff <(echo "$OLD") <(echo "$now") | head -5; cat /tmp/out; }
	else
		to new; rc=$?; case $rc in 0|5) ;; *) complain "the next apply: exit $rc"; tail -3 /tmp/out;; esac
		now=$(digest); [ "$now" = "$NEW" ] || { complain "another state than without a kill"; diff <(echo "$NEW") <(echo "$now") | head -5; }
	fi
	to old; now=$(digest); [ "$now" = "$OLD" ] || { complain "the way back"; diff <(echo "$OLD") <(echo "$now") | head -5; tail -3 /tmp/out; }
done </tmp/points
echo "kill sweep: $all system calls, killed at $killed, $began of them in the middle, $unconfirmed unconfirmed: $bad wrong"
is "killed at $killed points: old or new, and then as without a kill" "$bad" 0
[ $killed -gt 10 ] && pass "it was killed" || fail "it was killed $killed times only"
