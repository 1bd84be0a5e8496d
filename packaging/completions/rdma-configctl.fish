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
            printf '%s\n' devices ports pkeys gids roce ipoib dcb limits modules services lossless resources
            for one in devices ports interfaces guids
                __rdma_configctl_host $one
            end
        case PORT
            __rdma_configctl_host ports
        case INTERFACE
            __rdma_configctl_host interfaces
        case FORMAT
            if __fish_seen_subcommand_from export
                string split ' ' 'nm networkd netplan nmstate ifcfg udev commands'
            else
                string split ' ' 'host live udev nm ifcfg networkd netplan wicked ifupdown nmstate cloud-init cmdline scripts openib rdma-conf mlx4-conf modprobe sysctl limits opensm'
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
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a show -d 'What is there: devices, ports, P_Keys, interfaces, and how they stand to the document.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a status -d 'Is everything as it should be? One screen, with an exit status for monitoring.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a diff -d 'What apply would change, and what that interrupts.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a apply -d 'Make the host as the document says, all or nothing.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a confirm -d 'Keep what `apply --confirm` applied.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a rollback -d 'Go back to an earlier generation.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a history -d 'Generations: what was applied, when and by whom.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a reload -d 'Have the daemon read and apply the configuration, and say what came of it.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a edit -d 'Edit the document; it is checked before it takes the place of the old one.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a get -d 'Print a value of the document.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a set -d 'Change a value in the document\'s file; comments stay.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a monitor -d 'Print what the daemon does, as it happens.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a withdraw -d 'Hand the host over to its administrator, before rdma-configd is removed.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a wait-online -d 'Wait until the interfaces that are here have their addresses.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a validate -d 'Check the document without looking at the host.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a doctor -d 'Look for what commonly goes wrong, and say how to fix it.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a verify -d 'Test function: do packets come back, and how fast?'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a import -d 'One document from what the host has: files of other tools, or the running host.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a export -d 'The document in the language of another tool.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a schema -d 'Print the JSON Schema of the document, for editors.'
complete -c rdma-configctl -n 'not __fish_seen_subcommand_from show status diff apply confirm rollback history reload edit get set monitor withdraw wait-online validate doctor verify import export schema help' -a help -d 'Print the help of a subcommand.'
complete -c rdma-configctl -s f -l config -l file -x -a '(__rdma_configctl_value "FILE")' -d 'Read exactly this file instead of the system\'s, without drop-ins; - is standard input. Several are merged in their order.'
complete -c rdma-configctl -l root -x -a '(__rdma_configctl_value "DIR")' -d 'Offline: work on the files below DIR (an image) and on no device; the document is there, too.'
complete -c rdma-configctl -l host -x -a '(__rdma_configctl_value "FILE")' -d 'Look at the host of a report (doctor --report) in place of this one: show, diff, doctor, validate. Nothing on it can be changed.'
complete -c rdma-configctl -l json -d 'One JSON object on stdout, also in case of an error.'
complete -c rdma-configctl -s o -l format -x -a '(__rdma_configctl_value "LOOK")' -d 'text, wide (every column), name (only what things are called), json.'
complete -c rdma-configctl -l local -d 'Do it in this process, also when the daemon runs.'
complete -c rdma-configctl -l pending-ok -d 'Exit status 0 also when something is pending or limited.'
complete -c rdma-configctl -s v -l verbose -d 'Say more: files that were read, what is in sync.'
complete -c rdma-configctl -s q -l quiet -d 'Print errors and data only.'
complete -c rdma-configctl -l no-pager -d 'Do not start a pager on a terminal.'
complete -c rdma-configctl -l no-colour -l no-color -d 'No colour; NO_COLOR in the environment does the same.'
complete -c rdma-configctl -s V -l version -d 'Print the version.'
complete -c rdma-configctl -s h -l help -d 'Print this help, or that of a subcommand.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from show' -a '(__rdma_configctl_value "NAME")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from show' -l differs -d 'Only what is not as the document says.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from show' -l wide -d 'Leave out no column and fold nothing, however long the lines.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from show' -l document -d 'The document that applies to this host: drop-ins merged, defaults filled in.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from status' -l timeout -x -a '(__rdma_configctl_value "SECONDS")' -d 'Give up after so long, with exit status 1.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from diff' -a '(__rdma_configctl_value "FILE")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from diff' -l explain -d 'Name the file and line that ask for a value.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -a '(__rdma_configctl_value "FILE")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -s y -l yes -d 'Do not ask. Without a terminal it must be given.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l dry-run -d 'Only show what would be done, as diff does.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l allow-removal -d 'Also take away the interface of the default route or of a login session.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l retry -d 'Try again what the fabric limited before.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l install -d 'Make FILE the system\'s own document, /etc/rdma-configd/config.toml, once it is applied.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l confirm -x -a '(__rdma_configctl_value "TIME")' -d 'Roll back after so long unless it is confirmed before: 60, 60s, 5m.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l only -x -a '(__rdma_configctl_value "NAME")' -d 'Apply only what is called so, and what it needs: a section, a name or a pattern.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l boot -d 'For the boot unit: never ask, and say little.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from apply' -l wait -x -a '(__rdma_configctl_value "SECONDS")' -d 'Wait so long for carrier before an MTU is judged (default 2).'
complete -c rdma-configctl -n '__fish_seen_subcommand_from rollback' -a '(__rdma_configctl_value "N")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from rollback' -s y -l yes -d 'Do not ask. Without a terminal it must be given.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from rollback' -l expired -d 'For the timer of `apply --confirm`: only what was not confirmed in time.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from history' -a '(__rdma_configctl_value "WHAT")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from edit' -a '(__rdma_configctl_value "FILE")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from edit' -s y -l yes -d 'Do not ask. Without a terminal it must be given.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from edit' -l confirm -x -a '(__rdma_configctl_value "TIME")' -d 'Roll back after so long unless it is confirmed before: 60, 60s, 5m.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from get' -a '(__rdma_configctl_value "PATH")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from set' -a '(__rdma_configctl_value "PATH")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from set' -l unset -d 'Remove the key instead.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from withdraw' -s y -l yes -d 'Do not ask. Without a terminal it must be given.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from withdraw' -l dry-run -d 'Only show what would be done.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from wait-online' -l timeout -x -a '(__rdma_configctl_value "SECONDS")' -d 'Give up after so long (default 120); 0 only looks.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from validate' -a '(__rdma_configctl_value "FILE")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from doctor' -l report -x -a '(__rdma_configctl_value "FILE")' -d 'Write what is needed to judge this host to a new file, without what says whose it is; - is standard output.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l server -d 'Wait for clients, and echo what they send (on --to, else everywhere).'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l once -d 'With --server: end after one client.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l client -x -a '(__rdma_configctl_value "HOST")' -d 'Connect to a server at this address.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l mad -x -a '(__rdma_configctl_value "LID|GUID")' -d 'Ping a LID or a port GUID by management datagrams.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l from -x -a '(__rdma_configctl_value "PORT")' -d 'With --mad: the port to send from (mlx4_0/1); else the first active one.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l ipoib -x -a '(__rdma_configctl_value "INTERFACE")' -d 'Ping --to by this interface.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l to -x -a '(__rdma_configctl_value "ADDRESS")' -d 'The IPv4 address to ping, or to listen on.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l count -x -a '(__rdma_configctl_value "N")' -d 'How often (default 5).'
complete -c rdma-configctl -n '__fish_seen_subcommand_from verify' -l service -x -a '(__rdma_configctl_value "NUMBER")' -d 'Port number of server and client (default 20049).'
complete -c rdma-configctl -n '__fish_seen_subcommand_from import' -a '(__rdma_configctl_value "FORMAT")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from import' -l output -x -a '(__rdma_configctl_value "FILE")' -d 'Write the document to this file, not to stdout.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from import' -l name-template -x -a '(__rdma_configctl_value "TEMPLATE")' -d 'Give ports without a name of their own one, such as \'ipoib{number}\' or \'ib_{guid_tail}\'.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from import' -l adopt -d 'With live: take over names, addresses and routes, too; an apply then owns them.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from export' -a '(__rdma_configctl_value "FORMAT")'
complete -c rdma-configctl -n '__fish_seen_subcommand_from export' -l output -x -a '(__rdma_configctl_value "DIR")' -d 'Write the files below this folder, which is made, not to stdout.'
complete -c rdma-configctl -n '__fish_seen_subcommand_from help' -a '(__rdma_configctl_value "SUBCOMMAND")'
# end of generated
