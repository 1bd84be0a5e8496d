// SPDX-License-Identifier: Apache-2.0
// Keys of interfaces(5) that stanzas of every family and method have, those of hook packages among them.
#pragma once

#include <optional>

#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

/// The prefix length that `netmask` says, as a mask or as a number of bits; nothing without one, and a value
/// that is neither is reported.
std::optional<int> take_netmask(Keys& keys);

/// `use`, `inet` and `inet6` of a stanza of ifupdown2 or ifupdown-ng, which has no method of its own.
void take_newer_methods(Keys& keys, Interface& out);

/// Takes the MTU, name servers, hardware address and VRF of a stanza, after its addresses and method, and
/// reports every key that is left.
void take_of_every_sort(Keys& keys, Interface& out, Claims& claims);

}  // namespace rdmacfg::foreign
