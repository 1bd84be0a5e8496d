// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/shell_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "foreign/claims.hpp"
#include "foreign/syntax/shell_heads.hpp"
#include "foreign/syntax/shell_line.hpp"
#include "foreign/syntax/shell_script.hpp"
#include "foreign/syntax/shell_word_list.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::size_t kMostVariables = 256;
constexpr std::size_t kMostLoopCharacters = 4U << 20U;
constexpr std::size_t kMostScriptLines = 20000;

using Variables = std::map<std::string, LoopWords, std::less<>>;

std::string_view first_word(std::string_view text) { return text.substr(0, text.find_first_of(" \t")); }

/// The text with the value in place of $NAME and ${NAME}, but where the shell sees no variable.
std::string with_value(std::string_view text, std::string_view name, std::string_view value) {
  std::string out;
  bool single = false, twice = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\'' && !twice) single = !single;
    if (c == '"' && !single) twice = !twice;
    if (c == '\\' && !single && at + 1 < text.size()) {
      out += c;
      out += text[++at];
      continue;
    }
    if (c == '$' && !single) {
      auto rest = text.substr(at + 1);
      const bool braced = rest.starts_with('{');
      if (braced) rest.remove_prefix(1);
      const auto behind = rest.substr(std::min(name.size(), rest.size()));
      const bool ends = braced ? behind.starts_with('}') : behind.empty() || !is_name_character(behind[0]);
      if (rest.starts_with(name) && ends) {
        out += value;
        at += name.size() + (braced ? 2U : 0U);
        continue;
      }
    }
    out += c;
  }
  return out;
}

struct Assignment {
  std::string name;
  std::string_view value;
};

/// "NAME=VALUE" that is all of a line, with `export` and the like.
std::optional<Assignment> assignment_of(std::string_view line) {
  for (const std::string_view word : {"export ", "readonly ", "declare -a ", "declare "}) {
    if (line.starts_with(word)) line = base::trim(line.substr(word.size()));
  }
  const auto equals = line.find('=');
  if (equals == std::string_view::npos || !is_variable_name(line.substr(0, equals))) return std::nullopt;
  return Assignment{std::string(line.substr(0, equals)), line.substr(equals + 1)};
}

