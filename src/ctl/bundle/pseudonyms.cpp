// SPDX-License-Identifier: Apache-2.0
#include "ctl/bundle/pseudonyms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rdmacfg::ctl {

namespace {

constexpr std::uint64_t kLocalBit = std::uint64_t{1} << 41;  // "universal/local" of a MAC address
constexpr std::uint64_t kGroupBit = std::uint64_t{1} << 40;
constexpr std::uint64_t kMacMask = (std::uint64_t{1} << 48) - 1;
// Below IANA's identifier, in the ranges next to those that RFC 7042 has for documents.
constexpr std::uint64_t kFirstMac = 0x00005eff0001;
constexpr std::uint64_t kFirstGuid = 0x00005eef10000001;
constexpr std::uint64_t kLinkLocal = 0xfe80;
constexpr std::uint32_t kLinkLocal4 = 0xa9fe;  // 169.254, RFC 3927
constexpr std::size_t kNumberedTail = 4;       // digits that stay behind a word

/// 0: "xaa", 1: "xab", …, 676: "xbaa".
std::string spelled(std::size_t number) {
  constexpr std::size_t kLetters = 26;
  std::string out;
  for (; out.size() < 2 || number > 0; number /= kLetters)
    out.insert(out.begin(), static_cast<char>('a' + number % kLetters));
  return "x" + out;
}

std::uint64_t number_in_bytes(const std::array<std::uint8_t, 16>& bytes, std::size_t from,
                              std::size_t count) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < count; ++i) out = out << 8 | bytes[from + i];
  return out;
}

void put_bytes(std::array<std::uint8_t, 16>& bytes, std::size_t from, std::size_t count,
               std::uint64_t number) {
  for (std::size_t i = count; i > 0; --i, number >>= 8)
    bytes[from + i - 1] = static_cast<std::uint8_t>(number);
}

/// `number` of `width` bits with what is behind the first `length` bits made 0.
std::uint64_t network_part(std::uint64_t number, int width, int length) {
  if (length >= width) return number;
  if (length <= 0) return 0;
  const int host = width - length;
  return number >> host << host;
}

bool is_mac_based(std::uint64_t id) { return (id >> 24 & 0xffff) == 0xfffe; }

}  // namespace

Pseudonyms::Pseudonyms(std::function<bool(std::string_view)> is_taken) : is_taken_(std::move(is_taken)) {
  // Addresses that share their first byte with link-local ones must not have a link-local stand-in.
  constexpr int kSecondByte = 16;
  for (int place = kSecondByte + 7; place >= kSecondByte; --place)
    zeros_.emplace(std::pair{31 - place, std::uint64_t{kLinkLocal4} << 16 >> (place + 1)}, std::uint64_t{0});
}

std::string Pseudonyms::word(std::string_view word) {
  const auto last = word.find_last_not_of("0123456789");
  const auto digits = last == std::string_view::npos ? word.size() : word.size() - last - 1;
  const auto stem = digits <= kNumberedTail ? word.substr(0, word.size() - digits) : word;
  const auto tail = word.substr(stem.size());
  if (const auto at = words_.find(stem); at != words_.end()) return at->second + std::string(tail);
  std::string made;
  do {
    made = spelled(next_word_++);
  } while (is_taken_(made));
  words_.emplace(stem, made);
  return made + std::string(tail);
}

std::string Pseudonyms::number(std::string_view digits) {
  auto [at, is_new] = numbers_.try_emplace(std::string(digits));
  if (is_new) {
    const auto count = fmt::format("{}", numbers_.size());
    at->second =
        "1" + std::string(digits.size() > count.size() ? digits.size() - count.size() - 1 : 0, '0') + count;
  }
  return at->second;
}

std::string Pseudonyms::uuid(std::string_view uuid) {
  auto [at, is_new] = uuids_.try_emplace(std::string(uuid));
  if (is_new) at->second = fmt::format("00000000-0000-4000-8000-{:012x}", uuids_.size());
  return at->second;
}

std::uint64_t Pseudonyms::mac(std::uint64_t mac) {
  if (mac == 0 || (mac & kGroupBit) != 0) return mac;
  // Of the bit that an EUI-64 has the other way round the stand-in knows nothing, so that it fits both.
  const auto [at, is_new] = macs_.try_emplace(mac & ~kLocalBit, kFirstMac + macs_.size());
  return at->second | (mac & kLocalBit);
}

