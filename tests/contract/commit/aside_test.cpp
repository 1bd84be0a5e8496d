// SPDX-License-Identifier: Apache-2.0
// At boot and on events, an entry that is wrong for this host is set aside: the others are carried out, and
// what it made earlier stays.
#include <algorithm>
#include <cerrno>

#include "contract/apply_text.hpp"

namespace rdmacfg::contract {
namespace {

using model::Status;

/// A host on which documents are applied and things happen.
class Aside : public testing::Test {
 protected:
  static std::string card(const std::string& name, const std::string& pci, const std::string& ports) {
    return fmt::format(
        R"({{"devices": [{{"name": "{}", "driver": "mlx4_core", "pci": "{}", "ports": [{}]}}]}})", name, pci,
        ports);
  }
  static std::string port(const std::string& tail, const std::string& interface) {
    return fmt::format(
        R"({{"guid": "00:02:c9:03:00:31:{}", "pkeys": ["0xffff", "0x8002", "0x8003"], "interface": {{"name": "{}", "up": true}}}})",
        tail, interface);
  }

  Report apply(const std::string& text, Parts parts = Parts::kEachByItself) {
    return apply_text(*kernel_, text, parts);
  }

  static Status status_of(const Report& report, const std::string& key) {
    const auto at = std::find_if(report.resources.begin(), report.resources.end(),
                                 [&](const auto& resource) { return resource.key.text() == key; });
    EXPECT_NE(at, report.resources.end()) << key;
    return at == report.resources.end() ? Status::kForeign : at->status;
  }

  /// Another entry's changes are made, and everything else is as it was.
  void expect_aside(const std::string& document, const std::string& wrong_key) {
    EXPECT_EQ(apply(document, Parts::kTogether).exit, Exit::kError) << "by hand it is all or nothing";
    kernel_->set_mtu("other", 4092);
    auto goal = kernel_->dump(kVisible);
    const auto line = goal.find("link other ");
    ASSERT_NE(line, std::string::npos);
    goal.replace(goal.find("mtu 4092", line), 8, "mtu 2044");
    const auto report = apply(document);
    EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
    EXPECT_EQ(difference(kernel_->dump(kVisible), goal), "") << text_of(report);
    EXPECT_EQ(status_of(report, wrong_key), Status::kFailed);
    EXPECT_EQ(std::count_if(report.resources.begin(), report.resources.end(),
                            [&](const auto& resource) { return resource.key.text() == wrong_key; }),
              1);
    EXPECT_EQ(difference(kernel_->dump(kVisible), goal), "");
  }

  std::unique_ptr<fakes::FakeKernel> kernel_ =
      fakes::FakeKernel::parse(card("qib0", "0000:20:00.0", port("99:01", "other")));
  const std::string other_ = "[[ipoib]]\nguid = \"00:02:c9:03:00:31:99:01\"\nmtu = 2044\n";
};

TEST_F(Aside, AFixedNameThatASecondAdapterWouldGetToo) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  const auto document = other_ +
                        "[[ipoib]]\nmatch = { pci = \"0000:1?:00.0\" }\nname = \"fab0\"\nprune = "
                        "true\n[[ipoib.pkey]]\npkey = 0x8002\n";
  ASSERT_TRUE(applied(apply(document)));
  kernel_->add_child("fab0", 0x8003, "foreign");
  kernel_->add(card("mlx4_1", "0000:11:00.0", port("79:02", "ib1")));
  expect_aside(document, "ipoib 00:02:c9:03:00:31:78:f2");
}

TEST_F(Aside, ADefaultThatOneAdapterCannotDo) {
  const auto document =
      "[defaults.ipoib]\nmode = \"connected\"\n" + other_ + "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n";
  ASSERT_TRUE(applied(apply(document)));
  auto fresh = card("mlx5_0", "0000:10:00.0", port("78:f2", "ib0"));
  fresh.insert(fresh.find("\"driver\""), "\"connected\": false, ");
  kernel_->add(fresh);
  expect_aside(document, "ipoib 00:02:c9:03:00:31:78:f2");
}

TEST_F(Aside, APortThatTheNewAdapterHasNot) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0") + "," + port("78:f3", "ib1")));
  const auto document = other_ + "[[ipoib]]\ndevice = \"mlx4_0\"\nport = 2\nname = \"fab1\"\n";
  ASSERT_TRUE(applied(apply(document)));
  kernel_->machine.remove_device("mlx4_0");
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("79:02", "ib2")));
  expect_aside(document, "ipoib mlx4_0/2");
  EXPECT_NE(kernel_->dump().find("78:f3"), std::string::npos) << "its rule stays";
}

