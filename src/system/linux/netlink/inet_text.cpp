// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/inet_text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace rdmacfg::system::detail {

std::vector<std::byte> masked_prefix(std::span<const std::byte> address, int length) {
  std::vector<std::byte> out(address.begin(), address.end());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int bits = std::clamp(length - static_cast<int>(i) * 8, 0, 8);
    out[i] &= static_cast<std::byte>(0xff00U >> static_cast<unsigned>(bits));
  }
  return out;
}

std::string prefix_text(int family, std::span<const std::byte> address, int length) {
  const std::size_t size = family == AF_INET6 ? sizeof(in6_addr) : sizeof(in_addr);
  if (address.size() < size) return "default";
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(family, address.data(), text.data(), text.size()) == nullptr) return "?";
  return fmt::format("{}/{}", text.data(), length);
}

}  // namespace rdmacfg::system::detail
