// SPDX-License-Identifier: Apache-2.0
#include "formats/drop_ins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// Names of folders of drop-ins that count for a unit, the most specific first.
std::vector<std::string> drop_in_folders(const std::string& unit) {
  std::vector<std::string> out{unit + ".d"};
  const auto suffix = unit.substr(std::min(unit.rfind('.'), unit.size()));
  auto stem = unit.substr(0, unit.size() - suffix.size());
  if (const auto at = stem.find('@'); at != std::string::npos && at + 1 < stem.size()) {
    stem.resize(at + 1);
    out.push_back(stem + suffix + ".d");
  }
  // "srp-daemon.service" has those of "srp-.service", too.
  for (auto dash = stem.rfind('-'); dash != std::string::npos && dash != 0;
       dash = stem.rfind('-', dash - 1)) {
    if (dash + 1 < stem.size()) out.push_back(stem.substr(0, dash + 1) + suffix + ".d");
  }
  if (!suffix.empty()) out.push_back(suffix.substr(1) + ".d");
  return out;
}

}  // namespace

std::vector<DropIn> other_drop_ins(system::Files& files, const std::string& unit, std::string_view ours) {
  std::map<std::string, std::string> paths;  // by name: a file masks those of its name that come later here
  const auto take = [&](std::string_view folder, const std::string& drop_ins) {
    const auto whole = fmt::format("{}/{}", folder, drop_ins);
    const auto names = files.list(whole);
    if (!names) return;
    for (const auto& name : *names) {
      if (name.ends_with(".conf") && name != ours) paths.try_emplace(name, fmt::format("{}/{}", whole, name));
    }
  };
  // The folder counts before how closely its name fits, but those of a whole type come last (dropin.c,
  // unit_file_find_dropin_paths()).
  const auto folders = drop_in_folders(unit);
  const auto of_type = std::find_if(folders.begin(), folders.end(), [](const std::string& name) {
    return name.find('.') == name.rfind('.');
  });
  for (const auto folder : kUnitLoadPath)
    std::for_each(folders.begin(), of_type, [&](const std::string& name) { take(folder, name); });
  for (const auto folder : kUnitLoadPath)
    std::for_each(of_type, folders.end(), [&](const std::string& name) { take(folder, name); });
  std::vector<DropIn> out;
  for (auto& [name, path] : paths) out.push_back({std::move(path), name > ours});
  return out;
}

std::vector<UnitLine> unit_lines(std::string_view text) {
  std::vector<UnitLine> out;
  bool goes_on = false;
  int number = 0;
  for (auto line : base::split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto begin = line.find_first_not_of(" \t");
    if (begin != std::string_view::npos && (line[begin] == '#' || line[begin] == ';')) continue;
    if (!goes_on) out.push_back({{}, number});
    auto& whole = out.back().text;
    whole += line;
    // A backslash that another one stands before is only itself.
    const auto last = whole.find_last_not_of('\\');
    const auto backslashes = whole.size() - (last == std::string::npos ? 0 : last + 1);
    goes_on = backslashes % 2 == 1;
    if (goes_on) whole.back() = ' ';
  }
  return out;
}

std::vector<std::string> assigned_values(std::string_view text, std::string_view key) {
  std::vector<std::string> out;
  for (const auto& whole : unit_lines(text)) {
    const std::string_view line = whole.text;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || base::trim(line.substr(0, equals)) != key) continue;
    out.emplace_back(base::trim(line.substr(equals + 1)));
  }
  return out;
}

}  // namespace rdmacfg::kinds
