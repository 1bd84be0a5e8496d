// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "system/linux/carried/carried.hpp"

namespace rdmacfg::system::detail {

namespace {

constexpr std::array<std::pair<ItemSort, std::string_view>, 4> kSorts{{{ItemSort::kAddress, "addr "},
                                                                       {ItemSort::kRoute, "route "},
                                                                       {ItemSort::kRule, "rule "},
                                                                       {ItemSort::kNeighbour, "neigh "}}};

}  // namespace

int Target::now(int index) const {
  if (index == from) return to;
  const auto found = moved.find(index);
  return found == moved.end() ? index : found->second;
}

std::string item_text(ItemSort sort, const nlmsghdr& header) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(kSorts.at(static_cast<std::size_t>(sort)).second);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  for (std::size_t i = 0; i < header.nlmsg_len; ++i) {
    out += kDigits[bytes[i] >> 4U];
    out += kDigits[bytes[i] & 0xfU];
  }
  return out;
}

std::optional<Item> parse_item(std::string_view text) {
  for (const auto& [sort, prefix] : kSorts) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    Item item{sort, {}};
    for (; text.size() >= 2; text.remove_prefix(2)) {
      unsigned byte = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + 2, byte, 16);
      if (error != std::errc{} || end != text.data() + 2) return std::nullopt;
      item.bytes.push_back(static_cast<std::byte>(byte));
    }
    if (!text.empty() || item.bytes.size() < kNlHeader || item.header().nlmsg_len != item.bytes.size()) {
      return std::nullopt;
    }
    return item;
  }
  return std::nullopt;
}

}  // namespace rdmacfg::system::detail
