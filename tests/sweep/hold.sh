# SPDX-License-Identifier: Apache-2.0
# The daemon goes on: its worker makes the host as the active generation says. Sourced by the sweeps.
hold_by() {	# DAEMON OUTPUT
	echo '{"id":1,"verb":4,"texts":[],"generation":0,"from":0,"confirm_s":0,"by_itself":true,"retry":false,"allow_removal":false,"awaited":false,"resumes":false,"settled":[],"settled_at":0,"applied_then":null,"closely":null,"expect":"","who":"","what":"hold","uid":null,"left_alone":[],"fields_left_alone":[]}' |
		"$1" --worker >"$2" 2>&1
	grep -q '"exit":[05]' "$2"
}
active() { sed -n 's/^ "active": \([0-9]*\),$/\1/p' /var/lib/rdma-configd/generations.json; }
history() { sed -n '/^ "generations"/,/^ \]/p' /var/lib/rdma-configd/generations.json; }	# old ones go beyond a number of them
generations() { grep -c '"number":' /var/lib/rdma-configd/generations.json; }
