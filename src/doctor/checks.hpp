// SPDX-License-Identifier: Apache-2.0
// The checks of `doctor`; each adds its findings, and none where all is well.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "doctor/doctor.hpp"

namespace rdmacfg::core::detail {

// Ports and fabric.
void no_subnet_manager(const DoctorContext& context, std::vector<Finding>& out);
void not_master(const DoctorContext& context, std::vector<Finding>& out);
void two_subnet_managers(const DoctorContext& context, std::vector<Finding>& out);
void pkey_missing(const DoctorContext& context, std::vector<Finding>& out);
void mtu_capped(const DoctorContext& context, std::vector<Finding>& out);
void no_connected_mode(const DoctorContext& context, std::vector<Finding>& out);
void connected_multicast(const DoctorContext& context, std::vector<Finding>& out);
void no_address(const DoctorContext& context, std::vector<Finding>& out);
void gid_missing(const DoctorContext& context, std::vector<Finding>& out);
void zero_guid(const DoctorContext& context, std::vector<Finding>& out);
void roce_mismatch(const DoctorContext& context, std::vector<Finding>& out);

// The document, and how the host compares with it. not_as_wanted() comes last: it leaves out differences that
// the others have explained.
void document_held(const DoctorContext& context, std::vector<Finding>& out);
void daemon_down(const DoctorContext& context, std::vector<Finding>& out);
void contended(const DoctorContext& context, std::vector<Finding>& out);
void port_down(const DoctorContext& context, std::vector<Finding>& out);
void unmet(const DoctorContext& context, std::vector<Finding>& out);
void not_as_wanted(const DoctorContext& context, std::vector<Finding>& out);

// The host around them.
void damaged_records(const DoctorContext& context, std::vector<Finding>& out);
void small_memlock(const DoctorContext& context, std::vector<Finding>& out);
void rivals(const DoctorContext& context, std::vector<Finding>& out);
void firewall(const DoctorContext& context, std::vector<Finding>& out);
void stale_initramfs(const DoctorContext& context, std::vector<Finding>& out);
void pinned_rdma_cm(const DoctorContext& context, std::vector<Finding>& out);

/// The named units by systemd's word; none when it does not answer.
std::vector<system::Unit> units(const DoctorContext& context, const std::vector<std::string>& names);

/// A file; nothing without one, and of one that may not be read.
std::optional<std::string> read(const DoctorContext& context, const std::string& path);

/// The MTU, the mode that the document wants for an interface, if it says so.
std::optional<std::int64_t> wanted_mtu(const DoctorContext& context, const system::Link& link);
std::string wanted_mode(const DoctorContext& context, const system::Link& link);

/// Multicast groups joined by programs, by interface: /proc/net/igmp without 224.0.0.1.
std::map<std::string, int> multicast_groups(system::Files& files);

/// "v1" or "v2" of ports where it is known.
std::vector<std::pair<std::string, std::string>> roce_modes(kinds::World& world);

}  // namespace rdmacfg::core::detail
