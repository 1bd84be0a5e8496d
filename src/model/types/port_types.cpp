// SPDX-License-Identifier: Apache-2.0
#include "model/types/port_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "model/types/choices.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

Result<PortTypes> Codec<PortTypes>::parse(const Value& written) {
  const auto* list = std::get_if<std::vector<std::string>>(&written);
  if (list == nullptr)
    return fail(Code::kInvalid, "must list one or two port types, such as [\"ib\", \"eth\"]");
  if (list->empty() || list->size() > 2)
    return fail(Code::kInvalid,
                fmt::format("has {} elements; must list one or two port types, such as [\"ib\", \"eth\"]",
                            list->size()));
  for (const auto& type : *list) {
    if (type != "ib" && type != "eth" && type != "auto")
      return fail(Code::kInvalid, fmt::format("\"{}\" is not a port type: write ib, eth or auto", type));
  }
  return PortTypes{*list};
}
Value Codec<PortTypes>::value(const PortTypes& parsed) { return parsed.list; }

Result<PortNumber> Codec<PortNumber>::parse(const Value& written) {
  constexpr std::int64_t kMost = 255;
  const auto* number = std::get_if<std::int64_t>(&written);
  if (number == nullptr) return fail(Code::kInvalid, "must be an integer such as 1");
  if (*number < 1 || *number > kMost)
    return fail(Code::kInvalid, fmt::format("{} is not a port number: ports are counted from 1 (at most {})",
                                            *number, kMost));
  return PortNumber{*number};
}
Value Codec<PortNumber>::value(const PortNumber& parsed) { return parsed.number; }

namespace {

/// How many characters of an address a pattern stands for, those of a * not counted.
std::size_t positions_of(std::string_view pattern) {
  std::size_t positions = 0;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '*') continue;
    ++positions;
    if (pattern[at] == '[') at = std::min(pattern.find(']', at), pattern.size());
  }
  return positions;
}

/// Whether the domain is left out. A bus has two digits, a domain four. A * may stand for either: then only
/// a function behind the colon ("1*:00.0") makes it a bus; in front of all it may be both.
bool begins_with_bus(std::string_view pattern) {
  const auto colon = pattern.find(':');
  if (colon == std::string_view::npos || pattern.find(':', colon + 1) != std::string_view::npos ||
      pattern.starts_with('*'))
    return false;
  const auto first = pattern.substr(0, colon), rest = pattern.substr(colon + 1);
  if (positions_of(first) > 2) return false;
  return first.find('*') == std::string_view::npos || rest.find('.') != std::string_view::npos;
}

}  // namespace

Result<PciPattern> Codec<PciPattern>::parse(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  if (text == nullptr) return fail(Code::kInvalid, "must be a string such as \"0000:1?:00.0\"");
  if (text->find_first_of("*?[") == std::string::npos)
    return PciAddress::parse(*text).map(
        [](PciAddress address) { return PciPattern{std::move(address.text)}; });
  auto pattern = base::lower(*text);
  const auto open = pattern.find('[');
  if (pattern.find_first_not_of("0123456789abcdef:.*?!^[]-") != std::string::npos ||
      (open != std::string::npos && pattern.find(']', open) == std::string::npos))
    return fail(Code::kInvalid,
                fmt::format("\"{}\" matches no PCI address; a pattern looks like \"0000:1?:00.0\"", *text));
  if (begins_with_bus(pattern)) pattern = "0000:" + pattern;
  return PciPattern{std::move(pattern)};
}
Value Codec<PciPattern>::value(const PciPattern& parsed) { return parsed.text; }

Result<LinkLayer> Codec<LinkLayer>::parse(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  constexpr std::array<std::string_view, 2> kKnown{"InfiniBand", "Ethernet"};
  for (const auto known : kKnown) {
    if (text != nullptr && base::lower(*text) == base::lower(known)) return LinkLayer{std::string(known)};
  }
  return fail(Code::kInvalid, wrong_choice(written, kKnown));
}
Value Codec<LinkLayer>::value(const LinkLayer& parsed) { return parsed.text; }

Result<IpoibLinkLayer> Codec<IpoibLinkLayer>::parse(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  if (text == nullptr) return fail(Code::kInvalid, "must be \"InfiniBand\"");
  if (base::lower(*text) != "infiniband")
    return fail(Code::kInvalid,
                fmt::format("is \"{}\"; must be \"InfiniBand\": only such ports have IPoIB", *text));
  return IpoibLinkLayer{};
}
Value Codec<IpoibLinkLayer>::value(const IpoibLinkLayer& /*parsed*/) { return std::string("InfiniBand"); }

}  // namespace rdmacfg::model
