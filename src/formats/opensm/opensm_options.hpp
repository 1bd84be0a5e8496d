// SPDX-License-Identifier: Apache-2.0
// The options of opensm.conf as OpenSM 3.3 reads them. Source: opt_tbl and clean_val() in osm_subnet.c.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/managed_block.hpp"

namespace rdmacfg::kinds {

/// A value as OpenSM takes it from the rest of a line: without blanks and one pair of quotes around it.
std::string_view opensm_value(std::string_view written);

/// A line of opensm.conf: "qos TRUE  # comment".
struct OpensmOptionLine {
  std::string_view option;
  std::string_view value;  ///< as it is written, with the blanks before it
};
/// Nothing: it is not an option with a value.
std::optional<OpensmOptionLine> parse_opensm_option_line(std::string_view line);

/// The line of an option that counts: the last one.
struct WrittenOpensmOption {
  std::string value;
  int line = 0;
};
enum class OpensmLines { kAll, kOfOthers };
/// @param lines  those of parse_marked()
std::optional<WrittenOpensmOption> last_opensm_option(std::span<const MarkedText::Line> lines,
                                                      std::string_view option, OpensmLines which);

/// The option that was meant, where the name is none of OpenSM's and near to one. Builds of others have more
/// options, so a name alone is not an error.
std::optional<std::string> near_opensm_option(std::string_view name);

struct WrongValue {
  std::string what;  ///< "OpenSM reads yes as FALSE"
  std::string hint;
};
/// Of an option that is a number, TRUE or FALSE, one of a few words, a list of VLs, or a path:
/// why OpenSM would not take the value as it is meant (osm_subn_verify_config(), osm_log_init_v2()).
std::optional<WrongValue> wrong_opensm_value(std::string_view name, std::string_view value);

/// An engine in the value of routing_engine that OpenSM 3.3 does not have. It leaves such an engine out, and
/// takes the next one, at last minhop; its log alone says so. Plugins and NVIDIA's OpenSM have more engines.
/// Source: setup_routing_engines() in osm_opensm.c.
struct UnknownEngine {
  std::string name;
  std::optional<std::string> near;  ///< the engine that was meant
};
std::vector<UnknownEngine> unknown_routing_engines(std::string_view value);
/// "minhop, updn, …"
std::string routing_engine_names();

}  // namespace rdmacfg::kinds
