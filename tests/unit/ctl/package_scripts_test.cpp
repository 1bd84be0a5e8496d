// SPDX-License-Identifier: Apache-2.0
// The packages' scripts, run in a tree of their own: their warnings, and the files that they leave alone.
// packaging/test-lifecycle and test-rpm run the whole of them in guests and chroots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "ctl/json.hpp"
#include "model/report.hpp"
#include "sources.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
namespace fs = std::filesystem;

constexpr const char* kMlx4Begin = "# Written by rdma-configd from its configuration:\n";
constexpr const char* kMlx4End = "# end of rdma-configd's lines\n";
constexpr const char* kOpensmBegin =
    "# rdma-configd: managed block; changes between these markers are overwritten.\n";
constexpr const char* kFormerOpensmBegin =
    "# rdma-configd: what is between the two marks is lost when it is changed.\n";
constexpr const char* kOpensmEnd = "# rdma-configd: end\n";

/// A host where systemd runs.
class PackageScripts : public testing::Test {
 protected:
  PackageScripts() {
    for (const auto* folder : {"bin", "proc/1", "run/systemd/system", "sys/class/net"})
      fs::create_directories(tree_.path() / folder);
    fs::create_directory_symlink("/", tree_.path() / "proc/1/root");
    for (const auto* name :
         {"systemctl", "deb-systemd-invoke", "udevadm", "update-initramfs", "rdma-configctl"})
      program(name, "echo \"${0##*/} $*\" >>" + at("called") + "\n");
    program("ip", "cat " + at("addresses") + "/\"$5\" 2>/dev/null\n");
  }

  [[nodiscard]] std::string at(const std::string& path) const { return (tree_.path() / path).string(); }
  [[nodiscard]] bool there(const std::string& path) const { return fs::exists(tree_.path() / path); }
  [[nodiscard]] std::string text(const std::string& path) const {
    return there(path) ? content(tree_.path() / path) : "";
  }
  [[nodiscard]] std::string called() const { return text("called"); }

  /// systemd runs, but that of another root.
  void chroot() const {
    fs::remove(tree_.path() / "proc/1/root");
    fs::create_directory_symlink(tree_.path(), tree_.path() / "proc/1/root");
  }

  /// `above`: the interface that a P_Key interface belongs to.
  void interface(const std::string& name, const std::string& address, const std::string& type = "32",
                 const std::string& above = {}) {
    const auto index = std::to_string(++interfaces_);
    const auto folder = "sys/class/net/" + name;
    tree_.write(folder + "/type", type + "\n");
    tree_.write(folder + "/ifindex", index + "\n");
    tree_.write(folder + "/iflink",
                above.empty() ? index + "\n" : text("sys/class/net/" + above + "/ifindex"));
    if (!address.empty())
      tree_.write("addresses/" + name, "1: " + name + "    inet " + address + " scope global\n");
  }

