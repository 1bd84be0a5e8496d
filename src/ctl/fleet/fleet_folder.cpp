// SPDX-License-Identifier: Apache-2.0
#include "ctl/fleet/fleet_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "fleet/finding.hpp"
#include "fleet/host_list.hpp"

namespace rdmacfg::ctl {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFabricFile = "fabric.json";

void wrong_file(FleetFolder& out, const std::string& path, std::string message, std::string hint) {
  out.diagnostics.push_back(
      {model::Severity::kError, {path, 0, 1, 1}, std::move(message), std::move(hint), {}});
}

/// A host's output is there once, in a file of its name or in its folder.
void add_file(FleetFolder& out, const std::string& host, const fs::path& path, std::string_view sort) {
  auto& files = out.files[out.names.try_emplace(base::lower(host), host).first->second];
  const auto other =
      std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.ends_with(sort); });
  if (other == files.end()) {
    files.push_back(path.string());
  } else {
    wrong_file(out, path.string(),
               fmt::format("{} also belongs to host {} and is used instead of this file", *other, host),
               "remove one of the two");
  }
}

void unreadable(FleetFolder& out, const fs::path& path, const std::error_code& error) {
  wrong_file(out, path.string(), error.message(), "it may belong to a host: make it readable, or remove it");
}

/// A file below `path` that has the name of a host's output, such as HOST/tmp/show.json or
/// RACK/HOST.show.json: tools that collect files keep folders. Empty: none.
std::string misplaced_answer(const fs::path& path) {
  constexpr std::size_t kMostEntries = 1000;
  std::string out;
  std::size_t entries = 0;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
       !error && at != fs::recursive_directory_iterator() && entries < kMostEntries; at.increment(error)) {
    ++entries;
    const auto name = "." + at->path().filename().string();
    const bool is_answer = name.ends_with(".show.json") || name.ends_with(".diff.json");
    if (is_answer && (out.empty() || at->path().string() < out)) out = at->path().string();
  }
  return out;
}

/// Whether a name is that of a packed file or of an archive, which may have the output of hosts.
bool is_packed(const std::string& name) {
  constexpr std::array<std::string_view, 10> kEndings{".gz",  ".bz2", ".xz",  ".zst", ".lz4",
                                                      ".tar", ".tgz", ".zip", ".7z",  ".cpio"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const auto ending) { return base::lower(name).ends_with(ending); });
}

void packed_file(FleetFolder& out, const fs::path& path) {
  wrong_file(out, path.string(), "is packed and was not read", "unpack it there, or remove it");
}

/// HOST/diff.json.gz without HOST/diff.json; where both are there, the packed file is an older one.
void add_packed(FleetFolder& out, const fs::path& folder) {
  std::error_code error;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const auto name = at->path().filename().string();
    if (!is_packed(name)) continue;
    for (const auto* file : {"show.json", "diff.json", kFabricFile}) {
      std::error_code ignored;
      if (name.starts_with(file) && !fs::exists(folder / file, ignored)) packed_file(out, at->path());
    }
  }
}

/// HOST/show.json and HOST/diff.json, and HOST/fabric.json beside them. An empty folder is that of a host
/// whose output was lost.
void add_folder(FleetFolder& out, const fs::path& path) {
  const auto name = path.filename().string();
  std::error_code error;
  const bool empty = fs::is_empty(path, error);
  if (error) return unreadable(out, path, error);
  bool any = false;
  add_packed(out, path);
  for (const auto* file : {"show.json", "diff.json", kFabricFile}) {
    const auto sort = fs::symlink_status(path / file, error).type();
    if (sort == fs::file_type::not_found) continue;
    if (sort == fs::file_type::none) return unreadable(out, path, error);
    any = true;
    if (file == std::string_view(kFabricFile))
      out.fabrics.push_back((path / file).string());
    else if (fleet::is_host_name(name))
      add_file(out, name, path / file, file);
    else
      wrong_file(out, (path / file).string(), "its folder does not have the name of a host",
                 "call it HOST/" + std::string(file));
  }
  if (any) return;
  if (empty)
    return wrong_file(out, path.string(), "has neither show.json nor diff.json of the host",
                      "collect them again, or remove the folder");
  if (const auto file = misplaced_answer(path); !file.empty())
    wrong_file(out, file, "is nested too deeply and was not read",
               "move it to HOST.show.json or HOST/show.json, or run fleet report on its own folder");
}

}  // namespace

void check_fleet_names(FleetFolder& out, const std::string& folder) {
  std::vector<std::string> both;
  for (const auto& [lower, name] : out.names) {
    const auto known = out.names.find(lower.substr(0, lower.find('.')));
    if (lower.find('.') == std::string::npos || known == out.names.end()) continue;
    if (both.empty() || both.back() != known->second) both.push_back(known->second);
  }
  if (both.empty()) return;
  wrong_file(
      out, folder,
      fmt::format("{} {} output under both the short and the full name: {}", fleet::hosts_text(both.size()),
                  both.size() == 1 ? "has" : "have", fleet::fold_hosts(both)),
      "remove one of the two, or list the hosts that count with --hosts");
}

base::Result<FleetFolder> fleet_files_in(const std::string& folder, std::size_t most) {
  FleetFolder out;
  std::error_code error;
  std::vector<fs::path> paths;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error))
    paths.push_back(at->path());
  if (error) return base::fail(base::Code::kNotFound, fmt::format("{}: {}", folder, error.message()));
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    const auto name = path.filename().string();
    if (name.starts_with('.')) continue;
    if (fs::is_directory(path, error)) {
      add_folder(out, path);
      continue;
    }
    if (is_packed(name)) {
      packed_file(out, path);
      continue;
    }
    if (!name.ends_with(".json")) {
      // Such as a link to a host's folder that is not there now.
      std::error_code ignored;
      if (error && (error != std::errc::no_such_file_or_directory || fs::is_symlink(path, ignored)))
        unreadable(out, path, error);
      continue;
    }
    if (name == kFabricFile || name.ends_with(std::string(".") + kFabricFile)) {
      out.fabrics.push_back(path.string());
      continue;
    }
    const bool ours = name.ends_with(".show.json") || name.ends_with(".diff.json");
    const auto host = name.substr(0, name.size() - std::min(name.size(), std::string(".show.json").size()));
    if (!ours || !fleet::is_host_name(host)) {
      wrong_file(out, path.string(), "the name of the file does not name a host",
                 "call it HOST.show.json, HOST.diff.json or NAME.fabric.json");
      continue;
    }
    add_file(out, host, path, std::string_view(name).substr(host.size() + 1));
  }
  if (out.files.size() > most)
    return base::fail(base::Code::kInvalid,
                      fmt::format("{}: has files of more than the {} hosts allowed", folder, most));
  return out;
}

}  // namespace rdmacfg::ctl
