// SPDX-License-Identifier: Apache-2.0
#include "ctl/options.hpp"

#include <fmt/format.h>

// g++ 12 sees a null stream buffer in std::getline as CLI11 uses it; there is none.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnull-dereference"
#include <CLI/CLI.hpp>
#pragma GCC diagnostic pop
#include <algorithm>
#include <array>
#include <limits>

#include "base/text.hpp"
#include "ctl/docs/command_texts.hpp"
#include "ctl/render/render_table.hpp"

namespace rdmacfg::ctl {

using base::Code;
using base::fail;

namespace {

/// An empty word is a variable that a script has not set.
std::string not_empty(const std::string& word) { return word.empty() ? "is empty" : ""; }

/// A whole number in digits: strtoull(3), with which CLI11 reads, takes "-1" for the largest there is.
CLI::Validator whole(std::uint64_t first, std::uint64_t last, const std::string& meaning = "") {
  const auto complaint = [=](const std::string& word) -> std::string {
    const auto value = base::parse_number(word);
    if (value && *value >= first && *value <= last) return "";
    return meaning.empty() ? fmt::format("\"{}\" is not a whole number from {} to {}", word, first, last)
                           : fmt::format("\"{}\" is not {}", word, meaning);
  };
  return CLI::Validator(complaint, "");
}

/// "60", "60s", "5m", "1h30m" in seconds; nothing when it is not a time from a second to a day.
std::optional<std::uint64_t> duration(std::string_view word) {
  constexpr std::uint64_t kMost = 86400;
  std::uint64_t total = 0;
  if (word.empty()) return std::nullopt;
  while (!word.empty()) {
    const auto end = word.find_first_not_of("0123456789");
    const auto number = base::parse_number(word.substr(0, end));
    if (!number || *number > kMost) return std::nullopt;
    word.remove_prefix(end == std::string_view::npos ? word.size() : end);
    const auto unit = word.substr(0, word.find_first_of("0123456789"));
    word.remove_prefix(unit.size());
    if (unit == "m" || unit == "min") {
      total += *number * 60;
    } else if (unit == "h") {
      total += *number * 3600;
    } else if (unit.empty() || unit == "s" || unit == "sec") {
      total += *number;
    } else {
      return std::nullopt;
    }
  }
  return total >= 1 && total <= kMost ? std::optional(total) : std::nullopt;
}

/// Everything about one CLI::App that is ours.
struct Parser {
  CLI::App app{"Configures RDMA and IPoIB hosts from one document, and shows how they differ from it."};
  Arguments arguments;
  std::string format, confirm;
  bool version = false;
  bool help = false;
  bool colourless = false;

  Parser() {
    app.name("rdma-configctl");
    app.set_help_flag();
    app.add_option("-f,--config,--file", arguments.config,
                   "Read exactly this file instead of the system's, without drop-ins; - is standard input. "
                   "Repeat it to merge several in order.")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->check(not_empty);
    app.add_option("--root", arguments.root,
                   "Offline: work on the files below DIR (an image) without touching devices; the document "
                   "is read from there, too.")
        ->type_name("DIR")
        ->check(not_empty);
    app.add_option("--host", arguments.host,
                   "Use the host of a report (doctor --report) instead of this one: show, diff, doctor, "
                   "validate. It cannot be changed.")
        ->type_name("FILE")
        ->check(not_empty);
    app.add_flag("--json", arguments.json, "Print one JSON object on stdout, even for an error.");
    app.add_option("-o,--format", format, "text, wide (every column), name (names only), json.")
        ->type_name("STYLE")
        ->check(CLI::IsMember({"text", "wide", "name", "json"}).description(""));
    app.add_flag("--local", arguments.local, "Work in this process, even if the daemon runs.");
    app.add_flag("--pending-ok", arguments.pending_ok,
                 "Exit with 0 even if something is pending or limited.");
    app.add_flag("-v,--verbose", arguments.verbose, "Print more: the files read, the resources in sync.");
    app.add_flag("-q,--quiet", arguments.quiet, "Print errors and data only.");
    app.add_flag("--no-pager", arguments.no_pager, "Do not start a pager on a terminal.");
    app.add_flag("--no-colour,--no-color", colourless,
                 "Do not use colour; NO_COLOR in the environment does the same.");
    app.add_flag("-V,--version", version, "Print the version.");
    app.add_flag("-h,--help", help, "Print this help, or that of a subcommand.");
    app.allow_extras();
    for (const auto& command : command_texts()) add(command.name, command.doc);
    add("schema", "Print the JSON Schema of the document, for editors.");
    words(*add("help", "Print the help of a subcommand."), "SUBCOMMAND", "Which one.");
    // For docs: the reference in Markdown, or with a word one of the parts that render_part() makes.
    words(*add("reference", "")->group(""), "PART", "");
    add_looks();
    add_apply(*app.get_subcommand("apply"));
    add_edits();
    add_rollback(*app.get_subcommand("rollback"));
    auto* withdraw = app.get_subcommand("withdraw");
    withdraw->add_flag("-y,--yes", arguments.yes, kYes);
    withdraw->add_flag("--dry-run", arguments.dry_run, "Only show the changes.");
    app.get_subcommand("wait-online")
        ->add_option("--timeout", arguments.timeout, "Give up after SECONDS (default 120); 0 checks once.")
        ->type_name("SECONDS")
        ->check(whole(0, 86400));
    add_verify(*app.get_subcommand("verify"));
    add_foreign(*app.get_subcommand("import"), *app.get_subcommand("export"));
  }

