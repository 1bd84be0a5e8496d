// SPDX-License-Identifier: Apache-2.0
// Values that are one of a few words, or in a range, and the one sentence about every other value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "model/value.hpp"

namespace rdmacfg::model {

template <class E, std::size_t N>
using Choices = std::array<std::pair<E, std::string_view>, N>;

/// Continues the name of the key: "\"conected\" is not one of datagram, connected; did you mean
/// \"connected\"?"; of a value that is not a string: "must be one of datagram, connected".
std::string wrong_choice(const Value& written, std::span<const std::string_view> known);

/// A word of a list for a message: a number as it is, 9, any other in quotes.
std::string quoted_word(std::string_view text);

/// "70000 is out of range; must be from 1 to 65535".
std::string out_of_range(std::int64_t number, std::int64_t least, std::int64_t most);

/// The enumerator whose word is `written`, exactly. @return the error of wrong_choice() for other values.
template <class E, std::size_t N>
base::Result<E> parse_choice(const Choices<E, N>& choices, const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  std::array<std::string_view, N> known;
  for (std::size_t at = 0; at < N; ++at) {
    known[at] = choices[at].second;
    if (text != nullptr && *text == known[at]) return choices[at].first;
  }
  return base::fail(base::Code::kInvalid, wrong_choice(written, known));
}

/// The word of an enumerator, which has one.
template <class E, std::size_t N>
std::string_view choice_text(const Choices<E, N>& choices, E value) {
  return std::find_if(choices.begin(), choices.end(),
                      [&](const auto& choice) { return choice.first == value; })
      ->second;
}

}  // namespace rdmacfg::model
