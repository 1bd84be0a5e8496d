// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/decode.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::system::detail {

namespace {

constexpr std::size_t kSaStatusAt = 4, kSaOffsetAt = 44, kSaRecordsAt = 56, kGroupBytes = 52;
constexpr unsigned kNoRecords = 0x0300;  // 15.2.4: ERR_NO_RECORDS

// 14.2.5.6 (PortInfo); its second extended speeds as rdma-core's fields.c has them
constexpr std::size_t kPortInfoBytes = 64, kCapabilitiesAt = 20, kSecondSpeedsAt = 56, kCapabilities2At = 60;
constexpr unsigned kExtendedSpeeds = 1U << 14U, kCapabilities2 = 1U << 15U;  // CapabilityMask
constexpr unsigned kSecondSpeeds = 1U << 11U;                                // CapabilityMask2

// 16.3.3.3 (IOUnitInfo), 16.3.3.4 (IOControllerProfile), 16.3.3.5 (ServiceEntries)
constexpr std::size_t kUnitBytes = 4 + 128, kControllersAt = 4, kMostControllersAt = 2;
constexpr unsigned kControllerPresent = 1;
constexpr std::size_t kProfileBytes = 128, kIoClassAt = 28, kServiceCountAt = 54, kControllerNameAt = 64;
constexpr std::size_t kServiceBytes = 48, kServiceNameBytes = 40;

unsigned number_at(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t count) {
  unsigned out = 0;
  for (std::size_t i = 0; i < count; ++i) out = out << 8U | bytes[at + i];
  return out;
}

std::uint64_t wide_number_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  return std::uint64_t{number_at(bytes, at, 4)} << 32U | number_at(bytes, at + 4, 4);
}

/// Up to a 0.
std::string text_in(std::span<const std::uint8_t> bytes) {
  return std::string(bytes.begin(), std::find(bytes.begin(), bytes.end(), std::uint8_t{0}));
}

/// The extension of "SRP.T10:200500A0B81146A1"; nothing of another service.
std::optional<std::uint64_t> extension_of(std::string_view name) {
  constexpr std::string_view kSrpService = "SRP.T10:";
  constexpr std::size_t kMostDigits = 16;
  if (!name.starts_with(kSrpService)) return std::nullopt;
  const auto digits = name.substr(kSrpService.size(), kMostDigits);
  return base::parse_number("0x" + std::string(digits.substr(0, digits.find(' '))));
}

fabric::Group group_in(std::span<const std::uint8_t> record) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, record.data(), text.data(), text.size());
  fabric::Group group;
  group.gid = text.data();
  group.lid = static_cast<int>(number_at(record, 36, 2));
  group.mtu = mtu_of(record[38] & 0x3fU);
  group.pkey = static_cast<std::uint16_t>(number_at(record, 40, 2));
  group.rate = rate_of(record[42] & 0x3fU);
  group.sl = record[44] >> 4U;
  return group;
}

}  // namespace

std::uint16_t widths_of(unsigned bits) {
  constexpr std::array<fabric::Width, 5> kOrder{fabric::Width::k1x, fabric::Width::k4x, fabric::Width::k8x,
                                                fabric::Width::k12x, fabric::Width::k2x};
  unsigned out = 0;
  for (std::size_t i = 0; i < kOrder.size(); ++i) {
    if ((bits >> i & 1U) != 0) out |= 1U << static_cast<unsigned>(kOrder[i]);
  }
  return static_cast<std::uint16_t>(out);
}

SecondSpeeds second_speeds_in(std::span<const std::uint8_t> info, std::span<const std::uint8_t> able) {
  if (info.size() < kPortInfoBytes || able.size() < kPortInfoBytes) return {};
  constexpr unsigned kBoth = kExtendedSpeeds | kCapabilities2;
  if ((number_at(able, kCapabilitiesAt, 4) & kBoth) != kBoth) return {};
  if ((number_at(able, kCapabilities2At, 2) & kSecondSpeeds) == 0) return {};
  const unsigned all = info[kSecondSpeedsAt];
  return {.active = all >> 5U & 0x3U, .supported = all >> 3U & 0x3U, .enabled = all & 0x7U};
}

