// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/shell_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

namespace {

/// Arguments and variables in which hooks are told their interface and what happened to it: dispatchers of
/// NetworkManager and networkd, interfaces(5).
constexpr auto kArguments = std::to_array<std::string_view>(
    {"$1", "$2", "$IFACE", "$INTERFACE", "$DEVICE_IFACE", "$DEVICE_IP_IFACE", "$ACTION",
     "$NM_DISPATCHER_ACTION", "$MODE", "$PHASE", "$STATE", "$OperationalState", "$AdministrativeState"});

std::string without_marks(std::string_view text) {
  std::string out(text);
  std::erase_if(out, [](char c) { return c == '"' || c == '\'' || c == '{' || c == '}'; });
  return out;
}

bool is_argument(std::string_view word) {
  return std::find(kArguments.begin(), kArguments.end(), without_marks(word)) != kArguments.end();
}

/// The first word of a text, and what follows it.
std::string_view head_of(std::string_view text) { return text.substr(0, text.find_first_of(" \t")); }
std::string_view behind(std::string_view text, std::string_view word) {
  return base::trim(text.substr(word.size()));
}

bool ends_pattern(std::string_view word) {
  return word.ends_with(')') && word.find('(', 1) == std::string_view::npos && word.size() > 1;
}

/// Also the parts of a "[[ … && … ]]".
bool is_shell_test(std::string_view text) {
  return text.starts_with("[ ") || text.starts_with("[[") || text.starts_with("test ") ||
         text.ends_with("]]");
}

}  // namespace

void ShellBlocks::begin() {
  blocks_.clear();
  chain_.clear();
  certain_ = true;
  function_ = false;
}

void ShellBlocks::open(std::string_view end, std::string why) {
  Block block;
  block.end = end;
  // A block behind && or || is all that the line depends on.
  block.why = why.empty() ? chain_ : std::move(why);
  block.usual = block.why;
  if (!blocks_.empty()) block.outer = reason_of(blocks_.back());
  blocks_.push_back(std::move(block));
}

void ShellBlocks::close(std::string_view end) {
  const auto at =
      std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const Block& one) { return one.end == end; });
  if (at == blocks_.rend()) return;
  blocks_.erase(std::prev(at.base()), blocks_.end());
}

/// "if", "while", "for", "case", "{" and "(", with the words of theirs that set nothing.
bool ShellBlocks::opens(std::string_view word, std::string_view& command, int line) {
  const auto says = [&] { return fmt::format("runs only as the `{}` in line {} says", word, line); };
  if (word == "if" || word == "while" || word == "until") {
    open(word == "if" ? "fi" : "done", word == "if" ? std::string() : says());
    blocks_.back().usual = says();
    blocks_.back().deciding = true;
    command = behind(command, word);
    return true;
  }
  if (word == "for" || word == "select") {
    open("done", says());
    command = {};
    return true;
  }
  if (word == "case") {
    const auto subject = head_of(behind(command, word));
    open("esac", says());
    blocks_.back().argument = is_argument(subject);
    command = behind(behind(command, word), subject);
    if (head_of(command) == "in") command = behind(command, "in");
    return true;
  }
  const bool subshell = word.starts_with('(') && !word.starts_with("((");
  if (word != "{" && !subshell) return false;
  open(subshell ? ")" : "}",
       function_ ? fmt::format("runs only where the function in line {} is called", line) : std::string());
  function_ = false;
  command = base::trim(command.substr(1));
  return true;
}

/// "then", "else", "fi" and their like.
bool ShellBlocks::closes_or_turns(std::string_view word, std::string_view& command) {
  for (const std::string_view end : {"fi", "done", "esac", "}", ")"}) {
    if (word != end) continue;
    close(end);
    command = {};  // where its output goes
    return true;
  }
  if (word == "!") {
    // `while` and `until` depend on theirs anyway.
    if (!blocks_.empty() && blocks_.back().deciding) blocks_.back().why = blocks_.back().usual;
  } else if (word == "then" || word == "do") {
    if (!blocks_.empty()) blocks_.back().deciding = false;
  } else if (word == "else" || word == "elif") {
    if (!blocks_.empty()) {
      blocks_.back().why = blocks_.back().usual;
      blocks_.back().deciding = word == "elif";
    }
  } else {
    return false;
  }
  command = behind(command, word);
  return true;
}

