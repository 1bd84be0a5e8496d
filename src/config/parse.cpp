// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "config/check.hpp"
#include "config/document.hpp"
#include "config/guard.hpp"
#include "config/hosts/host_values.hpp"
#include "config/merge.hpp"
#include "config/other_tools.hpp"
#include "config/parsed.hpp"
#include "config/toml/bounds.hpp"
#include "config/toml/tree.hpp"

namespace rdmacfg::config {

namespace {

model::Diagnostic counted(std::size_t more) {
  return {model::Severity::kError, {}, fmt::format("{} more errors are not shown", more), "", {},
          model::Topic::kNotShown};
}

/// @return how many errors are too many, and left out
std::size_t sort_and_cut(model::Diagnostics& all, const std::vector<Text>& files, const Limits& limits) {
  std::unordered_map<std::string_view, std::size_t> order;
  for (const auto& file : files) order.try_emplace(file.name, order.size());
  const auto place_of = [&](const model::Diagnostic& diagnostic) {
    const auto file = order.find(diagnostic.where.file);
    return std::tuple(file == order.end() ? 0 : file->second, diagnostic.where.line, diagnostic.where.column);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  std::size_t errors = 0;
  std::erase_if(all, [&](const auto& diagnostic) {
    return diagnostic.severity == model::Severity::kError && ++errors > limits.errors;
  });
  return errors - std::min(errors, limits.errors);
}

/// `bytes`: of the texts up to and with this one.
std::optional<model::Diagnostic> check_size(const Text& text, std::size_t bytes, const Limits& limits) {
  if (bytes <= limits.document_bytes) return std::nullopt;
  return model::Diagnostic{
      model::Severity::kError,
      {text.name, 0, 1, 1},
      fmt::format("the document has more than the {} bytes allowed with this file; it and later files "
                  "were not read",
                  limits.document_bytes),
      "",
      {}};
}

/// A fault of [defaults.PATH] is one of every section that takes them.
void spread(const std::set<std::string>& paths, const std::vector<model::Section>& sections,
            std::set<model::Location>& faulty) {
  for (const auto& section : sections) {
    if (paths.contains(section.path)) faulty.insert(section.where);
    spread(paths, section.children, faulty);
  }
}

/// The places of sections with a value that was filled in.
void list_filled(const model::Section& section, const Document& document, std::set<model::Location>& out) {
  for (const auto& [key, entry] : section.entries) {
    if (document.filled.contains(entry.where)) out.insert(section.where);
  }
  for (const auto& child : section.children) {
    list_filled(child, document, out);
    if (out.contains(child.where)) out.insert(section.where);
  }
}

/// Write access to the document is root's power: it names modules, services and kernel settings.
model::Diagnostic untrusted(const Text& text) {
  return {model::Severity::kWarning,
          {},
          fmt::format("{}: {}, and could control what root does", text.name, text.written_by_others),
          "rdma-configd applies only files that only root can write, parent directories included: chown "
          "root, chmod go-w",
          {},
          model::Topic::kUntrustedFile};
}

/// Reports mistakes in the lines of a file that could be read although others could not.
void report_readable(const Tree& tree, const Text& text, std::string_view host, const Grammar& grammar,
                     model::Diagnostics& diagnostics) {
  std::set<int> unreadable;
  for (const auto& error : tree.errors) unreadable.insert(error.where.line);
  model::Diagnostics found;
  (void)check_file(tree.root, host, grammar, {.text = text, .diagnostics = found, .partial = true});
  for (auto& diagnostic : found) {
    if (!unreadable.contains(diagnostic.where.line)) diagnostics.push_back(std::move(diagnostic));
  }
}

}  // namespace

void require_trusted_files(Document& document) {
  for (auto& diagnostic : document.diagnostics) {
    if (diagnostic.topic == model::Topic::kUntrustedFile) diagnostic.severity = model::Severity::kError;
  }
}

bool is_private(const Document& document) {
  return std::any_of(document.files.begin(), document.files.end(),
                     [](const auto& text) { return text.is_private; });
}

void append_host(model::Diagnostic& diagnostic, std::string_view host) {
  const auto name = fmt::format(" (host {})", host);
  diagnostic.message += name;
  diagnostic.host_bytes = name.size();
}

void name_host(model::Diagnostics& diagnostics, const Document& document) {
  if (document.filled.empty()) return;
  std::set<model::Location> sections;
  for (const auto& section : document.sections) list_filled(section, document, sections);
  for (auto& diagnostic : diagnostics) {
    const auto at = document.filled.find(diagnostic.where);
    if (at == document.filled.end() && !sections.contains(diagnostic.where)) continue;
    if (diagnostic.host_bytes > 0) continue;
    append_host(diagnostic, document.host);
    if (at != document.filled.end())
      diagnostic.related.insert(diagnostic.related.end(), at->second.begin(), at->second.end());
  }
}

void arrange(model::Diagnostics& diagnostics, const Document& document, const Limits& limits) {
  if (document.not_shown > 0) {
    std::erase_if(diagnostics,
                  [](const auto& diagnostic) { return diagnostic.topic == model::Topic::kNotShown; });
  }
  const auto more = document.not_shown + sort_and_cut(diagnostics, document.files, limits);
  if (more > 0) diagnostics.push_back(counted(more));
}

Parsed::Parsed(std::vector<Text> texts, const Limits& limits)
    : texts_(std::move(texts)), limits_(limits), data_(std::make_unique<HostData>(texts_, limits_)) {
  Counted so_far;
  std::size_t bytes = 0;
  for (const auto& text : texts_) {
    if (!text.written_by_others.empty()) diagnostics_.push_back(untrusted(text));
    if (is_host_data(text.name)) continue;
    bytes += text.text.size();
    if (auto wrong = check_size(text, bytes, limits_)) {
      diagnostics_.push_back(std::move(*wrong));
      whole_ = false;
      break;
    }
    if (auto wrong = check_text(text, limits_)) {
      diagnostics_.push_back(std::move(*wrong));
      whole_ = false;
      continue;
    }
    if (auto wrong = recognize_other_tool(text)) {
      diagnostics_.push_back(std::move(*wrong));
      whole_ = false;
      continue;
    }
    auto tree = parse_tree(text, limits_);
    std::move(tree.faults.begin(), tree.faults.end(), std::back_inserter(diagnostics_));
    tree.faults.clear();
    if (tree.errors.empty()) {
      if (auto wrong = check_bounds(tree.root, text, limits_, so_far)) {
        diagnostics_.push_back(std::move(*wrong));
        whole_ = false;
        continue;
      }
      data_->add(tree.root, text, diagnostics_);
    }
    mentions_.push_back(mentions_host_within(tree.root));
    trees_.push_back({&text, std::move(tree)});
  }
}

Parsed::~Parsed() = default;

CheckedFile Parsed::checked(std::size_t at, std::string_view host, const Grammar& grammar,
                            const HostValues& values, Document& document) const {
  const auto& [text, tree] = trees_[at];
  const auto match = tree.root.members.find("match");
  model::Diagnostics told;
  const auto skipped =
      match == tree.root.members.end() ? std::nullopt : check_match(match->second, host, {*text, told});
  // Nothing of the host is in it, or it is not for this host.
  const bool same = !host.empty() && (skipped || !mentions_[at]);
  if (!same) {
    return check_file(
        tree.root, host, grammar,
        {.text = *text, .diagnostics = document.diagnostics, .values = &values, .filled = &document.filled});
  }
  if (grammar_ != &grammar) once_.clear();
  grammar_ = &grammar;
  auto& once = once_[{at, skipped.has_value()}];
  if (!once) {
    once = std::make_unique<Once>();
    once->file = check_file(tree.root, host, grammar,
                            {.text = *text, .diagnostics = once->diagnostics, .values = &values});
  }
  document.diagnostics.insert(document.diagnostics.end(), once->diagnostics.begin(), once->diagnostics.end());
  if (!skipped) return once->file;
  CheckedFile out;
  out.understood = once->file.understood;
  out.matched = true;
  out.skipped = skipped;
  return out;
}

Document Parsed::on(std::string_view host, const Grammar& grammar) const {
  Document document;
  document.diagnostics = diagnostics_;
  document.whole = whole_;
  std::vector<bool> applies;
  bool uses_host = false;
  for (std::size_t at = 0; at < trees_.size(); ++at) {
    const auto& [text, tree] = trees_[at];
    if (!tree.errors.empty()) continue;
    model::Diagnostics told;  // once more, with the rest of the file
    const auto match = tree.root.members.find("match");
    applies.push_back(match == tree.root.members.end() || !check_match(match->second, host, {*text, told}));
    uses_host = uses_host || tree.root.members.contains("host") || mentions_[at];
  }
  const HostValues values(*data_, host, applies);
  if (uses_host) document.host = host;
  std::vector<model::Section> sections, defaults;
  std::set<std::string> faulty_defaults;
  for (std::size_t at = 0; at < trees_.size(); ++at) {
    const auto& [text, tree] = trees_[at];
    if (!tree.errors.empty()) {
      // Keys after a syntax error are unknown, so missing ones are not reported; the others are checked.
      report_readable(tree, *text, host, grammar, document.diagnostics);
      document.diagnostics.insert(document.diagnostics.end(), tree.errors.begin(), tree.errors.end());
      document.whole = false;
      continue;
    }
    auto file = checked(at, host, grammar, values, document);
    if (!file.understood) document.whole = false;
    if (file.matched) document.host = host;
    if (file.skipped) {
      document.skipped.push_back({text->name, *file.skipped});
      continue;
    }
    std::move(file.sections.begin(), file.sections.end(), std::back_inserter(sections));
    std::move(file.defaults.begin(), file.defaults.end(), std::back_inserter(defaults));
    document.faulty.merge(file.faulty);
    faulty_defaults.merge(file.faulty_defaults);
  }
  document.sections = merge(std::move(sections), grammar, document.faulty);
  fill_defaults(document.sections, merge_defaults(std::move(defaults)));
  spread(faulty_defaults, document.sections, document.faulty);
  document.not_shown = sort_and_cut(document.diagnostics, texts_, limits_);
  if (document.not_shown > 0) document.diagnostics.push_back(counted(document.not_shown));
  return document;
}

Document parse_texts(std::vector<Text> texts, std::string_view host, const Grammar& grammar,
                     const Limits& limits) {
  Parsed parsed(std::move(texts), limits);
  auto document = parsed.on(host, grammar);
  document.files = std::move(parsed).take_texts();
  return document;
}

}  // namespace rdmacfg::config
