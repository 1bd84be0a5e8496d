# SPDX-License-Identifier: Apache-2.0
# bash completion of rdma-configctl(1). Devices, GUIDs and interfaces are those of the host, read from /sys.

# generated: rdma-configctl reference bash
_rdma_configctl_commands='show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help'
_rdma_configctl_options() { # SUBCOMMAND
	case $1 in
	'') echo '-f --config --file --root --host --json -o --format --local --pending-ok -v --verbose -q --quiet --no-pager --no-colour --no-color -V --version -h --help';;
	show) echo '--differs --wide --document';;
	status) echo '--timeout';;
	diff) echo '--explain';;
	apply) echo '-y --yes --dry-run --allow-removal --retry --install --confirm --only --boot --wait';;
	confirm) echo '';;
	rollback) echo '-y --yes --expired';;
	history) echo '';;
	reload) echo '';;
	edit) echo '-y --yes --confirm';;
	get) echo '';;
	set) echo '--unset';;
	monitor) echo '';;
	metrics) echo '--features --output';;
	withdraw) echo '-y --yes --dry-run';;
	wait-online) echo '--timeout';;
	validate) echo '';;
	doctor) echo '--report';;
	verify) echo '--server --once --client --mad --from --ipoib --to --count --service';;
	fabric) echo '--from --tree --route --compare --cables --clear-counters --wide --timeout';;
	import) echo '--output --name-template --adopt';;
	export) echo '--output';;
	fleet) echo '--hosts --by';;
	schema) echo '';;
	help) echo '';;
	esac
}
_rdma_configctl_takes() { # SUBCOMMAND/OPTION: the kind of its argument
	case $1 in
	/-f|/--config|/--file) echo 'FILE';;
	/--root) echo 'DIR';;
	/--host) echo 'NAME|FILE';;
	/-o|/--format) echo 'STYLE';;
	show/) echo 'NAME';;
	status/--timeout) echo 'TIME';;
	diff/) echo 'FILE';;
	apply/) echo 'FILE';;
	apply/--confirm) echo 'TIME';;
	apply/--only) echo 'NAME';;
	apply/--wait) echo 'SECONDS';;
	rollback/) echo 'N';;
	history/) echo 'WHAT';;
	edit/) echo 'FILE';;
	edit/--confirm) echo 'TIME';;
	get/) echo 'PATH';;
	set/) echo 'PATH';;
	metrics/--output) echo 'FILE';;
	wait-online/--timeout) echo 'TIME';;
	validate/) echo 'FILE';;
	doctor/--report) echo 'FILE';;
	verify/--client) echo 'HOST';;
	verify/--mad) echo 'LID|GUID';;
	verify/--from) echo 'PORT';;
	verify/--ipoib) echo 'INTERFACE';;
	verify/--to) echo 'ADDRESS';;
	verify/--count) echo 'N';;
	verify/--service) echo 'NUMBER';;
	fabric/) echo 'TOPIC';;
	fabric/--from) echo 'PORT';;
	fabric/--route) echo 'GUID';;
	fabric/--compare) echo 'FILE';;
	fabric/--cables) echo 'FILE';;
	fabric/--clear-counters) echo 'PORT|NODE|all';;
	fabric/--timeout) echo 'TIME';;
	import/) echo 'FORMAT';;
	import/--output) echo 'FILE';;
	import/--name-template) echo 'TEMPLATE';;
	export/) echo 'FORMAT';;
	export/--output) echo 'DIR';;
	fleet/) echo 'WHAT';;
	fleet/--hosts) echo 'HOSTS|FILE';;
	fleet/--by) echo 'PATTERN|FILE';;
	help/) echo 'SUBCOMMAND';;
	esac
}
# end of generated

_rdma_configctl_devices() {
	local device
	for device in "${_rdma_configctl_sys:-/sys}"/class/infiniband/*; do
		[ -e "$device" ] && echo "${device##*/}"
	done
}

_rdma_configctl_ports() {
	local port device
	for port in "${_rdma_configctl_sys:-/sys}"/class/infiniband/*/ports/*; do
		[ -e "$port" ] || continue
		device=${port%/ports/*}
		echo "${device##*/}/${port##*/}"
	done
}

# Port GUIDs are the last half of the first GID. Readline breaks words at colons, so it must be told.
_rdma_configctl_guids() {
	local port gid layer word
	for port in "${_rdma_configctl_sys:-/sys}"/class/infiniband/*/ports/*; do
		{ read -r layer <"$port/link_layer" && read -r gid <"$port/gids/0"; } 2>/dev/null || continue
		[ "$layer" = InfiniBand ] || continue
		gid=${gid#*:*:*:*:} word=${gid//:/}
		echo "${word:0:2}:${word:2:2}:${word:4:2}:${word:6:2}:${word:8:2}:${word:10:2}:${word:12:2}:${word:14:2}"
	done
}

_rdma_configctl_interfaces() {
	local link type
	for link in "${_rdma_configctl_sys:-/sys}"/class/net/*; do
		read -r type 2>/dev/null <"$link/type" && [ "$type" = 32 ] && echo "${link##*/}"
	done
}

