// SPDX-License-Identifier: Apache-2.0
// apply --only: a part of a document, and the ledger afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "console.hpp"
#include "core/commit/commit.hpp"

namespace rdmacfg::ctl::only {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kPort1 = std::string("[[ipoib]]\nguid = \"") + kGuid1 + "\"\n";
const std::string kPort2 = std::string("[[ipoib]]\nguid = \"") + kGuid2 + "\"\n";

struct Only : Console {
  int apply(const std::string& text, std::vector<std::string> words = {}) {
    document("version = 1\n" + text);
    words.insert(words.begin(), {"apply", "--yes"});
    return run(std::move(words));
  }
  /// The remaining changes of an apply of the whole document.
  int differs() { return run({"diff"}); }
  /// The text of the active generation.
  std::string held() {
    const core::GenerationPaths paths;
    const auto ledger = core::load_ledger(kernel.files, paths.ledger);
    const auto texts = core::load_texts(kernel.files, paths.texts, ledger->active);
    return texts ? texts->files.front().text : "";
  }
  [[nodiscard]] std::size_t generations() {
    return core::load_ledger(kernel.files, core::GenerationPaths().ledger)->generations.size();
  }
  /// The daemon's changes.
  std::size_t to_hold() {
    auto host = kernel.host();
    core::Context context{host, {}};
    return core::look({.who = "", .what = "", .host_name = "node1"}, context).plan.changes.size();
  }
  bool has(const std::string& name) {
    return std::any_of(kernel.machine.links.begin(), kernel.machine.links.end(),
                       [&](const auto& link) { return link.name == name; });
  }
};

TEST(ApplyOnly, ChangesWhatIsNamedAndHoldsJustThat) {
  Only host;
  ASSERT_EQ(host.apply(kPort1 + "name = \"rail0\"\n" + kPort2 + "name = \"rail1\"\n", {"--only", "rail0"}), 0)
      << host.err.str();
  EXPECT_TRUE(host.has("rail0"));
  EXPECT_TRUE(host.has("ib1"));
  EXPECT_THAT(host.out.str(), HasSubstr("a part of the document is applied"));
  EXPECT_THAT(host.held(), AllOf(HasSubstr(kGuid1), Not(HasSubstr(kGuid2))));
  EXPECT_EQ(host.to_hold(), 0U) << "the daemon does nothing more";
  EXPECT_EQ(host.differs(), 2);
  ASSERT_EQ(host.run({"apply", "--yes"}), 0);
  EXPECT_TRUE(host.has("rail1"));
  EXPECT_EQ(host.differs(), 0);
}

TEST(ApplyOnly, LeavesTheOtherEntriesAsTheyWereApplied) {
  Only host;
  ASSERT_EQ(host.apply(kPort1 + "name = \"rail0\"\n" + kPort2 +
                       "name = \"rail1\"\n[[sysctl]]\ninterface = \"eth0\"\nrp_filter = 2\n"),
            5);
  ASSERT_EQ(host.apply(kPort1 + "name = \"fast0\"\n" + kPort2 + "name = \"fast1\"\n", {"--only", "fast0"}), 0)
      << host.err.str();
  EXPECT_TRUE(host.has("fast0"));
  EXPECT_TRUE(host.has("rail1"));
  EXPECT_THAT(host.held(), AllOf(HasSubstr("fast0"), HasSubstr("rail1"), HasSubstr("rp_filter"),
                                 Not(HasSubstr("rail0")), Not(HasSubstr("fast1"))));
  EXPECT_EQ(host.to_hold(), 0U);
  EXPECT_EQ(host.run({"history"}), 0);
  EXPECT_THAT(host.out.str(), HasSubstr("apply --only fast0"));
  // Back again as a whole.
  EXPECT_EQ(host.run({"rollback", "--yes"}), 5) << host.err.str();
  EXPECT_TRUE(host.has("rail0"));
}

TEST(ApplyOnly, RepairsDriftWithoutANewGeneration) {
  Only host;
  const auto document =
      kPort1 + "mode = \"connected\"\nmtu = 65520\n" + kPort2 + "mode = \"connected\"\nmtu = 65520\n";
  ASSERT_EQ(host.apply(document), 0) << host.err.str();
  host.kernel.set_mtu("ib0", 2044);
  host.kernel.set_mtu("ib1", 2044);
  ASSERT_EQ(host.apply(document, {"--only", "ib1"}), 0) << host.err.str();
  EXPECT_EQ(host.kernel.link("ib0").mtu, 2044);
  EXPECT_EQ(host.kernel.link("ib1").mtu, 65520);
  EXPECT_EQ(host.generations(), 1U);
  EXPECT_THAT(host.out.str(),
              AllOf(HasSubstr("1 other resource differs"), Not(HasSubstr("a part of the document"))));
}

TEST(ApplyOnly, TakesWhatTheSelectedNeeds) {
  Only host;
  const auto child = "[[ipoib.pkey]]\npkey = 0x8002\nname = \"store\"\n";
  const auto other = "[[ipoib.pkey]]\npkey = 0x8003\nname = \"spare\"\n";
  ASSERT_EQ(host.apply(kPort1 + "name = \"rail0\"\n" + child + other + kPort2 + "name = \"rail1\"\n",
                       {"--only", "store"}),
            0)
      << host.err.str();
  EXPECT_TRUE(host.has("store"));
  EXPECT_TRUE(host.has("rail0"));
  EXPECT_FALSE(host.has("spare"));
  EXPECT_TRUE(host.has("ib1"));
  ASSERT_EQ(host.run({"apply", "--yes", "--only", "pkey"}), 0) << "a section's name means all of its entries";
  EXPECT_TRUE(host.has("spare"));
  // Names that change places go together.
  ASSERT_EQ(host.apply(kPort1 + "name = \"rail1\"\n" + child + other + kPort2 + "name = \"rail0\"\n"), 0);
  ASSERT_EQ(host.apply(kPort1 + "name = \"rail0\"\n" + child + other + kPort2 + "name = \"rail1\"\n",
                       {"--only", kGuid1}),
            0)
      << host.err.str();
  EXPECT_EQ(host.differs(), 0);
}

TEST(ApplyOnly, DropsWhatTheDocumentDrops) {
  Only host;
  const auto first = "[[ipoib.pkey]]\npkey = 0x8002\nname = \"store\"\n";
  const auto second = "[[ipoib.pkey]]\npkey = 0x8003\nname = \"spare\"\n";
  ASSERT_EQ(host.apply(kPort1 + first + second), 0) << host.err.str();
  ASSERT_EQ(host.apply(kPort1, {"--only", "sp*"}), 0) << host.err.str();
  EXPECT_TRUE(host.has("store"));
  EXPECT_FALSE(host.has("spare"));
  EXPECT_EQ(host.to_hold(), 0U);
}

TEST(ApplyOnly, CanBeConfirmed) {
  Only host;
  ASSERT_EQ(host.apply(kPort1 + "name = \"rail0\"\n" + kPort2 + "name = \"rail1\"\n"), 0);
  ASSERT_EQ(host.apply(kPort1 + "name = \"fast0\"\n" + kPort2 + "name = \"fast1\"\n",
                       {"--only", "fast0", "--confirm", "60"}),
            0)
      << host.err.str();
  EXPECT_TRUE(host.has("fast0"));
  ASSERT_EQ(host.run({"rollback", "--yes"}), 0) << host.err.str();
  EXPECT_TRUE(host.has("rail0"));
  EXPECT_TRUE(host.has("rail1"));
}

TEST(ApplyOnly, TakesANameOfOneSection) {
  for (const auto* word :
       {"ipoib[rail0]", "ipoib/rail0", "ipoib[rail?]", "0x0002C903003178F2", "ipoib[0x0002c903003178f2]"}) {
    Only host;
    ASSERT_EQ(host.apply(kPort1 + "name = \"rail0\"\n" + kPort2 + "name = \"store1\"\n", {"--only", word}), 0)
        << word << host.err.str();
    EXPECT_TRUE(host.has("rail0"));
    EXPECT_TRUE(host.has("ib1"));
  }
  Only host;
  EXPECT_EQ(host.apply(kPort1 + "name = \"rail0\"\n", {"--only", "roce/rail0"}), 1);
}

TEST(ApplyOnly, RefusesWhatCannotBe) {
  Only host;
  const auto document = kPort1 + "name = \"rail0\"\n" + kPort2 + "name = \"rail1\"\n";
  const auto refuses = [&](const std::string& text, std::vector<std::string> words, const std::string& why) {
    EXPECT_EQ(host.apply(text, std::move(words)), 1);
    EXPECT_THAT(host.err.str(), HasSubstr(why));
  };
  refuses(document, {"--only", "rial0"},
          "--only rial0: no entry of the document matches; did you mean rail0?");
  refuses(document, {"--only", "rail0", "--boot"}, "--only and --boot cannot be combined");
  refuses(document, {"--only", "rail0", "--install"}, "--install keeps a whole one");
  refuses(kPort1 + "name = \"rail0\"\n" + kPort2 + "mode = \"conected\"\n", {"--only", "rail0"}, "conected");
  EXPECT_TRUE(host.has("ib0")) << "also where only another entry is wrong";
  EXPECT_EQ(host.run({"apply", "--dry-run", "--only", "rail0"}), 1);
}

TEST(ApplyOnly, AnEntryThatTakesTheNameOfOneThatStays) {
  Only host;
  ASSERT_EQ(host.apply(kPort1 + "name = \"rail0\"\n"), 0);
  // The port that has the name now keeps it: its entry is dropped, which is not selected.
  EXPECT_EQ(host.apply(kPort2 + "name = \"rail0\"\n", {"--only", kGuid2}), 1);
  EXPECT_TRUE(host.has("ib1"));
  EXPECT_FALSE(host.err.str().empty());
}

}  // namespace
}  // namespace rdmacfg::ctl::only
