// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/mount_unit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

namespace rdmacfg::kinds {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The answer of systemd-escape; nothing where it is not installed.
std::optional<std::string> escaped_by_systemd(const std::string& path) {
  const auto command = "systemd-escape --path --suffix=mount -- '" + path + "' 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string out;
  for (int c = 0; pipe && (c = std::fgetc(pipe.get())) != EOF;) out += static_cast<char>(c);
  if (out.empty()) return std::nullopt;
  out.pop_back();
  return out;
}

TEST(MountUnit, NamesAreThoseOfSystemdEscape) {
  EXPECT_EQ(mount_unit_name("/"), "-.mount");
  EXPECT_EQ(mount_unit_name("/data/scratch"), "data-scratch.mount");
  EXPECT_EQ(mount_unit_name("/data/a-b"), "data-a\\x2db.mount");
  EXPECT_EQ(mount_unit_name("/.x/.y"), "\\x2ex-.y.mount");
  std::string all = "/";
  for (char c = ' '; c <= '~'; ++c) {
    if (c != '\'' && c != '/') all += c;
  }
  for (const auto& path :
       {std::string("/"), std::string("/data"), std::string("/a/b/c"), std::string("/.a"),
        std::string("/a/.b"), std::string("/50%/x@y"), std::string("/a:b_c.d"), std::string("/a\\b"), all}) {
    const auto judged = escaped_by_systemd(path);
    if (!judged) GTEST_SKIP() << "systemd-escape is not installed";
    EXPECT_EQ(mount_unit_name(path), *judged) << path;
  }
}

TEST(MountUnit, IsReadAsItWasWritten) {
  for (const auto& unit : {NfsMountUnit{"/scratch", "192.0.2.1", "/export", 20049, {}},
                           NfsMountUnit{"/a%b/c", "2001:db8::1", "/", 20050, {"vers=4.2", "hard"}},
                           NfsMountUnit{"/a", "storage1", "/x:/y%%z", 1024, {"sec=krb5"}}}) {
    const auto text = render_mount_unit(unit);
    EXPECT_TRUE(is_our_mount_unit(text));
    const auto read = parse_mount_unit(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, unit) << text;
  }
}

TEST(MountUnit, SpecifiersAreWrittenTwice) {
  const auto text = render_mount_unit({"/50%n", "192.0.2.1", "/%h", 20049, {}});
  EXPECT_THAT(text, HasSubstr("\nWhere=/50%%n\n"));
  EXPECT_THAT(text, HasSubstr("\nWhat=192.0.2.1:/%%h\n"));
  EXPECT_THAT(text, HasSubstr("\nDescription=192.0.2.1:/%%h over RDMA\n"));
}

TEST(MountUnit, OfOthersIsNotOurs) {
  EXPECT_FALSE(is_our_mount_unit("[Mount]\nWhat=a:/b\nWhere=/c\n"));
  EXPECT_FALSE(parse_mount_unit("[Mount]\nWhat=a:/b\nWhere=/c\n"));
  const std::string head = "# Written by rdma-configd; changes here are overwritten.\n";
  EXPECT_FALSE(parse_mount_unit(head));
  EXPECT_FALSE(parse_mount_unit(head + "What=/dev/sda1\nWhere=/c\n"));
  EXPECT_FALSE(parse_mount_unit(head + "What=a:/b\nWhere=c\n"));
  EXPECT_FALSE(parse_mount_unit(head + "What=a:/b\nWhere=/c\nOptions=port=7\n"));
  EXPECT_TRUE(parse_mount_unit(head + "What=a:/b\nWhere=/c\nOptions=port=20049\n"));
}

TEST(BootMounts, AreReadAsTheyWereWritten) {
  EXPECT_EQ(render_boot_mounts({}), "");
  const auto text = render_boot_mounts({"a.mount", "b\\x2dc.mount"});
  EXPECT_THAT(parse_boot_mounts(text), ElementsAre("a.mount", "b\\x2dc.mount"));
  EXPECT_THAT(text, HasSubstr("\nWants=rdma-configd-online.target\n"));
  EXPECT_THAT(parse_boot_mounts("[Unit]\nAfter=x.mount\nWants=y.service\n"), IsEmpty());
}

}  // namespace
}  // namespace rdmacfg::kinds
