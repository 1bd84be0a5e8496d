// SPDX-License-Identifier: Apache-2.0
// Files of programs over RDMA that have interfaces by their names, which a document may change.
#pragma once

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Names the IPoIB interfaces in a file of BeeGFS, NCCL, UCX or Open MPI. @return whether it is such a file
bool tell_interface_users(const File& file, Claims& claims);

}  // namespace rdmacfg::foreign