/// Whether the shell looks for its own words behind this one: "then", "ib*)".
bool comes_before_command(std::string_view word) {
  constexpr auto kWords =
      std::to_array<std::string_view>({"if", "while", "until", "then", "elif", "else", "do", "!", "{"});
  return word.ends_with(')') || std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// Whether a line reads a file as a part of the script, or a text, which may change any variable.
bool reads_script(std::string_view line) {
  for (const auto& part : parts_of(line)) {
    for (const auto word : words_of(part.text)) {
      if (word == "." || word == "source" || word == "eval") return true;
      if (!comes_before_command(word)) break;
    }
  }
  return false;
}

/// How many blocks a line opens, less those that it closes.
int depth_of(std::string_view line) {
  constexpr auto kOpening =
      std::to_array<std::string_view>({"if", "for", "while", "until", "select", "case"});
  constexpr auto kClosing = std::to_array<std::string_view>({"fi", "done", "esac"});
  int out = 0;
  for (const auto& part : parts_of(line)) {
    bool begins = true;  // "echo all done" closes nothing
    for (const auto word : words_of(part.text)) {
      const bool opens = begins && std::find(kOpening.begin(), kOpening.end(), word) != kOpening.end();
      const bool closes = begins && std::find(kClosing.begin(), kClosing.end(), word) != kClosing.end();
      if (opens || word == "{" || word.ends_with("(){")) ++out;
      if (closes || word == "}") --out;
      begins = begins && comes_before_command(word);
    }
  }
  return out;
}

/// Names that anything but one assignment in any case gives a value.
std::set<std::string, std::less<>> changing_names(const std::vector<ScriptLine>& lines) {
  std::set<std::string, std::less<>> seen, out;
  for (const auto& line : lines) {
    const auto words = words_of(line.text);
    bool reads = false, loops = false;
    for (auto word : words) {
      while (word.starts_with('"') || word.starts_with(';')) word.remove_prefix(1);
      const auto equals = word.find_first_of("=+");
      const auto name = std::string(word.substr(0, equals));
      if (is_variable_name(name) && (reads || loops)) out.insert(name);
      reads = reads || word == "read" || word == "getopts" || word == "unset" || word == "mapfile" ||
              word == "readarray";
      loops = word == "for" || word == "select";
      if (equals == std::string_view::npos || !is_variable_name(name)) continue;
      if (!seen.insert(name).second) out.insert(name);
    }
  }
  return out;
}

/// Whether a line is one of a here-document, or its end. @param end  of the one that the lines are in
bool is_in_text(const std::string& line, std::string& end) {
  if (end.empty()) {
    end = end_of_text(line);
    return false;
  }
  if (line == end) end.clear();
  return true;
}

/// "ib0" and "ib1" of "set -- ib0 ib1".
std::optional<LoopWords> set_arguments(std::string_view command) {
  const auto words = words_of(command);
  if (words.size() < 3 || words[0] != "set" || words[1] != "--") return std::nullopt;
  return literal_words(base::trim(command.substr(command.find("--") + 2)));
}

/// Variables of whose value every line behind the assignment may be sure, and "@" for the script's arguments.
void put_values(std::vector<ScriptLine>& lines, Variables& lists) {
  const auto changing = changing_names(lines);
  const bool arguments = keeps_arguments(lines);
  std::map<std::string, std::string, std::less<>> values;
  int depth = 0;
  std::string text_end;
  for (auto& line : lines) {
    if (is_in_text(line.text, text_end)) continue;
    if (line.text.find('$') != std::string::npos) {
      for (const auto& [name, value] : values) line.text = with_value(line.text, name, value);
    }
    if (reads_script(line.text)) {
      values.clear();
      lists.clear();
    }
    const auto parts = parts_of(line.text);  // without a comment
    if (arguments && depth == 0 && parts.size() == 1) {
      if (auto words = set_arguments(parts.front().text)) lists.insert_or_assign("@", std::move(*words));
    }
    const auto assigned = depth == 0 && parts.size() == 1 ? assignment_of(parts.front().text) : std::nullopt;
    depth = std::max(0, depth + depth_of(line.text));
    if (!assigned || changing.contains(assigned->name) || lists.size() >= kMostVariables) continue;
    auto words = assigned_words(assigned->value);
    if (!words) continue;
    const bool array = assigned->value.starts_with('(');
    if (!array && words->size() == 1) values.emplace(assigned->name, words->front());
    lists.emplace(array ? assigned->name + "[@]" : assigned->name, std::move(*words));
  }
}

/// The words of a loop: those of a variable, of a sequence, or the list's own.
std::optional<LoopWords> words_of_list(std::string_view list, const Variables& lists) {
  for (const auto& [name, words] : lists) {
    const auto braced = fmt::format("${{{}}}", name);
    // A quoted string is one word, a quoted array and "$@" are not.
    const bool array = name.ends_with("[@]"), arguments = name == "@";
    const auto plain = "$" + name;
    const bool fits = list == braced || (array && list == '"' + braced + '"') ||
                      (arguments && list == '"' + plain + '"') || (!array && list == plain);
    if (fits) return words;
  }
  auto sequence = sequence_of(list);
  return sequence ? sequence : literal_words(list);
}

/// A loop whose words are known.
struct Loop {
  std::string name;
  LoopWords words;
  std::vector<ScriptLine> body;
  std::optional<ScriptLine> rest;  ///< what stands behind its `done`
  std::size_t lines = 0;           ///< how many it has
};

/// Whether a command of a loop makes that more than a list of its commands.
bool leaves_loop(std::string_view text, const std::string& name) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"for", "while", "until", "select", "case", "break", "continue", "esac"});
  const auto words = words_of(text);
  return text.find("<<") != std::string_view::npos ||
         std::any_of(words.begin(), words.end(), [&](std::string_view word) {
           return std::find(kWords.begin(), kWords.end(), word) != kWords.end() ||
                  word.starts_with(name + "=");
         });
}

/// Whether nothing but the loop's output is redirected at its `done`. Input, and output into the kernel,
/// belong to the loop as a whole.
bool only_ends_loop(std::string_view done) {
  const auto rest = base::trim(done.substr(first_word(done).size()));
  const bool output =
      rest.starts_with('>') || rest.starts_with("1>") || rest.starts_with("2>") || rest.starts_with("&>");
  return rest.empty() ||
         (output && rest.find('<') == std::string_view::npos && rest.find("/sys/") == std::string_view::npos);
}

/// Whether a loop becomes more lines or characters than a script may have.
bool is_too_long(const Loop& loop, std::size_t lines_before) {
  std::size_t longest = 1, characters = 0;
  for (const auto& word : loop.words) longest = std::max(longest, word.size());
  for (const auto& line : loop.body) characters += line.text.size();
  return lines_before + loop.words.size() * loop.body.size() > kMostScriptLines ||
         characters * loop.words.size() * longest > kMostLoopCharacters;
}

void append_part(std::string& text, const Part& part, std::string_view command) {
  if (part.joint == ";;" && command.empty()) text += " ;;";
  if (command.empty()) return;
  if (!text.empty()) text += fmt::format("{} ", part.joint == ";" ? ";" : fmt::format(" {}", part.joint));
  text += command;
}

