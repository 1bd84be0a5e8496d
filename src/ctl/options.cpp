// SPDX-License-Identifier: Apache-2.0
#include "ctl/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "ctl/command_line/help.hpp"
#include "ctl/command_line/parser.hpp"
#include "ctl/docs/command_texts.hpp"

namespace rdmacfg::ctl {

using base::Code;
using base::fail;
using detail::Parser;

namespace {

/// Subcommands of other tools.
struct SubcommandAlias {
  std::string_view word, ours;
};
constexpr auto kSubcommandAliases = std::to_array<SubcommandAlias>({
    {"plan", "diff"},
    {"preview", "diff"},
    {"check", "validate"},
    {"lint", "validate"},
    {"test", "validate"},
    {"deploy", "apply"},
    {"list", "show"},
    {"ls", "show"},
    {"describe", "show"},
    {"watch", "monitor"},
    {"log", "history"},
    {"logs", "history"},
    {"undo", "rollback"},
    {"revert", "rollback"},
    {"restore", "rollback"},
    {"commit", "confirm"},
    {"try", "apply --confirm 2m"},
    {"load", "reload"},
    {"destroy", "withdraw"},
    {"uninstall", "withdraw"},
    {"version", "--version"},
    {"dump", "show --document"},
    {"unset", "set --unset"},
    {"migrate", "import"},
});

base::Failure unknown_command(const std::string& word) {
  if (word == "completion" || word == "completions")
    return fail(Code::kInvalid,
                fmt::format("unknown subcommand {}; the package installs the completions of bash, "
                            "zsh and fish, which a new shell loads",
                            word));
  const auto alias = std::find_if(kSubcommandAliases.begin(), kSubcommandAliases.end(),
                                  [&](const SubcommandAlias& candidate) { return candidate.word == word; });
  if (alias != kSubcommandAliases.end())
    return fail(Code::kInvalid, fmt::format("unknown subcommand {}; did you mean {}?", word, alias->ours));
  std::vector<std::string> known{"schema", "help"};
  for (const auto& command : command_texts()) known.emplace_back(command.name);
  const auto near = base::nearest(word, known);
  return fail(Code::kInvalid, fmt::format("unknown subcommand {}; {}", word,
                                          near ? fmt::format("did you mean {}?", *near)
                                               : std::string("see `rdma-configctl --help`")));
}

/// The meaning of a word after the subcommand: files are as good as --config.
base::Result<void> settle_words(Arguments& arguments) {
  const auto& command = arguments.command;
  auto& words = arguments.words;
  if (std::any_of(words.begin(), words.end(), [](const auto& word) { return word.empty(); }))
    return fail(Code::kInvalid, command + ": an argument is empty");
  const auto number = [](const std::string& word) { return base::parse_number(word).has_value(); };
  const bool generations =
      command == "diff" && !words.empty() && std::all_of(words.begin(), words.end(), number);
  if (generations && words.size() > 2) return fail(Code::kInvalid, "diff takes at most two generations");
  if ((command == "validate" || command == "diff" || command == "apply") && !generations) {
    arguments.config.insert(arguments.config.end(), words.begin(), words.end());
    words.clear();
  }
  if (command == "fleet") {
    if (words.empty() || (words.front() != "validate" && words.front() != "report"))
      return fail(Code::kInvalid, "fleet takes a subcommand: validate --hosts HOSTS, or report DIR");
    if (words.front() == "validate") {
      arguments.config.insert(arguments.config.end(), words.begin() + 1, words.end());
      words.resize(1);
    }
  }
  const std::size_t most = command == "fleet"                      ? 2
                           : command == "edit" || command == "get" ? 1
                           : command == "set"                      ? 2
                                                                   : 1000;
  if (words.size() > most)
    return fail(Code::kInvalid, fmt::format("{}: unexpected argument {}", command, words[most]));
  return {};
}

/// Our name of an option that other tools call `name`, if the subcommand has it; else empty.
std::string_view option_here(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::array<std::array<std::string_view, 2>, 12> kOptionAliases{{{"-n", "--dry-run"},
                                                                            {"--check", "--dry-run"},
                                                                            {"--noop", "--dry-run"},
                                                                            {"--assume-yes", "--yes"},
                                                                            {"--auto-approve", "--yes"},
                                                                            {"--force", "--yes"},
                                                                            {"--port", "--from"},
                                                                            {"-j", "--json"},
                                                                            {"-c", "--config"},
                                                                            {"--output", "--format"},
                                                                            {"--debug", "--verbose"},
                                                                            {"--target", "--only"}}};
  for (const auto& [elsewhere, ours] : kOptionAliases) {
    if (elsewhere == name && std::find(known.begin(), known.end(), ours) != known.end()) return ours;
  }
  return {};
}

/// The long option that is nearly `word`. The dashes, which all have, do not count: --port is not like
/// --root.
std::optional<std::string> option_like(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::string_view kDashes = "--";
  std::vector<std::string> names;
  for (const auto& name : known) {
    if (name.starts_with(kDashes)) names.push_back(name.substr(kDashes.size()));
  }
  auto near = base::nearest(word.substr(kDashes.size()), names);
  if (near) near->insert(0, kDashes);
  return near;
}

/// The command for a drawing of the fabric in place of "--output=map.svg", "--output"; empty for a style
/// ("--output=json").
std::string drawing_command(std::string_view option) {
  const auto file = option.substr(std::min(option.find('='), option.size() - 1) + 1);
  const bool dot = file.ends_with(".dot") || file.ends_with(".gv");
  if (!file.empty() && !dot && !file.ends_with(".svg")) return {};
  return fmt::format("rdma-configctl fabric -o {} > {}", dot ? "dot" : "svg",
                     file.empty() ? "FILE.svg" : file);
}

base::Failure unknown(const std::string& word, const Parser& parser) {
  const auto* sub = parser.chosen();
  const bool option = word.starts_with("-");
  const auto bare = word.substr(0, word.find('='));
  std::string message;
  std::vector<std::string> known;
  if (option) {
    message = sub == nullptr ? fmt::format("unknown option {}", bare)
                             : fmt::format("{} has no option {}", sub->get_name(), bare);
    known = parser.options_of(sub);
  } else if (sub == nullptr) {
    return unknown_command(word);
  } else {
    return fail(Code::kInvalid, fmt::format("{}: unexpected argument {}", sub->get_name(), word));
  }
  if (bare == "--color" || bare == "--colour") {
    return fail(Code::kInvalid, message + "; only terminals get colour; --no-colour disables it");
  }
  const bool letter = option && !word.starts_with("--");
  if (sub != nullptr && std::find(known.begin(), known.end(), bare) != known.end()) {
    return fail(Code::kInvalid,
                fmt::format("{} is an option of {}; put it after that word: rdma-configctl {} {}", bare,
                            sub->get_name(), sub->get_name(), word));
  }
  constexpr std::array<std::array<std::string_view, 2>, 3> kDrawings{
      {{"--svg", "svg"}, {"--dot", "dot"}, {"--graphviz", "dot"}}};
  for (const auto& [name, style] : kDrawings) {
    if (sub != nullptr && sub->get_name() == "fabric" && bare == name)
      return fail(Code::kInvalid, fmt::format("{}; write -o {}", message, style));
  }
  const bool drawing = sub != nullptr && sub->get_name() == "fabric" && bare == "--output";
  if (const auto command = drawing ? drawing_command(word) : std::string(); !command.empty())
    return fail(Code::kInvalid, fmt::format("{}; drawings go to stdout: {}", message, command));
  if (const auto ours = option_here(bare, known); !ours.empty())
    return fail(Code::kInvalid, fmt::format("{}; did you mean {}?", message, ours));
  // Any two letters are as near as any others.
  if (const auto near = letter ? std::nullopt : option_like(bare, known))
    return fail(Code::kInvalid, fmt::format("{}; did you mean {}?", message, *near));
  return fail(Code::kInvalid,
              message + (sub == nullptr ? "; see `rdma-configctl --help`"
                                        : fmt::format("; see `rdma-configctl {} --help`", sub->get_name())));
}

/// CLI11 takes a word "[…]" apart, which is a list of TOML or a pattern, and a negative number for an option:
/// marked, it is left whole. So are all words behind "--", which goes.
constexpr char kWhole = '\x1d';

std::vector<std::string> marked(int argc, const char* const* argv) {
  std::vector<std::string> words(argv, argv + argc);
  const bool sets = std::find(words.begin(), words.end(), "set") != words.end();
  const auto is_negative = [](std::string_view word) {
    return word.starts_with('-') && base::parse_number(word.substr(1)).has_value();
  };
  const auto end = std::find(words.begin() + 1, words.end(), "--");
  for (auto word = words.begin() + 1; word < end; ++word) {
    const auto& before = *(word - 1);
    const bool value_of_option = before.starts_with("--") || before == "-f" || before == "-o";
    const bool list = word->starts_with('[') && word->ends_with(']');
    if (!value_of_option && (list || (sets && is_negative(*word)))) word->insert(0, 1, kWhole);
  }
  if (end == words.end()) return words;
  // A number is that of a generation, which CLI11 reads.
  for (auto word = end + 1; word < words.end(); ++word) {
    if (!base::parse_number(*word)) word->insert(0, 1, kWhole);
  }
  words.erase(end);
  return words;
}

void unmark(std::vector<std::string>& words) {
  for (auto& word : words) {
    if (word.starts_with(kWhole)) word.erase(0, 1);
  }
}

/// "--only: NAME is missing" of CLI11's "--only: 1 required NAME missing", and the like.
std::string in_words(const std::string& message) {
  // Values other than those of flags are checked before they are converted.
  constexpr std::string_view kFlag = "Could not convert: ", kIs = " = ";
  if (const auto at = message.find(kIs); message.starts_with(kFlag) && at != std::string::npos) {
    const auto name = message.substr(kFlag.size(), at - kFlag.size());
    return fmt::format("{}: \"{}\" is neither true nor false; write {} alone", name,
                       message.substr(at + kIs.size()), name);
  }
  constexpr std::string_view kOne = ": 1 required ", kEnd = " missing";
  for (const auto* more : {": At Most 1 required", ": At most 1 required"}) {  // before 2.6, and since
    if (const auto at = message.find(more); at != std::string::npos)
      return message.substr(0, at) + " is given more than once";
  }
  const auto at = message.find(kOne);
  if (at == std::string::npos || !message.ends_with(kEnd)) return message;
  const auto name = at + kOne.size();
  return fmt::format("{}: {} is missing", message.substr(0, at),
                     message.substr(name, message.size() - kEnd.size() - name));
}

bool prints_names(std::string_view command) {
  return command == "show" || command == "status" || command == "fabric";
}

/// Whether the rest of the command line is of no use without the option.
bool is_required(const std::vector<std::string>& words, std::string_view option) {
  if (option == "--hosts") return std::find(words.begin(), words.end(), "validate") != words.end();
  return option == "--to" && std::any_of(words.begin(), words.end(),
                                         [](const std::string& word) { return word.starts_with("--ipoib"); });
}

/// "--root=" and "--root ''" of a script whose variable is not set; for the former CLI11 takes the next word
/// for the value. Empty: there is none.
std::string without_value(const std::vector<std::string>& words, const Parser& parser) {
  constexpr std::string_view kDashes = "--";
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (!word->starts_with(kDashes)) continue;
    const bool equals = word->find('=') == word->size() - 1;
    const bool apart = std::next(word) != words.end() && std::next(word)->empty();
    if (!equals && !apart) continue;
    const auto option = equals ? word->substr(0, word->size() - 1) : *word;
    const auto value = parser.value_of(option);
    if (!value.empty() && is_required(words, option))
      return fmt::format("{}: is empty; give {}", option, value);
    if (!value.empty()) return fmt::format("{0}: is empty; give {1}, or leave {0} out", option, value);
    if (equals) return option + ": is empty";
  }
  return {};
}

/// "-f=new.toml", of which CLI11 would take "=new.toml" for the value.
std::optional<std::string> letter_with_equals(const std::vector<std::string>& words) {
  for (std::size_t at = 1; at < words.size(); ++at) {
    const auto& word = words[at];
    const bool letter = word.size() > 2 && word[0] == '-' && word[2] == '=' &&
                        ((word[1] >= 'a' && word[1] <= 'z') || (word[1] >= 'A' && word[1] <= 'Z'));
    if (letter) return word.substr(0, 2);
  }
  return std::nullopt;
}

base::Result<void> parse_words(Parser& parser, int argc, const char* const* argv) {
  try {
    const auto words = marked(argc, argv);
    if (auto why = without_value(words, parser); !why.empty()) return fail(Code::kInvalid, std::move(why));
    if (const auto option = letter_with_equals(words)) {
      return fail(Code::kInvalid,
                  fmt::format("{0}: short options take no =; write {0}, or {0} and its value as the "
                              "next word",
                              *option));
    }
    std::vector<const char*> pointers;
    for (const auto& word : words) pointers.push_back(word.c_str());
    parser.app.parse(static_cast<int>(pointers.size()), pointers.data());
    unmark(parser.arguments.words);
  } catch (const CLI::ParseError& error) {
    return fail(Code::kInvalid, in_words(error.what()));
  }
  return {};
}

/// The subcommand that `help WORD` is about; null: the program.
base::Result<const CLI::App*> subject_of_help(const CLI::App* help, Parser& parser) {
  const auto& words = parser.arguments.words;
  const auto named = parser.app.get_subcommands();  // in their order; a name of one is taken for it
  const bool itself = words.size() == 1 && words.front() == "help";  // no second time for CLI11
  // Behind the name of a subcommand they are its own: `help fabric targets`.
  if (!words.empty() && !itself && named.size() < 2) return unknown_command(words.front());
  auto rest = parser.app.remaining(true);
  unmark(rest);
  if (!rest.empty()) return unknown(rest.front(), parser);
  const bool history_show =
      named.size() == 3 && named[1]->get_name() == "history" && named[2]->get_name() == "show";
  if (named.size() > (itself ? 1U : 2U) && !history_show)
    return fail(Code::kInvalid, "help takes one subcommand");
  return itself ? help : named.size() > 1 ? named[1] : nullptr;
}

/// Help of a subcommand, or of the program.
CommandLine help_about(const CLI::App* sub, const Parser& parser, const Terminal& terminal) {
  CommandLine line;
  line.sort = CommandLine::Sort::kHelp;
  line.arguments.json = parser.arguments.json || parser.format == "json";
  line.arguments.command = sub == nullptr ? "" : sub->get_name();
  const Terminal shown = line.arguments.json ? Terminal{false, true, 0} : terminal;
  line.help = sub == nullptr ? detail::help_of(parser, shown) : detail::help_of(*sub, parser, shown);
  return line;
}

}  // namespace