  /// The output of a script of the package.
  [[nodiscard]] std::string run(const std::string& script, const std::string& arguments) const {
    const auto copy = at("script");
    const std::string folders = "/(etc|var|run|sys|proc|boot|usr)/";
    const auto text = std::regex_replace(script, std::regex("(^|[\\s\"'(])" + folders, std::regex::multiline),
                                         "$1" + tree_.path().string() + "/$2/");
    // Nothing may reach the files of the host that the test runs on.
    const auto rest = std::regex_replace(text, std::regex(tree_.path().string() + folders), "");
    if (std::regex_search(rest, std::regex(folders))) return "a path that is not in the tree: " + rest;
    std::ofstream(copy) << text;
    return say("(PATH=" + at("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin sh " + copy + " " + arguments +
               " || echo exit $?)");
  }
  [[nodiscard]] std::string debian(const std::string& name, const std::string& arguments) const {
    return run(content(kSource / ("packaging/debian/rdma-configd." + name)), arguments);
  }
  [[nodiscard]] std::string rpm(const std::string& name, const std::string& arguments) const {
    const auto spec = content(kSource / "packaging/rdma-configd.spec");
    const auto from = spec.find("\n%" + name + "\n") + name.size() + 3;
    // The spec doubles percent signs.
    return run(std::regex_replace(spec.substr(from, spec.find("\n%", from) - from), std::regex("%%"), "%"),
               arguments);
  }

  void program(const std::string& name, const std::string& text) const {
    tree_.write("bin/" + name, "#!/bin/sh\n" + text);
    fs::permissions(tree_.path() / "bin" / name, fs::perms::owner_all);
  }

  Scratch tree_;

 private:
  int interfaces_ = 0;
};

/// An upgrade of a host on which the new program's `diff` finds something to do.
class UpgradeWithDifferences : public PackageScripts {
 protected:
  UpgradeWithDifferences() {
    model::Change backend;
    backend.key = {"backend", kGuid};
    backend.before["backend"] = std::string("incomplete");
    backend.after["backend"] = std::string("networkd");
    backend.fields = {"backend"};
    changes_.push_back(std::move(backend));
    model::Change networkd;
    networkd.key = {"networkd", kGuid};
    networkd.before["older_name"] = std::string("10-rdma-configd-0002c903003178f2.network");
    networkd.before["addresses"] = std::vector<std::string>{"192.0.2.1/24"};
    networkd.after["addresses"] = std::vector<std::string>{"192.0.2.1/24"};
    networkd.fields = {"older_name"};
    networkd.needs = {{"backend", kGuid}};
    networkd.interrupts = {"systemd-networkd sets the interface's addresses and routes again"};
    changes_.push_back(std::move(networkd));
    interface("ib0", "");
    in_effect("10-rdma-configd-0002c903003178f2.network");
  }

  model::Change& networkd() { return changes_.back(); }

  /// The file that systemd-networkd uses for the interface.
  void in_effect(const std::string& file) {
    tree_.write("run/systemd/netif/links/1",
                "ADMIN_STATE=configured\nNETWORK_FILE=/run/systemd/network/" + file + "\n");
  }

  /// Whether the scripts of both packages restart the daemon.
  void expect_restart(bool expected) {
    model::Report report;
    report.plan.changes = changes_;
    report.exit = model::Exit::kDiffers;
    tree_.write("report", to_json(report, "diff", static_cast<int>(report.exit)).dump(2) + "\n");
    program("rdma-configctl", "cat " + at("report") + "\nexit 2\n");
    fs::remove(at("called"));
    const auto debian_said = debian("postinst", "configure 0.0.9");
    EXPECT_EQ(called().find("deb-systemd-invoke try-restart rdma-configd.service") != std::string::npos,
              expected);
    EXPECT_EQ(debian_said.find("is not restarted: the host does not match") == std::string::npos, expected)
        << debian_said;
    fs::remove(at("called"));
    const auto rpm_said = rpm("posttrans", "1");
    EXPECT_EQ(called().find("systemctl try-restart rdma-configd.service") != std::string::npos, expected);
    EXPECT_EQ(rpm_said.find("is not restarted") == std::string::npos, expected) << rpm_said;
  }

