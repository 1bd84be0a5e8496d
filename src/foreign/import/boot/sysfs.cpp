// SPDX-License-Identifier: Apache-2.0
// Files by which programs write into files of the kernel at boot: sysfs.conf of sysfsutils, tmpfiles.d(5) and
// profiles of tuned.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "foreign/import/boot/kernel_writes.hpp"
#include "foreign/import/boot/tuned.hpp"
#include "foreign/import/formats.hpp"

namespace rdmacfg::foreign {

namespace {

/// The rest of a line after its first `count` words.
std::string_view behind_words(std::string_view line, int count) {
  for (int at = 0; at < count; ++at) {
    line = base::trim(line);
    line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
  }
  return base::trim(line);
}

/// A field of tmpfiles.d(5) with its specifiers expanded, or why its value is unknown here.
struct TmpfilesField {
  std::string text;
  std::string fault;
};

TmpfilesField tmpfiles_field(std::string_view raw) {
  // Specifiers of the host, the boot or the operating system.
  constexpr std::string_view kOfHost = "aAbBHlmMovwW";
  constexpr auto kFixed = std::to_array<std::pair<char, std::string_view>>({{'%', "%"},
                                                                            {'C', "/var/cache"},
                                                                            {'g', "root"},
                                                                            {'G', "0"},
                                                                            {'h', "/root"},
                                                                            {'L', "/var/log"},
                                                                            {'S', "/var/lib"},
                                                                            {'t', "/run"},
                                                                            {'T', "/tmp"},
                                                                            {'u', "root"},
                                                                            {'U', "0"},
                                                                            {'V', "/var/tmp"}});
  TmpfilesField out;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '%' || at + 1 == raw.size()) {
      out.text += raw[at];
      continue;
    }
    const char letter = raw[++at];
    const auto* fixed =
        std::find_if(kFixed.begin(), kFixed.end(), [&](const auto& known) { return known.first == letter; });
    if (fixed != kFixed.end()) {
      out.text += fixed->second;
    } else if (kOfHost.find(letter) != std::string_view::npos) {
      out.fault = fmt::format("systemd-tmpfiles replaces %{} with a value of the host", letter);
    } else {
      out.fault = fmt::format("systemd-tmpfiles rejects the line: unknown specifier %{}", letter);
    }
  }
  return out;
}

/// Whether systemd-tmpfiles writes to an existing file: w, f+ and its older spelling F, with modifiers.
bool writes_file(std::string_view type) {
  return type.front() == 'w' || type.front() == 'F' ||
         (type.front() == 'f' && type.find('+') != std::string_view::npos);
}

/// "w /sys/class/net/ib0/mode - - - - connected" of tmpfiles.d(5). @return whether it is such a line
bool parse_tmpfiles_line(const Place& where, std::string_view line, KernelWrites& writes) {
  constexpr int kBeforeArgument = 6;
  const auto words = words_of(line);
  if (words.size() <= static_cast<std::size_t>(kBeforeArgument) || !writes_file(words[0]) ||
      !without_quotes(words[1]).starts_with('/'))
    return false;
  auto value = without_quotes(behind_words(line, kBeforeArgument));
  if (value.ends_with("\\n")) value.remove_suffix(2);
  const auto path = tmpfiles_field(without_quotes(words[1])), argument = tmpfiles_field(value);
  auto fault = path.fault.empty() ? argument.fault : path.fault;
  if (words[0].find('~') != std::string_view::npos) fault = "the value is encoded (~)";
  if (words[0].find('^') != std::string_view::npos) fault = "the value is a credential (^)";
  if (fault.empty())
    writes.write(where, path.text, argument.text);
  else
    writes.refuse(where, without_quotes(words[1]), fault);
  return true;
}

/// A line of tmpfiles.d(5), or "class/net/ib0/mode = connected" of sysfs.conf.
void parse_line_of_writes(const Place& where, std::string_view line, KernelWrites& writes) {
  if (parse_tmpfiles_line(where, line, writes)) return;
  line = line.substr(0, line.find('#'));
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return;
  // Of two words the first is "mode" or "owner": who may write the file.
  const auto left = words_of(line.substr(0, equals));
  if (left.size() != 1) return;
  auto path = left.front();
  for (const std::string_view begin : {"/", "sys/"}) {
    if (path.starts_with(begin)) path.remove_prefix(begin.size());
  }
  writes.write(where, fmt::format("/sys/{}", path), base::trim(line.substr(equals + 1)));
}

}  // namespace

void parse_sysfs(std::span<const File> files, Claims& claims) {
  KernelWrites writes(claims);
  TunedProfilesOfHost profiles;
  for (const auto& file : files) {
    if (TunedProfilesOfHost::is_of_tuned(file)) {
      profiles.add(file);
      continue;
    }
    int number = 0;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      const auto line = base::trim(raw);
      if (!line.empty() && line.front() != '#' && line.front() != ';')
        parse_line_of_writes({file.path, number}, line, writes);
    }
  }
  profiles.take(claims, writes);
  writes.finish();
}

}  // namespace rdmacfg::foreign