  static constexpr const char* kYes = "Do not prompt; required without a terminal.";

  CLI::App* add(const std::string& name, const std::string& doc) {
    auto* sub = app.add_subcommand(name, doc);
    sub->set_help_flag();
    sub->fallthrough();
    sub->allow_extras();
    return sub;
  }

  void words(CLI::App& sub, const std::string& name, const std::string& doc) {
    sub.add_option(name, arguments.words, doc)->type_name(name);
  }

  /// Subcommands that look and change nothing.
  void add_looks() {
    auto& show = *app.get_subcommand("show");
    words(show, "NAME",
          "A topic, a device, a port (mlx4_0/1), an interface, a GUID, or a pattern of such names.");
    show.add_flag("--differs", arguments.differs, "Only resources that differ from the document.");
    show.add_flag("--wide", arguments.wide,
                  "Show every column and every P_Key interface, however long the lines.");
    show.add_flag("--document", arguments.document,
                  "The document that applies to this host: drop-ins merged, defaults filled in.");
    app.get_subcommand("status")
        ->add_option("--timeout", arguments.timeout, "Give up after SECONDS, with exit status 1.")
        ->type_name("SECONDS")
        ->check(whole(1, 86400));
    auto& diff = *app.get_subcommand("diff");
    words(diff, "FILE",
          "Documents to compare with instead of the system's own, or the number of a generation.");
    diff.add_flag("--explain", arguments.explain, "Name the file and line behind each value.");
    words(*app.get_subcommand("validate"), "FILE", "Documents to check instead of the system's own.");
    app.get_subcommand("doctor")
        ->add_option("--report", arguments.report,
                     "Write a report of this host, without identifying data, to a new file; - is "
                     "standard output.")
        ->type_name("FILE")
        ->check(not_empty);
    words(*app.get_subcommand("history"), "WHAT", "show N: the files of generation N.");
  }

  void add_edits() {
    auto& edit = *app.get_subcommand("edit");
    words(edit, "FILE", "A drop-in to edit instead of the main file.");
    edit.add_flag("-y,--yes", arguments.yes, kYes);
    add_confirm(edit);
    words(*app.get_subcommand("get"), "PATH", "The value: SECTION[SELECTOR].KEY.");
    auto& set = *app.get_subcommand("set");
    words(set, "PATH", "The key path, followed by the new value.");
    set.add_flag("--unset", arguments.unset, "Remove the key instead.");
  }

  void add_confirm(CLI::App& sub) {
    sub.add_option("--confirm", confirm, "Roll back after TIME unless confirmed: 60, 60s, 5m.")
        ->type_name("TIME")
        ->check(CLI::Validator(
            [](const std::string& word) {
              return duration(word) ? std::string()
                                    : fmt::format("\"{}\" is not a time from 1s to 24h", word);
            },
            ""));
  }

