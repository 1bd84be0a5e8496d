// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/ifupdown_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

namespace {

/// Words of `ip link add` with a value, which stand before or behind the name (iplink_parse() of iproute2).
bool add_takes_value(std::string_view word) {
  constexpr auto kValued =
      std::to_array<std::string_view>({"mtu", "address", "broadcast", "txqueuelen", "txqlen", "numtxqueues",
                                       "numrxqueues", "index", "alias", "group"});
  return std::find(kValued.begin(), kValued.end(), word) != kValued.end();
}

}  // namespace

bool has_word(const ShellWords& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view word_after(const ShellWords& words, std::string_view word) {
  const auto at = std::find(words.begin(), words.end(), word);
  return at == words.end() || at + 1 == words.end() ? std::string_view() : std::string_view(*(at + 1));
}

std::optional<SysfsWrite> sysfs_write_of(const ShellWords& words) {
  if (words.size() != 4 || words[0] != "echo" || words[2] != ">") return std::nullopt;
  const auto parts = base::split(words[3], '/');
  if (parts.size() != 6 || parts[3] != "net") return std::nullopt;
  if (parts[5] != "mode" && parts[5] != "create_child" && parts[5] != "umcast" && parts[5] != "mtu")
    return std::nullopt;
  if (parts[4].find_first_of("$`*?") != std::string_view::npos) return std::nullopt;  // a shell's matter
  return SysfsWrite{words[1], std::string(parts[4]), std::string(parts[5])};
}

std::optional<SysfsWrite> ipoib_echo_of(const ShellWords& words) {
  auto echo = sysfs_write_of(words);
  if (echo && echo->file == "mtu") echo.reset();
  return echo;
}

std::optional<IpoibAdd> ipoib_add_of(const ShellWords& words) {
  if (words.empty() || words.front() != "ip" || !has_word(words, "link") ||
      word_after(words, "type") != "ipoib")
    return std::nullopt;
  auto at = std::find(words.begin(), words.end(), "add");
  if (at == words.end()) return std::nullopt;
  IpoibAdd out;
  for (++at; at != words.end() && *at != "type"; ++at) {
    const bool keyed = *at == "link" || *at == "name" || *at == "dev";
    auto& into = *at == "link" ? out.parent : out.name;
    if (!keyed && (!out.name.empty() || add_takes_value(*at))) {
      out.rest = *at;
      if (++at == words.end()) return std::nullopt;
      continue;
    }
    if (keyed && ++at == words.end()) return std::nullopt;
    into = *at;
  }
  out.pkey = word_after(words, "pkey");
  out.mode = word_after(words, "mode");
  out.umcast = word_after(words, "umcast");
  const auto type = static_cast<std::size_t>(std::find(words.begin(), words.end(), "type") - words.begin());
  for (auto word = type + 2; word < words.size(); word += 2) {
    if (words[word] != "pkey" && words[word] != "mode" && words[word] != "umcast") out.rest = words[word];
  }
  return out;
}

ShellWords ip_route_of(const ShellWords& words) {
  if (words.size() < 3 || words[0] != "route" || words[1] != "add") return {};
  std::string target, kind;
  std::optional<int> length;
  ShellWords tail;
  for (auto at = words.begin() + 2; at != words.end(); ++at) {
    const bool keyed = *at == "gw" || *at == "netmask" || *at == "metric" || *at == "dev";
    if (keyed && at + 1 == words.end()) return {};
    if (*at == "-net" || *at == "-host") {
      kind = *at;
    } else if (*at == "netmask") {
      length = prefix_of_netmask(*++at);
      if (!length) return {};
    } else if (keyed) {
      tail.push_back(*at == "gw" ? "via" : *at);
      tail.push_back(*++at);
    } else if (target.empty()) {
      target = *at;
    } else if (!has_word(tail, "dev")) {
      tail.insert(tail.end(), {"dev", *at});
    } else {
      return {};
    }
  }
  if (kind == "-host") length = 32;
  if (length && target != "default") target += fmt::format("/{}", *length);
  if (target != "default" && target.find('/') == std::string::npos) return {};
  ShellWords out{"ip", "route", "add", target};
  out.insert(out.end(), tail.begin(), tail.end());
  return out;
}

bool sets_nothing(const ShellWords& words) {
  const auto& first = words.front();
  if (first == "modprobe" || first == "sleep" || first == "true" || first == ":") return true;
  const bool test = (first == "test" && words.size() == 3) || (first == "[" && words.size() == 4);
  return test && (words[1] == "-e" || words[1] == "-f" || words[1] == "-d" || words[1] == "-w") &&
         words[2].starts_with("/sys/class/net/");
}

}  // namespace rdmacfg::foreign
