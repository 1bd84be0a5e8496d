// SPDX-License-Identifier: Apache-2.0
// The fuzz targets: every reader of bytes that come from outside the program. One executable has all targets;
// see run.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::fuzz {

struct Target {
  std::string name;
  std::function<void(std::string_view bytes)> run;  ///< ends the program when what has to hold does not
  std::vector<std::string> seeds{};                 ///< besides those in files
};

/// Ends the program, with a word on what does not hold.
void require(bool holds, const char* what);

/// Between the files of one input.
inline constexpr std::string_view kSeparator = "\n#---\n";
std::vector<std::string> parts_of(std::string_view bytes);

std::vector<Target> document_targets();
std::vector<Target> import_targets();
std::vector<Target> state_targets();
std::vector<Target> kernel_targets();
std::vector<Target> word_targets();
std::vector<Target> report_targets();
std::vector<Target> fleet_targets();
std::vector<Target> fabric_targets();

const std::vector<Target>& targets();
const Target* find_target(std::string_view name);

}  // namespace rdmacfg::fuzz
