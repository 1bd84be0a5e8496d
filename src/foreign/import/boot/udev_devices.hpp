// SPDX-License-Identifier: Apache-2.0
// Rules of udev that name RDMA devices.
#pragma once

#include <string_view>
#include <vector>

#include "foreign/claims.hpp"
#include "foreign/import/boot/udev_terms.hpp"

namespace rdmacfg::foreign {

/// The words of a term that calls rdma_rename, from that on; empty for others.
std::vector<std::string_view> rename_words(const UdevTerm& term);

bool renames_device(const UdevTerms& terms);

/// rdma-core's 60-rdma-persistent-naming.rules: PROGRAM="rdma_rename %k NAME_FIXED NAME". Which devices a
/// rule is for may be said by SUBSYSTEM, by those of its parents, or by the device's name alone. `skipped`:
/// why it may not apply; empty: it does.
void parse_device(const UdevTerms& terms, const Place& where, std::string_view skipped, Claims& claims);

}  // namespace rdmacfg::foreign
