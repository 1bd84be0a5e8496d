// SPDX-License-Identifier: Apache-2.0
// A change of port types takes a whole adapter away and back: everything on it is new then, and is made as
// the document says in the same apply.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "contract/commit_host.hpp"
#include "store/state.hpp"

namespace rdmacfg::contract {
namespace {

constexpr const char* kAdapter = R"({
  "devices": [{ "name": "mlx4_0", "driver": "mlx4_core", "pci": "0000:10:00.0", "node_guid": "0002:c903:0031:78f0",
    "ports": [{ "guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"], "interface": { "name": "ib0" } },
              { "guid": "00:02:c9:03:00:31:78:f3", "interface": { "name": "ib1" } }] }],
  "mlx4_ports": { "0000:10:00.0": ["ib", "ib"] }
})";
constexpr const char* kInterfaces = R"(version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
name = "fab0"
mode = "connected"
mtu = 65520
  [[ipoib.pkey]]
  pkey = 0x8002
)";
constexpr const char* kNotUpToDate = "after undoing, the record of this host could not be brought up to date";
const std::string kWithTypes =
    std::string(kInterfaces) + "[[mlx4_port]]\npci = \"0000:10:00.0\"\nports = [\"ib\", \"eth\"]\n";

class Swept : public testing::Test {
 protected:
  Swept() {
    EXPECT_TRUE(applied(host_->commit(kInterfaces)));
    kernel().faults.clear();
  }
  FakeKernel& kernel() { return host_->kernel(); }

  /// The number of the call that changes the type, in an apply of `text` to a host like this one.
  static std::size_t number_of(const std::string& text, const std::string& call) {
    Host twin(FakeKernel::parse(kAdapter));
    twin.commit(kInterfaces);
    twin.kernel().faults.clear();
    twin.commit(text);
    const auto& log = twin.kernel().faults.log();
    for (std::size_t n = 0; n < log.size(); ++n) {
      if (log[n].find(call) != std::string::npos) return n + 1;
    }
    ADD_FAILURE() << "no call " << call;
    return 0;
  }
  /// The adapter goes and comes back with the change; udev names its interfaces by then or not.
  void with_the_adapter(FakeKernel::Naming naming) {
    kernel().replug_device_at(number_of(kWithTypes, "make port 2 eth"), "mlx4_0", naming);
  }
  Report diff(const std::string& text) {
    auto host = kernel().host();
    return core::diff(document_of(text), host);
  }
  [[nodiscard]] bool has(const std::string& name) {
    const auto& links = kernel().machine.links;
    return std::any_of(links.begin(), links.end(), [&](const auto& link) { return link.name == name; });
  }
  void expect_as_the_document_says() {
    EXPECT_TRUE(diff(kWithTypes).plan.empty());
    EXPECT_EQ(kernel().link("fab0").mtu, 65520);
    EXPECT_TRUE(kernel().link("fab0.8002").up);
  }

  static bool is_told(const Report& report, const std::string& beginning) {
    return std::any_of(report.notes.begin(), report.notes.end(),
                       [&](const auto& note) { return note.text.starts_with(beginning); });
  }
  /// As before the apply of kWithTypes: no journal, no port types, and the interfaces are still ours.
  void expect_to_be_remembered() {
    EXPECT_FALSE(kernel().files.content.contains(core::Paths().journal));
    auto host = kernel().host();
    const auto state = core::load_state(host.files, core::Paths().state);
    ASSERT_TRUE(state);
    EXPECT_FALSE(state->records.contains({"mlx4_port", "0000:10:00.0"}));
    EXPECT_EQ(host_->ledger().active, 1U);
    kernel().faults.clear();
    const auto again = host_->commit(kInterfaces);
    EXPECT_EQ(again.exit, Exit::kOk) << text_of(again);
    EXPECT_TRUE(kernel().link("fab0.8002").up);
    EXPECT_TRUE(applied(host_->commit("version = 1\n")));
    EXPECT_FALSE(has("fab0.8002"));
  }

