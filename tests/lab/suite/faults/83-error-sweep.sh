# The system calls of an apply fail, one at a time, with one of twelve errnos: a few, 500 with LAB_NIGHTLY=1
# (LAB_POINTS is another number).
# nightly: CI has time for the core and the daemon
# lab: --bare --timeout 7000 --mem 1500
. /suite/sweep.sh
if [ -n "$NIGHTLY" ]; then error_sweep "${POINTS:-500}"; else error_sweep "${POINTS:-12}"; fi
