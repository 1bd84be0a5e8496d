// SPDX-License-Identifier: Apache-2.0
// Values of opensm.conf for which OpenSM takes others, which only its log tells. Sources: osm_subnet.c of
// OpenSM 3.3 (osm_subn_verify_config(), opts_parse_cct_entry(), opts_parse_cc_cct(), opts_parse_256bit(),
// parse_ca_cong_common()), IB_MAX_RATE in ib_types.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/opensm/opensm_options.hpp"

namespace rdmacfg::kinds {

/// Of a number that the type and the field of its option hold.
std::optional<WrongValue> replaced_opensm_number(std::string_view option, std::uint64_t number);

/// Of texts of congestion control, which have forms of their own; OpenSM passes over others.
std::optional<WrongValue> wrong_congestion_text(std::string_view option, std::string_view value);

/// A value that OpenSM replaces because of another option.
struct ReplacedOption {
  std::string_view option;
  std::string what;  ///< "OpenSM uses 200 instead of 100, as it is less than transaction_timeout"
  std::string hint;
};
/// `options`: those that are set, by their names; OpenSM has its defaults for others.
std::vector<ReplacedOption> replaced_opensm_options(const std::map<std::string, std::string>& options);

}  // namespace rdmacfg::kinds
