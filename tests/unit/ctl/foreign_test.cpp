// SPDX-License-Identifier: Apache-2.0
// import and export as a user calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <set>

#include "console.hpp"
#include "ctl/options.hpp"
#include "foreign/export/exporter.hpp"
#include "foreign/import/formats.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kIfcfg =
    std::string("DEVICE=fab0\nTYPE=InfiniBand\nMTU=65520\nCONNECTED_MODE=yes\nHWADDR=") +
    "80:00:00:00:fe:80:00:00:00:00:00:00:" + kGuid1 + "\n";

std::string file_text(const std::filesystem::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

/// A console whose host has the files of the machine's disk: a tree in the console's folder.
class Import : public testing::Test {
 protected:
  Import() {
    console_.environment.host = [](const std::filesystem::path& root) {
      return system::make_linux_host(root);
    };
    root_ = console_.folder() / "root";
    std::filesystem::create_directories(root_);
  }
  void write(const std::string& path, const std::string& text) {
    const auto file = root_ / path.substr(1);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  int import(std::vector<std::string> words) {
    words.insert(words.begin(), {"import", "--root", root_.string()});
    return console_.run(words);
  }
  Console console_;
  std::filesystem::path root_;
};

TEST_F(Import, PrintsADocumentThatIsValid) {
  write("/etc/sysconfig/network-scripts/ifcfg-fab0", kIfcfg);
  EXPECT_EQ(import({"ifcfg"}), 0) << console_.err.str();
  EXPECT_THAT(console_.out.str(), AllOf(HasSubstr("[[ipoib]]"), HasSubstr(kGuid1), HasSubstr("mtu = 65520")));
  EXPECT_THAT(console_.err.str(), HasSubstr("ifcfg-fab0: 5 lines understood"));
  const auto text = console_.out.str();
  console_.document(text);
  EXPECT_EQ(console_.run({"validate"}), 0) << console_.err.str();
}

TEST_F(Import, SaysWhatItDidNotUnderstandWithFiveAndPendingOkWithNought) {
  write("/etc/sysconfig/network-scripts/ifcfg-fab0", kIfcfg + "FOO=bar\n");
  EXPECT_EQ(import({}), 5);
  EXPECT_THAT(console_.err.str(),
              HasSubstr("/etc/sysconfig/network-scripts/ifcfg-fab0:6: not understood: FOO"));
  EXPECT_EQ(import({"host", "--pending-ok"}), 0);
  EXPECT_EQ(import({"ifcfg", "--json"}), 5);
  const auto out = nlohmann::json::parse(console_.out.str());
  EXPECT_EQ(out["schema"], "org.rdmaconfigd.import/1");
  EXPECT_EQ(out["not_understood"][0]["line"], 6);
  EXPECT_EQ(out["exit"]["status"], 5);
  EXPECT_EQ(console_.err.str(), "");
}

TEST_F(Import, LeavesWordsOfFilesAsTheyAre) {
  write("/etc/rc.local", "#!/bin/sh\n/etc/init.d/openibd restart\n");
  EXPECT_EQ(import({}), 5);
  EXPECT_THAT(console_.err.str(),
              HasSubstr(root_.string() + "/etc/rc.local:2: not understood: /etc/init.d/openibd restart"));
}

TEST_F(Import, RefusesWhatItCannotDo) {
  EXPECT_EQ(import({"ifcfg"}), 1);
  EXPECT_THAT(
      console_.err.str(),
      HasSubstr("no readable file of the format ifcfg was found; name files or folders after the format"));
  EXPECT_EQ(import({}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("no readable file of any format was found; name a format and its "
                                            "files, as in import nm FILE"));
  EXPECT_EQ(import({"old/ifcfg-ib0"}), 1);
  EXPECT_THAT(
      console_.err.str(),
      HasSubstr("old/ifcfg-ib0 is not a format that can be imported; run "
                "`rdma-configctl import FORMAT old/ifcfg-ib0`, where FORMAT is one of host, live, udev"));
  EXPECT_EQ(import({"ifcfq"}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("did you mean ifcfg?"));
  for (const auto& [called, format] :
       {std::pair("NetworkManager", "nm"), std::pair("keyfile", "nm"),
        std::pair("systemd-networkd", "networkd"), std::pair("interfaces", "ifupdown"),
        std::pair("modprobe.d", "modprobe"), std::pair("IFCFG", "ifcfg")}) {
    EXPECT_EQ(import({called}), 1);
    EXPECT_THAT(console_.err.str(), HasSubstr("did you mean " + std::string(format) + "?"));
  }
  EXPECT_EQ(import({"ifcfg", "-"}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("import does not read standard input; save the text in a file"));
  EXPECT_EQ(import({"ifcfg", "--adopt"}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("--adopt is valid only with import live"));
  EXPECT_EQ(import({"live"}), 1);
  EXPECT_THAT(console_.err.str(),
              HasSubstr("import live cannot be combined with --root: it reads the running system"));
  EXPECT_EQ(import({"host", "/etc"}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("name the format of /etc"));
}

TEST_F(Import, NamesTheFormatOfAFileThatIsGivenWithoutOne) {
  write("/srv/ifcfg-fab0", kIfcfg);
  write("/srv/notes", "call the vendor\n");
  const auto file = (root_ / "srv/ifcfg-fab0").string(), notes = (root_ / "srv/notes").string();
  EXPECT_EQ(import({file}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("; run `rdma-configctl import ifcfg " + file + "`\n"));
  EXPECT_EQ(import({notes}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("; run `rdma-configctl import FORMAT " + notes +
                                            "`, where FORMAT is one of host, live"));
}

TEST_F(Import, NamesTheFolderThatHasNoFileOfTheFormat) {
  write("/srv/old/notes.toml", "version = 1\n");
  const auto folder = (root_ / "srv/old").string();
  EXPECT_EQ(import({"ifcfg", folder}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("no readable file of the format ifcfg was found in " + folder +
                                            "; name its files, or another format\n"));
}

TEST_F(Import, RecognizesADocumentThatNeedsNoImport) {
  write("/srv/site.toml", "# of this site\n\nversion = 1\n[[module]]\nname = \"ib_umad\"\n");
  EXPECT_EQ(import({"netplan", (root_ / "srv/site.toml").string()}), 1);
  EXPECT_THAT(console_.err.str(),
              HasSubstr("is an rdma-configd document already: `rdma-configctl apply` applies it"));
}

// An empty document in place of the interface would remove it.
TEST_F(Import, MakesNoDocumentOfAFileWhoseNameSaysNothing) {
  write("/srv/fab0.txt", kIfcfg);
  write("/srv/ifcfg-fab0", kIfcfg);
  const auto file = (root_ / "srv/fab0.txt").string();
  const auto output = (console_.folder() / "made.toml").string();
  EXPECT_EQ(import({"ifcfg", file, "--output", output}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr(file + ": ifcfg reads only files named ifcfg-*, route-*, "));
  EXPECT_FALSE(std::filesystem::exists(output));
  EXPECT_EQ(import({"ifcfg", file, (root_ / "srv/ifcfg-fab0").string()}), 5);
  EXPECT_THAT(console_.out.str(), HasSubstr(kGuid1));
  EXPECT_THAT(console_.err.str(), HasSubstr(file + ": not understood: ifcfg reads only files named"));
}

TEST_F(Import, SaysWhatAHostHasThatCannotBeImported) {
  write("/etc/fstab", "nas:/opt /opt nfs proto=tcp 0 0\n");
  EXPECT_EQ(import({}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("no readable file of any format was found"));
  write("/etc/fstab", "nas:/home /home nfs proto=rdma 0 0\n");
  const auto output = (console_.folder() / "made.toml").string();
  EXPECT_EQ(import({"host", "--output", output}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("/etc/fstab:1: skipped: write [[nfs_mount]]"));
  EXPECT_THAT(console_.err.str(), HasSubstr("no document was written"));
  EXPECT_FALSE(std::filesystem::exists(output)) << "an earlier document stays";
  EXPECT_EQ(import({"host", "--json"}), 1);
  EXPECT_THAT(console_.out.str(), HasSubstr("/etc/fstab:1: write [[nfs_mount]]"));
}

TEST_F(Import, ReadsPathsAndWritesAFile) {
  write("/elsewhere/ifcfg-a", kIfcfg);
  write("/elsewhere/readme", "not this one");
  const auto output = (console_.folder() / "made.toml").string();
  EXPECT_EQ(import({"ifcfg", (root_ / "elsewhere").string(), "--output", output}), 0) << console_.err.str();
  EXPECT_EQ(console_.out.str(), "");
  EXPECT_THAT(file_text(output), HasSubstr("name = \"fab0\""));
  const auto deep = (console_.folder() / "etc/rdma-configd/config.toml").string();
  EXPECT_EQ(import({"ifcfg", (root_ / "elsewhere").string(), "--output", deep}), 0) << console_.err.str();
  EXPECT_EQ(file_text(deep), file_text(output)) << "folders on the way are created";
  EXPECT_EQ(import({"ifcfg", (root_ / "elsewhere").string(), "--output", "-"}), 0) << console_.err.str();
  EXPECT_EQ(console_.out.str(), file_text(output));
  EXPECT_EQ(import({"ifcfg", (root_ / "elsewhere/ifcfg-a").string()}), 0) << console_.err.str();
  EXPECT_THAT(console_.out.str(), HasSubstr(kGuid1));
}

TEST_F(Import, NamesPortsThatTheKernelNamesByATemplate) {
  write("/elsewhere/ifcfg-ib3",
        "DEVICE=ib3\nTYPE=InfiniBand\nHWADDR=80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2\n"
        "BOOTPROTO=dhcp\n");
  write("/elsewhere/ifcfg-child",
        "DEVICE=ib3.8002\nTYPE=InfiniBand\nPKEY=yes\nPKEY_ID=0x8002\nPHYSDEV=ib3\nBOOTPROTO=dhcp\n");
  const auto folder = (root_ / "elsewhere").string();
  EXPECT_EQ(import({"ifcfg", folder}), 0) << console_.err.str();
  EXPECT_THAT(console_.out.str(), testing::Not(HasSubstr("name =")));
  EXPECT_EQ(import({"ifcfg", folder, "--name-template", "ipoib{number}"}), 0) << console_.err.str();
  EXPECT_THAT(console_.out.str(), HasSubstr("name = \"ipoib3\""));
  EXPECT_THAT(console_.out.str(), testing::Not(HasSubstr("ib3.8002\""))) << "the child follows its port";
  EXPECT_EQ(import({"ifcfg", folder, "--name-template", "f{guid_tail}"}), 0) << console_.err.str();
  EXPECT_THAT(console_.out.str(), HasSubstr("name = \"f3178f2\""));
  for (const auto* wrong : {"ib{number}", "fab", "{device}", "far_too_long_a_name_{number}"})
    EXPECT_EQ(import({"ifcfg", folder, "--name-template", wrong}), 1) << wrong;
}

TEST_F(Import, OfNothingLeavesTheOutputAsItIs) {
  const auto output = (console_.folder() / "made.toml").string();
  std::ofstream(output) << "version = 1\n";
  EXPECT_EQ(import({"netplan", "/no/such.yaml", "--output", output}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("/no/such.yaml: does not exist"));
  EXPECT_EQ(import({"netplan", "/no/such.yaml", "--pending-ok", "--output", output}), 1);
  write("/etc/netplan/large.yaml", std::string(std::size_t{2} << 20U, 'x'));
  EXPECT_EQ(import({"netplan", "--output", output}), 1);
  EXPECT_THAT(console_.err.str(), HasSubstr("/etc/netplan/large.yaml"));
  EXPECT_EQ(file_text(output), "version = 1\n");
}

TEST_F(Import, ReadsNoLinksNoDevicesNothingHuge) {
  write("/etc/sysconfig/network-scripts/ifcfg-good", kIfcfg);
  const auto folder = root_ / "etc/sysconfig/network-scripts";
  std::filesystem::create_symlink("ifcfg-loop2", folder / "ifcfg-loop1");
  std::filesystem::create_symlink("ifcfg-loop1", folder / "ifcfg-loop2");
  std::filesystem::create_symlink("/dev/zero", folder / "ifcfg-zero");
  std::filesystem::create_directory(folder / "ifcfg-folder");
  ASSERT_EQ(::mkfifo((folder / "ifcfg-fifo").c_str(), 0600), 0);
  write("/etc/sysconfig/network-scripts/ifcfg-large", std::string(std::size_t{2} << 20U, 'x'));
  write("/etc/sysconfig/network-scripts/ifcfg-huge", std::string(std::size_t{5} << 20U, 'x'));
  EXPECT_EQ(import({"ifcfg"}), 5);
  for (const auto* name : {"loop1", "loop2", "zero", "folder", "fifo", "large", "huge"})
    EXPECT_THAT(console_.err.str(), testing::ContainsRegex(std::string("ifcfg-") + name + ".*not understood"))
        << name;
  EXPECT_THAT(console_.out.str(), HasSubstr(kGuid1));
}

TEST_F(Import, PassesOverWhatIsMasked) {
  write("/etc/systemd/network/30-ib.network",
        std::string("[Match]\nMACAddress=80:00:00:00:fe:80:00:00:00:00:00:00:") + kGuid1 +
            "\n[Link]\nMTUBytes=2044\n");
  write("/usr/lib/systemd/network/40-ib.network", "[Match]\nType=infiniband\nName=fab9\n");
  write("/usr/lib/systemd/network/30-ib.network.d/mtu.conf", "[Link]\nMTUBytes=4092\n");
  const auto folder = root_ / "etc/systemd/network";
  std::filesystem::create_directory(folder / "30-ib.network.d");
  for (const auto* name : {"40-ib.network", "10-ib.link", "30-ib.network.d/mtu.conf"})
    std::filesystem::create_symlink("/dev/null", folder / name);
  EXPECT_EQ(import({"networkd"}), 0) << console_.err.str();
  EXPECT_THAT(console_.out.str(), AllOf(HasSubstr("mtu = 2044"), Not(HasSubstr("fab9"))));
  for (const auto* name : {"40-ib.network", "10-ib.link", "30-ib.network.d/mtu.conf"})
    EXPECT_THAT(console_.err.str(), HasSubstr(std::string(name) + ": skipped: is a link to /dev/null"));
}

TEST(ImportLive, IsWhatIsThereAndLeavesAddressesToOthers) {
  Console console;
  EXPECT_EQ(console.run({"import", "live"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr(kGuid1), HasSubstr(kGuid2), Not(HasSubstr("name ="))));
  const auto text = console.out.str();
  console.document(text);
  EXPECT_EQ(console.run({"diff"}), 0) << console.out.str() << console.err.str();
}

TEST(ImportLive, LeavesLeasesOutAndWhatHangsOnThem) {
  Console console;
  for (auto& link : console.kernel.machine.links) {
    if (link.name == "ib0")
      link.items = {"addr4 192.0.2.1/24",
                    "addr4 198.51.100.7/24 dynamic",
                    "addr6 2001:db8::7/64 dynamic",
                    "route default via 198.51.100.1",
                    "route 10.0.0.0/8 via 192.0.2.9",
                    "route default via fe80::1 metric 100"};
  }
  EXPECT_EQ(console.run({"import", "live", "--adopt"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("192.0.2.1/24"), HasSubstr("10.0.0.0/8"), Not(HasSubstr("addresses = [\"198")),
                    Not(HasSubstr("gateway")), Not(HasSubstr("ipv6]"))));
  EXPECT_THAT(
      console.err.str(),
      HasSubstr("left out: 198.51.100.7/24, 2001:db8::7/64 and the route to default, the route to default "
                "(from DHCP or a router"));
  const auto text = console.out.str();
  console.document(text);
  EXPECT_EQ(console.run({"validate"}), 0) << console.err.str();
}

TEST(ImportLive, LeavesPkeyInterfacesTheirNames) {
  Console console;
  // As NetworkManager names one by P_Key 2; and as the kernel cuts the name over a port with a long one.
  console.kernel.add_child("ib0", 0x8002, "ib0.0002");
  for (auto& link : console.kernel.machine.links) {
    if (link.name == "ib1") link.name = "a_port_of_12";
  }
  console.kernel.add_child("a_port_of_12", 0x8003, "a_port_of_12.80");
  EXPECT_EQ(console.run({"import", "live"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("name = \"ib0.0002\""), HasSubstr("name = \"a_port_of_12.80\"")));
  const auto text = console.out.str();
  console.document(text);
  EXPECT_EQ(console.run({"diff"}), 0) << console.out.str() << console.err.str();
}

TEST(ImportLive, TakesRoutesOverAsTheyAre) {
  Console console;
  for (auto& link : console.kernel.machine.links) {
    if (link.name == "ib0")
      link.items = {"addr4 192.0.2.1/24",
                    "addr6 2001:db8::7/64",
                    "route default via 192.0.2.9",
                    "route 10.0.0.0/8 via 192.0.2.9 metric 150",
                    "route 10.1.0.0/16 via 192.0.2.9 metric 1024",
                    "route 2001:db8:1::/48 via 2001:db8::9",
                    "route default via 2001:db8::9 metric 150"};
  }
  const auto items = [&] {
    for (const auto& link : console.kernel.machine.links) {
      if (link.name == "ib0") return std::set<std::string>(link.items.begin(), link.items.end());
    }
    return std::set<std::string>();
  };
  const auto before = items();
  EXPECT_EQ(console.run({"import", "live", "--adopt"}), 0) << console.err.str();
  const auto text = console.out.str();
  EXPECT_THAT(text, AllOf(HasSubstr("to = \"default\"\n    via = \"192.0.2.9\"\n    metric = 0\n"),
                          HasSubstr("gateway = \"2001:db8::9\""), Not(HasSubstr("metric = 150")),
                          HasSubstr("via = \"2001:db8::9\"\n    metric = 1024")));
  console.document(text);
  console.run({"diff"});
  EXPECT_THAT(console.out.str(), AllOf(Not(HasSubstr("route")), Not(HasSubstr("address"))));
  EXPECT_EQ(console.run({"apply", "--yes"}), 0) << console.err.str();
  EXPECT_EQ(console.run({"diff"}), 0) << console.out.str() << console.err.str();
  EXPECT_EQ(items(), before);
}

TEST(Export, WritesFilesAndSaysWhatIsMissing) {
  Console console;
  console.document(kRename + "umcast = true\n");
  EXPECT_EQ(console.run({"export", "nm"}), 5);
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("# ==> /etc/NetworkManager/system-connections/mlx4_ib0.nmconnection <=="),
                    HasSubstr("# not expressed: mlx4_ib0: umcast")));
  EXPECT_THAT(console.err.str(), HasSubstr("not expressed: mlx4_ib0: umcast"));
  EXPECT_EQ(console.run({"export", "networkd"}), 0) << console.err.str();
  const auto deep = console.folder() / "not/yet/there";
  EXPECT_EQ(console.run({"export", "networkd", "--output", deep.string()}), 0) << console.err.str();
  EXPECT_TRUE(std::filesystem::exists(deep / "etc/systemd/network"));
  const auto folder = console.folder() / "tree";
  std::ofstream(console.folder() / "file") << "x";
  EXPECT_EQ(console.run({"export", "nm", "--output", (console.folder() / "file").string()}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("not a directory"));
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_EQ(console.run({"export", "nm", "--output", folder.string(), "--pending-ok"}), 0);
  const auto profile = folder / "etc/NetworkManager/system-connections/mlx4_ib0.nmconnection";
  EXPECT_EQ(std::filesystem::status(profile).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(console.run({"export", "netplan", "--json"}), 5);
  EXPECT_EQ(nlohmann::json::parse(console.out.str())["files"].size(), 3U);
}

/// Its text goes to `nvmetcli restore /dev/stdin`, and JSON has no comments.
TEST(Export, OfTargetsIsTheFileItself) {
  Console console;
  console.document(
      "version = 1\n[[nvme_target]]\nnqn = \"nqn.2014-08.org.example:a\"\nany_host = true\n"
      "addresses = [\"192.0.2.1\"]\n[[nvme_target.namespace]]\nnsid = 1\ndevice = \"/dev/vg0/a\"\n");
  EXPECT_EQ(console.run({"export", "nvmetcli"}), 0) << console.err.str();
  const auto made = nlohmann::json::parse(console.out.str());
  EXPECT_EQ(made["subsystems"][0]["nqn"], "nqn.2014-08.org.example:a");
  const auto folder = console.folder() / "tree";
  EXPECT_EQ(console.run({"export", "nvmetcli", "--output", folder.string()}), 0) << console.err.str();
  EXPECT_EQ(std::filesystem::status(folder / "etc/nvmet/config.json").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  console.document("version = 1\n[[module]]\nname = \"nvmet_rdma\"\n");
  EXPECT_EQ(console.run({"export", "nvmetcli"}), 5);
  EXPECT_EQ(console.out.str(), "");
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("nvmetcli does not support [[module]]"),
                                       HasSubstr("the document has no [[nvme_target]]: no file is written")));
}

/// setup() of rtslib's target.py
TEST(Export, OfANameThatTargetcliReplacesIsNotWhole) {
  Console console;
  const auto document = [](const std::string& name) {
    return "version = 1\n[[lio_target]]\nwwn = \"" + name +
           "\"\nany_initiator = true\naddresses = [\"192.0.2.1\"]\n[[lio_target.lun]]\nnumber = 0\n"
           "device = \"/dev/vg0/a\"\n";
  };
  console.document(document("naa.6001405b2c9e0a11"));
  EXPECT_EQ(console.run({"export", "targetcli"}), 5);
  EXPECT_THAT(console.err.str(),
              HasSubstr("naa.6001405b2c9e0a11: its name, of which targetcli makes naa.5001405b2c9e0a11"));
  console.document(document("naa.5001405b2c9e0a11"));
  (void)console.run({"export", "targetcli"});
  EXPECT_THAT(console.err.str(), Not(HasSubstr("its name")));
}

TEST(Export, Refuses) {
  Console console;
  console.document("version = 1\n[[ipoib]]\nguid = 3\n");
  EXPECT_EQ(console.run({"export", "nm"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("nothing is exported"));
  EXPECT_EQ(console.run({"export"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("export: FORMAT is missing; the formats are nm, networkd"));
  EXPECT_EQ(console.run({"export", "netplam"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("did you mean netplan?"));
  EXPECT_EQ(console.run({"export", "NetworkManager"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("did you mean nm?"));
  EXPECT_EQ(console.run({"export", "LIO"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("did you mean targetcli?"));
  EXPECT_EQ(console.run({"export", "nvmet"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("did you mean nvmetcli?"));
}

TEST(Foreign, EveryFormatIsInHelpCompletionsAndDocumentation) {
  std::string help;
  for (const auto& command : describe_command_line()) {
    if (command.name == "import" || command.name == "export") help += command.text;
  }
  for (const auto* file :
       {"packaging/completions/rdma-configctl.bash", "packaging/completions/_rdma-configctl",
        "packaging/completions/rdma-configctl.fish", "docs/IMPORT.md"}) {
    const auto text = file_text(std::filesystem::path(SOURCE_ROOT) / file);
    for (const auto& format : foreign::formats())
      EXPECT_THAT(text, HasSubstr(std::string(format.name))) << file;
    for (const auto& target : foreign::targets())
      EXPECT_THAT(text, HasSubstr(std::string(target.name))) << file;
  }
  for (const auto& format : foreign::formats()) EXPECT_THAT(help, HasSubstr(std::string(format.name)));
  for (const auto& target : foreign::targets()) EXPECT_THAT(help, HasSubstr(std::string(target.name)));
}

}  // namespace
}  // namespace rdmacfg::ctl
