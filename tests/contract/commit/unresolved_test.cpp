// SPDX-License-Identifier: Apache-2.0
// An entry of which the port cannot be told now has not been dropped: resources that may be its are left as
// they are.
#include <algorithm>

#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

using model::Status;

constexpr const char* kUnresolvedHost = R"({
  "resolved": true, "rdma_cm": true,
  "devices": [
    { "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
      { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"], "interface": { "name": "ib0", "up": true } },
      { "guid": "00:02:c9:03:00:31:78:f3", "pkeys": ["0xffff", "0x8002"], "interface": { "name": "ib1", "up": true } } ] },
    { "name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:20:00.0", "ports": [
      { "guid": "00:02:c9:03:00:31:99:02", "link_layer": "Ethernet", "netdev": "eth0" } ] } ],
  "links": [{ "name": "eth0", "up": true }]
})";

const std::string kUnresolvedFirst = "[[ipoib]]\ndevice = \"mlx4_0\"\nport = 1\n";
const std::string kMatch = "[[ipoib]]\nmatch = { device = \"mlx4_*\", port = 1 }\n";
const std::string kUnresolvedSettings =
    "name = \"fab0\"\nmode = \"connected\"\nmtu = 65520\nbackend = \"direct\"\n"
    "ipv4 = { addresses = [\"192.0.2.1/24\"], gateway = \"192.0.2.254\", dns = [\"192.0.2.53\"] }\n";
const std::string kChild = "[[ipoib.pkey]]\npkey = 0x8002\nipv4 = { addresses = [\"192.0.3.1/24\"] }\n";
const std::string kUnresolvedSysctl = "[[sysctl]]\ninterface = \"fab0\"\narp_ignore = 1\n";
const std::string kUnresolvedSecond = "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f3\"\n";

class Unresolved : public testing::Test {
 protected:
  Report apply(const std::string& text, Parts parts = Parts::kTogether) {
    return apply_text(*kernel_, text, parts);
  }

  [[nodiscard]] std::string dump() const { return kernel_->dump(kVisible); }

  static const model::ResourceReport* resource(const Report& report, const std::string& key) {
    const auto at = std::find_if(report.resources.begin(), report.resources.end(),
                                 [&](const auto& candidate) { return candidate.key.text() == key; });
    return at == report.resources.end() ? nullptr : &*at;
  }

  static void expect_held(const Report& report, const std::string& key, const std::string& why) {
    const auto* found = resource(report, key);
    ASSERT_NE(found, nullptr) << key;
    EXPECT_EQ(found->status, Status::kPending) << key;
    EXPECT_NE(found->reason.find(why), std::string::npos) << key << ": " << found->reason;
  }

  /// Nothing changes while the device has another name, and once it has its name again all is in sync.
  void expect_left_alone(const std::string& document) {
    ASSERT_TRUE(applied(apply(document)));
    ASSERT_EQ(kernel_->machine.rename_device("mlx4_0", "ibp16s0"), 0);
    const auto before = dump();
    for (const auto parts : {Parts::kTogether, Parts::kEachByItself}) {
      kernel_->faults.clear();
      const auto report = apply(document, parts);
      EXPECT_EQ(report.exit, Exit::kPartly) << text_of(report);
      EXPECT_TRUE(report.plan.empty());
      EXPECT_EQ(difference(dump(), before), "") << text_of(report);
      for (const auto* key :
           {"ipoib 00:02:c9:03:00:31:78:f2", "link_name 00:02:c9:03:00:31:78:f2",
            "pkey 00:02:c9:03:00:31:78:f2/0x8002", "backend 00:02:c9:03:00:31:78:f2",
            "dns 00:02:c9:03:00:31:78:f2", "address 00:02:c9:03:00:31:78:f2/0x8002 192.0.3.1/24"}) {
        expect_held(report, key, " may mean its port (");
      }
    }
    ASSERT_EQ(kernel_->machine.rename_device("ibp16s0", "mlx4_0"), 0);
    const auto report = apply(document);
    EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
    EXPECT_TRUE(report.plan.empty());
  }

  std::unique_ptr<fakes::FakeKernel> kernel_ = fakes::FakeKernel::parse(kUnresolvedHost);
};

TEST_F(Unresolved, ADeviceThatUdevHasRenamed) {
  expect_left_alone(kUnresolvedFirst + kUnresolvedSettings + kChild + kUnresolvedSysctl);
}

TEST_F(Unresolved, AMatchOfNamesThatMatchesNothing) {
  expect_left_alone(kMatch + kUnresolvedSettings + kChild + kUnresolvedSysctl);
}

TEST_F(Unresolved, ADeviceThatTheSameDocumentRenames) {
  const auto document = kUnresolvedFirst + kUnresolvedSettings + kChild;
  ASSERT_TRUE(applied(apply(document)));
  const auto report = apply(document + "[[rdma_device]]\npci = \"0000:10:00.0\"\nname = \"hca_a\"\n");
  EXPECT_EQ(report.exit, Exit::kPartly) << text_of(report);
  ASSERT_EQ(report.plan.changes.size(), 1U);
  EXPECT_EQ(report.plan.changes.front().key.text(), "rdma_device 0000:10:00.0");
  EXPECT_EQ(kernel_->link("fab0.8002").name, "fab0.8002");
  EXPECT_TRUE(kernel_->link("fab0").connected);
}