TEST_F(Aside, APortNumberThatBecomesWrong) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  const auto entry = [&](int number) {
    return other_ +
           fmt::format(
               "[[ipoib]]\ndevice = \"mlx4_0\"\nport = {}\nname = \"fab0\"\n[[ipoib.pkey]]\npkey = 0x8002\n",
               number);
  };
  ASSERT_TRUE(applied(apply(entry(1))));
  kernel_->carry("fab0.8002", "addr4 192.0.2.1/24");
  expect_aside(entry(3), "ipoib mlx4_0/3");
}

TEST_F(Aside, WhatIsDroppedMeanwhileGoesBackOnceItIsMended) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  const std::string entry = "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n";
  ASSERT_TRUE(applied(apply(other_ + entry + "mtu = 2044\n")));
  // The MTU is dropped, beside something that this host has not.
  const auto wrong =
      apply("[[ipoib]]\nguid = \"00:02:c9:03:00:31:99:01\"\nmtu = 1500\n" + entry + "name = \"other\"\n");
  EXPECT_EQ(wrong.exit, Exit::kUndone) << text_of(wrong);
  ASSERT_EQ(kernel_->link("ib0").mtu, 2044);
  ASSERT_TRUE(applied(apply("[[ipoib]]\nguid = \"00:02:c9:03:00:31:99:01\"\nmtu = 1500\n" + entry)));
  EXPECT_EQ(kernel_->link("ib0").mtu, 4092) << "as it was before the first apply";
}

TEST_F(Aside, ATemplateThatBecomesTooLong) {
  kernel_->add(card("m", "0000:10:00.0", port("78:f2", "ib0")));
  const auto document = other_ +
                        "[[ipoib]]\nmatch = { pci = \"10:00.0\" }\nname = \"p_{device}_{port}\"\n"
                        "[[ipoib.pkey]]\npkey = 0x8002\nname = \"storage\"\n";
  ASSERT_TRUE(applied(apply(document)));
  ASSERT_EQ(kernel_->machine.rename_device("m", "an_adapter_of_ours"), 0);
  expect_aside(document, "link_name 00:02:c9:03:00:31:78:f2");
}

TEST_F(Aside, TwoEntriesThatComeToMeanOnePort) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  kernel_->add(card("mlx4_1", "0000:11:00.0", port("79:02", "ib1")));
  const auto document = other_ +
                        "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nname = \"fab0\"\n"
                        "[[ipoib.pkey]]\npkey = 0x8002\n"
                        "[[ipoib]]\ndevice = \"mlx4_1\"\nport = 1\nname = \"fab1\"\n"
                        "[[ipoib.pkey]]\npkey = 0x8003\n";
  ASSERT_TRUE(applied(apply(document)));
  kernel_->add_child("fab0", 0x8003, "fab0.8003");
  kernel_->machine.remove_device("mlx4_1");
  ASSERT_EQ(kernel_->machine.rename_device("mlx4_0", "mlx4_1"), 0);
  expect_aside(document, "ipoib 00:02:c9:03:00:31:78:f2");
}

TEST_F(Aside, TwoPortsThatCannotBeToldApart) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  const auto document = other_ + "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nname = \"fab0\"\n";
  ASSERT_TRUE(applied(apply(document)));
  kernel_->add(card("mlx4_1", "0000:11:00.0", port("78:f2", "ib1")));
  expect_aside(document, "ipoib 00:02:c9:03:00:31:78:f2");
}

