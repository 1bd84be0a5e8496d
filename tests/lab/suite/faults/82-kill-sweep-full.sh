# The same beside udev, with D-Bus and confirmed applies.
# nightly: it takes a quarter of an hour
# lab: --snap --timeout 7000
. /suite/sweep.sh
kill_sweep "${POINTS:-60}"
