// SPDX-License-Identifier: Apache-2.0
#include "ctl/commands/document_edit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace rdmacfg::ctl {

using base::Code;
using base::fail;
using base::Result;
using config::Node;

namespace {

/// Places in a text, and where what stands there ends.
class Offsets {
 public:
  explicit Offsets(const std::string& text) : text_(text) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    lines_.push_back(text.starts_with(kMark) ? kMark.size() : 0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') lines_.push_back(i + 1);
    }
  }

  [[nodiscard]] std::size_t of(const config::Span& span) const {
    auto at = lines_[std::min(static_cast<std::size_t>(std::max(span.line, 1)), lines_.size()) - 1];
    for (int column = 1; column < span.column && at < text_.size(); ++column) {
      do ++at;
      while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xc0U) == 0x80U);
    }
    return at;
  }

  [[nodiscard]] std::size_t line_start(std::size_t at) const {
    const auto end = text_.rfind('\n', at == 0 ? 0 : at - 1);
    return at == 0 || end == std::string::npos ? lines_.front() : end + 1;
  }
  /// Behind the line feed, or the end of the text.
  [[nodiscard]] std::size_t line_end(std::size_t at) const {
    const auto end = text_.find('\n', at);
    return end == std::string::npos ? text_.size() : end + 1;
  }

  /// Behind blanks, line feeds and comments.
  [[nodiscard]] std::size_t token(std::size_t at) const {
    while ((at = std::min(text_.find_first_not_of(" \t\r\n", at), text_.size())) < text_.size() &&
           text_[at] == '#')
      at = line_end(at);
    return at;
  }

  /// Behind the value that begins there. The text is valid TOML.
  [[nodiscard]] std::size_t value_end(std::size_t at) const {
    if (text_[at] == '"' || text_[at] == '\'') return quoted_end(at);
    if (text_[at] != '[' && text_[at] != '{') {
      const auto end = text_.find_first_of(",]}#\r\n", at);
      auto last = end == std::string::npos ? text_.size() : end;
      while (last > at && (text_[last - 1] == ' ' || text_[last - 1] == '\t')) --last;
      return last;
    }
    int open = 0;
    while (at < text_.size()) {
      const char c = text_[at];
      if (c == '"' || c == '\'') {
        at = quoted_end(at);
        continue;
      }
      if (c == '#') {
        at = line_end(at);
        continue;
      }
      open += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      ++at;
      if (open == 0) return at;
    }
    return at;
  }

 private:
  [[nodiscard]] std::size_t quoted_end(std::size_t at) const {
    const char quote = text_[at];
    const std::string three(3, quote);
    const bool lines = text_.compare(at, 3, three) == 0;
    at += lines ? 3 : 1;
    while (at < text_.size()) {
      if (quote == '"' && text_[at] == '\\') {
        at += 2;
      } else if (lines && text_.compare(at, 3, three) == 0) {
        at += 3;
        while (at < text_.size() && text_[at] == quote) ++at;  // up to two may stand in front of the end
        return at;
      } else if (!lines && text_[at] == quote) {
        return at + 1;
      } else {
        ++at;
      }
    }
    return at;
  }

  const std::string& text_;
  std::vector<std::size_t> lines_;
};

/// The last line of an entry that has a key of its own: where its value ends, and where the key's line
/// begins.
struct LastKey {
  std::size_t value_end = 0, line = 0;
};

void look_for_last(const Node& entry, const Offsets& offsets, std::optional<LastKey>& last) {
  for (const auto& [name, member] : entry.members) {
    const bool table = member.sort == Node::Sort::kTable;
    if (table && member.origin == Node::Origin::kDotted) {
      look_for_last(member, offsets, last);
      continue;
    }
    const bool list_of_tables = member.sort == Node::Sort::kList && member.origin == Node::Origin::kHeader;
    if (list_of_tables || (table && member.origin != Node::Origin::kValue)) continue;
    const auto start = offsets.of(member.at);
    const auto end = offsets.value_end(start);
    if (!last || end > last->value_end) last = LastKey{end, offsets.line_start(offsets.of(member.key))};
  }
}

std::string indentation(const std::string& text, std::size_t line) {
  const auto end = text.find_first_not_of(" \t", line);
  return text.substr(line, end == std::string::npos ? std::string::npos : end - line);
}

bool is_inline(const std::string& text, const Offsets& offsets, const Node& entry) {
  return entry.origin == Node::Origin::kValue && entry.at.line > 0 && text[offsets.of(entry.at)] == '{';
}

std::string inserted(const std::string& text, const Node& entry, const std::string& key,
                     const std::string& value) {
  const Offsets offsets(text);
  const auto line = fmt::format("{} = {}", key, value);
  if (is_inline(text, offsets, entry)) {
    const auto start = offsets.of(entry.at);
    auto end = offsets.value_end(start) - 1;  // at the brace
    while (end > start + 1 && (text[end - 1] == ' ' || text[end - 1] == '\t')) --end;
    const bool empty = entry.members.empty();
    return text.substr(0, end) + (empty ? " " : ", ") + line + (empty ? " " : "") + text.substr(end);
  }
  std::optional<LastKey> last;
  look_for_last(entry, offsets, last);
  auto at = last                ? offsets.line_end(last->value_end)
            : entry.at.line > 0 ? offsets.line_end(offsets.of(entry.at))
                                : 0;
  const auto indent = indentation(text, last                ? last->line
                                        : entry.at.line > 0 ? offsets.line_start(offsets.of(entry.at))
                                                            : 0);
  auto out = text.substr(0, at);
  if (!out.empty() && out.back() != '\n') out += '\n';
  return out + (entry.at.line > 0 || last ? indent : "") + line + '\n' + text.substr(at);
}

