// SPDX-License-Identifier: Apache-2.0
#include "base/digest.hpp"

#include <fmt/format.h>
#include <sha1.h>
#include <sha2.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace rdmacfg::base {

namespace {

// Made once at random; never changes, or every profile would be another one.
constexpr std::array<std::uint8_t, 16> kNamespace{0x5d, 0x1e, 0x0a, 0x8c, 0x43, 0x7b, 0x4e, 0x0f,
                                                  0x9a, 0x36, 0x2f, 0xc4, 0x71, 0xd8, 0x90, 0xbe};

}  // namespace

std::string sha256(std::string_view bytes) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
  SHA256End(&context, text.data());
  return text.data();
}

std::string uuid_of(std::string_view name) {
  SHA1_CTX context;
  SHA1Init(&context);
  SHA1Update(&context, kNamespace.data(), kNamespace.size());
  SHA1Update(&context, reinterpret_cast<const std::uint8_t*>(name.data()), name.size());
  std::array<std::uint8_t, SHA1_DIGEST_LENGTH> digest{};
  SHA1Final(digest.data(), &context);
  digest[6] = static_cast<std::uint8_t>((digest[6] & 0x0fU) | 0x50U);
  digest[8] = static_cast<std::uint8_t>((digest[8] & 0x3fU) | 0x80U);
  std::string out;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", digest.at(i));
  }
  return out;
}

}  // namespace rdmacfg::base
