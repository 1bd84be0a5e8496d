// SPDX-License-Identifier: Apache-2.0
// Unusual contents of the tools' places, in a real file system.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "stage.hpp"
#include "system/linux/linux_host.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::foreign {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

class Places : public testing::Test {
 protected:
  system::TempTree tree;
  std::unique_ptr<system::Files> files = system::make_linux_files(tree.path());
};

TEST_F(Places, AFileWhereAnotherToolHasAFolderIsNoComplaint) {
  tree.put("/etc/sysconfig/network", "NETWORKING=yes\n");
  tree.put("/etc/security/limits.conf", "@rdma - memlock unlimited\n");
  const auto made = import_all(*files, "host");
  EXPECT_THAT(made.claims.missed, IsEmpty());
  EXPECT_THAT(made.document, HasSubstr("domain = \"@rdma\""));
}

TEST_F(Places, LinksAreFollowedAsTheToolsDo) {
  tree.put("/etc/modules", "ib_ipoib\n");
  tree.link("/etc/modules-load.d/modules.conf", "../modules");
  tree.link("/etc/modules-load.d/none.conf", "/srv/none");
  const auto made = import_all(*files, "modprobe");
  EXPECT_THAT(made.document, HasSubstr("name = \"ib_ipoib\""));
  EXPECT_THAT(made.claims.missed,
              testing::ElementsAre(AllOf(Field(&Remark::where, Place{"/etc/modules-load.d/none.conf", 0}),
                                         Field(&Remark::text, "does not exist"))));
}

TEST_F(Places, FoldersOfAutomountAreNoMaps) {
  tree.put("/etc/auto.misc", "work -fstype=nfs4,rdma nas:/work\n");
  tree.put("/etc/auto.master.d/site.autofs", "/misc /etc/auto.misc\n");
  const auto made = import_all(*files, "rdma-conf");
  EXPECT_THAT(made.claims.missed, IsEmpty());
  EXPECT_THAT(made.claims.passed,
              testing::ElementsAre(Field(&Remark::text, "the document has no automounts; keep this line")));
}

TEST_F(Places, CopiesOfCrontabsAreReadLikeThose) {
  tree.put("/srv/copy/etc/cron.d/rdma", "@reboot root modprobe ib_umad\n");
  tree.put("/srv/copy/var/spool/cron/root", "@reboot modprobe ib_srp\n");
  const auto made =
      import_all(*files, "scripts", {}, {"/srv/copy/etc/cron.d/rdma", "/srv/copy/var/spool/cron/root"});
  EXPECT_THAT(made.claims.missed, IsEmpty());
  EXPECT_THAT(made.document, AllOf(HasSubstr("name = \"ib_umad\""), HasSubstr("name = \"ib_srp\"")));
}

TEST_F(Places, LinksToServicesOfPackagesAreNotRead) {
  tree.put("/usr/lib/systemd/system/a.service", "[Service]\nExecStart=/usr/sbin/opensm\n");
  tree.link("/etc/systemd/system/a.service", "/usr/lib/systemd/system/a.service");
  tree.link("/etc/systemd/system/b.service", "/dev/null");
  tree.link("/etc/systemd/system/c.service", "/srv/none");
  tree.put("/etc/systemd/system/d.service", "[Service]\nExecStart=/usr/sbin/opensm -B\n");
  const auto made = import_all(*files, "scripts");
  EXPECT_THAT(made.claims.passed, IsEmpty());
  EXPECT_THAT(made.claims.missed,
              testing::ElementsAre(AllOf(Field(&Remark::where, Place{"/etc/systemd/system/d.service", 2}),
                                         Field(&Remark::text, "/usr/sbin/opensm -B: write [[opensm]]"))));
}

TEST_F(Places, LinksThatAreNamedAreNot) {
  tree.put("/srv/theirs", "ib_ipoib\n");
  tree.link("/srv/modules", "theirs");
  const auto made = import_all(*files, "modprobe", {}, {"/srv/modules"});
  EXPECT_THAT(made.claims.missed, Contains(Field(&Remark::text, HasSubstr("a symbolic link"))));
}

