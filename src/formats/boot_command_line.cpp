// SPDX-License-Identifier: Apache-2.0
#include "formats/boot_command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "formats/shell_value.hpp"
#include "formats/storage/mount_table.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::size_t kLoaderEntriesMost = 64;
constexpr std::string_view kLoaderEntryEnd = ".conf";

std::vector<std::string> files_ending_in(system::Files& files, const std::string& folder,
                                         std::string_view end) {
  std::vector<std::string> out;
  const auto names = files.list(folder);
  for (const auto& name : names ? *names : std::vector<std::string>()) {
    if (name.ends_with(end)) out.push_back(fmt::format("{}/{}", folder, name));
  }
  return out;
}

/// Debian's GRUB reads the folder after the file, and each assignment replaces those before it, unless it
/// names the variable.
void add_grub_lines(system::Files& files, std::vector<BootCommandLine>& out) {
  constexpr std::array<std::string_view, 2> kVariables{"GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"};
  std::map<std::string_view, std::vector<BootCommandLine>> by_variable;
  auto paths = files_ending_in(files, "/etc/default/grub.d", ".cfg");
  paths.insert(paths.begin(), "/etc/default/grub");
  for (const auto& path : paths) {
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;
    for (const auto variable : kVariables) {
      auto value = shell_value(**text, variable);
      if (!value) continue;
      auto& lines = by_variable[variable];
      const bool adds = value->find(fmt::format("${}", variable)) != std::string::npos ||
                        value->find(fmt::format("${{{}", variable)) != std::string::npos;
      if (!adds) lines.clear();
      lines.push_back({path, **text, std::move(*value)});
    }
  }
  for (auto& [variable, lines] : by_variable) std::move(lines.begin(), lines.end(), std::back_inserter(out));
}

/// An entry of the boot loader specification. It has one key a line, and "options" may come more than once.
struct LoaderEntry {
  std::string path, text, version, options;
};

std::optional<LoaderEntry> read_loader_entry(system::Files& files, const std::string& path) {
  auto text = files.read_linked(path);
  if (!text || !*text) return std::nullopt;
  LoaderEntry out{path, std::move(**text), {}, {}};
  for (const auto raw : base::split(out.text, '\n')) {
    const auto line = base::trim(raw);
    const auto blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos) continue;
    const auto key = line.substr(0, blank), value = base::trim(line.substr(blank));
    if (key == "options") out.options.append(value).append(" ");
    if (key == "version") out.version = value;
  }
  return out;
}

/// By which boot loaders name an entry: its file without ".conf" and counted tries ("+3-1").
std::string_view loader_entry_id(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  path.remove_suffix(kLoaderEntryEnd.size());
  const auto plus = path.rfind('+');
  const bool counted = plus != std::string_view::npos &&
                       path.find_first_not_of("0123456789-", plus + 1) == std::string_view::npos;
  return counted ? path.substr(0, plus) : path;
}

/// The value of the last line "key=value" or "key value"; empty without one.
std::string loader_setting(system::Files& files, const std::string& path, std::string_view key) {
  const auto text = files.read_linked(path);
  std::string out;
  if (!text || !*text) return out;
  for (const auto raw : base::split(**text, '\n')) {
    const auto line = base::trim(raw);
    if (!line.starts_with(key) || line.size() == key.size()) continue;
    const auto rest = line.substr(key.size());
    if (std::string_view("= \t").find(rest.front()) != std::string_view::npos)
      out = base::trim(rest.substr(1));
  }
  return out;
}

/// The folders of boot loaders, on the boot partition or the EFI partition; without those that a look would
/// mount (the Boot Loader Specification).
std::vector<std::string> loader_folders(const std::map<std::string, Mounted>& mounts) {
  std::vector<std::string> out;
  for (const std::string partition : {"/boot", "/efi", "/boot/efi"}) {
    if (!waits_for_access(partition, mounts)) out.push_back(partition + "/loader");
  }
  return out;
}

/// The boot loader's default: a pattern for the name of an entry; empty where none is set.
std::string default_loader_entry(system::Files& files, const std::map<std::string, Mounted>& mounts) {
  // RHEL links the file of GRUB's variables to the EFI partition.
  const bool looks = !waits_for_access("/boot", mounts) && !waits_for_access("/boot/efi", mounts);
  for (const auto* path : {"/boot/grub2/grubenv", "/boot/grub/grubenv"}) {
    for (const auto* key : {"next_entry", "saved_entry"}) {
      if (auto value = looks ? loader_setting(files, path, key) : std::string(); !value.empty()) return value;
    }
  }
  std::string value;
  for (const auto& folder : loader_folders(mounts)) {
    if (value.empty()) value = loader_setting(files, folder + "/loader.conf", "default");
  }
  if (value.ends_with(kLoaderEntryEnd)) value.resize(value.size() - kLoaderEntryEnd.size());
  return value.starts_with('@') ? std::string() : value;
}

