// SPDX-License-Identifier: Apache-2.0
// Stand-ins in a report for the values that identify somebody's host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/types/inet_types.hpp"

namespace rdmacfg::ctl {

/// Gives everything a stand-in: the same one each time, and never one for two. Stand-ins are numbered as they
/// are asked for, so that a report of an unchanged host is the same again, and they say nothing about the
/// original but the structure that is kept: which addresses share a network, which GUID belongs to which MAC
/// address, which names differ in their number only.
class Pseudonyms {
 public:
  /// `is_taken`: words that mean something by themselves and so stand for nothing else.
  explicit Pseudonyms(std::function<bool(std::string_view)> is_taken);

  /// Of letters alone, at most six in practice: "xaa". Where a name ends in a number of up to four digits the
  /// number stays behind the stand-in: "node17" is "xaa17", and the pattern "node*" still matches it.
  std::string word(std::string_view word);
  /// Of a long number: another one of as many digits.
  std::string number(std::string_view digits);
  /// In the form of RFC 4122.
  std::string uuid(std::string_view uuid);
  /// One that is made of something else, which has a stand-in.
  void know_uuid(const std::string& uuid, const std::string& stand_in) { uuids_.emplace(uuid, stand_in); }

  /// A MAC address, 48 bits in host order. Zero, broadcast and multicast stay.
  std::uint64_t mac(std::uint64_t mac);
  /// An EUI-64: a GUID, or the interface part of an IPv6 address. If it is made of a MAC address
  /// (RFC 4291, appendix A) it is made of that one's stand-in. Zero and all ones stay.
  std::uint64_t eui64(std::uint64_t id);

  /// Addresses that share their first N bits have stand-ins that do; a network stays one (its host part is
  /// 0), and the last byte of an IPv4 address stays. `length`: of the prefix, where one is said. Loopback,
  /// link-local and multicast ranges, netmasks and the unspecified address mean the same everywhere and stay,
  /// and so does the first byte of 169.0.0.0/8, which link-local addresses have too;
  /// an IPv6 address keeps a short interface part (::1).
  model::IpAddress address(const model::IpAddress& address, int length);
  /// The first 64 bits of an IPv6 address or GID: a subnet prefix.
  std::uint64_t prefix(std::uint64_t prefix, int length = 64);

 private:
  std::uint32_t ipv4(std::uint32_t address, int length);
  /// The bit that stands for `bit` behind the bits in front of it: the first one seen is 0.
  std::uint64_t bit(std::uint64_t before, int width, std::uint64_t bit);

  std::function<bool(std::string_view)> is_taken_;
  std::map<std::string, std::string, std::less<>> words_, numbers_, uuids_;
  std::size_t next_word_ = 0;
  std::map<std::uint64_t, std::uint64_t> macs_, guids_, octets_, tops_;
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> zeros_;
};

}  // namespace rdmacfg::ctl
