// SPDX-License-Identifier: Apache-2.0
#include "ctl/run.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>
#include <system_error>

#include "ctl/clean_stream.hpp"
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/options.hpp"

namespace rdmacfg::ctl {

namespace {

/// Whether a word is on the command line, also of one that does not parse.
bool has_word(int argc, const char* const* argv, std::string_view word) {
  for (const char* one : std::span(argv, static_cast<std::size_t>(argc))) {
    if (std::string_view(one) == word) return true;
  }
  return false;
}

int dispatch(const Context& context) {
  struct Entry {
    std::string_view name;
    int (*run)(const Context&);
  };
  constexpr std::array<Entry, 15> kEntries{{{"show", show},
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
                                            {"import", import_from},
                                            {"export", export_to},
                                            {"schema", schema},
                                            {"reference", reference}}};
  for (const auto& entry : kEntries) {
    if (entry.name == context.arguments.command) return entry.run(context);
  }
  return static_cast<int>(model::Exit::kError);
}

void print_version(const Context& context) {
  if (context.arguments.json) {
    emit(context, {{"schema", kVersionSchema}, {"version", RDMACFG_VERSION}});
  } else {
    context.environment.out << "rdma-configctl " RDMACFG_VERSION "\n";
  }
}

/// --root as an absolute path. "/" is no image: a script whose variable is wrong would change the running
/// host.
base::Result<std::string> root_of(const std::string& written) {
  if (written.empty()) return written;
  std::error_code error;
  const auto root = std::filesystem::canonical(written, error);
  if (error) return base::fail(base::Code::kNotFound, fmt::format("--root {}: {}", written, error.message()));
  if (!std::filesystem::is_directory(root, error)) {
    return base::fail(base::Code::kInvalid, fmt::format("--root {}: is no directory", written));
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

/// Data that could not be written was not told; a reader that has gone away did not want it. An apply is
/// judged by what it did.
int checked(const Context& context, int status) {
  context.environment.out.flush();
  const auto& command = context.arguments.command;
  const bool changing =
      command == "apply" || command == "confirm" || command == "rollback" || command == "withdraw";
  const bool unwanted = changing || context.environment.reader_is_gone();
  if (context.environment.out.good() || unwanted) return status;
  context.say_error("the output could not be written");
  return static_cast<int>(model::Exit::kError);
}

}  // namespace

int run(int argc, const char* const* argv, Environment& environment) {
  const bool colourless = has_word(argc, argv, "--no-colour") || has_word(argc, argv, "--no-color");
  Context context{environment,
                  {},
                  look_of(environment, environment.out_terminal, colourless),
                  look_of(environment, environment.err_terminal, colourless)};
  const CleanStream out(environment.out, context.out.colour, false);
  const CleanStream err(environment.err, context.err.colour, environment.err_terminal);
  context.arguments.json = has_word(argc, argv, "--json");
  auto line = parse_command_line(argc, argv, context.out);
  if (!line) return checked(context, refuse(context, line.error()));
  context.arguments = std::move(line->arguments);
  switch (line->sort) {
    case CommandLine::Sort::kHelp:
      environment.out << line->help;
      return checked(context, 0);
    case CommandLine::Sort::kVersion:
      print_version(context);
      return checked(context, 0);
    case CommandLine::Sort::kRun:
      break;
  }
  auto root = root_of(context.arguments.root);
  if (!root) return checked(context, refuse(context, root.error()));
  context.arguments.root = std::move(*root);
  return checked(context, dispatch(context));
}

}  // namespace rdmacfg::ctl
