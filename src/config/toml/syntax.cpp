// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cctype>
#include <unordered_map>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "config/guard.hpp"
#include "config/toml/cursor.hpp"
#include "config/toml/other_text.hpp"
#include "config/toml/scalar.hpp"
#include "config/toml/tables.hpp"
#include "config/toml/tree.hpp"

namespace rdmacfg::config {

namespace {

bool is_bare(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

/// Blanks that TOML does not take for blanks, and characters without a width: they come from web pages and
/// word processors.
bool is_invisible(std::uint32_t code) {
  return code == 0xa0 || code == 0xad || code == 0x1680 || (code >= 0x2000 && code <= 0x200f) ||
         code == 0x202f || (code >= 0x205f && code <= 0x2064) || code == 0x3000 || code == 0xfeff;
}

/// Whether a line that is not TOML was meant to begin a section: "ipoib]]", "<ipoib>".
bool is_meant_as_header(std::string_view line) {
  const auto head = base::trim(line.substr(0, line.find_first_of("\r\n#")));
  constexpr std::size_t kLongerThanBrackets = 2;
  return head.size() > kLongerThanBrackets && head.find_first_of("=\"'") == std::string_view::npos &&
         (head.ends_with(']') || (head.starts_with('<') && head.ends_with('>')));
}

/// Recursive descent over one text. A function that returns false has reported why and leaves the cursor
/// there.
class Parser {
 public:
  Parser(const Text& text, const Limits& limits)
      : text_(text), limits_(limits), body_(without_mark(text.text)), cursor_(body_) {
    tree_.root.sort = Node::Sort::kTable;
    section_ = &tree_.root;
  }

  Tree run() && {
    cursor_.skip_space();
    const auto first = body_.substr(cursor_.mark().offset);
    if (is_patch(first)) {
      other_file("this is a patch, not an rdma-configd document", "apply it with patch(1) to the document");
    } else if (cursor_.at("---")) {
      other_language("YAML");
    } else if (is_json(first)) {
      other_language("JSON");
    } else if (cursor_.peek() == '<' && !is_conflict_mark(first)) {
      other_language("XML");
    }
    while (cursor_.skip_space(), !other_ && !cursor_.done() && tree_.errors.size() < limits_.errors) {
      open_ = 0;
      const auto line = body_.substr(cursor_.mark().offset);
      if (is_conflict_mark(line) && conflict_mark()) {
        cursor_.skip_to_line_end();
        continue;
      }
      if (is_yaml_item(line)) {
        yaml_item();
        cursor_.skip_to_line_end();
        continue;
      }
      const bool is_header = cursor_.peek() == '[';
      const bool good = is_header ? header() : pair(*section_, section_depth_);
      if (good) end_of_line(is_header);
      if (!good && is_meant_as_header(line)) leave_section();
      was_good_ = good;
      // Inside of brackets nobody can tell what the next line belongs to.
      if (!good && open_ > 0) break;
      cursor_.skip_to_line_end();
    }
    return std::move(tree_);
  }

 private:
  bool wrong(const Span& at, std::string message, std::string hint = {}) {
    tree_.errors.push_back(
        {model::Severity::kError, location_of(text_, at), std::move(message), std::move(hint), {}});
    return false;
  }
  bool wrong(const Clash& clash) {
    wrong(clash.at, clash.message, clash.hint);
    tree_.errors.back().related.push_back({location_of(text_, clash.first), "first defined here"});
    return false;
  }
  /// The character at the cursor, as a place and in words.
  [[nodiscard]] Span here() const { return cursor_.span(cursor_.mark()); }
  [[nodiscard]] std::string found() const {
    if (cursor_.done()) return "the end of the file";
    if (cursor_.at_line_end()) return "the end of the line";
    if (const auto character = invisible(); !character.empty()) return "the " + character;
    return fmt::format("'{}'", character_here());
  }
  [[nodiscard]] std::string_view character_here() const {
    const auto rest = body_.substr(cursor_.mark().offset);
    return rest.substr(0, utf8_length(rest));
  }
  /// "invisible character U+00A0"; empty when the cursor is at none.
  [[nodiscard]] std::string invisible() const {
    const auto code = base::code_point(character_here());
    return is_invisible(code) ? fmt::format("invisible character U+{:04X}", code) : std::string();
  }
  /// The file is not TOML at all: one error says so, and the rest would be noise.
  bool other_file(std::string message, std::string hint) {
    other_ = true;
    return wrong(here(), std::move(message), std::move(hint));
  }
  bool other_language(std::string_view language) {
    return other_file(fmt::format("this is {}, but the configuration is written in TOML", language),
                      "write version = 1, then sections such as [[ipoib]] with key = value lines; "
                      "`rdma-configctl import` converts the files of other tools");
  }
  /// @return whether the line belongs to a conflict: one without the first mark is as any other.
  bool conflict_mark() {
    const bool begins = cursor_.peek() == '<', belongs = begins || in_conflict_;
    if (begins)
      wrong(here(), "a merge conflict is unresolved",
            "keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>");
    in_conflict_ = belongs && cursor_.peek() != '>';
    return belongs;
  }
  void yaml_item() {
    if (!was_good_) return;  // the line before it has an error already, which its items belong to
    was_good_ = false;
    if (section_depth_ == 0) {
      other_language("YAML");
    } else {
      wrong(here(), "expected a key, found '-'", "write a list in brackets: key = [\"a\", \"b\"]");
    }
  }
  bool too_deep(std::size_t depth) {
    if (depth <= static_cast<std::size_t>(limits_.nesting)) return false;
    open_ = 1;
    wrong(here(), fmt::format("nested deeper than the {} levels allowed", limits_.nesting));
    return true;
  }

  void end_of_line(bool of_header) {
    cursor_.skip_blanks();
    if (cursor_.at_line_end() || cursor_.peek() == '#') return;
    const auto at = here();
    const auto unseen = invisible();
    const auto what = unseen.empty() ? found() : unseen;
    std::string hint = "write one key per line, and put text with blanks in quotes";
    if (!unseen.empty()) {
      hint = "remove it";
    } else if (of_header) {
      hint = "nothing may follow the closing bracket of a section";
    } else if (cursor_.at("//") || cursor_.at("/*")) {
      hint = "a comment begins with #";
    } else if (cursor_.peek() == ',' && std::isdigit(static_cast<unsigned char>(cursor_.peek(1))) != 0) {
      hint = "write a number without commas";
    } else if (cursor_.peek() == ',' || cursor_.peek() == ';') {
      cursor_.next();
      cursor_.skip_blanks();
      if (cursor_.at_line_end() || cursor_.peek() == '#') hint = fmt::format("remove the {}", what);
    }
    wrong(at, fmt::format("unexpected {} at the end of the line", what), std::move(hint));
  }

  /// The keys that follow belong to no section that is known: they are checked, and dropped.
  void leave_section() {
    parent_ = nullptr;
    section_ = &unknown_;
    unknown_ = Node{};
    unknown_.sort = Node::Sort::kTable;
    section_depth_ = 1;
  }

  bool header() {
    const auto start = cursor_.mark();
    cursor_.next();
    const bool list = cursor_.peek() == '[';
    if (list) cursor_.next();
    leave_section();  // until the header is found good
    Key key;
    if (!parse_key(key)) return false;
    const std::string_view close = list ? "]]" : "]";
    if (!cursor_.at(close)) {
      return wrong(here(), fmt::format("expected {} to close the section's name, found {}", close, found()));
    }
    cursor_.skip(close.size());
    const auto place = cursor_.span(start);
    Clash clash;
    Node* opened = open_header(tree_.root, key, list ? Node::Sort::kList : Node::Sort::kTable, place, clash);
    if (!opened) return wrong(clash);
    section_ = opened;
    section_depth_ = key.size();
    parent_ = key.size() > 1 ? parent_of(key) : nullptr;
    label_ = std::string(cursor_.since(start));
    parent_label_ = fmt::format("[[{}]]", text_of(std::span(key).first(key.size() - 1)));
    return true;
  }

  /// The entry that a section is part of: the last one of that name.
  [[nodiscard]] const Node* parent_of(const Key& key) const {
    const Node* node = &tree_.root;
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {
      const auto at = node->members.find(key[i].name);
      if (at == node->members.end()) return nullptr;
      node = at->second.sort == Node::Sort::kList && !at->second.items.empty() ? &at->second.items.back()
                                                                               : &at->second;
    }
    return node;
  }

  bool parse_key(Key& key) {
    for (;;) {
      cursor_.skip_blanks();
      const auto start = cursor_.mark();
      KeyPart part;
      if (cursor_.peek() == '"' || cursor_.peek() == '\'') {
        if (cursor_.at("\"\"\"") || cursor_.at("'''"))
          return wrong(here(), "a key cannot be a multi-line string");
        Node text;
        if (!quoted(text)) return false;
        if (const auto* name = std::get_if<std::string>(&text.scalar)) part.name = *name;
      } else {
        while (is_bare(cursor_.peek())) cursor_.next();
        part.name = cursor_.since(start);
        if (part.name.empty()) return no_key();
        if (static_cast<unsigned char>(cursor_.peek()) > 0x7f && !not_ascii()) return false;
      }
      part.at = cursor_.span(start);
      key.push_back(std::move(part));
      if (too_deep(key.size())) return false;
      cursor_.skip_blanks();
      if (cursor_.peek() != '.') return true;
      cursor_.next();
    }
  }
  /// A letter such as U+0430, which looks like that of ASCII, in the middle of a name.
  bool not_ascii() {
    const auto rest = body_.substr(cursor_.mark().offset);
    const auto character = rest.substr(0, utf8_length(rest));
    const auto code = base::code_point(character);
    if (is_invisible(code)) return true;  // what comes next says so
    return wrong(here(), fmt::format("'{}' (U+{:04X}) is not an ASCII letter", character, code),
                 "names of keys and sections are ASCII; retype the name, since other alphabets have letters "
                 "that look the same");
  }
  bool no_key() {
    if (cursor_.peek() == '=') return wrong(here(), "there is no key before =");
    const bool comment = cursor_.peek() == ';' || cursor_.at("//") || cursor_.at("/*");
    if (comment)
      return wrong(here(), fmt::format("expected a key, found {}", found()), "a comment begins with #");
    return wrong(here(), fmt::format("expected a key, found {}", found()),
                 "a line is a [section] or key = value; a key has letters, digits, - and _, or is in quotes");
  }

  bool pair(Node& table, std::size_t depth) {
    Key key;
    if (!parse_key(key)) return false;
    if (cursor_.peek() != '=') {
      // Of YAML a blank follows; "nfs1:/export" and "0000:10:00.0" come from other files.
      const char next = cursor_.peek(1);
      const bool yaml = cursor_.peek() == ':' &&
                        (next == ' ' || next == '\t' || next == '\n' || next == '\r' || next == '\0');
      if (yaml && depth == 0) return other_language("YAML");
      return wrong(here(), fmt::format("expected = after {}, found {}", text_of(key), found()),
                   fmt::format("write {} = value", text_of(key)));
    }
    cursor_.next();
    cursor_.skip_blanks();
    if (cursor_.peek() == '=') return wrong(here(), "expected a value, found '='", "write a single =");
    if (cursor_.at_line_end() || cursor_.peek() == '#') {
      return wrong(key.back().at, fmt::format("{} has no value", text_of(key)),
                   "leave the line out, or write a value after =");
    }
    Node node;
    if (!value(node, depth + key.size())) return false;
    if (auto clash = insert(table, key, std::move(node))) {
      const bool of_section = &table == section_ && key.size() == 1 && parent_ != nullptr;
      if (of_section && !parent_->members.contains(key.front().name)) {
        clash->hint = fmt::format("remove one; keys of {} must precede its first {}", parent_label_, label_);
      }
      wrong(*clash);
    }
    return true;
  }

  bool value(Node& node, std::size_t depth) {
    const auto start = cursor_.mark();
    bool good = true;
    if (cursor_.peek() == '[' || cursor_.peek() == '{') {
      if (too_deep(depth + 1)) return false;
      ++open_;
      good = cursor_.peek() == '[' ? list(node, depth + 1) : inline_table(node, depth + 1);
      if (good) --open_;
    } else if (cursor_.peek() == '"' || cursor_.peek() == '\'') {
      good = quoted(node);
    } else {
      good = word(node);
    }
    node.at = cursor_.span(start);
    return good;
  }

  bool list(Node& node, std::size_t depth) {
    const auto start = here();
    node.sort = Node::Sort::kList;
    cursor_.next();
    for (;;) {
      cursor_.skip_space();
      if (cursor_.peek() == ']') break;
      if (cursor_.done()) return wrong(start, "the list that begins here has no closing ]");
      if (cursor_.peek() == ',') return wrong(here(), "a list element is missing before ','");
      Node& element = node.items.emplace_back();
      if (!value(element, depth)) return false;
      element.key = element.at;
      cursor_.skip_space();
      if (cursor_.peek() == ']') break;
      if (cursor_.done()) return wrong(start, "the list that begins here has no closing ]");
      if (cursor_.peek() != ',') {
        return wrong(here(), fmt::format("expected ',' or ']' in the list, found {}", found()));
      }
      cursor_.next();
    }
    cursor_.next();
    return true;
  }

  bool inline_table(Node& node, std::size_t depth) {
    const auto start = here();
    node.sort = Node::Sort::kTable;
    node.origin = Node::Origin::kValue;
    cursor_.next();
    cursor_.skip_blanks();
    if (cursor_.peek() == '}') return cursor_.next(), true;
    for (;;) {
      cursor_.skip_blanks();
      if (cursor_.at_line_end() || cursor_.peek() == '#') {
        return wrong(start, "the table that begins here has no closing } on its line",
                     "write a longer table as a [section]");
      }
      if (!pair(node, depth)) return false;
      cursor_.skip_blanks();
      if (cursor_.peek() == '}') return cursor_.next(), true;
      if (cursor_.peek() == ',') {
        cursor_.next();
        cursor_.skip_blanks();
        if (cursor_.peek() == '}') return wrong(here(), "a ',' before '}' is not allowed");
      } else if (!cursor_.at_line_end() && cursor_.peek() != '#') {
        return wrong(here(), fmt::format("expected ',' or '}}' in the table, found {}", found()));
      }
    }
  }

  bool quoted(Node& node) {
    const auto start = cursor_.mark();
    const bool lines = cursor_.at("\"\"\"") || cursor_.at("'''");
    if (!cursor_.skip_quoted()) {
      if (lines) open_ = 1;
      return wrong(cursor_.span(start), fmt::format("the string that begins here has no closing {}{}",
                                                    std::string(lines ? 3 : 1, cursor_.since(start).front()),
                                                    lines ? "" : " on its line"));
    }
    decode(node, start);
    return true;
  }

  bool word(Node& node) {
    const auto start = cursor_.mark();
    cursor_.skip_word();
    const auto found_word = cursor_.since(start);
    if (found_word.empty()) return wrong(here(), fmt::format("expected a value, found {}", found()));
    std::size_t blanks = 0;
    while (cursor_.peek(blanks) == ' ' || cursor_.peek(blanks) == '\t') ++blanks;
    if (open_ > 0 && cursor_.peek(blanks) == '=') {
      return wrong(cursor_.span(start), fmt::format("{} = … inside unclosed brackets", found_word),
                   "close them with ] or }");
    }
    decode(node, start);
    return true;
  }

  /// An invalid scalar is reported, and parsing goes on behind it.
  void decode(Node& node, const Cursor::Mark& start) {
    const auto [at, added] = decoded_.try_emplace(std::string(cursor_.since(start)));
    auto& scalar = at->second;
    if (added) scalar = parse_scalar(at->first);
    if (const auto* plain = std::get_if<model::Value>(&scalar)) node.scalar = *plain;
    if (const auto* foreign = std::get_if<Foreign>(&scalar)) {
      node.sort = Node::Sort::kForeign;
      node.foreign = foreign->sort;
    }
    const auto* error = std::get_if<ScalarError>(&scalar);
    if (error != nullptr && error->instead) {
      node.scalar = *error->instead;
      node.faulty = true;
      tree_.faults.push_back({model::Severity::kError,
                              location_of(text_, cursor_.span(start)),
                              error->message,
                              error->hint,
                              {}});
    } else if (error != nullptr)
      wrong(cursor_.span(start), error->message, error->hint);
  }

  const Text& text_;
  const Limits& limits_;
  std::string_view body_;
  Cursor cursor_;
  Tree tree_;
  Node unknown_;
  std::unordered_map<std::string, Scalar> decoded_;  ///< the same few words come often, and toml11 is slow
  Node* section_ = nullptr;
  std::size_t section_depth_ = 0;
  const Node* parent_ = nullptr;      ///< the entry that section_ is part of, as long as no header follows
  std::string label_, parent_label_;  ///< "[[ipoib.pkey]]", "[[ipoib]]"
  bool other_ = false;                ///< not TOML
  bool in_conflict_ = false;          ///< behind a mark of an unresolved merge
  bool was_good_ = true;              ///< the last line that was read
  int open_ = 0;  ///< brackets and multi-line texts that are open where an error was found
};

}  // namespace

model::Location location_of(const Text& text, const Span& span) {
  return {text.name, span.line, span.column, span.length};
}

Tree parse_tree(const Text& text, const Limits& limits) { return Parser(text, limits).run(); }

}  // namespace rdmacfg::config
