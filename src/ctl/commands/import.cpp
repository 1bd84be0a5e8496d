// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "config/other_tools.hpp"
#include "ctl/command.hpp"
#include "ctl/fleet/fleet_commands.hpp"
#include "ctl/json.hpp"
#include "ctl/output_file.hpp"
#include "foreign/import/importer.hpp"
#include "foreign/import/live.hpp"

namespace rdmacfg::ctl {

using Json = nlohmann::ordered_json;

namespace {

/// The remedy for a word that names a file or anything else than a format: an import that reads it, or the
/// formats.
std::string instead_of(const Context& context, const std::string& word) {
  std::vector<std::string> known{"host", "live"};
  for (const auto& supported : foreign::formats()) known.emplace_back(supported.name);
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(word, error);
  if (is_file) {
    const auto text = read_fleet_file(context, word, config::Limits{}.file_bytes);
    const auto format = text ? config::format_of_other_tool(text->text) : std::string_view();
    if (!format.empty()) return fmt::format("run `rdma-configctl import {} {}`", format, word);
  } else if (const auto called = foreign::format_called(word); !called.empty()) {
    return fmt::format("did you mean {}?", called);
  } else if (const auto near = base::nearest(word, known)) {
    return fmt::format("did you mean {}?", *near);
  }
  if (!is_file && word.find_first_of("/.") == std::string::npos)
    return "the formats are " + base::join(known, ", ");
  return fmt::format("run `rdma-configctl import FORMAT {}`, where FORMAT is one of {}", word,
                     base::join(known, ", "));
}

/// "host": every format; else the one that is called so.
base::Result<foreign::Request> import_request(const Context& context) {
  foreign::Request request;
  const auto& words = context.arguments.words;
  const auto name = words.empty() ? std::string("host") : words.front();
  const auto* format = foreign::find_format(name);
  if (name == "host") {
    for (const auto& supported : foreign::formats()) request.formats.push_back(&supported);
  } else if (format != nullptr) {
    request.formats.push_back(format);
  } else if (name != "live") {
    return base::fail(base::Code::kInvalid, fmt::format("{} is not a format that can be imported; {}", name,
                                                        instead_of(context, name)));
  }
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (format == nullptr)
      return base::fail(base::Code::kInvalid,
                        fmt::format("{} takes no paths; name the format of {}", name, words[at]));
    if (words[at] == "-")
      return base::fail(base::Code::kInvalid,
                        fmt::format("import does not read standard input; save the text in a file whose name "
                                    "{} reads, and give its path",
                                    name));
    std::error_code error;
    const auto path = std::filesystem::absolute(words[at], error);
    auto text = path.lexically_normal().string();
    if (text.size() > 1 && text.ends_with('/')) text.pop_back();
    request.paths.push_back(std::move(text));
  }
  return request;
}

model::Diagnostics check(const std::string& text) {
  const auto limits = config::all_errors();
  const auto document = config::parse_texts({{"the imported document", text}}, "", kinds::grammar(), limits);
  return core::validate(document, limits).diagnostics;
}

Json remarks_json(const std::vector<foreign::Remark>& remarks) {
  auto out = Json::array();
  for (const auto& remark : remarks) {
    out.push_back({{"file", remark.where.file},
                   {"line", remark.where.line == 0 ? Json(nullptr) : Json(remark.where.line)},
                   {"text", remark.text}});
  }
  return out;
}

Json import_json(const foreign::Claims& claims, const std::string& text, int status) {
  Json out{{"schema", kImportSchema},
           {"command", "import"},
           {"error", nullptr},
           {"document", text},
           {"understood", Json::array()}};
  for (const auto& [file, lines] : claims.understood)
    out["understood"].push_back({{"file", file}, {"lines", std::max(lines, 0)}});
  out["not_understood"] = remarks_json(claims.missed);
  out["passed_over"] = remarks_json(claims.passed);
  out["exit"] = {{"status", status}, {"name", claims.missed.empty() ? "ok" : "partly"}};
  return out;
}

/// Everything that was read and what became of it, to stderr.
void tell_claims(const Context& context, const foreign::Claims& claims) {
  for (const auto& [file, lines] : claims.understood) {
    if (lines > 0)
      context.say(
          fmt::format("{}: {} understood", file, lines == 1 ? "1 line" : fmt::format("{} lines", lines)));
  }
  for (const auto& line : claims.passed)
    context.say(fmt::format("{}{}skipped: ", line.where.text(), line.where.file.empty() ? "" : ": "),
                line.text);
  for (const auto& line : claims.missed)
    context.say(fmt::format("{}{}not understood: ", line.where.text(), line.where.file.empty() ? "" : ": "),
                line.text);
}

/// Whether a line of a file is spoken of: then files were read, if only such as every host has.
bool speaks_of_lines(const foreign::Claims& claims) {
  const auto is_line = [](const foreign::Remark& remark) { return remark.where.line != 0; };
  return std::any_of(claims.passed.begin(), claims.passed.end(), is_line) ||
         std::any_of(claims.missed.begin(), claims.missed.end(), is_line);
}

/// Why there is no document: an empty one would replace the file of an earlier import.
base::Error nothing_read(const foreign::Claims& claims, const foreign::Request& request) {
  const auto format = request.formats.size() == 1 ? request.formats.front()->name : std::string_view();
  std::vector<std::string> why;
  for (const auto& line : claims.missed) {
    why.push_back(line.names_file ? line.text : line.where.text() + ": " + line.text);
  }
  std::error_code error;
  const auto root = std::find_if(request.paths.begin(), request.paths.end(), [&](const std::string& path) {
    return std::filesystem::is_directory(path + "/etc", error);
  });
  std::string folders;
  if (why.empty() && !request.paths.empty()) {
    folders = " in " + base::join(request.paths, ", ");
    if (root == request.paths.end()) why.emplace_back("name its files, or another format");
  } else if (why.empty()) {
    why.emplace_back(format.empty() ? "name a format and its files, as in import nm FILE"
                                    : "name files or folders after the format");
  }
  constexpr std::size_t kShown = 3;
  if (why.size() > kShown) {
    why.resize(kShown);
    why.emplace_back("and others");
  }
  if (root != request.paths.end())
    why.push_back(fmt::format("{0} looks like the root of a host: run `rdma-configctl import {1} --root {0}`",
                              *root, format));
  const auto message =
      fmt::format("no readable file {} was found{}; {}",
                  format.empty() ? std::string("of any format") : fmt::format("of the format {}", format),
                  folders, base::join(why, "; "));
  return {base::Code::kNotFound, message, 0};
}

/// No document, with what was found: a mount or a service may be all that a host has for RDMA.
int refuse_empty(const Context& context, const foreign::Claims& claims, const foreign::Request& request) {
  if (!speaks_of_lines(claims)) return refuse(context, nothing_read(claims, request));
  std::string text = "no document was written: nothing that was found can be imported";
  if (!context.arguments.json) {
    tell_claims(context, claims);
  } else {
    for (const auto* remarks : {&claims.passed, &claims.missed}) {
      for (const auto& line : *remarks) text += fmt::format("; {}: {}", line.where.text(), line.text);
    }
  }
  return refuse(context, {base::Code::kNotFound, text, 0});
}

}  // namespace

