// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/shell_word_list.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::size_t kMostLoopWords = 64;
constexpr std::size_t kMostWordCharacters = 128;

/// "{0..3}" and "{a,b}", of which one may be in a word. @return nothing where there are too many words
std::optional<LoopWords> braces_of(const std::string& word) {
  const auto from = word.find('{'), to = word.find('}');
  if (from == std::string::npos && to == std::string::npos) return LoopWords{word};
  if (from == std::string::npos || to == std::string::npos || to < from) return std::nullopt;
  const auto inner = word.substr(from + 1, to - from - 1);
  const auto rest = word.substr(to + 1);
  if (rest.find_first_of("{}") != std::string::npos) return std::nullopt;
  LoopWords out;
  if (const auto dots = inner.find(".."); dots != std::string::npos) {
    // The zeros of {00..15} stay in bash.
    const auto bound = [](const std::string& text) {
      return text.size() > 1 && text.front() == '0' ? std::nullopt : base::parse_number(text);
    };
    const auto first = bound(inner.substr(0, dots)), last = bound(inner.substr(dots + 2));
    if (!first || !last || *last < *first || *last - *first >= kMostLoopWords) return std::nullopt;
    for (std::uint64_t at = *first; at <= *last; ++at)
      out.push_back(fmt::format("{}{}{}", word.substr(0, from), at, rest));
    return out;
  }
  if (inner.find(',') == std::string::npos) return std::nullopt;
  for (const auto part : base::split(inner, ','))
    out.push_back(fmt::format("{}{}{}", word.substr(0, from), part, rest));
  return out;
}

}  // namespace

std::optional<LoopWords> literal_words(std::string_view list) {
  if (list.find_first_of("$`*?[~<>\\|&;") != std::string_view::npos) return std::nullopt;
  LoopWords out;
  for (const auto raw : base::words_of(list)) {
    std::string word(raw);
    const bool quoted =
        word.size() > 1 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front();
    if (quoted) word = word.substr(1, word.size() - 2);
    if (word.find_first_of("\"'()") != std::string::npos || word.size() > kMostWordCharacters)
      return std::nullopt;
    const auto braces = quoted ? std::optional(LoopWords{word}) : braces_of(word);
    if (!braces || out.size() + braces->size() > kMostLoopWords) return std::nullopt;
    out.insert(out.end(), braces->begin(), braces->end());
  }
  return out;
}

std::optional<LoopWords> sequence_of(std::string_view list) {
  const bool backticks = list.starts_with("`seq ") && list.ends_with('`');
  if (!backticks && !(list.starts_with("$(seq ") && list.ends_with(')'))) return std::nullopt;
  list.remove_suffix(1);
  const auto words = base::words_of(list.substr(backticks ? 5 : 6));
  if (words.empty() || words.size() > 2) return std::nullopt;
  const auto first = words.size() == 2 ? std::string(words[0]) : std::string("1");
  return braces_of(fmt::format("{{{}..{}}}", first, words.back()));
}

std::optional<LoopWords> assigned_words(std::string_view value) {
  if (value.empty()) return std::nullopt;
  const bool array = value.starts_with('(') && value.ends_with(')');
  const bool quoted =
      value.size() > 1 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
  // The shell looks for braces before it puts the value in.
  if (quoted && value.find_first_of("{}") != std::string_view::npos) return std::nullopt;
  if (array || quoted) return literal_words(value.substr(1, value.size() - 2));
  return value.find_first_of(" \t{}") == std::string_view::npos ? literal_words(value) : std::nullopt;
}

}  // namespace rdmacfg::foreign
