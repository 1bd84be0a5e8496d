// SPDX-License-Identifier: Apache-2.0
// The process that looks at a fabric may end, hang, or send anything.
#include "system/linux/fabric/fabric_reader.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/limits.hpp"
#include "fakes/fabrics.hpp"
#include "system/linux/fabric/decode.hpp"
#include "unit/wait_until.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::HasSubstr;
using namespace detail;

using Send = std::function<void(Frame)>;

base::Result<fabric::Fabric> read_of(Explore explore,
                                     std::chrono::milliseconds timeout = std::chrono::minutes(10)) {
  FabricRequest request;
  request.timeout = timeout;
  return make_fabric_reader(std::move(explore))->read(request, {});
}

/// The same of a process that hangs once it has sent something. The time limit grows until that has come
/// before the limit. `has_come`: whether it did.
base::Result<fabric::Fabric> read_in_time(
    const Explore& explore, const std::function<bool(const base::Result<fabric::Fabric>& read)>& has_come) {
  base::Result<fabric::Fabric> got = base::fail(base::Code::kTimeout, "");
  (void)unit::with_growing_limit(std::chrono::milliseconds(1000), [&](std::chrono::milliseconds timeout) {
    got = read_of(explore, timeout);
    return has_come(got);
  });
  return got;
}

void send_tree(const Send& send, const fabric::Fabric& all) {
  send(StartFrame{all.from, all.from_port, all.prefix});
  for (const auto& node : all.nodes) send(NodeFrame{node});
  send(NodesDoneFrame{});
}

TEST(FabricReader, PutsTogetherWhatItIsSent) {
  const auto tree = fakes::fat_tree(64);
  const auto got = read_of([&](const auto&, const Send& send) {
    send_tree(send, tree);
    send(PkeysFrame{{0x100000, 1}, {0xffff, 0x8002}});
    send(PkeysFrame{{0x42, 1}, {0xffff}});
    fabric::PortCounters counters{};
    counters[6] = 0xffff'ffff'ffff;
    send(CountersFrame{{0x100000, 1}, counters});
    send(CountersFrame{{0x42, 1}, counters});
    send(ManagerFrame{tree.managers[0]});
    send(GroupsFrame{*tree.groups});
    send(RouteFrame{{0x100001, 1, {{0x100000, 0, 1}, {0x200001, 1, 2}}, "why"}});
    send(MissingFrame{"x"});
    send(EndFrame{});
  });
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->nodes.size(), tree.nodes.size());
  EXPECT_EQ(got->nodes[0].description, "node001");
  EXPECT_EQ(got->nodes[0].ports[0].supported, tree.nodes[0].ports[0].supported);
  EXPECT_EQ(got->nodes[0].ports[0].peer, tree.nodes[0].ports[0].peer);
  EXPECT_EQ(got->nodes[0].ports[0].pkeys, (std::vector<std::uint16_t>{0xffff, 0x8002}));
  EXPECT_EQ(got->nodes[0].ports[0].may_manage, true);
  EXPECT_EQ(got->nodes[0].ports[0].counters->at(6), 0xffff'ffff'ffffU);
  EXPECT_FALSE(got->nodes[1].ports[0].counters);
  EXPECT_EQ(got->managers.size(), 1U);
  EXPECT_EQ(got->groups->front().rate, 100);
  EXPECT_EQ(got->route->hops.size(), 2U);
  EXPECT_EQ(got->route->broken, "why");
  EXPECT_EQ(got->missing.size(), 1U);
}

TEST(FabricReader, HandsOnTheReasonOfAFailure) {
  const auto got = read_of([](const auto&, const Send& send) {
    send(FailureFrame{{base::Code::kDenied, "no \x1b[31maccess", 13}});
  });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::kDenied);
  EXPECT_EQ(got.error().message, "no \xef\xbf\xbd[31maccess");
}

