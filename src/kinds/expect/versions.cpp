// SPDX-License-Identifier: Apache-2.0
#include "kinds/expect/versions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// The number that a part begins with, and the rest.
std::pair<std::uint64_t, std::string_view> number_and_rest(std::string_view part) {
  const auto end = std::min(part.find_first_not_of("0123456789"), part.size());
  auto digits = part.substr(0, end);
  // With a leading 0 too: "12.09" is 12.9.
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return {base::parse_number(digits).value_or(0), part.substr(end)};
}

}  // namespace

bool version_before(std::string_view version, std::string_view other) {
  const auto left = base::split(version, '.'), right = base::split(other, '.');
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    if (i >= left.size() || i >= right.size()) return i >= left.size();
    const auto a = number_and_rest(left[i]), b = number_and_rest(right[i]);
    if (a != b) return a < b;
  }
  return false;
}

}  // namespace rdmacfg::kinds
