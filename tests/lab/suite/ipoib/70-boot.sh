# The document's settings come back by themselves: after a driver reload and after a reboot, started by udev.
# long
# lab: --full
# tree: full
# boots: 2
if [ $BOOT = 1 ]; then conf <<X
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "mlx4_ib0"
mode = "connected"
mtu  = 65520
  [[ipoib.pkey]]
  pkey = 0x8002
X
fi
there() {
	ok "$1: made by the unit" lab-wait 30 'test "$(cat /sys/class/net/mlx4_ib0/mtu)" = 65520 -a -e /sys/class/net/mlx4_ib0.8002'
	lab-wait 20 'test -z "$(systemctl list-jobs --no-legend | grep rdma-configd)"'; lab-wait 90 'rdma-configctl diff'	# a daemon that runs has no job
	is "$1: mode" "$(mode mlx4_ib0)" connected; exits "$1: diff" 0 ctl diff
	is "$1: no unit failed" "$(systemctl list-units --failed --no-legend 'rdma-configd*')" ""
}
lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
[ $BOOT = 1 ] && there "hardware appears" || there "after a reboot"
[ $BOOT = 2 ] && ok "the rule was kept over the reboot" test -s /etc/udev/rules.d/70-rdma-configd-ipoib.rules
rmmod fake_hca; lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1; there "driver reload"