std::uint64_t Pseudonyms::eui64(std::uint64_t id) {
  if (id == 0 || ~id == 0) return id;
  if (is_mac_based(id)) {
    const auto other = mac((id >> 40 << 24 | (id & 0xffffff)) & kMacMask);
    return other >> 24 << 40 | std::uint64_t{0xfffe} << 24 | (other & 0xffffff);
  }
  const auto [at, is_new] = guids_.try_emplace(id, kFirstGuid + guids_.size());
  return at->second;
}

std::uint64_t Pseudonyms::bit(std::uint64_t before, int width, std::uint64_t bit) {
  const auto [at, is_new] = zeros_.try_emplace({width, before}, bit);
  return at->second == bit ? 0 : 1;
}

std::uint32_t Pseudonyms::ipv4(std::uint32_t address, int length) {
  constexpr std::uint32_t kLoopback = 127, kFirstGroup = 224, kLinkLocalByte = kLinkLocal4 >> 8;
  const auto first = address >> 24;
  if (first == 0 || first == kLoopback || first >= kFirstGroup || address >> 16 == kLinkLocal4)
    return address;
  // Link-local addresses stay, so the byte that they begin with stands for itself: 221 bytes are left for
  // 221.
  if (first == kLinkLocalByte) octets_.try_emplace(first, first);
  auto [at, is_new] = octets_.try_emplace(first, 0);
  if (is_new) {
    // In order from 10; past 223 come those below 10.
    constexpr std::uint32_t kFirst = 10;
    const auto others = octets_.size() - 1 - octets_.count(kLinkLocalByte);
    auto next = kFirst + static_cast<std::uint32_t>(others);
    if (next >= kLoopback) next += 1;
    if (next >= kLinkLocalByte) next += 1;
    if (next >= kFirstGroup) next -= kFirstGroup - 1;
    at->second = next;
  }
  std::uint64_t out = at->second;
  for (int place = 23; place >= 8; --place)
    out = out << 1 | bit(address >> (place + 1), 31 - place, address >> place & 1U);
  out = out << 8 | (address & 0xffU);
  const bool is_network = network_part(address, 32, length) == address;
  return static_cast<std::uint32_t>(is_network ? network_part(out, 32, length) : out);
}

std::uint64_t Pseudonyms::prefix(std::uint64_t prefix, int length) {
  constexpr std::uint64_t kUnique = 0xfd00;  // unique local addresses, RFC 4193
  constexpr std::uint64_t kLinkLocals = 0x40, kFirstGroup = 0xff00;
  const auto top = prefix >> 48;
  if (prefix == 0 || (top & 0xffc0) == kLinkLocal || top >= kFirstGroup) return prefix;
  const auto [at, is_new] = tops_.try_emplace(top, 0);
  if (is_new) {
    // In order from fd00, without the ranges that stay; past feff come those below fd00.
    auto next = kUnique + tops_.size() - 1;
    if (next >= kLinkLocal) next += kLinkLocals;
    if (next >= kFirstGroup) next -= kFirstGroup - 1;
    at->second = next;
  }
  std::uint64_t out = at->second;
  for (int place = 47; place >= 0; --place)
    out = out << 1 | bit(prefix >> (place + 1), 100 + 63 - place, prefix >> place & 1U);
  return network_part(prefix, 64, length) == prefix ? network_part(out, 64, length) : out;
}

model::IpAddress Pseudonyms::address(const model::IpAddress& address, int length) {
  auto out = address;
  if (address.family == model::Family::kIpv4) {
    put_bytes(out.bytes, 0, 4,
              ipv4(static_cast<std::uint32_t>(number_in_bytes(address.bytes, 0, 4)), length));
    return out;
  }
  constexpr std::uint64_t kMapped = 0xffff, kShort = 0x10000;
  const auto high = number_in_bytes(address.bytes, 0, 8), low = number_in_bytes(address.bytes, 8, 8);
  if (high == 0 && low >> 32 == kMapped) {
    put_bytes(out.bytes, 12, 4, ipv4(static_cast<std::uint32_t>(low), length - 96));
    return out;
  }
  put_bytes(out.bytes, 0, 8, prefix(high, length));
  put_bytes(out.bytes, 8, 8, low < kShort ? low : eui64(low));
  return out;
}

}  // namespace rdmacfg::ctl