  void add_apply(CLI::App& apply) {
    words(apply, "FILE", "Documents to apply instead of the system's own.");
    apply.add_flag("-y,--yes", arguments.yes, kYes);
    apply.add_flag("--dry-run", arguments.dry_run, "Only show the changes, as diff does.");
    apply.add_flag("--allow-removal", arguments.allow_removal,
                   "Allow removing the interface of the default route or of a login session.");
    apply.add_flag("--retry", arguments.retry, "Retry values that the fabric limited before.");
    apply.add_flag("--install", arguments.install,
                   "Make FILE the system's own document, /etc/rdma-configd/config.toml, once it is applied.");
    add_confirm(apply);
    apply
        .add_option("--only", arguments.only,
                    "Apply only entries that match, and their dependencies: a section, a name or a pattern.")
        ->type_name("NAME")
        ->allow_extra_args(false);
    apply.add_flag("--boot", arguments.boot, "For the boot unit: never prompt, and print little.");
    apply.add_option("--wait", arguments.wait, "Wait SECONDS for carrier before judging an MTU (default 2).")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 3600.0).description(""));
  }

  void add_rollback(CLI::App& rollback) {
    rollback.add_option("N", arguments.generation, "The generation to go back to; `history` lists them.")
        ->type_name("N")
        ->check(whole(1, std::numeric_limits<std::uint64_t>::max(),
                      "the number of a generation; see `rdma-configctl history`"));
    rollback.add_flag("-y,--yes", arguments.yes, kYes);
    rollback.add_flag(
        "--expired", arguments.expired,
        "For the timer of `apply --confirm`: roll back only an apply that was not confirmed in time.");
  }

  void add_verify(CLI::App& verify) {
    verify.add_flag("--server", arguments.server,
                    "Wait for clients, and echo their messages (on --to, else on every address).");
    verify.add_flag("--once", arguments.once, "With --server: exit after one client.");
    verify.add_option("--client", arguments.client, "Connect to a server at this address.")
        ->type_name("HOST");
    verify.add_option("--mad", arguments.mad, "Ping a LID or a port GUID with management datagrams.")
        ->type_name("LID|GUID");
    verify
        .add_option("--from", arguments.from,
                    "With --mad: the port to send from (mlx4_0/1); default: the first active one.")
        ->type_name("PORT");
    verify.add_option("--ipoib", arguments.interface, "Ping --to over this interface.")
        ->type_name("INTERFACE");
    verify.add_option("--to", arguments.to, "The IPv4 address to ping, or to listen on.")
        ->type_name("ADDRESS");
    verify.add_option("--count", arguments.count, "Number of messages (default 5).")
        ->type_name("N")
        ->check(whole(1, 100000));
    verify.add_option("--service", arguments.service, "Port number of server and client (default 20049).")
        ->type_name("NUMBER")
        ->check(whole(1, 65535));
  }

  void add_foreign(CLI::App& from, CLI::App& to) {
    from.add_option(
            "FORMAT", arguments.words,
            "Source to read: host (all of it), live, or one format, optionally with files or folders.")
        ->type_name("FORMAT");
    from.add_option("--output", arguments.output, "Write the document to this file instead of stdout.")
        ->type_name("FILE");
    from.add_option("--name-template", arguments.name_template,
                    "Name ports that have no name, for example 'ipoib{number}' or 'ib_{guid_tail}'.")
        ->type_name("TEMPLATE");
    from.add_flag("--adopt", arguments.adopt,
                  "With live: take over names, addresses and routes as well; an apply then owns them.");
    to.add_option("FORMAT", arguments.words, "The language to write.")->type_name("FORMAT");
    to.add_option("--output", arguments.output,
                  "Write the files below this folder, which is created, instead of stdout.")
        ->type_name("DIR");
  }

  [[nodiscard]] CLI::App* chosen() const {
    const auto subs = app.get_subcommands();
    return subs.empty() ? nullptr : subs.front();
  }

