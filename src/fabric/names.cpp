// SPDX-License-Identifier: Apache-2.0
#include "fabric/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"

namespace rdmacfg::fabric {

namespace {

constexpr const char* kDigits = "0123456789";
constexpr std::size_t kMostDigits = 9;

/// The text in front of a name's last number, how many digits this has, and the text behind it.
using Frame = std::tuple<std::string, std::size_t, std::string>;

}  // namespace

std::string fold_names(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::map<Frame, std::vector<std::uint64_t>> rows;
  std::vector<std::string> out;
  for (const auto& name : names) {
    // "node001 mlx5_0": hosts in a row differ in their first word.
    auto last = name.substr(0, name.find(' ')).find_last_of(kDigits);
    if (last == std::string::npos) last = name.find_last_of(kDigits);
    if (last == std::string::npos) {
      out.push_back(name);
      continue;
    }
    const auto before = name.find_last_not_of(kDigits, last);
    const auto first = before == std::string::npos ? 0 : before + 1;
    const auto digits = name.substr(first, last - first + 1);
    if (digits.size() > kMostDigits) {
      out.push_back(name);
      continue;
    }
    // "9" and "10" are neighbours, as "0" and "1" are; "09" and "010" are not.
    const auto width = digits.front() == '0' && digits.size() > 1 ? digits.size() : std::size_t{0};
    const bool padded =
        width != 0 || rows.contains({name.substr(0, first), digits.size(), name.substr(last + 1)});
    rows[{name.substr(0, first), padded ? digits.size() : 0, name.substr(last + 1)}].push_back(
        *base::parse_number(digits));
  }
  for (auto& [frame, numbers] : rows) {
    const auto& [head, width, tail] = frame;
    std::sort(numbers.begin(), numbers.end());
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < numbers.size();) {
      std::size_t end = i;
      while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
      ranges.push_back(end == i ? fmt::format("{:0{}}", numbers[i], width)
                                : fmt::format("{:0{}}-{:0{}}", numbers[i], width, numbers[end], width));
      i = end + 1;
    }
    const auto inner = base::join(ranges, ",");
    out.push_back(numbers.size() == 1 ? head + inner + tail : fmt::format("{}[{}]{}", head, inner, tail));
  }
  std::sort(out.begin(), out.end());
  return base::join(out, " ");
}

}  // namespace rdmacfg::fabric
