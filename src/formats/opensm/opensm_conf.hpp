// SPDX-License-Identifier: Apache-2.0
// Files of OpenSM. Sources: opensm(8), doc/partition-config.txt of OpenSM, Debian's opensm.service, Fedora's
// /usr/libexec/opensm-launch.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "formats/managed_block.hpp"
#include "model/types.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// "opensm@0x0002c90300a0b001.service"
std::string opensm_unit(model::Guid guid);
/// "0x0002c90300a0b001"
std::string opensm_guid(model::Guid guid);

/// How a distribution starts OpenSM.
enum class OpensmLayout {
  kNone,    ///< in none of these ways
  kDebian,  ///< /etc/default/opensm, opensm@GUID.service
  kRhel,    ///< /etc/sysconfig/opensm, read by opensm-launch (RHEL, Fedora, SUSE, Arch)
};

OpensmLayout observe_opensm_layout(system::Files& files);

/// The folder from which this host's OpenSM reads opensm.conf and partitions.conf: /etc/opensm (Debian, SUSE,
/// upstream) or /etc/rdma (RHEL, Fedora). The layout does not tell: SUSE starts OpenSM as RHEL does and has
/// its files where Debian has them. The program itself names the folder that it was built for; where it
/// cannot be read, the files that are there and the distribution decide. Nothing when no OpenSM is installed.
base::Result<std::optional<std::string>> observe_opensm_folder(system::Files& files);

/// OpensmDefaults of the two layouts.
inline constexpr std::string_view kOpensmDefaultsFile = "/etc/default/opensm";
inline constexpr std::string_view kOpensmSysconfigFile = "/etc/sysconfig/opensm";
/// Beginnings of lines between our marks that only we read.
inline constexpr std::array<std::string_view, 2> kOpensmNotes{"# ports of the document: ", "# before: "};

/// The program that starts OpenSM at boot: Debian's starts an opensm@ instance for each port, RHEL's runs
/// them itself.
inline constexpr const char* kOpensmService = "opensm.service";

/// The file with the ports that opensm.service starts OpenSM on: "/etc/default/opensm" (Debian, variable
/// PORTS), "/etc/sysconfig/opensm" (RHEL, GUIDS, and PRIORITY for all of them). A shell or systemd reads it,
/// so the last assignment of a variable counts: ours stand between two marks at its end, and all that others
/// wrote stays as it is.
struct OpensmDefaults {
  std::string others;                               ///< the text without our part
  std::map<model::Guid, std::optional<int>> ports;  ///< ours; RHEL: with the priority that is wanted
  std::vector<model::Guid> order;                   ///< of ours, as the file has them
  bool was_disabled = false, was_stopped = false;   ///< opensm.service, before we had the first port
  /// RHEL: GUIDS is empty, so that opensm-launch starts a subnet manager for each opensm.conf.N
  /// (opensm_instance_conf()).
  bool in_files = false;
  std::optional<Damage> damage;  ///< then the file is not to be written
  bool operator==(const OpensmDefaults& other) const {
    return std::tie(others, ports, was_disabled, was_stopped, in_files, damage) ==
           std::tie(other.others, other.ports, other.was_disabled, other.was_stopped, other.in_files,
                    other.damage);
  }
};

std::string opensm_defaults_path(OpensmLayout layout);
OpensmDefaults parse_opensm_defaults(std::string_view text);
std::string render_opensm_defaults(const OpensmDefaults& defaults, OpensmLayout layout);

/// The port that `opensm --guid` takes a word of PORTS or GUIDS for: hexadecimal digits, with 0x or without
/// (strtoull(3) with base 16).
std::optional<model::Guid> port_of_word(std::string_view word);

/// Debian's instances are called after the words of PORTS: those of words that spell the port's GUID in
/// another way than opensm_unit() does, such as "opensm@0x2C903003178F2.service".
std::vector<std::string> units_of_other_spellings(std::string_view text, model::Guid guid);

/// Whether opensm.service, where it is enabled, starts OpenSM on the port according to the whole file; of
/// Debian's words only opensm_guid() counts, and "ALL" names every port. Of OpensmDefaults::in_files: a port
/// of ours has its file.
bool names_port(std::string_view text, OpensmLayout layout, model::Guid guid);

/// Whether opensm.service starts the files of opensm-launch, where there are any: RHEL's, where GUIDS is
/// empty.
bool takes_files(std::string_view text, OpensmLayout layout);

/// Whether opensm.service starts OpenSM without naming a port, so that it takes the first one: RHEL's, where
/// GUIDS is empty, and not by us (OpensmDefaults::in_files).
bool takes_first_port(std::string_view text, OpensmLayout layout);

/// Files of others for opensm-launch, which starts a subnet manager for each while GUIDS is empty and ignores
/// them otherwise: "/etc/rdma/opensm.conf.1".
base::Result<std::vector<std::string>> observe_opensm_instances(system::Files& files);

/// Upper half of the GIDs of a port's subnet: opensm-launch gives each GUID of GUIDS the one of its place,
/// 0xfe80000000000000, 0xfe80000000000001 and so on, whatever subnet_prefix opensm.conf has.
std::map<model::Guid, std::string> opensm_prefixes(std::string_view text);

/// "/etc/systemd/system/opensm@0x….service.d/50-rdma-configd.conf"
std::string opensm_drop_in(model::Guid guid);
std::string opensm_drop_in(const std::string& unit);
/// The drop-in of a subnet manager with a priority, or with an opensm.conf of its own (`conf`, its path), or
/// both; no text for neither. OpenSM reads one such file, so that `conf` stands in place of opensm.conf; it
/// has a folder of its own for what it remembers of the fabric, too (osm_db_files.c).
std::string render_opensm_drop_in(std::optional<std::int64_t> priority, std::string_view conf = {});
/// Its priority.
std::optional<std::int64_t> parse_opensm_drop_in(std::string_view text);
/// Whether it names an opensm.conf.
bool names_own_conf(std::string_view drop_in);

/// "/etc/opensm/opensm-0x0002c90300a0b001.conf": an opensm.conf of one port's own.
std::string opensm_own_conf(const std::string& folder, model::Guid guid);
/// The port of a file with such a name, without its folder; nothing for any other.
std::optional<model::Guid> port_of_own_conf(std::string_view name);

/// "/etc/rdma/opensm.conf.0x0002c90300a0b001": the same for opensm-launch, which takes each opensm.conf.*
/// whose next character is a digit (`opensm --config`). The file names its port by the option guid.
std::string opensm_instance_conf(const std::string& folder, model::Guid guid);
std::optional<model::Guid> port_of_instance_conf(std::string_view name);

}  // namespace rdmacfg::kinds
