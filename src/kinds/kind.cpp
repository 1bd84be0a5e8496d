// SPDX-License-Identifier: Apache-2.0
#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

void Kind::check(std::vector<model::Desired>& /*desired*/, const std::vector<model::Observed>& /*observed*/,
                 World& /*world*/, model::Diagnostics& /*diagnostics*/) const {}

base::Result<void> Kind::prepare(std::span<model::Change*> /*changes*/, World& /*world*/) const { return {}; }

base::Result<void> Kind::recover(std::span<const model::Change> /*changes*/, system::Host& /*host*/) const {
  return {};
}

Verdict Kind::judge(const model::Desired& /*desired*/, const model::Observed* /*observed*/,
                    const std::vector<std::string>& /*differing*/, World& /*world*/) const {
  return {};
}

bool Kind::returns(std::string_view /*field*/, const model::Attributes& /*before*/,
                   const model::Attributes& /*then*/) const {
  return true;
}

bool Kind::reachable(const model::Key& /*key*/, const World& /*world*/) const { return true; }

std::string Kind::parent_object(const model::Change& /*change*/, const World& /*world*/) const { return {}; }

}  // namespace rdmacfg::kinds
