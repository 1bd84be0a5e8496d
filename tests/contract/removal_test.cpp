// SPDX-License-Identifier: Apache-2.0
// What a boot, a reload or an event may not take away.
#include <gmock/gmock.h>

#include "contract/commit_host.hpp"

namespace rdmacfg::contract {
namespace {

using ::testing::HasSubstr;

std::string with_children(int from, int to) {
  std::string text = "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n";
  for (int i = from; i < to; ++i) text += "[[ipoib.pkey]]\npkey = " + std::to_string(i) + "\n";
  return text;
}

class Removal : public ::testing::Test {
 protected:
  Removal() {
    for (auto& device : host_.kernel().machine.devices) {
      for (auto& port : device.ports) {
        for (int i = 2; i < 20; ++i) port.pkeys.push_back(static_cast<std::uint16_t>(0x8000 + i));
      }
    }
  }
  Report by_itself(const std::string& text, core::RemovalGuard guard = core::RemovalGuard::kMost) {
    return host_.with([&](core::Context& context) {
      context.options.independent = true;
      context.options.guard_removal = guard;
      return core::commit(document_of(text),
                          {.who = "", .what = "reload", .host_name = "node1", .by_itself = true}, context);
    });
  }
  std::string children() {
    std::string out;
    for (const auto& link : host_.kernel().machine.links) {
      if (link.parent != 0) out += link.name + " ";
    }
    return out;
  }

  Host host_{two_ports()};
};

TEST_F(Removal, MostOfWhatIsManagedStays) {
  ASSERT_TRUE(applied(host_.commit(with_children(2, 12))));
  const auto before = children();
  for (const auto& text :
       {std::string("version = 1\n"), with_children(2, 4),
        std::string("version = 1\n[match]\nhost = 'other'\n") + with_children(2, 12).substr(12)}) {
    const auto report = by_itself(text);
    EXPECT_EQ(report.exit, model::Exit::kError);
    ASSERT_FALSE(report.diagnostics.empty());
    EXPECT_THAT(report.diagnostics.front().hint, HasSubstr("--allow-removal"));
    EXPECT_EQ(children(), before);
    EXPECT_EQ(host_.ledger().active, 1U) << "what is active is held instead";
  }
  EXPECT_TRUE(applied(by_itself("version = 1\n", core::RemovalGuard::kNone)));
  EXPECT_EQ(children(), "");
}

TEST_F(Removal, AHandfulMayGoAndSoMayAMinority) {
  ASSERT_TRUE(applied(host_.commit(with_children(2, 5))));
  EXPECT_TRUE(applied(by_itself("version = 1\n")));
  ASSERT_TRUE(applied(host_.commit(with_children(2, 18))));
  EXPECT_TRUE(applied(by_itself(with_children(2, 12))));
}

TEST_F(Removal, TheDocumentMayAllowIt) {
  ASSERT_TRUE(applied(host_.commit(with_children(2, 12))));
  EXPECT_TRUE(applied(by_itself("version = 1\n[daemon]\nmax_removal = 100\n")));
  EXPECT_EQ(children(), "");
}

TEST_F(Removal, TheWayInStays) {
  ASSERT_TRUE(applied(host_.commit(with_children(2, 3))));
  auto& child = host_.kernel().machine.links.back();
  ASSERT_NE(child.parent, 0);
  const auto name = child.name;
  host_.kernel().carry(name, "addr4 192.0.2.7/24");
  const auto refused = [&] {
    auto report = by_itself("version = 1\n", core::RemovalGuard::kLifelines);
    return report.exit == model::Exit::kError ? text_of(report) : "";
  };
  // 192.0.2.7:22 from 192.0.2.9, established.
  host_.kernel().files.content["/proc/net/tcp"] =
      "  sl  local_address rem_address   st\n"
      "   0: 070200C0:0016 090200C0:D431 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0\n";
  EXPECT_THAT(refused(), HasSubstr(name + ", which carries a login session"));
  host_.kernel().files.content["/proc/net/tcp"] =
      "  sl  local_address rem_address   st\n"
      "   0: 070200C0:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0\n";
  EXPECT_EQ(refused(), "") << "nobody is logged in";
}

TEST_F(Removal, WhatNobodyConfirmedIsTakenBackAllTheSame) {
  ASSERT_TRUE(applied(host_.commit(with_children(2, 12), kWithin)));
  host_.pass(kWithin);
  const auto report = host_.with([&](core::Context& context) {
    context.options.guard_removal = core::RemovalGuard::kMost;
    return core::hold({.who = "", .what = "hold", .host_name = "node1", .by_itself = true}, context);
  });
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(children(), "");
}

}  // namespace
}  // namespace rdmacfg::contract
