// SPDX-License-Identifier: Apache-2.0
// Whether the host is as a plan wanted it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/observation.hpp"
#include "core/transaction.hpp"
#include "store/state.hpp"

namespace rdmacfg::core {

/// Settings of changed resources that are not as wanted, told apart: by the fabric, waiting, or not done at
/// all.
struct Verification {
  std::vector<std::string> failures;
  std::map<model::Key, std::string> postponed;
  std::map<model::Key, std::map<std::string, Limit>> limits;
  std::map<model::Key, std::vector<std::string>> overruled;  ///< fields behind `failures`
};

/// A fresh observation's verdict on a plan that was carried out without a refusal: the kernel's word is not
/// the fact.
Verification verify(const model::Plan& plan, const Observation& before, Observation& now,
                    const Outcome& outcome, const State& state);

}  // namespace rdmacfg::core
