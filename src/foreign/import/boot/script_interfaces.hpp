// SPDX-License-Identifier: Apache-2.0
// The interfaces that commands of scripts are for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"
#include "foreign/import/boot/script_sections.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::foreign {

/// "ip link set ib0 up" of "X=$(ip link set ib0 up)"; commands that set nothing as they are.
std::string_view without_substitution(std::string_view command);

/// The interface that a command of ip(8) or ifconfig(8) sets: a word of it that is one of ours, or may be.
std::string set_interface(const std::vector<std::string>& words, const Claims& claims,
                          const InterfaceVariables& variables);

/// INTERFACE of "> /sys/class/net/INTERFACE/mode".
std::string echoed_interface(const std::vector<std::string>& words);

/// Whether a command such as `cat /sys/class/net/ib0/mode` or `grep -q connected FILE` only reads.
bool only_reads(std::string_view command);

/// Whether a text has the name of an interface that a rule or another file gives: "mlx5_ib0", "storage0".
bool has_known_name(std::string_view text, const Claims& claims);

/// The gateway of `ip route add` or route(8) without an interface; nothing for other commands.
std::optional<model::IpAddress> gateway_of_route(const std::vector<std::string>& words);

/// The address of `ip rule add from ADDRESS`; nothing for other commands.
std::optional<model::IpAddress> source_of_rule(const std::vector<std::string>& words);

/// Whether an interface has an address in the network of a gateway.
bool has_in_network(const Interface& interface, const model::IpAddress& gateway);

}  // namespace rdmacfg::foreign
