// SPDX-License-Identifier: Apache-2.0
// Two interfaces of one P_Key: netlink lets them through. In every case the one that somebody
// else made stays as it is.
#include <cerrno>

#include "contract/stage.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kHost =
    R"({ "links": [{ "name": "spare" }], "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
  { "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
    "interface": { "name": "ib0", "up": true } } ] }] })";
constexpr const char* kPort = "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n";

struct SiblingCase {
  std::string name;
  std::string child;      ///< the entry that made ours
  std::string last;       ///< and what follows it
  bool theirs_is_first;   ///< has the lower index
  model::Operation does;  ///< to ours
};

/// Somebody else's; `first`: with the lower index, as if ours had been re-created meanwhile.
void add_theirs(FakeKernel& kernel, bool first) {
  auto& links = kernel.machine.links;
  const int spare = kernel.link("spare").index;
  links.remove_if([](const auto& link) { return link.name == "spare"; });
  auto& theirs = kernel.add_child("ib0", 0x8002, "theirs");
  if (first) theirs.index = spare;
  links.sort([](const auto& a, const auto& b) { return a.index < b.index; });
}

class Siblings : public testing::TestWithParam<SiblingCase> {
 protected:
  /// Ours is there, and somebody else's, just before the last document is applied.
  static std::unique_ptr<Stage> stage() {
    const auto& row = GetParam();
    auto out = std::make_unique<Stage>(
        Scenario{.name = row.name, .host = kHost, .documents = {kPort + row.child, kPort + row.last}});
    add_theirs(out->kernel(), row.theirs_is_first);
    out->kernel().set_up("theirs");
    out->kernel().carry("theirs", "addr4 192.0.9.1/24");
    return out;
  }

  static std::string theirs(Stage& stage) {
    const auto dump = stage.dump();
    const auto at = dump.find("link theirs ");
    return at == std::string::npos ? "" : dump.substr(at, dump.find("link ", at + 1) - at);
  }
};

TEST_P(Siblings, OnlyOursIsConcerned) {
  const auto staged = stage();
  const auto before = theirs(*staged);
  ASSERT_NE(before, "");
  const auto diff = staged->diff();
  ASSERT_EQ(diff.plan.changes.size(), 1U) << text_of(diff);
  EXPECT_EQ(diff.plan.changes.front().label, "ours");
  EXPECT_EQ(diff.plan.changes.front().operation, GetParam().does);
  const auto report = staged->apply();
  EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
  EXPECT_EQ(theirs(*staged), before);
  EXPECT_EQ(staged->kernel().machine.find("ours") == nullptr, GetParam().does == model::Operation::kDelete);
  const auto again = staged->diff();
  EXPECT_EQ(again.exit, Exit::kOk) << text_of(again);
}

TEST_P(Siblings, AFailureIsUndone) {
  const auto undisturbed = stage();
  undisturbed->kernel().faults.clear();
  ASSERT_TRUE(applied(undisturbed->apply()));
  const auto calls = undisturbed->kernel().faults.log();
  for (std::size_t n = 1; n <= calls.size(); ++n) {
    SCOPED_TRACE(calls[n - 1]);
    for (const bool late : {false, true}) {
      const auto staged = stage();
      const auto before = staged->dump();
      staged->kernel().faults.clear();
      late ? staged->kernel().faults.fail_after_effect_at(n, EPERM)
           : staged->kernel().faults.fail_at(n, EPERM);
      const auto report = staged->apply();
      const auto goal = applied(report) ? undisturbed->dump() : before;
      EXPECT_EQ(difference(staged->dump(), goal), "") << text_of(report);
    }
    for (const bool lies : {false, true}) {
      const auto staged = stage();
      const auto before = theirs(*staged);
      staged->kernel().faults.clear();
      lies ? staged->kernel().faults.lie_at(n) : staged->kernel().faults.kill_at(n);
      try {
        (void)staged->apply();
      } catch (const fakes::Killed&) {
      }
      EXPECT_EQ(theirs(*staged), before);
      staged->kernel().faults.clear();
      const auto report = staged->apply();
      EXPECT_TRUE(applied(report)) << text_of(report);
      EXPECT_EQ(difference(staged->dump(), undisturbed->dump()), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, Siblings,
    testing::Values(SiblingCase{"dropped", "[[ipoib.pkey]]\npkey = 2\nname = \"ours\"\n", "", false,
                                model::Operation::kDelete},
                    SiblingCase{"dropped_beside_an_older", "[[ipoib.pkey]]\npkey = 2\nname = \"ours\"\n", "",
                                true, model::Operation::kDelete},
                    SiblingCase{"changed", "[[ipoib.pkey]]\npkey = 2\nname = \"ours\"\n",
                                "[[ipoib.pkey]]\npkey = 2\nname = \"ours\"\nmtu = 2044\numcast = true\n",
                                false, model::Operation::kUpdate}),
    [](const auto& instance) { return instance.param.name; });

/// The record says which of the two is ours, but what goes by the P_Key alone would find the other one.
TEST(SiblingsOfOnePartition, OursBehindAnotherOneIsNotChanged) {
  Stage stage(
      {.name = "behind",
       .host = kHost,
       .documents = {std::string(kPort) + "[[ipoib.pkey]]\npkey = 2\nname = \"ours\"\n",
                     std::string(kPort) + "[[ipoib.pkey]]\npkey = 2\nname = \"ours\"\nmtu = 2044\n"}});
  add_theirs(stage.kernel(), true);
  const auto before = stage.dump();
  const auto report = stage.apply();
  EXPECT_EQ(report.exit, Exit::kError) << text_of(report);
  EXPECT_NE(text_of(report).find("ours and theirs are both interfaces of P_Key 0x8002 over ib0"),
            std::string::npos)
      << text_of(report);
  EXPECT_EQ(stage.dump(), before);
}

}  // namespace
}  // namespace rdmacfg::contract
