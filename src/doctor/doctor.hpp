// SPDX-License-Identifier: Apache-2.0
// Common problems of RDMA hosts, looked for on this one. Changes nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "core/applied_state.hpp"
#include "kinds/world.hpp"
#include "model/report.hpp"
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
  std::string object;                    ///< "mlx4_ib0.8002"
  std::string what;                      ///< a sentence: the fact, and its consequence
  std::string fix;                       ///< a sentence: the remedy
  std::optional<model::Key> resource{};  ///< of the document that it is about
  bool operator==(const Finding&) const = default;
};

/// The input of the checks.
struct DoctorContext {
  kinds::World& world;
  const config::Document* document = nullptr;     ///< nullptr: there is none
  const model::Report* report = nullptr;          ///< how the host compares with it, as diff() says
  const AppliedState* applied_state = nullptr;    ///< how it compares with what was applied
  std::map<model::Key, std::string> contended{};  ///< what the daemon has given up on, with the reason
};

/// One check: a name, what it looks for in a line, and the function.
struct Check {
  std::string_view name;
  std::string_view about;
  void (*run)(const DoctorContext& context, std::vector<Finding>& out);
};

/// All checks, in the order in which they are reported.
const std::vector<Check>& checks();

/// Runs all of them. Every resource of the report that is not as wanted is in one finding at least.
std::vector<Finding> examine(const DoctorContext& context);

}  // namespace rdmacfg::core