  static constexpr const char* kGuid = "00:02:c9:03:00:31:78:f2";
  std::vector<model::Change> changes_;
};

TEST_F(PackageScripts, PurgeTakesOurLinesFromFilesOfOthers) {
  tree_.write("etc/rdma/mlx4.conf", std::string("# mine\n") + kMlx4Begin + "0000:10:00.0 ib eth\n" +
                                        kMlx4End + "0000:20:00.0 eth eth\n");
  tree_.write("etc/opensm/opensm.conf", std::string(kOpensmBegin) + "sweep_interval 5\n" + kOpensmEnd);
  tree_.write("etc/default/opensm", std::string("A=1\n") + kFormerOpensmBegin + "PORTS=\"x\"\n" + kOpensmEnd);
  const auto said = debian("postrm", "purge");
  EXPECT_EQ(text("etc/rdma/mlx4.conf"), "# mine\n0000:20:00.0 eth eth\n");
  EXPECT_FALSE(there("etc/opensm/opensm.conf"));
  EXPECT_EQ(text("etc/default/opensm"), "A=1\n");
  EXPECT_THAT(said, AllOf(HasSubstr("removed its lines from "), HasSubstr("etc/opensm/opensm.conf;")));
  EXPECT_THAT(said, Not(HasSubstr("WARNING")));
  EXPECT_EQ(debian("postrm", "purge"), "") << "and once more";
}

TEST_F(PackageScripts, PurgeTakesFilesOfSystemdNetworkdUnderTheNamesOfOlderVersions) {
  const std::string folder = "etc/systemd/network/",
                    ours = "# Written by rdma-configd; do not edit.\n[Match]\n";
  for (const auto* name : {"09-rdma-configd-unmanaged", "10-rdma-configd-unmanaged",
                           "09-rdma-configd-0002c903003178f2", "10-rdma-configd-0002c903003178f2"})
    tree_.write(folder + name + ".network", ours);
  tree_.write(folder + "10-rdma-configd-mine.network", "[Match]\nName=eth0\n");
  tree_.write(folder + "10-rdma-configd-0002c903003178f2.network.d/online.conf", "[Link]\n");
  const auto said = debian("postrm", "purge");
  for (const auto* name : {"09-rdma-configd-unmanaged", "10-rdma-configd-unmanaged",
                           "09-rdma-configd-0002c903003178f2", "10-rdma-configd-0002c903003178f2"})
    EXPECT_FALSE(there(folder + name + ".network")) << name;
  EXPECT_THAT(said, HasSubstr("10-rdma-configd-0002c903003178f2.network is removed"));
  EXPECT_EQ(text(folder + "10-rdma-configd-mine.network"), "[Match]\nName=eth0\n");
  EXPECT_EQ(text(folder + "10-rdma-configd-0002c903003178f2.network.d/online.conf"), "[Link]\n");
}

TEST_F(PackageScripts, PurgeTakesTheOwnFilesOfSubnetManagers) {
  const std::string ours = "# Written by rdma-configd; changes here are overwritten.\n";
  const std::string drop_in = "etc/systemd/system/opensm@0x0002c903003178f2.service.d";
  tree_.write("etc/opensm/opensm-0x0002c903003178f2.conf", ours + "lmc 1\n");
  tree_.write("etc/opensm/rdma-root-guids-0x0002c903003178f2.conf", ours + "0x0000000000200000\n");
  tree_.write("etc/opensm/opensm-second.conf", "lmc 2\n");
  tree_.write("etc/rdma/opensm.conf.0x0002c903003178f2", ours + "guid 0x0002c903003178f2\n");
  tree_.write("etc/rdma/opensm.conf.1", "guid 0x0002c903003178f4\n");
  tree_.write(drop_in + "/50-rdma-configd.conf", ours + "[Service]\n");
  (void)debian("postrm", "purge");
  EXPECT_FALSE(there("etc/opensm/opensm-0x0002c903003178f2.conf"));
  EXPECT_FALSE(there("etc/opensm/rdma-root-guids-0x0002c903003178f2.conf"));
  EXPECT_FALSE(there(drop_in)) << "it names a file that is gone";
  EXPECT_EQ(text("etc/opensm/opensm-second.conf"), "lmc 2\n");
  EXPECT_FALSE(there("etc/rdma/opensm.conf.0x0002c903003178f2"));
  EXPECT_EQ(text("etc/rdma/opensm.conf.1"), "guid 0x0002c903003178f4\n");
}

TEST_F(PackageScripts, PurgeLeavesAFileWhoseMarksAreDamaged) {
  const std::string begin = kMlx4Begin, end = kMlx4End, mine = "0000:20:00.0 eth eth\n";
  for (const auto& damaged :
       {begin + mine, end + begin + mine, begin + "0000:10:00.0 ib ib\n" + begin + mine + end,
        begin + "0000:10:00.0 ib ib\n" + end + begin + mine}) {
    tree_.write("etc/rdma/mlx4.conf", damaged);
    EXPECT_THAT(debian("postrm", "purge"), HasSubstr("etc/rdma/mlx4.conf is left unchanged"));
    EXPECT_EQ(text("etc/rdma/mlx4.conf"), damaged);
    EXPECT_EQ(std::distance(fs::directory_iterator(at("etc/rdma")), fs::directory_iterator()), 1)
        << "nothing is left beside it";
  }
}

TEST_F(PackageScripts, TheRpmRemovesWhatAKilledEditLeft) {
  tree_.write("etc/rdma-configd/.rdma-configd-Ab12Cd", "half a line");
  tree_.write("etc/rdma-configd/config.toml", "version = 1\n");
  EXPECT_EQ(rpm("postun", "1"), "") << "an upgrade";
  EXPECT_TRUE(there("etc/rdma-configd/.rdma-configd-Ab12Cd"));
  EXPECT_EQ(rpm("postun", "0"), "");
  EXPECT_FALSE(there("etc/rdma-configd/.rdma-configd-Ab12Cd"));
  EXPECT_TRUE(there("etc/rdma-configd/config.toml"));
}

TEST_F(PackageScripts, PurgeRemovesWhatAKilledWriteLeft) {
  for (const auto* folder : {"etc/sysctl.d", "etc/opensm", "etc/systemd/system/slurmd.service.d",
                             "etc/rdma-configd/conf.d", "run/rdma-configd"})
    tree_.write(std::string(folder) + "/.rdma-configd-Ab12Cd", "half a line");
  for (const auto* name :
       {"running", "applied", "settled.json", "refused.json", "held.json", "held.json.damaged-1",
        "degraded.json", "unwritten.json", "roce-defaults", "nvme-found", "ledger-seen"})
    tree_.write(std::string("run/rdma-configd/") + name, "");
  for (const auto* folder :
       {"run/rdma-configd-modules", "run/rdma-configd-sysctl", "run/rdma-configd-proc-fs"})
    fs::create_directories(at(folder));
  tree_.write("etc/sysctl.d/mine.conf", "net.ipv4.ip_forward = 1\n");
  EXPECT_EQ(debian("postrm", "purge"), "");
  for (const auto* gone : {"etc/sysctl.d/.rdma-configd-Ab12Cd", "etc/opensm/.rdma-configd-Ab12Cd",
                           "etc/rdma-configd/conf.d/.rdma-configd-Ab12Cd",
                           "etc/systemd/system/slurmd.service.d", "run/rdma-configd",
                           "run/rdma-configd-modules", "run/rdma-configd-sysctl", "run/rdma-configd-proc-fs"})
    EXPECT_FALSE(there(gone)) << gone;
  EXPECT_TRUE(there("etc/sysctl.d/mine.conf"));
  tree_.write("run/rdma-configd/conf.d/mine.toml", "version = 1\n");
  EXPECT_EQ(debian("postrm", "purge"), "");
  EXPECT_TRUE(there("run/rdma-configd/conf.d/mine.toml")) << "an administrator's";
}

TEST_F(PackageScripts, PurgeWarnsOfNamesThatAreInUse) {
  tree_.write("etc/udev/rules.d/70-rdma-configd-ipoib.rules",
              "# Written by rdma-configd.\n"
              "SUBSYSTEM==\"net\", ATTR{address}==\"?*f2\", NAME=\"mlx4_ib0\"\n"
              "SUBSYSTEM==\"net\", ATTR{address}==\"?*f3\", NAME=\"storage0\"\n"
              "SUBSYSTEM==\"net\", ATTR{address}==\"?*f4\", NAME=\"idle0\"\n");
  interface("mlx4_ib0", "");
  interface("mlx4_ib0.8002", "192.0.2.1/24", "32", "mlx4_ib0");
  interface("storage0", "");
  interface("bond0", "192.0.3.1/24");
  fs::create_directory_symlink("../bond0", at("sys/class/net/storage0/upper_bond0"));
  interface("idle0", "");
  interface("eth0", "198.51.100.1/24", "1");
  const auto said = debian("postrm", "purge");
  EXPECT_THAT(said, HasSubstr("these interfaces have other names"));
  EXPECT_THAT(said, HasSubstr("  mlx4_ib0.8002 192.0.2.1/24\n"));
  EXPECT_THAT(said, HasSubstr("  bond0 192.0.3.1/24\n"));
  EXPECT_THAT(said, Not(HasSubstr("eth0")));
  EXPECT_FALSE(there("etc/udev/rules.d/70-rdma-configd-ipoib.rules"));
}

TEST_F(PackageScripts, RemovalNamesWhatIsInUse) {
  tree_.write("var/lib/rdma-configd/state.json",
              "{\"records\":[\n{\"kind\":\"mlx4_port\",\"id\":\"0000:10:00.0\"}]}\n");
  interface("mlx4_ib0", "");
  interface("mlx4_ib0.8002", "192.0.2.1/24", "32", "mlx4_ib0");
  interface("ens1d1", "192.0.3.1/24", "1");
  tree_.write("sys/class/net/ens1d1/device/mlx4_port1", "ib\n");
  interface("eth0", "198.51.100.1/24", "1");
  const auto said = debian("prerm", "remove");
  EXPECT_THAT(said, HasSubstr("  mlx4_ib0.8002 192.0.2.1/24\n"));
  EXPECT_THAT(said, HasSubstr("nothing sets the port types of their adapter after the next boot"));
  EXPECT_THAT(said, HasSubstr("  ens1d1 192.0.3.1/24\n"));
  EXPECT_THAT(said, Not(HasSubstr("eth0")));
  const auto erased = rpm("preun", "0");
  EXPECT_THAT(erased, HasSubstr("  mlx4_ib0.8002 192.0.2.1/24\n"));
  EXPECT_EQ(rpm("preun", "1"), "") << "an upgrade";

  tree_.write("etc/rdma/mlx4.conf", std::string(kMlx4Begin) + "0000:10:00.0 ib eth\n" + kMlx4End);
  EXPECT_THAT(debian("postrm", "purge"), HasSubstr("  ens1d1 192.0.3.1/24\n"));
}

TEST_F(PackageScripts, RemovalOfWhatDidNothingWarnsOfNothing) {
  interface("mlx4_ib0", "192.0.2.1/24");
  EXPECT_EQ(debian("prerm", "remove"), "");
  EXPECT_EQ(rpm("preun", "0"), "");
  tree_.write("var/lib/rdma-configd/state.json", "{\"records\":[\n{\"kind\":\"ipoib\",\"id\":\"x\"}]}\n");
  tree_.write("var/lib/rdma-configd/withdrawn", "");
  EXPECT_EQ(debian("prerm", "remove"), "") << "it was handed over";
  EXPECT_EQ(rpm("preun", "0"), "");
}

TEST_F(PackageScripts, InAnImageTheDocumentIsLookedAt) {
  chroot();
  interface("ib0", "192.0.2.1/24");
  tree_.write("etc/rdma-configd/config.toml", "version = 1\n");
  EXPECT_EQ(debian("prerm", "remove"), "") << "it asks for nothing";
  tree_.write("etc/rdma-configd/config.toml", "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n");
  for (const auto& said : {debian("prerm", "remove"), rpm("preun", "0")}) {
    EXPECT_THAT(said, HasSubstr("nothing sets up"));
    EXPECT_THAT(said, HasSubstr("rdma-configctl withdraw"));
    EXPECT_THAT(said, Not(HasSubstr("ib0"))) << "that is the host's";
  }
}

TEST_F(PackageScripts, DracutsModuleIsNotForTheImageOfACrashKernel) {
  // dracut has the modules of --add in that variable.
  const auto check = [&](const std::string& kdump, const std::string& added = "") {
    return say("(env IN_KDUMP=" + kdump + " add_dracutmodules='" + added +
               "' dracutsysrootdir=" + tree_.path().string() + " bash -c '. " +
               (kSource / "packaging/dracut/90rdma-configd/module-setup.sh").string() +
               " && check' || echo exit $?)");
  };
  EXPECT_EQ(check(""), "exit 255\n") << "nothing was written";
  tree_.write("etc/modprobe.d/rdma-configd.conf", "options mlx4_core num_vfs=4\n");
  EXPECT_EQ(check(""), "");
  EXPECT_EQ(check("1"), "exit 255\n") << "kdumpctl";
  EXPECT_EQ(check("", " kdump "), "exit 255\n") << "mkdumprd of SUSE";
  EXPECT_EQ(check("", " lvm dm kdump-notes "), "") << "another module";
}

TEST_F(UpgradeWithDifferences, OlderFileNamesAloneAllowARestart) { expect_restart(true); }

TEST_F(UpgradeWithDifferences, AnEditedDocumentPreventsIt) {
  networkd().fields = {"addresses", "older_name"};
  expect_restart(false);
  networkd().fields = {"dns"};
  expect_restart(false);
}

TEST_F(UpgradeWithDifferences, ALeaseThatCouldBeLostPreventsIt) {
  networkd().before["dhcp"] = true;
  expect_restart(false);
}

TEST_F(UpgradeWithDifferences, AnotherChangePreventsIt) {
  model::Change change;
  change.key = {"ipoib", "00:02:c9:03:00:31:78:f2"};
  change.before["mtu"] = std::int64_t{2044};
  change.after["mtu"] = std::int64_t{4092};
  change.fields = {"mtu"};
  changes_.push_back(change);
  expect_restart(false);
  changes_.back().operation = model::Operation::kDelete;
  changes_.back().fields.clear();
  expect_restart(false);
}

TEST_F(UpgradeWithDifferences, AForeignFileThatOursWouldPrecedePreventsIt) {
  in_effect("10-netplan-ib0.network");
  expect_restart(false);
  in_effect("09-rdma-configd-local.network");  // ours by its name
  expect_restart(true);
  in_effect("05-site.network");
  expect_restart(true);
  in_effect("80-site.network");
  expect_restart(true);
}

TEST_F(UpgradeWithDifferences, DropInsOfAnOlderNamePreventIt) {
  tree_.write("etc/systemd/network/10-rdma-configd-0002c903003178f2.network.d/mtu.conf", "[Link]\n");
  expect_restart(false);
}

TEST_F(PackageScripts, MetricsAreNotRemovedThroughASymbolicLink) {
  const auto root = fs::canonical(tree_.path()).string();
  for (const bool of_debian : {true, false}) {
    const auto remove = [&] { return of_debian ? debian("postrm", "remove") : rpm("postun", "0"); };
    for (const std::string folder : {"/real", "/link", "/link/below"}) {
      fs::remove_all(root + "/real");
      fs::remove(root + "/link");
      fs::create_directories(root + "/real/below");
      fs::create_directory_symlink(root + "/real", root + "/link");
      tree_.write("run/rdma-configd/metrics", root + folder + "/rdma-configd.prom\n");
      for (const std::string below : {"real/", "real/below/"}) {
        tree_.write(below + "rdma-configd.prom", "rdma_configd_up 0\n");
        tree_.write(below + ".rdma-configd-Ab12Cd", "");
        tree_.write(below + "other.prom", "");
      }
      const bool linked = folder != "/real";
      const auto said = remove();
      EXPECT_EQ(said.find("through a symbolic link") != std::string::npos, linked) << said;
      EXPECT_EQ(there("real/rdma-configd.prom"), linked) << folder;
      EXPECT_EQ(there("real/.rdma-configd-Ab12Cd"), linked) << folder;
      EXPECT_TRUE(there("real/below/rdma-configd.prom") && there("real/other.prom")) << folder;
      EXPECT_FALSE(there("run/rdma-configd/metrics"));
    }
  }
}

TEST_F(PackageScripts, AChrootLeavesTheHostAlone) {
  tree_.write("var/lib/rdma-configd/unconfirmed.json", "{}\n");
  EXPECT_THAT(debian("prerm", "remove"), HasSubstr("the removal confirms it"));
  EXPECT_THAT(called(), HasSubstr("rdma-configctl confirm --local"));
  EXPECT_THAT(rpm("preun", "0"), HasSubstr("the removal confirms it"));
  fs::remove(at("called"));
  chroot();
  EXPECT_THAT(debian("prerm", "remove"), HasSubstr("could not be confirmed"));
  EXPECT_THAT(rpm("preun", "0"), HasSubstr("could not be confirmed"));
  (void)debian("postinst", "configure 0.0.9");
  (void)rpm("post", "2");
  (void)rpm("postun", "1");
  (void)rpm("posttrans", "1");
  (void)debian("postrm", "remove");
  EXPECT_EQ(called(), "");
  tree_.write("run/rdma-configd/running", "");
  tree_.write("run/rdma-configd.lock", "");
  (void)debian("postrm", "purge");
  EXPECT_TRUE(there("run/rdma-configd/running") && there("run/rdma-configd.lock")) << "of the host's daemon";
}

}  // namespace
}  // namespace rdmacfg::ctl
