// SPDX-License-Identifier: Apache-2.0
// Whose limit of locked memory the jobs of Slurm get. Source: slurm.conf(5), PropagateResourceLimits and
// PropagateResourceLimitsExcept.
#pragma once

#include <string>

#include "system/files.hpp"

namespace rdmacfg::kinds {

/// The slurm.conf of this host if it gives a job the limit of the submitting session instead of slurmd's.
/// Empty otherwise, and if the file includes others or cannot be read.
std::string slurm_conf_that_propagates(system::Files& files);

}  // namespace rdmacfg::kinds
