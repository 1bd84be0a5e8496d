// SPDX-License-Identifier: Apache-2.0
// Helpers for text: splitting, numbers, patterns of the shell and of hosts, the word that was meant.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rdmacfg::base {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
/// The parts would outlive their text.
template <class Text>
requires std::same_as<Text, std::string> std::vector<std::string_view> split(Text&& text, char separator)
= delete;
/// Parts without a character of `blanks`, none of them empty.
std::vector<std::string_view> words_of(std::string_view line, std::string_view blanks = " \t\r");
std::string join(std::span<const std::string> parts, std::string_view separator);
/// The first of them, and the number of the others: "a, b and 3 more".
std::string join_first(std::size_t most, std::span<const std::string> parts, std::string_view separator);
std::string lower(std::string_view text);
/// With the bytes that the kernel writes as "\040" in its tables of mounts and swap space (seq_escape()), and
/// fstab(5) likewise; any other backslash stays.
std::string unescape_octal(std::string_view text);

/// An unsigned number, whole text: decimal, or hexadecimal with 0x. Nothing on a sign, blank, overflow or
/// rest.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// parse_number() with a range check: nothing if the number does not fit into Number.
template <class Number>
std::optional<Number> parse_as(std::string_view text) {
  const auto number = parse_number(text);
  if (!number || !std::in_range<Number>(*number)) return std::nullopt;
  return static_cast<Number>(*number);
}

/// A number as C and the shell's arithmetic read it (strtoul(3)), blanks around it or not: 10, 0x000a, and
/// 012 is ten.
std::optional<std::uint64_t> c_number(std::string_view text);

/// The candidate that a person who typed `word` most likely meant; nothing when none is near
/// (Damerau-Levenshtein distance at most a third of the length, at least 1). Of those that are equally near,
/// the one with the longest common beginning, else the first.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// Shell pattern with * ? [a-z]; the whole text has to match (fnmatch(3), no special treatment of '/' and
/// '.').
bool matches_glob(std::string_view pattern, std::string_view text);

/// Host pattern: a glob in which "[001-512,600]" stands for the numbers from 001 to 512, and 600, written
/// with as many digits; "[1-9/2]" is every second one.
bool matches_host(std::string_view pattern, std::string_view host);

}  // namespace rdmacfg::base
