// SPDX-License-Identifier: Apache-2.0
#include "formats/boot_command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "formats/shell_value.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::size_t kLoaderEntriesMost = 64;

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

/// Entries have one key a line, and "options" may come more than once.
void add_loader_entries(system::Files& files, std::vector<BootCommandLine>& out) {
  constexpr std::string_view kOptions = "options";
  auto paths = files_ending_in(files, "/boot/loader/entries", ".conf");
  if (paths.size() > kLoaderEntriesMost)
    paths.erase(paths.begin(), paths.end() - static_cast<std::ptrdiff_t>(kLoaderEntriesMost));
  for (const auto& path : paths) {
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;
    std::string words;
    for (const auto raw : base::split(**text, '\n')) {
      const auto line = base::trim(raw);
      const bool options = line.starts_with(kOptions) && line.size() > kOptions.size() &&
                           (line[kOptions.size()] == ' ' || line[kOptions.size()] == '\t');
      if (options) words.append(base::trim(line.substr(kOptions.size()))).append(" ");
    }
    if (!words.empty()) out.push_back({path, **text, std::move(words)});
  }
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
  add_loader_entries(files, out);
  return out;
}

std::vector<std::string> units_masked_by(std::string_view command_line) {
  return units_behind("systemd.mask=", command_line);
}

std::vector<std::string> units_wanted_by(std::string_view command_line) {
  return units_behind("systemd.wants=", command_line);
}

std::string running_command_line(system::Files& files) {
  const auto text = files.read("/proc/cmdline");
  return text && *text ? **text : std::string();
}

}  // namespace rdmacfg::kinds
