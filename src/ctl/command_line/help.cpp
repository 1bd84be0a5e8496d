// SPDX-License-Identifier: Apache-2.0
#include "ctl/command_line/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "base/text.hpp"
#include "ctl/docs/command_texts.hpp"
#include "ctl/render/render_table.hpp"

namespace rdmacfg::ctl::detail {

namespace {

std::string paragraph(std::string_view text, const Terminal& terminal) {
  std::string out;
  for (const auto& line : wrap(clean(text, terminal.utf8), terminal.width)) out += line + '\n';
  return out;
}

std::string option_list(const CLI::App& app, const Terminal& terminal) {
  constexpr int kIndent = 2;
  auto inner = terminal;
  if (inner.width > kIndent) inner.width -= kIndent;
  Table table{{{""}, {""}, {"", 0, true}}, {}};
  for (const auto* option : app.get_options()) {
    std::string name;
    for (const auto& flag : option->get_snames()) name += (name.empty() ? "-" : ", -") + flag;
    for (const auto& flag : option->get_lnames()) name += (name.empty() ? "--" : ", --") + flag;
    if (name.empty()) name = option->get_name();
    if (option->get_type_size() > 0 && option->nonpositional()) name += " " + option->get_type_name();
    table.rows.push_back({{""}, {name}, {option->get_description()}});
  }
  for (auto& row : table.rows) row[0].text = "";
  std::string out;
  const auto text = render_table(table, inner);
  for (const auto line : base::split(base::trim(text), '\n')) out += "  " + std::string(line) + '\n';
  return out;
}

/// A heading, and lines "  STATUS  MEANING".
std::string status_list(const Terminal& terminal) {
  Table table{{{""}, {"", 0, true}}, {}};
  const auto lines = base::split(base::trim(exit_statuses()), '\n');
  for (const auto line : std::span(lines).subspan(1)) {
    const auto text = base::trim(line);
    const auto end = std::min(text.find(' '), text.size());
    table.rows.push_back(
        {{"  " + std::string(text.substr(0, end))}, {std::string(base::trim(text.substr(end)))}});
  }
  return std::string(lines.front()) + '\n' + render_table(table, terminal);
}

std::string examples_of(const CommandText& command, const Terminal& terminal) {
  Table table{{{""}, {"", 0, true}}, {}};
  int widest = 0;
  for (const auto line : base::split(command.examples, '\n')) {
    const auto tab = line.find('\t');
    auto words = std::string(line.substr(0, tab));
    if (words.find(" rdma-configctl ") == std::string::npos) words = "rdma-configctl " + words;
    words = "  " + clean(words, terminal.utf8);
    widest = std::max(widest, display_width(words));
    table.rows.push_back(
        {{words}, {std::string(tab == std::string_view::npos ? "" : line.substr(tab + 1)), Style::kDim}});
  }
  constexpr int kRoom = 26;  // for descriptions, with the gap before them
  if (terminal.width <= 0 || widest + kRoom <= terminal.width) return render_table(table, terminal);
  // A long command leaves no room beside it, so descriptions go below.
  constexpr int kIndent = 6;
  std::string out;
  for (const auto& row : table.rows) {
    out += row[0].text + '\n';
    if (row[1].text.empty()) continue;
    for (const auto& line :
         wrap(clean(row[1].text, terminal.utf8), std::max(terminal.width - kIndent, kRoom)))
      out += std::string(kIndent, ' ') + terminal.paint(line, Style::kDim) + '\n';
  }
  return out;
}

/// "Usage: WORDS"; further lines stand under the words.
std::string usage_of(const std::string& words, const Terminal& terminal) {
  constexpr std::string_view kLabel = "Usage: ";
  constexpr int kLeast = 20;
  const int room = terminal.width - static_cast<int>(kLabel.size());
  std::string out;
  for (const auto& line : wrap(words, terminal.width > 0 ? std::max(room, kLeast) : 0))
    out += (out.empty() ? std::string(kLabel) : std::string(kLabel.size(), ' ')) + line + '\n';
  return out;
}

/// Where a line is too long for the terminal, descriptions stand below their commands.
std::string tour_of(const Terminal& terminal) {
  const auto lines = base::split(base::trim(first_tour()), '\n');
  const bool fits = terminal.width <= 0 || std::all_of(lines.begin(), lines.end(), [&](const auto line) {
                      return display_width(line) <= terminal.width;
                    });
  if (fits) return std::string(first_tour());
  constexpr int kIndent = 6, kLeast = 20;
  std::string out;
  for (const std::string_view line : lines) {
    const auto command = line.find("rdma-configctl ");
    const auto gap = command == std::string_view::npos ? command : line.find("  ", command);
    out += std::string(line.substr(0, gap)) + '\n';
    if (gap == std::string_view::npos) continue;
    for (const auto& text : wrap(base::trim(line.substr(gap)), std::max(terminal.width - kIndent, kLeast)))
      out += std::string(kIndent, ' ') + text + '\n';
  }
  return out;
}

}  // namespace

std::string help_of(const CLI::App& sub, const Parser& parser, const Terminal& terminal) {
  const auto& name = sub.get_name();
  const auto heading = [&](std::string_view text) {
    return '\n' + terminal.paint(text, Style::kBold) + '\n';
  };
  const auto* command = find_command(name);
  const std::string usage = command == nullptr ? (name == "help" ? "[SUBCOMMAND]" : "") : command->usage;
  auto out = usage_of(fmt::format("rdma-configctl {} [OPTIONS]{}{}", name, usage.empty() ? "" : " ", usage),
                      terminal) +
             '\n' + paragraph(command == nullptr ? sub.get_description() : command->text, terminal);
  if (command != nullptr && *command->examples != 0)
    out += heading("Examples") + examples_of(*command, terminal);
  if (!sub.get_options().empty()) out += heading("Options") + option_list(sub, terminal);
  return out + heading("Options of all subcommands") + option_list(parser.app, terminal) + '\n' +
         status_list(terminal);
}

std::string help_of(const Parser& parser, const Terminal& terminal) {
  Table commands{{{""}, {"", 0, true}}, {}};
  for (const auto* sub :
       parser.app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); })) {
    commands.rows.push_back({{"  " + sub->get_name(), Style::kBold}, {sub->get_description()}});
  }
  const auto heading = [&](std::string_view text) {
    return '\n' + terminal.paint(text, Style::kBold) + '\n';
  };
  return usage_of("rdma-configctl [OPTIONS] SUBCOMMAND [OPTIONS]", terminal) + '\n' +
         paragraph(parser.app.get_description(), terminal) + heading("Subcommands") +
         render_table(commands, terminal) + heading("Options") + option_list(parser.app, terminal) + '\n' +
         tour_of(terminal) + '\n' + status_list(terminal) + '\n' +
         paragraph(
             "Files: /etc/rdma-configd/config.toml, and conf.d/*.toml in /etc, /run and "
             "/usr/lib/rdma-configd.",
             terminal);
}

}  // namespace rdmacfg::ctl::detail
