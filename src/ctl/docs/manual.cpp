// SPDX-License-Identifier: Apache-2.0
#include "ctl/docs/manual.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "catalog/owned_files.hpp"
#include "ctl/docs/schema.hpp"
#include "kinds/expect/rows.hpp"

namespace rdmacfg::ctl {

using model::FieldSpec;
using model::Role;
using model::SectionSpec;

namespace {

/// A text as man(7) takes it: text in `…` is bold, and nothing in it is a request.
std::string roff(std::string_view text) {
  std::string out;
  bool bold = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto rest = text.substr(i);
    if (rest.starts_with("→") || rest.starts_with("…")) {
      out += rest.starts_with("→") ? "\\(->" : "...";
      i += std::string_view("→").size() - 1;
    } else if (text[i] == '`') {
      bold = !bold;
      out += bold ? "\\fB" : "\\fP";
    } else if (text[i] == '-') {
      out += "\\-";
    } else if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '"') {
      out += "\\(dq";
    } else {
      out += text[i];
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

/// A paragraph, one sentence a line as man-pages(7) has it.
std::string sentences(std::string_view text) {
  std::string out;
  for (std::size_t start = 0; start < text.size();) {
    auto end = text.find(". ", start);
    end = end == std::string_view::npos ? text.size() : end + 1;
    out += roff(text.substr(start, end - start)) + '\n';
    start = end + 1;
  }
  return out;
}

std::string man_option(const OptionInfo& option) {
  if (option.names.empty()) return fmt::format(".TP\n\\fI{}\\fP\n{}", option.value, sentences(option.doc));
  std::vector<std::string> names;
  for (const auto& name : option.names) names.push_back("\\fB" + roff(name) + "\\fP");
  const auto value = option.value.empty() ? "" : fmt::format(" \\fI{}\\fP", roff(option.value));
  return fmt::format(".TP\n{}{}\n{}", base::join(names, ", "), value, sentences(option.doc));
}

std::string man_examples(std::string_view examples) {
  if (examples.empty()) return {};
  std::string out = ".PP\nExamples:\n";
  for (const auto line : base::split(examples, '\n')) {
    const auto tab = line.find('\t');
    auto words = std::string(line.substr(0, tab));
    if (words.find(" rdma-configctl ") == std::string::npos) words = "rdma-configctl " + words;
    out += fmt::format(".TP\n\\fB{}\\fP\n", roff(words));
    if (tab != std::string_view::npos) out += roff(line.substr(tab + 1)) + ".\n";
  }
  return out;
}

std::string man_key(const SectionSpec& section, const FieldSpec& field) {
  std::string out =
      fmt::format(".TP\n\\fB{}\\fP (\\fI{}\\fP)\n{}", field.name, roff(field.type), sentences(field.doc));
  if (field.effect != model::Effect::kNow)
    out += fmt::format("Works after {}.\n", roff(model::text_of(field.effect)));
  if (!field.fallback.empty() && field.fallback != "-")
    out += fmt::format("Default: {}.\n", roff(field.fallback));
  if (has_default(section, field)) out += "Allowed in [defaults].\n";
  return out;
}

std::string man_section(const SectionSpec& section, const std::string& path) {
  auto out = fmt::format(".SS {}\n{}", section.repeated ? "[[" + path + "]]" : "[" + path + "]",
                         sentences(section.doc));
  std::vector<std::string> sets;
  for (const auto& set : section.identities) {
    std::vector<std::string> keys;
    keys.reserve(set.size());
    for (const auto& key : set) keys.push_back(fmt::format("\\fB{}\\fP", key));
    sets.push_back(base::join(keys, " and "));
  }
  if (!sets.empty()) {
    out += fmt::format(".PP\nIdentified by {}{}.\n", sets.size() > 1 ? "exactly one of: " : "",
                       base::join(sets, "; "));
  }
  for (const auto& field : section.fields) {
    if (field.role != Role::kFact && field.role != Role::kDerived) out += man_key(section, field);
  }
  for (const auto& child : section.children)
    out += man_section(child, fmt::format("{}.{}", path, child.name));
  return out;
}

/// A text in single quotes of a shell of the Bourne family.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

/// A text inside of the specifications of zsh's _arguments.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_option(const OptionInfo& option) {
  // Without the blank _arguments puts words of its own, for compadd, in front of ours.
  const auto takes = option.value.empty() ? ""
                                          : fmt::format(":{}: _rdma_configctl_value {}",
                                                        zsh_text(option.value), single_quoted(option.value));
  if (option.names.empty()) return fmt::format("    {}\n", single_quoted("::" + takes.substr(1)));
  std::string out;
  const auto all = "(" + base::join(option.names, " ") + ")";
  for (const auto& name : option.names) {
    const std::string_view joint = option.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
    out += fmt::format("    {}\n", single_quoted(fmt::format("{}{}{}[{}]{}", all, name, joint,
                                                             zsh_text(option.doc), takes)));
  }
  return out;
}

std::string fish_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_option(const CommandInfo& command, const OptionInfo& option) {
  auto out = std::string("complete -c rdma-configctl");
  if (!command.name.empty()) out += fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
  for (const auto& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.names.empty() && !option.value.empty()) out += " -x";
  if (!option.value.empty()) out += fmt::format(" -a '(__rdma_configctl_value \"{}\")'", option.value);
  if (!option.names.empty()) out += " -d " + fish_text(option.doc);
  return out + '\n';
}

}  // namespace

std::string render_man_commands(const std::vector<CommandInfo>& commands) {
  std::string out = ".SH SUBCOMMANDS\n";
  for (const auto& command : commands) {
    if (command.name.empty()) continue;
    out +=
        fmt::format(".SS {}\n{}", command.name, sentences(command.text.empty() ? command.doc : command.text));
    for (const auto& option : command.options) out += man_option(option);
    out += man_examples(command.examples);
  }
  out += ".SH OPTIONS\nEach is allowed before or after every subcommand.\n";
  for (const auto& option : commands.front().options) out += man_option(option);
  return out;
}

std::string render_man_sections(const std::vector<SectionSpec>& grammar) {
  std::string out = ".SH SECTIONS\n";
  for (const auto& section : grammar) out += man_section(section, std::string(section.name));
  return out;
}

std::string render_bash(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> names;
  std::string options;
  std::string values;
  for (const auto& command : commands) {
    if (!command.name.empty()) names.push_back(command.name);
    std::vector<std::string> own;
    for (const auto& option : command.options) {
      own.insert(own.end(), option.names.begin(), option.names.end());
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const auto& name : option.names) patterns.push_back(command.name + "/" + name);
      if (patterns.empty()) patterns.push_back(command.name + "/");
      values += fmt::format("\t{}) echo {};;\n", base::join(patterns, "|"), single_quoted(option.value));
    }
    options += fmt::format("\t{}) echo {};;\n", command.name.empty() ? "''" : command.name,
                           single_quoted(base::join(own, " ")));
  }
  return fmt::format(
      "_rdma_configctl_commands='{}'\n"
      "_rdma_configctl_options() {{ # SUBCOMMAND\n\tcase $1 in\n{}\tesac\n}}\n"
      "_rdma_configctl_takes() {{ # SUBCOMMAND/OPTION: the kind of its argument\n\tcase $1 "
      "in\n{}\tesac\n}}\n",
      base::join(names, " "), options, values);
}

