// SPDX-License-Identifier: Apache-2.0
#include "ctl/docs/command_texts.hpp"

#include <array>

namespace rdmacfg::ctl {

namespace {

constexpr std::array<CommandText, 19> kCommands{{
    {"show", "[TOPIC] [NAME|GLOB...]",
     "What is there: devices, ports, P_Keys, interfaces, and how they stand to the document.",
     "Shows RDMA devices (firmware, board id, node GUID), their ports (state, rate, LIDs, MTUs, GUID), P_Key "
     "tables, IPoIB interfaces with their addresses, and how each resource stands to the document: in sync, "
     "differs, limited, pending, foreign, released or ignored. With NAME only that device, port (mlx4_0/1), "
     "interface or GUID, with every detail; several names and patterns such as 'mlx5_*' work too. A TOPIC "
     "shows one part: devices, ports, pkeys, gids, roce, ipoib, dcb, limits, modules, services, lossless or "
     "resources. P_Key interfaces of one port fold into one line where there are many; --wide shows each. It "
     "changes nothing and needs no root; what cannot be read is \"unknown\".",
     "show\tthe whole host\nshow ports\tthe ports alone\nshow ipoib 'ib*' --wide\tinterfaces by pattern, "
     "with every column\nshow mlx5_0/1\tone port in detail\nshow --differs\tonly what is not as the document "
     "says\nshow --document\tthe document that applies to this host, drop-ins merged"},
    {"status", "", "Is everything as it should be? One screen, with an exit status for monitoring.",
     "Tells in one screen whether the daemon runs, which generation is active, who applied it and when, what "
     "waits for confirmation and for how long still, what is pending, limited, contended or different, and "
     "what the daemon has repaired. It changes nothing and needs no root. Exit status 0: everything is as "
     "the document says; 5: something waits (pending, limited, or an apply that is not confirmed); 2: "
     "something is wrong (it differs, failed, is contended, or the document is not what is held); 1: the "
     "document has errors, or the host could not be looked at.",
     "status\tlook\nstatus -q\tonly the exit status\nstatus --json\tfor a monitoring agent"},
    {"diff", "[FILE...|N [M]]", "What apply would change, and what that interrupts.",
     "Compares the host with the document, or with the documents in the FILEs: + is made, ~ is changed, - is "
     "deleted; now → wanted, when it takes effect unless at once, and what it interrupts. With a number N it "
     "compares the host with generation N, with two numbers the text of two generations. It changes nothing. "
     "Exit status 2 says that there is something to do.",
     "diff\twhat an apply would do\ndiff new.toml\twhat applying new.toml would do\ndiff --explain\twith the "
     "file and line behind each value\ndiff 3\twhat going back to generation 3 would do\ndiff 3 5\twhich "
     "lines of the document changed from 3 to 5"},
    {"apply", "[FILE...]", "Make the host as the document says, all or nothing.",
     "Shows the changes, asks, makes them, and checks that the kernel really did. When one is refused, all "
     "are undone. What the fabric limits is kept and reported, what waits for a device or a reboot is "
     "pending. The document of a FILE is held until the daemon reads the system's own again, at its next "
     "start or reload; --install makes it the system's own. With --confirm on a terminal it counts down and "
     "asks whether to keep the changes; elsewhere `rdma-configctl confirm` keeps them. With --only the "
     "selected entries take their place in the active document, and the rest of the host stays as it is. "
     "Needs root, or the daemon and its permission.",
     "apply\tapply /etc/rdma-configd/config.toml and its drop-ins\napply --dry-run\tonly look\napply "
     "--confirm 5m\tundo everything unless it is confirmed within five minutes\napply --only "
     "'mlx4_ib0*'\tonly that interface and its P_Key interfaces\napply --install "
     "new.toml\tapply new.toml and keep it in /etc\ngenerate | rdma-configctl apply --yes -f -\tread the "
     "document from standard input"},
    {"confirm", "", "Keep what `apply --confirm` applied.",
     "After `apply --confirm TIME` the host goes back to what it was unless this is called in time, so that "
     "a change that cuts off its own administrator undoes itself. Where that apply had nothing to change, or "
     "is confirmed already, says so. Needs root, or the daemon and its permission.",
     "confirm\tfrom a second session, once the first one has proved that the host can still be reached"},
    {"rollback", "[N]", "Go back to an earlier generation.",
     "Every applied document is a generation. Without N goes back to the one before the active one; an apply "
     "that waits for confirmation is taken back exactly, setting by setting. Otherwise it shows the changes "
     "and asks. A document that was rolled back is not applied again at boot until it changes. Needs root, "
     "or the daemon and its permission.",
     "rollback\tto the generation before\nrollback 3\tto generation 3; `rdma-configctl diff 3` shows first "
     "what that would do"},
    {"history", "[show N]", "Generations: what was applied, when and by whom.",
     "Lists the documents that were applied, the newest last, with the active one marked. `history show N` "
     "prints the files of generation N as they were applied. It changes nothing.",
     "history\tthe list\nhistory show 3\tthe document of generation 3"},
    {"reload", "", "Have the daemon read and apply the configuration, and say what came of it.",
     "Asks the daemon to read /etc/rdma-configd again and to apply it part by part, as at boot, and waits "
     "for the end. Exit status 1: the document has errors or was rolled back before, and the active "
     "generation is held instead. `systemctl reload rdma-configd` calls this. Needs root, or the daemon's "
     "permission.",
     "reload\tafter a change in /etc/rdma-configd"},
    {"edit", "[FILE]", "Edit the document; it is checked before it takes the place of the old one.",
     "Opens the document, or the drop-in FILE, in $VISUAL or $EDITOR. When the editor ends, the text is "
     "checked; with errors it can be edited again, and the file is not touched. Then it shows what would "
     "change and asks, writes the file, and applies with --confirm (60 s unless another time is given). "
     "Needs root.",
     "edit\t/etc/rdma-configd/config.toml\nedit /etc/rdma-configd/conf.d/20-storage.toml --confirm 5m\ta "
     "drop-in, with five minutes to confirm"},
    {"get", "PATH", "Print a value of the document.",
     "Prints what the document says at PATH, after merging the drop-ins and defaults: SECTION.KEY, or "
     "SECTION[SELECTOR].KEY where there are several entries. A SELECTOR is a number from 0, a value that "
     "names the entry (its guid, name, interface, pkey), or KEY=VALUE. A PATH without a key prints all keys "
     "of the entry.",
     "get rdma_system.netns\ta key of a section\nget ipoib[mlx4_ib0].mtu\tof the entry with that name\nget "
     "'ipoib[guid=00:02:c9:03:00:31:78:f2].pkey[0x8002].mode'\tof a P_Key interface"},
    {"set", "PATH VALUE", "Change a value in the document's file; comments stay.",
     "Writes VALUE at PATH (see `get`) into the file that has the entry, and changes nothing else of it: "
     "comments and order stay. VALUE is TOML; a word that is not TOML is taken as text. A section that is "
     "not there yet is added at the end of the file. The new text is checked before it is written. --unset "
     "removes the key. Nothing is applied: `rdma-configctl apply` does that. Needs root for files in /etc.",
     "set ipoib[mlx4_ib0].mtu 4092\tchange a number\nset 'ipoib[mlx4_ib0].mode' connected\tchange a "
     "text\nset --unset ipoib[mlx4_ib0].umcast\tremove a key\nset -f new.toml rdma_system.netns shared\tin "
     "another file"},
    {"monitor", "", "Print what the daemon does, as it happens.",
     "Prints a line for every event of the daemon: changes it makes, repairs, drift, contention, refusals, "
     "generations. Ends with ^C, or when the daemon ends (exit status 1). With --json one object per line. "
     "Needs no root.",
     "monitor\tfollow the daemon\nmonitor --json | jq -r .text\tfor a program"},
    {"withdraw", "", "Hand the host over to its administrator, before rdma-configd is removed.",
     "Stops the daemon and gives what rdma-configd has written to the administrator: its files go on under "
     "other names (rdma-admin for rdma-configd), blocks in files of others lose their marks, and scripts "
     "that udev calls set up modes, MTUs, P_Key interfaces, addresses and routes at boot where no "
     "NetworkManager profile does. What is not handed over is named. The network stays as it is now, the "
     "document too; nothing is remembered. Shows all that, and asks. A later apply takes the host back. With "
     "--root the same for the files of an image, without a look at this host: its ports are those that the "
     "document names by GUID. Needs root.",
     "withdraw --dry-run\tonly look\nwithdraw\tdo it"},
    {"wait-online", "", "Wait until the interfaces that are here have their addresses.",
     "For rdma-configd-wait-online.service, and scripts: waits until each interface that is there, and that "
     "the document as it was last applied gives addresses, has carrier and these addresses, whoever sets "
     "them up. Hardware that is absent is not waited for. It changes nothing. Exit status 0: all have, or "
     "there is nothing to wait for; 1: some have not when the time is over, and they are named, or no "
     "document is applied.",
     "wait-online --timeout 30\twait for half a minute at most"},
    {"validate", "[FILE...]", "Check the document without looking at the host.",
     "Reads the document with all its drop-ins, or the FILEs, and reports every mistake with file, line and "
     "column. It looks at no device, so that it works in pipelines and on other machines.",
     "validate\tthe system's own\nvalidate *.toml\tthese files, merged in this order\nvalidate -f "
     "-\tstandard input"},
    {"doctor", "", "Look for what commonly goes wrong, and say how to fix it.",
     "Looks at the document, at what differs from it, at ports, subnet managers, P_Key tables, IPoIB "
     "interfaces, RoCE, services, memory limits, and other programs that set the same things, and reports "
     "each finding with its reason and a fix. A problem does not work; a risk is known to go wrong. It "
     "changes nothing. With --report it writes everything that rdma-configctl sees of the host to a file "
     "that can be sent to others: names, addresses and GUIDs are replaced, secrets are removed; `doctor "
     "--host FILE` then looks at that host. Exit status 0: nothing found, or the report is written; 2: "
     "something was found; 1: the document has errors, or it could not look.",
     "doctor\tlook\ndoctor --json\tfor a program\ndoctor --report host.json\twrite a report of this "
     "host\ndiff --host host.json new.toml\twhat a document would do on the host of a report"},
    {"verify", "", "Test function: do packets come back, and how fast?",
     "One test at a time. --server and --client HOST: messages over a reliable connection (RC) that rdma_cm "
     "makes, between two hosts or two devices of one. --mad: asks a port for its NodeInfo over the fabric, "
     "as every InfiniBand port and switch answers by itself. --ipoib: ICMP by an interface. Exit status 0: "
     "all answered; 5: some were lost; 1: none, or it could not be tried.",
     "verify --server\ton one host\nverify --client 192.0.2.1\ton the other\nverify --mad 1\tthe port with "
     "LID 1\nverify --ipoib ib0 --to 192.0.2.1\tby this interface"},
    {"import", "[FORMAT [PATH...]]",
     "One document from what the host has: files of other tools, or the running host.",
     "Reads files of other tools and prints one document on stdout; nothing on the host is changed. `host`, "
     "which is what it does without FORMAT, reads every known place at once; `live` looks at the running "
     "interfaces. FORMAT reads one: udev, nm, ifcfg, networkd, netplan, wicked, ifupdown, nmstate, "
     "cloud-init, "
     "cmdline, scripts, openib, rdma-conf, mlx4-conf, modprobe, sysctl, limits, opensm; files or folders "
     "behind it are read in place of its own. With --root the usual places are below DIR; paths that are "
     "given are not. On stderr stands what was understood, passed over, and not understood, with file and "
     "line. Exit status 0: all was understood; 5: some was not; 1: there is no document.",
     "import\twhat is configured on this host\nimport live --output now.toml\tthe running interfaces\nimport "
     "ifcfg ./network-scripts\tfiles from elsewhere"},
    {"export", "FORMAT", "The document in the language of another tool.",
     "Prints the files that another tool would need, or writes them below the folder of --output: nm, "
     "networkd, netplan, nmstate, ifcfg, udev, or commands, a commented shell script. What the target cannot "
     "express is noted in the files and on stderr. Exit status 0: all was expressed; 5: some was not; 1: "
     "error.",
     "export commands\ta script to read\nexport nm --output ./nm\tkeyfiles below a folder"},
}};

constexpr std::string_view kStatuses =
    "Exit status:\n"
    "  0  in sync, or done\n"
    "  1  error; nothing was changed\n"
    "  2  diff and --dry-run: there are changes to make; doctor, status: something is wrong\n"
    "  3  apply failed and was undone\n"
    "  4  apply failed, and undoing is incomplete (what is left is named), or it is not known what was done\n"
    "  5  done, but something is pending or limited (--pending-ok makes it 0)\n";

constexpr std::string_view kTour =
    "A first tour:\n"
    "  rdma-configctl show                 look at the host; port GUIDs for the document are there\n"
    "  $EDITOR /etc/rdma-configd/config.toml\n"
    "      version = 1\n"
    "      [[ipoib]]\n"
    "      guid = \"00:02:c9:03:00:31:78:f2\"\n"
    "      name = \"mlx4_ib0\"\n"
    "      mode = \"connected\"\n"
    "      mtu  = 65520\n"
    "  rdma-configctl validate             is it written correctly?\n"
    "  rdma-configctl diff                 what would be done?\n"
    "  sudo rdma-configctl apply           do it\n"
    "  rdma-configctl status               is it still so?\n";

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