TEST(FabricReader, GivesUpInTimeOnAnswersThatNeverCome) {
  const auto got = read_in_time(
      [](const auto&, const Send& send) {
        send(ProgressFrame{0, 0, "discovering the fabric behind mlx5_0/1"});
        for (;;) ::pause();
      },
      [](const auto& read) { return !read && read.error().message.starts_with("discovering"); });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::kTimeout);
  EXPECT_EQ(got.error().message,
            "discovering the fabric behind mlx5_0/1: no answer within the time of --timeout");
}

TEST(FabricReader, ShowsTheNodesWhereTheRestDoesNotCome) {
  const auto got = read_in_time(
      [](const auto&, const Send& send) {
        send_tree(send, fakes::fat_tree(4));
        send(ProgressFrame{1, 4, "reading P_Key tables"});
        for (;;) ::pause();
      },
      [](const auto& read) {
        return read && !read->missing.empty() && read->missing.front().starts_with("what follows reading");
      });
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->nodes.size(), 10U);
  EXPECT_EQ(got->missing.front(),
            "what follows reading P_Key tables: no answer within the time of --timeout");
}

TEST(FabricReader, OutlivesTheProcessThatLooks) {
  for (const int how : {SIGSEGV, SIGABRT, SIGKILL}) {
    const auto got = read_of([&](const auto&, const Send& send) {
      send(ProgressFrame{0, 0, "discovering"});
      ::signal(how, SIG_DFL);
      ::kill(::getpid(), how);
      for (;;) ::pause();
    });
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().message, "discovering: its process ended early");
  }
}

TEST(FabricReader, CleansWhatHostsCallThemselves) {
  auto tree = fakes::fat_tree(4);
  tree.nodes[0].description = "evil\x1b]0;title\x07\n\xff";
  const auto got = read_of([&](const auto&, const Send& send) {
    send_tree(send, tree);
    send(EndFrame{});
  });
  ASSERT_TRUE(got);
  for (const auto& node : got->nodes) {
    for (const char c : node.description) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << node.description;
  }
}

TEST(FabricReader, TakesNoMoreNodesThanKFabricNodes) {
  const auto got = read_of([](const auto&, const Send& send) {
    fabric::Node node;
    for (std::size_t i = 1; i <= fabric::limits::kFabricNodes + 1; ++i) {
      node.guid = i;
      send(NodeFrame{node});
    }
    send(NodesDoneFrame{});
    send(EndFrame{});
  });
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->nodes.size(), fabric::limits::kFabricNodes);
}

TEST(FabricReader, TakesNoMoreTargetsThanKFabricTargets) {
  for (const std::size_t beyond : {0U, 1U}) {
    const auto got = read_of([&](const auto&, const Send& send) {
      send_tree(send, fakes::fat_tree(4));
      send(TargetsFrame{std::vector<fabric::Target>(fabric::limits::kFabricTargets + beyond)});
      send(EndFrame{});
    });
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_TRUE(got->targets);
    EXPECT_EQ(got->targets->size(), fabric::limits::kFabricTargets);
    EXPECT_EQ(got->missing, beyond == 0 ? std::vector<std::string>()
                                        : std::vector<std::string>{"the SRP targets beyond the first 10000"});
  }
}

TEST(FabricReader, TakesOneNodeOfAGuid) {
  auto tree = fakes::fat_tree(4);
  fakes::node_called(tree, "node002")->guid = tree.nodes[0].guid;
  const auto got = read_of([&](const auto&, const Send& send) {
    send_tree(send, tree);
    send(EndFrame{});
  });
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->nodes.size(), tree.nodes.size() - 1);
  EXPECT_EQ(got->missing, std::vector<std::string>{"another node with the GUID 00:00:00:00:00:10:00:00"});
}

