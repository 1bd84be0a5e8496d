// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/field.hpp"

namespace rdmacfg::model {

/// A PCI address with its domain, lower case: "0000:10:00.0". "10:00.0" is taken for domain 0000.
struct PciAddress {
  std::string text;
  static base::Result<PciAddress> parse(std::string_view text);
  auto operator<=>(const PciAddress&) const = default;
};

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

RDMACFG_CODEC(PciAddress, "PCI address",
              R"({"type":"string","pattern":"^([0-9A-Fa-f]{4}:)?[0-9A-Fa-f]{2}:[01][0-9A-Fa-f]\\.[0-7]$"})");
RDMACFG_CODEC(PortTypes, "list of \"ib\", \"eth\" or \"auto\"",
              R"({"type":"array","minItems":1,"maxItems":2,"items":{"enum":["ib","eth","auto"]}})");

#undef RDMACFG_CODEC

}  // namespace rdmacfg::model
