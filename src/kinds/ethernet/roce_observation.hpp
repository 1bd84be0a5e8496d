// SPDX-License-Identifier: Apache-2.0
// The current RoCE defaults compared with those we set: they can only be read through a folder in configfs.
#pragma once

#include <set>
#include <string>

#include "base/error.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// Reads the defaults of those ports that there are records of, through folders that it makes and removes
/// again, and has the records say what is so. Loads and mounts nothing: without rdma_cm there is nothing to
/// read. A device whose folder cannot be made (it is just going) keeps its records.
/// `devices`: only these; empty: all.
base::Result<void> observe_roce_defaults(system::Host& host, const std::set<std::string>& devices);

}  // namespace rdmacfg::kinds
