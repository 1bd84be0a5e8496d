// SPDX-License-Identifier: Apache-2.0
#include "kinds/ports/link_of_change.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rdmacfg::kinds {
namespace {

constexpr const char* kPortGuid = "00:02:c9:03:00:31:78:f2";

system::Link link_called(const std::string& name, int index) {
  system::Link link;
  link.name = name;
  link.index = index;
  return link;
}

/// ib0, its P_Key interface ib0.8002, and eth0.
std::vector<system::Link> three_links() {
  std::vector<system::Link> links{link_called("ib0", 2), link_called("ib0.8002", 3), link_called("eth0", 4)};
  links[0].ipoib.emplace().guid = model::Guid::parse(kPortGuid).value();
  links[1].parent = 2;
  auto& child = links[1].ipoib.emplace();  // its own address is another one
  child.pkey = model::Pkey::parse("0x8002").value();
  child.child = true;
  return links;
}

/// The interfaces that a change is about.
std::string about(const model::Change& change, const Traits& traits = {}) {
  const auto links = three_links();
  std::string out;
  for (const auto& link : links) {
    if (is_about_link(change, traits, link, links)) out += link.name + " ";
  }
  return out;
}

model::Change change_of(model::Key key, std::string label) {
  model::Change change;
  change.key = std::move(key);
  change.label = std::move(label);
  return change;
}

TEST(LinkOfChange, TheKeyOfAPortIsAboutItsInterfaces) {
  EXPECT_EQ(about(change_of({"ipoib", kPortGuid}, "ib0")), "ib0 ib0.8002 ");
  EXPECT_EQ(about(change_of({"nm_profile", std::string(kPortGuid) + "/0x8002"}, "profile of ib0.8002")),
            "ib0.8002 ");
}

TEST(LinkOfChange, TraitsSayWhereTheNameOfAnInterfaceIs) {
  EXPECT_EQ(about(change_of({"dcb", "eth0"}, "DCB of eth0"), {.id_is_interface = true}), "eth0 ");
  auto renamed = change_of({"pkey", std::string(kPortGuid) + "/0x8002#ib0.8002"}, "a P_Key interface");
  renamed.before["name"] = std::string("ib0.8002");
  EXPECT_EQ(about(renamed, {.names_interface = true}), "ib0.8002 ");
}

/// A software device or a unit may be called as an interface is.
TEST(LinkOfChange, ALabelIsForPeople) {
  EXPECT_EQ(about(change_of({"soft_rdma", "eth1/rxe"}, "eth0")), "");
  EXPECT_EQ(about(change_of({"memlock", "eth0"}, "memlock eth0")), "");
}

}  // namespace
}  // namespace rdmacfg::kinds
