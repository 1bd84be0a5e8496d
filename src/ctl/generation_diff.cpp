// SPDX-License-Identifier: Apache-2.0
#include "ctl/generation_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "ctl/json.hpp"
#include "store/generations.hpp"

namespace rdmacfg::ctl {

using base::Code;
using base::Result;

namespace {

constexpr std::size_t kAround = 3;             ///< lines of context
constexpr std::size_t kMostCells = 4U << 20U;  ///< of the table below; larger texts are replaced as a whole

struct Edit {
  char sign;  ///< ' ', '-' or '+'
  std::string_view line;
};

std::vector<std::string_view> lines_of(const std::string& text) {
  auto lines = base::split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// The fewest lines that go and come, by the longest common subsequence of what is between the equal ends.
std::vector<Edit> edits(std::vector<std::string_view> from, std::vector<std::string_view> to) {
  std::vector<Edit> out;
  std::size_t head = 0;
  while (head < from.size() && head < to.size() && from[head] == to[head]) out.push_back({' ', from[head++]});
  std::size_t tail = 0;
  while (tail < from.size() - head && tail < to.size() - head &&
         from[from.size() - 1 - tail] == to[to.size() - 1 - tail])
    ++tail;
  const std::size_t n = from.size() - head - tail, m = to.size() - head - tail;
  const bool fits = (n + 1) * (m + 1) <= kMostCells;
  std::vector<std::size_t> longest(fits ? (n + 1) * (m + 1) : 0, 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return longest[i * (m + 1) + j]; };
  for (std::size_t i = fits ? n : 0; i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      at(i, j) = from[head + i] == to[head + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  std::size_t i = 0, j = 0;
  while (fits && i < n && j < m) {
    if (from[head + i] == to[head + j]) {
      out.push_back({' ', from[head + i]});
      ++i, ++j;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      out.push_back({'-', from[head + i++]});
    } else {
      out.push_back({'+', to[head + j++]});
    }
  }
  while (i < n) out.push_back({'-', from[head + i++]});
  while (j < m) out.push_back({'+', to[head + j++]});
  for (std::size_t k = 0; k < tail; ++k) out.push_back({' ', from[from.size() - tail + k]});
  return out;
}

std::string range(std::size_t first, std::size_t count) {
  if (count == 1) return std::to_string(first);
  return fmt::format("{},{}", count == 0 ? first - 1 : first, count);
}

/// All files of a generation, as `history show` prints them.
Result<std::string> text_of(system::Host& host, std::uint64_t number) {
  const core::GenerationPaths paths;
  const auto ledger = core::read_ledger(host.files, paths);
  if (!ledger) return base::fail(ledger.error());
  if (ledger->find(number) == nullptr) {
    return base::fail(Code::kNotFound,
                      fmt::format("there is no generation {}; see `rdma-configctl history`", number));
  }
  auto texts = core::read_texts(host.files, paths, number);
  if (!texts) return base::fail(texts.error());
  std::string out;
  for (const auto& file : texts->files) {
    out += fmt::format("# {}\n{}", file.name, file.text);
    if (!file.text.empty() && file.text.back() != '\n') out += '\n';
  }
  return out;
}

int between(const Context& context, system::Host& host, std::uint64_t from, std::uint64_t to) {
  const auto before = text_of(host, from), after = text_of(host, to);
  if (!before) return refuse(context, before.error());
  if (!after) return refuse(context, after.error());
  const auto text =
      unified_diff(fmt::format("generation {}", from), *before, fmt::format("generation {}", to), *after);
  model::Report report;
  report.exit = text.empty() ? model::Exit::kOk : model::Exit::kDiffers;
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    auto json = head(kDocumentSchema, "diff", report, status);
    json["text"] = text;
    emit(context, std::move(json));
    return status;
  }
  for (const auto line : lines_of(text)) {
    const auto style = line.starts_with("---") || line.starts_with("+++") ? Style::kBold
                       : line.starts_with("+")                            ? Style::kGood
                       : line.starts_with("-")                            ? Style::kBad
                       : line.starts_with("@@")                           ? Style::kDim
                                                                          : Style::kPlain;
    context.environment.out << context.out.paint(clean(line, context.out.utf8), style) << '\n';
  }
  if (text.empty()) context.say(fmt::format("generations {} and {} have the same document", from, to));
  return status;
}

}  // namespace

std::string unified_diff(const std::string& from_name, const std::string& from, const std::string& to_name,
                         const std::string& to) {
  if (from == to) return {};
  const auto all = edits(lines_of(from), lines_of(to));
  std::string out = fmt::format("--- {}\n+++ {}\n", from_name, to_name);
  std::size_t old_line = 1, new_line = 1, i = 0;
  while (i < all.size()) {
    // The next change, with what is around it; changes that are near belong to one hunk.
    std::size_t next = i;
    while (next < all.size() && all[next].sign == ' ') ++next;
    if (next == all.size()) break;
    const std::size_t start = next - std::min(next - i, kAround);
    old_line += start - i;
    new_line += start - i;
    std::size_t end = next, quiet = 0;
    while (end < all.size() && quiet <= 2 * kAround) {
      quiet = all[end].sign == ' ' ? quiet + 1 : 0;
      ++end;
    }
    if (quiet > kAround) end -= quiet - kAround;
    std::size_t old_count = 0, new_count = 0;
    std::string body;
    for (std::size_t k = start; k < end; ++k) {
      if (all[k].sign != '+') ++old_count;
      if (all[k].sign != '-') ++new_count;
      body += fmt::format("{}{}\n", all[k].sign, all[k].line);
    }
    out += fmt::format("@@ -{} +{} @@\n{}", range(old_line, old_count), range(new_line, new_count), body);
    old_line += old_count;
    new_line += new_count;
    i = end;
  }
  return out;
}

int diff_generations(const Context& context) {
  const auto& words = context.arguments.words;
  if (context.offline())
    return refuse(context,
                  {Code::kInvalid, "diff N cannot be combined with --root: an image has no generations", 0});
  const auto host = context.environment.host("/");
  const auto from = base::parse_number(words.front()).value_or(0);
  if (words.size() == 2) return between(context, *host, from, base::parse_number(words.back()).value_or(0));
  const core::GenerationPaths paths;
  const auto ledger = core::read_ledger(host->files, paths);
  if (!ledger) return refuse(context, ledger.error());
  if (ledger->find(from) == nullptr) {
    return refuse(context, {Code::kNotFound,
                            fmt::format("there is no generation {}; see `rdma-configctl history`", from), 0});
  }
  auto texts = core::read_texts(host->files, paths, from);
  if (!texts) return refuse(context, texts.error());
  const auto document = core::parse_again(std::move(*texts), context.environment.host_name);
  auto report = core::diff(document, *host, options_of(context));
  report.diagnostics = together(document, report);
  return show_diff(context, document, report);
}

}  // namespace rdmacfg::ctl
