// SPDX-License-Identifier: Apache-2.0
// Two hosts with one /var/lib/rdma-configd, each with a /run of its own: once both have committed, the other
// one notices, and is changed on request no more.
#include <algorithm>
#include <string>

#include "contract/commit_host.hpp"
#include "store/ledger_seen.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kSharedFolder = "/var/lib/rdma-configd/";

/// `to` sees what `from` has written.
void share(Host& from, Host& to) {
  auto& seen = to.kernel().files.content;
  std::erase_if(seen, [](const auto& file) { return file.first.starts_with(kSharedFolder); });
  for (const auto& [path, text] : from.kernel().files.content) {
    if (path.starts_with(kSharedFolder)) seen[path] = text;
  }
}

class SharedVar : public testing::Test {
 protected:
  SharedVar() {
    other.kernel().boot_id = "5f0c0de0-0000-4000-8000-0000000000ff";
    EXPECT_TRUE(applied(host.commit(kFirst)));
    share(host, other);
    EXPECT_TRUE(applied(other.hold())) << "a boot of another host looks like one of this host";
  }

  Host host{two_ports()}, other{two_ports()};
};

TEST_F(SharedVar, TheFirstHostIsNotChangedOnceTheOtherHasCommitted) {
  EXPECT_TRUE(applied(other.commit(kSecond)));
  share(other, host);
  const auto before = host.dump();
  for (const auto& report :
       {host.commit(std::string(kFirst) + "# once more\n"), host.roll_back(1), host.confirm()}) {
    EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
    ASSERT_TRUE(report.error);
    EXPECT_EQ(report.error->code, base::Code::kRefused) << report.error->message;
  }
  const auto held = host.hold();
  EXPECT_EQ(held.exit, Exit::kError) << "what is active is the other's document: " << text_of(held);
  EXPECT_EQ(difference(host.dump(), before), "");
  EXPECT_EQ(host.ledger().active, 2U);
  EXPECT_TRUE(applied(other.commit(kFirst))) << "the other has seen nothing strange yet";
  host.kernel().reboot();
  EXPECT_TRUE(applied(host.commit(kFirst))) << "after a boot it is a folder like any other";
}

TEST_F(SharedVar, AnApplyThatWaitsOnTheOtherIsNotRolledBack) {
  EXPECT_TRUE(applied(other.commit(kSecond, kWithin)));
  share(other, host);
  host.pass(2 * kWithin);
  host.expire();
  EXPECT_TRUE(host.ledger().unconfirmed);
  host.hold();
  EXPECT_TRUE(host.ledger().unconfirmed);
  share(host, other);
  EXPECT_TRUE(applied(other.confirm()));
}

TEST_F(SharedVar, OneHostAloneIsNeverTakenForTwo) {
  for (int boot = 0; boot < 3; ++boot) {
    EXPECT_TRUE(applied(host.commit(kSecond)));
    EXPECT_TRUE(applied(host.commit(kFirst)));
    host.kernel().files.content.erase(core::kLedgerSeen);
    EXPECT_TRUE(applied(host.commit(kSecond)));
    host.kernel().reboot();
    EXPECT_TRUE(applied(host.hold()));
  }
  // A ledger of an earlier version does not say who has written it.
  auto& text = host.kernel().files.content.at(core::GenerationPaths().ledger);
  const auto at = text.find("\"boot_id\": \"5f");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string("\"boot_id\"").size(), "\"unknown\"");
  host.kernel().files.content[core::kLedgerSeen] = host.kernel().boot_id + " 1\n";
  EXPECT_TRUE(applied(host.commit(kFirst)));
}

}  // namespace
}  // namespace rdmacfg::contract
