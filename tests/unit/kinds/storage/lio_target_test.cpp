// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/lio/lio_target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "kinds/storage/lio/lio_objects.hpp"
#include "kinds/storage/lio/lio_settings.hpp"

namespace rdmacfg::kinds {
namespace {

using system::LioMapping;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(LioTarget, NamesOfIscsiAreThoseThatRtslibTakes) {
  for (const auto* good :
       {"iqn.2026-01.org.example:a", "iqn.2003-01.org.linux-iscsi.host.x8664:sn.0a", "eui.0123456789abcdef"})
    EXPECT_TRUE(model::IscsiName::parse(good)) << good;
  EXPECT_EQ(model::IscsiName::parse("IQN.2026-01.ORG.Example:A").value().text, "iqn.2026-01.org.example:a");
  for (const auto* bad : {"", "iqn", "iqn.", "iqn.2026", "iqn.2026-01.", "iqn.2026-1.org.example",
                          "iqn.2026-01.example", "iqn.2026-01.org.example:a_b", "iqn.2026-01.org.example:a/b",
                          "eui.0123", "nqn.2014-08.org.example:a"})
    EXPECT_FALSE(model::IscsiName::parse(bad)) << bad;
  EXPECT_FALSE(model::IscsiName::parse("iqn.2026-01.org.example:" + std::string(200, 'a')));
}

TEST(LioTarget, TargetsOfSrpAreKnownByTheirPortWhateverTheirGroupIsCalled) {
  EXPECT_EQ(id_of({"srpt", "0xfe800000000000000002c903003178f2"}), "00:02:c9:03:00:31:78:f2");
  EXPECT_EQ(id_of({"srpt", "0002:c903:0031:78f2"}), "00:02:c9:03:00:31:78:f2");
  EXPECT_EQ(model::TargetName::parse("0002:c903:0031:78f2").value().text, "00:02:c9:03:00:31:78:f2");
  EXPECT_EQ(id_of({"srpt", "odd"}), "odd");
}

TEST(LioTarget, AnInitiatorOfSrpHasAnIdentifierOfIbSrpAndOneOfSrpDaemon) {
  const model::Guid target{0x0002c903003178f2};
  const std::vector<std::string> both{"0x00000000000000000002c90300317a02",
                                      "0x0002c903003178f20002c90300317a02"};
  EXPECT_EQ(srp_port_ids(target, "00:02:c9:03:00:31:7a:02"), both);
  EXPECT_EQ(srp_port_ids(target, "0002:c903:0031:7a02"), both);
  EXPECT_THAT(srp_port_ids(target, "0x0002C903003178F20002c90300317a02"), ElementsAre(both[1]));
  EXPECT_THAT(srp_port_ids(target, both[0].substr(2)), ElementsAre(both[0]));
  for (const auto* bad : {"", "x", "0x", "ib.00000000000000000002c90300317a02", "iqn.2026-01.org.example:a",
                          "0x00000000000000000002c90300317a0g", "0x0000000000000000002c90300317a02"})
    EXPECT_THAT(srp_port_ids(target, bad), IsEmpty()) << bad;
}

/// Initiators know disks by them, over upgrades too.
TEST(LioTarget, NamesAndSerialNumbersOfDisksNeverChange) {
  EXPECT_EQ(lio_backstore_name("/dev/disk/by-id/nvme-a"), "rdma-configd-c31afd49");
  const auto serial = lio_serial_of("0123456789abcdef0123456789abcdef\n", "/dev/vg0/a");
  EXPECT_EQ(serial, "6d7ba4b1-9656-528d-8477-9449064df8eb");
  EXPECT_EQ(lio_serial_of("0123456789abcdef0123456789abcdef", "/dev/vg0/a"), serial);
  EXPECT_NE(lio_serial_of("0123456789abcdef0123456789abcdef", "/dev/vg0/b"), serial);
  EXPECT_NE(lio_serial_of("1123456789abcdef0123456789abcdef", "/dev/vg0/a"), serial);
}

TEST(LioTarget, WhatAnInitiatorSeesIsReadAsItIsWritten) {
  const LioGuest some{"iqn.x", std::vector<LioMapping>{{0, 0, false}, {5, 1, false}, {2, 2, true}}};
  EXPECT_EQ(some.text(), "iqn.x (LUNs 0, 5=1, 2 read-only)");
  const auto back = LioGuest::parse(some.text());
  EXPECT_EQ(back.initiator, "iqn.x");
  EXPECT_THAT(back.sees.value(),
              ElementsAre(LioMapping{0, 0, false}, LioMapping{5, 1, false}, LioMapping{2, 2, true}));
  EXPECT_FALSE(LioGuest::parse("iqn.x").sees.has_value());
  EXPECT_TRUE(LioGuest::parse((LioGuest{"iqn.x", std::vector<LioMapping>{}}).text()).sees->empty());
  EXPECT_EQ(LioGuest::parse("iqn.x (LUNs ").initiator, "iqn.x");
  EXPECT_THAT(LioGuest::parse("iqn.x (LUNs 4294967296, 4294967297=1, 2=4294967299, x, 3)").sees.value(),
              ElementsAre(LioMapping{3, 3, false}))
      << "and not LUN 0";
}

TEST(LioTarget, AFileThatTheDaemonDoesNotSeeIsAWarning) {
  auto kernel = fakes::FakeKernel::parse(R"({ "files": { "/etc/machine-id": "0123456789abcdef\n" } })");
  auto host = kernel->host();
  for (const std::string path : {"/home/disk.img", "/srv/home/disk.img"}) {
    const auto text =
        "version = 1\n[[lio_target]]\nwwn = \"iqn.2026-01.org.example:a\"\nany_initiator = true\n"
        "addresses = [\"192.0.2.1\"]\n[[lio_target.lun]]\nnumber = 0\nfile = \"" +
        path + "\"\n";
    const auto report = core::apply(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host);
    const auto warned = Contains(Field(&model::Diagnostic::message, HasSubstr("the daemon cannot see")));
    if (path.starts_with("/home/")) {
      EXPECT_THAT(report.diagnostics, warned);
    } else {
      EXPECT_THAT(report.diagnostics, Not(warned));
    }
  }
}

struct LioRefusal {
  system::LioTarget there;  ///< without a name: none
  LioWish wish;
  std::string says;
};

TEST(LioTarget, WhatCannotBeGivenBackOrMadeIsRefusedWithTheReason) {
  const std::string iqn = "iqn.2026-01.org.example:a", guid = "00:02:c9:03:00:31:78:f2";
  const auto target = [&] { return system::LioTarget{.id = {"iscsi", iqn}, .enabled = true}; };
  auto groups = target(), chap = target(), reads = target();
  groups.groups = 2;
  chap.authentication = true;
  reads.any_initiator = reads.write_protected = true;
  LioTargetEntry odd_lun, far_lun;
  odd_lun.luns = std::vector<std::string>{"0 pscsi /dev/x"};
  far_lun.luns = std::vector<std::string>{"4294967296 block /dev/x"};
  const std::vector<LioRefusal> cases{
      {groups,
       {iqn, std::nullopt},
       iqn + ": has 2 portal groups, of which only the first is handled: remove it with targetcli"},
      {chap,
       {iqn, std::nullopt},
       iqn +
           ": requires CHAP, whose secrets a rollback could not restore: set its attribute authentication to "
           "0, "
           "or remove it, with targetcli"},
      {reads,
       {iqn, std::nullopt},
       iqn + ": lets any initiator read but not write, which a rollback could not restore: set its "
             "attribute "
             "generate_node_acls to 0, or remove it, with targetcli"},
      {{}, {guid, LioTargetEntry{}}, guid + ": this host has no port with that GUID"},
      {{}, {iqn, odd_lun}, iqn + ": there is no backstore pscsi /dev/x"},
      {{}, {iqn, far_lun}, iqn + ": \"4294967296 block /dev/x\" has no number of a LUN"},
  };
  for (const auto& row : cases) {
    fakes::FakeKernel kernel;
    kernel.lio.loaded = true;
    if (!row.there.id.wwn.empty()) kernel.lio.targets.emplace(row.there.id, row.there);
    auto host = kernel.host();
    const auto done = hold_lio_targets({row.wish}, host);
    ASSERT_FALSE(done) << row.says;
    EXPECT_THAT(done.error().message, HasSubstr(row.says));
  }
}

// vhost, loopback and others have LUNs that are not looked at.
TEST(LioTarget, ABackstoreOfOursThatAnotherFabricUsesStays) {
  auto kernel = fakes::FakeKernel::parse(R"({ "files": { "/etc/machine-id": "0123456789abcdef\n" } })");
  const auto run = [&](const std::string& text) {
    auto host = kernel->host();
    return core::apply(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host).exit;
  };
  ASSERT_EQ(run("version = 1\n[[lio_target]]\nwwn = \"iqn.2026-01.org.example:a\"\nany_initiator = true\n"
                "addresses = [\"192.0.2.1\"]\n[[lio_target.lun]]\nnumber = 0\ndevice = \"/dev/x\"\n"),
            model::Exit::kOk);
  kernel->faults.refuse("remove the backstore", EBUSY);
  EXPECT_EQ(run("version = 1\n"), model::Exit::kOk);
  EXPECT_THAT(kernel->lio.targets, IsEmpty());
  EXPECT_THAT(kernel->lio.backstores, SizeIs(1));
}

TEST(LioDisks, AreNamedByTheirSortAndPath) {
  for (const auto* text : {"block /dev/x y", "file /srv/x"}) {
    const auto disk = LioDisk::parse(text);
    ASSERT_TRUE(disk) << text;
    EXPECT_EQ(disk->text(), text);
  }
  for (const auto* text : {"ramdisk a", "none", "blocks /dev/x", ""})
    EXPECT_FALSE(LioDisk::parse(text)) << text;
}

}  // namespace
}  // namespace rdmacfg::kinds