/// The record of a waiting entry is not forgotten.
TEST_F(Unresolved, WhatIsDroppedMeanwhileGoesOnceThatIsCertain) {
  ASSERT_TRUE(applied(apply(kUnresolvedFirst + kUnresolvedSettings + kChild)));
  ASSERT_EQ(kernel_->machine.rename_device("mlx4_0", "ibp16s0"), 0);
  ASSERT_TRUE(applied(apply(kUnresolvedFirst)));
  EXPECT_TRUE(kernel_->link("fab0").connected);
  ASSERT_EQ(kernel_->machine.rename_device("ibp16s0", "mlx4_0"), 0);
  const auto report = apply(kUnresolvedFirst);
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_FALSE(kernel_->link("fab0").connected);
  EXPECT_EQ(dump().find("fab0.8002"), std::string::npos);
  EXPECT_EQ(dump().find("192.0.2.1/24"), std::string::npos);
}

/// It cannot be told whose it was, so it stays, and that is said.
TEST_F(Unresolved, AnEntryThatIsRemovedWhileAnotherWaits) {
  const auto waiting = "[[ipoib]]\ndevice = \"mlx4_7\"\nport = 2\n";
  ASSERT_TRUE(applied(apply(kUnresolvedSecond + "mtu = 2044\n" + kChild)));
  auto report = apply(waiting);
  expect_held(report, "pkey 00:02:c9:03:00:31:78:f3/0x8002",
              "[[ipoib]] mlx4_7/2 may mean its port (device mlx4_7 does not exist");
  EXPECT_EQ(kernel_->link("ib1").mtu, 2044);
  report = apply("");
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_EQ(kernel_->link("ib1").mtu, 4092);
  EXPECT_EQ(dump().find("ib1.8002"), std::string::npos);
}

/// An entry that waits cannot mean what another one means, nor a port of another number, slot or driver.
TEST_F(Unresolved, WhatItCannotMeanGoes) {
  for (const std::string waiting :
       {"[[ipoib]]\ndevice = \"mlx4_7\"\nport = 2\n", "[[ipoib]]\ndevice = \"mlx4_7\"\nport = 1\n",
        "[[ipoib]]\nmatch = { device = \"mlx4_7\" }\n"}) {
    ASSERT_TRUE(applied(apply(kUnresolvedSecond + "mtu = 2044\n" + kChild)));
    const auto report = apply(kUnresolvedSecond + waiting);
    EXPECT_EQ(kernel_->link("ib1").mtu, 4092) << waiting << text_of(report);
    EXPECT_EQ(dump().find("ib1.8002"), std::string::npos) << waiting;
  }
  for (const std::string waiting :
       {"[[ipoib]]\ndevice = \"mlx4_7\"\nport = 1\n", "[[ipoib]]\nmatch = { pci = \"0000:30:00.0\" }\n",
        "[[ipoib]]\nmatch = { driver = \"mlx5_core\" }\n"}) {
    ASSERT_TRUE(applied(apply(kUnresolvedSecond + "mtu = 2044\n" + kChild)));
    const auto report = apply(waiting);
    EXPECT_EQ(kernel_->link("ib1").mtu, 4092) << waiting << text_of(report);
    EXPECT_EQ(dump().find("ib1.8002"), std::string::npos) << waiting;
  }
}

/// The name of a P_Key interface that is held is not free.
TEST_F(Unresolved, TheNameOfWhatIsHeldIsTaken) {
  const std::string child = "[[ipoib.pkey]]\npkey = 0x8002\nname = \"storage\"\n";
  ASSERT_TRUE(applied(apply(kUnresolvedFirst + child)));
  ASSERT_EQ(kernel_->machine.rename_device("mlx4_0", "ibp16s0"), 0);
  const auto report = apply(kUnresolvedFirst + kUnresolvedSecond + child);
  EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
  EXPECT_NE(text_of(report).find("is already the name of another interface"), std::string::npos)
      << text_of(report);
}

TEST_F(Unresolved, DefaultsOfARocePort) {
  const std::string document = "[[roce]]\ndevice = \"mlx5_0\"\nport = 1\ndscp = 26\n";
  ASSERT_TRUE(applied(apply(document)));
  ASSERT_EQ(kernel_->machine.rename_device("mlx5_0", "rocep32s0"), 0);
  const auto before = dump();
  const auto report = apply(document);
  EXPECT_EQ(report.exit, Exit::kPartly) << text_of(report);
  EXPECT_EQ(difference(dump(), before), "") << text_of(report);
  expect_held(report, "roce 0000:20:00.0/1", "[[roce]] mlx5_0/1 may mean it");
  const auto other = apply("[[roce]]\ndevice = \"mlx5_0\"\nport = 2\ndscp = 26\n");
  EXPECT_NE(difference(dump(), before), "") << "its number is another: " << text_of(other);
}

}  // namespace
}  // namespace rdmacfg::contract