TEST_F(Aside, ADeviceThatTwoEntriesMean) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  kernel_->add(card("mlx4_1", "0000:11:00.0", port("79:02", "ib1")));
  const auto document = other_ +
                        "[[rdma_device]]\npci = \"0000:10:00.0\"\nname = \"fab0\"\n"
                        "[[rdma_device]]\nnode_guid = \"00:02:c9:03:00:31:79:01\"\nname = \"fab1\"\n";
  ASSERT_TRUE(applied(apply(document)));
  kernel_->machine.remove_device("fab1");
  kernel_->machine.remove_device("fab0");
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("79:02", "ib2")));
  expect_aside(document, "rdma_device 00:02:c9:03:00:31:79:01");
}

TEST_F(Aside, APresentNameThatAnotherDeviceHasNow) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  const auto document = other_ + "[[rdma_device]]\ndevice = \"mlx4_0\"\nname = \"fab0\"\n";
  ASSERT_TRUE(applied(apply(document)));
  kernel_->machine.remove_device("fab0");
  kernel_->add(card("mlx4_0", "0000:11:00.0", port("79:02", "ib2")));
  expect_aside(document, "rdma_device 0000:10:00.0");
}

TEST_F(Aside, ARocePortThatIsInfiniBandNow) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  expect_aside(other_ + "[[roce]]\ndevice = \"mlx4_0\"\nport = 1\ndscp = 26\n", "roce 0000:10:00.0/1");
  expect_aside(other_ + "[[roce]]\ndevice = \"mlx4_0\"\nport = 2\ndscp = 26\n", "roce mlx4_0/2");
}

/// The preset has nothing of its own to set aside: all its keys are written out.
TEST_F(Aside, APresetThatAnEntryContradicts) {
  kernel_->add(R"({"devices": [{"name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:10:00.0", "ports": [
      {"guid": "00:02:c9:03:00:31:78:f2", "link_layer": "Ethernet", "netdev": "eth0"}]}],
      "links": [{"name": "eth0", "up": true}], "dcb": {"eth0": {}}, "rdma_cm": true})");
  const std::string written =
      "[[pfc]]\ninterface = \"eth0\"\npriorities = [3]\ndscp = [\"26:3\", \"24:3\"]\n"
      "bandwidth = [50, 50]\ntraffic_classes = [0, 0, 0, 1, 0, 0, 0, 0]\n"
      "[[roce]]\ndevice = \"mlx5_0\"\nport = 1\ndscp = 24\n";
  ASSERT_TRUE(applied(apply(other_ + written)));
  expect_aside(other_ + written + "[[lossless]]\ninterface = \"eth0\"\n", "roce 0000:10:00.0/1");
}

/// A call that the kernel refuses: by hand everything is undone; at boot only what belongs together is.
TEST_F(Aside, WhatTheKernelRefusesTakesNoOtherAlong) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  const auto document = other_ + "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmtu = 2044\n";
  const auto before = kernel_->dump(kVisible);
  kernel_->faults.refuse("ib0: ", EIO);
  EXPECT_EQ(apply(document, Parts::kTogether).exit, Exit::kUndone);
  EXPECT_EQ(difference(kernel_->dump(kVisible), before), "");

  const auto report = apply(document);
  EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
  ASSERT_TRUE(report.error);
  EXPECT_NE(report.error->message.find("ib0"), std::string::npos) << report.error->message;
  EXPECT_EQ(kernel_->link("other").mtu, 2044);
  EXPECT_EQ(kernel_->link("ib0").mtu, 4092);
  EXPECT_EQ(status_of(report, "ipoib 00:02:c9:03:00:31:78:f2"), Status::kFailed);
  EXPECT_EQ(status_of(report, "ipoib 00:02:c9:03:00:31:99:01"), Status::kDone);

  const auto calls = kernel_->faults.calls();
  EXPECT_EQ(apply(document).exit, Exit::kUndone);
  EXPECT_EQ(kernel_->link("other").mtu, 2044) << "what was done is not touched again";
  EXPECT_GT(kernel_->faults.calls(), calls) << "what failed is tried again";

  kernel_->faults.clear();
  EXPECT_TRUE(applied(apply(document)));
  EXPECT_EQ(kernel_->link("ib0").mtu, 2044);
}

