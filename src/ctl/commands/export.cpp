// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "base/text.hpp"
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/output_file.hpp"
#include "foreign/export/exporter.hpp"
#include "foreign/import/formats.hpp"
#include "formats/os_release.hpp"
#include "system/rdma.hpp"

namespace rdmacfg::ctl {

using Json = nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

base::Result<const foreign::Target*> target_of(const Arguments& arguments) {
  std::vector<std::string> known;
  for (const auto& target : foreign::targets()) known.emplace_back(target.name);
  const auto& words = arguments.words;
  if (words.empty())
    return base::fail(base::Code::kInvalid,
                      "export: FORMAT is missing; the formats are " + base::join(known, ", "));
  if (words.size() > 1)
    return base::fail(base::Code::kInvalid,
                      fmt::format("export takes one format; unexpected argument {}", words[1]));
  const auto* target = foreign::find_target(words.front());
  if (target != nullptr) return target;
  auto near = base::nearest(words.front(), known);
  if (const auto called = foreign::format_called(words.front()); foreign::find_target(called) != nullptr)
    near = std::string(called);
  // Import has one format for all files of NVMe, and calls the other as the kernel does.
  const auto word = base::lower(words.front());
  if (word == "lio" || word == "rtslib" || word == "saveconfig.json") near = "targetcli";
  if (word == "nvme" || word == "nvmet") near = "nvmetcli";
  if (word == "script" || word == "scripts" || word == "shell" || word == "sh" || word == "ip")
    near = "commands";
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
    auto done =
        foreign::is_private(file) ? write_private_output(path, file.text) : write_output(path, file.text);
    if (!done) return done;
    if (file.path.empty())
      fs::permissions(path, fs::perms::owner_all | fs::perms::group_read | fs::perms::others_read, error);
    if (error) return base::fail(base::Code::kIo, fmt::format("{}: {}", path.string(), error.message()));
  }
  return {};
}

/// Values of this host, or of the image, that its document does not have.
foreign::ExportHost export_host(const Context& context) {
  foreign::ExportHost out;
  const auto host = context.environment.host(context.root());
  const auto ids = kinds::observe_distribution_ids(host->files);
  const auto words = base::words_of(ids);
  out.debian = std::find(words.begin(), words.end(), "debian") != words.end();
  if (const auto text = host->files.read("/etc/machine-id"); text && *text) out.machine_id = **text;
  if (!context.replayed()) {  // a report has no disks
    out.file_size = [root = context.root()](const std::string& path) -> std::optional<std::uint64_t> {
      std::error_code error;
      const auto at = root / fs::path(path).relative_path();
      if (!fs::is_regular_file(at, error)) return std::nullopt;
      const auto size = fs::file_size(at, error);
      return error ? std::nullopt : std::optional<std::uint64_t>(size);
    };
  }
  if (context.offline()) return out;
  if (const auto devices = host->rdma.observe_devices()) {
    for (const auto& device : *devices) {
      for (const auto& port : device.ports) {
        auto prefix = port.gid_prefix;
        std::erase(prefix, ':');
        if (port.guid.number != 0 && !prefix.empty()) out.gid_prefixes.emplace(port.guid, prefix);
      }
    }
  }
  return out;
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
  const bool of_host = (*target)->render_section != nullptr;
  const auto made = foreign::export_document(document->sections, **target,
                                             of_host ? export_host(context) : foreign::ExportHost{});
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
  if (of_host && made.files.empty())
    context.say(fmt::format("the document has no [[{}]]: no file is written", (*target)->section));
  if (!output.empty()) return status;
  for (const auto& file : made.files) {
    if (!file.path.empty() && foreign::takes_comments(file))
      context.environment.out << fmt::format("# ==> {} <==\n", file.path);
    context.environment.out << file.text;
  }
  return status;
}

}  // namespace rdmacfg::ctl
