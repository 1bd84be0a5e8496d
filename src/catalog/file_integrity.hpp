// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

/// A file that is ours as a whole and that somebody else has changed: by lines that none of our resources
/// shows, or in who may write it. No entry asks for it; it is put right wherever it is found. Key: the path.
struct FileIntegrity {
  std::optional<std::vector<std::string>> edited;
  std::optional<std::string> access;

  static constexpr auto kFields = std::tuple{
      model::field("edited", &FileIntegrity::edited, model::Role::kDerived,
                   "Lines that others added to the file (+) or removed from it (-)."),
      model::field("access", &FileIntegrity::access, model::Role::kDerived,
                   "Mode and owner of the file, where they differ from those that rdma-configd sets.")};
};

/// Lines that a text has too many (+) and too few (-), for people: a few lines, in printable characters.
/// Empty when they are the same.
std::vector<std::string> edits(std::string_view text, std::string_view should);

const Kind& file_integrity();

}  // namespace rdmacfg::kinds
