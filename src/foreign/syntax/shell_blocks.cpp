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

ShellBlocks::Truth ShellBlocks::opposite(Truth truth) {
  if (truth == Truth::kUnknown) return truth;
  return truth == Truth::kHolds ? Truth::kFails : Truth::kHolds;
}

ShellBlocks::Truth ShellBlocks::both(Truth first, Truth second) { return std::min(first, second); }
ShellBlocks::Truth ShellBlocks::either(Truth first, Truth second) { return std::max(first, second); }

void ShellBlocks::begin() {
  blocks_.clear();
  functions_.clear();
  left_.clear();
  function_.clear();
  alternatives_.clear();
  follow("");
}

/// The joint decides whether the command behind it runs.
void ShellBlocks::follow(std::string_view joint) {
  negated_ = false;
  if (joint == "|") return;  // as the command before it
  if (joint == "||") {
    chain_ = status_ == Truth::kFails ? "" : "runs only where the command before it fails";
    chain_runs_ = opposite(status_);
  } else if (joint == "&&") {
    chain_ = status_ == Truth::kHolds ? "" : "runs only where the command before it succeeds";
    chain_runs_ = status_;
  } else {
    chain_.clear();
    chain_runs_ = status_ = Truth::kHolds;
    tests_ = true;
  }
  joint_ = joint == "||" || joint == "&&" ? joint.front() : char{0};
  before_ = status_;
  before_tests_ = tests_;
}

/// How the command that was read ends.
void ShellBlocks::note(Truth truth, Command command) {
  tests_ = before_tests_ && command == Command::kTest;
  if (joint_ == '&') {
    status_ = both(before_, truth);
  } else if (joint_ == '|' && before_ != Truth::kFails) {
    // A command with || behind it is one that fails at times.
    status_ = before_ == Truth::kHolds && before_tests_ ? before_ : Truth::kUnknown;
  } else {
    status_ = truth;
  }
}

void ShellBlocks::open(std::string_view end, std::string why) {
  Block block;
  block.end = end;
  block.why = std::move(why);
  block.usual = block.why;
  block.outer = blocks_.empty() ? left_ : reason_of(blocks_.back());
  // A block behind && or || is all that the line depends on.
  if (block.outer.empty()) block.outer = chain_;
  blocks_.push_back(std::move(block));
}

void ShellBlocks::close(std::string_view end) {
  const auto at =
      std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const Block& block) { return block.end == end; });
  if (at == blocks_.rend()) return;
  blocks_.erase(std::prev(at.base()), blocks_.end());
}

/// "if", "while", "for", "case", "{" and "(", with the words of theirs that set nothing.
bool ShellBlocks::opens(std::string_view word, std::string_view& rest, int line) {
  const auto says = [&] { return fmt::format("runs only under the `{}` in line {}", word, line); };
  if (word == "if" || word == "while" || word == "until") {
    open(word == "if" ? "fi" : "done", word == "if" ? std::string() : says());
    blocks_.back().usual = says();
    blocks_.back().deciding = true;
    rest = behind(rest, word);
    return true;
  }
  if (word == "for" || word == "select") {
    open("done", says());
    rest = {};
    return true;
  }
  if (word == "case") {
    const auto subject = head_of(behind(rest, word));
    open("esac", says());
    blocks_.back().argument = is_argument(subject);
    blocks_.back().pattern = true;
    rest = behind(behind(rest, word), subject);
    if (head_of(rest) == "in") rest = behind(rest, "in");
    return true;
  }
  const bool subshell = word.starts_with('(') && !word.starts_with("((");
  if (word != "{" && !subshell) return false;
  const bool known = function_.empty() || called_.contains(function_);
  open(subshell ? ")" : "}",
       known ? std::string() : fmt::format("runs only where the function in line {} is called", line));
  blocks_.back().function = !function_.empty();
  blocks_.back().runs = function_.empty() ? chain_runs_ : Truth::kHolds;
  function_.clear();
  rest = base::trim(rest.substr(1));
  return true;
}

/// "then", "else", "fi" and their like.
bool ShellBlocks::closes_or_turns(std::string_view word, std::string_view& rest) {
  for (const std::string_view end : {"fi", "done", "esac", "}", ")"}) {
    if (word != end) continue;
    close(end);
    rest = {};  // where its output goes
    return true;
  }
  if (word == "!") {
    negated_ = !negated_;
  } else if (word == "then" || word == "do") {
    if (!blocks_.empty()) blocks_.back().deciding = false;
  } else if (word == "else" || word == "elif") {
    turn(word == "elif" ? Branch::kElif : Branch::kElse);
  } else {
    return false;
  }
  rest = behind(rest, word);
  return true;
}

