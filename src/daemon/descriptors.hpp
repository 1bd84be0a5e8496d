// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

#include <algorithm>

#include "model/limits.hpp"

namespace rdmacfg::daemon {

/// Raises the limit of descriptors to limits::kDescriptors, or as far as the hard limit lets it: one is held
/// for each interface whose kernel settings are, and two for each verbs device; usual is a limit of 1,024.
inline void allow_many_descriptors() {
  constexpr rlim_t kMany = model::limits::kDescriptors;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, std::max(limit.rlim_cur, kMany));
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace rdmacfg::daemon
