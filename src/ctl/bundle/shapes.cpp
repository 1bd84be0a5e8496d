// SPDX-License-Identifier: Apache-2.0
#include "ctl/bundle/shapes.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace rdmacfg::ctl {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

bool is_hex_text(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDecimalDigits) == std::string_view::npos;
}

std::string_view leading(std::string_view text, std::string_view characters) {
  return text.substr(0, text.find_first_not_of(characters));
}

bool is_pci(const std::vector<std::string_view>& groups) {
  if (groups.size() != 3 || groups[0].size() != 4 || groups[1].size() != 2 || !is_hex_text(groups[0]) ||
      !is_hex_text(groups[1]))
    return false;
  const auto slot = groups[2].substr(0, 2), function = groups[2].substr(slot.size());
  return slot.size() == 2 && is_hex_text(slot) &&
         (function.empty() || (function.size() == 2 && function[0] == '.' && is_decimal(function[1])));
}

bool is_predictable(std::string_view name) {
  constexpr std::array<std::string_view, 6> kSorts{"en", "ib", "roce", "iw", "opa", "wl"};
  constexpr std::array<std::string_view, 10> kParts{"P", "p", "s", "f", "o", "d", "n", "np", "v", "r"};
  const auto sort =
      std::find_if(kSorts.begin(), kSorts.end(), [&](auto prefix) { return name.starts_with(prefix); });
  if (sort == kSorts.end()) return false;
  auto rest = name.substr(sort->size());
  for (bool any = false;; any = true) {
    if (rest.empty()) return any;
    const auto letters = rest.substr(0, rest.find_first_of(kDecimalDigits));
    const auto number = leading(rest.substr(letters.size()), kDecimalDigits);
    const bool known = std::find(kParts.begin(), kParts.end(), letters) != kParts.end();
    if (!known || number.empty() || number.size() > 5) return false;
    rest.remove_prefix(letters.size() + number.size());
  }
}

bool is_board(std::string_view word) {
  constexpr std::size_t kNumber = 10;
  const auto at = word.find('_');
  return at >= 2 && at <= 4 && all_digits(word.substr(at + 1)) && word.size() - at - 1 == kNumber &&
         word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == at;
}

bool is_size(std::string_view word) {
  constexpr std::array<std::string_view, 8> kUnits{"K", "M", "G", "T", "KiB", "MiB", "GiB", "TiB"};
  const auto number = leading(word, kDecimalDigits);
  return !number.empty() && number.size() <= 5 &&
         std::find(kUnits.begin(), kUnits.end(), word.substr(number.size())) != kUnits.end();
}

bool is_plain_number(std::string_view digits) {
  constexpr std::size_t kShort = 5, kLong = 18;
  if (digits.size() <= kShort) return true;
  if (digits.size() > kLong) return false;
  const auto number = base::parse_number(digits);
  return number && (*number % 1024 == 0 || *number % 1000 == 0);
}

}  // namespace rdmacfg::ctl
