// SPDX-License-Identifier: Apache-2.0
#include "base/digest.hpp"

#include <sha2.h>

#include <array>

namespace rdmacfg::base {

std::string sha256(std::string_view bytes) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
  SHA256End(&context, text.data());
  return text.data();
}

}  // namespace rdmacfg::base
