# SPDX-License-Identifier: Apache-2.0
# NFS over RDMA on Soft-RoCE: a server and a mount that carry data, live, after a reboot, and what is left of them when they are dropped.
# nightly
# lab: --full --timeout 1500 --mem 3072
# tree: full
# boots: 2
M=/scratch
mounted() { findmnt -rno SOURCE,OPTIONS $M; }
listens() { grep -c "^rdma $1$" /proc/fs/nfsd/portlist; }
if [ "$BOOT" = 1 ]; then
	nfs_exports; file_system export 64M
	veth_at_boot 'mountpoint -q /srv/export || mount -o loop /srv/export.img /srv/export'
	systemctl enable -q nfs-server
	ok "an NFS server runs, without RDMA" systemctl restart nfs-server
	is "no listener" "$(listens 20049)" 0
	conf <<-X
	$(soft_roce)

	[nfs_server]
	rdma_port = 20049

	[[nfs_mount]]
	path    = "$M"
	server  = "192.0.2.1"
	export  = "/"
	options = ["vers=4.2", "hard"]
	X
	starts=$(systemctl show -P ExecMainStartTimestampMonotonic nfs-server)
	# The device first: a mount without it would fail.
	exits "apply of the device and the server" 0 apply --only soft_rdma --only nfs_server
	is "the server was not restarted" "$(systemctl show -P ExecMainStartTimestampMonotonic nfs-server)" "$starts"
	ok "it listens" test "$(listens 20049)" -ge 1
	exits "apply of the mount" 0 apply
	has "nfsconf reads it" "$(nfsconf --get nfsd rdma; nfsconf --get nfsd rdma-port)" 20049
	ok "systemd has nothing against the unit" systemd-analyze verify --man=no scratch.mount
else
	daemon_holds
	ok "mounted at boot" lab-wait 240 'findmnt -rn /scratch'
	ok "the server listens since its start" test "$(listens 20049)" -ge 1
	is "the data of before the reboot" "$(cat $M/data | sha256sum)" "$(cat /root/sum)"
fi
has "it is mounted over RDMA" "$(mounted)" proto=rdma
has "the port" "$(mounted)" port=20049
ok "data are written" sh -c "head -c 8M /dev/urandom >$M/data && sync -f $M"
sha256sum <$M/data >/root/sum
is "the server has them" "$(sha256sum </srv/export/data)" "$(cat /root/sum)"
echo 3 >/proc/sys/vm/drop_caches
is "and they are read" "$(sha256sum <$M/data)" "$(cat /root/sum)"
in_sync
[ "$BOOT" = 1 ] && finish

# In use it is not taken away.
exec 7<$M/data
cp $CONF /root/whole; sed -i '/nfs_mount/,$d' $CONF
exits "a mount in use is not dropped" 3 apply
has "it is mounted still" "$(mounted)" proto=rdma
ok "and its unit is there" test -e /etc/systemd/system/scratch.mount
exec 7<&-
exits "dropped" 0 apply
is "unmounted" "$(findmnt -rn $M)" ""
ok "no file of ours is left" test ! -e /etc/systemd/system/scratch.mount -a ! -e /etc/systemd/system/remote-fs.target.d/50-rdma-configd-nfs.conf
has "the exported one stays" "$(findmnt -rno SOURCE /srv/export)" loop

sed -i 's/20049/20050/' $CONF
exits "another port" 0 apply
is "only that one" "$(grep ^rdma /proc/fs/nfsd/portlist | sort -u)" "rdma 20050"
sed -i '/nfs_server/,$d' $CONF
exits "none" 0 apply
is "no listener is left" "$(grep -c ^rdma /proc/fs/nfsd/portlist)" 0
ok "the server runs" test -n "$(grep '^tcp 2049' /proc/fs/nfsd/portlist)"

# Handed over, it goes on.
cp /root/whole $CONF; exits "again" 0 apply
exits "withdraw" 0 ctl withdraw --yes
has "it is mounted all the same" "$(mounted)" proto=rdma
has "the unit is the administrator's" "$(head -1 /etc/systemd/system/scratch.mount)" "yours now"
