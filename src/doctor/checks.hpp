// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "doctor/doctor.hpp"

namespace rdmacfg::core::detail {

// Ports and fabric.
void no_subnet_manager(const Patient& patient, std::vector<Finding>& out);
void not_master(const Patient& patient, std::vector<Finding>& out);
void two_subnet_managers(const Patient& patient, std::vector<Finding>& out);
void pkey_missing(const Patient& patient, std::vector<Finding>& out);
void mtu_capped(const Patient& patient, std::vector<Finding>& out);
void no_connected_mode(const Patient& patient, std::vector<Finding>& out);
void connected_multicast(const Patient& patient, std::vector<Finding>& out);
void no_address(const Patient& patient, std::vector<Finding>& out);
void gid_missing(const Patient& patient, std::vector<Finding>& out);
void zero_guid(const Patient& patient, std::vector<Finding>& out);
void roce_mismatch(const Patient& patient, std::vector<Finding>& out);

// The document, and how the host compares with it. not_as_wanted() comes last: it leaves out differences
// explained by leaves out.
void document_held(const Patient& patient, std::vector<Finding>& out);
void daemon_down(const Patient& patient, std::vector<Finding>& out);
void contended(const Patient& patient, std::vector<Finding>& out);
void port_down(const Patient& patient, std::vector<Finding>& out);
void unmet(const Patient& patient, std::vector<Finding>& out);
void not_as_wanted(const Patient& patient, std::vector<Finding>& out);

// The host around them.
void damaged_records(const Patient& patient, std::vector<Finding>& out);
void small_memlock(const Patient& patient, std::vector<Finding>& out);
void rivals(const Patient& patient, std::vector<Finding>& out);
void stale_initramfs(const Patient& patient, std::vector<Finding>& out);
void pinned_rdma_cm(const Patient& patient, std::vector<Finding>& out);

/// The named units by systemd's word; none when it does not answer.
std::vector<system::Unit> units(const Patient& patient, const std::vector<std::string>& names);

/// A file; nothing without one, and of one that may not be read.
std::optional<std::string> read(const Patient& patient, const std::string& path);

/// The MTU, the mode that the document wants for an interface, if it says so.
std::optional<std::int64_t> wanted_mtu(const Patient& patient, const system::Link& link);
std::string wanted_mode(const Patient& patient, const system::Link& link);

/// Multicast groups joined by programs, by interface: /proc/net/igmp without 224.0.0.1.
std::map<std::string, int> multicast_groups(system::Files& files);

/// "v1" or "v2" of ports where it is known.
std::vector<std::pair<std::string, std::string>> roce_modes(kinds::World& world);

}  // namespace rdmacfg::core::detail
