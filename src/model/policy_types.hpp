// SPDX-License-Identifier: Apache-2.0
// How the daemon behaves, as the document spells it.
#pragma once

#include <cstdint>

#include "model/field.hpp"

namespace rdmacfg::model {

/// What happens to a setting that somebody else has changed.
enum class Drift { kRepair, kReport };

/// Time between two looks at the whole host without an event; 0: none.
struct Audit {
  std::int64_t seconds = 0;
  auto operator<=>(const Audit&) const = default;
};

template <>
struct Codec<Drift> {
  static constexpr std::string_view kType = "\"repair\" or \"report\"";
  static constexpr std::string_view kSchema = R"({"enum":["repair","report"]})";
  static base::Result<Drift> parse(const Value& written);
  static Value value(const Drift& parsed);
};

template <>
struct Codec<Audit> {
  static constexpr std::string_view kType = "seconds";
  static constexpr std::string_view kSchema =
      R"({"type":"integer","anyOf":[{"const":0},{"minimum":10,"maximum":86400}]})";
  static base::Result<Audit> parse(const Value& written);
  static Value value(const Audit& parsed) { return parsed.seconds; }
};

}  // namespace rdmacfg::model
