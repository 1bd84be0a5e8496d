# RoCE modes and ToS (configfs), DCB, rdma_rxe, parameters of mlx4_en.  --bare; read the output.
t() { echo "\$ $*"; "$@" 2>&1; r=$?; [ $r = 0 ] || echo "   -> exit $r"; }
w() { echo "\$ echo '$1' > $2"; sh -c "echo '$1' > $2" 2>&1 || echo "   -> exit 1"; }
C=/sys/kernel/config/rdma_cm
modprobe -a ib_ipoib configfs; mount -t configfs none /sys/kernel/config
echo "== before rdma_cm is loaded"; ls $C 2>&1
modprobe rdma_cm; ls -ld $C
lab-load roce:mlx5_0:1 roce:mlx5_1:2 ib:mlx4_0:2; cat /proc/fake_hca
t rdma link; ip -br link
echo "== link layers, node types"; grep . /sys/class/infiniband/*/ports/*/link_layer /sys/class/infiniband/*/{node_type,node_guid,hca_type,fw_ver,board_id}
ls -ld /sys/class/infiniband/mlx5_0/device; ls -l /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/ | head -3
echo "== configfs"
t mkdir $C/nosuch; t mkdir $C/mlx5_0; find $C -type f
P=$C/mlx5_0/ports/1; t cat $P/default_roce_mode; t cat $P/default_roce_tos
w "IB/RoCE v1" $P/default_roce_mode; t cat $P/default_roce_mode
w "RoCE v2" $P/default_roce_mode; t cat $P/default_roce_mode
w "RoCE v1" $P/default_roce_mode; w "roce v2" $P/default_roce_mode; w "" $P/default_roce_mode;  t cat $P/default_roce_mode
w 106 $P/default_roce_tos; t cat $P/default_roce_tos; w 0x20 $P/default_roce_tos; t cat $P/default_roce_tos; w 256 $P/default_roce_tos; w -1 $P/default_roce_tos
t mkdir $C/mlx5_0; t mkdir $C/mlx4_0; ls $C/mlx4_0/ports
for n in 1 2; do t cat $C/mlx4_0/ports/$n/default_roce_mode; done; w "RoCE v2" $C/mlx4_0/ports/1/default_roce_mode; w "IB/RoCE v1" $C/mlx4_0/ports/1/default_roce_mode
t rmdir $C/mlx5_0; t mkdir $C/mlx5_0; echo "after rmdir and mkdir:"; t cat $P/default_roce_mode; t cat $P/default_roce_tos
echo "== the device goes away under its directory"
w "del mlx5_0" /proc/fake_hca; t cat $P/default_roce_mode; w "RoCE v2" $P/default_roce_mode; w "add roce mlx5_0 1" /proc/fake_hca; t cat $P/default_roce_mode;  t cat $P/default_roce_tos
echo "== rename of an ib device"
t rdma dev set mlx5_1 name roce1; ls $C; t mkdir $C/mlx5_1; t mkdir $C/roce1
echo "== rmmod rdma_cm with directories"; t rmmod rdma_cm; t rmdir $C/mlx5_0 $C/mlx4_0 $C/roce1; t rmmod rdma_cm
modprobe rdma_cm
echo "== GID table of a RoCE port"
E=$(ls /sys/class/infiniband/mlx5_0/device/net | head -1); ls /sys/class/infiniband/mlx5_0/device/net
t ip link set $E up; t ip addr add 192.168.7.1/24 dev $E; sleep 1
for i in 0 1 2 3 4 5; do g=$(cat /sys/class/infiniband/mlx5_0/ports/1/gids/$i); [ $g = 0000:0000:0000:0000:0000:0000:0000:0000 ] || echo "$i $g $(cat /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/$i) $(cat /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/$i)"; done
t rdma link show mlx5_0
echo "== DCB"
t dcb pfc show dev $E; t dcb pfc set dev $E prio-pfc 3:on; t dcb pfc show dev $E; t dcb pfc set dev $E prio-pfc all:off 4:on; t dcb -j pfc show dev $E
t dcb ets show dev $E; t dcb ets set dev $E willing off tc-tsa 0:ets 3:strict tc-bw 0:100 prio-tc 3:3; t dcb ets show dev $E
t dcb dcbx show dev $E; t dcb dcbx set dev $E host cee; t dcb dcbx set dev $E host ieee; t dcb dcbx show dev $E
t dcb app add dev $E dscp-prio 26:3 ethtype-prio 0x8915:3; t dcb app show dev $E; t dcb app del dev $E ethtype-prio 0x8915:3
t dcb maxrate show dev $E; t dcb buffer show dev $E; t dcb pfc set dev lo prio-pfc 3:on
echo "== rdma_rxe over veth and dummy"
ip link add veth0 type veth peer name veth1; ip link add dum0 type dummy; ip link set veth0 up; ip link set veth1 up; ip link set dum0 up
modprobe rdma_rxe; t rdma link add rxe0 type rxe netdev veth0; t rdma link add rxe1 type rxe netdev dum0; t rdma link show rxe0; t rdma link show rxe1
t mkdir $C/rxe0; for v in "IB/RoCE v1" "RoCE v2"; do w "$v" $C/rxe0/ports/1/default_roce_mode; done; t cat $C/rxe0/ports/1/default_roce_mode; w 106 $C/rxe0/ports/1/default_roce_tos; t cat $C/rxe0/ports/1/default_roce_tos
t dcb pfc set dev dum0 prio-pfc 3:on
rmdir $C/*; t rdma link del rxe0
echo "== mlx4_en"
t modprobe mlx4_en pfctx=0x08 pfcrx=0x08; lsmod | grep mlx; grep . /sys/module/mlx4_en/parameters/*; ls -l /sys/module/mlx4_en/parameters; w 0x10 /sys/module/mlx4_en/parameters/pfctx
t modprobe mlx4_en pfctx=0x10; grep . /sys/module/mlx4_en/parameters/pfctx; t rmmod mlx4_en; mkdir -p /etc/modprobe.d; echo "options mlx4_en pfctx=0x18 pfcrx=0x18" > /etc/modprobe.d/mlx4.conf; t modprobe mlx4_en; grep . /sys/module/mlx4_en/parameters/pfc*
rmmod mlx4_en; t modprobe mlx4_en pfctx=256; grep . /sys/module/mlx4_en/parameters/pfc*; rmmod mlx4_en;  t modprobe mlx4_en nosuch=1; t ls /sys/module/mlx4_core/parameters; t rmmod mlx4_en mlx4_core
t rmmod fake_hca; ls /sys/class/infiniband /sys/class/net
dmesg | tail -25