TEST(FabricReader, StopsAtKFabricBytes) {
  const auto tree = fakes::fat_tree(4);
  const auto filler = [](std::size_t length) {
    RouteFrame frame;
    frame.route.broken.assign(length, 'x');
    return frame;
  };
  const auto around = pack(filler(0)).size();
  std::size_t least = pack(EndFrame{}).size();
  send_tree([&](const Frame& frame) { least += pack(frame).size(); }, tree);
  for (const std::size_t total : {fabric::limits::kFabricBytes, fabric::limits::kFabricBytes + 1}) {
    const auto got = read_of([&](const auto&, const Send& send) {
      auto left = total - least;
      while (left > 0) {
        auto length = std::min<std::size_t>(left, 4UL * 1024UL * 1024UL);
        if (left > length && left - length < around) length -= around;  // the rest is a frame, too
        send(filler(length - around));
        left -= length;
      }
      send_tree(send, tree);
      send(EndFrame{});
      for (;;) ::pause();
    });
    ASSERT_EQ(got.has_value(), total == fabric::limits::kFabricBytes) << total;
    if (!got) {
      EXPECT_THAT(got.error().message, HasSubstr("the fabric's description exceeds 268435456 bytes"));
    }
  }
}

TEST(Frames, ThatAreNoneAreRefused) {
  std::string bytes = pack(ProgressFrame{1, 2, "x"});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    auto part = std::string_view(bytes).substr(0, length);
    const auto frame = unpack(part);
    ASSERT_TRUE(frame);
    EXPECT_FALSE(*frame) << length;
  }
  for (const auto& bad : {std::string("\xff\x00\x00\x00\x00", 5), std::string("\x01\xff\xff\xff\xff", 5),
                          std::string("\x00\x01\x00\x00\x00x", 6),
                          // A list of more items than there are bytes.
                          std::string("\x05\x08\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff", 13)}) {
    std::string_view rest = bad;
    EXPECT_FALSE(unpack(rest));
  }
  // Something behind the frame's fields.
  bytes = pack(EndFrame{});
  bytes[1] = 1;
  bytes += 'x';
  std::string_view rest = bytes;
  EXPECT_FALSE(unpack(rest));
}

TEST(Decode, WidthsAndSpeedsAreInTheOrderOfWhatTheyCarry) {
  EXPECT_EQ(widths_of(0x1f), 0x1f);
  EXPECT_EQ(widths_of(0x02), 1U << static_cast<unsigned>(fabric::Width::k4x));
  EXPECT_EQ(widths_of(0x10), 1U << static_cast<unsigned>(fabric::Width::k2x));
  EXPECT_EQ(fabric::speed_text(speeds_of({.first = 4})), "QDR");
  EXPECT_EQ(fabric::speed_text(speeds_of({.first = 4, .fdr10 = true})), "FDR10");
  EXPECT_EQ(fabric::speed_text(speeds_of({.first = 7, .extended = 4})), "HDR");
  EXPECT_EQ(fabric::speed_text(speeds_of({.first = 7, .extended = 8})), "NDR");
  EXPECT_EQ(fabric::speed_text(speeds_of({.first = 7, .extended = 31})), "NDR");
  EXPECT_EQ(fabric::speed_text(speeds_of({.first = 7, .extended = 30})), "QDR")
      << "extended speeds are disabled";
  EXPECT_EQ(fabric::speed_text(speeds_of({.first = 7, .extended = 15, .second = 1})), "XDR");
  EXPECT_EQ(fabric::speed_text(speeds_of({.first = 7, .extended = 30, .second = 1})), "XDR")
      << "the second speeds have bits of their own";
  EXPECT_EQ(fabric::speed_text(speeds_of({.first = 7, .extended = 15, .second = 6})), "NDR")
      << "bits without a meaning yet";
  EXPECT_EQ(mtu_of(5), 4096);
  EXPECT_EQ(mtu_of(0), 0);
  EXPECT_EQ(mtu_of(6), 0);
  EXPECT_EQ(rate_of(3), 100);
  EXPECT_EQ(rate_of(16), 1000);
  EXPECT_EQ(rate_of(24), 12000);
  EXPECT_EQ(rate_of(25), 16000) << "IB_RATE_1600_GBPS of the kernel, for 8X XDR";
  EXPECT_EQ(rate_of(63), 0);
}

