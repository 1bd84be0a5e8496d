// SPDX-License-Identifier: Apache-2.0
#include "kinds/kernel_release.hpp"

#include "base/text.hpp"

namespace rdmacfg::kinds {

std::string kernel_release(const World& world) {
  const auto release = world.host().files.read("/proc/sys/kernel/osrelease");
  return release && *release ? std::string(base::trim(**release)) : std::string();
}

std::optional<std::uint64_t> release_number(std::string_view release) {
  const auto parts = base::split(release, '.');
  const auto major = parts.size() > 1 ? base::parse_number(parts[0]) : std::nullopt;
  const auto minor =
      major ? base::parse_number(parts[1].substr(0, parts[1].find_first_not_of("0123456789"))) : std::nullopt;
  constexpr std::uint64_t kMajor = 100;
  return minor ? std::optional(*major * kMajor + *minor) : std::nullopt;
}

bool renames_running_links(const World& world) {
  constexpr std::uint64_t kFirst = 602;
  return world.once("kernel renames running links", [&] {
    const auto number = world.offline() ? std::nullopt : release_number(kernel_release(world));
    return number && *number >= kFirst;
  });
}

}  // namespace rdmacfg::kinds
