// SPDX-License-Identifier: Apache-2.0
// A second try of a read whose failure may be transient.
#pragma once

namespace rdmacfg::base {

/// Calls `load` again if it fails with an errno: a single EIO must not hide a record.
/// @return the Result of the last call
template <class Load>
auto load_twice(const Load& load) {
  auto loaded = load();
  if (!loaded && loaded.error().sys_errno != 0) loaded = load();
  return loaded;
}

}  // namespace rdmacfg::base