/// A PortInfo that announces extended speeds, CapabilityMask2, and in that the second extended speeds:
/// active and supported XDR, enabled XDR and a speed without a name.
std::vector<std::uint8_t> xdr_port_info() {
  std::vector<std::uint8_t> out(64, 0);
  out[22] = 0xc0;
  out[60] = 0x08;
  out[56] = 0x20 | 0x08 | 0x03;
  return out;
}

TEST(Decode, SecondExtendedSpeedsAreThoseThatThePortAnnounces) {
  const auto info = xdr_port_info();
  const auto found = second_speeds_in(info, info);
  EXPECT_EQ(found.active, 1U);
  EXPECT_EQ(found.supported, 1U);
  EXPECT_EQ(found.enabled, 3U);
  struct Case {
    std::size_t at;
    std::uint8_t bits;
    std::string_view without;
  };
  for (const auto& [at, bits, without] :
       {Case{22, 0x80, "IsExtendedSpeedsSupported"}, Case{22, 0x40, "IsCapabilityMask2Supported"},
        Case{60, 0x04, "IsExtendedSpeeds2Supported"}}) {
    auto able = info;
    able[at] = bits;
    const auto none = second_speeds_in(info, able);
    EXPECT_EQ(none.active + none.supported + none.enabled, 0U) << "without " << without;
  }
  auto port_of_switch = info;
  port_of_switch[22] = 0;
  EXPECT_EQ(second_speeds_in(port_of_switch, info).active, 1U) << "port 0 announces for all";
  for (std::size_t length = 0; length < info.size(); ++length) {
    EXPECT_EQ(second_speeds_in(std::span(info).first(length), info).active, 0U) << length;
    EXPECT_EQ(second_speeds_in(info, std::span(info).first(length)).active, 0U) << length;
  }
}

TEST(Decode, GroupsAreTakenFromWhateverComes) {
  std::vector<std::uint8_t> answer(56 + 2 * 56, 0);
  answer[45] = 7;  // words of 8 bytes
  for (const std::size_t at : {std::size_t{56}, std::size_t{112}}) {
    answer[at] = 0xff;
    answer[at + 1] = static_cast<std::uint8_t>(at);
    answer[at + 36] = 0xc0;
    answer[at + 38] = 0x80 | 4;
    answer[at + 40] = 0x80;
    answer[at + 41] = 0x02;
    answer[at + 42] = 0x80 | 3;
  }
  auto groups = groups_in(answer, 10);
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->size(), 2U);
  EXPECT_EQ(groups->front().pkey, 0x8002);
  EXPECT_EQ(groups->front().mtu, 2048);
  EXPECT_EQ(groups->front().rate, 100);
  EXPECT_EQ(groups_in(answer, 1)->size(), 1U);
  answer[4] = 0x03;  // no records
  EXPECT_TRUE(groups_in(answer, 10)->empty());
  answer[4] = 0x07;
  EXPECT_FALSE(groups_in(answer, 10));
  for (std::size_t length = 0; length < answer.size(); ++length) {
    answer[4] = 0;
    (void)groups_in(std::span(answer).first(length), 10);
  }
}

/// Data of device management answers as ib_srpt gives them (drivers/infiniband/ulp/srpt/ib_srpt.c,
/// ib_dm_mad.h).
using DmAnswer = std::vector<std::uint8_t>;

