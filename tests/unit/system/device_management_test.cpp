// SPDX-License-Identifier: Apache-2.0
// Ports that answer device management datagrams, or not, as srp_daemon's do_port() asks for them.
#include "system/linux/fabric/device_management.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rdmacfg::system {
namespace {

using detail::FabricLibraries;
using detail::SrpTargets;
using testing::ElementsAre;

using Data = std::array<std::uint8_t, 192>;
using Asked = std::pair<unsigned, unsigned>;  // attribute and its modifier
constexpr unsigned kUnit = 0x10, kProfile = 0x11, kServices = 0x12;
constexpr std::uint64_t kPortGuid = 0x0002c903003178f3;

/// Answers of a port. Several are given one after the other, and the last one again and again.
struct DmPort {
  std::map<Asked, std::vector<Data>> answers;
  std::vector<Asked> asked;

  [[nodiscard]] std::ptrdiff_t asked_for(unsigned attribute) const {
    return std::count_if(asked.begin(), asked.end(),
                         [&](const Asked& what) { return what.first == attribute; });
  }
};

DmPort* current = nullptr;

void* answer_rpc(const ibmad_port*, ib_rpc_t* rpc, ib_portid_t*, void*, void* data) {
  const Asked what{rpc->attr.id, rpc->attr.mod};
  current->asked.push_back(what);
  const auto at = current->answers.find(what);
  if (at == current->answers.end()) return nullptr;
  std::memcpy(data, at->second.front().data(), at->second.front().size());
  if (at->second.size() > 1) at->second.erase(at->second.begin());
  return data;
}

std::optional<SrpTargets> targets_at(DmPort& port) {
  current = &port;
  FabricLibraries libraries;
  libraries.rpc = &answer_rpc;
  std::max_align_t place{};
  auto* handle = reinterpret_cast<ibmad_port*>(&place);
  return detail::read_srp_targets(libraries, *handle, 7, kPortGuid);
}

void put(Data& to, std::size_t at, std::string_view bytes) {
  std::memcpy(to.data() + at, bytes.data(), bytes.size());
}

Data unit(std::uint8_t change, std::uint8_t slots, std::string_view controllers) {
  Data out{};
  out[1] = change;
  out[2] = slots;
  put(out, 4, controllers);
  return out;
}

Data profile(std::uint8_t services) {
  Data out{};
  put(out, 0, std::string_view("\x00\xa0\xb8\x02\x00\x40\x2b\xef", 8));
  put(out, 28, std::string_view("\x01\x00", 2));
  out[54] = services;
  put(out, 64, "array");
  return out;
}

/// Four services, whose numbers begin at `first`.
Data services(unsigned first) {
  Data out{};
  for (unsigned i = 0; i < 4; ++i) put(out, i * 48UL, fmt::format("SRP.T10:{:016x}", first + i));
  return out;
}

std::vector<std::uint64_t> extensions(const SrpTargets& found) {
  std::vector<std::uint64_t> out;
  for (const auto& target : found.targets) out.push_back(target.id_ext);
  return out;
}

TEST(DeviceManagementOfAPort, AsksForTheServicesOfEachControllerByFour) {
  DmPort port{.answers = {{{kUnit, 0}, {unit(1, 2, "\x01")}},  // only the second slot has a controller
                          {{kProfile, 2}, {profile(6)}},
                          {{kServices, 0x00020300}, {services(0)}},
                          {{kServices, 0x00020504}, {services(4)}}},
              .asked = {}};
  const auto found = targets_at(port);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->complete);
  EXPECT_THAT(extensions(*found), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(found->targets.front().port_guid, kPortGuid);
  EXPECT_EQ(found->targets.front().ioc_guid, 0x00a0b80200402befU);
  EXPECT_THAT(port.asked, ElementsAre(Asked{kUnit, 0}, Asked{kProfile, 2}, Asked{kServices, 0x00020300},
                                      Asked{kServices, 0x00020504}, Asked{kUnit, 0}));
}

TEST(DeviceManagementOfAPort, TakesAsManySlotsAndServicesAsTheirNumbersHold) {
  DmPort port{
      .answers = {{{kUnit, 0}, {unit(1, 255, std::string(128, '\x11'))}}, {{kProfile, 255}, {profile(255)}}},
      .asked = {}};
  for (unsigned first = 0; first < 255; first += 4)
    port.answers[{kServices, 255U << 16U | std::min(first + 3, 254U) << 8U | first}] = {services(first)};
  const auto found = targets_at(port);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->targets.size(), 255U);
  EXPECT_EQ(found->targets.back().id_ext, 254U);
  EXPECT_EQ(port.asked_for(kProfile), 255);
  EXPECT_EQ(port.asked_for(kServices), 64);
  EXPECT_FALSE(found->complete) << "the other 254 controllers gave no answer";
}

TEST(DeviceManagementOfAPort, SaysWhereAControllerDoesNotAnswer) {
  const DmPort whole{.answers = {{{kUnit, 0}, {unit(1, 2, "\x11")}},
                                 {{kProfile, 1}, {profile(1)}},
                                 {{kProfile, 2}, {profile(1)}},
                                 {{kServices, 0x00010000}, {services(1)}},
                                 {{kServices, 0x00020000}, {services(2)}}},
                     .asked = {}};
  for (const auto& silent : {Asked{kProfile, 1}, Asked{kServices, 0x00010000}}) {
    auto port = whole;
    port.answers.erase(silent);
    const auto found = targets_at(port);
    ASSERT_TRUE(found);
    EXPECT_THAT(extensions(*found), ElementsAre(2));
    EXPECT_FALSE(found->complete);
  }
  auto port = whole;
  port.answers.erase({kUnit, 0});
  EXPECT_FALSE(targets_at(port));
}

TEST(DeviceManagementOfAPort, ReadsAUnitAgainThatChangesMeanwhile) {
  DmPort port{.answers = {{{kUnit, 0}, {unit(1, 1, "\x10"), unit(2, 2, "\x11"), unit(2, 2, "\x11")}},
                          {{kProfile, 1}, {profile(1)}},
                          {{kProfile, 2}, {profile(1)}},
                          {{kServices, 0x00010000}, {services(1)}},
                          {{kServices, 0x00020000}, {services(2)}}},
              .asked = {}};
  const auto found = targets_at(port);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->complete);
  EXPECT_THAT(extensions(*found), ElementsAre(1, 2));
  std::vector<Data> changes;
  for (std::uint8_t change = 1; change <= 9; ++change) changes.push_back(unit(change, 2, "\x11"));
  port.answers[{kUnit, 0}] = changes;
  port.asked.clear();
  const auto restless = targets_at(port);
  ASSERT_TRUE(restless);
  EXPECT_FALSE(restless->complete);
  EXPECT_THAT(extensions(*restless), ElementsAre(1, 2));
  EXPECT_EQ(port.asked_for(kUnit), 4) << "three readings at most";
}

}  // namespace
}  // namespace rdmacfg::system