  std::unique_ptr<Host> host_ = std::make_unique<Host>(FakeKernel::parse(kAdapter));
};

TEST_F(Swept, WhatWasInSyncIsMadeAnewInTheSameApply) {
  for (const auto naming : {FakeKernel::Naming::kLater, FakeKernel::Naming::kAtOnce}) {
    host_ = std::make_unique<Host>(FakeKernel::parse(kAdapter));
    host_->commit(kInterfaces);
    kernel().faults.clear();
    with_the_adapter(naming);
    const auto report = host_->commit(kWithTypes);
    EXPECT_EQ(report.exit, Exit::kOk) << text_of(report);
    expect_as_the_document_says();
    // It is still known as ours.
    EXPECT_TRUE(applied(host_->commit("version = 1\n")));
    EXPECT_FALSE(has("fab0.8002"));
  }
}

TEST_F(Swept, NotConfirmedItGoesBackAsAWhole) {
  with_the_adapter(FakeKernel::Naming::kAtOnce);
  ASSERT_TRUE(applied(host_->commit(kWithTypes, kWithin)));
  expect_as_the_document_says();
  host_->pass(kWithin);
  const auto back = host_->expire();
  EXPECT_TRUE(applied(back)) << text_of(back);
  EXPECT_EQ(kernel().mlx4_ports.adapters.at("0000:10:00.0"), (std::vector<std::string>{"ib", "ib"}));
  EXPECT_TRUE(diff(kInterfaces).plan.empty());
  EXPECT_EQ(kernel().link("fab0").mtu, 65520);
}

TEST_F(Swept, WhenItCannotBeMadeAnewThePortTypesGoBack) {
  with_the_adapter(FakeKernel::Naming::kAtOnce);
  kernel().faults.refuse("0x8002", EPERM);
  const auto report = host_->commit(kWithTypes);
  EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
  EXPECT_EQ(kernel().mlx4_ports.adapters.at("0000:10:00.0"), (std::vector<std::string>{"ib", "ib"}));
  EXPECT_EQ(host_->ledger().active, 1U);
}

/// The first run had succeeded: its journal and what it remembered go as well.
TEST_F(Swept, UndoneTheEarlierRunLeavesNoRecord) {
  with_the_adapter(FakeKernel::Naming::kAtOnce);
  kernel().faults.refuse("0x8002", EPERM);
  const auto report = host_->commit(kWithTypes);
  EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
  EXPECT_TRUE(report.left_over.empty()) << text_of(report);
  EXPECT_TRUE(is_told(report, "the adapter was re-initialized")) << text_of(report);
  EXPECT_FALSE(is_told(report, kNotUpToDate)) << text_of(report);
  expect_to_be_remembered();
}

/// The same where nobody can look at the host any more: that is said.
TEST_F(Swept, UndoneWithoutALookTheEarlierRunLeavesNoRecord) {
  with_the_adapter(FakeKernel::Naming::kAtOnce);
  kernel().faults.refuse("0x8002", EPERM);
  host_->commit(kWithTypes);
  const auto& log = kernel().faults.log();
  const auto back = std::find_if(log.begin(), log.end(), [](const auto& call) {
    return call.find("make port 2 ib") != std::string::npos;
  });
  ASSERT_NE(back, log.end());
  const auto number = static_cast<std::size_t>(back - log.begin()) + 1;

  host_ = std::make_unique<Host>(FakeKernel::parse(kAdapter));
  host_->commit(kInterfaces);
  kernel().faults.clear();
  with_the_adapter(FakeKernel::Naming::kAtOnce);
  kernel().faults.refuse("0x8002", EPERM);
  kernel().faults.before(number, [this] { kernel().observe_error = EIO; });
  const auto report = host_->commit(kWithTypes);
  EXPECT_EQ(report.exit, Exit::kUndoIncomplete) << text_of(report);
  EXPECT_TRUE(is_told(report, kNotUpToDate)) << text_of(report);
  kernel().observe_error = 0;
  expect_to_be_remembered();
}

}  // namespace
}  // namespace rdmacfg::contract
