// SPDX-License-Identifier: Apache-2.0
// Names of SRP in saveconfig.json, and as the document has them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/types.hpp"

namespace rdmacfg::foreign {

inline constexpr std::size_t kSrpGuidDigits = 16;

/// "ib.fe800000000000000002c903000e8acd" → its 32 digits; nothing for anything else.
std::optional<std::string> srp_digits_of(std::string_view written);

/// Port identifiers of initiators, "0x" and 32 digits, of which both of one port (kinds::srp_port_ids())
/// become its GUID, in the place of the first.
std::vector<std::string> with_srp_guids(const model::Guid& target,
                                        const std::vector<std::string>& initiators);

}  // namespace rdmacfg::foreign
