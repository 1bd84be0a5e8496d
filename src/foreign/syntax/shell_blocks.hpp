// SPDX-License-Identifier: Apache-2.0
// Which commands of a shell script run in any case: if, for, while, case, functions, && and || around them.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foreign/syntax/shell_line.hpp"

namespace rdmacfg::foreign {

/// A simple command of a script, and what it depends on.
struct ShellCommand {
  std::string_view
      text;              ///< without the words of the shell in front of it; empty where there is nothing else
  std::string block;     ///< why it may not run, by what is around it; empty: it runs
  std::string chain;     ///< the same, by the command before it on its line
  bool decides = false;  ///< between `if` and `then`, `while` and `do`
  bool test = false;     ///< "[ … ]", which sets nothing and is considered already
  bool ends = false;     ///< an `exit` that runs in any case: nothing behind it does
  std::size_t depth = 0;  ///< how many blocks it is in

  /// Why it may not run; empty: it runs.
  [[nodiscard]] const std::string& condition() const { return block.empty() ? chain : block; }
};

/// Follows a script from command to command. Tests that hold whenever the script matters count as none: that
/// an interface is there, and that a hook runs for it. Behind an early `exit` or `return` the rest depends on
/// its condition; one with another status than 0 tells of a failure, as no command of a sound host has it.
class ShellBlocks {
 public:
  using Names = std::set<std::string, std::less<>>;

  /// @param is_usual  whether a hook's argument has this value when the script matters: "ib0", "up"
  explicit ShellBlocks(std::function<bool(std::string_view value)> is_usual)
      : is_usual_(std::move(is_usual)) {}

  /// Before the first command of a script. The functions that are called stay known.
  void begin();
  /// The commands in their order, as parts_of() has them. @param line  of the script, for reasons
  ShellCommand next(const Part& part, int line);
  /// The command before may fail: whatever && joins to it may not run.
  void warn_of_implausible() { note(Truth::kUnknown, Command::kOther); }

  /// Functions that the script calls in any case: their commands run.
  void set_called(Names names) { called_ = std::move(names); }
  [[nodiscard]] const Names& called() const { return called_; }
  /// The functions that were defined since begin().
  [[nodiscard]] const Names& functions() const { return functions_; }

 private:
  /// Knowledge of a condition, for when the script matters.
  enum class Truth { kFails, kUnknown, kHolds };
  enum class Command { kTest, kOther };
  enum class Branch { kElse, kElif };

  struct Block {
    std::string_view end;   ///< "fi", "done", "esac", "}" or ")"
    std::string why;        ///< why its commands may not run
    std::string outer;      ///< why the block itself may not run, by what is around it or before it
    std::string usual;      ///< `why`, where its condition does not hold
    bool deciding = false;  ///< its condition is being read
    bool judged = false;    ///< a command of the condition was read
    bool argument = false;  ///< a `case` about an argument of a hook
    bool pattern = false;   ///< a `case` whose next word is a pattern
    bool function = false;
    Truth condition = Truth::kUnknown;
    Truth earlier = Truth::kFails;  ///< whether a branch before this one is taken
    Truth runs = Truth::kUnknown;   ///< its commands
  };

  static const std::string& reason_of(const Block& block) {
    return block.outer.empty() ? block.why : block.outer;
  }
  static Truth opposite(Truth truth);
  static Truth both(Truth first, Truth second);
  static Truth either(Truth first, Truth second);

  void follow(std::string_view joint);
  void note(Truth truth, Command command);
  void open(std::string_view end, std::string why);
  void close(std::string_view end);
  bool opens(std::string_view word, std::string_view& rest, int line);
  bool closes_or_turns(std::string_view word, std::string_view& rest);
  void turn(Branch branch);
  bool is_function(std::string_view word, std::string_view& rest);
  bool is_pattern_of_case(std::string_view word, std::string_view& rest);
  void decide(Block& block, std::string_view joint, Truth truth);
  void leave(const std::vector<std::string_view>& words, ShellCommand& command, std::string_view joint,
             int line);
  [[nodiscard]] bool is_argument(std::string_view word) const;
  [[nodiscard]] Truth judge(std::string_view test) const;
  [[nodiscard]] Truth judge_words(const std::vector<std::string>& words) const;
  [[nodiscard]] Truth judge_value(std::string_view value) const;

  std::function<bool(std::string_view value)> is_usual_;
  Names called_, functions_;
  std::vector<Block> blocks_;
  std::string left_;   ///< why what is in no block may not run, by an `exit` before it
  std::string chain_;  ///< why the command that is being read may not run, by the one before it
  Truth chain_runs_ = Truth::kHolds;
  Truth status_ = Truth::kHolds;  ///< whether the commands of the list have succeeded so far
  bool tests_ = true;             ///< all of them are tests
  Truth before_ = Truth::kHolds;  ///< status_ without the command that is being read
  bool before_tests_ = true;
  char joint_ = 0;                         ///< '&' or '|' of && and ||
  bool negated_ = false;                   ///< a '!' stands before the command
  std::vector<std::string> alternatives_;  ///< patterns of a `case` before a '|'
  std::string function_;                   ///< its head was read, its body comes
};

}  // namespace rdmacfg::foreign
