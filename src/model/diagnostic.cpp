// SPDX-License-Identifier: Apache-2.0
#include "model/diagnostic.hpp"

#include <algorithm>

namespace rdmacfg::model {

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

}  // namespace rdmacfg::model
