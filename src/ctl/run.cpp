// SPDX-License-Identifier: Apache-2.0
#include "ctl/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>

#include "ctl/bundle/replay.hpp"
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/options.hpp"
#include "ctl/render/clean_stream.hpp"

namespace rdmacfg::ctl {

namespace {

/// Whether a word is on the command line, also of one that does not parse.
bool has_word(int argc, const char* const* argv, std::string_view word) {
  for (const char* argument : std::span(argv, static_cast<std::size_t>(argc))) {
    if (std::string_view(argument) == word) return true;
  }
  return false;
}

/// Whether one stands behind the other.
bool has_words(int argc, const char* const* argv, std::string_view first, std::string_view second) {
  const std::span words(argv, static_cast<std::size_t>(argc));
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == first && words[i + 1] == second) return true;
  }
  return false;
}

int dispatch(const Context& context) {
  struct Entry {
    std::string_view name;
    int (*run)(const Context&);
  };
  constexpr auto kEntries = std::to_array<Entry>({{"show", show},
                                                  {"status", status},
                                                  {"reload", reload},
                                                  {"edit", edit},
                                                  {"get", get},
                                                  {"set", set},
                                                  {"monitor", monitor},
                                                  {"metrics", metrics},
                                                  {"diff", diff},
                                                  {"apply", apply},
                                                  {"confirm", confirm},
                                                  {"rollback", rollback},
                                                  {"history", history},
                                                  {"withdraw", withdraw},
                                                  {"wait-online", wait_online},
                                                  {"validate", validate},
                                                  {"doctor", doctor},
                                                  {"verify", verify},
                                                  {"fabric", show_fabric},
                                                  {"import", import_from},
                                                  {"export", export_to},
                                                  {"fleet", fleet},
                                                  {"schema", schema},
                                                  {"reference", reference}});
  for (const auto& entry : kEntries) {
    if (entry.name == context.arguments.command) return entry.run(context);
  }
  return static_cast<int>(model::Exit::kError);
}

void print_version(const Context& context) {
  if (context.arguments.json) {
    emit(context, {{"schema", kVersionSchema},
                   {"command", ""},
                   {"exit", {{"status", 0}, {"name", "ok"}}},
                   {"error", nullptr},
                   {"version", RDMACFG_VERSION}});
  } else {
    context.environment.out << "rdma-configctl " RDMACFG_VERSION "\n";
  }
}

void print_help(const Context& context, const std::string& text) {
  if (context.arguments.json) {
    emit(context, {{"schema", kHelpSchema},
                   {"command", context.arguments.command},
                   {"exit", {{"status", 0}, {"name", "ok"}}},
                   {"error", nullptr},
                   {"text", text}});
  } else {
    context.environment.out << text;
  }
}

/// --root as an absolute path. "/" is not an image: a script whose variable is wrong would change the running
/// host.
base::Result<std::string> root_of(const std::string& written) {
  if (written.empty()) return written;
  std::error_code error;
  const auto root = std::filesystem::canonical(written, error);
  if (error) return base::fail(base::Code::kNotFound, fmt::format("--root {}: {}", written, error.message()));
  if (!std::filesystem::is_directory(root, error)) {
    return base::fail(base::Code::kInvalid, fmt::format("--root {}: not a directory", written));
  }
  if (root == "/") {
    return base::fail(
        base::Code::kInvalid,
        fmt::format("--root {}: that is the running system; leave it out to configure this host, "
                    "or give the folder of the image",
                    written));
  }
  return root.string();
}

/// Subcommands whose output is read page by page on a terminal: they look, and ask nothing.
bool is_paged(const Context& context) {
  constexpr std::array<std::string_view, 6> kPaged{"show", "diff", "history", "doctor", "get", "fabric"};
  const auto& arguments = context.arguments;
  return context.environment.out_terminal && !arguments.json && !arguments.no_pager && !arguments.quiet &&
         std::find(kPaged.begin(), kPaged.end(), arguments.command) != kPaged.end();
}

/// Gathers what `run` writes, and shows it in a pager where it is longer than the screen.
int paged(const Context& context, int (*run)(const Context&)) {
  std::ostringstream text;
  const CleanStream clean(text, context.out.colour, CleanStream::Progress::kNone);
  auto environment = context.environment.writing_to(text);
  const Context inner{environment, context.arguments, context.out, context.err};
  const int status = run(inner);
  text.flush();
  const auto all = text.str();
  const auto lines = std::count(all.begin(), all.end(), '\n');
  const bool fits = context.environment.rows == 0 || lines < context.environment.rows;
  if (fits || !context.environment.page(all)) context.environment.out << all;
  return status;
}

/// Subcommands that change the host or its document are judged by what they did, since exit status 1 says
/// that nothing was changed.
bool changes_something(const Arguments& arguments) {
  constexpr std::array<std::string_view, 7> kChanging{"apply",  "confirm", "rollback", "withdraw",
                                                      "reload", "edit",    "set"};
  const bool prints_document =
      arguments.command == "set" && !arguments.config.empty() && arguments.config.front() == "-";
  return !arguments.dry_run && !prints_document &&
         std::find(kChanging.begin(), kChanging.end(), arguments.command) != kChanging.end();
}