/// The next branch of an `if`.
void ShellBlocks::turn(Branch branch) {
  if (blocks_.empty()) return;
  auto& block = blocks_.back();
  block.earlier = either(block.earlier, block.condition);
  block.condition = Truth::kUnknown;
  block.runs = opposite(block.earlier);
  block.why = block.runs == Truth::kHolds ? std::string() : block.usual;
  block.judged = false;
  block.deciding = branch == Branch::kElif;
}

/// "name() {", "name () {" and "function name {"; the brace may stand in the next line.
bool ShellBlocks::is_function(std::string_view word, std::string_view& rest) {
  const auto more = behind(rest, word);
  auto name = word;
  if (word == "function") {
    name = head_of(more);
    rest = behind(more, name);
    if (name.ends_with("()")) name.remove_suffix(2);
    if (rest.starts_with("()")) rest = base::trim(rest.substr(2));
  } else if (word.size() > 2 && word.ends_with("()")) {
    name.remove_suffix(2);
    rest = more;
  } else if (word.size() > 3 && word.ends_with("(){")) {
    name.remove_suffix(3);
    rest = rest.substr(word.size() - 1);
  } else if (more.starts_with("()")) {
    rest = base::trim(more.substr(2));
  } else {
    return false;
  }
  if (name.empty()) return false;
  function_ = name;
  functions_.insert(function_);
  return true;
}

/// "ib0)" in a `case`, and the patterns of "up|pre-up)" before the last.
bool ShellBlocks::is_pattern_of_case(std::string_view word, std::string_view& rest) {
  if (blocks_.empty() || blocks_.back().end != "esac" || !blocks_.back().pattern || word == "esac")
    return false;
  auto& block = blocks_.back();
  auto pattern = word;
  if (pattern.starts_with('(')) pattern.remove_prefix(1);
  if (!ends_pattern(word)) {
    block.pattern = word.size() == rest.size();  // else the pattern is not understood
    if (!block.pattern) return false;
    alternatives_.push_back(without_marks(pattern));
    rest = {};
    return true;
  }
  pattern.remove_suffix(1);
  Truth truth = Truth::kUnknown;
  if (block.argument && pattern == "*" && alternatives_.empty()) {
    truth = opposite(block.earlier);
  } else if (block.argument) {
    truth = judge_value(without_marks(pattern));
    for (const auto& other : alternatives_) {
      if (judge_value(other) != truth) truth = Truth::kUnknown;
    }
  }
  alternatives_.clear();
  block.earlier = either(block.earlier, truth);
  block.runs = truth;
  block.why = truth == Truth::kHolds ? std::string() : block.usual;
  block.pattern = false;
  rest = behind(rest, word);
  return true;
}

/// Arguments of a hook; within a function $1 and $2 are the function's own.
bool ShellBlocks::is_argument(std::string_view word) const {
  const auto name = without_marks(word);
  if (std::find(kArguments.begin(), kArguments.end(), name) == kArguments.end()) return false;
  if (name != "$1" && name != "$2") return true;
  return std::none_of(blocks_.begin(), blocks_.end(), [](const Block& block) { return block.function; });
}

/// Whether an argument of a hook has this value when the script matters.
ShellBlocks::Truth ShellBlocks::judge_value(std::string_view value) const {
  if (value.empty() || value.find_first_of("*?[$`") != std::string_view::npos) return Truth::kUnknown;
  return is_usual_(value) ? Truth::kHolds : Truth::kFails;
}

/// Whether a test holds when the script matters: "[ -d /sys/class/net/ib0 ]", "test "$1" = ib0".
ShellBlocks::Truth ShellBlocks::judge(std::string_view test) const {
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
  if (!is_test) return Truth::kUnknown;
  const bool inverted = !words.empty() && words.front() == "!";
  if (inverted) words.erase(words.begin());
  const auto truth = judge_words(words);
  return inverted ? opposite(truth) : truth;
}

