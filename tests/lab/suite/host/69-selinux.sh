# Under SELinux (Debian's policy, permissive): a new file gets the label that the policy has for it, one that was there keeps
# its own; written by rdma-configctl, and by the daemon in the sandbox of its unit.
# nightly: the policy is compiled first
# lab: --full --timeout 900 --append security=selinux
# tree: selinux
is "the policy is loaded" "$(cat /sys/fs/selinux/enforce)" 0
lab-load ib:mlx4_0:2
document() {	# ADDRESS THRESHOLD LIMIT
	conf <<-X
	[[ipoib]]
	guid = "00:02:c9:03:00:a0:b0:01"
	name = "one"
	[[ipoib]]
	guid = "00:02:c9:03:00:a0:b0:02"
	name = "two"
	backend = "networkmanager"
	ipv4.addresses = ["$1"]
	[[sysctl]]
	key = "net.ipv4.neigh.default.gc_thresh3"
	value = $2
	[[memlock]]
	domain = "@rdma"
	limit = "$3"
	units = ["systemd-journald.service"]
	[[pfc]]
	driver = "mlx4_en"
	priorities = [3]
	[initramfs]
	policy = "report"
	X
}
type_of() { stat -c %C "$1" 2>&1 | cut -d: -f3; }
RULES=/etc/udev/rules.d/70-rdma-configd-ipoib.rules LIMITS=/etc/security/limits.d/zz-rdma-configd.conf SYSCTL=/etc/sysctl.d/zz-rdma-configd.conf
UNIT=/etc/systemd/system/systemd-journald.service.d/50-rdma-configd-memlock.conf
keyfile() { ls /etc/NetworkManager/system-connections/rdma-configd-*.nmconnection | head -1; }
labels() {	# WHO: against what the policy says
	is "$1: udev rules" "$(type_of $RULES)" udev_rules_t
	is "$1: limits" "$(type_of $LIMITS)" etc_t
	is "$1: sysctl.d" "$(type_of $SYSCTL)" etc_t
	is "$1: a drop-in" "$(type_of $UNIT)" syslogd_unit_t
	is "$1: a keyfile" "$(type_of "$(keyfile)")" NetworkManager_etc_rw_t
	is "$1: the state" "$(type_of /var/lib/rdma-configd/state.json)" var_lib_t
}
document 192.0.2.1/24 4100 64M
exits "applied here" 5 apply --local	# 5: the initramfs and journald's limit wait
labels "rdma-configctl"
chcon -t tmp_t $RULES $LIMITS $SYSCTL $UNIT "$(keyfile)"
document 192.0.2.2/24 4200 65M
exits "applied here again" 5 apply --local
for f in $LIMITS $SYSCTL $UNIT "$(keyfile)"; do is "kept: $f" "$(type_of "$f")" tmp_t; has "and written: $f" "$(cat "$f")" "$(case $f in $LIMITS|$UNIT) echo 665;; $SYSCTL) echo 4200;; *) echo 192.0.2.2;; esac)"; done

printf '' | conf; exits "all is taken away" 0 apply --local
document 192.0.2.1/24 4100 64M
systemctl start rdma-configd
ok "the daemon runs" lab-wait 60 'busctl status org.rdmaconfigd1'
exits "applied by the daemon" 5 apply
labels "the daemon"
chcon -t tmp_t $SYSCTL "$(keyfile)"
document 192.0.2.2/24 4200 65M
exits "applied by the daemon again" 5 apply
is "kept by the daemon: sysctl.d" "$(type_of $SYSCTL)" tmp_t
is "kept by the daemon: a keyfile" "$(type_of "$(keyfile)")" tmp_t
