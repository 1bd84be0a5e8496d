# An apply is killed at its system calls, on the bare guest: a few in CI, 500 with LAB_NIGHTLY=1 (LAB_POINTS is another number).
# lab: --bare --timeout 7000 --mem 1500
. /suite/sweep.sh
if [ -n "$NIGHTLY" ]; then kill_sweep "${POINTS:-500}"; else kill_sweep "${POINTS:-3}"; fi
