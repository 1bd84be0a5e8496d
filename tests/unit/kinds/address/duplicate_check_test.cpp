// SPDX-License-Identifier: Apache-2.0
// An IPv6 address that does not work is not done, whoever has set it.
#include "kinds/address/duplicate_check.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "kinds/world.hpp"

namespace rdmacfg::kinds {
namespace {

using model::Exit;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct CheckedBackend {
  const char* name;
  const char* manager;  ///< of the host: as JSON
};

class DuplicateCheck : public testing::TestWithParam<CheckedBackend> {
 protected:
  DuplicateCheck()
      : kernel_(fakes::FakeKernel::parse(std::string("{") + GetParam().manager +
                                         R"("devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
              {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}}]}]})")) {}

  model::Report apply() {
    auto host = kernel_->host();
    const auto text =
        std::string("version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"") +
        GetParam().name + "\"\nipv6 = { addresses = [\"2001:db8::1/64\"] }\n";
    return core::apply(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host);
  }

  static std::vector<std::string> reasons(const model::Report& report) {
    std::vector<std::string> out;
    for (const auto& resource : report.resources) {
      if (!resource.reason.empty()) out.push_back(resource.reason);
    }
    return out;
  }

  std::unique_ptr<fakes::FakeKernel> kernel_;
};

TEST_P(DuplicateCheck, IsWaitedFor) {
  kernel_->inet.tentative.insert("2001:db8::1");
  const auto report = apply();
  EXPECT_EQ(report.exit, Exit::kOk);
  EXPECT_THAT(reasons(report), IsEmpty());
  EXPECT_THAT(kernel_->inet.tentative, IsEmpty()) << "somebody has waited";
}

TEST_P(DuplicateCheck, IsPendingWhileTheKernelAsks) {
  kernel_->inet.tentative.insert("2001:db8::1");
  kernel_->inet.slow_check = true;
  for (const auto* run : {"first", "second"}) {
    const auto report = apply();
    EXPECT_EQ(report.exit, Exit::kPartly) << run;
    EXPECT_THAT(reasons(report), ElementsAre(HasSubstr("2001:db8::1/64 is not usable yet"))) << run;
  }
  kernel_->inet.tentative.clear();
  const auto report = apply();
  EXPECT_EQ(report.exit, Exit::kOk);
  EXPECT_TRUE(report.plan.changes.empty());
}

TEST_P(DuplicateCheck, IsLimitedWhereAnotherHostHasTheAddress) {
  kernel_->inet.duplicates.insert("2001:db8::1");
  for (const auto* run : {"first", "second"}) {
    const auto report = apply();
    EXPECT_EQ(report.exit, Exit::kPartly) << run;
    EXPECT_THAT(reasons(report), ElementsAre(HasSubstr("another host has"))) << run;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, DuplicateCheck,
                         testing::Values(CheckedBackend{"direct", ""},
                                         CheckedBackend{"networkmanager",
                                                        R"("network_manager": {"fails": []}, )"},
                                         CheckedBackend{"networkd", R"("networkd": {"fails": []}, )"}),
                         [](const auto& backend) { return std::string(backend.param.name); });

/// Gives the interface an address that the kernel has not asked about.
int with_tentative_address(fakes::FakeKernel& kernel, const char* interface) {
  auto* link = kernel.machine.find(interface);
  link->items.emplace_back("addr6 2001:db8::1/64");
  kernel.inet.tentative.insert("2001:db8::1");
  return link->index;
}

void expect_waited(fakes::FakeKernel& kernel, int index, Waited expected) {
  auto host = kernel.host();
  auto world = World::observe(host);
  ASSERT_TRUE(world);
  const auto ended = await_checks({index}, *world, TimeLeft{});
  ASSERT_TRUE(ended);
  EXPECT_EQ(*ended, expected);
}

TEST(AwaitChecks, CarrierIsWaitedForWhereItMayCome) {
  const std::vector<std::pair<std::string, Waited>> waits{
      {"", Waited::kEnough}, {R"("state": "DOWN", )", Waited::kNot}, {R"("sm": false, )", Waited::kInVain}};
  for (const auto& [port, expected] : waits) {
    SCOPED_TRACE(port);
    const auto kernel = fakes::FakeKernel::parse(
        std::string(
            R"({"slow_carrier": true, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [{)") +
        port + R"("guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}}]}]})");
    expect_waited(*kernel, with_tentative_address(*kernel, "ib0"), expected);
  }
}

