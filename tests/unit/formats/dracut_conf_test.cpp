// SPDX-License-Identifier: Apache-2.0
#include "formats/dracut_conf.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::UnorderedElementsAre;

DracutConf dracut_conf(const std::map<std::string, std::string>& texts) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = texts;
  return read_dracut_conf(files);
}

/// dracut.sh sources dracut.conf, then the files of both folders by their names.
TEST(DracutConf, TheLastLineDecidesWhetherImagesAreGeneric) {
  const std::string generic = "/usr/lib/dracut/dracut.conf.d/02-generic-image.conf";
  const auto found = dracut_conf({{"/usr/lib/dracut/dracut.conf.d/01-dist.conf", "hostonly=\"yes\"\n"},
                                  {generic, "# none\nhostonly=\"no\"\n"}});
  ASSERT_TRUE(found.generic);
  EXPECT_EQ(found.generic->file, generic);
  EXPECT_EQ(found.generic->line, 2);
  EXPECT_FALSE(
      dracut_conf({{generic, "hostonly=no\n"}, {"/etc/dracut.conf.d/10-site.conf", "hostonly=yes\n"}})
          .generic);
  EXPECT_FALSE(
      dracut_conf({{generic, "hostonly=no\n"}, {"/etc/dracut.conf.d/02-generic-image.conf", ""}}).generic)
      << "a file of /etc replaces the one of its name";
  EXPECT_TRUE(
      dracut_conf({{generic, "hostonly='no' # small\n"}, {"/etc/dracut.conf", "hostonly=yes\n"}}).generic)
      << "dracut.conf comes first";
  EXPECT_FALSE(dracut_conf({}).generic) << "as dracut was built";
}

/// dropindirs_sort() of dracut.sh: sort -V, and /run from dracut-ng 109 on.
TEST(DracutConf, FilesAreReadByTheValuesOfTheirNumbers) {
  EXPECT_TRUE(dracut_conf({{"/etc/dracut.conf.d/9-host.conf", "hostonly=yes\n"},
                           {"/etc/dracut.conf.d/10-generic.conf", "hostonly=no\n"}})
                  .generic);
  const std::string runtime = "/run/initramfs/dracut.conf.d/50-boot.conf";
  EXPECT_TRUE(dracut_conf({{runtime, "hostonly=no\n"}}).generic);
  EXPECT_FALSE(
      dracut_conf({{runtime, "hostonly=no\n"}, {"/usr/lib/dracut/dracut.conf.d/50-boot.conf", ""}}).generic)
      << "a file of the distribution replaces the one of its name";
}

TEST(DracutConf, ListsAreAddedToOrSet) {
  const auto found =
      dracut_conf({{"/etc/dracut.conf.d/a.conf", "omit_dracutmodules+=\" nfs \"\ninstall_items=/etc/a\n"},
                   {"/etc/dracut.conf.d/b.conf", "omit_dracutmodules+=' rdma '\n"},
                   {"/etc/dracut.conf.d/c.conf", "install_items=\"/etc/b /etc/c\"\n"}});
  EXPECT_THAT(found.omitted_modules, UnorderedElementsAre("nfs", "rdma"));
  EXPECT_THAT(found.installed_files, UnorderedElementsAre("/etc/b", "/etc/c"));
}

}  // namespace
}  // namespace rdmacfg::kinds