/// Two entries that exchange names are one part: neither is left with half of it.
TEST_F(Aside, AnExchangeOfNamesIsMadeAsAWholeOrNotAtAll) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "fab0") + "," + port("78:f3", "fab1")));
  const auto document = other_ +
                        "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nname = \"fab1\"\n"
                        "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f3\"\nname = \"fab0\"\nmtu = 2044\n";
  kernel_->faults.refuse(" mtu 2044", EIO);
  const auto report = apply(document);
  EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
  EXPECT_EQ(kernel_->link("fab0").mtu, 4092);
  EXPECT_EQ(kernel_->link("fab1").mtu, 4092);
  kernel_->faults.clear();
  EXPECT_TRUE(applied(apply(document))) << "and goes on from there";
  EXPECT_EQ(kernel_->link("fab0").mtu, 2044);
  EXPECT_EQ(kernel_->link("fab1").mtu, 4092);
}

TEST_F(Aside, WhatIsWrongInItselfStopsEverything) {
  const auto report = apply(other_ + "[[ipoib]]\ndevice = \"mlx4_0\"\nport = 1\nname = \"ib0\"\n");
  EXPECT_EQ(report.exit, Exit::kError);
  EXPECT_EQ(kernel_->link("other").mtu, 4092);
}

TEST_F(Aside, PartsAreNotTriedOnceItIsCancelled) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  for (const auto* name : {"other", "ib0"}) kernel_->set_mtu(name, 4092);
  const auto before = kernel_->dump(kVisible);
  const auto document = config::parse_texts(
      {{"config.toml",
        "version = 1\n" + other_ + "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmtu = 2044\n"}},
      "node1", kinds::grammar());
  core::Options options;
  options.independent = true;
  options.cancelled = [] { return true; };
  int begun = 0;
  options.progress = [&](std::size_t, std::size_t, const std::string&) { ++begun; };
  auto host = kernel_->host();
  const auto report = core::apply(document, host, options);
  EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message, "cancelled");
  EXPECT_EQ(begun, 1) << "the whole, and neither of its two parts";
  EXPECT_EQ(difference(kernel_->dump(kVisible), before), "");
}

TEST_F(Aside, AFailureAmongManyIsFoundInFewAttempts) {
  constexpr int kSettings = 16;
  std::string text = "version = 1\n";
  for (int i = 0; i < kSettings; ++i) {
    kernel_->sysctl.set(fmt::format("net/ipv4/test_{}", i), "0");
    text += fmt::format("[[sysctl]]\nkey = 'net.ipv4.test_{}'\nvalue = '1'\n", i);
  }
  const auto document = config::parse_texts({{"config.toml", text}}, "node1", kinds::grammar());
  kernel_->faults.refuse("net/ipv4/test_5: write 1", EINVAL);
  core::Options options;
  options.independent = true;
  int attempts = 0;
  options.progress = [&](std::size_t done, std::size_t, const std::string&) {
    attempts += done == 0 ? 1 : 0;
  };
  auto host = kernel_->host();
  const auto report = core::apply(document, host, options);
  kernel_->faults.clear();
  EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
  ASSERT_TRUE(report.error);
  EXPECT_NE(report.error->message.find("test_5"), std::string::npos) << report.error->message;
  for (int i = 0; i < kSettings; ++i) {
    EXPECT_EQ(kernel_->sysctl.read(fmt::format("net/ipv4/test_{}", i)),
              std::optional<std::string>(i == 5 ? "0" : "1"))
        << i;
  }
  EXPECT_EQ(std::count_if(report.resources.begin(), report.resources.end(),
                          [](const auto& resource) { return resource.status == Status::kFailed; }),
            1);
  EXPECT_EQ(attempts, 9) << "the whole, and two at each halving";
}