TEST_F(Places, WhoeverNamesAFileHearsOfIt) {
  tree.put("/srv/limits.conf", "alice - nofile 1024\n");
  const auto made = import_all(*files, "limits", {}, {"/srv/limits.conf"});
  EXPECT_THAT(made.claims.passed, Contains(Field(&Remark::text, "has nothing to import")));
}

struct OddName {
  const char* format;
  const char* text;
  const char* usual;  ///< the name that says what is in it
};

// Where the name of a file says what is in it, or for which interface it is, a file that is called otherwise
// is not passed over in silence.
TEST_F(Places, AFileWhoseNameSaysNothingIsNamed) {
  for (const auto& [format, text, usual] :
       {OddName{"ifcfg", "DEVICE=fab0\nTYPE=InfiniBand\nBOOTPROTO=dhcp\n", "ifcfg-fab0"},
        OddName{"networkd", "[Match]\nName=fab0\n\n[Network]\nAddress=192.0.2.1/24\n", "10-fab0.network"},
        OddName{"networkd", "[NetDev]\nName=fab0.8002\nKind=ipoib\n\n[IPoIB]\nPartitionKey=0x8002\n",
                "10-fab0.netdev"},
        OddName{"wicked", "STARTMODE='auto'\nIPOIB_MODE='connected'\n", "ifcfg-fab0"},
        OddName{"modprobe", "ib_umad\n", "modules"},
        OddName{"rdma-conf", "nas:/home /home nfs proto=rdma 0 0\n", "fstab"}}) {
    tree.put("/srv/saved", text);
    tree.put(std::string("/srv/") + usual, text);
    const auto* found = find_format(format);
    for (const auto* name : {"saved", usual}) {
      Claims claims;
      const auto count = gather({{found}, {std::string("/srv/") + name}}, *files, claims);
      const auto told =
          Contains(Field(&Remark::text, HasSubstr(std::string(format) + " reads only files named ")));
      if (name == usual) {
        EXPECT_THAT(claims.missed, testing::Not(told)) << format << ' ' << usual;
        continue;
      }
      EXPECT_EQ(count, 0U) << format;
      EXPECT_THAT(claims.missed, told) << format;
    }
  }
}

// A keyfile without InfiniBand and an ifcfg file look the same to who reads keyfiles.
TEST_F(Places, AFileOfAnotherToolIsNamed) {
  const std::string ifcfg = "DEVICE=fab0\nTYPE=InfiniBand\nBOOTPROTO=dhcp\n";
  tree.put("/srv/ifcfg-fab0", ifcfg);
  tree.put("/srv/wired", "[connection]\nid=wired\ntype=ethernet\n");
  for (const auto* format : {"nm", "netplan", "opensm", "udev"}) {
    Claims claims;
    EXPECT_EQ(gather({{find_format(format)}, {"/srv/ifcfg-fab0"}}, *files, claims), 0U) << format;
    EXPECT_THAT(
        claims.missed,
        Contains(Field(&Remark::text, HasSubstr("run `rdma-configctl import ifcfg /srv/ifcfg-fab0`"))))
        << format;
  }
  Claims of_suse, wired;
  EXPECT_EQ(gather({{find_format("wicked")}, {"/srv/ifcfg-fab0"}}, *files, of_suse), 1U);
  EXPECT_EQ(gather({{find_format("nm")}, {"/srv/wired"}}, *files, wired), 1U);
  EXPECT_THAT(wired.missed, IsEmpty());
  EXPECT_THAT(wired.passed, Contains(Field(&Remark::text, "is not for InfiniBand")));
}

TEST_F(Places, RulesOfPartitionsMayHaveAnyName) {
  tree.put("/srv/site.conf", "storage=0x10, ipoib : ALL=full ;\n");
  const auto made = import_all(*files, "opensm", {}, {"/srv/site.conf"});
  EXPECT_THAT(made.document, HasSubstr("pkey = 0x0010"));
}

