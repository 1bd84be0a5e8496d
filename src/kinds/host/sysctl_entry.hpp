// SPDX-License-Identifier: Apache-2.0
// Paths and values of kernel settings, and their values in the entries of [[sysctl]].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kinds/bound.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kSysctlKind = "sysctl";

/// The interface of "net/ipv4/conf/NAME/key"; empty for the kernel's own and for other settings.
std::string sysctl_interface(std::string_view path);

/// The path with another interface's name.
std::string sysctl_path_of(const std::string& path, const std::string& interface);

/// That the kernel does not take the value of an interface, as that of all interfaces is `all`. Empty where
/// it does. Source: include/linux/inetdevice.h (IN_DEV_MAXCONF, IN_DEV_ORCONF, IN_DEV_ANDCONF).
std::string overruled_by_all(const std::string& path, std::string_view value, std::string_view all);

/// "ib0 arp_ignore", or the path where no interface has it.
std::string sysctl_label(const std::string& path);

/// Whether the kernel takes two texts for the same: numbers as it reads them (proc_get_long() of
/// kernel/sysctl.c: 0x is hexadecimal, a leading 0 octal), one or a list with blanks; else letter by letter.
bool same_sysctl_value(std::string_view value, std::string_view other);

/// The entries' resources, one Desired for each setting.
void parse_sysctl_entries(const Bound& bound, std::vector<model::Desired>& out,
                          model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
