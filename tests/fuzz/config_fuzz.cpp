// SPDX-License-Identifier: Apache-2.0
// Feeds bytes to the whole way from texts to rendered diagnostics, and holds what comes out against what must
// be true of it. A text that is accepted as TOML also has to mean the same to toml11.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <toml.hpp>

#include "config/guard.hpp"
#include "config/tree.hpp"
#include "kinds/all.hpp"
#include "sample_grammar.hpp"

namespace rdmacfg::config {
namespace {

constexpr std::string_view kSeparator = "\n#---\n";  ///< between files

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

std::vector<Text> split(std::string_view bytes) {
  std::vector<Text> texts;
  for (;;) {
    const auto end = bytes.find(kSeparator);
    texts.push_back({"file" + std::to_string(texts.size()), std::string(bytes.substr(0, end))});
    if (end == std::string_view::npos) return texts;
    bytes.remove_prefix(end + kSeparator.size());
  }
}

bool same(const Node& ours, const toml::value& theirs) {
  switch (ours.sort) {
    case Node::Sort::kForeign:
      return !theirs.is_table() && !theirs.is_array() && !theirs.is_string() && !theirs.is_integer();
    case Node::Sort::kScalar:
      if (const auto* flag = std::get_if<bool>(&ours.scalar))
        return theirs.is_boolean() && theirs.as_boolean() == *flag;
      if (const auto* number = std::get_if<std::int64_t>(&ours.scalar)) {
        return theirs.is_integer() && theirs.as_integer() == *number;
      }
      return theirs.is_string() && theirs.as_string().str == std::get<std::string>(ours.scalar);
    case Node::Sort::kList: {
      if (!theirs.is_array() || theirs.as_array().size() != ours.items.size()) return false;
      return std::equal(ours.items.begin(), ours.items.end(), theirs.as_array().begin(), same);
    }
    case Node::Sort::kTable:
      if (!theirs.is_table() || theirs.as_table().size() != ours.members.size()) return false;
      return std::all_of(ours.members.begin(), ours.members.end(), [&](const auto& member) {
        const auto at = theirs.as_table().find(member.first);
        return at != theirs.as_table().end() && same(member.second, at->second);
      });
  }
  return false;
}

void compare_with_toml11(const Text& text) {
  const Limits limits;
  if (check_text(text, limits)) return;
  const auto tree = parse_tree(text, limits);
  if (!tree.errors.empty()) return;
  std::istringstream stream(text.text);
  try {
    require(same(tree.root, toml::parse(stream, "")), "toml11 reads the same");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    require(false, "toml11 accepts what we accept");
  }
}

void check_place(const Document& document, const model::Location& where) {
  if (where.line == 0) return;
  const auto file = std::find_if(document.files.begin(), document.files.end(),
                                 [&](const Text& text) { return text.name == where.file; });
  require(file != document.files.end(), "a place is in a file of the document");
  const auto lines = 1 + std::count(file->text.begin(), file->text.end(), '\n');
  require(where.line >= 1 && where.line <= lines && where.column >= 1 && where.length >= 1,
          "a place is in its file");
}

void check_sections(const Document& document, const std::vector<model::Section>& sections) {
  for (const auto& section : sections) {
    check_place(document, section.where);
    for (const auto& [key, entry] : section.entries) check_place(document, entry.where);
    check_sections(document, section.children);
  }
}

void check_rendering(std::string_view text) {
  while (!text.empty()) {
    const auto length = utf8_length(text);
    require(length > 0, "what is rendered is UTF-8");
    require(length > 1 || text[0] >= ' ' || text[0] == '\n' || text[0] == '\t',
            "no control character is rendered");
    text.remove_prefix(length);
  }
}

void check(const std::vector<Text>& texts, const std::vector<model::SectionSpec>& grammar) {
  const auto document = parse_texts(texts, "gpu007.example.org", grammar);
  check_sections(document, document.sections);
  for (const auto& diagnostic : document.diagnostics) {
    check_place(document, diagnostic.where);
    for (const auto& related : diagnostic.related) check_place(document, related.where);
  }
  check_rendering(render_diagnostics(document, document.diagnostics, false));
}

void run(std::string_view bytes) {
  static const auto kSample = sample_grammar();
  const auto texts = split(bytes);
  for (const auto& text : texts) compare_with_toml11(text);
  check(texts, kSample);
  check(texts, kinds::grammar());
}

}  // namespace
}  // namespace rdmacfg::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmacfg::config::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
