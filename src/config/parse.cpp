// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "config/check.hpp"
#include "config/document.hpp"
#include "config/guard.hpp"
#include "config/merge.hpp"
#include "config/tree.hpp"

namespace rdmacfg::config {

namespace {

/// By file in the order of merging, then by line and column; what is too much is counted.
void sort_and_cut(Document& document, const Limits& limits) {
  std::unordered_map<std::string_view, std::size_t> order;
  for (const auto& file : document.files) order.try_emplace(file.name, order.size());
  auto& all = document.diagnostics;
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return std::tuple(order[a.where.file], a.where.line, a.where.column) <
           std::tuple(order[b.where.file], b.where.line, b.where.column);
  });
  if (all.size() <= limits.errors) return;
  const auto more = all.size() - limits.errors;
  all.resize(limits.errors);
  all.push_back({model::Severity::kError, {}, fmt::format("{} more errors are not shown", more), "", {}});
}

}  // namespace

Document parse_texts(std::vector<Text> texts, std::string_view host, const Grammar& grammar,
                     const Limits& limits) {
  Document document;
  std::vector<model::Section> sections, defaults;
  for (const auto& text : texts) {
    if (text.anyone_writes) {
      document.diagnostics.push_back(
          {model::Severity::kWarning,
           {},
           fmt::format("{}: every user can write to this file, and so say what root does", text.name),
           fmt::format("chmod o-w {}", text.name),
           {}});
    }
    if (auto wrong = check_text(text, limits)) {
      document.diagnostics.push_back(std::move(*wrong));
      continue;
    }
    auto tree = parse_tree(text, limits);
    if (!tree.errors.empty()) {
      // Half a file would look as if keys were missing from it.
      std::move(tree.errors.begin(), tree.errors.end(), std::back_inserter(document.diagnostics));
      continue;
    }
    auto file = check_file(tree.root, host, grammar, {text, document.diagnostics});
    if (file.matched) document.host = host;
    if (file.skipped) {
      document.skipped.push_back(fmt::format("{}: {}", text.name, *file.skipped));
      continue;
    }
    std::move(file.sections.begin(), file.sections.end(), std::back_inserter(sections));
    std::move(file.defaults.begin(), file.defaults.end(), std::back_inserter(defaults));
  }
  document.sections = merge(std::move(sections), grammar);
  fill_defaults(document.sections, merge_defaults(std::move(defaults)));
  document.files = std::move(texts);
  sort_and_cut(document, limits);
  return document;
}

}  // namespace rdmacfg::config