TEST_F(Places, ACopyOfTheFileOfPartitionsThatTheOptionsNameIsRead) {
  tree.put("/srv/opensm.conf", "partition_config_file /etc/opensm/site.conf\n");
  tree.put("/srv/site.conf", "storage=0x10, ipoib : ALL=full ;\n");
  tree.put("/srv/old.conf", "storage=0x11, ipoib : ALL=full ;\n");
  const auto made = import_all(*files, "opensm", {}, {"/srv/opensm.conf", "/srv/site.conf", "/srv/old.conf"});
  EXPECT_THAT(made.document, AllOf(HasSubstr("pkey = 0x0010"), testing::Not(HasSubstr("pkey = 0x0011"))));
  EXPECT_THAT(made.claims.missed, testing::Not(Contains(Field(&Remark::text, HasSubstr("is not read")))));
  EXPECT_THAT(made.claims.passed,
              Contains(Field(&Remark::text, "OpenSM reads /etc/opensm/site.conf instead")));
}

TEST_F(Places, AMaskedLinkToSysctlConfIsNone) {
  tree.put("/usr/lib/systemd/systemd-sysctl", "");
  tree.put("/etc/sysctl.conf", "net.ipv4.conf.all.arp_ignore = 1\n");
  tree.link("/usr/lib/sysctl.d/99-sysctl.conf", "../../../etc/sysctl.conf");
  EXPECT_THAT(import_all(*files, "sysctl").document, HasSubstr("arp_ignore = 1"));
  tree.link("/etc/sysctl.d/99-sysctl.conf", "/dev/null");
  EXPECT_THAT(import_all(*files, "sysctl").document, testing::Not(HasSubstr("arp_ignore")));
}

// RHEL has one that only its administrator makes executable; /etc/rc.local is a link to it.
TEST_F(Places, AnRcLocalThatIsNotExecutableIsLeftOut) {
  tree.put("/usr/lib/systemd/systemd", "");
  tree.put("/usr/lib/systemd/system/rc-local.service", "");
  tree.put("/etc/rc.d/rc.local", "#!/bin/sh\nip link set ib0 mtu 2044\n");
  tree.link("/etc/rc.local", "rc.d/rc.local");
  const auto script = tree.at("/etc/rc.d/rc.local");
  ASSERT_EQ(::chmod(script.c_str(), S_IRUSR | S_IWUSR), 0);
  Claims claims;
  EXPECT_EQ(gather({{find_format("scripts")}, {}}, *files, claims), 0U);
  EXPECT_THAT(claims.passed,
              Contains(Field(&Remark::text, HasSubstr("nothing runs it as it is not executable"))));
  Claims named;
  EXPECT_EQ(gather({{find_format("scripts")}, {"/etc/rc.d/rc.local"}}, *files, named), 1U)
      << "as it was asked for";
  ASSERT_EQ(::chmod(script.c_str(), S_IRWXU), 0);
  Claims executable;
  EXPECT_GE(gather({{find_format("scripts")}, {}}, *files, executable), 1U);
  EXPECT_THAT(executable.passed, testing::Not(Contains(Field(&Remark::text, HasSubstr("not executable")))));
}

TEST_F(Places, ADispatcherThatIsNotExecutableIsLeftOut) {
  tree.put("/usr/lib/systemd/systemd", "");
  const std::string script = "/etc/NetworkManager/dispatcher.d/50-ib";
  tree.put(script, "#!/bin/sh\nip link set ib0 mtu 2044\n");
  ASSERT_EQ(::chmod(tree.at(script).c_str(), S_IRUSR | S_IWUSR), 0);
  Claims claims;
  EXPECT_EQ(gather({{find_format("scripts")}, {}}, *files, claims), 0U);
  EXPECT_THAT(claims.passed, Contains(Field(&Remark::where, Place{script, 0})));
  ASSERT_EQ(::chmod(tree.at(script).c_str(), S_IRWXU), 0);
  Claims executable;
  EXPECT_EQ(gather({{find_format("scripts")}, {}}, *files, executable), 1U);
}

TEST_F(Places, AListOfInterfacesOfBeegfsMayBeAnywhere) {
  tree.put("/srv/site/client.itf", "ib0\neth0\n");
  Claims claims;
  (void)gather({{find_format("rdma-conf")}, {"/srv/site/client.itf"}}, *files, claims);
  EXPECT_THAT(claims.missed, IsEmpty());
  EXPECT_THAT(claims.passed, Contains(Field(&Remark::text, HasSubstr("BeeGFS refers to ib0 by name"))));
}

}  // namespace
}  // namespace rdmacfg::foreign
