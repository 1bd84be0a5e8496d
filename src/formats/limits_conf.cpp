// SPDX-License-Identifier: Apache-2.0
#include "formats/limits_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "formats/drop_ins.hpp"
#include "formats/managed_block.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::LockLimit;

namespace {

constexpr std::string_view kLimitKey = "LimitMEMLOCK";

/// The words of a line, without a comment.
std::vector<std::string_view> fields_of(std::string_view line) {
  return base::words_of(line.substr(0, line.find('#')));
}

/// A line about locked memory. pam_limits takes all but the domain in any case, and passes over what stands
/// behind the limit.
struct MemlockWords {
  std::string domain, type, limit;
};

std::optional<MemlockWords> memlock_words(std::string_view line) {
  const auto words = fields_of(line);
  if (words.size() < 4 || base::lower(words[2]) != "memlock") return std::nullopt;
  return MemlockWords{std::string(words[0]), base::lower(words[1]), base::lower(words[3])};
}

/// The value of a line that sets LimitMEMLOCK=. systemd takes blanks around the sign, too.
std::optional<std::string_view> assigned_limit(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos || base::trim(line.substr(0, equals)) != kLimitKey)
    return std::nullopt;
  return base::trim(line.substr(equals + 1));
}

Result<std::string> read_or_empty(system::Files& files, const std::string& path) {
  auto text = files.read(path);
  if (!text) return base::fail(text.error());
  return text->value_or("");
}

Result<void> write_or_remove(system::Files& files, std::string_view path, const std::string& text) {
  return text.empty() ? files.remove(std::string(path)) : files.write(std::string(path), text);
}

}  // namespace

Limits parse_limits(std::string_view text) {
  Limits soft, hard, limits;
  for (const auto line : base::split(text, '\n')) {
    const auto words = memlock_words(line);
    if (!words) continue;
    const auto limit = LockLimit::parse(words->limit);
    for (auto* half : {&soft, &hard}) {
      if (words->type != "-" && words->type != (half == &soft ? "soft" : "hard")) continue;
      half->erase(words->domain);  // what pam_limits cannot read does not count as what it was before
      if (limit) half->insert_or_assign(words->domain, *limit);
    }
  }
  for (const auto& [domain, limit] : hard) {
    const auto other = soft.find(domain);
    if (other != soft.end() && other->second == limit) limits.emplace(domain, limit);
  }
  return limits;
}

std::set<std::string> parse_limit_domains(std::string_view text) {
  std::set<std::string> domains;
  for (const auto line : base::split(text, '\n')) {
    if (const auto words = memlock_words(line)) domains.insert(words->domain);
  }
  return domains;
}

std::string render_limits(const Limits& limits) {
  if (limits.empty()) return {};
  auto text = fmt::format("{}\n", kOurFirstLine);
  for (const auto& [domain, limit] : limits) {
    for (const auto* type : {"soft", "hard"}) {
      text += fmt::format("{} {} memlock {}\n", domain, type, limit.text());
    }
  }
  return text;
}

Result<Limits> read_limits(system::Files& files) {
  return read_or_empty(files, std::string(kLimitsFile)).map([](const std::string& text) {
    return parse_limits(text);
  });
}

Result<std::set<std::string>> read_limit_domains(system::Files& files) {
  return read_or_empty(files, std::string(kLimitsFile)).map([](const std::string& text) {
    return parse_limit_domains(text);
  });
}

Result<void> write_limits(system::Files& files, const Limits& limits) {
  return write_or_remove(files, kLimitsFile, render_limits(limits));
}

std::set<std::string> parse_declared_groups(std::string_view text) {
  std::set<std::string> groups;
  for (const auto line : base::split(text, '\n')) {
    const auto words = fields_of(line);
    if (words.size() >= 2 && words[0] == "g") groups.emplace(words[1]);
  }
  return groups;
}

std::string render_declared_groups(const std::set<std::string>& groups) {
  std::string text;
  if (!groups.empty()) text = fmt::format("{}\n", kOurFirstLine);
  for (const auto& group : groups) text += fmt::format("g {} -\n", group);
  return text;
}

Result<std::set<std::string>> read_declared_groups(system::Files& files) {
  const auto text = read_or_empty(files, std::string(kSysusersFile));
  if (!text) return base::fail(text.error());
  return parse_declared_groups(*text);
}

Result<void> write_declared_groups(system::Files& files, const std::set<std::string>& groups) {
  return write_or_remove(files, kSysusersFile, render_declared_groups(groups));
}

