// SPDX-License-Identifier: Apache-2.0
#include "ctl/command_line/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "ctl/docs/command_texts.hpp"

namespace rdmacfg::ctl::detail {

namespace {

constexpr const char* kYes = "Do not prompt; required without a terminal.";

/// An empty word is a variable that a script has not set.
std::string not_empty(const std::string& word) { return word.empty() ? "is empty" : ""; }

/// A whole number in digits: strtoull(3), with which CLI11 reads, takes "-1" for the largest there is.
CLI::Validator integer_between(std::uint64_t first, std::uint64_t last, const std::string& meaning = "") {
  const auto complaint = [=](const std::string& word) -> std::string {
    const auto value = base::parse_number(word);
    if (value && *value >= first && *value <= last) return "";
    return meaning.empty() ? fmt::format("\"{}\" is not an integer from {} to {}", word, first, last)
                           : fmt::format("\"{}\" is not {}", word, meaning);
  };
  return CLI::Validator(complaint, "");
}

enum class Fractions { kRefused, kTaken };

/// A time in seconds, "5m" as well: the word becomes the number that CLI11 reads, so this goes to
/// transform().
CLI::Validator seconds_between(std::uint64_t first, std::uint64_t last,
                               Fractions fractions = Fractions::kRefused) {
  const auto complaint = [=](std::string& word) -> std::string {
    double value = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool whole = error == std::errc{} && end == word.data() + word.size();
    const bool fits = value >= static_cast<double>(first) && value <= static_cast<double>(last);
    if (whole && fits && (fractions == Fractions::kTaken || base::parse_number(word))) return "";
    const auto seconds = duration(word);
    if (!seconds || *seconds < first || *seconds > last)
      return fmt::format("\"{}\" is not a time from {}s to {}s", word, first, last);
    word = std::to_string(*seconds);
    return "";
  };
  return CLI::Validator(complaint, "");
}

CLI::Validator one_of(std::vector<std::string> words) {
  const auto complaint = [words = std::move(words)](const std::string& word) -> std::string {
    if (std::find(words.begin(), words.end(), word) != words.end()) return "";
    return fmt::format("\"{}\" is not one of {}", word, base::join(words, ", "));
  };
  return CLI::Validator(complaint, "");
}

}  // namespace

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

Parser::Parser() {
  app.name("rdma-configctl");
  app.set_help_flag();
  app.allow_extras();
  add_common();
  for (const auto& command : command_texts()) add(command.name, command.doc);
  add("schema", "Print the JSON Schema of the document, for editors.");
  words(*add("help", "Print the help of a subcommand."), "SUBCOMMAND", "The subcommand.");
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
      ->add_option("--timeout", arguments.timeout,
                   "Give up after TIME: 60, 60s, 5m (default 120s); 0 checks once.")
      ->type_name("TIME")
      ->transform(seconds_between(0, 86400));
  add_verify(*app.get_subcommand("verify"));
  add_fleet(*app.get_subcommand("fleet"));
  add_fabric(*app.get_subcommand("fabric"));
  add_foreign(*app.get_subcommand("import"), *app.get_subcommand("export"));
}

void Parser::add_common() {
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
                 "NAME: the document as that host reads it (validate, show --document, diff with --root). "
                 "FILE (contains a / or ends in .json): the host of a report (doctor --report) instead of "
                 "this one, read-only (show, diff, doctor, validate).")
      ->type_name("NAME|FILE")
      ->check(not_empty);
  app.add_flag("--json", arguments.json, "Print one JSON object on stdout, even for an error.");
  app.add_option("-o,--format", format,
                 "text, wide (every column) or json; show, status and fabric also take name (names only), "
                 "fabric also dot (Graphviz) and svg.")
      ->type_name("STYLE")
      ->check(one_of({"text", "wide", "name", "json", "dot", "svg"}));
  app.add_flag("--local", arguments.local, "Work in this process, even if the daemon runs.");
  app.add_flag("--pending-ok", arguments.pending_ok, "Exit with 0 even if something is pending or limited.");
  app.add_flag("-v,--verbose", arguments.verbose, "Print more: the files read, the resources in sync.");
  app.add_flag("-q,--quiet", arguments.quiet, "Print errors and data only.");
  app.add_flag("--no-pager", arguments.no_pager, "Do not start a pager on a terminal.");
  app.add_flag("--no-colour,--no-color", colourless,
               "Do not use colour; NO_COLOR in the environment does the same.");
  app.add_flag("-V,--version", version, "Print the version.");
  app.add_flag("-h,--help", help, "Print this help, or that of a subcommand.");
}

