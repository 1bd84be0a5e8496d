// SPDX-License-Identifier: Apache-2.0
// Names of interfaces that any file gives, for the files that are read before it.
#pragma once

#include <span>
#include <vector>

#include "foreign/import/formats.hpp"

namespace rdmacfg::foreign {

/// A format and its input files.
struct FilesOfFormat {
  const Format* format = nullptr;
  std::vector<File> own;
  std::vector<File> names;  ///< of udev, beside them
};

/// Lets Claims::knows() know the IPoIB interfaces that any of the files gives a name, without claiming
/// anything: udev's rules are read first, but may be for a name that only NetworkManager's keyfile has.
void learn_names_first(std::span<const FilesOfFormat> gathered, Claims& claims);

}  // namespace rdmacfg::foreign