base::Result<CommandLine> parse_command_line(int argc, const char* const* argv, const Terminal& terminal) {
  Parser parser;
  if (auto done = parse_words(parser, argc, argv); !done) return base::fail(done.error());
  CommandLine line;
  const auto* sub = parser.chosen();
  if (sub != nullptr && sub->get_name() == "help") {
    const auto subject = subject_of_help(sub, parser);
    if (!subject) return base::fail(subject.error());
    return help_about(*subject, parser, terminal);
  }
  if (parser.help) return help_about(sub, parser, terminal);
  auto rest = parser.app.remaining(true);
  unmark(rest);
  if (!rest.empty()) return unknown(rest.front(), parser);
  line.arguments = std::move(parser.arguments);
  line.arguments.no_colour = parser.colourless;
  if (parser.format == "json") line.arguments.json = true;
  if (parser.format == "wide") line.arguments.wide = true;
  if (parser.format == "name") line.arguments.names = true;
  if (parser.format == "dot" || parser.format == "svg") {
    if (sub != nullptr && sub->get_name() != "fabric")
      return fail(Code::kInvalid, fmt::format("--format {} is valid only with fabric", parser.format));
    line.arguments.fabric.drawing = parser.format;
  }
  if (sub != nullptr && line.arguments.names && !prints_names(sub->get_name()))
    return fail(Code::kInvalid, "--format name is valid only with show, status and fabric");
  if (!parser.confirm.empty()) line.arguments.confirm = detail::duration(parser.confirm);
  if (parser.version) {
    line.sort = CommandLine::Sort::kVersion;
    return line;
  }
  if (sub == nullptr)
    return fail(Code::kInvalid,
                "missing subcommand: show, status, diff, apply, …; see `rdma-configctl --help`");
  const auto named = parser.app.get_subcommands();
  if (sub->get_name() == "fleet") {
    const auto inner = sub->get_subcommands();
    if (inner.size() > 1) return fail(Code::kInvalid, "fleet validate and fleet report cannot be combined");
    if (!inner.empty()) line.arguments.words.insert(line.arguments.words.begin(), inner.front()->get_name());
  }
  if (named.size() == 2 && named[0]->get_name() == "history" && named[1]->get_name() == "show") {
    // The next word is the number of a generation, and not a name of the host's.
    line.arguments.words.insert(line.arguments.words.begin(), "show");
  } else if (named.size() > 1) {
    const bool compares = sub->get_name() == "history" && named[1]->get_name() == "diff";
    return fail(Code::kInvalid,
                fmt::format("{} and {} cannot be combined{}", sub->get_name(), named[1]->get_name(),
                            compares ? "; compare generations with diff N M" : ""));
  }
  line.arguments.command = sub->get_name();
  if (auto done = settle_words(line.arguments); !done) return base::fail(done.error());
  return line;
}

std::vector<CommandInfo> describe_command_line() {
  const Parser parser;
  const auto describe = [](const CLI::App& app) {
    CommandInfo info{"", app.get_description(), "", {}};
    for (const auto* option : app.get_options()) {
      OptionInfo entry{{}, "", option->get_description()};
      for (const auto& name : option->get_snames()) entry.names.push_back("-" + name);
      for (const auto& name : option->get_lnames()) entry.names.push_back("--" + name);
      if (option->get_type_size() > 0) entry.value = option->get_type_name();
      info.options.push_back(std::move(entry));
    }
    return info;
  };
  std::vector<CommandInfo> out{describe(parser.app)};
  const auto shown = [](const CLI::App* command) { return !command->get_group().empty(); };
  for (const auto* sub : parser.app.get_subcommands(shown)) {
    out.push_back(describe(*sub));
    out.back().name = sub->get_name();
    if (const auto* command = find_command(out.back().name)) {
      out.back().text = command->text;
      out.back().examples = command->examples;
    }
  }
  return out;
}

}  // namespace rdmacfg::ctl