/// A setting of the batch that cannot be written back is wanted as it is then, and so not left over.
TEST_F(Aside, WhatCannotBeUndoneKeepsNoOtherFromBeingTried) {
  constexpr int kSettings = 16;
  std::string text;
  for (int i = 0; i < kSettings; ++i) {
    kernel_->sysctl.set(fmt::format("net/ipv4/test_{}", i), "0");
    text += fmt::format("[[sysctl]]\nkey = 'net.ipv4.test_{}'\nvalue = '1'\n", i);
  }
  kernel_->faults.refuse("net/ipv4/test_5: write 1", EINVAL);
  kernel_->faults.refuse("net/ipv4/test_3: write 0", EIO);
  const auto report = apply(text);
  EXPECT_EQ(report.exit, Exit::kUndone) << text_of(report);
  EXPECT_TRUE(report.left_over.empty()) << text_of(report);
  for (int i = 0; i < kSettings; ++i) {
    EXPECT_EQ(kernel_->sysctl.read(fmt::format("net/ipv4/test_{}", i)),
              std::optional<std::string>(i == 5 ? "0" : "1"))
        << i;
  }
  EXPECT_EQ(status_of(report, "sysctl net/ipv4/test_5"), Status::kFailed);
  EXPECT_EQ(status_of(report, "sysctl net/ipv4/test_3"), Status::kDone);
}

TEST_F(Aside, WhatIsLeftOverOfOnePartIsNamedAndTheOthersAreDone) {
  kernel_->add(card("mlx4_0", "0000:10:00.0", port("78:f2", "ib0")));
  const auto document =
      other_ + "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n[[ipoib.pkey]]\npkey = 0x8002\nmtu = 1500\n";
  kernel_->faults.refuse("ib0.8002: set", EIO);
  kernel_->faults.refuse("ib0.8002: delete", EIO);
  const auto report = apply(document);
  EXPECT_EQ(report.exit, Exit::kUndoIncomplete) << text_of(report);
  EXPECT_EQ(report.left_over.size(), 1U) << text_of(report);
  EXPECT_NE(text_of(report).find("could not be removed"), std::string::npos) << text_of(report);
  EXPECT_EQ(kernel_->link("other").mtu, 2044);
  EXPECT_EQ(status_of(report, "ipoib 00:02:c9:03:00:31:99:01"), Status::kDone);
  kernel_->faults.clear();
  EXPECT_TRUE(applied(apply(document)));
  EXPECT_EQ(kernel_->link("ib0.8002").mtu, 1500);
}

/// By hand it is all or nothing, and as little as possible is left.
TEST_F(Aside, OneThatCannotBeUndoneKeepsNoOtherFromBeingUndone) {
  std::string text;
  for (const auto* name : {"test_1", "test_2", "test_3", "test_4"}) {
    kernel_->sysctl.set(fmt::format("net/ipv4/{}", name), "0");
    text += fmt::format("[[sysctl]]\nkey = 'net.ipv4.{}'\nvalue = '1'\n", name);
  }
  kernel_->faults.refuse("net/ipv4/test_4: write 1", EINVAL);
  kernel_->faults.refuse("net/ipv4/test_1: write 0", EIO);
  const auto report = apply(text, Parts::kTogether);
  EXPECT_EQ(report.exit, Exit::kUndoIncomplete) << text_of(report);
  EXPECT_EQ(report.left_over.size(), 1U) << text_of(report);
  EXPECT_EQ(kernel_->sysctl.read("net/ipv4/test_1"), std::optional<std::string>("1"));
  for (const auto* name : {"test_2", "test_3", "test_4"})
    EXPECT_EQ(kernel_->sysctl.read(fmt::format("net/ipv4/{}", name)), std::optional<std::string>("0"))
        << name;
}

}  // namespace
}  // namespace rdmacfg::contract
