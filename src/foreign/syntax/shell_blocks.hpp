// SPDX-License-Identifier: Apache-2.0
// Which commands of a shell script run in any case: if, for, while, case, functions, && and || around them.
#pragma once

#include <cstddef>
#include <functional>
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
  std::size_t depth = 0;  ///< how many blocks it is in

  /// Why it may not run; empty: it runs.
  [[nodiscard]] const std::string& condition() const { return block.empty() ? chain : block; }
};

/// Follows a script from command to command. Tests that hold whenever the script matters count as none: that
/// an interface is there, and that a hook runs for it. An early `exit` is not considered.
class ShellBlocks {
 public:
  /// @param is_usual  whether a hook's argument has this value when the script matters: "ib0", "up"
  explicit ShellBlocks(std::function<bool(std::string_view value)> is_usual)
      : is_usual_(std::move(is_usual)) {}

  /// Before the first command of a script.
  void begin();
  /// The commands in their order, as parts_of() has them. @param line  of the script, for reasons
  ShellCommand next(const Part& part, int line);
  /// The command before may fail: whatever && joins to it may not run.
  void warn_of_implausible() { certain_ = false; }

 private:
  struct Block {
    std::string_view end;   ///< "fi", "done", "esac", "}" or ")"
    std::string why;        ///< why its commands may not run
    std::string outer;      ///< why the block itself may not run, by those around it
    std::string usual;      ///< `why`, where its condition does not hold
    bool deciding = false;  ///< its condition is being read
    bool argument = false;  ///< a `case` about an argument of a hook
  };

  static const std::string& reason_of(const Block& block) {
    return block.outer.empty() ? block.why : block.outer;
  }
  void open(std::string_view end, std::string why);
  void close(std::string_view end);
  bool opens(std::string_view word, std::string_view& command, int line);
  bool closes_or_turns(std::string_view word, std::string_view& command);
  bool is_function(std::string_view word, std::string_view& command);
  bool is_pattern_of_case(std::string_view word, std::string_view& command, bool alternative);
  [[nodiscard]] bool holds(std::string_view test) const;

  std::function<bool(std::string_view value)> is_usual_;
  std::vector<Block> blocks_;
  std::string chain_;      ///< why the command that is being read may not run, by the one before it
  bool certain_ = true;    ///< the commands of the line have all succeeded so far
  bool function_ = false;  ///< the head of a function was read, its body comes
};

}  // namespace rdmacfg::foreign