/// Data that could not be written was not told; a reader that has gone away did not want it.
int checked(const Context& context, int status) {
  context.environment.out.flush();
  if (context.environment.out.good() || context.environment.reader_is_gone()) return status;
  context.say_error("the output could not be written");
  return changes_something(context.arguments) ? status : static_cast<int>(model::Exit::kError);
}

/// --host: a word that contains a / or ends in .json is the file of a report, anything else the name of a
/// host.
base::Result<void> tell_hosts_apart(Arguments& arguments) {
  auto& host = arguments.host;
  const auto no = [&](const std::string& why) {
    return base::fail(base::Code::kInvalid, fmt::format("--host {}: {}", host, why));
  };
  if (host.empty() || host.find('/') != std::string::npos || host.ends_with(".json")) return {};
  std::error_code error;
  if (std::filesystem::is_regular_file(host, error))
    return no(fmt::format("is a file here, and may be the name of a host; write ./{0} for the report", host));
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  if (host.size() > 253 || !std::all_of(host.begin(), host.end(), fits) || host.front() == '-' ||
      host.front() == '.')
    return no("is not a valid host name; for a report write the path of its file");
  const bool shows = arguments.command == "show" && arguments.show.document;
  const bool differs = arguments.command == "diff" && !arguments.root.empty();
  if (arguments.command != "validate" && !shows && !differs)
    return no(arguments.command == "diff"
                  ? "another host can only be compared by its files: add --root DIR"
                  : "a host name is valid only with validate, show --document and diff --root DIR");
  arguments.seen_by = std::move(host);
  host.clear();
  return {};
}

/// Runs the subcommand on the host of a report.
int run_on_report(const Context& context) {
  constexpr std::array<std::string_view, 4> kLooks{"show", "diff", "doctor", "validate"};
  const auto& arguments = context.arguments;
  const auto no = [&](const std::string& why) { return refuse(context, {base::Code::kInvalid, why, 0}); };
  if (std::find(kLooks.begin(), kLooks.end(), arguments.command) == kLooks.end())
    return no(fmt::format("{} needs the host itself; --host is for show, diff, doctor and validate",
                          arguments.command));
  if (context.offline()) return no("--host and --root cannot be combined");
  if (!arguments.doctor.report.empty())
    return no("--report describes this host; it cannot be combined with --host");
  if (arguments.command == "diff" && !arguments.words.empty())
    return no("a report has no generations; compare its host with its own document, or with a FILE");
  auto report = read_host_report(arguments.host);
  if (!report) return refuse(context, report.error());
  const auto replay = std::make_shared<Replay>(std::move(*report));
  auto environment = environment_of(context.environment, replay);
  const Context inner{environment, arguments, context.out, context.err};
  const int status = is_paged(inner) ? paged(inner, dispatch) : dispatch(inner);
  for (const auto& part : replay->tape().damaged())
    context.say_error(fmt::format("--host {}: cannot read its part about {}", arguments.host, part));
  if (arguments.verbose) {
    for (const auto& part : replay->tape().missing())
      context.say(fmt::format("the report has nothing about {}; treated as absent", part));
  }
  return status;
}

}  // namespace

int run(int argc, const char* const* argv, Environment& environment) {
  const bool colourless = has_word(argc, argv, "--no-colour") || has_word(argc, argv, "--no-color");
  Context context{
      environment,
      {},
      terminal_of(environment, {.is_terminal = environment.out_terminal, .no_colour = colourless}),
      terminal_of(environment, {.is_terminal = environment.err_terminal, .no_colour = colourless})};
  const CleanStream out(environment.out, context.out.colour, CleanStream::Progress::kNone);
  const CleanStream err(
      environment.err, context.err.colour,
      environment.err_terminal ? CleanStream::Progress::kLine : CleanStream::Progress::kNone);
  context.arguments.json = has_word(argc, argv, "--json") || has_word(argc, argv, "-ojson") ||
                           has_words(argc, argv, "-o", "json") || has_words(argc, argv, "--format", "json") ||
                           has_word(argc, argv, "--format=json");
  auto line = parse_command_line(argc, argv, context.out);
  if (!line) return checked(context, refuse(context, line.error()));
  context.arguments = std::move(line->arguments);
  switch (line->sort) {
    case CommandLine::Sort::kHelp:
      print_help(context, line->help);
      return checked(context, 0);
    case CommandLine::Sort::kVersion:
      print_version(context);
      return checked(context, 0);
    case CommandLine::Sort::kRun:
      break;
  }
  if (context.arguments.wide) context.out.width = 0;
  auto root = root_of(context.arguments.root);
  if (!root) {
    context.arguments.root.clear();  // no paths of messages are below it
    return checked(context, refuse(context, root.error()));
  }
  context.arguments.root = std::move(*root);
  if (auto done = tell_hosts_apart(context.arguments); !done)
    return checked(context, refuse(context, done.error()));
  if (context.replayed()) return checked(context, run_on_report(context));
  return checked(context, is_paged(context) ? paged(context, dispatch) : dispatch(context));
}

}  // namespace rdmacfg::ctl
