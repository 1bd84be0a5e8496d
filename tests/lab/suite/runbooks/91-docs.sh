# The documentation: its commands are run as they are written, and what README.md shows is what they print.
# lab: --full --timeout 600
# tree: full
lab-load devs=ib:mlx4_0:2 guid_base=0x0002c903003178f1
udevadm settle
# NetworkManager brings both interfaces up, as README.md shows them.
ok "both interfaces have carrier" eval 'wait_carrier "$(lab-net 78f2)" && wait_carrier "$(lab-net 78f3)"'
D=/suite/docs
cd /root
# Of apply a person is asked; here nobody is there to answer.
no_daemon
rdma-configctl() { if [ "$1" = apply ]; then command rdma-configctl "$@" --yes "${PATIENCE[@]}"; else command rdma-configctl "$@"; fi; }
section() { awk -v title="$2" '/^## / { in_it = $0 == "## " title } in_it' "$D/$1"; }		# FILE TITLE
blocks() { awk '/^```/ { wanted = !inside && $0 == "```"; inside = !inside; next } inside && wanted'; }		# of no language, from standard input
# Each paragraph of the first text is part of the second one, however lines are broken; lines in parentheses stand for something.
words() { xargs -d '\n' echo | tr -s ' ' | sed 's/^ //; s/ $//'; }
# Linux before 6.2 takes an interface down to rename it, which the documents' examples leave out.
older=; kernel_from 6.2 || older='link down for a moment (kernels before 6.2); addresses, routes and rules are restored; '
shown_in() {
	local want have; have=$(words <<<"$2"); have=${have//"$older"/}
	while IFS= read -r -d '' want; do
		want=$(grep -v '^(' <<<"$want" | words)
		[[ $have = *"$want"* ]] || { printf '%s\n' "not there: $want" "$2"; return 1; }
	done < <(sed 's/^$/\x00/' <<<"$1"; printf '\0')
}

# README.md: "What it looks like", command by command
mkdir -p /etc/rdma-configd; cp $D/config.toml $CONF
command= expected=
try() {
	[ -n "$command" ] || return 0
	local out; out=$(eval "$command" 2>&1)
	ok "README.md: $command" shown_in "$expected" "$out"
}
n=0
while IFS= read -r line; do
	case $line in
	'# rdma-configctl '*) try; command=${line#'# '} expected= n=$((n + 1)); [[ $command != *show ]] || wait_carriers 'mlx4_ib0*';;
	config.toml:*) [ -z "$command" ] || try; command=; mistakes+=$line$'\n';;
	*) if [ -n "$command" ]; then expected+=$line$'\n'; elif [ -n "$mistakes" ]; then mistakes+=$line$'\n'; fi;;
	esac
done < <(section README.md "What it looks like" | blocks)
is "README.md: as many commands as it shows" $n 4
printf 'version = 1\n[[ipoib]]\nguid = "00:02:c9:03:00:31:78:f2"\nmode = "conected"\nmtuu = 65520\n' >config.toml
repaired=$(grep -o '`repaired: [^`]*`' $D/README.md | tr -d '`')
ok "README.md: the mistakes" shown_in "$mistakes" "$(rdma-configctl validate --config config.toml 2>&1)"
PATIENCE=()
ok "README.md: the daemon is switched on" systemctl enable --now rdma-configd
ok "it runs" lab-wait 60 'busctl get-property org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager State | grep -q idle'
ip link set mlx4_ib0 mtu 2044
# Where NetworkManager runs it is named as the suspect.
said() { journalctl -u rdma-configd -o cat | awk -v line="$repaired" '$0 == line || index($0, line "; cause unknown") == 1 {found = 1} END {exit !found}'; }
end=$((SECONDS + 180)); until said || [ $SECONDS -ge $end ]; do sleep .2; done
ok "README.md: $repaired" said

# The other pages: each command, with the exit status that it is to have (another one than 0 stands here)
declare -A exit_of=(["rdma-configctl import > /tmp/config.toml"]="0 5" ["rdma-configctl diff --config /tmp/config.toml"]="0 2"
	["rdma-configctl export nm --output /tmp/tree"]="0 5" ["rdma-configctl export commands > runbook.sh"]="0 5"
	["rdma-configctl apply --yes --root /srv/images/node"]="0 5" ["rdma-configctl diff"]="0 2")
mkdir -p /srv/images/node/etc/rdma-configd; cp $D/config.toml /srv/images/node/etc/rdma-configd/
run_all() {	# FILE NUMBER: the lines that begin with a command
	local file=$1 rc out n=0
	while IFS= read -r line; do
		line=${line%%  #*}; while [[ $line = *' ' ]]; do line=${line% }; done
		n=$((n + 1)); out=$(eval "$line" 2>&1 </dev/null); rc=$?
		case " ${exit_of[$line]:-0} " in *" $rc "*) pass "$file: $line";; *) fail "$file: $line: exit $rc" "$out";; esac
	done < <(blocks <"$D/$file" | grep -E '^(rdma-configctl|busctl|systemctl) ' | grep -v '^rdma-configctl: \|busctl monitor')
	is "$file: as many commands as it shows" $n "$2"
}
sed -i s/2044/2000/ $CONF		# so that there is something to confirm
run_all RECIPES.md 5
exits "the recipe's question, answered" 0 rdma-configctl confirm
run_all IMPORT.md 5
# Texts of a report may have an apostrophe, as the name of a file here.
printf 'version = 1\n[[ipoib]]\nguid = "00:02:c9:03:00:31:78:f2"\numcast = false\n' | install -Dm644 /dev/stdin "/etc/rdma-configd/conf.d/it's.toml"
exits "a drop-in with an apostrophe" 0 command rdma-configctl apply --yes --pending-ok
has "it is in the report" "$(busctl call org.rdmaconfigd1 /org/rdmaconfigd1 org.rdmaconfigd1.Manager Show 'a{sv}' 0)" "it\\'s.toml"
run_all DBUS.md 5
is "the image has the rule" "$(grep -c 00:02:c9:03:00:31:78:f2 /srv/images/node/etc/udev/rules.d/70-*.rules)" 1
