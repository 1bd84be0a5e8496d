// SPDX-License-Identifier: Apache-2.0
// Whether a unit of systemd starts at boot: by `systemctl enable`, by the links of an init script, or by a
// generator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/resource.hpp"
#include "system/files.hpp"
#include "system/units.hpp"

namespace rdmacfg::kinds {

bool is_enabled(const system::Unit& unit);

/// A unit that a generator of systemd makes; its state stays "generated", started at boot or not
/// (unit_file_lookup_state()).
bool is_generated(const system::Unit& unit);

/// "openibd" of "openibd.service"; of an alias that of the unit itself. A view into `unit`.
std::string_view script_of(const system::Unit& unit);

/// Whether it is made of an init script, as sysv-generator.c does it; other generators read containers and
/// mounts. The folders are those of Debian and RHEL; one that cannot be read may have the script.
bool is_init_script(const system::Unit& unit, system::Files& files);

/// Whether the links of the runlevels start an init script at boot; nothing where a folder of them cannot be
/// read. As `systemctl is-enabled` asks Debian's systemd-sysv-install, and sysv-generator.c reads them. The
/// folders are those of Debian, RHEL and SUSE.
std::optional<bool> starts_by_links(std::string_view script, system::Files& files);

/// Whether a generator made a link that starts its unit: generators do so in place of `systemctl enable`
/// (systemd.generator(7); of Quadlet's, podman-systemd.unit(5)). Nothing where a folder cannot be read.
std::optional<bool> starts_by_generator(const system::Unit& unit, system::Files& files);

/// Whether a unit stays masked after a boot, unlike after `systemctl mask --runtime`.
bool is_masked_for_good(const system::Unit& unit);

/// Whether the next boot does not start a unit that may run now: it is masked, disabled, or enabled for this
/// boot only, and neither a generator nor the distribution creates a link for it; or its links are those of
/// targets that the boot does not reach.
bool is_left_out_at_boot(const system::Unit& unit, system::Files& files);

/// Of such a unit.
struct LeftOut {
  std::string why;     ///< what it is: "masked", "not enabled", "enabled for graphical.target alone, …"
  std::string remedy;  ///< "`systemctl enable x.service`"
};
LeftOut why_left_out(const system::Unit& unit, system::Files& files);

/// The place of the kernel command line of a next boot that masks a unit (systemd.mask=); empty where none
/// does.
std::string mask_at_boot(std::string_view unit, system::Files& files);

/// Whether a [[service]] entry of the document enables the unit.
bool is_enabled_by_document(std::string_view unit, const std::vector<model::Desired>& desired);

/// By whichever of these its unit is started. Nothing where that cannot be read.
std::optional<bool> starts_at_boot(const system::Unit& unit, system::Files& files);

}  // namespace rdmacfg::kinds
