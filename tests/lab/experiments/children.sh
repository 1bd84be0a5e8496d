# How many P_Key children there can be, and how long it takes.  --bare; N=count MODE="mode connected" UP=up before it.
lab-load ib:mlx4_0:1 pkeys=${PKEYS:-2000} $HCAOPT
N=${N:-200}
now() { cut -d' ' -f1 /proc/uptime; }
mem() { awk '/MemAvailable/{print int($2/1024)}' /proc/meminfo; }
el() { awk -v a=$1 -v b=$2 -v n=$N 'BEGIN{printf "%.2f s, %.2f ms each", b-a, (b-a)*1000/n}'; }
up=${UP:-down}
[ $up = up ] && ip link set ib0 up
echo "$N children, parent $up, module option '$HCAOPT', available before: $(mem) MB"
for ((i = 1; i <= N; i++)); do printf 'link add link ib0 name ib0.%04x type ipoib pkey 0x%x %s\n' $((0x8000+i)) $((0x8000+i)) "$MODE"; done > /tmp/add
for ((i = 1; i <= N; i++)); do printf 'link set ib0.%04x up\n' $((0x8000+i)); done > /tmp/up
for ((i = 1; i <= N; i++)); do printf 'link del ib0.%04x\n' $((0x8000+i)); done > /tmp/del
a=$(now); ip -batch /tmp/add; echo "ip -batch add $MODE: rc $? $(el $a $(now)); $(ls /sys/class/net | grep -c '^ib0\.') children, available $(mem) MB"
a=$(now); ip link | grep -c ib0; echo "one dump (ip link): $(el $a $(now))"
if [ $up = up ]; then
a=$(now); ip -batch /tmp/up; echo "ip -batch up: rc $? $(el $a $(now)); available $(mem) MB"
for i in $(seq 100); do c=$(cat /sys/class/net/ib0.*/carrier | grep -c 1); [ $c = $N ] && break; sleep .5; done; echo "carrier on $c after $(el $a $(now))"
fi
a=$(now); ip -batch /tmp/del; echo "ip -batch del: rc $? $(el $a $(now)); $(ls /sys/class/net | grep -c '^ib0\.') children, available $(mem) MB"
if [ -z "$NOSYSFS" ]; then
a=$(now); for ((i = 1; i <= N; i++)); do echo $((0x8000+i)) > /sys/class/net/ib0/create_child || break; done; echo "sysfs create_child: $(el $a $(now)); $(ls /sys/class/net | grep -c '^ib0\.') children"
a=$(now); for ((i = 1; i <= N; i++)); do echo $((0x8000+i)) > /sys/class/net/ib0/delete_child || break; done; echo "sysfs delete_child: $(el $a $(now)); $(ls /sys/class/net | grep -c '^ib0\.') children left then"
while ls /sys/class/net | grep -q '^ib0\.'; do sleep .1; done; echo "   all gone after $(el $a $(now))"
fi
a=$(now); rmmod fake_hca; echo "rmmod fake_hca: rc $? $(el $a $(now))"
dmesg | grep -iE 'fail|warn|bug:|trace|oom' | tail -5