/// "name() {", "name () {" and "function name {"; the brace may stand in the next line.
bool ShellBlocks::is_function(std::string_view word, std::string_view& command) {
  const auto more = behind(command, word);
  if (word == "function") {
    command = behind(more, head_of(more));
    if (command.starts_with("()")) command = base::trim(command.substr(2));
  } else if (word.size() > 2 && word.ends_with("()")) {
    command = more;
  } else if (word.size() > 3 && word.ends_with("(){")) {
    command = command.substr(word.size() - 1);
  } else if (more.starts_with("()")) {
    command = base::trim(more.substr(2));
  } else {
    return false;
  }
  function_ = true;
  return true;
}

/// "ib0)" in a `case`. @param alternative  behind another pattern and '|'
bool ShellBlocks::is_pattern_of_case(std::string_view word, std::string_view& command, bool alternative) {
  if (blocks_.empty() || blocks_.back().end != "esac" || !ends_pattern(word)) return false;
  auto& block = blocks_.back();
  auto pattern = word.substr(0, word.size() - 1);
  if (pattern.starts_with('(')) pattern.remove_prefix(1);
  const bool met = block.argument && !alternative && is_usual_(without_marks(pattern));
  block.why = met ? std::string() : block.usual;
  command = behind(command, word);
  return true;
}

/// Whether a test holds when the script matters: "[ -d /sys/class/net/ib0 ]", "test "$1" = ib0".
bool ShellBlocks::holds(std::string_view test) const {
  std::vector<std::string> words;
  for (const auto word : words_of(test)) words.push_back(without_marks(word));
  bool is_test = false;
  if (!words.empty() && (words.front() == "[" || words.front() == "[[" || words.front() == "test")) {
    words.erase(words.begin());
    is_test = true;
  }
  if (!words.empty() && (words.back() == "]" || words.back() == "]]")) {
    words.pop_back();
    is_test = true;
  }
  if (!is_test) return false;
  if (words.size() == 2) {
    constexpr auto kThere = std::to_array<std::string_view>({"-e", "-f", "-d", "-w"});
    return std::find(kThere.begin(), kThere.end(), words[0]) != kThere.end() &&
           words[1].starts_with("/sys/class/net/");
  }
  if (words.size() != 3 || (words[1] != "=" && words[1] != "==")) return false;
  return (is_argument(words[0]) && is_usual_(words[2])) || (is_argument(words[2]) && is_usual_(words[0]));
}

ShellCommand ShellBlocks::next(const Part& part, int line) {
  if (part.joint == "||") {
    chain_ = "runs only where the command before it fails";
    certain_ = false;
  } else if (part.joint == "&&") {
    chain_ = certain_ ? std::string() : "runs only where the command before it succeeds";
  } else if (part.joint != "|") {
    chain_.clear();
    certain_ = true;
  }
  auto rest = base::trim(part.text);
  const auto before = blocks_.size();
  while (!rest.empty()) {
    const auto word = head_of(rest);
    const bool reserved = is_pattern_of_case(word, rest, part.joint == "|") || closes_or_turns(word, rest) ||
                          is_function(word, rest) || opens(word, rest, line);
    if (!reserved) break;
  }
  ShellCommand out;
  out.text = rest;
  out.depth = blocks_.size();
  if (!blocks_.empty()) out.block = reason_of(blocks_.back());
  out.chain = blocks_.size() > before ? std::string() : chain_;
  if (rest.empty()) return out;
  out.test = is_shell_test(rest);
  function_ = false;
  auto* inner = blocks_.empty() ? nullptr : &blocks_.back();
  if (inner != nullptr && inner->deciding) {
    out.decides = true;
    const bool either = part.joint == "|" || (part.joint == "||" && blocks_.size() == before);
    if (either || !holds(rest)) inner->why = inner->usual;
  } else if (out.test) {
    certain_ = certain_ && holds(rest);
  }
  // "(a; b)": the end of a subshell behind its last command.
  if (inner != nullptr && inner->end == ")" && rest.ends_with(')') &&
      std::count(rest.begin(), rest.end(), ')') > std::count(rest.begin(), rest.end(), '(')) {
    out.text = base::trim(rest.substr(0, rest.size() - 1));
    close(")");
  }
  return out;
}

}  // namespace rdmacfg::foreign
