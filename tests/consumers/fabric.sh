#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In namespaces of its own: OpenSM with the partitions of ROOT sweeps a simulated fabric of two hosts once. Prints the P_Key
# table of each host's port, and what OpenSM said of the partitions.
set -u
root=$1
work=$root/fabric; mkdir -p "$work"; cd "$work" || exit 1
mount -t tmpfs none /run
ip link set lo up
printf 'Switch 4 "S1"\n[1] "H1"[1]\n[2] "H2"[1]\n\nHca 2 "H1"\n[1] "S1"[1]\n\nHca 2 "H2"\n[1] "S1"[2]\n' >net
sleep 600 | ibsim -s net >ibsim.log 2>&1 &
export SIM_HOST=H1 OSM_CACHE_DIR=$work/cache/	# not the LIDs that other fabrics had on this machine
mkdir -p "$OSM_CACHE_DIR"
preload=$(ls /usr/lib/umad2sim/libumad2sim.so /usr/lib/*/umad2sim/libumad2sim.so 2>/dev/null | head -1)
for ((n = 0; n < 300; n++)); do
	LD_PRELOAD=$preload smpquery -D nodeinfo 0 >/dev/null 2>&1 && break
	sleep 0.2
done
file=$root/etc/opensm/partitions.conf; [ -e "$file" ] || file=$work/none
LD_PRELOAD=$preload timeout 120 opensm -o -D 0x07 -P "$file" -f "$work/osm.log" >/dev/null 2>&1
for lid in 1 2 3; do
	guid=$(LD_PRELOAD=$preload smpquery nodeinfo "$lid" 2>/dev/null | sed -n 's/^PortGuid:\.*0x/0x/p')
	[ "$guid" = 0x0000000000200000 ] || [ -z "$guid" ] ||
		echo "port $guid: $(LD_PRELOAD=$preload smpquery pkeys "$lid" 2>/dev/null | sed -n 's/^ *[0-9]*: //p' | tr '\n' ' ')"
done
# A group that could not be made, and what was not understood.
sed -n 's/.*\(PARSE [EW].*\|IP MC group .*invalid.*\|Failed to create MC group.*\)/log: \1/p' "$work/osm.log"