CLI::App* Parser::add(const std::string& name, const std::string& doc) {
  auto* sub = app.add_subcommand(name, doc);
  sub->set_help_flag();
  sub->fallthrough();
  sub->allow_extras();
  return sub;
}

void Parser::words(CLI::App& sub, const std::string& name, const std::string& doc) {
  sub.add_option(name, arguments.words, doc)->type_name(name);
}

void Parser::add_looks() {
  auto& show = *app.get_subcommand("show");
  words(show, "NAME",
        "A topic, a device, a port (mlx4_0/1), an interface, a GUID, or a pattern of such names.");
  show.add_flag("--differs", arguments.show.differs, "Only resources that differ from the document.");
  show.add_flag("--wide", arguments.wide,
                "Show every column and every P_Key interface, however long the lines.");
  show.add_flag("--document", arguments.show.document,
                "The document that applies to this host: drop-ins merged, defaults filled in.");
  app.get_subcommand("status")
      ->add_option("--timeout", arguments.timeout, "Give up after TIME (60, 60s, 5m), with exit status 1.")
      ->type_name("TIME")
      ->transform(seconds_between(1, 86400));
  auto& metrics = *app.get_subcommand("metrics");
  metrics.add_flag("--features", arguments.metrics.features,
                   "Print a summary as a feature file for Kubernetes' Node Feature Discovery.");
  metrics.add_option("--output", arguments.output, "Replace FILE instead of writing to stdout.")
      ->type_name("FILE")
      ->check(not_empty);
  auto& diff = *app.get_subcommand("diff");
  words(diff, "FILE",
        "Documents to compare with instead of the system's own, or the number of a generation.");
  diff.add_flag("--explain", arguments.explain, "Name the file and line behind each value.");
  words(*app.get_subcommand("validate"), "FILE", "Documents to check instead of the system's own.");
  app.get_subcommand("doctor")
      ->add_option("--report", arguments.doctor.report,
                   "Write a report of this host, without identifying data, to a new file; - is "
                   "standard output.")
      ->type_name("FILE")
      ->check(not_empty);
  words(*app.get_subcommand("history"), "WHAT", "show N: the files of generation N.");
}

void Parser::add_edits() {
  auto& edit = *app.get_subcommand("edit");
  words(edit, "FILE", "A drop-in to edit instead of the main file.");
  edit.add_flag("-y,--yes", arguments.yes, kYes);
  add_confirm(edit);
  words(*app.get_subcommand("get"), "PATH", "The value: SECTION[SELECTOR].KEY.");
  auto& set = *app.get_subcommand("set");
  words(set, "PATH", "The key path, followed by the new value.");
  set.add_flag("--unset", arguments.set.unset, "Remove the key instead.");
}

void Parser::add_confirm(CLI::App& sub) {
  sub.add_option("--confirm", confirm, "Roll back after TIME unless confirmed: 60, 60s, 5m.")
      ->type_name("TIME")
      ->check(CLI::Validator(
          [](const std::string& word) {
            return duration(word) ? std::string() : fmt::format("\"{}\" is not a time from 1s to 24h", word);
          },
          ""));
}

