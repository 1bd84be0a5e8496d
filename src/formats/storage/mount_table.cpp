// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/mount_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/text.hpp"
#include "system/storage/disk_use.hpp"

namespace rdmacfg::kinds {

namespace {

std::pair<std::string, std::string> halves_of(std::string_view option) {
  const auto equals = option.find('=');
  if (equals == std::string_view::npos) return {std::string(option), {}};
  return {std::string(option.substr(0, equals)), std::string(option.substr(equals + 1))};
}

std::string value_or(const Mounted& mounted, const std::string& key, std::string_view otherwise) {
  const auto at = mounted.options.find(key);
  return at == mounted.options.end() ? std::string(otherwise) : at->second;
}

}  // namespace

std::map<std::string, Mounted> parse_mountinfo(std::string_view text) {
  constexpr std::size_t kPath = 4, kOfMount = 5, kOptional = 6;
  std::map<std::string, Mounted> out;
  for (const auto line : base::split(text, '\n')) {
    const auto words = base::words_of(line);
    std::size_t dash = kOptional;
    while (dash < words.size() && words[dash] != "-") ++dash;
    if (dash + 3 >= words.size()) continue;
    Mounted mounted{.source = base::unescape_octal(words[dash + 2]), .type = std::string(words[dash + 1])};
    for (const auto option : base::split(words[dash + 3], ','))
      mounted.options.insert(halves_of(base::unescape_octal(option)));
    const auto of_mount = base::split(words[kOfMount], ',');
    mounted.read_only =
        mounted.options.contains("ro") || std::find(of_mount.begin(), of_mount.end(), "ro") != of_mount.end();
    out.insert_or_assign(base::unescape_octal(words[kPath]), std::move(mounted));
  }
  return out;
}

std::map<std::string, Mounted> observe_mounts(system::Files& files) {
  for (const auto* path : {"/proc/1/mountinfo", "/proc/self/mountinfo"}) {
    const auto text = files.read(path);
    if (text && *text) return parse_mountinfo(**text);
  }
  return {};
}

const Mounted* mount_of(std::string_view path, const std::map<std::string, Mounted>& mounts) {
  const Mounted* nearest = nullptr;
  std::size_t length = 0;
  for (const auto& [where, mounted] : mounts) {
    const bool below = path.starts_with(where) && (path.size() == where.size() || path[where.size()] == '/');
    if (where != "/" && !below) continue;
    if (nearest != nullptr && where.size() < length) continue;
    nearest = &mounted;
    length = where.size();
  }
  return nearest;
}

bool is_anybodys(const Mounted& mounted) {
  if (!system::is_fuse(mounted.type)) return system::anybody_may_mount(mounted.type);
  return value_or(mounted, "user_id", "") != "0";
}

bool waits_for_access(std::string_view path, const std::map<std::string, Mounted>& mounts) {
  const auto* mounted = mount_of(path, mounts);
  return mounted != nullptr && mounted->type == "autofs";
}

std::string text_of_nfs(const Mounted& mounted) {
  auto transport = value_or(mounted, "proto", "tcp");
  if (transport == "rdma6") transport = "rdma";  // the network identifier over IPv6
  return fmt::format("{} {} {}", mounted.source, transport, value_or(mounted, "port", "2049"));
}

std::vector<std::string> other_options(const std::vector<std::string>& wanted, const Mounted& mounted) {
  // Neither the server nor the kernel puts these at other values than those that were given.
  constexpr std::array<std::string_view, 8> kShown{"vers",     "timeo",    "retrans",  "nconnect",
                                                   "acregmin", "acregmax", "acdirmin", "acdirmax"};
  std::vector<std::string> out;
  for (const auto& option : wanted) {
    auto [key, value] = halves_of(option);
    if (key == "nfsvers") key = "vers";
    const auto now = mounted.options.find(key);
    const bool compared = std::find(kShown.begin(), kShown.end(), key) != kShown.end();
    // "vers=4" lets the two find the minor version.
    const bool minor = key == "vers" && now != mounted.options.end() && now->second.starts_with(value + ".");
    if (compared && now != mounted.options.end() && now->second != value && !minor)
      out.push_back(fmt::format("{}={}", key, now->second));
    for (const auto& [given, opposite] : {std::pair{"hard", "soft"}, {"soft", "hard"}}) {
      if (option == given && mounted.options.contains(opposite)) out.emplace_back(opposite);
    }
  }
  return out;
}

std::map<std::string, int> parse_fstab(std::string_view text) {
  std::map<std::string, int> out;
  int number = 0;
  for (const auto line : base::split(text, '\n')) {
    ++number;
    const auto words = base::words_of(line);
    if (words.size() < 3 || words[0].starts_with('#')) continue;
    auto where = base::unescape_octal(words[1]);
    while (where.size() > 1 && where.ends_with('/')) where.pop_back();
    out.try_emplace(std::move(where), number);
  }
  return out;
}

}  // namespace rdmacfg::kinds
