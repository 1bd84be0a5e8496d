// SPDX-License-Identifier: Apache-2.0
// source and source-directory of interfaces(5): which files are in force.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

class Sources {
 public:
  /// A line of them. The file that it names is read only where it is among `files`, which is reported.
  void add(const Place& where, const std::vector<std::string_view>& words, std::span<const File> files,
           Claims& claims);

  /// Whether one of the lines names the file.
  [[nodiscard]] bool has(std::string_view path) const;

 private:
  std::vector<std::string> patterns_;
  std::set<std::string, std::less<>> files_, folders_;  ///< that are named as they are
};

/// A file of interfaces.d beside the main file, which says whether it is in force.
bool is_beside_main(const File& file, std::span<const File> files);

}  // namespace rdmacfg::foreign
