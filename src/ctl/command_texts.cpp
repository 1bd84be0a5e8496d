// SPDX-License-Identifier: Apache-2.0
#include "ctl/command_texts.hpp"

#include <array>

namespace rdmacfg::ctl {

namespace {

constexpr std::array<CommandText, 13> kCommands{{
    {"show", "What is there: devices, ports, P_Keys, interfaces, and how they stand to the document.",
     "Shows RDMA devices (firmware, board id, node GUID), their ports (state, rate, LIDs, MTUs, GUID), P_Key "
     "tables, "
     "IPoIB interfaces, and how each resource stands to the document: in sync, differs, limited, pending, "
     "foreign, "
     "released or ignored. With NAME only that device, port (mlx4_0/1), interface or GUID, with every "
     "detail. It "
     "changes nothing and needs no root; what may not be read is \"unknown\"."},
    {"diff", "What apply would change, and what that interrupts.",
     "Compares the host with the document: + is made, ~ is changed, - is deleted; now → wanted, when it "
     "takes effect "
     "unless at once, and what it interrupts. It changes nothing. Exit status 2 says that there is something "
     "to do."},
    {"apply", "Make the host as the document says, all or nothing.",
     "Shows the changes, asks, makes them, and looks whether the kernel really did. When one is refused, all "
     "are "
     "undone. What the fabric limits is kept and reported, what waits for a device or a reboot is pending. "
     "Needs root."},
    {"confirm", "Keep what `apply --confirm` applied.",
     "After `apply --confirm SECONDS` the host goes back to what it was unless this is called in time, so "
     "that a "
     "change that cuts off its own administrator undoes itself. Where that apply had nothing to change, or "
     "is "
     "confirmed already, says so. Needs root, or the daemon and its "
     "permission."},
    {"rollback", "Go back to an earlier generation.",
     "Every applied document is a generation. Without N goes back to the one before the active one; an apply "
     "that "
     "waits for confirmation is taken back exactly, setting by setting. Otherwise it shows the changes and "
     "asks. "
     "A document that was rolled back is not applied again at boot until it changes. Needs root, or the "
     "daemon and "
     "its permission."},
    {"history", "Generations: what was applied, when and by whom.",
     "Lists the documents that were applied, the newest last, with the active one marked. It changes "
     "nothing."},
    {"withdraw", "Hand the host over to its administrator, before rdma-configd is removed.",
     "Stops the daemon and gives what rdma-configd has written to the administrator: its files go on under "
     "other names (rdma-admin for rdma-configd), blocks in files of others lose their marks, and scripts "
     "that udev calls set up modes, MTUs, P_Key interfaces, addresses and routes at boot where no "
     "NetworkManager profile does. What is not handed over is named. The network stays as it is now, the "
     "document too; nothing is remembered. Shows all that, and asks. A later apply takes the host back. "
     "With --root the same for the files of an image, without a look at this host: its ports are those that "
     "the document names by GUID. Needs root."},
    {"wait-online", "Wait until the interfaces that are here have their addresses.",
     "For rdma-configd-wait-online.service, and scripts: waits until each interface that is there, and that "
     "the document as it was last applied gives addresses, has carrier and these addresses, whoever sets "
     "them "
     "up. Hardware that is absent is not waited for. It changes nothing. Exit status 0: all have, or there "
     "is "
     "nothing to wait for; 1: some have not when the time is over, and they are named, or no document is "
     "applied."},
    {"validate", "Check the document without looking at the host.",
     "Reads the document with all its drop-ins and reports every mistake with file, line and column. It "
     "looks at no "
     "device, so that it works in pipelines and on other machines."},
    {"doctor", "Look for what commonly goes wrong, and say how to mend it.",
     "Looks at ports, P_Key tables, IPoIB interfaces, RoCE, memory limits of services, and other programs "
     "that set the "
     "same things, and reports each finding with its reason and a fix. A problem does not work; a risk is "
     "known to go "
     "wrong. It changes nothing. Exit status 0: nothing found; 2: something was found; 1: it could not "
     "look."},
    {"verify", "Test function: do packets come back, and how fast?",
     "One test at a time. --server and --client HOST: messages over a reliable connection (RC) that rdma_cm "
     "makes, "
     "between two hosts or two devices of one. --mad: asks a port for its NodeInfo over the fabric, as every "
     "InfiniBand "
     "port and switch answers by itself. --ipoib: ICMP by an interface. Exit status 0: all answered; 5: some "
     "were lost; 1: "
     "none, or it could not be tried."},
    {"import", "One document from what the host has: files of other tools, or the running host.",
     "Reads files of other tools and prints one document on stdout; nothing on the host is changed. `host`, "
     "which is what "
     "it does without FORMAT, reads every known place at once; `live` looks at the running interfaces. "
     "FORMAT reads one: "
     "udev, nm, ifcfg, networkd, netplan, wicked, ifupdown, nmstate, cloud-init, cmdline, scripts, openib, "
     "rdma-conf, mlx4-conf, modprobe, sysctl, limits, opensm; files or folders behind it are read in place "
     "of its own. With --root the usual places are "
     "below "
     "DIR; paths that are given are not. On stderr stands what was "
     "understood, passed over, and not understood, with file and line. Exit status 0: all was understood; 5: "
     "some was "
     "not; 1: there is no document."},
    {"export", "The document in the language of another tool.",
     "Prints the files that another tool would need, or writes them below the folder of --output: nm, "
     "networkd, netplan, "
     "nmstate, ifcfg, udev, or commands, a commented shell script. What the target cannot express is noted "
     "in the "
     "files and on stderr. Exit status 0: all was expressed; 5: some was not; 1: error."},
}};

constexpr std::string_view kStatuses =
    "Exit status:\n"
    "  0  in sync, or done\n"
    "  1  error; nothing was changed\n"
    "  2  diff and --dry-run: there are changes to make; doctor: something was found\n"
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
    "  sudo rdma-configctl apply           do it\n";

}  // namespace

std::span<const CommandText> command_texts() { return kCommands; }
std::string_view exit_statuses() { return kStatuses; }
std::string_view first_tour() { return kTour; }

}  // namespace rdmacfg::ctl
