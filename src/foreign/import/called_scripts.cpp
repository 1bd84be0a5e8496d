// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/called_scripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "config/guard.hpp"
#include "foreign/import/boot/script_kept.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

namespace {

class CalledScripts {
 public:
  CalledScripts(std::span<const File> own, system::Files& files, Claims& claims)
      : files_(files), claims_(claims) {
    for (const auto& file : own) seen_.insert(file.path);
  }

  void caller(const File& file) {
    const bool unit = file.path.ends_with(".service") || unit_of(file.path).ends_with(".service");
    int number = 0;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      const auto line = base::trim(raw);
      if (line.empty() || line.front() == '#' || (unit && !line.starts_with("Exec"))) continue;
      paths_of_line(line, {file.path, number});
    }
  }

 private:
  /// Each path of a line, wherever it stands: behind `if`, `[ -x`, "ExecStart=-".
  void paths_of_line(std::string_view line, const Place& where) {
    constexpr std::string_view kEndsOfWords = " \t;&|()\"'=`<>";
    for (auto at = line.find_first_not_of(kEndsOfWords); at != std::string_view::npos;) {
      const auto end = std::min(line.find_first_of(kEndsOfWords, at), line.size());
      auto word = line.substr(at, end - at);
      word.remove_prefix(std::min(word.find_first_not_of("-@:+!"), word.size()));
      if (may_be_script(word) && seen_.emplace(word).second) script(std::string(word), where);
      at = line.find_first_not_of(kEndsOfWords, end);
    }
  }

  static bool may_be_script(std::string_view path) {
    constexpr auto kOthers =
        std::to_array<std::string_view>({"/dev/", "/proc/", "/sys/", "/run/", "/tmp/", "/etc/init.d/"});
    return path.starts_with('/') && path.find_first_of("$*?[{%") == std::string_view::npos &&
           !is_of_package(path) && !is_named_for_rdma(path) &&
           std::none_of(kOthers.begin(), kOthers.end(),
                        [&](std::string_view folder) { return path.starts_with(folder); });
  }

  void script(const std::string& path, const Place& where) {
    constexpr std::size_t kMostScripts = 64, kLongestScript = std::size_t{256} * 1024;
    if (read_ == kMostScripts) return;
    ++read_;
    const auto text = files_.read_linked(path);
    if (!text || !*text || (*text)->size() > kLongestScript || !is_shell_script(path, **text)) return;
    if (config::check_text({path, **text}, config::Limits{})) return;
    const std::array<File, 1> called{File{path, **text}};
    Claims aside;
    aside.known = claims_.known;
    aside.learn_names_of(claims_);
    parse_scripts(called, aside);
    if (aside.interfaces.empty() && aside.entries.empty() && aside.missed.empty()) return;
    claims_.miss(where, fmt::format("{}: the commands are in another file; to take them over, run "
                                    "`rdma-configctl import scripts {}`",
                                    path, path));
  }

  /// By its first line: "#!/bin/sh", "#!/usr/bin/env bash"; one that others read may do without.
  static bool is_shell_script(std::string_view path, std::string_view text) {
    const auto first = text.substr(0, text.find('\n'));
    if (!first.starts_with("#!")) return path.ends_with(".sh");
    const auto words = words_of(first);
    return std::any_of(words.begin(), words.end(),
                       [](std::string_view word) { return word.ends_with("sh"); });
  }

  system::Files& files_;
  Claims& claims_;
  std::set<std::string, std::less<>> seen_;  ///< paths of scripts
  std::size_t read_ = 0;                     ///< how many
};

}  // namespace

void tell_called_scripts(std::span<const File> own, system::Files& files, Claims& claims) {
  CalledScripts called(own, files, claims);
  for (const auto& file : own) called.caller(file);
}

}  // namespace rdmacfg::foreign
