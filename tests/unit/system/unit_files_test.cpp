// SPDX-License-Identifier: Apache-2.0
#include "system/linux/dbus/unit_files.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "temp_tree.hpp"

namespace rdmacfg::system::detail {
namespace {

using Names = std::set<std::string>;

TEST(UnreadDropIns, ThoseOfEveryNameCount) {
  const TempTree tree;
  tree.put("workd.service.d/50-a.conf", "[Service]\n");
  tree.put("worker.service.d/60-b.conf", "[Service]\n");
  tree.put("worker.service.d/notes.txt", "");
  tree.put("other.service.d/70-c.conf", "[Service]\n");
  const std::vector<std::string> read{"/etc/systemd/system/worker.service.d/60-b.conf"};
  EXPECT_EQ(unread_drop_ins(tree.path(), {"worker.service"}, {}), Names{"60-b.conf"});
  EXPECT_EQ(unread_drop_ins(tree.path(), {"worker.service"}, read), Names{});
  EXPECT_EQ(unread_drop_ins(tree.path(), {"worker.service", "workd.service"}, read), Names{"50-a.conf"});
}

TEST(UnreadDropIns, OneOfTheSameNameElsewhereTakesItsPlace) {
  const TempTree tree;
  tree.put("worker.service.d/60-b.conf", "[Service]\n");
  const std::vector<std::string> read{"/run/systemd/system/worker.service.d/60-b.conf"};
  EXPECT_EQ(unread_drop_ins(tree.path(), {"worker.service"}, read), Names{});
}

TEST(UnreadDropIns, NoFolderIsNone) {
  const TempTree tree;
  EXPECT_EQ(unread_drop_ins(tree.path(), {"worker.service"}, {}), Names{});
}

}  // namespace
}  // namespace rdmacfg::system::detail
