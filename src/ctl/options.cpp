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
#include "ctl/command_texts.hpp"
#include "ctl/render_table.hpp"

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
    return meaning.empty() ? fmt::format("\"{}\" is no whole number from {} to {}", word, first, last)
                           : fmt::format("\"{}\" is not {}", word, meaning);
  };
  return CLI::Validator(complaint, "");
}

/// Everything about one CLI::App that is ours.
struct Parser {
  CLI::App app{"Makes RDMA and IPoIB hosts as one document says, and tells how they differ from it."};
  Arguments arguments;
  bool version = false;
  bool help = false;
  bool colourless = false;

  Parser() {
    app.name("rdma-configctl");
    app.set_help_flag();
    app.add_option("--config", arguments.config,
                   "Read exactly this file instead of the system's, without drop-ins; - is standard input.")
        ->type_name("FILE")
        ->check(not_empty);
    app.add_option(
           "--root", arguments.root,
           "Offline: work on the files below DIR (an image) and on no device; the document is there, too.")
        ->type_name("DIR")
        ->check(not_empty);
    app.add_flag("--json", arguments.json, "One JSON object on stdout, also in case of an error.");
    app.add_flag("--local", arguments.local, "Do it in this process, also when the daemon runs.");
    app.add_flag("--pending-ok", arguments.pending_ok,
                 "Exit status 0 also when something is pending or limited.");
    app.add_flag("--no-colour,--no-color", colourless,
                 "No colour; NO_COLOR in the environment does the same.");
    app.add_flag("--version", version, "Print the version.");
    app.add_flag("-h,--help", help, "Print this help, or that of a subcommand.");
    app.allow_extras();
    for (const auto& command : command_texts()) add(command.name, command.doc);
    add("schema", "Print the JSON Schema of the document, for editors.");
    // For docs: the reference in Markdown, or with a word one of the parts that render_part() makes.
    add("reference", "")->group("")->add_option("PART", arguments.object, "");
    auto* show = app.get_subcommand("show");
    show->add_option("NAME", arguments.object, "A device, a port (mlx4_0/1), an interface, or a GUID.")
        ->type_name("NAME");
    app.get_subcommand("diff")->add_flag("--explain", arguments.explain,
                                         "Name the file and line that ask for a value.");
    add_apply(*app.get_subcommand("apply"));
    add_rollback(*app.get_subcommand("rollback"));
    auto* withdraw = app.get_subcommand("withdraw");
    withdraw->add_flag("-y,--yes", arguments.yes, "Do not ask. Without a terminal it has to be given.");
    withdraw->add_flag("--dry-run", arguments.dry_run, "Only show what would be done.");
    app.get_subcommand("wait-online")
        ->add_option("--timeout", arguments.timeout, "Give up after so long (default 120); 0 only looks.")
        ->type_name("SECONDS")
        ->check(whole(0, 86400));
    add_verify(*app.get_subcommand("verify"));
    add_foreign(*app.get_subcommand("import"), *app.get_subcommand("export"));
  }

  CLI::App* add(const std::string& name, const std::string& doc) {
    auto* sub = app.add_subcommand(name, doc);
    sub->set_help_flag();
    sub->fallthrough();
    sub->allow_extras();
    return sub;
  }