  /// Every option that may stand after `sub`, as it is written.
  [[nodiscard]] std::vector<std::string> options_of(const CLI::App* sub) const {
    std::vector<std::string> names;
    for (const auto* one : {&app, sub}) {
      if (one == nullptr) continue;
      for (const auto* option : one->get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
      }
    }
    return names;
  }
};

std::string paragraph(std::string_view text, const Look& look) {
  std::string out;
  for (const auto& line : wrap(clean(text, look.utf8), look.width)) out += line + '\n';
  return out;
}

std::string option_list(const CLI::App& app, const Look& look) {
  Table table{{{""}, {""}, {"", 0, true}}, {}};
  for (const auto* option : app.get_options()) {
    std::string name;
    for (const auto& one : option->get_snames()) name += (name.empty() ? "-" : ", -") + one;
    for (const auto& one : option->get_lnames()) name += (name.empty() ? "--" : ", --") + one;
    if (name.empty()) name = option->get_name();
    if (option->get_type_size() > 0 && option->nonpositional()) name += " " + option->get_type_name();
    table.rows.push_back({{""}, {name}, {option->get_description()}});
  }
  for (auto& row : table.rows) row[0].text = "";
  std::string out;
  const auto text = render_table(table, look);
  for (const auto line : base::split(base::trim(text), '\n')) out += "  " + std::string(line) + '\n';
  return out;
}

std::string examples_of(const CommandText& command, const Look& look) {
  Table table{{{""}, {"", 0, true}}, {}};
  for (const auto line : base::split(command.examples, '\n')) {
    const auto tab = line.find('\t');
    auto words = std::string(line.substr(0, tab));
    if (words.find(" rdma-configctl ") == std::string::npos) words = "rdma-configctl " + words;
    table.rows.push_back(
        {{"  " + words},
         {std::string(tab == std::string_view::npos ? "" : line.substr(tab + 1)), Style::kDim}});
  }
  return render_table(table, look);
}

std::string help_of(const CLI::App& sub, const Parser& parser, const Look& look) {
  const auto& name = sub.get_name();
  const auto heading = [&](std::string_view text) { return '\n' + look.paint(text, Style::kBold) + '\n'; };
  const auto* command = find_command(name);
  const std::string usage = command == nullptr ? (name == "help" ? "[SUBCOMMAND]" : "") : command->usage;
  auto out = fmt::format("Usage: rdma-configctl {} [OPTIONS]{}{}\n\n{}", name, usage.empty() ? "" : " ",
                         usage, paragraph(command == nullptr ? sub.get_description() : command->text, look));
  if (command != nullptr && *command->examples != 0) out += heading("Examples") + examples_of(*command, look);
  if (!sub.get_options().empty()) out += heading("Options") + option_list(sub, look);
  return out + heading("Options of all subcommands") + option_list(parser.app, look) + '\n' +
         std::string(exit_statuses());
}

std::string help_of(const Parser& parser, const Look& look) {
  Table commands{{{""}, {"", 0, true}}, {}};
  for (const auto* sub :
       parser.app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    commands.rows.push_back({{"  " + sub->get_name(), Style::kBold}, {sub->get_description()}});
  }
  const auto heading = [&](std::string_view text) { return '\n' + look.paint(text, Style::kBold) + '\n'; };
  return "Usage: rdma-configctl [OPTIONS] SUBCOMMAND [OPTIONS]\n\n" +
         paragraph(parser.app.get_description(), look) + heading("Subcommands") +
         render_table(commands, look) + heading("Options") + option_list(parser.app, look) + '\n' +
         std::string(first_tour()) + '\n' + std::string(exit_statuses()) +
         "\nFiles: /etc/rdma-configd/config.toml, and conf.d/*.toml in /etc, /run and "
         "/usr/lib/rdma-configd.\n";
}

base::Failure unknown_command(const std::string& word) {
  std::vector<std::string> known{"schema", "help"};
  for (const auto& command : command_texts()) known.emplace_back(command.name);
  const auto near = base::nearest(word, known);
  return fail(Code::kInvalid, fmt::format("unknown subcommand {}; {}", word,
                                          near ? fmt::format("did you mean {}?", *near)
                                               : std::string("see rdma-configctl --help")));
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
  const std::size_t most = command == "edit" || command == "get" ? 1 : command == "set" ? 2 : 1000;
  if (words.size() > most)
    return fail(Code::kInvalid,
                fmt::format("{} takes no more arguments, but there is {}", command, words[most]));
  return {};
}