/// Reads "for NAME in WORDS", and "for NAME" for the arguments of the script; nothing where the words are not
/// known.
std::optional<Loop> head_of_loop(const Part& part, const Variables& lists) {
  const auto words = words_of(part.text);
  if (const auto at = lists.find("@");
      words.size() == 2 && words[0] == "for" && is_variable_name(words[1]) && at != lists.end()) {
    Loop out;
    out.name = std::string(words[1]);
    out.words = at->second;
    return out;
  }
  if (words.size() < 4 || words[0] != "for" || words[2] != "in" || !is_variable_name(words[1]))
    return std::nullopt;
  const auto from = static_cast<std::size_t>(words[3].data() - part.text.data());
  auto values = words_of_list(base::trim(part.text.substr(from)), lists);
  if (!values) return std::nullopt;
  Loop out;
  out.name = std::string(words[1]);
  out.words = std::move(*values);
  return out;
}

/// The loop that begins with a line; nothing where that is none, or not one whose commands are known.
std::optional<Loop> loop_at(const std::vector<ScriptLine>& lines, std::size_t at, const Variables& lists) {
  const auto first = without_counting(lines[at].text);
  auto parts = parts_of(first);
  if (parts.empty()) return std::nullopt;
  auto out = head_of_loop(parts.front(), lists);
  if (!out) return std::nullopt;
  parts.erase(parts.begin());
  bool began = false;
  for (auto line = at; line < lines.size(); ++line) {
    if (line > at) parts = parts_of(lines[line].text);
    ScriptLine inner{{}, lines[line].number};
    for (std::size_t which = 0; which < parts.size(); ++which) {
      auto text = parts[which].text;
      if (!began) {
        if (first_word(text) != "do") return std::nullopt;
        began = true;
        text = base::trim(text.substr(2));
      } else if (first_word(text) == "done") {
        if (!only_ends_loop(text) || (which + 1 < parts.size() && parts[which + 1].joint != ";"))
          return std::nullopt;
        if (!inner.text.empty()) out->body.push_back(std::move(inner));
        ScriptLine rest{{}, lines[line].number};
        for (++which; which < parts.size(); ++which) append_part(rest.text, parts[which], parts[which].text);
        if (!rest.text.empty()) out->rest = std::move(rest);
        out->lines = line - at + 1;
        return out;
      }
      if (leaves_loop(text, out->name)) return std::nullopt;
      append_part(inner.text, parts[which], text);
    }
    if (!inner.text.empty()) out->body.push_back(std::move(inner));
  }
  return std::nullopt;
}

/// The value that a `printf` or `echo` writes, as an `echo`; empty where it is not a single word.
std::string echo_of(std::string_view command) {
  const auto words = shell_words(command, "$IFACE");
  return words.size() == 2 && words[0] == "echo" ? fmt::format("echo {}", words[1]) : std::string();
}

/// The files of `tee`; none where it is another command.
std::vector<std::string> files_of_tee(std::string_view command) {
  const auto words = shell_words(command, "$IFACE");
  std::vector<std::string> out;
  if (words.empty() || words.front() != "tee") return out;
  for (std::size_t at = 1; at < words.size() && words[at] != ">"; ++at) {
    if (!words[at].starts_with('-')) out.push_back(words[at]);
  }
  return out;
}

}  // namespace

std::vector<ScriptLine> spell_out_script(std::vector<ScriptLine> lines) {
  Variables lists;
  put_values(lines, lists);
  std::vector<ScriptLine> out;
  std::string text_end;
  for (std::size_t at = 0; at < lines.size();) {
    const bool text = is_in_text(lines[at].text, text_end);
    const auto loop = !text && lines[at].text.starts_with("for ") ? loop_at(lines, at, lists) : std::nullopt;
    if (!loop || is_too_long(*loop, out.size())) {
      out.push_back(std::move(lines[at++]));
      continue;
    }
    bool again = false;
    for (const auto& word : loop->words) {
      for (const auto& line : loop->body)
        out.push_back({with_value(line.text, loop->name, word), line.number, again});
      again = true;
    }
    if (loop->rest) out.push_back(*loop->rest);
    at += loop->lines;
  }
  for (auto& line : out) line.text = spell_out_tee(line.text);
  return out;
}

std::string spell_out_tee(std::string_view line) {
  if (line.find("tee") == std::string_view::npos) return std::string(line);
  const auto parts = parts_of(line);
  std::string out;
  bool any = false;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const bool piped = at + 1 < parts.size() && parts[at + 1].joint == "|" &&
                       (at + 2 == parts.size() || parts[at + 2].joint != "|");
    const auto files = piped ? files_of_tee(parts[at + 1].text) : std::vector<std::string>();
    const auto echo = files.empty() ? std::string() : echo_of(parts[at].text);
    if (echo.empty()) {
      append_part(out, parts[at], parts[at].text);
      continue;
    }
    any = true;
    append_part(out, parts[at], fmt::format("{} > {}", echo, files.front()));
    for (std::size_t file = 1; file < files.size(); ++file)
      append_part(out, {"&&", {}}, fmt::format("{} > {}", echo, files[file]));
    ++at;
  }
  return any ? out : std::string(line);
}

}  // namespace rdmacfg::foreign