void Parser::add_apply(CLI::App& apply) {
  words(apply, "FILE", "Documents to apply instead of the system's own.");
  apply.add_flag("-y,--yes", arguments.yes, kYes);
  apply.add_flag("--dry-run", arguments.dry_run, "Only show the changes, as diff does.");
  apply.add_flag("--allow-removal", arguments.apply.allow_removal,
                 "Allow removing the interface of the default route or of a login session.");
  apply.add_flag("--retry", arguments.apply.retry, "Retry values that the fabric limited before.");
  apply.add_flag("--install", arguments.apply.install,
                 "Make FILE the system's own document, /etc/rdma-configd/config.toml, once it is applied.");
  add_confirm(apply);
  apply
      .add_option("--only", arguments.apply.only,
                  "Apply only entries that match, and their dependencies: a section, a name, SECTION[NAME] "
                  "or a pattern.")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->check(not_empty);
  apply.add_flag("--boot", arguments.apply.boot, "For the boot unit: never prompt, and print little.");
  apply
      .add_option(
          "--wait", arguments.apply.wait,
          "Wait up to SECONDS (default 4) for carrier, and at least 4 for address checks; 0: do not wait.")
      ->type_name("SECONDS")
      ->transform(seconds_between(0, 3600, Fractions::kTaken));
}

void Parser::add_rollback(CLI::App& rollback) {
  rollback
      .add_option("N", arguments.rollback.generation, "The generation to go back to; `history` lists them.")
      ->type_name("N")
      ->check(integer_between(1, std::numeric_limits<std::uint64_t>::max(),
                              "the number of a generation; see `rdma-configctl history`"));
  rollback.add_flag("-y,--yes", arguments.yes, kYes);
  rollback.add_flag(
      "--expired", arguments.rollback.expired,
      "For the timer of `apply --confirm`: roll back only an apply that was not confirmed in time.");
}

void Parser::add_verify(CLI::App& verify) {
  verify.add_flag("--server", arguments.verify.server,
                  "Wait for clients, and echo their messages (on --to, else on every address).");
  verify.add_flag("--once", arguments.verify.once, "With --server: exit after one client.");
  verify.add_option("--client", arguments.verify.client, "Connect to a server at this address.")
      ->type_name("HOST")
      ->check(not_empty);
  verify.add_option("--mad", arguments.verify.mad, "Ping a LID or a port GUID with management datagrams.")
      ->type_name("LID|GUID")
      ->check(not_empty);
  verify
      .add_option("--from", arguments.verify.from,
                  "With --mad: the port to send from (mlx4_0/1); default: the first active one.")
      ->type_name("PORT")
      ->check(not_empty);
  verify.add_option("--ipoib", arguments.verify.interface, "Ping --to over this interface.")
      ->type_name("INTERFACE")
      ->check(not_empty);
  verify.add_option("--to", arguments.verify.to, "The IPv4 address to ping, or to listen on.")
      ->type_name("ADDRESS")
      ->check(not_empty);
  verify.add_option("--count", arguments.verify.count, "Number of messages (default 5).")
      ->type_name("N")
      ->check(integer_between(1, 100000));
  verify
      .add_option("--service", arguments.verify.service, "Port number of server and client (default 20049).")
      ->type_name("NUMBER")
      ->check(integer_between(1, 65535));
}

void Parser::add_fleet(CLI::App& fleet) {
  words(fleet, "WHAT",
        "validate, optionally with documents instead of the system's own; or report with a folder.");
  fleet
      .add_option(
          "--hosts", arguments.fleet.hosts,
          "The hosts, as in 'gpu[001-512],login1', or a file with such items, one or more a line; - is "
          "standard input. With report, only their output is read, and hosts without output are reported.")
      ->type_name("HOSTS|FILE")
      ->check(not_empty);
  fleet
      .add_option(
          "--by", arguments.fleet.by,
          "With report: the group of each host, by a pattern of its name with {group} in it, such as "
          "'{group}n*', or by a file: a CSV table with the columns host and group, or TOML with GROUP = "
          "HOSTS.")
      ->type_name("PATTERN|FILE")
      ->check(not_empty);
  for (const auto* name : {"validate", "report"}) {
    auto* inner = fleet.add_subcommand(name, "");
    inner->set_help_flag();
    inner->fallthrough();
    inner->allow_extras();
    inner->group("");
  }
}

