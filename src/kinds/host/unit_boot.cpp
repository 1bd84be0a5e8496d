// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/unit_boot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>

#include "formats/boot_command_line.hpp"
#include "kinds/host/boot_targets.hpp"

namespace rdmacfg::kinds {

using system::Unit;

namespace {

/// Whether a link of an init script begins it in a runlevel: "S20openibd", "S20openibd.sh".
bool is_start_link(std::string_view link, std::string_view script) {
  constexpr std::size_t kFront = 3;
  const bool numbered = link.size() > kFront && link[0] == 'S' &&
                        link.substr(1, 2).find_first_not_of("0123456789") == link.npos;
  if (!numbered) return false;
  auto name = link.substr(kFront);
  if (name.ends_with(".sh")) name.remove_suffix(3);
  return name == script;
}

/// Whether a folder of units has a link by which another unit starts this one. Nothing where it cannot be
/// read.
std::optional<bool> has_link(const Unit& unit, std::initializer_list<std::string_view> roots,
                             system::Files& files) {
  const std::string& name = unit.id.empty() ? unit.name : unit.id;
  for (const auto root : roots) {
    const auto folders = files.list(std::string(root));
    if (!folders) return std::nullopt;
    for (const auto& folder : *folders) {
      const bool starts =
          folder.ends_with(".wants") || folder.ends_with(".requires") || folder.ends_with(".upholds");
      if (!starts) continue;
      const auto links = files.list(fmt::format("{}/{}", root, folder));
      if (!links) return std::nullopt;
      if (std::find(links->begin(), links->end(), name) != links->end()) return true;
    }
  }
  return false;
}

}  // namespace

bool is_enabled(const Unit& unit) { return unit.file == "enabled" || unit.file == "alias"; }

bool is_generated(const Unit& unit) { return unit.file == "generated"; }

std::string_view script_of(const Unit& unit) {
  const std::string_view name = unit.id.empty() ? unit.name : unit.id;
  return name.substr(0, name.rfind('.'));
}

bool is_init_script(const Unit& unit, system::Files& files) {
  if (!is_generated(unit)) return false;
  const auto script = script_of(unit);
  for (const auto* folder : {"/etc/init.d", "/etc/rc.d/init.d"}) {
    const auto names = files.list(folder);
    if (!names) return true;
    const bool has_script = std::any_of(names->begin(), names->end(), [&](std::string_view name) {
      if (name.ends_with(".sh")) name.remove_suffix(3);
      return name == script;
    });
    if (has_script) return true;
  }
  return false;
}

std::optional<bool> starts_by_links(std::string_view script, system::Files& files) {
  for (const std::string_view root : {"/etc", "/etc/rc.d", "/etc/init.d"}) {
    for (int level = 2; level <= 5; ++level) {
      const auto links = files.list(fmt::format("{}/rc{}.d", root, level));
      if (!links) return std::nullopt;
      const bool starts = std::any_of(links->begin(), links->end(),
                                      [&](const std::string& link) { return is_start_link(link, script); });
      if (starts) return true;
    }
  }
  return false;
}

std::optional<bool> starts_by_generator(const Unit& unit, system::Files& files) {
  return has_link(
      unit, {"/run/systemd/generator", "/run/systemd/generator.early", "/run/systemd/generator.late"}, files);
}

bool is_masked_for_good(const Unit& unit) {
  return unit.file == "masked" || (unit.load == "masked" && unit.file != "masked-runtime");
}

bool is_left_out_at_boot(const Unit& unit, system::Files& files) {
  if (!unit.there() || is_masked_for_good(unit)) return true;
  const bool disabled = unit.file == "disabled" || unit.file == "enabled-runtime";
  if (!disabled && !is_enabled(unit)) return false;
  // systemctl calls a unit with a link of the distribution or image "disabled", too
  // (find_symlinks_in_scope()).
  const bool linked =
      !disabled || starts_by_generator(unit, files).value_or(true) ||
      has_link(unit, {"/usr/lib/systemd/system", "/usr/local/lib/systemd/system"}, files).value_or(true);
  return !linked || BootTargets(files).unreached(unit);
}

LeftOut why_left_out(const Unit& unit, system::Files& files) {
  if (is_masked_for_good(unit))
    return {"masked", fmt::format("`systemctl unmask {0}`, then `systemctl enable {0}`", unit.name)};
  if (const auto unreached = BootTargets(files).unreached(unit))
    return {unreached->text(), unreached->remedy(unit.name)};
  return {"not enabled", fmt::format("`systemctl enable {}`", unit.name)};
}

std::string mask_at_boot(std::string_view unit, system::Files& files) {
  for (const auto& boot : boot_command_lines(files)) {
    const auto masked = units_masked_by(boot.words);
    if (std::find(masked.begin(), masked.end(), unit) != masked.end())
      return fmt::format("{}:{}", boot.file, boot.line_of("systemd.mask="));
  }
  return {};
}

bool is_enabled_by_document(std::string_view unit, const std::vector<model::Desired>& desired) {
  return std::any_of(desired.begin(), desired.end(), [&](const model::Desired& resource) {
    return resource.key.kind == "service" && resource.key.id == unit &&
           model::value_of(resource.settings, "enabled") == model::Value{true};
  });
}

std::optional<bool> starts_at_boot(const Unit& unit, system::Files& files) {
  if (is_init_script(unit, files)) return starts_by_links(script_of(unit), files);
  return is_generated(unit) ? starts_by_generator(unit, files) : std::optional(is_enabled(unit));
}

}  // namespace rdmacfg::kinds
