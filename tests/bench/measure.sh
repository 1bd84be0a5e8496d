# SPDX-License-Identifier: Apache-2.0
# Shared by the benchmarks that run in a guest, before their own part: times in /tmp/t.NAME, in microseconds, and their medians.
now() { echo "${EPOCHREALTIME/./}"; }	# busybox knows no date +%N
jiffies() { awk '/^cpu / { print $5, $2 + $3 + $4 + $5 + $6 + $7 + $8 }' /proc/stat; }
quiet() {	# what the last command left to do (joins, freeing, managers that take notice) is not the next one's
	local a b
	command -v udevadm >/dev/null && udevadm settle
	for _ in $(seq 50); do
		a=($(jiffies)); sleep .4; b=($(jiffies))
		[ $(((b[0] - a[0]) * 100)) -lt $(((b[1] - a[1]) * 85)) ] || return
	done
}
run() {	# NAME COMMAND...: one time more of NAME, if the command succeeds
	local name=$1 a b rc; shift
	quiet; a=$(now); "$@" >/tmp/out 2>&1; rc=$?; b=$(now)
	[ $rc = 0 ] || { echo "$name: exit $rc"; tail -3 /tmp/out; return $rc; }
	echo $((b - a)) >>"/tmp/t.$name"
}
med() { sort -n "/tmp/t.$1" 2>/dev/null | awk '{ t[NR] = $1 } END { print NR ? t[int((NR + 1) / 2)] : 0 }'; }
stat() { sort -n "/tmp/t.$1" 2>/dev/null | awk -v n="$1" '{ t[NR] = $1 / 1000 } END { if (NR) printf "%-34s median %9.1f ms   min %9.1f   max %9.1f   of %d\n", n, t[int((NR + 1) / 2)], t[1], t[NR], NR; else printf "%-34s not measured\n", n }'; }
ratio() { awk -v a="$(med "$1")" -v b="$(med "$2")" -v n="$1 / $2" 'BEGIN { if (a && b) printf "%-60s %.2f\n", n, a / b; else printf "%-60s not measured\n", n }'; }
goal() {	# TEXT A B LIMIT: the ratio of two medians, and what it may be at most (-: anything)
	awk -v text="$1" -v a="$(med "$2")" -v b="$(med "$3")" -v limit="$4" 'BEGIN {
		if (!a || !b) { printf "%-66s %8s %6s  not measured\n", text, "", limit; exit }
		printf "%-66s %8.2f %6s  %s\n", text, a / b, limit, limit == "-" ? "" : a / b <= limit + 0 ? "met" : "MISSED" }'
}
