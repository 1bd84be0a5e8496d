// SPDX-License-Identifier: Apache-2.0
#include "catalog/owned_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "catalog/all.hpp"
#include "kinds/address/backend.hpp"
#include "system/temporary_file.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

/// Of the state, the ledger and the daemon, which belong to no kind.
constexpr std::array<std::string_view, 3> kRecordFolders{"/run/rdma-configd", "/var/lib/rdma-configd",
                                                         "/var/lib/rdma-configd/generations"};

/// Of the document, which set, edit and `apply --install` write.
constexpr std::array<std::string_view, 2> kDocumentFolders{"/etc/rdma-configd", "/etc/rdma-configd/conf.d"};

bool is_pattern(std::string_view path) { return path.find('*') != std::string_view::npos; }

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/')); }

/// A folder, or those that match its pattern; the pattern is in the last part of the path.
Result<std::vector<std::string>> folders_of(std::string_view pattern, system::Files& files) {
  if (!is_pattern(pattern)) return std::vector{std::string(pattern)};
  const auto names = files.list(std::string(folder_of(pattern)));
  if (!names) return base::fail(names.error());
  std::vector<std::string> out;
  for (const auto& name : *names) {
    auto path = fmt::format("{}/{}", folder_of(pattern), name);
    if (matches(pattern, path)) out.push_back(std::move(path));
  }
  return out;
}

/// Whether a file of this declaration is ours by its text, where names do not say so.
bool is_ours_by_text(const OwnedFile& file, const std::string& path, system::Files& files) {
  if (file.ours == nullptr) return true;
  const auto text = files.read(path);
  return text && *text && file.ours(**text);  // what is not to be read is not ours
}

/// Patterns of the folders that declared files are in.
const std::set<std::string_view>& folder_patterns() {
  static const auto kPatterns = [] {
    std::set<std::string_view> out(kRecordFolders.begin(), kRecordFolders.end());
    for (const auto* file : owned_files()) out.insert(folder_of(file->path));
    return out;
  }();
  return kPatterns;
}

std::string escaped_for_man(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') out += '\\';
    out += c;
  }
  return out;
}

bool in_etc(const OwnedFile& file) { return file.path.starts_with("/etc/"); }

}  // namespace

const std::vector<const OwnedFile*>& owned_files() {
  static const auto kFiles = [] {
    std::vector<const OwnedFile*> out;
    for (const auto* kind : all_kinds()) {
      for (const auto& file : kind->files()) out.push_back(&file);
    }
    std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->path < b->path; });
    return out;
  }();
  return kFiles;
}

const OwnedFile* owned_file(std::string_view path) {
  const OwnedFile* found = nullptr;
  for (const auto* file : owned_files()) {
    if (file->path == path) return file;
    if (found == nullptr && matches(file->path, path)) found = file;
  }
  return found;
}

bool matches(std::string_view pattern, std::string_view path) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == path;
  const auto before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after))
    return false;
  const auto inside = path.substr(before.size(), path.size() - before.size() - after.size());
  return inside.find('/') == std::string_view::npos;
}