  void add_apply(CLI::App& apply) {
    apply.add_flag("-y,--yes", arguments.yes, "Do not ask. Without a terminal it has to be given.");
    apply.add_flag("--dry-run", arguments.dry_run, "Only show what would be done, as diff does.");
    apply.add_flag("--allow-removal", arguments.allow_removal,
                   "Also take away the interface of the default route or of a login session.");
    apply.add_flag("--retry", arguments.retry, "Try again what the fabric limited before.");
    apply
        .add_option("--confirm", arguments.confirm,
                    "Roll back after so long, unless `rdma-configctl confirm` comes before.")
        ->type_name("SECONDS")
        ->check(whole(1, 86400));
    apply.add_flag("--boot", arguments.boot, "For the boot unit: never ask, and say little.");
    apply
        .add_option("--wait", arguments.wait, "Wait so long for carrier before an MTU is judged (default 2).")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 3600.0).description(""));
  }

  void add_rollback(CLI::App& rollback) {
    rollback.add_option("N", arguments.generation, "The generation to go back to; `history` lists them.")
        ->type_name("N")
        ->check(whole(1, std::numeric_limits<std::uint64_t>::max(),
                      "the number of a generation; see `rdma-configctl history`"));
    rollback.add_flag("-y,--yes", arguments.yes, "Do not ask. Without a terminal it has to be given.");
    rollback.add_flag("--expired", arguments.expired,
                      "For the timer of `apply --confirm`: only what was not confirmed in time.");
  }

  void add_verify(CLI::App& verify) {
    verify.add_flag("--server", arguments.server,
                    "Wait for clients, and echo what they send (on --to, else everywhere).");
    verify.add_flag("--once", arguments.once, "With --server: end after one client.");
    verify.add_option("--client", arguments.client, "Connect to a server at this address.")
        ->type_name("HOST");
    verify.add_option("--mad", arguments.mad, "Ping a LID or a port GUID by management datagrams.")
        ->type_name("LID|GUID");
    verify
        .add_option("--from", arguments.from,
                    "With --mad: the port to send from (mlx4_0/1); else the first active one.")
        ->type_name("PORT");
    verify.add_option("--ipoib", arguments.interface, "Ping --to by this interface.")->type_name("INTERFACE");
    verify.add_option("--to", arguments.to, "The IPv4 address to ping, or to listen on.")
        ->type_name("ADDRESS");
    verify.add_option("--count", arguments.count, "How often (default 5).")
        ->type_name("N")
        ->check(whole(1, 100000));
    verify.add_option("--service", arguments.service, "Port number of server and client (default 20049).")
        ->type_name("NUMBER")
        ->check(whole(1, 65535));
  }

  void add_foreign(CLI::App& from, CLI::App& to) {
    from.add_option("FORMAT", arguments.words,
                    "What to read: host (all of it), live, or one format, perhaps with files or folders.")
        ->type_name("FORMAT");
    from.add_option("--output", arguments.output, "Write the document to this file, not to stdout.")
        ->type_name("FILE");
    from.add_option(
            "--name-template", arguments.name_template,
            "Give ports without a name of their own one, such as 'ipoib{number}' or 'ib_{guid_tail}'.")
        ->type_name("TEMPLATE");
    from.add_flag("--adopt", arguments.adopt,
                  "With live: take over names, addresses and routes, too; an apply then owns them.");
    to.add_option("FORMAT", arguments.words, "The language to write.")->type_name("FORMAT");
    to.add_option("--output", arguments.output,
                  "Write the files below this folder, which is made, not to stdout.")
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

std::string help_of(const CLI::App& sub, const Parser& parser, const Look& look) {
  const auto& name = sub.get_name();
  const auto heading = [&](std::string_view text) { return '\n' + look.paint(text, Style::kBold) + '\n'; };
  std::string text = sub.get_description();
  for (const auto& command : command_texts()) {
    if (name == command.name) text = command.text;
  }
  auto out = fmt::format("Usage: rdma-configctl {} [OPTIONS]{}\n\n{}", name,
                         name == "show"       ? " [NAME]"
                         : name == "rollback" ? " [N]"
                         : name == "import"   ? " [FORMAT [PATH...]]"
                         : name == "export"   ? " FORMAT"
                                              : "",
                         paragraph(text, look));
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
    message = fmt::format("unknown subcommand {}", word);
    for (const auto& command : command_texts()) known.emplace_back(command.name);
    known.emplace_back("schema");
  } else {
    return fail(Code::kInvalid,
                fmt::format("{} takes no more arguments, but there is {}", sub->get_name(), word));
  }
  const auto bare = word.substr(0, word.find('='));
  if (sub != nullptr && std::find(known.begin(), known.end(), bare) != known.end()) {
    return fail(Code::kInvalid,
                fmt::format("{} is an option of {}; put it after that word: rdma-configctl {} {}", bare,
                            sub->get_name(), sub->get_name(), word));
  }
  if (const auto near = base::nearest(bare, known))
    return fail(Code::kInvalid, fmt::format("{}; did you mean {}?", message, *near));
  return fail(Code::kInvalid, message + "; see rdma-configctl --help");
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
  if (parser.help) {
    line.sort = CommandLine::Sort::kHelp;
    line.help = sub == nullptr ? help_of(parser, look) : help_of(*sub, parser, look);
    return line;
  }
  const auto rest = parser.app.remaining(true);
  if (!rest.empty()) return unknown(rest.front(), parser);
  line.arguments = std::move(parser.arguments);
  line.arguments.no_colour = parser.colourless;
  if (parser.version) {
    line.sort = CommandLine::Sort::kVersion;
    return line;
  }
  if (sub == nullptr)
    return fail(Code::kInvalid, "what is to be done? show, diff, apply, validate or doctor; see --help");
  if (parser.app.get_subcommands().size() > 1) {
    return fail(Code::kInvalid, fmt::format("{} and {} cannot be done at once", sub->get_name(),
                                            parser.app.get_subcommands()[1]->get_name()));
  }
  line.arguments.command = sub->get_name();
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
    for (const auto& command : command_texts()) {
      if (out.back().name == command.name) out.back().text = command.text;
    }
  }
  return out;
}

}  // namespace rdmacfg::ctl
