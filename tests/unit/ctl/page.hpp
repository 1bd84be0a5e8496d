// SPDX-License-Identifier: Apache-2.0
// Pages of the documentation whose commands a test types: "…" stands for anything.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::ctl::page {

/// "…" stands for anything.
inline bool fits(std::string_view pattern, std::string_view text) {
  static constexpr std::string_view kAny = "…";
  const auto at = pattern.find(kAny);
  if (at == std::string_view::npos) return pattern == text;
  if (text.substr(0, at) != pattern.substr(0, at)) return false;
  const auto rest = pattern.substr(at + kAny.size());
  for (std::size_t from = at; from <= text.size(); ++from) {
    if (fits(rest, text.substr(from))) return true;
  }
  return false;
}

/// A line that is only "…" stands for any number of lines, also none.
inline bool fits(std::span<const std::string> pattern, std::span<const std::string> lines) {
  if (pattern.empty()) return lines.empty();
  if (pattern.front() == "…") {
    for (std::size_t skip = 0; skip <= lines.size(); ++skip) {
      if (fits(pattern.subspan(1), lines.subspan(skip))) return true;
    }
    return false;
  }
  return !lines.empty() && fits(std::string_view(pattern.front()), std::string_view(lines.front())) &&
         fits(pattern.subspan(1), lines.subspan(1));
}

/// The words of a command; '…' keeps blanks together.
inline std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> out;
  bool quoted = false, within = false;
  for (const char c : command) {
    if (c == '\'') quoted = !quoted;
    if (!quoted && c == ' ') {
      within = false;
      continue;
    }
    if (!within) out.emplace_back();
    within = true;
    if (c != '\'') out.back() += c;
  }
  return out;
}

}  // namespace rdmacfg::ctl::page
