// SPDX-License-Identifier: Apache-2.0
#include "model/pci_types.hpp"

#include <fmt/format.h>

#include <regex>

#include "base/text.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

Result<PciAddress> PciAddress::parse(std::string_view text) {
  static const std::regex kForm("([0-9a-f]{4}:)?[0-9a-f]{2}:[01][0-9a-f]\\.[0-7]");
  auto lower = base::lower(text);
  if (!std::regex_match(lower, kForm))
    return fail(Code::kInvalid, fmt::format("\"{}\" is no PCI address; written like \"0000:10:00.0\"", text));
  constexpr std::size_t kWhole = 12;
  return PciAddress{lower.size() == kWhole ? lower : "0000:" + lower};
}

Result<PciAddress> Codec<PciAddress>::parse(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  if (text == nullptr) return fail(Code::kInvalid, "has to be a text like \"0000:10:00.0\"");
  return PciAddress::parse(*text);
}
Value Codec<PciAddress>::value(const PciAddress& parsed) { return parsed.text; }

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
