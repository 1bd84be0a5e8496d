// SPDX-License-Identifier: Apache-2.0
#include "catalog/file_integrity.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "catalog/all.hpp"
#include "fakes/fake_kernel.hpp"
#include "formats/limits_conf.hpp"
#include "formats/modprobe_conf.hpp"
#include "formats/sysctl_conf.hpp"
#include "formats/udev/udev_backend.hpp"
#include "formats/udev/udev_netdev_names.hpp"
#include "kinds/address/profiles/networkd_file.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"

namespace rdmacfg::kinds {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const model::Guid kOwnFileGuid{0x0002c903003178f2};

TEST(Edits, NameWhatIsMoreAndWhatIsLess) {
  EXPECT_THAT(edits("a\nb\n", "a\nb\n"), IsEmpty());
  EXPECT_THAT(edits("a\nx\n", "a\nb\n"), ElementsAre("+ x", "- b"));
  EXPECT_THAT(edits("a\na\nb\n", "a\nb\n"), ElementsAre("+ a"));
  EXPECT_THAT(edits("a\n", ""), ElementsAre("+ a"));
}

TEST(Edits, AreNeverSilent) {
  for (const auto* text : {"a\nb", "a\r\nb\r\n", "b\na\n", "a\n\nb\n", "a \nb\n", ""})
    EXPECT_THAT(edits(text, *text == '\0' ? "\n" : "a\nb\n"), SizeIs(1)) << text;
}

TEST(Edits, AreFewAndPrintable) {
  EXPECT_THAT(edits("\x1b[2J\xff\n", ""), ElementsAre("+ ?[2J?"));
  EXPECT_THAT(edits("1\n2\n3\n4\n5\n6\n7\n8\n", ""), SizeIs(7));
  EXPECT_LT(edits(std::string(5000, 'x'), "").front().size(), 500U);
}

/// The findings about the host's files.
std::vector<model::Observed> observed(fakes::FakeKernel& kernel) {
  auto host = kernel.host();
  auto world = World::observe(host);
  return file_integrity().observe(*world).value();
}

TEST(FileIntegrity, OneThatIsNotThereOrEmptyIsNothingToMend) {
  fakes::FakeKernel kernel;
  EXPECT_THAT(observed(kernel), IsEmpty());
  kernel.files.content[std::string(kRuleFile)] = "";
  ASSERT_THAT(observed(kernel), SizeIs(1));
  EXPECT_THAT(observed(kernel)[0].settings, IsEmpty());
}

/// They were forgotten while integrity had a list of its own.
TEST(FileIntegrity, FilesBesideTheMainFileOfAKindAreHeldToo) {
  fakes::FakeKernel kernel;
  const std::string groups(kSysusersFile), keep_off(kKeepOffNetworkd),
      modules = "/etc/modules-load.d/rdma-configd-soft-rdma.conf", drop_in = drop_in_path("slurmd.service");
  kernel.files.content[groups] = render_declared_groups({"rdma"}) + "u evil 0\n";
  kernel.files.content[modules] =
      "# Modules of software RDMA devices. Written by rdma-configd: changes made here are lost.\n"
      "# for eth0/rxe\nrdma_rxe\nevil\n";
  kernel.files.content[keep_off] = "";
  kernel.files.content[drop_in] = "";
  for (const auto& path : {keep_off, drop_in}) kernel.files.access[path] = "mode 0666";
  std::map<std::string, model::Attributes> found;
  for (const auto& resource : observed(kernel)) found[resource.key.id] = resource.settings;
  const auto edit = [](const char* line) { return model::Value{std::vector<std::string>{line}}; };
  EXPECT_EQ(model::value_of(found[groups], "edited"), edit("+ u evil 0"));
  EXPECT_EQ(model::value_of(found[modules], "edited"), edit("+ evil"));
  for (const auto& path : {keep_off, drop_in})
    EXPECT_EQ(model::value_of(found[path], "access"), model::Value{std::string("mode 0666")}) << path;
}

TEST(FileIntegrity, AccessIsMendedByWritingTheFileAnew) {
  fakes::FakeKernel kernel;
  const std::string rules(kRuleFile), profile = nm_file(kOwnFileGuid.text()), sysctl(kSysctlFile),
                                      network = networkd_file(kOwnFileGuid.text());
  kernel.files.content[rules] = render_rules({{kOwnFileGuid, "mlx4_ib0"}});
  kernel.files.content[profile] = "[connection]\n# whatever somebody else has added\n";
  kernel.files.content[sysctl] = "net/ipv4/neigh/default/gc_thresh3 = 4096\n";
  kernel.files.content[network] = "[Match]\n";
  for (const auto& path : {rules, profile, sysctl, network}) {
    kernel.files.access[path] = "mode 0666";
    const auto before = kernel.files.content[path];
    const auto found = observed(kernel);
    model::Change change;
    for (const auto& resource : found) {
      if (resource.key.id == path) change.key = resource.key;
      if (resource.key.id == path) change.before = resource.settings;
    }
    EXPECT_EQ(model::text_at(change.before, "access"), "mode 0666") << path;
    change.after["access"] = model::Value{};
    auto host = kernel.host();
    ASSERT_TRUE(file_integrity().apply({&change, 1}, host));
    EXPECT_THAT(kernel.files.access, IsEmpty());
    EXPECT_EQ(kernel.files.content[path], before);
  }
}

TEST(FileIntegrity, LinesOfModprobeThatSetNoOptionAreNotOurs) {
  fakes::FakeKernel kernel;
  const std::string path(kModuleOptionsFile), good = "# as another version wrote it\noptions ib_srp x=1\n";
  const auto edited = [&](const std::string& text) {
    kernel.files.content[path] = text;
    const auto found = observed(kernel);
    return found.size() == 1 && found[0].settings.contains("edited");
  };
  EXPECT_FALSE(edited(good));
  EXPECT_FALSE(edited("options ib_srp x=1\n"));
  ASSERT_TRUE(edited(good + "install mlx5_ib /bin/false\n"));
  model::Change change;
  change.key = observed(kernel)[0].key;
  change.before = observed(kernel)[0].settings;
  change.after["edited"] = model::Value{};
  auto host = kernel.host();
  ASSERT_TRUE(file_integrity().apply({&change, 1}, host));
  EXPECT_EQ(parse_option_lines(kernel.files.content[path]), parse_option_lines(good));
  EXPECT_FALSE(edited(kernel.files.content[path]));
}

/// tmpfiles.d(5): "f", "L" and "C" without "+" leave alone what is there.
TEST(FileIntegrity, LinesOfTmpfilesThatChangeOurFilesAreNamed) {
  struct Row {
    const char* line;
    const char* said;
  };
  for (const auto& row :
       {Row{"L+ /etc/sysctl.d/zz-rdma-configd.conf - - - - /dev/null",
            "/etc/tmpfiles.d/site.conf:1 replaces /etc/sysctl.d/zz-rdma-configd.conf at boot"},
        Row{"w+ /etc/sysctl.d/zz-rdma-configd.conf - - - - vm.swappiness=1",
            "/etc/tmpfiles.d/site.conf:1 writes /etc/sysctl.d/zz-rdma-configd.conf at boot"},
        Row{"r! /etc/sysctl.d/zz-*.conf",
            "/etc/tmpfiles.d/site.conf:1 removes /etc/sysctl.d/zz-*.conf at boot"},
        Row{"r! /etc/*.conf", ""},  // glob(3) finds nothing in folders below
        Row{"R /etc/sysctl.d",
            "/etc/tmpfiles.d/site.conf:1 removes /etc/sysctl.d/zz-rdma-configd.conf at boot"},
        Row{"f /etc/sysctl.d/zz-rdma-configd.conf", ""}, Row{"C /etc/sysctl.d/zz-rdma-configd.conf", ""},
        Row{"d /etc/sysctl.d 0755 root root 10d", ""},
        Row{"R /etc/modprobe.d/rdma-configd.conf", ""}}) {  // of another kind
    fakes::FakeKernel kernel;
    kernel.files.content["/etc/tmpfiles.d/site.conf"] = std::string(row.line) + "\n";
    auto host = kernel.host();
    auto world = World::observe(host);
    std::vector<model::Desired> desired(1);
    desired[0].key = {"sysctl", "net/core/rmem_max"};
    model::Diagnostics diagnostics;
    file_integrity().check(desired, {}, *world, diagnostics);
    ASSERT_EQ(diagnostics.size(), *row.said == '\0' ? 0U : 1U) << row.line;
    EXPECT_EQ(diagnostics.empty() ? std::string() : diagnostics[0].message, row.said);
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