void put_bytes(DmAnswer& to, std::size_t at, std::string_view bytes) {
  std::copy(bytes.begin(), bytes.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
}

DmAnswer unit_info() {
  DmAnswer out(192, 0);
  out[1] = 1;     // change ID
  out[2] = 16;    // max controllers
  out[4] = 0x10;  // the first slot has one
  return out;
}

DmAnswer controller_profile() {
  DmAnswer out(192, 0);
  put_bytes(out, 0, std::string_view("\x00\x02\xc9\x03\x00\x31\x78\xf1", 8));
  put_bytes(out, 28, std::string_view("\x01\x00\x60\x9e\x01\x08\x00\x01", 8));  // class, subclass, protocol
  out[54] = 1;
  put_bytes(out, 64, "Linux SRP target");
  return out;
}

DmAnswer service_entries() {
  DmAnswer out(192, 0);
  put_bytes(out, 0, "SRP.T10:0002c903003178f1");
  put_bytes(out, 40, std::string_view("\x00\x02\xc9\x03\x00\x31\x78\xf2", 8));
  return out;
}

TEST(DeviceManagement, SlotsWithAControllerAreCountedFromOne) {
  auto info = unit_info();
  EXPECT_EQ(controllers_in(info), std::vector<unsigned>{1});
  info[4] = 0xf1;  // no slot; a controller
  info[5] = 0x01;
  info[11] = 0x11;  // slots 15 and 16
  info[12] = 0x11;  // beyond the last one
  EXPECT_EQ(controllers_in(info), (std::vector<unsigned>{2, 4, 15, 16}));
  info[2] = 255;
  EXPECT_EQ(controllers_in(info), (std::vector<unsigned>{2, 4, 15, 16, 17, 18}));
  info.resize(131);
  EXPECT_TRUE(controllers_in(info).empty()) << "cut short";
}

TEST(DeviceManagement, AProfileTellsOfItsController) {
  const auto bytes = controller_profile();
  const auto profile = profile_in(bytes);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->guid, 0x0002c903003178f1U);
  EXPECT_EQ(profile->io_class, fabric::kSrpIoClass);
  EXPECT_EQ(profile->services, 1U);
  EXPECT_EQ(profile->name, "Linux SRP target");
  EXPECT_FALSE(profile_in(std::span(bytes).first(127)));
}

TEST(DeviceManagement, TargetsAreServicesOfSrp) {
  const auto profile = profile_in(controller_profile());
  ASSERT_TRUE(profile);
  auto services = service_entries();
  put_bytes(services, 48, "SRP.T10:200500A0B81146A1");
  put_bytes(services, 96, "SRP.T10:rack7");
  put_bytes(services, 144, "iSER.T10:0000000000000001");
  std::vector<fabric::Target> targets;
  add_srp_targets(services, 4, 0x0002c903003178f3, *profile, targets);
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0], (fabric::Target{.port_guid = 0x0002c903003178f3,
                                        .id_ext = 0x0002c903003178f1,
                                        .ioc_guid = 0x0002c903003178f1,
                                        .service_id = 0x0002c903003178f2,
                                        .io_class = 0x0100,
                                        .controller = "Linux SRP target"}));
  EXPECT_EQ(targets[1].id_ext, 0x200500a0b81146a1U);
  EXPECT_EQ(targets[1].service_id, 0U);
  for (std::size_t length = 0; length < services.size(); ++length) {
    targets.clear();
    add_srp_targets(std::span(services).first(length), 9, 1, *profile, targets);
    EXPECT_EQ(targets.size(), std::min<std::size_t>(length / 48, 2)) << length;
  }
}

TEST(FabricReader, HandsOnTargetsAndCleansTheirNames) {
  const auto sent = fakes::fat_tree(2);
  const fabric::Target target{.port_guid = 7,
                              .id_ext = 1,
                              .ioc_guid = 0xffffffffffffffff,
                              .service_id = 3,
                              .io_class = 0xff00,
                              .controller = "a\x1b[31mrray"};
  const auto got = read_of([&](const FabricRequest&, const Send& send) {
    send_tree(send, sent);
    send(TargetsFrame{{target}});
    send(EndFrame{});
  });
  ASSERT_TRUE(got);
  ASSERT_TRUE(got->targets);
  ASSERT_EQ(got->targets->size(), 1U);
  const auto& first = got->targets->front();
  EXPECT_EQ(first.ioc_guid, target.ioc_guid);
  EXPECT_EQ(first.io_class, 0xff00);
  EXPECT_EQ(first.controller.find('\x1b'), std::string::npos);
  EXPECT_FALSE(read_of([&](const FabricRequest&, const Send& send) {
                 send_tree(send, sent);
                 send(EndFrame{});
               })->targets)
      << "not asked for";
}

}  // namespace
}  // namespace rdmacfg::system