int import_from(const Context& context) {
  const auto request = import_request(context);
  if (!request) return refuse(context, request.error());
  const bool live = request->formats.empty();
  if (context.arguments.imported.adopt && !live)
    return refuse(context, {base::Code::kInvalid, "--adopt is valid only with import live", 0});
  if (live && context.offline())
    return refuse(context, {base::Code::kInvalid,
                            "import live cannot be combined with --root: it reads the running system", 0});
  const auto host = context.environment.host(request->paths.empty() ? context.root() : "/");
  foreign::Claims claims;
  if (const auto machine = host->files.read("/etc/machine-id"); machine && *machine)
    claims.machine_id = **machine;
  claims.name_template = context.arguments.imported.name_template;
  if (!claims.name_template.empty()) {
    if (const auto wrong = foreign::wrong_template(claims.name_template); !wrong.empty())
      return refuse(context, {base::Code::kInvalid, fmt::format("--name-template: {}", wrong), 0});
  }
  if (!context.offline()) {
    claims.has_option = [&](const std::string& module, const std::string& option) -> std::optional<bool> {
      const auto info = host->modules.info(module);
      if (!info || !*info) return std::nullopt;
      const auto& known = (*info)->parameters;
      return std::find(known.begin(), known.end(), option) != known.end();
    };
    const auto world = kinds::World::observe(*host);
    if (!world && live) return refuse(context, world.error().in("reading the host"));
    if (world) claims.known = foreign::known_ports(*world);
    if (live) {
      if (auto done = foreign::observe_live(*world, context.arguments.imported.adopt, claims); !done)
        return refuse(context, done.error());
    }
  }
  if (!live && foreign::gather(*request, host->files, claims) == 0)
    return refuse_empty(context, claims, *request);
  const auto text = foreign::make_document(claims, check);
  if (!text) return refuse(context, text.error().in("composing the document"));
  const auto exit = claims.missed.empty() ? model::Exit::kOk : model::Exit::kPartly;
  const int status = status_of(context, exit);
  const auto output = context.arguments.output == "-" ? std::string() : context.arguments.output;
  if (!output.empty()) {
    if (auto done = write_output(output, *text); !done) return refuse(context, done.error());
  }
  if (context.arguments.json) {
    emit(context, import_json(claims, *text, status));
    return status;
  }
  tell_claims(context, claims);
  if (output.empty()) context.environment.out << *text;
  return status;
}

}  // namespace rdmacfg::ctl
