// SPDX-License-Identifier: Apache-2.0
// Facts about the rest of the host and of the document that targets depend on.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/storage/mount_table.hpp"
#include "kinds/kind.hpp"
#include "kinds/mounts.hpp"
#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "system/files.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// Ids of the kind's resources that the document wants; they point into `desired`.
std::set<std::string_view> ids_of(const std::vector<model::Desired>& desired, std::string_view kind);

/// Addresses that the document gives interfaces, which has to happen before a target listens there.
std::map<std::string, model::Key> given_addresses(const std::vector<model::Desired>& desired);

/// The number, from 0 on, of an address of the list that the wildcard of its family, also there, includes:
/// rdma_cm does not listen on both (cma_check_port() of drivers/infiniband/core/cma.c).
std::optional<std::size_t> covered_address(const std::vector<std::string>& addresses);

/// Devices that are mounted on this host, as its table of mounts spells them, files behind loop devices that
/// are, and "".
std::set<std::string> mounted_devices(system::Files& files);

/// Whether the document wants settings of a kind.
bool wants_any(const std::vector<model::Desired>& desired, std::string_view kind);

/// Why a unit of others cannot do a kind's work now: no systemd answers, or there is no such unit, which
/// `package` has. Empty: it can.
std::string why_no_unit(const std::string& unit, std::string_view package, system::Host& host);

/// Warns once, at the first `at_boot` resource of this kind, if remote-fs.target, which starts it at boot,
/// does not start at boot itself.
void warn_of_remote_fs(std::string_view kind, const std::vector<model::Desired>& desired, World& world,
                       model::Diagnostics& diagnostics);

/// A program of others that units of ours run.
struct NeededProgram {
  std::string_view name;     ///< "iscsiadm"
  std::string_view package;  ///< that has it, by its name in the table
};

/// Why a unit of ours cannot do a kind's work now: no systemd answers, or the program is not installed.
/// Empty: it can. `unit`: any that systemd can be asked for.
std::string why_no_program(const NeededProgram& program, const std::string& unit, system::Host& host);

}  // namespace rdmacfg::kinds
