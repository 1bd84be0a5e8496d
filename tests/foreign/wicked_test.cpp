// SPDX-License-Identifier: Apache-2.0
// wicked's test for InfiniBand, as a truth table: try_infiniband() of its compat-suse.c and
// ni_infiniband_validate() of its infiniband.c.
#include <gtest/gtest.h>

#include <algorithm>

#include "stage.hpp"

namespace rdmacfg::foreign {
namespace {

enum class Is { kPort, kChild, kOther, kRefused };

struct Row {
  const char* name;
  const char* text;  ///< blanks between assignments
  Is is;
  const char* parent = "";
  std::uint16_t pkey = 0;
};

std::vector<Row> rows_by_name_and_mode() {
  return {
      // By the name alone.
      {"ib0", "", Is::kPort},
      {"ib17", "", Is::kPort},
      {"ib0.8001", "", Is::kChild, "ib0", 0x8001},
      {"ib12.ABCD", "", Is::kChild, "ib12", 0xabcd},
      {"ib0.1", "", Is::kRefused},
      {"ib0.7fff", "", Is::kRefused},
      {"ib0.8000", "", Is::kRefused},
      {"ib0.ffff", "", Is::kRefused},
      {"ib0.xyz", "", Is::kOther},
      {"ib0.", "", Is::kOther},
      {"eth0", "", Is::kOther},
      {"fab0", "", Is::kOther},
      {"fab0.8001", "", Is::kOther},
      {"dummy0", "", Is::kOther},
      // IPOIB decides before everything else.
      {"fab0", "IPOIB=yes", Is::kPort},
      {"fab0", "IPOIB=on", Is::kPort},
      {"fab0", "IPOIB=TRUE", Is::kPort},
      {"fab0", "IPOIB=1", Is::kOther},
      {"fab0.8001", "IPOIB=yes", Is::kPort},
      {"ib0", "IPOIB=no", Is::kOther},
      {"ib0", "IPOIB=", Is::kOther},
      {"ib0.8001", "IPOIB=no", Is::kOther},
      {"ib0", "IPOIB=no IPOIB_MODE=connected", Is::kOther},
      {"ib0.8001", "IPOIB=yes", Is::kChild, "ib0", 0x8001},
      // So do the mode and umcast, without it.
      {"fab0", "IPOIB_MODE=datagram", Is::kPort},
      {"fab0", "IPOIB_UMCAST=allowed", Is::kPort},
      {"fab0", "IPOIB_UMCAST=0", Is::kPort},
      {"fab0", "IPOIB_MODE=turbo", Is::kRefused},
      {"fab0", "IPOIB_UMCAST=yes", Is::kRefused},
      {"fab0", "IPOIB_UMCAST=2", Is::kRefused},
  };
}

std::vector<Row> rows_by_parent_and_sort() {
  return {
      // Parent and P_Key do not.
      {"fab0", "IPOIB_DEVICE=ib0 IPOIB_PKEY=8001", Is::kOther},
      {"dummy0", "IPOIB_DEVICE=ib0 IPOIB_PKEY=8001", Is::kOther},
      {"fab0", "IPOIB=yes IPOIB_DEVICE=ib0 IPOIB_PKEY=8001", Is::kChild, "ib0", 0x8001},
      {"fab0", "IPOIB=yes IPOIB_DEVICE=ib0 IPOIB_PKEY=0x8001", Is::kChild, "ib0", 0x8001},
      {"fab0", "IPOIB_MODE=connected IPOIB_DEVICE=ib1 IPOIB_PKEY=9f42", Is::kChild, "ib1", 0x9f42},
      {"fab0", "IPOIB=yes IPOIB_DEVICE=ib0", Is::kRefused},
      {"fab0", "IPOIB=yes IPOIB_PKEY=8001", Is::kRefused},
      {"fab0", "IPOIB=yes IPOIB_DEVICE=ib0 IPOIB_PKEY=1", Is::kRefused},
      {"fab0", "IPOIB=yes IPOIB_DEVICE=ib0 IPOIB_PKEY=18001", Is::kRefused},
      {"fab0", "IPOIB=yes IPOIB_DEVICE=ib0 IPOIB_PKEY=ffff", Is::kRefused},
      {"fab0", "IPOIB=yes IPOIB_DEVICE=ib0 IPOIB_PKEY=key", Is::kRefused},
      // The name gives what the variables leave out.
      {"ib0.8001", "IPOIB_PKEY=8002", Is::kChild, "ib0", 0x8002},
      {"ib0.8001", "IPOIB_DEVICE=ib1", Is::kChild, "ib1", 0x8001},
      {"ib0.1", "IPOIB_PKEY=8002", Is::kChild, "ib0", 0x8002},
      {"ib0.8001", "IPOIB_PKEY=2", Is::kRefused},
      {"ib0", "IPOIB_DEVICE=ib1", Is::kRefused},
      {"ib0", "IPOIB_PKEY=8001", Is::kRefused},
      {"ib0", "IPOIB_DEVICE=ib1 IPOIB_PKEY=8001", Is::kChild, "ib1", 0x8001},
      // Other sorts come first, and do not go together with InfiniBand.
      {"ib0", "BRIDGE=yes", Is::kOther},
      {"ib0", "BRIDGE=no", Is::kPort},
      {"ib0.8001", "ETHERDEVICE=ib0", Is::kOther},
      {"ib0", "ETHERDEVICE=eth0", Is::kOther},
      {"ib0", "ETHERDEVICE=", Is::kPort},
      {"ib0", "BONDING_MASTER=yes", Is::kOther},
      {"ib0", "BONDING_MASTER=no", Is::kPort},
      {"ib0", "TEAM_RUNNER=roundrobin", Is::kOther},
      {"ib0", "MACVLAN_DEVICE=eth0", Is::kOther},
      {"ib0", "TUNNEL=gre", Is::kOther},
      {"ib0", "VXLAN=yes", Is::kOther},
      {"ib0", "PPPMODE=pppoe", Is::kOther},
      {"ib0", "OVS_BRIDGE=yes", Is::kOther},
      {"fab0", "IPOIB=yes BRIDGE=yes", Is::kRefused},
      {"fab0", "IPOIB_MODE=connected ETHERDEVICE=eth0", Is::kRefused},
      {"fab0", "IPOIB=no BRIDGE=yes", Is::kOther},
  };
}

const std::vector<Row>& rows() {
  static const auto kRows = [] {
    auto out = rows_by_name_and_mode();
    const auto more = rows_by_parent_and_sort();
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }();
  return kRows;
}

std::string text_of(const Row& row) {
  std::string out = row.text;
  std::replace(out.begin(), out.end(), ' ', '\n');
  return "STARTMODE=auto\n" + out + "\n";
}

TEST(Wicked, TruthTable) {
  for (const auto& row : rows()) {
    const auto what = std::string(row.name) + ": " + row.text;
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    const auto path = std::string("/etc/sysconfig/network/ifcfg-") + row.name;
    files.content[path] = text_of(row);
    const auto claims = import_all(files, "wicked").claims;
    const auto taken = std::find_if(claims.interfaces.begin(), claims.interfaces.end(),
                                    [](const Interface& interface) { return !interface.broken; });
    const bool any = taken != claims.interfaces.end();
    EXPECT_EQ(any, row.is == Is::kPort || row.is == Is::kChild) << what;
    if (any) {
      EXPECT_EQ(taken->name, row.name) << what;
      EXPECT_EQ(taken->pkey.has_value(), row.is == Is::kChild) << what;
    }
    if (any && row.is == Is::kChild) {
      EXPECT_EQ(taken->parent, row.parent) << what;
      EXPECT_EQ(taken->pkey->full(), row.pkey) << what;
    }
    // A refused command is an alarm; one for another interface is not, and is reported.
    const auto alarmed = std::any_of(claims.missed.begin(), claims.missed.end(), [](const Remark& remark) {
      return remark.text.find("refuses") != std::string::npos;
    });
    EXPECT_EQ(alarmed, row.is == Is::kRefused) << what;
    if (row.is == Is::kOther) {
      EXPECT_EQ(claims.passed.size() + claims.missed.size(), 1U) << what;
    }
  }
}

}  // namespace
}  // namespace rdmacfg::foreign
