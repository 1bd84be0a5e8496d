// SPDX-License-Identifier: Apache-2.0
#include "ctl/docs/command_texts.hpp"

#include <array>

namespace rdmacfg::ctl {

namespace {

constexpr auto kCommands = std::to_array<CommandText>({
    {"show", "[TOPIC...] [NAME|GLOB...]",
     "Show devices, ports, P_Keys and interfaces, and how they compare with the document.",
     "Shows RDMA devices (firmware, board id, node GUID), their ports (state, rate, LIDs, MTUs, GUID), P_Key "
     "tables, IPoIB interfaces with their addresses, and how each resource compares with the document: in "
     "sync, differs, limited, pending, unmet, foreign, released or ignored. With NAME, shows only that "
     "device, port (mlx4_0/1), interface or GUID, with every detail; several names and patterns such as "
     "'mlx5_*' work too. A TOPIC shows one part: devices, ports, pkeys, gids, counters (those above 0; "
     "--wide shows all), roce, ipoib, dcb, limits, modules, services, lossless or resources. When a port has "
     "many P_Key interfaces, they fold into one line; --wide shows each. It changes nothing and does not "
     "need root; values that cannot be read are \"unknown\".",
     "show\tthe whole host\nshow ports\tthe ports only\nshow ipoib 'ib*' --wide\tinterfaces by pattern, "
     "with every column\nshow mlx5_0/1\tone port in detail\nshow counters mlx5_0\terrors and traffic that "
     "its ports have counted\nshow --differs\tonly the differences from the document\nshow --document\tthe "
     "document that applies to this host, with its drop-ins merged"},
    {"status", "", "Show the state of the host on one screen, with an exit status for monitoring.",
     "Shows whether the daemon runs, which generation is active, who applied it and when, what is waiting "
     "for confirmation and how long it still has, what is pending, limited, unmet, contended or different, "
     "and what the daemon has repaired. It changes nothing and does not need root. Exit status 0: everything "
     "matches the document; 5: something is waiting (pending, limited, or an unconfirmed apply), or an "
     "expectation is not met, which --pending-ok does not change; 2: something is wrong (different, failed, "
     "contended, DEGRADED, or the document is not the active one); 1: the document has errors, or the host "
     "could not be read.",
     "status\tthe screen\nstatus -q\tonly the exit status\nstatus --json\tfor a monitoring agent"},
    {"diff", "[FILE...|N [M]]", "Show the changes that apply would make, and what they interrupt.",
     "Compares the host with the document, or with the documents in the FILEs: + is created, ~ is changed, - "
     "is deleted. Each line shows the current and the desired value, when the change takes effect unless at "
     "once, and what it interrupts. With a number N it compares the host with generation N; with two "
     "numbers, the texts of two generations. It changes nothing. Exit status 2 means that there are changes "
     "to make, 5 that something is pending, limited or unmet.",
     "diff\twhat an apply would do\ndiff new.toml\twhat applying new.toml would do\ndiff --explain\twith the "
     "file and line behind each value\ndiff 3\twhat going back to generation 3 would do\ndiff 3 5\tlines of "
     "the document that changed from 3 to 5"},
    {"apply", "[FILE...]", "Make the host match the document: all of it, or nothing.",
     "Shows the changes, asks, makes them, and verifies that the kernel did. If one is refused, all are "
     "undone. Values limited by the fabric are kept and reported; changes that wait for a device or a reboot "
     "are pending; expectations that are not met are reported, and undo nothing. The daemon enforces the "
     "document in FILE until it reads the system's own, at its next start or reload; --install makes it the "
     "system's own. With --confirm on a terminal, it counts down and asks whether to keep the changes; "
     "elsewhere `rdma-configctl confirm` keeps them. With --only, the selected entries are put into the "
     "active document, and the rest of the host stays as it is. Needs root, or the daemon and its "
     "permission.",
     "apply\tapply /etc/rdma-configd/config.toml and its drop-ins\napply --dry-run\tshow the changes "
     "only\napply --confirm 5m\tundo everything unless confirmed within five minutes\napply --only "
     "'mlx4_ib0*'\tonly that interface and its P_Key interfaces\napply --install new.toml\tapply new.toml "
     "and keep it in /etc\ngenerate | rdma-configctl apply --yes -f -\tread the document from standard "
     "input"},
    {"confirm", "", "Keep the changes made by `apply --confirm`.",
     "After `apply --confirm TIME`, the host goes back to its former state unless this is called in time, so "
     "that a change that cuts off its own administrator undoes itself. If that apply had nothing to change, "
     "or is confirmed already, it says so. Needs root, or the daemon and its permission.",
     "confirm\tfrom a second session, which proves that the host can still be reached"},
    {"rollback", "[N]", "Go back to an earlier generation.",
     "Every applied document is a generation. Without N, goes back to the one before the active one; an "
     "apply that is waiting for confirmation is undone exactly, setting by setting. Otherwise it shows the "
     "changes and asks. A document that was rolled back is not applied again at boot until it changes. Needs "
     "root, or the daemon and its permission.",
     "rollback\tto the generation before\nrollback 3\tto generation 3; `rdma-configctl diff 3` shows the "
     "changes first"},
    {"history", "[show N]", "List the generations: applied documents, when, and by whom.",
     "Lists the documents that were applied, newest last, with the active one marked. `history show N` "
     "prints the files of generation N as they were applied. It changes nothing.",
     "history\tthe list\nhistory show 3\tthe document of generation 3"},
    {"reload", "", "Have the daemon read and apply the configuration, and report the result.",
     "Asks the daemon to read /etc/rdma-configd again and to apply it part by part, as at boot, and waits "
     "until it has finished. Exit status 1: the document has errors or was rolled back before, and the "
     "active generation stays. `systemctl reload rdma-configd` calls this. Needs root, or the daemon's "
     "permission.",
     "reload\tafter a change in /etc/rdma-configd"},
    {"edit", "[FILE]", "Edit the document; it is checked before it replaces the old one.",
     "Opens the document, or the drop-in FILE, in $VISUAL or $EDITOR. When the editor exits, the text is "
     "checked; if it has errors, it can be edited again, and the file is not touched. Then it shows the "
     "changes and asks, writes the file, and applies it with --confirm (60 s unless another time is given). "
     "Needs root.",
     "edit\t/etc/rdma-configd/config.toml\nedit /etc/rdma-configd/conf.d/20-storage.toml --confirm 5m\ta "
     "drop-in, with five minutes to confirm"},
    {"get", "PATH", "Print a value of the document.",
     "Prints the value of the document at PATH, after merging drop-ins and defaults: SECTION.KEY, or "
     "SECTION[SELECTOR].KEY if there are several entries. A SELECTOR is a number from 0, a value that names "
     "the entry (its guid, name, interface, pkey), or KEY=VALUE; behind the key of a list, a number selects "
     "one value. A PATH without a key prints all keys of the entry.",
     "get rdma_system.netns\ta key of a section\nget ipoib[mlx4_ib0].mtu\tof the entry with that name\nget "
     "'ipoib[guid=00:02:c9:03:00:31:78:f2].pkey[0x8002].mode'\tof a P_Key interface"},
    {"set", "PATH VALUE|PATH=VALUE", "Change a value in the document's file, keeping its comments.",
     "Writes VALUE at PATH (see `get`) into the file that has the entry, and changes nothing else in it: "
     "comments and order stay. VALUE is TOML; a word that is not TOML is taken as a string, or as a list "
     "separated by commas where the key takes a list. A missing section is added at the end of the file. The "
     "new text is checked before it is written. --unset removes the key, or one value of a list. Nothing is "
     "applied: `rdma-configctl apply` does that. Needs root for files in /etc.",
     "set ipoib[mlx4_ib0].mtu 4092\tchange a number\nset 'ipoib[mlx4_ib0].mode' connected\tchange a "
     "string\nset 'ipoib[mlx4_ib0].ipv4.addresses' 192.0.2.1/24,192.0.2.2/24\ta list\nset --unset "
     "ipoib[mlx4_ib0].umcast\tremove a key\nset --unset ipoib[mlx4_ib0].ipv4.addresses[0]\tremove the first "
     "value of a list\nset -f new.toml rdma_system.netns shared\tin another file"},
    {"monitor", "", "Print the daemon's events as they happen.",
     "Prints a line for each event of the daemon: changes, repairs, drift, contention, refusals, "
     "generations. Ends with ^C, or when the daemon exits (exit status 1). With --json, prints one object "
     "per line. Does not need root.",
     "monitor\tfollow the daemon\nmonitor --json | jq -r .text\tfor a program"},
    {"metrics", "", "Print the state of the host as metrics for Prometheus.",
     "Prints, in the text format of node_exporter's textfile collector, how many resources match the "
     "document, by kind and status, why others are not, the generation, the last apply, what waits for "
     "confirmation, and what the daemon has repaired. With --output, it replaces FILE in one step. The "
     "daemon keeps such a file itself if [daemon] metrics names a folder. With --features, it prints a "
     "feature file for Kubernetes' Node Feature Discovery instead. It changes nothing and does not need "
     "root, but only root sees the generation and the last apply. Exit status 0: done; 1: the host could not "
     "be compared with the document, which the metrics report, or FILE could not be written.",
     "metrics\tthe metrics\nmetrics --output /var/lib/prometheus/node-exporter/rdma-configd.prom\tfor the "
     "textfile collector, from a timer\nmetrics --features --output "
     "/etc/kubernetes/node-feature-discovery/features.d/rdma-configd\tlabels of the node"},
    {"withdraw", "", "Hand the host over to its administrator, before rdma-configd is removed.",
     "Stops the daemon and hands over everything that rdma-configd has written: its files stay under other "
     "names (rdma-admin for rdma-configd), blocks in other programs' files lose their markers, and scripts "
     "called by udev set up modes, MTUs, P_Key interfaces, addresses and routes at boot, except where a "
     "NetworkManager profile does. Everything that cannot be handed over is named. The network stays as it "
     "is now, and so does the document; the state and the generations are deleted. Shows all that, and asks. "
     "A later apply takes the host back. With --root, does the same for the files of an image, without "
     "looking at this host: its ports are those that the document names by GUID. Needs root.",
     "withdraw --dry-run\tshow the changes only\nwithdraw\tdo it"},
    {"wait-online", "", "Wait until the interfaces that are present have their addresses.",
     "For rdma-configd-wait-online.service and scripts: waits until each interface that is present, and that "
     "the last applied document gives addresses, has carrier and these addresses, whichever program sets "
     "them. It does not wait for absent hardware. It changes nothing. Exit status 0: all have their "
     "addresses, or there is nothing to wait for; 1: some did not get theirs in time (they are named), or no "
     "document is applied.",
     "wait-online --timeout 30\twait for half a minute at most"},
    {"validate", "[FILE...]", "Check the document without looking at the host.",
     "Reads the document with all its drop-ins, or the FILEs, and reports every mistake with file, line and "
     "column. It does not look at devices, so that it works in pipelines and on other machines.",
     "validate\tthe system's own\nvalidate *.toml\tthese files, merged in this order\nvalidate -f "
     "-\tstandard input"},
    {"doctor", "", "Look for common problems, and suggest fixes.",
     "Checks the document, differences from it, ports, subnet managers, P_Key tables, IPoIB interfaces, "
     "RoCE, services, memory limits, and other programs that set the same things, and reports each finding "
     "with its reason and a fix. A problem breaks something now; a risk is known to cause trouble. It "
     "changes "
     "nothing. With --report, it writes everything that rdma-configctl sees of the host to a file that can "
     "be sent to others: names, addresses and GUIDs are replaced, secrets are removed; `doctor --host FILE` "
     "then examines that host. Exit status 0: nothing found, or the report is written; 2: something was "
     "found; 1: the document has errors, or the host could not be read.",
     "doctor\tthe findings\ndoctor --json\tfor a program\ndoctor --report host.json\twrite a report of this "
     "host\ndiff --host host.json new.toml\twhat a document would do on the host of a report"},
    {"verify", "", "Test connectivity and latency over RDMA, the fabric or IPoIB.",
     "Runs one test at a time. --server and --client HOST: messages over a reliable connection (RC) set up "
     "by rdma_cm, between two hosts or two devices of one. --mad: asks a port for its NodeInfo over the "
     "fabric, which every InfiniBand port and switch answers by itself. --ipoib: ICMP over an interface. "
     "Exit status 0: all were answered; 5: some were lost; 1: none was answered, or the test could not run.",
     "verify --server\ton one host\nverify --client 192.0.2.1\ton the other\nverify --mad 1\tthe port with "
     "LID 1\nverify --ipoib ib0 --to 192.0.2.1\tover this interface"},
    {"fabric", "[TOPIC...]", "Show the InfiniBand fabric: hosts, switches, links, partitions.",
     "Explores the fabric behind a port of this host: hosts and switches, links and those below the best "
     "rate that both ends support, subnet managers, P_Key tables, multicast groups, with the topic counters "
     "the errors that each port has counted, with the topic targets the SRP targets that ports offer (as "
     "`ibsrpdm -c` prints them), and with --route the route to a port. Hosts that are alike share a line; "
     "--wide shows each. A TOPIC shows one part. --format dot and --format svg draw it. The whole fabric is "
     "compared with the cables of the host's document, entries such as [[cable]] from = \"leaf1/7\", to = "
     "\"node007/1\", and optionally width and speed; --cables and --config name another file with such "
     "entries, for every TOPIC. --compare names the differences from a fabric saved by --json. With "
     "--compare or --clear-counters, only --cables and --config compare cables. It changes nothing, except "
     "that --clear-counters sets error counters to 0. Needs root, or access to /dev/infiniband/umad*. Exit "
     "status 0: done; 2: something is not as the cables or --compare expect, or the route does not arrive; "
     "5: a part could not be read, or a counter could not be cleared (it is named); 1: nothing could be "
     "read.",
     "fabric\tthe whole fabric\nfabric --tree\tswitches and the nodes behind them\nfabric partitions "
     "groups\tonly these\nfabric counters\tports that have counted errors\nfabric targets\tSRP targets, "
     "logged in or not\nfabric --clear-counters leaf1/7\tset its error counters to 0\nfabric --json > "
     "good.json\tsave it\nfabric --compare good.json\tdifferences from the saved fabric\nfabric --cables "
     "plan.toml\tcompare it with cables of another file\nfabric --route 00:02:c9:03:00:31:78:f2\tthe route "
     "to a port\nfabric -o svg > fabric.svg\ta drawing"},
    {"import", "[FORMAT [PATH...]]", "Make one document from other tools' files, or from the running host.",
     "Reads files of other tools and prints one document on stdout; it changes nothing on the host. `host`, "
     "the default, reads every known place at once; `live` looks at the running interfaces. FORMAT reads "
     "one: udev, nm, ifcfg, networkd, netplan, wicked, ifupdown, nmstate, system-roles, cloud-init, cmdline, "
     "scripts, sysfs, openib, rdma-conf, mlx4-conf, modprobe, sysctl, limits, opensm, srp, nvme, lio; files "
     "or "
     "folders after it are read instead of the usual ones. With --root, the usual places are below DIR; "
     "paths given as "
     "arguments are not. A summary on stderr names everything that was understood, skipped, and not "
     "understood, with file and line. Exit status 0: all was understood; 5: some was not; 1: there is no "
     "document.",
     "import\tthe configuration of this host\nimport live --output now.toml\tthe running interfaces\nimport "
     "ifcfg ./network-scripts\tfiles from elsewhere"},
    {"export", "FORMAT", "Write the document in the language of another tool.",
     "Prints the files that another tool would need, or writes them below the folder of --output: nm, "
     "networkd, netplan, nmstate, ifcfg, udev, targetcli, nvmetcli, or commands, a commented shell script. "
     "targetcli and nvmetcli are JSON with the targets of the document alone; serial numbers, sizes of files "
     "and GIDs are those of this host, or of --root. Settings that the target cannot express are noted on "
     "stderr and, where it has comments, in the files. Exit status 0: all was expressed; 5: some was not; 1: "
     "error.",
     "export commands\ta script to read\nexport nm --output ./nm\tkeyfiles below a folder\nexport targetcli "
     "> saveconfig.json\tfor targetcli restoreconfig"},
    {"fleet", "validate --hosts HOSTS [FILE...] | report [--hosts HOSTS] [--by GROUPS] DIR",
     "Check the document for all hosts of a site, or summarize their reports.",
     "`fleet validate` reads the document, or the FILEs, as each of the HOSTS sees it, and then compares the "
     "hosts: duplicate addresses, GUIDs and names; partitions with different MTUs, modes or networks; P_Keys "
     "without a partition or membership; subnet managers; RoCE and flow control; swapped rails. A mistake of "
     "many hosts is one line. `fleet report` reads what `show --json` and `diff --json` printed on the "
     "hosts, from DIR/HOST.show.json and DIR/HOST.diff.json, or DIR/HOST/show.json and DIR/HOST/diff.json, "
     "and prints each difference once with the hosts that have it, worst first; also hosts whose "
     "firmware, rate, MTU or P_Keys differ from those of most others, and hosts that have not answered. With "
     "DIR/NAME.fabric.json, the output of `fabric --json`, it also finds interfaces and ports that do not "
     "fit the multicast groups of their fabric. Neither looks at this host. Exit status 0: nothing was "
     "found, or warnings only; 2: report found something; 1: validate found an error, or a part of the input "
     "could not be read (the rest is checked).",
     "fleet validate --hosts 'gpu[001-512]'\tthe system's own document\nfleet validate --hosts hosts.txt "
     "site.toml\tthis file for the hosts in a list\nfleet report --by racks.csv collected\tdifferences by "
     "rack"},
});

constexpr std::string_view kStatuses =
    "Exit status:\n  0  in sync, or done\n  1  error; nothing was changed\n  2  diff, --dry-run: there are "
    "changes to make; doctor, status, fabric, fleet report: something is wrong\n  3  apply failed and was "
    "undone\n  4  apply failed, and undoing is incomplete (the leftovers are named), or the outcome is not "
    "known\n  5  done, but something is pending or limited (--pending-ok makes it 0) or unmet\n";

constexpr std::string_view kTour =
    "A first tour:\n  rdma-configctl show                 show the host, with the GUIDs of its ports\n  "
    "$EDITOR /etc/rdma-configd/config.toml\n      version = 1\n      [[ipoib]]\n      guid = "
    "\"00:02:c9:03:00:31:78:f2\"\n      name = \"mlx4_ib0\"\n      mode = \"connected\"\n      mtu  = "
    "65520\n  rdma-configctl validate             check the document\n  rdma-configctl diff                 "
    "see the changes\n  sudo rdma-configctl apply           make them\n  rdma-configctl status               "
    "check that the host still matches\n";

}  // namespace

std::span<const CommandText> command_texts() { return kCommands; }
const CommandText* find_command(std::string_view name) {
  for (const auto& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

std::string_view exit_statuses() { return kStatuses; }
std::string_view first_tour() { return kTour; }

}  // namespace rdmacfg::ctl
