// SPDX-License-Identifier: Apache-2.0
// Notes on what each target cannot express, at the line of the entry.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "foreign/stage.hpp"

namespace rdmacfg::foreign {
namespace {

constexpr const char* kExportedPort = "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n";

Output exported(const std::string& target, const std::string& toml) {
  const auto source = parsed("version = 1\n" + toml);
  EXPECT_TRUE(source.diagnostics.empty()) << config::render_diagnostics(source, source.diagnostics) << toml;
  return export_document(source.sections, *find_target(target));
}

struct ExportNote {
  std::string target;
  std::string document;
  std::vector<std::string> notes;  ///< "LINE: TEXT"
};

void expect_notes(const std::vector<ExportNote>& cases) {
  for (const auto& row : cases) {
    const auto made = exported(row.target, row.document);
    std::vector<std::string> notes;
    for (const auto& note : made.notes) notes.push_back(std::to_string(note.where.line) + ": " + note.text);
    EXPECT_EQ(notes, row.notes) << row.target << '\n' << row.document;
  }
}

TEST(ExportNotes, NameWhatIsNotExpressedOfInterfaces) {
  const std::string port = kExportedPort, fab0 = port + "name = \"fab0\"\n";
  const std::vector<ExportNote> cases{
      {"netplan",
       "[[ipoib]]\ndevice = \"mlx5_0\"\nport = 1\nname = \"fab0\"\n",
       {"2: fab0: which port is meant, except by the name of its interface"}},
      {"networkd", fab0 + "state = \"ignore\"\n", {"2: fab0: state = \"ignore\"; it is left out"}},
      {"ifcfg",
       port + "[[ipoib.pkey]]\npkey = 0x8002\n",
       {"4: P_Key 0x8002: a P_Key interface over a port whose interface has no name"}},
      {"ifcfg",
       port + "name = \"fabric00001\"\n[[ipoib.pkey]]\npkey = 0x8002\nname = \"storage\"\n",
       {"5: storage: a P_Key interface over fabric00001: its name would be too long"}},
      {"ifcfg",
       fab0 + "[[ipoib.pkey]]\npkey = 0x8002\nstate = \"ignore\"\n",
       {"5: fab0.8002: state = \"ignore\"; it is left out"}},
      {"ifcfg",
       fab0 + "[[ipoib.pkey]]\npkey = 0x8002\nstate = \"absent\"\n",
       {"5: fab0.8002: state = \"absent\"; it is left out"}},
      {"networkd",
       fab0 + "ipv4 = { addresses = [\"192.0.2.1/24\"], search = [\"a.example\"] }\n"
              "ipv6 = { addresses = [\"2001:db8::1/64\"], dns = [\"2001:db8::53\"] }\n",
       {"2: fab0: search domains are set for one family, but apply to the whole interface"}},
      {"udev",
       "[[rdma_device]]\ndevice = \"mlx5_0\"\nname = \"rail0\"\n",
       {"2: [[rdma_device]] with device: give pci or node_guid"}},
  };
  expect_notes(cases);
}

TEST(ExportNotes, NameSectionsWithoutCommands) {
  const std::vector<ExportNote> cases{
      {"commands",
       "[[lio_target]]\nwwn = \"iqn.2026-01.org.example:scratch\"\nany_initiator = true\n"
       "addresses = [\"192.0.2.1\"]\n[[lio_target.lun]]\nnumber = 0\ndevice = \"/dev/disk/by-id/nvme-x\"\n",
       {"2: [[lio_target]]: targetcli creates it; `export targetcli` writes the file that it restores"}},
      {"commands",
       "[[nvme_target]]\nnqn = \"nqn.2014-08.org.example:scratch\"\nany_host = true\n"
       "addresses = [\"192.0.2.1\"]\n[[nvme_target.namespace]]\nnsid = 1\ndevice = "
       "\"/dev/disk/by-id/nvme-x\"\n",
       {"2: [[nvme_target]]: nvmetcli creates it; `export nvmetcli` writes the file that nvmet.service "
        "restores"}},
      {"commands",
       "[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n[[opensm.option]]\nkey = \"lmc\"\nvalue = 1\n",
       {"2: [[opensm]]: OpenSM has its ports in /etc/default/opensm (Debian) or /etc/sysconfig/opensm; then "
        "systemctl start opensm",
        "2: [[opensm]]: its own options and files: an opensm.conf that --config names in a drop-in of "
        "opensm@GUID.service"}},
      {"commands",
       "[[opensm_file]]\noption = \"root_guid_file\"\nguids = [\"0x200000\"]\n",
       {"2: [[opensm_file]]: a file that an option of opensm.conf names"}},
      {"commands",
       "[[soft_rdma]]\ninterface = \"eth0\"\ntype = \"rxe\"\n",
       {"2: [[soft_rdma]] without a name"}},
      {"commands",
       "[[roce]]\ninterface = \"eth0\"\nmode = \"v2\"\n",
       {"2: [[roce]] by interface: give device and port"}},
  };
  expect_notes(cases);
}

TEST(ExportNotes, NameSectionsThatATargetDoesNotKnow) {
  const std::vector<ExportNote> cases{
      {"commands",
       "[packages]\nnames = [\"perftest\"]\n",
       {"2: [packages]: the package manager installs them"}},
      {"nmstate", "[packages]\nnames = [\"perftest\"]\n", {"2: nmstate does not support [packages]"}},
      {"targetcli",
       "[packages]\nnames = [\"perftest\"]\n[[module]]\nname = \"ib_srpt\"\n[[module]]\nname = "
       "\"ib_isert\"\n",
       {"2: targetcli does not support [packages]", "4: targetcli does not support [[module]]"}},
      {"nvmetcli", kExportedPort, {"2: nvmetcli does not support [[ipoib]]"}},
      // Once for all cables, of which there may be thousands.
      {"nmstate",
       "[[cable]]\nfrom = \"a/1\"\nto = \"b/1\"\n[[cable]]\nfrom = \"a/2\"\nto = \"b/2\"\n",
       {"2: nmstate does not support [[cable]]"}},
      {"commands",
       "[[cable]]\nfrom = \"a/1\"\nto = \"b/1\"\n[[cable]]\nfrom = \"a/2\"\nto = \"b/2\"\n",
       {"2: [[cable]]: rdma-configctl fabric compares cables with the fabric, and nothing sets them"}},
  };
  expect_notes(cases);
}

/// Every section has either commands or the way by hand.
TEST(ExportNotes, NoSectionIsWithoutAWay) {
  for (const auto& spec : kinds::grammar()) {
    if (spec.name == "ipoib") continue;
    model::Section section;
    section.path = spec.name;
    for (const auto& note : export_document({section}, *find_target("commands")).notes)
      EXPECT_EQ(note.text.find("there are no commands for it"), std::string::npos) << spec.name;
  }
}

struct ExportedLine {
  std::string target;
  std::string document;
  std::string line;
};

TEST(ExportedLines, StandInTheLanguageOfTheTarget) {
  const auto fab0 = std::string(kExportedPort) + "name = \"fab0\"\n";
  const std::vector<ExportedLine> cases{
      {"commands",
       "[[soft_rdma]]\ninterface = \"eth0\"\ntype = \"rxe\"\nname = \"rxe0\"\nstate = \"absent\"\n",
       "[ ! -e /sys/class/infiniband/rxe0 ] || rdma link delete rxe0"},
      {"commands", fab0 + "ipv4 = { addresses = [\"192.0.2.1/24\"] }\nipv6 = { method = \"disabled\" }\n",
       "echo 1 >/proc/sys/net/ipv6/conf/$dev/disable_ipv6"},
      {"commands", fab0 + "[[ipoib.pkey]]\npkey = 0x8002\nstate = \"absent\"\n",
       "[ ! -e /sys/class/net/fab0.8002 ] || ip link delete dev fab0.8002"},
      {"commands", fab0 + "[[ipoib.pkey]]\npkey = 0x8002\nmode = \"connected\"\n",
       "\techo 0x8002 >/sys/class/net/$parent/create_child"},
      {"commands",
       "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nname = \"partition_ib0\"\n"
       "[[ipoib.pkey]]\npkey = 0x8002\nname = \"fast\"\nmode = \"connected\"\n",
       "\tfirst=partition_.8002\n"
       "\t[ -e /sys/class/net/$first/parent ] || first=partition_ib0.8\n"
       "\t[ $first = $dev ] || ip link set dev $first name $dev"},
      {"commands", fab0 + "[[ipoib.pkey]]\npkey = 0x8002\n",
       "\tip link add link $parent name $dev type ipoib pkey 0x8002"},
      {"commands", fab0, "\tip link set dev \"$dev\" name fab0"},
      {"netplan", fab0 + "ipv4 = { method = \"disabled\" }\n", "      dhcp4: false"},
      {"netplan", fab0 + "state = \"down\"\n", "      activation-mode: \"off\""},
      {"netplan",
       fab0 + "ipv4 = { addresses = [\"192.0.2.1/24\"], routes = [{ to = \"198.51.100.0/24\" }] }\n",
       "          scope: link"},
  };
  for (const auto& row : cases) {
    std::string text;
    for (const auto& file : exported(row.target, row.document).files) text += file.text;
    EXPECT_NE(text.find("\n" + row.line + "\n"), std::string::npos) << row.line << "\nin\n" << text;
  }
}

}  // namespace
}  // namespace rdmacfg::foreign
