// SPDX-License-Identifier: Apache-2.0
// Whether the document's addresses have come true: whichever program sets them (rdma-configd itself,
// NetworkManager, systemd-networkd), the kernel is asked.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/section.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

struct Online {
  std::size_t waited_for = 0;        ///< interfaces of ports that are here and have addresses in the document
  std::vector<std::string> lacking;  ///< one sentence for each that cannot be used yet: "ib0: no carrier"
};

/// @param sections  of the document
/// Looks once, and changes nothing. An interface of a device that is not there is not waited for, nor one
/// that is to be down or absent, or is ignored. `manual` wants every address, and each to work; `auto` alone
/// wants one of any family that is global; `link-local` wants carrier.
base::Result<Online> observe_online(const std::vector<model::Section>& sections, system::Host& host);

}  // namespace rdmacfg::kinds
