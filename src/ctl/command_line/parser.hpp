// SPDX-License-Identifier: Apache-2.0
// Subcommands, options and arguments as CLI11 knows them.
#pragma once

// g++ 12 sees a null stream buffer in std::getline as CLI11 uses it; there is none.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnull-dereference"
#include <CLI/CLI.hpp>
#pragma GCC diagnostic pop
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ctl/command.hpp"

namespace rdmacfg::ctl::detail {

/// "60", "60s", "5m", "1h30m" in seconds; nothing when it is not a time from a second to a day.
std::optional<std::uint64_t> duration(std::string_view word);

/// Everything about one CLI::App that is ours.
struct Parser {
  CLI::App app{"Configures RDMA and IPoIB hosts from one document, and shows how they differ from it."};
  Arguments arguments;
  std::string format, confirm;
  bool version = false;
  bool help = false;
  bool colourless = false;

  Parser();

  /// The subcommand of a command line that was parsed.
  [[nodiscard]] CLI::App* chosen() const;
  /// Every option that may stand after `sub`, as it is written.
  [[nodiscard]] std::vector<std::string> options_of(const CLI::App* sub) const;
  /// The name of an option's value in the help: "DIR" of "--root"; empty: no option has that name, or
  /// it takes no value. Of those of several subcommands, the first one's.
  [[nodiscard]] std::string value_of(const std::string& option) const;

 private:
  CLI::App* add(const std::string& name, const std::string& doc);
  void words(CLI::App& sub, const std::string& name, const std::string& doc);
  /// Options of every subcommand.
  void add_common();
  /// Of those that look and change nothing.
  void add_looks();
  void add_edits();
  void add_confirm(CLI::App& sub);
  void add_apply(CLI::App& apply);
  void add_rollback(CLI::App& rollback);
  void add_verify(CLI::App& verify);
  void add_fleet(CLI::App& fleet);
  void add_fabric(CLI::App& fabric);
  void add_foreign(CLI::App& from, CLI::App& to);
};

}  // namespace rdmacfg::ctl::detail