std::optional<GroupSource> group_directory(system::Files& files) {
  constexpr std::array<std::string_view, 5> kLocal{"files", "compat", "systemd", "altfiles", "mymachines"};
  constexpr std::string_view kGroups = "group:";
  // The latter is the vendor's, where /etc has only what the administrator changed.
  for (const std::string path : {"/etc/nsswitch.conf", "/usr/etc/nsswitch.conf"}) {
    const auto text = files.read(path);
    if (!text || !*text) continue;
    int number = 0;
    for (const auto line : base::split(**text, '\n')) {
      ++number;
      auto sources = base::trim(line.substr(0, line.find('#')));
      if (!sources.starts_with(kGroups)) continue;
      sources.remove_prefix(kGroups.size());
      bool reaction = false;  // "[NOTFOUND=return]" stands between sources
      for (auto word : fields_of(sources)) {
        reaction = reaction || word.starts_with('[');
        if (reaction) {
          reaction = !word.ends_with(']');
        } else if (std::find(kLocal.begin(), kLocal.end(), word) == kLocal.end()) {
          return GroupSource{std::string(word), path, number};
        }
      }
    }
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<LockLimit> parse_drop_in(std::string_view text) {
  std::optional<LockLimit> found;
  for (const auto& line : unit_lines(text)) {
    const auto value = assigned_limit(line.text);
    if (!value) continue;
    found.reset();  // an empty value takes back what stands above, and "1M:2M" is none that we write
    const auto limit = LockLimit::parse(*value);
    if (!limit) continue;
    found = *limit;
    // Bytes without a unit, and units of 1024 (systemd.exec(5)).
    if (found->kib && value->back() >= '0' && value->back() <= '9') *found->kib /= 1024;
  }
  return found;
}

std::string render_drop_in(const LockLimit& limit) {
  return fmt::format("{}\n[Service]\n{}={}\n", kOurFirstLine, kLimitKey,
                     limit.kib ? fmt::format("{}K", *limit.kib) : "infinity");
}

std::string drop_in_path(const std::string& unit) {
  return fmt::format("/etc/systemd/system/{}.d/{}", unit, kDropInName);
}

namespace {

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The files that pam_limits reads, in its order. Since 1.5.3 also those of the distribution: a file of /etc
/// hides the one of its name, and those of limits.d are sorted by their names whatever their folder
/// (limits.conf(5); the folders are those of Fedora and openSUSE).
std::vector<std::string> pam_files(system::Files& files) {
  constexpr std::array<std::string_view, 3> kFolders{"/etc/security", "/usr/etc/security",
                                                     "/usr/share/security"};
  std::map<std::string, std::string> by_name;
  std::string main;
  for (const auto folder : kFolders) {
    if (auto path = fmt::format("{}/limits.conf", folder); main.empty()) {
      const auto text = files.read_linked(path);
      if (text && *text) main = std::move(path);
    }
    const auto names = files.list(fmt::format("{}/limits.d", folder));
    for (const auto& name : names ? *names : std::vector<std::string>()) {
      if (name.ends_with(".conf")) by_name.try_emplace(name, fmt::format("{}/limits.d/{}", folder, name));
    }
  }
  std::vector<std::string> out;
  if (!main.empty()) out.push_back(std::move(main));
  for (auto& [name, path] : by_name) out.push_back(std::move(path));
  return out;
}

}  // namespace

std::vector<MemlockLine> memlock_lines(system::Files& files) {
  std::vector<MemlockLine> out;
  for (const auto& path : pam_files(files)) {
    const bool after = path.find("/limits.d/") != std::string::npos && name_of(path) > name_of(kLimitsFile);
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;
    int number = 0;
    for (const auto line : base::split(**text, '\n')) {
      ++number;
      auto words = memlock_words(line);
      if (!words) continue;
      out.push_back(
          {path, number, std::move(words->domain), std::move(words->type), std::move(words->limit), after});
    }
  }
  return out;
}

std::map<std::string, ForeignLimit> exempted_domains(system::Files& files) {
  std::map<std::string, ForeignLimit> out;
  for (const auto& path : pam_files(files)) {
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;
    int number = 0;
    for (const auto line : base::split(**text, '\n')) {
      ++number;
      const auto words = fields_of(line);
      if (words.size() != 2 || !words[1].starts_with('-') || words[0] == "*") continue;
      out.try_emplace(std::string(words[0]),
                      ForeignLimit{path, number, fmt::format("{} {}", words[0], words[1]), true});
    }
  }
  return out;
}

Result<std::map<std::string, std::vector<ForeignLimit>>> foreign_limits(system::Files& files) {
  if (auto names = files.list(std::string(kLimitsFolder)); !names) return base::fail(names.error());
  std::map<std::string, std::vector<ForeignLimit>> out;
  for (const auto& line : memlock_lines(files)) {
    if (line.file == kLimitsFile) continue;
    out[line.domain].push_back({line.file, line.line,
                                fmt::format("{} {} memlock {}", line.domain, line.type, line.limit),
                                line.after_ours});
  }
  return out;
}

Result<std::vector<ForeignLimit>> foreign_drop_ins(system::Files& files, const std::string& unit) {
  std::vector<ForeignLimit> out;
  for (const auto& [path, after_ours] : other_drop_ins(files, unit, kDropInName)) {
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;
    for (const auto& [line, number] : unit_lines(**text)) {
      if (!assigned_limit(line)) continue;
      out.push_back({path, number, std::string(base::trim(line)), after_ours});
    }
  }
  return out;
}

std::optional<ForeignLimit> overruling_drop_in(system::Files& files, const std::string& unit,
                                               const LockLimit& ours) {
  const auto others = foreign_drop_ins(files, unit);
  if (!others || others->empty() || !others->back().wins) return std::nullopt;
  if (const auto last = parse_drop_in(others->back().text); last && *last == ours) return std::nullopt;
  return others->back();
}

}  // namespace rdmacfg::kinds
