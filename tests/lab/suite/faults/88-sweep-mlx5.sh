# SPDX-License-Identifier: Apache-2.0
# An apply of flow control on mlx5 is killed at its system calls, and its calls fail, while the default routes lead over that
# interface: they are there after each point. LAB_POINTS is another number of points.
# nightly: it takes ten minutes
# lab: --bare --timeout 7000 --mem 1500
DCB=mlx5
. /suite/sweep.sh
has "the default routes lead over it" "$OLD" "default via 10.7.0.254 dev $E"
kill_sweep "${POINTS:-40}"
error_sweep "${POINTS:-40}"
