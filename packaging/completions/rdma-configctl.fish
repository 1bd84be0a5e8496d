# SPDX-License-Identifier: Apache-2.0
# fish completion of rdma-configctl(1). Devices, GUIDs and interfaces are those of the host, read from /sys.

function __rdma_configctl_host -a what
    set -l sys /sys
    set -q _rdma_configctl_sys; and set sys $_rdma_configctl_sys
    switch $what
        case devices
            for at in $sys/class/infiniband/*
                basename $at
            end
        case ports
            for at in $sys/class/infiniband/*/ports/*
                string replace -r '^.*/([^/]+)/ports/([^/]+)$' '$1/$2' $at
            end
        case guids
            for at in $sys/class/infiniband/*/ports/*
                test (cat $at/link_layer 2>/dev/null; or echo none) = InfiniBand; or continue
                set -l gid (string replace -a : '' <$at/gids/0)
                string sub -s 17 $gid | string replace -ra '(..)(?!$)' '$1:'
            end
        case interfaces
            for at in $sys/class/net/*
                test (cat $at/type 2>/dev/null; or echo none) = 32; and basename $at
            end
    end
end

function __rdma_configctl_value -a what
    switch $what
        case FILE
            __fish_complete_suffix .toml
        case DIR
            __fish_complete_directories
        case HOST
            __fish_print_hostnames
        case NAME
            printf '%s\n' devices ports pkeys gids counters roce ipoib dcb limits modules services lossless resources
            for sort in devices ports interfaces guids
                __rdma_configctl_host $sort
            end
        case PORT
            __rdma_configctl_host ports
        case INTERFACE
            __rdma_configctl_host interfaces
        case FORMAT
            if __fish_seen_subcommand_from export
                string split ' ' 'nm networkd netplan nmstate ifcfg udev targetcli nvmetcli commands'
            else
                string split ' ' 'host live udev nm ifcfg networkd netplan wicked ifupdown nmstate system-roles cloud-init cmdline scripts sysfs openib rdma-conf mlx4-conf modprobe sysctl limits opensm srp nvme lio'
                __fish_complete_path (commandline -ct)
            end
        case '*GUID'
            __rdma_configctl_host guids
        case LOOK
            printf '%s\n' text wide name json
        case WHAT
            echo show
        case N
            __fish_seen_subcommand_from rollback
            and for at in /var/lib/rdma-configd/generations/*.json
                basename $at .json
            end
    end
end

complete -c rdma-configctl -f
# generated: rdma-configctl reference fish
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a show -d 'Show devices, ports, P_Keys and interfaces, and how they compare with the document.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a status -d 'Show the state of the host on one screen, with an exit status for monitoring.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a diff -d 'Show the changes that apply would make, and what they interrupt.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a apply -d 'Make the host match the document: all of it, or nothing.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a confirm -d 'Keep the changes made by `apply --confirm`.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a rollback -d 'Go back to an earlier generation.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a history -d 'List the generations: applied documents, when, and by whom.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a reload -d 'Have the daemon read and apply the configuration, and report the result.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a edit -d 'Edit the document; it is checked before it replaces the old one.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a get -d 'Print a value of the document.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a set -d 'Change a value in the document\'s file, keeping its comments.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a monitor -d 'Print the daemon\'s events as they happen.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a metrics -d 'Print the state of the host as metrics for Prometheus.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a withdraw -d 'Hand the host over to its administrator, before rdma-configd is removed.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a wait-online -d 'Wait until the interfaces that are present have their addresses.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a validate -d 'Check the document without looking at the host.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a doctor -d 'Look for common problems, and suggest fixes.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a verify -d 'Test connectivity and latency over RDMA, the fabric or IPoIB.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a fabric -d 'Show the InfiniBand fabric: hosts, switches, links, partitions.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a import -d 'Make one document from other tools\' files, or from the running host.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a export -d 'Write the document in the language of another tool.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a fleet -d 'Check the document for all hosts of a site, or summarize their reports.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a schema -d 'Print the JSON Schema of the document, for editors.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor metrics withdraw wait-online validate doctor verify fabric import export fleet schema help' -a help -d 'Print the help of a subcommand.'
complete -c rdma-configctl -s f -l config -l file -x -a '(__rdma_configctl_value "FILE")' -d 'Read exactly this file instead of the system\'s, without drop-ins; - is standard input. Repeat it to merge several in order.'
complete -c rdma-configctl -l root -x -a '(__rdma_configctl_value "DIR")' -d 'Offline: work on the files below DIR (an image) without touching devices; the document is read from there, too.'
complete -c rdma-configctl -l host -x -a '(__rdma_configctl_value "NAME|FILE")' -d 'NAME: the document as that host reads it (validate, show --document, diff with --root). FILE (contains a / or ends in .json): the host of a report (doctor --report) instead of this one, read-only (show, diff, doctor, validate).'
complete -c rdma-configctl -l json -d 'Print one JSON object on stdout, even for an error.'
complete -c rdma-configctl -s o -l format -x -a '(__rdma_configctl_value "STYLE")' -d 'text, wide (every column) or json; show, status and fabric also take name (names only), fabric also dot (Graphviz) and svg.'
complete -c rdma-configctl -l local -d 'Work in this process, even if the daemon runs.'
complete -c rdma-configctl -l pending-ok -d 'Exit with 0 even if something is pending or limited.'
complete -c rdma-configctl -s v -l verbose -d 'Print more: the files read, the resources in sync.'
complete -c rdma-configctl -s q -l quiet -d 'Print errors and data only.'
complete -c rdma-configctl -l no-pager -d 'Do not start a pager on a terminal.'
complete -c rdma-configctl -l no-colour -l no-color -d 'Do not use colour; NO_COLOR in the environment does the same.'
complete -c rdma-configctl -s V -l version -d 'Print the version.'
complete -c rdma-configctl -s h -l help -d 'Print this help, or that of a subcommand.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from show' -a '(__rdma_configctl_value "NAME")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from show' -l differs -d 'Only resources that differ from the document.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from show' -l wide -d 'Show every column and every P_Key interface, however long the lines.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from show' -l document -d 'The document that applies to this host: drop-ins merged, defaults filled in.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from status' -l timeout -x -a '(__rdma_configctl_value "TIME")' -d 'Give up after TIME (60, 60s, 5m), with exit status 1.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from diff' -a '(__rdma_configctl_value "FILE")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from diff' -l explain -d 'Name the file and line behind each value.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -a '(__rdma_configctl_value "FILE")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -s y -l yes -d 'Do not prompt; required without a terminal.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l dry-run -d 'Only show the changes, as diff does.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l allow-removal -d 'Allow removing the interface of the default route or of a login session.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l retry -d 'Retry values that the fabric limited before.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l install -d 'Make FILE the system\'s own document, /etc/rdma-configd/config.toml, once it is applied.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l confirm -x -a '(__rdma_configctl_value "TIME")' -d 'Roll back after TIME unless confirmed: 60, 60s, 5m.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l only -x -a '(__rdma_configctl_value "NAME")' -d 'Apply only entries that match, and their dependencies: a section, a name, SECTION[NAME] or a pattern.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l boot -d 'For the boot unit: never prompt, and print little.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l wait -x -a '(__rdma_configctl_value "SECONDS")' -d 'Wait up to SECONDS (default 4) for carrier, and at least 4 for address checks; 0: do not wait.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from rollback' -a '(__rdma_configctl_value "N")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from rollback' -s y -l yes -d 'Do not prompt; required without a terminal.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from rollback' -l expired -d 'For the timer of `apply --confirm`: roll back only an apply that was not confirmed in time.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from history' -a '(__rdma_configctl_value "WHAT")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from edit' -a '(__rdma_configctl_value "FILE")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from edit' -s y -l yes -d 'Do not prompt; required without a terminal.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from edit' -l confirm -x -a '(__rdma_configctl_value "TIME")' -d 'Roll back after TIME unless confirmed: 60, 60s, 5m.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from get' -a '(__rdma_configctl_value "PATH")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from set' -a '(__rdma_configctl_value "PATH")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from set' -l unset -d 'Remove the key instead.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from metrics' -l features -d 'Print a summary as a feature file for Kubernetes\' Node Feature Discovery.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from metrics' -l output -x -a '(__rdma_configctl_value "FILE")' -d 'Replace FILE instead of writing to stdout.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from withdraw' -s y -l yes -d 'Do not prompt; required without a terminal.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from withdraw' -l dry-run -d 'Only show the changes.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from wait-online' -l timeout -x -a '(__rdma_configctl_value "TIME")' -d 'Give up after TIME: 60, 60s, 5m (default 120s); 0 checks once.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from validate' -a '(__rdma_configctl_value "FILE")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from doctor' -l report -x -a '(__rdma_configctl_value "FILE")' -d 'Write a report of this host, without identifying data, to a new file; - is standard output.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l server -d 'Wait for clients, and echo their messages (on --to, else on every address).'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l once -d 'With --server: exit after one client.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l client -x -a '(__rdma_configctl_value "HOST")' -d 'Connect to a server at this address.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l mad -x -a '(__rdma_configctl_value "LID|GUID")' -d 'Ping a LID or a port GUID with management datagrams.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l from -x -a '(__rdma_configctl_value "PORT")' -d 'With --mad: the port to send from (mlx4_0/1); default: the first active one.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l ipoib -x -a '(__rdma_configctl_value "INTERFACE")' -d 'Ping --to over this interface.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l to -x -a '(__rdma_configctl_value "ADDRESS")' -d 'The IPv4 address to ping, or to listen on.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l count -x -a '(__rdma_configctl_value "N")' -d 'Number of messages (default 5).'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l service -x -a '(__rdma_configctl_value "NUMBER")' -d 'Port number of server and client (default 20049).'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fabric' -a '(__rdma_configctl_value "TOPIC")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fabric' -l from -x -a '(__rdma_configctl_value "PORT")' -d 'The local port to use (mlx4_0/1); default: the first active one.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fabric' -l tree -d 'Show a tree, from the topmost switches down to the hosts.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fabric' -l route -x -a '(__rdma_configctl_value "GUID")' -d 'Also show the route of packets to this port GUID.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fabric' -l compare -x -a '(__rdma_configctl_value "FILE")' -d 'Compare with a fabric saved by --json; exit status 2 if something differs.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fabric' -l cables -x -a '(__rdma_configctl_value "FILE")' -d 'Compare with the [[cable]] entries of this file instead of the document.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fabric' -l clear-counters -x -a '(__rdma_configctl_value "PORT|NODE|all")' -d 'Show the counters of this port (leaf1/7) or node, or of all, and then set those of errors to 0.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fabric' -l wide -d 'Show every column, host and link.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fabric' -l timeout -x -a '(__rdma_configctl_value "TIME")' -d 'Give up after TIME in all: 60, 60s, 5m (default 60s).'
complete -c rdma-configctl -n '__fish_seen_subcommand_from import' -a '(__rdma_configctl_value "FORMAT")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from import' -l output -x -a '(__rdma_configctl_value "FILE")' -d 'Write the document to this file instead of stdout.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from import' -l name-template -x -a '(__rdma_configctl_value "TEMPLATE")' -d 'Name ports that have no name, for example \'ipoib{number}\' or \'ib_{guid_tail}\'.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from import' -l adopt -d 'With live: take over names, addresses and routes as well; an apply then owns them.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from export' -a '(__rdma_configctl_value "FORMAT")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from export' -l output -x -a '(__rdma_configctl_value "DIR")' -d 'Write the files below this folder, which is created, instead of stdout.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fleet' -a '(__rdma_configctl_value "WHAT")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fleet' -l hosts -x -a '(__rdma_configctl_value "HOSTS|FILE")' -d 'The hosts, as in \'gpu[001-512],login1\', or a file with such items, one or more a line; - is standard input. With report, only their output is read, and hosts without output are reported.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from fleet' -l by -x -a '(__rdma_configctl_value "PATTERN|FILE")' -d 'With report: the group of each host, by a pattern of its name with {group} in it, such as \'{group}n*\', or by a file: a CSV table with the columns host and group, or TOML with GROUP = HOSTS.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from help' -a '(__rdma_configctl_value "SUBCOMMAND")'
# end of generated
