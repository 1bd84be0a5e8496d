// SPDX-License-Identifier: Apache-2.0
// Keys of interfaces(5) that stanzas of every family and method have, those of hook packages among them.
#pragma once

#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

/// Takes the MTU, name servers, hardware address and VRF of a stanza, after its addresses and method, and
/// reports every key that is left.
void take_of_every_sort(Keys& keys, Interface& out, Claims& claims);

}  // namespace rdmacfg::foreign