Result<std::vector<std::string>> files_of(const OwnedFile& file, system::Files& files) {
  if (!is_pattern(file.path)) {
    std::vector<std::string> only;
    if (is_ours_by_text(file, std::string(file.path), files)) only.emplace_back(file.path);
    return only;
  }
  const auto folders = folders_of(folder_of(file.path), files);
  if (!folders) return base::fail(folders.error());
  std::vector<std::string> out;
  for (const auto& folder : *folders) {
    const auto names = files.list(folder);
    if (!names && names.error().sys_errno == ENOTDIR) continue;  // nothing of ours can be in it
    if (!names) return base::fail(names.error());
    for (const auto& name : *names) {
      auto path = fmt::format("{}/{}", folder, name);
      if (owned_file(path) == &file && is_ours_by_text(file, path, files)) out.push_back(std::move(path));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<const OwnedFile*> initramfs_files() {
  std::vector<const OwnedFile*> out;
  for (const auto* file : owned_files()) {
    if (file->text_after != nullptr) out.push_back(file);
  }
  return out;
}

Result<void> after_write(OwnedFile::AfterWrite step, std::span<const std::string> paths, system::Host& host) {
  if (host.offline || paths.empty()) return {};
  switch (step) {
    case OwnedFile::AfterWrite::kNothing:
      break;
    case OwnedFile::AfterWrite::kReloadUdev:
      (void)host.udev.reload_rules();  // only makes sooner what udevd does by itself
      break;
    case OwnedFile::AfterWrite::kReloadUnits:
      return host.units.reload_manager();
    case OwnedFile::AfterWrite::kLoadProfile:
      if (const auto state = host.network_manager.observe(); state && *state)
        (void)host.network_manager.load(paths);
      break;
    case OwnedFile::AfterWrite::kTellBackends:
      return tell_backends(host);
  }
  return {};
}

bool is_managed_file(std::string_view path) {
  return path.starts_with("/etc/") && owned_file(path) != nullptr;
}

std::vector<std::string> managed_folders(system::Files& files) {
  std::set<std::string> out;
  for (const auto pattern : folder_patterns()) {
    if (auto folders = folders_of(pattern, files)) out.insert(folders->begin(), folders->end());
  }
  return {out.begin(), out.end()};
}

void sync_managed_folders(system::Files& files) {
  // A folder that the disk refuses is told by the next write there.
  for (const auto& folder : managed_folders(files)) (void)files.sync(folder);
}

void clear_temporaries(system::Files& files) {
  auto folders = managed_folders(files);
  folders.insert(folders.end(), kDocumentFolders.begin(), kDocumentFolders.end());
  for (const auto& folder : folders) {
    const auto names = files.list(folder);
    if (!names) continue;  // nothing that is ours can be in it
    for (const auto& name : *names) {
      if (system::is_temporary_file(name)) (void)files.remove(fmt::format("{}/{}", folder, name));
    }
  }
}

std::string owned_files_as_markdown() {
  std::string out = "| path | what | extent | by | initramfs |\n|---|---|---|---|---|\n";
  for (const auto* file : owned_files()) {
    std::string_view kind;
    for (const auto* candidate : all_kinds()) {
      const auto files = candidate->files();
      if (file >= files.data() && file < files.data() + files.size()) kind = candidate->name();
    }
    const std::string_view extent = file->extent == OwnedFile::Extent::kBlock    ? "block"
                                    : file->extent == OwnedFile::Extent::kRecord ? "record"
                                                                                 : "whole";
    out += fmt::format("| `{}` | {} | {} | `{}` | {} |\n", file->path, file->what, extent, kind,
                       file->text_after == nullptr ? "" : "yes");
  }
  return out;
}

std::string owned_files_as_man() {
  std::string out;
  for (const auto* file : owned_files()) {
    if (!in_etc(*file)) continue;
    const std::string_view block = file->extent == OwnedFile::Extent::kBlock
                                       ? "\nThe block between two markers is ours; the rest is left alone."
                                       : "";
    out += fmt::format(".TP\n.I {}\n{}{}\n", escaped_for_man(file->path), escaped_for_man(file->what), block);
  }
  return out;
}

std::string owned_files_as_shell() {
  const auto list = [](std::string_view name, auto wanted) {
    std::string out = fmt::format("{}='\n", name);
    for (const auto* file : owned_files()) {
      if (in_etc(*file) && wanted(*file)) out += fmt::format("{}\n", file->path);
    }
    return out + "'\n";
  };
  auto out = list("whole_files", [](const OwnedFile& file) {
    return file.extent == OwnedFile::Extent::kWhole && !is_pattern(file.path);
  });
  out += list("block_files", [](const OwnedFile& file) { return file.extent == OwnedFile::Extent::kBlock; });
  out += "# Folders in which a killed write can leave a temporary file.\nfolders='\n";
  for (const auto folder : folder_patterns()) {
    if (folder.starts_with("/etc/") && !is_pattern(folder)) out += fmt::format("{}\n", folder);
  }
  return out + "'\n";
}

}  // namespace rdmacfg::kinds