_rdma_configctl_generations() {
	local file
	for file in /var/lib/rdma-configd/generations/*.json; do
		file=${file##*/} file=${file%.json}
		[ "$file" = "*" ] || echo "$file"
	done
}

# WORDS TYPED: sets COMPREPLY. Not with compgen -W, which expands each word: an interface may be called $(command). Names that the
# shell would not take literally on the command line are not offered.
_rdma_configctl_matches() {
	local -a words
	local word
	COMPREPLY=()
	IFS=$' \t\n' read -r -d '' -a words <<<"$1"
	for word in "${words[@]}"; do
		[[ $word == "$2"* && $word != *[!A-Za-z0-9_./:@%+,-]* ]] && COMPREPLY+=("$word")
	done
}

_rdma_configctl() {
	local command="" takes="" i
	# The word as it is typed, and the one before: COMP_WORDS has them in pieces, broken at : and =.
	local line=${COMP_LINE:0:COMP_POINT}
	local typed=${line##*[[:space:]]}
	line=${line%"$typed"}
	line=${line%"${line##*[![:space:]]}"}
	local previous=${line##*[[:space:]]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		[ -n "$(_rdma_configctl_takes "/${COMP_WORDS[i-1]}")" ] && continue
		case " $_rdma_configctl_commands " in *" ${COMP_WORDS[i]} "*) command=${COMP_WORDS[i]}; break;; esac
	done
	local left=""
	case $typed in
	--*=*)
		previous=${typed%%=*} left=$previous=; typed=${typed#*=};;
	esac
	case $previous in
	-*)
		takes=$(_rdma_configctl_takes "/$previous")
		[ -n "$takes" ] || takes=$(_rdma_configctl_takes "$command/$previous");;
	esac
	if [ -z "$takes" ]; then
		case $typed in
		-*)
			mapfile -t COMPREPLY < <(compgen -W "$(_rdma_configctl_options "") $(_rdma_configctl_options "$command")" -- "$typed")
			return;;
		esac
		if [ -z "$command" ]; then
			mapfile -t COMPREPLY < <(compgen -W "$_rdma_configctl_commands" -- "$typed")
			return
		fi
		takes=$(_rdma_configctl_takes "$command/")
	fi
	local words=""
	case $takes in
	FILE)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$typed"; compgen -f -X '!*.toml' -- "$typed")
		return;;
	DIR)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$typed")
		return;;
	HOST)
		mapfile -t COMPREPLY < <(compgen -A hostname -- "$typed")
		return;;
	SUBCOMMAND) words=$_rdma_configctl_commands;;
	LOOK) words="text wide name json";;
	WHAT) words=show;;
	NAME) words="devices ports pkeys gids counters roce ipoib dcb limits modules services lossless resources $(_rdma_configctl_devices; _rdma_configctl_ports; _rdma_configctl_interfaces; _rdma_configctl_guids)";;
	PORT) words="$(_rdma_configctl_ports)";;
	INTERFACE) words="$(_rdma_configctl_interfaces)";;
	FORMAT)
		if [ "$command" = export ]; then words="nm networkd netplan nmstate ifcfg udev targetcli nvmetcli commands"
		elif [[ " ${COMP_WORDS[*]:1:COMP_CWORD-1} " =~ \ import\ +[a-z] ]]; then
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$typed")
			return
		else words="host live udev nm ifcfg networkd netplan wicked ifupdown nmstate system-roles cloud-init cmdline scripts sysfs openib rdma-conf mlx4-conf modprobe sysctl limits opensm srp nvme lio"
		fi;;
	*GUID) words="$(_rdma_configctl_guids)";;
	N) [ "$command" = rollback ] && words="$(_rdma_configctl_generations)";;
	esac
	_rdma_configctl_matches "$words" "$typed"
	# Text before the last separator is not part of the word that readline replaces.
	local before=$typed
	case $COMP_WORDBREAKS in
	*:*) case $before in *:*) before=${before%:*}:; COMPREPLY=("${COMPREPLY[@]#"$before"}");; esac;;
	*) [ -n "$left" ] && case $COMP_WORDBREAKS in *=*) ;; *) COMPREPLY=("${COMPREPLY[@]/#/$left}");; esac;;
	esac
}
complete -F _rdma_configctl rdma-configctl
