// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/field.hpp"

namespace rdmacfg::model {

/// Types of the ports of a ConnectX-3 adapter, port 1 first: "ib", "eth" or "auto".
struct PortTypes {
  std::vector<std::string> list;
  auto operator<=>(const PortTypes&) const = default;
};

#define RDMACFG_CODEC(Type, type_text, schema_text)          \
  template <>                                                \
  struct Codec<Type> {                                       \
    static constexpr std::string_view kType = type_text;     \
    static constexpr std::string_view kSchema = schema_text; \
    static base::Result<Type> parse(const Value& written);   \
    static Value value(const Type& parsed);                  \
  }

RDMACFG_CODEC(PortTypes, "list of \"ib\", \"eth\" or \"auto\"",
              R"({"type":"array","minItems":1,"maxItems":2,"items":{"enum":["ib","eth","auto"]}})");

#undef RDMACFG_CODEC

}  // namespace rdmacfg::model
