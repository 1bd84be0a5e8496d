// SPDX-License-Identifier: Apache-2.0
// Shared by both of wicked's languages: SUSE's ifcfg files and wicked's own XML.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// "ib0" and "ib0.8001" are InfiniBand by their names alone: "ib", a number, perhaps a P_Key (wicked's
/// maybe_infiniband() in compat-suse.c).
struct IbName {
  std::string port, pkey;
};
std::optional<IbName> ib_name(std::string_view name);

/// Why wicked refuses the P_Key (ni_infiniband_validate() in infiniband.c); empty where it does not.
std::string refused_by_wicked(std::uint64_t pkey);

/// One file of wicked's own language: what `wicked show-config` prints, and what is in /etc/wicked/ifconfig.
void parse_wicked_xml(const File& file, Claims& claims);

}  // namespace rdmacfg::foreign