TEST(AwaitChecks, CarrierIsNotWaitedForOutsideOfThePartition) {
  const std::vector<std::pair<std::string, Waited>> waits{{R"(["0xffff"])", Waited::kNot},
                                                          {R"(["0xffff", "0x8002"])", Waited::kEnough}};
  for (const auto& [table, expected] : waits) {
    SCOPED_TRACE(table);
    const auto kernel = fakes::FakeKernel::parse(
        R"({"slow_carrier": true, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [{"pkeys": )" +
        table +
        R"(, "guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true, "children": [
          {"name": "ib0.8002", "pkey": "0x8002", "up": true}]}}]}]})");
    expect_waited(*kernel, with_tentative_address(*kernel, "ib0.8002"), expected);
  }
}

TEST(AwaitChecks, CarrierIsNotWaitedForWithoutAnAddressThatWaitsForIt) {
  const auto kernel = fakes::FakeKernel::parse(
      R"({"slow_carrier": true, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}},
          {"guid": "00:02:c9:03:00:31:78:f3", "sm": false, "interface": {"name": "ib1", "up": true}}]}]})");
  auto host = kernel->host();
  auto world = World::observe(host);
  ASSERT_TRUE(world);
  const int joins = kernel->machine.find("ib0")->index, refused = kernel->machine.find("ib1")->index;
  const auto none = await_checks({joins, refused}, *world, TimeLeft{});
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, Waited::kNot);
  with_tentative_address(*kernel, "ib0");
  const auto enough = await_checks({joins, refused}, *world, TimeLeft{});
  ASSERT_TRUE(enough);
  EXPECT_EQ(*enough, Waited::kEnough);
  with_tentative_address(*kernel, "ib1");
  const auto in_part = await_checks({joins, refused}, *world, TimeLeft{});
  ASSERT_TRUE(in_part);
  EXPECT_EQ(*in_part, Waited::kInVain) << "ib1 does not join";
}

TEST(AddressCheck, NamesWhatIsThereAndDoesNotWork) {
  const auto prefix = [](const char* text) { return model::IpPrefix::parse(text).value(); };
  const std::vector<system::InetAddress> now{
      {.index = 4, .prefix = prefix("2001:db8::1/64"), .tentative = true, .duplicate = true},
      {.index = 4, .prefix = prefix("2001:db8::2/64"), .tentative = true},
      {.index = 4, .prefix = prefix("2001:db8::3/64")},
      {.index = 5, .prefix = prefix("2001:db8::4/64"), .tentative = true}};
  std::vector<model::IpPrefix> wanted;
  for (const auto* text : {"2001:db8::1/64", "2001:db8::2/64", "2001:db8::3/64", "2001:db8::4/64"})
    wanted.push_back(prefix(text));
  const auto check = address_check(wanted, 4, now);
  EXPECT_EQ(check.duplicate, std::vector<std::string>{"2001:db8::1/64"});
  EXPECT_EQ(check.tentative, std::vector<std::string>{"2001:db8::2/64"});
  EXPECT_EQ(verdict_of(check, true).sort, Verdict::Sort::kLimited);
  EXPECT_EQ(verdict_of({{}, check.tentative}, true).sort, Verdict::Sort::kPending);
  EXPECT_THAT(verdict_of({{}, check.tentative}, false).reason, HasSubstr("without carrier"));
  EXPECT_EQ(verdict_of({}, true).sort, Verdict::Sort::kNone);
}

}  // namespace
}  // namespace rdmacfg::kinds