/// The array with the options of a subcommand: "own_wait_online".
std::string zsh_array(std::string command) {
  std::replace(command.begin(), command.end(), '-', '_');
  return "own_" + command;
}

std::string render_zsh(const std::vector<CommandInfo>& commands) {
  std::string names;
  std::string arrays = "commands every";
  std::string out;
  for (const auto& command : commands) {
    if (!command.name.empty()) arrays += " " + zsh_array(command.name);
    if (!command.name.empty())
      names += fmt::format("    {}\n", single_quoted(command.name + ":" + zsh_text(command.doc)));
    out += fmt::format("  {}=(\n", command.name.empty() ? "every" : zsh_array(command.name));
    for (const auto& option : command.options) out += zsh_option(option);
    out += "  )\n";
  }
  return "  local -a " + arrays + "\n  commands=(\n" + names + "  )\n" + out;
}

std::string render_fish(const std::vector<CommandInfo>& commands) {
  std::string out;
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  for (const auto& command : commands) {
    if (command.name.empty()) continue;
    out += fmt::format("complete -c rdma-configctl -n 'not __fish_seen_subcommand_from {}' -a {} -d {}\n",
                       base::join(names, " "), command.name, fish_text(command.doc));
  }
  for (const auto& command : commands) {
    for (const auto& option : command.options) out += fish_option(command, option);
  }
  return out;
}

std::string render_part(std::string_view name) {
  if (name == "man-commands") return render_man_commands(describe_command_line());
  if (name == "files") return kinds::owned_files_as_markdown();
  if (name == "man-files") return kinds::owned_files_as_man();
  if (name == "shell-files") return kinds::owned_files_as_shell();
  if (name == "man-sections") return render_man_sections(kinds::grammar());
  if (name == "expectations") return kinds::expect_rows_as_markdown();
  if (name == "bash") return render_bash(describe_command_line());
  if (name == "zsh") return render_zsh(describe_command_line());
  if (name == "fish") return render_fish(describe_command_line());
  return {};
}

}  // namespace rdmacfg::ctl
