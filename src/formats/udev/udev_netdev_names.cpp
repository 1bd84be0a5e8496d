// SPDX-License-Identifier: Apache-2.0
#include "formats/udev/udev_netdev_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>

#include "base/text.hpp"
#include "formats/udev/udev_lines.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Guid;

namespace {

constexpr std::string_view kAddress = "ATTR{address}==\"";
constexpr std::string_view kName = "NAME=\"";
constexpr std::string_view kFinalName = "NAME:=\"";  // no later rule changes it (event->name_final)
constexpr std::array<std::string_view, 4> kUdevFolders{
    "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d"};
constexpr std::array<std::string_view, 4> kLinkFolders{"/etc/systemd/network", "/run/systemd/network",
                                                       "/usr/local/lib/systemd/network",
                                                       "/usr/lib/systemd/network"};

std::optional<std::string_view> quoted_after(std::string_view line, std::string_view key) {
  for (auto at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    // "NAME=" is also the end of "ENV{ID_NET_NAME}=" and the like
    if (at > 0 && std::string_view(" ,\t\"").find(line[at - 1]) == std::string_view::npos) continue;
    const auto start = at + key.size();
    const auto end = line.find('"', start);
    if (end == std::string_view::npos) return std::nullopt;
    return line.substr(start, end - start);
  }
  return std::nullopt;
}

bool ends_with(std::string_view name, std::string_view suffix) { return name.ends_with(suffix); }

}  // namespace

Rules parse_rules(std::string_view text) {
  Rules rules;
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with('#')) continue;
    const auto address = quoted_after(line, kAddress), name = quoted_after(line, kName);
    if (!address || !name || !address->starts_with("?*")) continue;
    if (auto guid = Guid::parse(address->substr(2))) rules[*guid] = *name;
  }
  return rules;
}

std::string render_rules(const Rules& rules) {
  std::string out =
      "# Names of IPoIB interfaces. Written by rdma-configd from its configuration: changes made here are "
      "lost.\n";
  for (const auto& [guid, name] : rules) {
    out += fmt::format(
        "ACTION==\"add\", SUBSYSTEM==\"net\", DRIVERS==\"?*\", ATTR{{type}}==\"32\", "
        "ATTR{{address}}==\"?*{}\", NAME=\"{}\"\n",
        guid.text(), name);
  }
  return out;
}

Result<Rules> read_rules(system::Files& files) {
  auto text = files.read(std::string(kRuleFile));
  if (!text) return base::fail(text.error());
  return *text ? parse_rules(**text) : Rules{};
}

Result<void> write_rules(system::Files& files, const Rules& rules) {
  if (rules.empty()) return files.remove(std::string(kRuleFile));
  return files.write(std::string(kRuleFile), render_rules(rules));
}

Result<ForeignNames> ForeignNames::read(system::Files& files) {
  ForeignNames found;
  const auto scan = [&](std::span<const std::string_view> folders, std::string_view suffix,
                        auto&& each_file) -> Result<void> {
    std::set<std::string> masked;
    for (const auto folder : folders) {
      auto names = files.list(std::string(folder));
      if (!names) continue;  // a folder that may not be read is none that we could warn about
      for (const auto& name : *names) {
        if (!ends_with(name, suffix) || !masked.insert(name).second) continue;
        const auto path = fmt::format("{}/{}", folder, name);
        if (path == kRuleFile) continue;
        auto text = files.read_linked(path);
        if (text && *text) each_file(path, name, **text);
      }
    }
    return {};
  };
  auto done = scan(
      kUdevFolders, ".rules", [&](const std::string& path, const std::string& file, const std::string& text) {
        const bool later = file > std::string(kRuleFile.substr(kRuleFile.rfind('/') + 1));
        for (const auto& [number, line] : udev_lines(text)) {
          const auto final_name = quoted_after(line, kFinalName);
          const auto name = final_name ? final_name : quoted_after(line, kName);
          // A line without the address, the type or the kernel's name of an IPoIB interface
          // cannot be told apart here.
          if (!name || name->starts_with('$') || name->starts_with('%')) continue;
          // udev assigns in the order of file names; a later NAME= replaces an earlier one
          // unless it asks for none.
          const bool wins = later ? line.find("NAME==\"\"") == std::string::npos : final_name.has_value();
          found.lines_.push_back({{.file = path,
                                   .line = number,
                                   .name = std::string(*name),
                                   .wins = wins,
                                   .is_final = final_name && !later},
                                  base::lower(line)});
        }
      });
  if (!done) return base::fail(done.error());
  done =
      scan(kLinkFolders, ".link", [&](const std::string& path, const std::string&, const std::string& text) {
        int number = 0;
        for (const auto line : base::split(text, '\n')) {
          ++number;
          const auto equals = line.find('=');
          if (equals == std::string_view::npos || base::trim(line.substr(0, equals)) != "Name") continue;
          found.lines_.push_back({{.file = path,
                                   .line = number,
                                   .name = std::string(base::trim(line.substr(equals + 1))),
                                   .link_file = true},
                                  base::lower(text)});
        }
      });
  if (!done) return base::fail(done.error());
  return found;
}

std::vector<ForeignName> ForeignNames::of(Guid guid, const std::string& name) const {
  std::vector<ForeignName> out;
  for (const auto& line : lines_) {
    const bool same_port = line.text.find(guid.text()) != std::string::npos;
    const bool same_name = line.what.name == name;
    if (!same_port && !same_name) continue;
    out.push_back(line.what);
    out.back().same_port = same_port;
  }
  return out;
}

}  // namespace rdmacfg::kinds