base::Failure unknown(const std::string& word, const Parser& parser) {
  const auto* sub = parser.chosen();
  const bool option = word.starts_with("-");
  std::string message;
  std::vector<std::string> known;
  if (option) {
    message = sub == nullptr ? fmt::format("unknown option {}", word)
                             : fmt::format("{} has no option {}", sub->get_name(), word);
    known = parser.options_of(sub);
  } else if (sub == nullptr) {
    return unknown_command(word);
  } else {
    return fail(Code::kInvalid,
                fmt::format("{} takes no more arguments, but there is {}", sub->get_name(), word));
  }
  const auto bare = word.substr(0, word.find('='));
  const bool letter = option && !word.starts_with("--");
  if (sub != nullptr && std::find(known.begin(), known.end(), bare) != known.end()) {
    return fail(Code::kInvalid,
                fmt::format("{} is an option of {}; put it after that word: rdma-configctl {} {}", bare,
                            sub->get_name(), sub->get_name(), word));
  }
  // Any two letters are as near as any others.
  if (const auto near = letter ? std::nullopt : base::nearest(bare, known))
    return fail(Code::kInvalid, fmt::format("{}; did you mean {}?", message, *near));
  return fail(Code::kInvalid,
              message + (sub == nullptr ? "; see rdma-configctl --help"
                                        : fmt::format("; see rdma-configctl {} --help", sub->get_name())));
}

}  // namespace

base::Result<CommandLine> parse_command_line(int argc, const char* const* argv, const Look& look) {
  Parser parser;
  try {
    parser.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return fail(Code::kInvalid, error.what());
  }
  CommandLine line;
  const auto* sub = parser.chosen();
  if (sub != nullptr && sub->get_name() == "help") {
    const auto& words = parser.arguments.words;
    const auto named = parser.app.get_subcommands();  // in their order; a name of one is taken for it
    if (!words.empty()) return unknown_command(words.front());
    if (named.size() > 2) return fail(Code::kInvalid, "help takes one subcommand");
    parser.help = true;
    sub = named.size() == 2 ? named[1] : nullptr;
  }
  if (parser.help) {
    line.sort = CommandLine::Sort::kHelp;
    line.help = sub == nullptr ? help_of(parser, look) : help_of(*sub, parser, look);
    return line;
  }
  const auto rest = parser.app.remaining(true);
  if (!rest.empty()) return unknown(rest.front(), parser);
  line.arguments = std::move(parser.arguments);
  line.arguments.no_colour = parser.colourless;
  if (parser.format == "json") line.arguments.json = true;
  if (parser.format == "wide") line.arguments.wide = true;
  if (parser.format == "name") line.arguments.names = true;
  if (!parser.confirm.empty()) line.arguments.confirm = duration(parser.confirm);
  if (parser.version) {
    line.sort = CommandLine::Sort::kVersion;
    return line;
  }
  if (sub == nullptr)
    return fail(Code::kInvalid, "missing subcommand: show, status, diff, apply, …; see --help");
  const auto named = parser.app.get_subcommands();
  if (named.size() == 2 && named[0]->get_name() == "history" && named[1]->get_name() == "show") {
    // The next word is the number of a generation, and not a name of the host's.
    line.arguments.words.insert(line.arguments.words.begin(), "show");
  } else if (named.size() > 1) {
    return fail(Code::kInvalid, fmt::format("{} and {} cannot be combined", sub->get_name(),
                                            parser.app.get_subcommands()[1]->get_name()));
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
      OptionInfo one{{}, "", option->get_description()};
      for (const auto& name : option->get_snames()) one.names.push_back("-" + name);
      for (const auto& name : option->get_lnames()) one.names.push_back("--" + name);
      if (option->get_type_size() > 0) one.value = option->get_type_name();
      info.options.push_back(std::move(one));
    }
    return info;
  };
  std::vector<CommandInfo> out{describe(parser.app)};
  const auto shown = [](const CLI::App* one) { return !one->get_group().empty(); };
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
