# A record folder that is full or read-only when the host starts: the daemon configures the host, and says so; an apply waits for space.
# nightly: tests/contract has the protocol
# lab: --full --timeout 900
# tree: full
conf <<X
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "mlx4_ib0"
backend = "direct"
ipv4 = { addresses = ["192.0.2.1/24"] }
[[ipoib.pkey]]
pkey = 0x8002
X
lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
applies "the first apply"
records=/var/lib/rdma-configd held=/run/rdma-configd/held.json
made='test -e /sys/class/net/mlx4_ib0.8002 && ip -4 addr show dev mlx4_ib0 2>/dev/null | grep -q 192.0.2.1/24'
systemctl stop rdma-configd
cp -a $records /tmp/records; mount -t tmpfs -o size=512k,mode=755 none $records; cp -a /tmp/records/. $records
for how in full read-only; do
	systemctl stop rdma-configd
	# As after a boot: none of the kernel's objects is there any more.
	rmmod fake_hca
	if [ $how = full ]; then dd if=/dev/zero of=$records/filler bs=4k 2>/dev/null; else mount -o remount,ro $records; fi
	lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
	systemctl restart rdma-configd
	ok "$how: the host is configured" lab-wait 90 "$made"
	ok "$how: the record is in /run" lab-wait 60 "test -s $held"
	exits "$how: the status" 2 ctl status; has "$how: it says where" "$OUT" "only in $held"
	systemctl restart rdma-configd
	ok "$how: it is kept over a restart of the daemon" test -s $held
	sed 's/192.0.2.1/192.0.2.9/' $CONF >/tmp/other; cp $CONF /tmp/whole; cp /tmp/other $CONF
	exits "$how: an apply" 1 apply
	ok "$how: the host stays" sh -c "$made"
	cp /tmp/whole $CONF
	if [ $how = full ]; then rm $records/filler; else mount -o remount,rw $records; fi
	# Nothing tells the daemon of the space; it tries again within a minute. A mount that was read-only when it was started stays so in
	# its mount namespace.
	[ $how = full ] || systemctl restart rdma-configd
	ok "$how: the daemon takes the record over" lab-wait 150 "test ! -e $held"
	ok "$how: and is not DEGRADED any more" lab-wait 60 "! rdma-configctl status 2>&1 | grep -q DEGRADED"
	applies "$how: an apply once there is space"
done
# An interface that was made without a record in /var is known as ours.
sed -i '/pkey/d' $CONF
applies "an apply without the P_Key interface"
ok "it is gone" test ! -e /sys/class/net/mlx4_ib0.8002
systemctl stop rdma-configd; umount $records