void Parser::add_fabric(CLI::App& fabric) {
  words(
      fabric, "TOPIC",
      "Show one part: hosts, switches, links, managers, partitions, groups, counters, targets or findings.");
  fabric
      .add_option("--from", arguments.fabric.from,
                  "The local port to use (mlx4_0/1); default: the first active one.")
      ->type_name("PORT")
      ->check(not_empty);
  fabric.add_flag("--tree", arguments.fabric.tree,
                  "Show a tree, from the topmost switches down to the hosts.");
  fabric.add_option("--route", arguments.fabric.route, "Also show the route of packets to this port GUID.")
      ->type_name("GUID")
      ->check(not_empty);
  fabric
      .add_option("--compare", arguments.fabric.compare,
                  "Compare with a fabric saved by --json; exit status 2 if something differs.")
      ->type_name("FILE")
      ->check(not_empty);
  fabric
      .add_option("--cables", arguments.fabric.cables,
                  "Compare with the [[cable]] entries of this file instead of the document.")
      ->type_name("FILE")
      ->check(not_empty);
  fabric
      .add_option(
          "--clear-counters", arguments.fabric.clear_counters,
          "Show the counters of this port (leaf1/7) or node, or of all, and then set those of errors to 0.")
      ->type_name("PORT|NODE|all")
      ->check(not_empty);
  fabric.add_flag("--wide", arguments.wide, "Show every column, host and link.");
  fabric.add_option("--timeout", arguments.timeout, "Give up after TIME in all: 60, 60s, 5m (default 60s).")
      ->type_name("TIME")
      ->transform(seconds_between(1, 86400));
}

void Parser::add_foreign(CLI::App& from, CLI::App& to) {
  from.add_option("FORMAT", arguments.words,
                  "Source to read: host (all of it), live, or one format, optionally with files or folders.")
      ->type_name("FORMAT");
  from.add_option("--output", arguments.output, "Write the document to this file instead of stdout.")
      ->type_name("FILE")
      ->check(not_empty);
  from.add_option("--name-template", arguments.imported.name_template,
                  "Name ports that have no name, for example 'ipoib{number}' or 'ib_{guid_tail}'.")
      ->type_name("TEMPLATE")
      ->check(not_empty);
  from.add_flag("--adopt", arguments.imported.adopt,
                "With live: take over names, addresses and routes as well; an apply then owns them.");
  to.add_option("FORMAT", arguments.words, "The language to write.")->type_name("FORMAT");
  to.add_option("--output", arguments.output,
                "Write the files below this folder, which is created, instead of stdout.")
      ->type_name("DIR")
      ->check(not_empty);
}

CLI::App* Parser::chosen() const {
  const auto subs = app.get_subcommands();
  return subs.empty() ? nullptr : subs.front();
}

std::vector<std::string> Parser::options_of(const CLI::App* sub) const {
  std::vector<std::string> names;
  for (const auto* command : {&app, sub}) {
    if (command == nullptr) continue;
    for (const auto* option : command->get_options()) {
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
      for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
  }
  return names;
}

std::string Parser::value_of(const std::string& option) const {
  std::vector<const CLI::App*> commands{&app};
  for (const auto* sub : app.get_subcommands([](const CLI::App* /*any*/) { return true; }))
    commands.push_back(sub);
  for (const auto* command : commands) {
    for (const auto* known : command->get_options()) {
      if (known->get_type_size() > 0 && known->nonpositional() && known->check_name(option))
        return known->get_type_name();
    }
  }
  return {};
}

}  // namespace rdmacfg::ctl::detail