/// Of several kernels only the entry that the next boot takes unless somebody chooses another: the default of
/// the boot loader, else the newest.
void add_loader_entry(system::Files& files, std::vector<BootCommandLine>& out) {
  const auto mounts = observe_mounts(files);
  std::vector<std::string> paths;
  for (const auto& folder : loader_folders(mounts)) {
    const auto more = files_ending_in(files, folder + "/entries", kLoaderEntryEnd);
    paths.insert(paths.end(), more.begin(), more.end());
  }
  const auto wanted = default_loader_entry(files, mounts);
  const auto is_wanted = [&wanted](const std::string& path) {
    return !wanted.empty() && base::matches_glob(wanted, loader_entry_id(path));
  };
  if (std::any_of(paths.begin(), paths.end(), is_wanted))
    std::erase_if(paths, [&](const std::string& path) { return !is_wanted(path); });
  if (paths.size() > kLoaderEntriesMost)
    paths.erase(paths.begin(), paths.end() - static_cast<std::ptrdiff_t>(kLoaderEntriesMost));
  std::optional<LoaderEntry> newest;
  for (const auto& path : paths) {
    auto entry = read_loader_entry(files, path);
    if (!entry) continue;
    const int later = newest ? ::strverscmp(entry->version.c_str(), newest->version.c_str()) : 1;
    if (later > 0 || (later == 0 && ::strverscmp(path.c_str(), newest->path.c_str()) > 0))
      newest = std::move(entry);
  }
  if (newest && !newest->options.empty())
    out.push_back({std::move(newest->path), std::move(newest->text), std::move(newest->options)});
}

std::vector<std::string> units_behind(std::string_view key, std::string_view command_line) {
  std::vector<std::string> out;
  for (const auto word : base::words_of(command_line, " \t\r\n")) {
    std::string plain(word);
    std::erase(plain, '"');
    if (!plain.starts_with(key)) continue;
    if (auto unit = model::UnitName::parse(std::string_view(plain).substr(key.size())))
      out.push_back(std::move(unit->text));
  }
  return out;
}

}  // namespace

int BootCommandLine::line_of(std::string_view word) const {
  int number = 0;
  for (const auto line : base::split(text, '\n')) {
    ++number;
    if (line.find(word) != std::string_view::npos && !base::trim(line).starts_with('#')) return number;
  }
  return 1;
}

std::vector<BootCommandLine> boot_command_lines(system::Files& files) {
  std::vector<BootCommandLine> out;
  add_grub_lines(files, out);
  const std::string path = "/etc/kernel/cmdline";
  if (const auto text = files.read_linked(path); text && *text) out.push_back({path, **text, **text});
  add_loader_entry(files, out);
  return out;
}

std::vector<std::string> units_masked_by(std::string_view command_line) {
  return units_behind("systemd.mask=", command_line);
}

std::vector<std::string> units_wanted_by(std::string_view command_line) {
  return units_behind("systemd.wants=", command_line);
}

std::string target_booted_by(std::string_view command_line) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kWords{
      {{"emergency", "emergency.target"},
       {"-b", "emergency.target"},
       {"rescue", "rescue.target"},
       {"single", "rescue.target"},
       {"-s", "rescue.target"},
       {"s", "rescue.target"},
       {"S", "rescue.target"},
       {"1", "rescue.target"},
       {"2", "multi-user.target"},
       {"3", "multi-user.target"},
       {"4", "multi-user.target"},
       {"5", "graphical.target"}}};
  constexpr std::string_view kUnit = "systemd.unit=";
  std::string out;
  for (const auto word : base::words_of(command_line, " \t\r\n")) {
    std::string plain(word);
    std::erase(plain, '"');
    if (plain.starts_with(kUnit)) {
      const auto value = plain.substr(kUnit.size());
      const auto unit = model::UnitName::parse(value);
      if (unit && unit->text == value) out = value;  // systemd passes over one without a suffix
    }
    for (const auto& [name, target] : kWords) {
      if (word == name) out = target;
    }
  }
  return out;
}

std::string running_command_line(system::Files& files) {
  const auto text = files.read("/proc/cmdline");
  return text && *text ? **text : std::string();
}

}  // namespace rdmacfg::kinds
