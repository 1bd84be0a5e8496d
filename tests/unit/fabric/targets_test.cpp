// SPDX-License-Identifier: Apache-2.0
#include "fabric/targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/fabric.hpp"
#include "fakes/fabrics.hpp"

namespace rdmacfg::fabric {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Target kArray{.port_guid = 0x0002c90200402bd5,
                    .id_ext = 0x200500a0b81146a1,
                    .ioc_guid = 0x00a0b80200402bef,
                    .service_id = 0x200500a0b81146a2,
                    .io_class = kSrpIoClass,
                    .controller = "array"};
constexpr const char* kWithoutPkey =
    "id_ext=200500a0b81146a1,ioc_guid=00a0b80200402bef,dgid=fe800000000000000002c90200402bd5,"
    "service_id=200500a0b81146a2";

// As srp_daemon's add_non_exist_target() prints them.
TEST(SrpTargets, AreSpelledAsIbsrpdmDoes) {
  EXPECT_EQ(text_of(kArray, "fe80:0000:0000:0000", 0x8002),
            "id_ext=200500a0b81146a1,ioc_guid=00a0b80200402bef,dgid=fe800000000000000002c90200402bd5,"
            "pkey=8002,service_id=200500a0b81146a2");
  EXPECT_EQ(text_of(kArray, "fe80:0000:0000:0000", 0), kWithoutPkey);
  auto old = kArray;
  old.io_class = 0xff00;
  EXPECT_EQ(text_of(old, "fe80:0000:0000:0000", 0), std::string(kWithoutPkey) + ",io_class=ff00");
}

std::vector<std::string> logins_of(const Fabric& fabric, const Target& target) {
  const Index index(fabric);
  return Logins(fabric, index).of(target);
}

struct Tables {
  std::vector<std::uint16_t> own, theirs;
  std::vector<std::uint16_t> over;  ///< P_Keys of the own table
};

TEST(SrpTargets, AreReachedOverCommonPartitions) {
  auto fabric = fakes::fat_tree(4);
  auto& own = *fakes::port_of(fabric, "node001", 1);
  auto& theirs = *fakes::port_of(fabric, "node003", 1);
  ASSERT_EQ(own.guid, fabric.from_port);
  auto target = kArray;
  target.port_guid = theirs.guid;
  for (const auto& tables : std::vector<Tables>{{{0xffff}, {0xffff}, {0xffff}},
                                                {{0x7fff, 0x8002}, {0xffff, 0x0002}, {0x7fff, 0x8002}},
                                                {{0x7fff, 0x8002}, {0x7fff, 0x8003}, {}}}) {
    own.pkeys = tables.own;
    theirs.pkeys = tables.theirs;
    std::vector<std::string> expected;
    for (const auto pkey : tables.over) expected.push_back(text_of(target, fabric.prefix, pkey));
    EXPECT_EQ(logins_of(fabric, target), expected);
  }
}

TEST(SrpTargets, OfSeveralPortsAreReachedEachByItsOwnTable) {
  auto fabric = fakes::fat_tree(4);
  fakes::port_of(fabric, "node001", 1)->pkeys = {0x7fff, 0x8002, 0x8003};
  auto second = kArray, third = kArray;
  second.port_guid = fakes::port_of(fabric, "node002", 1)->guid;
  third.port_guid = fakes::port_of(fabric, "node003", 1)->guid;
  fakes::port_of(fabric, "node002", 1)->pkeys = {0x7fff, 0x8002};
  fakes::port_of(fabric, "node003", 1)->pkeys = {0xffff, 0x0003};
  const Index index(fabric);
  const Logins logins(fabric, index);
  EXPECT_THAT(logins.of(second), ElementsAre(text_of(second, fabric.prefix, 0x8002)));
  EXPECT_THAT(logins.of(third),
              ElementsAre(text_of(third, fabric.prefix, 0x7fff), text_of(third, fabric.prefix, 0x8003)));
}

TEST(SrpTargets, WithoutATableThePartitionIsLeftOut) {
  auto fabric = fakes::fat_tree(4);
  EXPECT_THAT(logins_of(fabric, kArray), ElementsAre(kWithoutPkey)) << "a port that is not known";
  auto target = kArray;
  target.port_guid = fakes::port_of(fabric, "node003", 1)->guid;
  fakes::port_of(fabric, "node003", 1)->pkeys.reset();
  EXPECT_THAT(logins_of(fabric, target), ElementsAre(text_of(target, fabric.prefix, 0)));
  fakes::port_of(fabric, "node003", 1)->pkeys.emplace();
  EXPECT_THAT(logins_of(fabric, target), IsEmpty()) << "no partition leads there";
}

}  // namespace
}  // namespace rdmacfg::fabric
