// SPDX-License-Identifier: Apache-2.0
// Values of the subnet manager's files as the document spells them.
#pragma once

#include <cstdint>

#include "model/field.hpp"

namespace rdmacfg::model {

/// Scopes of multicast groups, as a set: bit N is scope N, 1 to 14 (InfiniBand architecture, 4.1.1: 2 is
/// link-local, 5 site-local, 14 global).
struct Scopes {
  unsigned mask = 0;
  [[nodiscard]] bool has(unsigned scope) const { return (mask >> scope & 1U) != 0; }
  auto operator<=>(const Scopes&) const = default;
};

inline constexpr unsigned kScopeMost = 14;

RDMACFG_CODEC(
    Scopes, "number or list of numbers",
    R"({"type":["integer","array"],"minimum":1,"maximum":14,"minItems":1,"items":{"type":["integer","string"],"minimum":1,"maximum":14,"pattern":"^(0[xX][0-9A-Fa-f]+|[0-9]+)$"}})");

}  // namespace rdmacfg::model