std::uint16_t speeds_of(const SpeedBits& bits) {
  // SDR, DDR and QDR come first in both orders, as FDR to NDR do behind FDR10.
  constexpr unsigned kExtendedDisabled = 30;  // of LinkSpeedExtEnabled
  const unsigned extended = bits.extended == kExtendedDisabled ? 0 : bits.extended;
  unsigned out = bits.first & 0x7U;
  out |= (extended & 0xfU) << static_cast<unsigned>(fabric::Speed::kFdr);
  if (bits.fdr10) out |= 1U << static_cast<unsigned>(fabric::Speed::kFdr10);
  if ((bits.second & 1U) != 0) out |= 1U << static_cast<unsigned>(fabric::Speed::kXdr);
  return static_cast<std::uint16_t>(out);
}

int mtu_of(unsigned code) { return code >= 1 && code <= 5 ? 128 << code : 0; }

int rate_of(unsigned code) {
  constexpr std::array<int, 26> kRates{0,    0,    25,  100,  300,  50,   200,   400,  600,
                                       800,  1200, 140, 560,  1120, 1680, 250,   1000, 2000,
                                       3000, 280,  500, 4000, 6000, 8000, 12000, 16000};
  return code < kRates.size() ? kRates[code] : 0;
}

void add_pkeys(std::span<const std::uint8_t> block, std::vector<std::uint16_t>& out) {
  for (std::size_t at = 0; at + 1 < block.size(); at += 2) {
    const auto pkey = static_cast<std::uint16_t>(number_at(block, at, 2));
    if ((pkey & 0x7fffU) != 0) out.push_back(pkey);
  }
}

std::vector<unsigned> controllers_in(std::span<const std::uint8_t> info) {
  std::vector<unsigned> out;
  if (info.size() < kUnitBytes) return out;
  const unsigned slots = info[kMostControllersAt];
  for (unsigned slot = 0; slot < slots; ++slot) {
    const unsigned both = info[kControllersAt + slot / 2];
    if ((slot % 2 == 0 ? both >> 4U : both & 0xfU) == kControllerPresent) out.push_back(slot + 1);
  }
  return out;
}

std::optional<ControllerProfile> profile_in(std::span<const std::uint8_t> data) {
  if (data.size() < kProfileBytes) return std::nullopt;
  ControllerProfile out;
  out.guid = wide_number_at(data, 0);
  out.io_class = static_cast<std::uint16_t>(number_at(data, kIoClassAt, 2));
  out.services = data[kServiceCountAt];
  out.name = text_in(data.subspan(kControllerNameAt, kProfileBytes - kControllerNameAt));
  return out;
}

void add_srp_targets(std::span<const std::uint8_t> data, unsigned count, std::uint64_t port_guid,
                     const ControllerProfile& profile, std::vector<fabric::Target>& out) {
  for (unsigned i = 0; i < std::min(count, kServicesOfAnswer); ++i) {
    if (data.size() < (i + 1) * kServiceBytes) return;
    const auto service = data.subspan(i * kServiceBytes, kServiceBytes);
    const auto extension = extension_of(text_in(service.first(kServiceNameBytes)));
    if (!extension) continue;
    out.push_back({.port_guid = port_guid,
                   .id_ext = *extension,
                   .ioc_guid = profile.guid,
                   .service_id = wide_number_at(service, kServiceNameBytes),
                   .io_class = profile.io_class,
                   .controller = profile.name});
  }
}

std::optional<std::vector<fabric::Group>> groups_in(std::span<const std::uint8_t> answer, std::size_t most) {
  if (answer.size() < kSaRecordsAt) return std::nullopt;
  std::vector<fabric::Group> out;
  const auto status = number_at(answer, kSaStatusAt, 2);
  if (status == kNoRecords) return out;
  if (status != 0) return std::nullopt;
  const std::size_t size = std::size_t{number_at(answer, kSaOffsetAt, 2)} * 8;
  if (size < kGroupBytes) return out;
  std::set<std::string> seen;
  for (auto rest = answer.subspan(kSaRecordsAt); rest.size() >= size && out.size() < most;
       rest = rest.subspan(size)) {
    auto group = group_in(rest);
    // A group without a LID is what follows the last record of a datagram that was filled up.
    if (group.lid != 0 && seen.insert(group.gid).second) out.push_back(std::move(group));
  }
  return out;
}

}  // namespace rdmacfg::system::detail
