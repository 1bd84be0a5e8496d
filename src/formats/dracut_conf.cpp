// SPDX-License-Identifier: Apache-2.0
#include "formats/dracut_conf.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// dropindirs_sort() of dracut.sh, by sort -V: 9-site comes before 10-site.
struct ByVersion {
  bool operator()(const std::string& a, const std::string& b) const {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
  }
};

/// Words of a shell value, without its quotes and a comment behind it.
std::vector<std::string_view> dracut_words(std::string_view value) {
  if (value.starts_with('"') || value.starts_with('\'')) {
    const auto end = value.find(value.front(), 1);
    value = value.substr(1, end == std::string_view::npos ? end : end - 1);
  } else {
    value = value.substr(0, value.find_first_of(" \t#"));
  }
  return base::words_of(value);
}

void read_dracut_text(const std::string& path, std::string_view text, DracutConf& out) {
  int number = 0;
  for (const auto raw : base::split(text, '\n')) {
    ++number;
    const auto line = base::trim(raw);
    const auto equals = line.find('=');
    if (line.starts_with('#') || equals == std::string_view::npos) continue;
    auto name = line.substr(0, equals);
    const bool adds = name.ends_with('+');
    if (adds) name.remove_suffix(1);
    const auto words = dracut_words(line.substr(equals + 1));
    if (name == "hostonly") {
      const bool no = !words.empty() && words.front() == "no";
      out.generic = no ? std::optional(DracutConf::Place{path, number}) : std::nullopt;
    } else if (name == "omit_dracutmodules" || name == "install_items") {
      auto& names = name == "install_items" ? out.installed_files : out.omitted_modules;
      if (!adds) names.clear();
      for (const auto word : words) names.emplace(word);
    }
  }
}

}  // namespace

DracutConf read_dracut_conf(system::Files& files) {
  constexpr std::array<std::string_view, 3> kDracutFolders{
      "/etc/dracut.conf.d", "/usr/lib/dracut/dracut.conf.d", "/run/initramfs/dracut.conf.d"};
  constexpr std::string_view kEnding = ".conf";
  // By name: a file of an earlier folder replaces those of its name.
  std::map<std::string, std::string, ByVersion> paths;
  for (const auto folder : kDracutFolders) {
    const auto names = files.list(std::string(folder));
    for (const auto& name : names ? *names : std::vector<std::string>()) {
      if (!name.ends_with(kEnding)) continue;
      paths.try_emplace(name.substr(0, name.size() - kEnding.size()), fmt::format("{}/{}", folder, name));
    }
  }
  DracutConf out;
  const auto take = [&](const std::string& path) {
    if (const auto text = files.read_linked(path); text && *text) read_dracut_text(path, **text, out);
  };
  take("/etc/dracut.conf");
  for (const auto& [name, path] : paths) take(path);
  return out;
}

}  // namespace rdmacfg::kinds
