// SPDX-License-Identifier: Apache-2.0
#include "formats/pam_stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// The text of a service, or of a file that a stack includes.
std::optional<std::string> pam_text(system::Files& files, const std::string& name) {
  constexpr std::array<std::string_view, 4> kPamFolders{"/etc/pam.d", "/usr/lib/pam.d", "/usr/etc/pam.d",
                                                        "/usr/share/pam.d"};
  if (name.starts_with('/')) {
    auto text = files.read_linked(name);
    return text ? *text : std::nullopt;
  }
  for (const auto folder : kPamFolders) {
    auto text = files.read_linked(fmt::format("{}/{}", folder, name));
    if (text && *text) return *text;
  }
  return std::nullopt;
}

/// Lines without comments; a backslash goes on with the next.
std::vector<std::string> pam_lines(std::string_view text) {
  std::vector<std::string> out;
  std::string joined;
  for (const auto raw : base::split(text, '\n')) {
    const auto line = base::trim(raw.substr(0, raw.find('#')));
    if (line.ends_with('\\')) {
      joined.append(line.substr(0, line.size() - 1)).append(" ");
      continue;
    }
    joined.append(line);
    if (!joined.empty()) out.push_back(joined);
    joined.clear();
  }
  return out;
}

/// The place of the word behind a control: "required", or "[success=1 default=ignore]".
std::size_t behind_control(const std::vector<std::string_view>& words) {
  std::size_t at = 1;
  if (at < words.size() && words[at].starts_with('[')) {
    while (at < words.size() && !words[at].ends_with(']')) ++at;
  }
  return at + 1;
}

class PamStack {
 public:
  explicit PamStack(system::Files& files) : files_(files) {}

  bool reads_limits(const std::string& name) {
    if (!seen_.insert(name).second) return false;
    const auto text = pam_text(files_, name);
    if (!text) return false;
    const auto lines = pam_lines(*text);
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line_reads(line); });
  }

 private:
  bool line_reads(const std::string& line) {
    const auto words = base::words_of(line);
    if (words.size() < 2) return false;
    if (words[0] == "@include") return reads_limits(std::string(words[1]));
    const auto type = base::lower(words[0]);
    const auto at = behind_control(words);
    if ((type != "session" && type != "-session") || at >= words.size()) return false;
    const auto control = base::lower(words[1]);
    if (control == "include" || control == "substack") return reads_limits(std::string(words[at]));
    const auto module = words[at].substr(words[at].rfind('/') + 1);
    const bool elsewhere = std::any_of(words.begin(), words.end(),
                                       [](std::string_view word) { return word.starts_with("conf="); });
    return module == "pam_limits.so" && !elsewhere;
  }

  system::Files& files_;
  std::set<std::string> seen_;
};

/// Finds the first UsePAM line in sshd's files.
class SshdConfig {
 public:
  explicit SshdConfig(system::Files& files) : files_(files) {}

  /// @return whether the file, or one that it includes, decides
  bool read(const std::string& path, int depth = 0) {
    constexpr int kDepthMost = 16, kFilesMost = 100;  // SERVCONF_MAX_DEPTH; sshd has no limit of files
    if (depth > kDepthMost || ++read_ > kFilesMost) return false;
    const auto text = files_.read_linked(path);
    if (!text || !*text) return false;
    int number = 0;
    for (const auto raw : base::split(**text, '\n')) {
      ++number;
      std::string line(base::trim(raw));
      if (line.empty() || line.front() == '#') continue;
      std::replace(line.begin(), line.end(), '=', ' ');
      const auto words = base::words_of(line);
      if (words.size() < 2) continue;
      const auto keyword = base::lower(words[0]);
      if (keyword == "match") return false;  // UsePAM is not allowed in Match blocks
      if (keyword == "usepam") {
        if (base::lower(words[1]) == "no") without_ = fmt::format("{}:{}", path, number);
        return true;
      }
      if (keyword != "include") continue;
      for (std::size_t i = 1; i < words.size(); ++i) {
        for (const auto& file : included(std::string(words[i]))) {
          if (read(file, depth + 1)) return true;
        }
      }
    }
    return false;
  }

  [[nodiscard]] const std::string& without() const { return without_; }

 private:
  /// Files that match a pattern, in the order of glob(3); only its last component may have wildcards.
  std::vector<std::string> included(std::string pattern) {
    std::erase(pattern, '"');
    if (!pattern.starts_with('/')) pattern = "/etc/ssh/" + pattern;
    const auto slash = pattern.rfind('/');
    const auto folder = pattern.substr(0, slash);
    auto names = files_.list(folder);
    std::vector<std::string> out;
    if (!names) return out;
    std::sort(names->begin(), names->end());
    for (const auto& name : *names) {
      if (base::matches_glob(pattern.substr(slash + 1), name))
        out.push_back(fmt::format("{}/{}", folder, name));
    }
    return out;
  }

  system::Files& files_;
  std::string without_;
  int read_ = 0;
};

}  // namespace

std::string sshd_without_pam(system::Files& files) {
  SshdConfig config(files);
  for (const auto* path : {"/etc/ssh/sshd_config", "/usr/etc/ssh/sshd_config"}) {
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;
    config.read(path);
    break;
  }
  return config.without();
}

std::vector<std::string> logins_without_limits(system::Files& files) {
  constexpr std::array<const char*, 5> kLogins{"sshd", "login", "cron", "crond", "slurm"};
  std::vector<std::string> out;
  for (const std::string login : kLogins) {
    if (pam_text(files, login) && !PamStack(files).reads_limits(login)) out.push_back(login);
  }
  return out;
}

}  // namespace rdmacfg::kinds
