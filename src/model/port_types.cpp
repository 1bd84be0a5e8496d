// SPDX-License-Identifier: Apache-2.0
#include "model/port_types.hpp"

#include <fmt/format.h>

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

Result<PortTypes> Codec<PortTypes>::parse(const Value& written) {
  const auto* list = std::get_if<std::vector<std::string>>(&written);
  if (list == nullptr || list->empty() || list->size() > 2)
    return fail(Code::kInvalid, "has to be a list of the types of one or two ports, like [\"ib\", \"eth\"]");
  for (const auto& type : *list) {
    if (type != "ib" && type != "eth" && type != "auto")
      return fail(Code::kInvalid, fmt::format("\"{}\" is no port type: ib, eth or auto", type));
  }
  return PortTypes{*list};
}
Value Codec<PortTypes>::value(const PortTypes& parsed) { return parsed.list; }

}  // namespace rdmacfg::model
