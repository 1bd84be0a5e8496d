// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <fstream>

#include "base/text.hpp"
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/output_file.hpp"
#include "foreign/export/exporter.hpp"
#include "foreign/import/formats.hpp"

namespace rdmacfg::ctl {

using Json = nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

base::Result<const foreign::Target*> target_of(const Arguments& arguments) {
  std::vector<std::string> known;
  for (const auto& target : foreign::targets()) known.emplace_back(target.name);
  const auto& words = arguments.words;
  if (words.empty()) return base::fail(base::Code::kInvalid, "export to what? " + base::join(known, ", "));
  if (words.size() > 1)
    return base::fail(base::Code::kInvalid,
                      fmt::format("export takes one format; unexpected argument {}", words[1]));
  const auto* target = foreign::find_target(words.front());
  if (target != nullptr) return target;
  auto near = base::nearest(words.front(), known);
  if (const auto called = foreign::format_called(words.front()); foreign::find_target(called) != nullptr)
    near = std::string(called);
  return base::fail(base::Code::kInvalid,
                    fmt::format("{} is not a format that can be exported; {}", words.front(),
                                near ? fmt::format("did you mean {}?", *near)
                                     : "the formats are " + base::join(known, ", ")));
}

/// The files below a folder, which is created with those above it.
base::Result<void> write_tree(const fs::path& folder, const std::vector<foreign::File>& files) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    if (fs::exists(fs::symlink_status(folder, error)))
      return base::fail(base::Code::kInvalid, fmt::format("--output {}: not a directory", folder.string()));
    error.clear();
    fs::create_directories(folder, error);
    if (error)
      return base::fail(base::Code::kNotFound,
                        fmt::format("--output {}: {}", folder.string(), error.message()));
  }
  for (const auto& file : files) {
    const auto path =
        folder / (file.path.empty() ? fs::path("runbook.sh") : fs::path(file.path).relative_path());
    fs::create_directories(path.parent_path(), error);
    if (error)
      return base::fail(base::Code::kIo, fmt::format("{}: {}", path.parent_path().string(), error.message()));
    if (auto done = write_output(path, file.text); !done) return done;
    // NetworkManager does not read profiles that others may read.
    if (file.path.ends_with(".nmconnection"))
      fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, error);
    if (file.path.empty())
      fs::permissions(path, fs::perms::owner_all | fs::perms::group_read | fs::perms::others_read, error);
    if (error) return base::fail(base::Code::kIo, fmt::format("{}: {}", path.string(), error.message()));
  }
  return {};
}

Json export_json(const foreign::Output& made, int status) {
  Json out{{"schema", kExportSchema},
           {"command", "export"},
           {"error", nullptr},
           {"files", Json::array()},
           {"not_expressed", Json::array()}};
  for (const auto& file : made.files) {
    out["files"].push_back(
        {{"path", file.path.empty() ? Json(nullptr) : Json(file.path)}, {"text", file.text}});
  }
  for (const auto& note : made.notes)
    out["not_expressed"].push_back(
        {{"file", note.where.file}, {"line", note.where.line}, {"text", note.text}});
  out["exit"] = {{"status", status}, {"name", made.notes.empty() ? "ok" : "partly"}};
  return out;
}

}  // namespace

int export_to(const Context& context) {
  const auto target = target_of(context.arguments);
  if (!target) return refuse(context, target.error());
  const auto document = load(context);
  if (!document) return refuse(context, document.error());
  const auto report = core::validate(*document);
  if (report.exit == model::Exit::kError) {
    tell(context, *document, report.diagnostics);
    return refuse(context, {base::Code::kInvalid, "the document has errors; nothing is exported", 0});
  }
  const auto made = foreign::export_document(document->sections, **target);
  const int status = status_of(context, made.notes.empty() ? model::Exit::kOk : model::Exit::kPartly);
  const auto& output = context.arguments.output;
  if (!output.empty()) {
    if (auto done = write_tree(output, made.files); !done) return refuse(context, done.error());
  }
  if (context.arguments.json) {
    emit(context, export_json(made, status));
    return status;
  }
  for (const auto& note : made.notes)
    context.say(fmt::format("{}: not expressed: {}", note.where.text(), note.text));
  if (!output.empty()) return status;
  for (const auto& file : made.files) {
    if (!file.path.empty()) context.environment.out << fmt::format("# ==> {} <==\n", file.path);
    context.environment.out << file.text;
  }
  return status;
}

}  // namespace rdmacfg::ctl
