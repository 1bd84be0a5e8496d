# The D-Bus interface: every method, asked by everybody, under every polkit.
# nightly: CI has time for the core and the daemon
# lab: --full --timeout 900
# tree: full
conf <<X
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "mlx4_ib0"
X
lab-load ib:mlx4_0:2 guid_base=0x0002c903003178f1
ok "the daemon has started" lab-wait 90 'busctl status org.rdmaconfigd1'
BUS="org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager"
call() { busctl --timeout="${LIMIT:-60}" call $BUS "$@" 2>&1; }
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
nobody() { as_nobody busctl --timeout="${LIMIT:-60}" call $BUS "$@" 2>&1; }
BAD=$'[[ipoib]]\nguid = 1'
declare -A METHOD=([Show]='a{sv} 0' [History]='a{sv} 0' [Validate]='a(ss)a{sv} 1 f.toml X 0' [Diff]='a(ss)a{sv} 1 f.toml X 0'
	[Apply]='a(ss)a{sv} 1 f.toml X 0' [Confirm]='a{sv} 0' [Rollback]='ta{sv} 99 0' [Reload]='a{sv} 0' [Cancel]='ua{sv} 999 0'
	[Result]='ua{sv} 999 0')
READ="Show History Validate Diff Result" WRITE="Apply Confirm Rollback Reload Cancel"
denied() {	# SITUATION CALLER METHOD...: each is denied, and a document that cannot be read is not looked at
	local what=$1 who=$2 m bad='' out; shift 2
	for m; do out=$($who "$m" ${METHOD[$m]}); [[ $out = *"not authorized"* ]] || bad+="$m: $out; "; done
	is "$what" "$bad" ""
}
allowed() {
	local what=$1 who=$2 m bad='' out; shift 2
	for m; do out=$($who "$m" ${METHOD[$m]}); case $out in *authorized*|*"did not receive"*|*imed*out*) bad+="$m: $out; ";; esac; done
	is "$what" "$bad" ""
}
generation() { busctl get-property $BUS Generation; }
was=$(generation)
denied "nobody may do nothing" nobody $READ $WRITE
is "and nothing was applied" "$(generation)" "$was"
allowed "root may do all" call $READ $WRITE
is "every method is there" "$(busctl introspect org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager | awk '$2 == "method" {print substr($1, 2)}' | sort | xargs)" "$(echo $READ $WRITE | tr ' ' '\n' | sort | xargs)"
has "a document with mistakes is answered with its mistakes" "$(call Validate 'a(ss)a{sv}' 1 f.toml "$BAD" 0)" "f.toml"
mkdir -p /etc/polkit-1/rules.d
rule() { printf 'polkit.addRule(function(action, subject) { if (%s && subject.user == "nobody") return polkit.Result.YES; });\n' "$1" >/etc/polkit-1/rules.d/10-lab.rules; chmod 644 /etc/polkit-1/rules.d/10-lab.rules; systemctl restart polkit; }
rule 'action.id == "org.rdmaconfigd1.read"'
allowed "who may read, reads" nobody $READ
denied "and changes nothing" nobody $WRITE
rule 'action.id.indexOf("org.rdmaconfigd1.") == 0'
allowed "who may apply, applies" nobody $READ $WRITE
conf <<<$'[[ipoib]]\nguid = "00:02:c9:03:00:31:78:f2"\nname = "mlx4_ib0"\nmtu = 1500'
exits "also by rdma-configctl" 0 as_nobody rdma-configctl apply --yes
is "it was done" "$(mtu mlx4_ib0)" 1500
has "the history has the user" "$(ctl history)" "uid 65534"
has "nobody cannot say to be somebody else" "$(nobody Confirm 'a{sv}' 1 who s alice; ctl history)" "uid 65534"; hasnt "alice" "$(ctl history)" alice
# no polkit, and one that does not answer
rm /etc/polkit-1/rules.d/10-lab.rules; systemctl mask --runtime -q polkit; systemctl stop polkit
denied "without polkit: denied" nobody $READ $WRITE
allowed "without polkit: root may" call $READ $WRITE
systemctl unmask --runtime -q polkit; systemctl start polkit
if [ -n "$NIGHTLY" ]; then	# each waits for its deadline
pkill -STOP polkitd
hanging=(); for m in $READ $WRITE; do nobody $m ${METHOD[$m]} >/tmp/hanging.$m & hanging+=($!); done
allowed "a polkit that hangs stops nobody else" call $READ $WRITE
wait "${hanging[@]}"	# of one user only so many wait at a time; one more is refused at once
is "and means no" "$(grep -L -e "not authorized" -e "too many requests are waiting" /tmp/hanging.* | xargs -r tail -n 2)" ""; has "some by the deadline" "$(cat /tmp/hanging.*)" "not authorized"
for i in 1 2 3 4 5 6; do LIMIT=1 nobody Show 'a{sv}' 0 >/dev/null & done; wait
ok "senders that went away leave it well" busctl get-property $BUS State
pkill -CONT polkitd
fi
# arguments
has "another type" "$(busctl call $BUS Show s x 2>&1)" "nvalid"
has "an option that there is not" "$(call Show 'a{sv}' 1 colour s red)" "unknown option colour"
has "an option of another type" "$(call Apply 'a(ss)a{sv}' 0 1 confirm s soon)" "has the wrong type"
has "too long a confirmation" "$(call Apply 'a(ss)a{sv}' 0 1 confirm t 100000000)" "at most 86400"
has "too large a document" "$(
busctl call $BUS Validate 'a(ss)a{sv}' 257 $(for ((i = 0; i < 257; i++)); do echo f$i version=1; done) 0 2>&1)" "more than the"
ok "it lives" busctl get-property $BUS State
# a job that runs is cancelled: its changes so far are undone
many() { printf 'version = 1\n[[ipoib]]\nguid = "00:02:c9:03:00:31:78:f2"\nname = "mlx4_ib0"\nmtu = 1400\n'; for i in $(seq 1 "${1:-100}"); do printf '[[ipoib.pkey]]\npkey = %d\nmode = "%s"\n' $i $([ $((i % 2)) = 0 ] && echo datagram || echo connected); done; }
generation=$(generation)
job=$(call Apply 'a(ss)a{sv}' 1 f.toml "$(many)" 0 | awk '{print $2}')
main=$(systemctl show -p MainPID --value rdma-configd) procs=/sys/fs/cgroup/system.slice/rdma-configd.service/cgroup.procs
freeze() {	# however fast it is: its worker is stopped in the middle
	local end=$((SECONDS + 60)) process all
	until compgen -G '/sys/class/net/*.80*' >/dev/null || [ $SECONDS -gt $end ]; do :; done
	mapfile -t all <$procs
	workers=(); for process in "${all[@]}"; do [ "$process" = "$main" ] || { kill -STOP "$process" && workers+=("$process"); }; done
}
freeze
ok "the apply is at work" test "${#workers[@]}" -gt 0
has "the bus is answered meanwhile" "$(busctl get-property $BUS State)" '"working"'
has "and so are looks" "$(call History 'a{sv}' 0)" "generations"
ok "it can be cancelled" call Cancel 'ua{sv}' "$job" 0
kill -CONT "${workers[@]}"
ok "it comes to its end" lab-wait 120 "busctl call $BUS Result 'ua{sv}' $job 0"
has "and says so" "$(call Result 'ua{sv}' $job 0)" "cancelled"
is "nothing of it is left" "$(ip -br link show type ipoib | grep -c '@') $(mtu mlx4_ib0) $(generation)" "0 1500 $generation"
# one that waits for somebody else's apply has not begun: it is cancelled at once, and keeps nobody from stopping the service
flock -o /run/rdma-configd.lock sleep 300 & holder=$!
job=$(call Confirm 'a{sv}' 0 | awk '{print $2}')
ok "a job waits" lab-wait 30 'systemctl show -p StatusText rdma-configd | grep -q "is applying; waiting"'
ok "it can be cancelled" call Cancel 'ua{sv}' "$job" 0
ok "at once" lab-wait 5 "busctl call $BUS Result 'ua{sv}' $job 0 | grep -q cancelled"
call Confirm 'a{sv}' 0 >/dev/null
ok "another one waits" lab-wait 30 'systemctl show -p StatusText rdma-configd | grep -q "is applying; waiting"'
ok "the service ends" timeout 150 systemctl stop rdma-configd
is "well" "$(systemctl show -p Result --value rdma-configd)" success
kill $holder; wait $holder 2>/dev/null
ok "and starts" systemctl start rdma-configd
# who waits for an apply while the service is stopped has its result, and starts nothing
many 40 >/tmp/many.toml	# systemd gives the service 90 s for it
rdma-configctl apply --yes --config /tmp/many.toml >/tmp/out 2>&1 & client=$!
ok "the apply has begun" lab-wait 60 'ip -br link show type ipoib | grep -q "mlx4_ib0\.\|^ib[0-9.]*\.[08]"'
ok "stopped meanwhile" timeout 150 systemctl stop rdma-configd
wait $client
hasnt "the client has the whole report" "$(cat /tmp/out)" "without details"
is "and the service stays stopped" "$(systemctl is-active rdma-configd)" inactive
systemctl start rdma-configd
is "no crash" "$(journalctl -u rdma-configd -o cat --no-pager | grep -ci 'core dump\|terminate called')" 0
