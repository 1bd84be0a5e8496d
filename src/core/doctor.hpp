// SPDX-License-Identifier: Apache-2.0
// What commonly goes wrong on RDMA hosts, looked for on this one. Changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "kinds/world.hpp"
#include "system/host.hpp"

namespace rdmacfg::core {

/// One thing that was found, for an administrator.
struct Finding {
  enum class Weight {
    kProblem,  ///< something does not work, or not as the document wants
    kRisk,     ///< works now, and is known to go wrong
  };
  std::string check;  ///< "pkey_missing": stable, for programs
  Weight weight = Weight::kProblem;
  std::string object;  ///< "mlx4_ib0.8002"
  std::string what;    ///< a sentence: what is so, and what follows from it
  std::string fix;     ///< a sentence: what to do
  bool operator==(const Finding&) const = default;
};

/// What the checks look at.
struct Patient {
  kinds::World& world;
  const config::Document* document = nullptr;  ///< nullptr: there is none
};

/// One check: a name, what it looks for in a line, and the function.
struct Check {
  std::string_view name;
  std::string_view about;
  void (*run)(const Patient& patient, std::vector<Finding>& out);
};

/// All checks, in the order in which they are reported.
const std::vector<Check>& checks();

/// Runs all of them.
std::vector<Finding> examine(const Patient& patient);

}  // namespace rdmacfg::core
