// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/iser/iser_session_parse.hpp"

#include <fmt/format.h>

#include <string_view>

#include "kinds/entry.hpp"
#include "kinds/storage/iser/iser_session.hpp"
#include "kinds/storage/target_entry.hpp"

namespace rdmacfg::kinds {

using model::Diagnostics;

namespace {

constexpr std::int64_t kFirstGroup = 1;  // of LIO and of most arrays
constexpr std::int64_t kHighestNumber = 65535;

/// The number that a key gives, or its fallback; nothing when it is out of range, which is reported.
std::optional<std::int64_t> number_of(const model::Section& section, std::string_view key, std::int64_t least,
                                      std::int64_t otherwise, Diagnostics& diagnostics) {
  const auto* given = section.find(key);
  if (given == nullptr) return otherwise;
  const auto* number = std::get_if<std::int64_t>(&given->value);
  if (number == nullptr) return std::nullopt;  // reported already, by the grammar
  const auto why = why_out_of_range(*number, least, kHighestNumber);
  if (why.empty()) return *number;
  report_entry_error(section, given->where, key, why, "", diagnostics);
  return std::nullopt;
}

}  // namespace

std::optional<IserPortal> iser_portal_of(const model::Section& section, Diagnostics& diagnostics) {
  const auto *target = section.find("target"), *address = section.find("address");
  if (target == nullptr || address == nullptr) return std::nullopt;  // reported already, by the grammar
  auto name = model::IscsiName::parse(model::text_of(target->value));
  const auto portal = model::IpAddress::parse(model::text_of(address->value));
  const auto port = number_of(section, "port", 1, model::kIscsiPort, diagnostics);
  const auto group = number_of(section, "portal_group", 0, kFirstGroup, diagnostics);
  if (!name || !portal || !port || !group) return std::nullopt;
  const bool scoped = portal->family == model::Family::kIpv6 && portal->link_local();
  if (portal->multicast() || portal->unspecified() || scoped) {
    report_entry_error(section, address->where, "address",
                       fmt::format("\"{}\" is not an address of a target", portal->text()),
                       scoped ? "a link-local address is ambiguous without an interface" : "", diagnostics);
    return std::nullopt;
  }
  return IserPortal{std::move(name->text), *portal, *port, *group};
}

}  // namespace rdmacfg::kinds
