// SPDX-License-Identifier: Apache-2.0
#include "system/ostree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg::system {

namespace {

constexpr std::string_view kStateRoots = "/sysroot/ostree/deploy";

/// "/sysroot/ostree/deploy/OSNAME/deploy/CHECKSUM.0.origin" of the deployment that is booted: ostree= of the
/// kernel command line names a link to its folder, "../../../deploy/OSNAME/deploy/CHECKSUM.0". Empty where
/// that is not known.
std::string booted_origin(Files& files) {
  const auto line = files.read("/proc/cmdline");
  if (!line || !*line) return {};
  constexpr std::string_view kOption = "ostree=";
  for (const auto word : base::words_of(**line, " \t\r\n")) {
    if (!word.starts_with(kOption)) continue;
    const auto target = files.link_target(fmt::format("/sysroot{}", word.substr(kOption.size())));
    const auto parts = base::split(target, '/');
    const auto count = parts.size();
    if (count < 4 || parts[count - 4] != "deploy" || parts[count - 2] != "deploy") return {};
    return fmt::format("{}/{}/deploy/{}.origin", kStateRoots, parts[count - 3], parts[count - 1]);
  }
  return {};
}

bool is_of_container(Files& files, const std::string& origin) {
  const auto text = files.read_linked(origin);
  if (!text || !*text) return false;
  const auto lines = base::split(**text, '\n');
  return std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return line.starts_with("container-image-reference="); });
}

}  // namespace

bool deploys_container(Files& files) {
  if (const auto origin = booted_origin(files); !origin.empty()) return is_of_container(files, origin);
  const auto roots = files.list(std::string(kStateRoots));
  for (const auto& root : roots ? *roots : std::vector<std::string>()) {
    const auto folder = fmt::format("{}/{}/deploy", kStateRoots, root);
    const auto names = files.list(folder);
    for (const auto& name : names ? *names : std::vector<std::string>()) {
      if (name.ends_with(".origin") && is_of_container(files, fmt::format("{}/{}", folder, name)))
        return true;
    }
  }
  return false;
}

}  // namespace rdmacfg::system
