// SPDX-License-Identifier: Apache-2.0
// Rules of udev that name RDMA devices.
#pragma once

#include <string>
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

/// Names what else a rule for RDMA devices sets: their attributes, and services that are not of RDMA.
void tell_device_settings(const UdevTerms& terms, const Place& where, Claims& claims);

/// Advice about ENV{SYSTEMD_WANTS} with a service of RDMA; empty for other terms.
std::string advice_on_wanted(const UdevTerm& term, const Claims& claims);

/// Names the services of RDMA that a rule starts, whatever it is for.
void tell_wanted(const UdevTerms& terms, const Place& where, Claims& claims);

}  // namespace rdmacfg::foreign