std::string with_section(std::string text, const std::vector<PathStep>& path, const std::string& value) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (!text.empty()) text += '\n';
  const std::vector<PathStep> section(path.begin(), path.end() - 1);
  return text + fmt::format("[{}]\n{} = {}\n", path_text(section, section.size()), path.back().name, value);
}

/// One value of a list goes with the comma that sets it apart, and with its line where it has one of its own.
std::string without_item(std::string text, std::size_t start, std::size_t end) {
  const auto comma = Offsets(text).token(end);
  if (comma < text.size() && text[comma] == ',') {
    if (text.find_first_not_of(" \t", end) == comma) {
      end = comma + 1;
    } else {
      text.erase(comma, 1);
    }
  } else if (const auto before = text.find_last_not_of(" \t", start - 1); text[before] == ',') {
    start = before;
  }
  const Offsets offsets(text);
  const auto line = offsets.line_start(start);
  const auto rest = std::min(text.find_first_not_of(" \t\r", end), text.size() - 1);
  const bool last_of_line = text[rest] == '\n' || text[rest] == '#';
  if (last_of_line && text.find_first_not_of(" \t", line) >= start)
    return text.erase(line, offsets.line_end(end) - line);
  if (last_of_line) {
    start = text.find_last_not_of(" \t", start - 1) + 1;
  } else if (text[end - 1] == ',') {
    end = rest;
  }
  return text.erase(start, end - start);
}

Result<config::Tree> tree_of(const config::Text& text) {
  auto tree = config::parse_tree(text, {});
  if (tree.errors.empty()) return tree;
  const auto& first = tree.errors.front();
  return fail(Code::kInvalid, fmt::format("{}: {}", first.where.text(), first.message));
}

}  // namespace

std::string as_toml(const std::string& text) {
  const auto tree = config::parse_tree({"", "x = " + text + "\n"}, {});
  const auto at = tree.root.members.find("x");
  const bool whole = text.find('\n') == std::string::npos;
  if (whole && tree.errors.empty() && tree.root.members.size() == 1 && at != tree.root.members.end() &&
      at->second.sort != Node::Sort::kForeign)
    return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

Result<std::string> with_value(const config::Text& text, const std::vector<PathStep>& path,
                               const std::string& value) {
  auto tree = tree_of(text);
  if (!tree) return fail(tree.error());
  const auto found = find_node(tree->root, path);
  if (!found) return fail(found.error());
  const Offsets offsets(text.text);
  if (found->value != nullptr) {
    const bool table =
        found->value->sort == Node::Sort::kTable && !is_inline(text.text, offsets, *found->value);
    const bool list_of_tables =
        found->value->sort == Node::Sort::kList && found->value->origin == Node::Origin::kHeader;
    if (table || list_of_tables)
      return fail(Code::kInvalid,
                  fmt::format("{} is a section; name one of its keys", path_text(path, path.size())));
    const auto start = offsets.of(found->value->at);
    return text.text.substr(0, start) + value + text.text.substr(offsets.value_end(start));
  }
  const std::vector<PathStep> rest(path.begin() + static_cast<std::ptrdiff_t>(found->home_steps), path.end());
  const auto selects = [](const PathStep& step) { return !step.selector.empty(); };
  if (std::any_of(rest.begin(), rest.end(), selects)) {
    auto missing = describe_missing(tree->root, path, text.name);
    if (missing.instead.empty()) missing.instead = "add the entry with `rdma-configctl edit`";
    return fail(Code::kNotFound, missing.text());
  }
  // Of a table that is not there yet, or has no header of its own, the keys are dotted ones.
  if (found->home != &tree->root || path.size() == 1 || found->deepest->origin == Node::Origin::kDotted)
    return inserted(text.text, *found->home, path_text(rest, rest.size()), value);
  return with_section(text.text, path, value);
}

Result<std::string> without_value(const config::Text& text, const std::vector<PathStep>& path) {
  auto tree = tree_of(text);
  if (!tree) return fail(tree.error());
  const auto found = find_node(tree->root, path);
  if (!found) return fail(found.error());
  if (found->value == nullptr)
    return fail(Code::kNotFound, describe_missing(tree->root, path, text.name).text());
  const auto& value = *found->value;
  const Offsets offsets(text.text);
  if (found->single) {
    const auto start = offsets.of(value.at);
    return without_item(text.text, start, offsets.value_end(start));
  }
  const bool header = (value.sort == Node::Sort::kTable && !is_inline(text.text, offsets, value)) ||
                      (value.sort == Node::Sort::kList && value.origin == Node::Origin::kHeader);
  if (header)
    return fail(Code::kInvalid, fmt::format("{} is a section: remove it with `rdma-configctl edit`",
                                            path_text(path, path.size())));
  const auto& whole = text.text;
  if (found->entry != found->home && is_inline(whole, offsets, *found->home))
    return fail(Code::kInvalid,
                fmt::format("{} is in an inline table, under a dotted key; set {} as a whole",
                            path_text(path, path.size()), path_text(path, found->home_steps)));
  auto start = offsets.of(value.key);
  auto end = offsets.value_end(offsets.of(value.at));
  if (found->entry != nullptr && is_inline(whole, offsets, *found->entry)) {
    const auto next = whole.find_first_not_of(" \t", end);
    if (next != std::string::npos && whole[next] == ',') {
      end = whole.find_first_not_of(" \t", next + 1);
    } else if (const auto before = whole.find_last_not_of(" \t", start - 1); whole[before] == ',') {
      start = before;
    }
    return whole.substr(0, start) + whole.substr(end);
  }
  return whole.substr(0, offsets.line_start(start)) + whole.substr(offsets.line_end(end));
}

}  // namespace rdmacfg::ctl