ShellBlocks::Truth ShellBlocks::judge_words(const std::vector<std::string>& words) const {
  if (words.size() == 2) {
    if (words[0] == "-n" && is_argument(words[1])) return Truth::kHolds;
    if (words[0] == "-z" && is_argument(words[1])) return Truth::kFails;
    constexpr auto kThere = std::to_array<std::string_view>({"-e", "-f", "-d", "-w"});
    const bool there = std::find(kThere.begin(), kThere.end(), words[0]) != kThere.end() &&
                       words[1].starts_with("/sys/class/net/");
    return there ? Truth::kHolds : Truth::kUnknown;
  }
  if (words.size() != 3) return Truth::kUnknown;
  const bool differs = words[1] == "!=";
  if (!differs && words[1] != "=" && words[1] != "==") return Truth::kUnknown;
  auto truth = Truth::kUnknown;
  if (is_argument(words[0])) {
    truth = judge_value(words[2]);
  } else if (is_argument(words[2])) {
    truth = judge_value(words[0]);
  }
  return differs ? opposite(truth) : truth;
}

/// A command of the condition of an `if`; of a loop nobody knows how often it runs.
void ShellBlocks::decide(Block& block, std::string_view joint, Truth truth) {
  if (!block.judged || (joint != "&&" && joint != "||" && joint != "|")) {
    block.condition = truth;
  } else if (joint == "&&") {
    block.condition = both(block.condition, truth);
  } else if (joint == "|" || block.condition != truth) {
    block.condition = Truth::kUnknown;
  }
  block.judged = true;
  if (block.end != "fi") return;
  block.runs = both(opposite(block.earlier), block.condition);
  block.why = block.runs == Truth::kHolds ? std::string() : block.usual;
}

/// An `exit` or `return`: the rest of the function, subshell or script runs only where this one does not.
void ShellBlocks::leave(const std::vector<std::string_view>& words, ShellCommand& command,
                        std::string_view joint, int line) {
  if (joint == "|") return;
  command.ends = command.depth == 0 && joint != "||" && joint != "&&" && words.front() == "exit";
  const bool failure = words.size() > 1 && words[1] != "0" &&
                       words[1].find_first_not_of("0123456789") == std::string_view::npos;
  auto from = blocks_.size();
  while (from > 0 && !blocks_[from - 1].function && blocks_[from - 1].end != ")") --from;
  const bool of_script = from == 0;
  if (!of_script) --from;
  bool never = chain_runs_ == Truth::kFails;
  for (auto at = from; at < blocks_.size(); ++at) never = never || blocks_[at].runs == Truth::kFails;
  if (failure || never || command.ends) return;
  const auto* what = of_script ? "script" : blocks_[from].function ? "function" : "subshell";
  const auto reason = fmt::format("runs only where the {} does not end in line {}", what, line);
  for (auto at = from; at < blocks_.size(); ++at) {
    if (blocks_[at].outer.empty()) blocks_[at].outer = reason;
  }
  if (of_script && left_.empty()) left_ = reason;
}

ShellCommand ShellBlocks::next(const Part& part, int line) {
  follow(part.joint);
  if (part.joint == ";;" && !blocks_.empty() && blocks_.back().end == "esac") {
    blocks_.back().pattern = true;
    alternatives_.clear();
  }
  auto rest = base::trim(part.text);
  const auto before = blocks_.size();
  while (!rest.empty()) {
    const auto word = head_of(rest);
    const bool reserved = is_pattern_of_case(word, rest) || closes_or_turns(word, rest) ||
                          is_function(word, rest) || opens(word, rest, line);
    if (!reserved) break;
  }
  ShellCommand out;
  out.text = rest;
  out.depth = blocks_.size();
  out.block = blocks_.empty() ? left_ : reason_of(blocks_.back());
  out.chain = blocks_.size() > before ? std::string() : chain_;
  if (rest.empty()) return out;
  out.test = is_shell_test(rest);
  function_.clear();
  auto truth = out.test ? judge(rest) : Truth::kHolds;
  if (negated_) truth = opposite(truth);
  note(truth, out.test ? Command::kTest : Command::kOther);
  auto* inner = blocks_.empty() ? nullptr : &blocks_.back();
  if (inner != nullptr && inner->deciding) {
    out.decides = true;
    decide(*inner, part.joint, out.test ? truth : Truth::kUnknown);
  }
  const auto words = words_of(rest);
  if (words.front() == "exit" || words.front() == "return") leave(words, out, part.joint, line);
  // "(a; b)": the end of a subshell behind its last command.
  if (inner != nullptr && inner->end == ")" && rest.ends_with(')') &&
      std::count(rest.begin(), rest.end(), ')') > std::count(rest.begin(), rest.end(), '(')) {
    out.text = base::trim(rest.substr(0, rest.size() - 1));
    close(")");
  }
  return out;
}

}  // namespace rdmacfg::foreign
