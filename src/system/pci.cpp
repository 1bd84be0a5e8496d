// SPDX-License-Identifier: Apache-2.0
#include "system/pci.hpp"

#include <cstddef>
#include <cstdint>

namespace rdmacfg::system {

namespace {

constexpr std::size_t kHeader = 64, kConventional = 256;
constexpr std::size_t kStatus = 0x06, kHeaderType = 0x0e, kFirst = 0x34, kFirstExtended = 0x100;
constexpr unsigned kHasList = 0x10, kBridge = 1, kTypeMask = 0x7f, kNextMask = 0xfc;
constexpr unsigned kPciExpress = 0x10, kAccessControl = 0x0d;
constexpr std::size_t kDeviceControl = 8;  ///< in the PCI Express Capability
constexpr unsigned kReadShift = 12, kReadMask = 7, kReadMost = 5;
constexpr int kReadUnit = 128;
constexpr std::size_t kControl = 6;           ///< in the Access Control Services
constexpr unsigned kRedirects = 0x04 | 0x08;  ///< of requests, of completions
constexpr int kMost = 48;                     ///< capabilities in the first 256 bytes: each has four at least
constexpr int kMostExtended = (4096 - 256) / 8;

/// Little-endian; nothing beyond the end.
std::optional<unsigned> word(std::string_view bytes, std::size_t at) {
  if (at + 2 > bytes.size()) return std::nullopt;
  return static_cast<unsigned>(static_cast<unsigned char>(bytes[at])) |
         static_cast<unsigned>(static_cast<unsigned char>(bytes[at + 1])) << 8U;
}

std::optional<std::uint32_t> long_word(std::string_view bytes, std::size_t at) {
  const auto low = word(bytes, at), high = word(bytes, at + 2);
  if (!low || !high) return std::nullopt;
  return *low | static_cast<std::uint32_t>(*high) << 16U;
}

std::optional<std::size_t> find_capability(std::string_view bytes, unsigned id) {
  std::size_t at = word(bytes, kFirst).value_or(0) & kNextMask;
  for (int i = 0; i < kMost && at >= kHeader; ++i) {
    const auto head = word(bytes, at);
    if (!head) return std::nullopt;
    if ((*head & 0xffU) == id) return at;
    at = (*head >> 8U) & kNextMask;
  }
  return std::nullopt;
}

/// The control register of Access Control Services; 0 without it.
unsigned access_control(std::string_view bytes) {
  std::size_t at = kFirstExtended;
  for (int i = 0; i < kMostExtended && at >= kFirstExtended; ++i) {
    const auto head = long_word(bytes, at);
    if (!head || *head == 0 || *head == 0xffffffffU) return 0;
    if ((*head & 0xffffU) == kAccessControl) return word(bytes, at + kControl).value_or(0);
    at = (*head >> 20U) & 0xffcU;
  }
  return 0;
}

}  // namespace

std::optional<PciCapabilities> parse_pci_config(std::string_view bytes) {
  if (bytes.size() < kHeader) return std::nullopt;
  PciCapabilities out;
  out.bridge = (static_cast<unsigned char>(bytes[kHeaderType]) & kTypeMask) == kBridge;
  const bool lists = (word(bytes, kStatus).value_or(0) & kHasList) != 0;
  const auto express = lists ? find_capability(bytes, kPciExpress) : std::nullopt;
  if (const auto control = express ? word(bytes, *express + kDeviceControl) : std::nullopt) {
    const auto exponent = (*control >> kReadShift) & kReadMask;
    if (exponent <= kReadMost) out.max_read_request = kReadUnit << exponent;
  }
  if (bytes.size() > kConventional) {
    out.redirects = (access_control(bytes) & kRedirects) != 0;
  } else if (bytes.size() == kConventional && !express) {
    out.redirects = false;  // conventional PCI has no such capability
  }
  return out;
}

}  // namespace rdmacfg::system
