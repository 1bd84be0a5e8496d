// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/nm_addresses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

using model::Family;

namespace {

enum class NmEntry { kAddress, kRoute };

/// An address or route as read_one_ip_address_or_route() of nm-keyfile.c takes it: "/", "," and ";" separate
/// the same, and the prefix length may be left out.
struct Fields {
  std::string address, length, gateway, metric;
  bool rest = false;  ///< something behind them, for which NetworkManager drops the whole
};

Fields fields_of(std::string_view text, NmEntry entry) {
  std::string commas(text);
  for (auto& c : commas) c = c == '/' || c == ';' ? ',' : c;
  std::vector<std::string> parts;
  for (const auto part : base::split(commas, ',')) parts.emplace_back(base::trim(part));
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  Fields out;
  std::size_t at = 0;
  const auto next = [&] { return at < parts.size() ? parts[at++] : std::string(); };
  out.address = next();
  const bool length = at < parts.size() && !parts[at].empty() &&
                      parts[at].find_first_not_of("0123456789") == std::string::npos;
  if (length) out.length = next();
  out.gateway = next();
  if (entry == NmEntry::kRoute) out.metric = next();
  out.rest = at < parts.size();
  return out;
}

/// Keys of one kind are read in the order of their numbers, "address" before "address0", and of one number
/// "address" before "addresses" (_build_list_create() of nm-keyfile.c).
struct Numbered {
  std::int64_t number = -1;
  bool plural = false;
  std::string key;
  auto operator<=>(const Numbered&) const = default;
};

std::optional<Numbered> numbered_key(std::string_view key, std::string_view base) {
  if (!key.starts_with(base)) return std::nullopt;
  auto rest = key.substr(base.size());
  const std::string_view more = base == "address" ? "es" : "s";
  const bool plural = rest.starts_with(more);
  if (plural) rest.remove_prefix(more.size());
  if (rest.empty()) return Numbered{-1, plural, std::string(key)};
  if (rest.size() > 9 || rest.find_first_not_of("0123456789") != std::string_view::npos ||
      (rest.size() > 1 && rest.front() == '0'))
    return std::nullopt;
  return Numbered{static_cast<std::int64_t>(*base::parse_number(rest)), plural, std::string(key)};
}

/// The keys of addresses or routes, in the order in which they are read.
std::vector<std::string> numbered_keys(const Keys& keys, std::string_view base) {
  std::vector<Numbered> found;
  for (const auto& key : keys.left()) {
    if (auto numbered = numbered_key(key, base)) found.push_back(std::move(*numbered));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (auto& numbered : found) out.push_back(std::move(numbered.key));
  return out;
}

/// The network of an address or route, with the length that libnm takes where none is written
/// (nm-keyfile.c).
std::string prefix_of(const Fields& fields, Family family, NmEntry entry) {
  const int usual = family == Family::kIpv4 ? 24 : entry == NmEntry::kRoute ? 128 : 64;
  return fmt::format("{}/{}", fields.address, fields.length.empty() ? std::to_string(usual) : fields.length);
}

/// @param gateway  whether one was written before: the first counts, even 0.0.0.0
std::string add_nm_address(std::string_view text, Inet& inet, Family family, bool& gateway) {
  const auto fields = fields_of(text, NmEntry::kAddress);
  if (fields.rest) return "more than an address, a length and a gateway; NetworkManager drops it";
  auto why = add_address(inet, family, prefix_of(fields, family, NmEntry::kAddress));
  if (!why.empty() || fields.gateway.empty() || gateway) return why;
  gateway = true;
  return set_gateway(inet, family, fields.gateway);
}

/// @param of_tables  gets the route if it has a table of its own; nullptr: `inet` gets it, too
std::string add_nm_route(Keys& keys, const std::string& key, std::string_view text, Inet& inet,
                         Inet* of_tables, Family family) {
  auto fields = fields_of(text, NmEntry::kRoute);
  if (fields.rest) return "more than a network, a gateway and a metric; NetworkManager drops it";
  // Old versions' form of a route without a gateway (build_route() in nm-keyfile.c).
  if (family == Family::kIpv6 && fields.metric.empty() && base::parse_number(fields.gateway))
    std::swap(fields.gateway, fields.metric);
  auto words = prefix_of(fields, family, NmEntry::kRoute);
  const bool on_link = fields.gateway.empty() || fields.gateway == "0.0.0.0" || fields.gateway == "::";
  if (!on_link) words += " via " + fields.gateway;
  if (!fields.metric.empty()) words += " metric " + fields.metric;
  bool table = false;
  if (const auto more = keys.take(key + "_options")) {
    for (const auto& option : split_nm_list(more->value)) {
      if (option.starts_with("table=")) {
        // 0 is the table of the profile, as without the option (nm_utils_ip_route_attribute_to_platform()).
        if (base::parse_number(option.substr(6)) == 0U) continue;
        words += " table " + option.substr(6);
        table = true;
      } else if (option.starts_with("type=")) {
        const auto why = wrong_type(option.substr(5));
        if (why.empty()) continue;
        keys.wrong(*more, why);
        return {};
      } else {
        keys.wrong(*more, fmt::format("{} is not supported", option));
      }
    }
  }
  // A route with a next hop 0.0.0.0 is not the gateway, even without a metric.
  return add_route_words(table && of_tables != nullptr ? *of_tables : inet, family, words);
}

}  // namespace

std::vector<std::string> split_nm_list(std::string_view text) {
  std::string blanks(text);
  std::replace(blanks.begin(), blanks.end(), ';', ' ');
  std::replace(blanks.begin(), blanks.end(), ',', ' ');
  std::vector<std::string> out;
  for (const auto word : words_of(blanks)) out.emplace_back(word);
  return out;
}

void drop_spaced_addresses(Group& section) {
  for (auto& item : section.items) {
    const bool listed = numbered_key(item.key, "address") || numbered_key(item.key, "route");
    const bool spaced = item.value.find_first_of(" \t\r\n") != std::string::npos;
    if (listed && spaced && item.why.empty()) item.why = "has a blank; NetworkManager drops it";
  }
}

void take_nm_addresses(Keys& keys, Interface& interface, Interface* of_tables, Family family) {
  auto& inet = interface.inet(family);
  const auto note_place = [&](std::string_view list, const Item& item) {
    interface.at.try_emplace(fmt::format("{}.{}", family == Family::kIpv4 ? "ipv4" : "ipv6", list),
                             keys.place(item));
  };
  bool gateway = false;
  for (const auto& key : numbered_keys(keys, "address")) {
    const auto item = keys.take(key);
    if (!item) continue;
    note_place("addresses", *item);
    const auto why = add_nm_address(item->value, inet, family, gateway);
    if (!why.empty()) keys.wrong(*item, why);
  }
  for (const auto& key : numbered_keys(keys, "route")) {
    const auto item = keys.take(key);
    if (!item) continue;
    note_place("routes", *item);
    const auto why = add_nm_route(keys, key, item->value, inet,
                                  of_tables == nullptr ? nullptr : &of_tables->inet(family), family);
    if (!why.empty()) keys.wrong(*item, why);
  }
}

}  // namespace rdmacfg::foreign
