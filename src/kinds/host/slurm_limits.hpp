// SPDX-License-Identifier: Apache-2.0
// Whose limit of locked memory the jobs of Slurm get. Source: slurm.conf(5), PropagateResourceLimits and
// PropagateResourceLimitsExcept.
#pragma once

#include <string>

#include "system/files.hpp"

namespace rdmacfg::kinds {

/// The slurm.conf of this host if by it a job gets the limit of the session that submits it in place of
/// slurmd's. Empty otherwise, and where the file includes others or cannot be read.
std::string slurm_conf_that_propagates(system::Files& files);

}  // namespace rdmacfg::kinds
