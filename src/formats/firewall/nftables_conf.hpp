// SPDX-License-Identifier: Apache-2.0
// Configuration files of nftables: nft(8). Read only, and only as far as one question needs.
#pragma once

#include <string_view>

#include "formats/firewall/firewall_port.hpp"

namespace rdmacfg::kinds {

/// Whether a file drops packets to the port: a chain for them (hook input) has policy drop, and no rule of
/// the file may accept them. `false` also where the text does not tell: another file is included, or a rule
/// accepts packets by something else than a port.
bool nftables_refuses(std::string_view text, const FirewallPort& port);

}  // namespace rdmacfg::kinds
