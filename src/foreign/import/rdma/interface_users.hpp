// SPDX-License-Identifier: Apache-2.0
// Files of RDMA applications that refer to interfaces and RDMA devices by names that a document may change.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Names the IPoIB interfaces and RDMA devices in a file of BeeGFS, Ceph, GPFS, NCCL, UCX or Open MPI, or in
/// a file that sets their environment variables. `files`: all files read together with it.
/// @return whether it is such a file
bool tell_interface_users(const File& file, std::span<const File> files, Claims& claims);

/// Names those in a line that sets environment variables: "export NCCL_IB_HCA=mlx5_0 UCX_TLS=rc", "setenv
/// NCCL_IB_HCA mlx5_0", and what follows "Environment=" in a unit.
void tell_variables_of_users(const Place& where, std::string_view line, Claims& claims);

/// The advice for a command that passes names of RDMA devices to a program (mmchconfig of GPFS); empty for
/// other commands.
std::string advice_for_device_users(const std::vector<std::string>& words);

}  // namespace rdmacfg::foreign
