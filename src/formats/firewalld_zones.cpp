// SPDX-License-Identifier: Apache-2.0
#include "formats/firewalld_zones.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rdmacfg::kinds {

namespace {

/// Whether an element <interface …> has the name. Comments are passed over.
bool names_interface(std::string_view text, std::string_view interface) {
  constexpr std::string_view kElement = "<interface", kComment = "<!--", kCommentEnd = "-->";
  const auto in_double = fmt::format("name=\"{}\"", interface),
             in_single = fmt::format("name='{}'", interface);
  for (auto at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const auto rest = text.substr(at);
    if (rest.starts_with(kComment)) {
      at = std::min(text.find(kCommentEnd, at), text.size() - 1);
      continue;
    }
    if (!rest.starts_with(kElement)) continue;
    const auto element = rest.substr(0, rest.find('>'));
    if (element.find(in_double) != std::string_view::npos ||
        element.find(in_single) != std::string_view::npos)
      return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> firewalld_zone(system::Files& files, std::string_view interface) {
  constexpr std::string_view kFolder = "/etc/firewalld/zones", kSuffix = ".xml";
  const auto names = files.list(std::string(kFolder));
  if (!names) return std::nullopt;
  for (const auto& name : *names) {
    if (!name.ends_with(kSuffix)) continue;
    const auto text = files.read(fmt::format("{}/{}", kFolder, name));
    if (text && *text && names_interface(**text, interface))
      return name.substr(0, name.size() - kSuffix.size());
  }
  return std::nullopt;
}

}  // namespace rdmacfg::kinds
