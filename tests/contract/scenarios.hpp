// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "model/report.hpp"

namespace rdmacfg::contract {

/// A host, and documents applied to it one after the other; the suite disturbs the last apply.
struct Scenario {
  std::string name;
  std::string host;  ///< as FakeKernel::parse() takes it
  std::vector<std::string> documents;
  std::vector<std::string> created{};   ///< interfaces that the document makes
  model::Exit exit = model::Exit::kOk;  ///< of the last apply
  bool edited = false;                  ///< others have edited our files, which any hold puts right
};

inline void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

const std::vector<Scenario>& scenarios();

}  // namespace rdmacfg::contract
