// SPDX-License-Identifier: Apache-2.0
#include "foreign/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace rdmacfg::foreign {

using base::Code;
using base::Result;
using model::InetMethod;

std::string Place::text() const { return line == 0 ? file : fmt::format("{}:{}", file, line); }

Place Interface::place_of(std::string_view key) const {
  if (const auto exact = at.find(key); exact != at.end()) return exact->second;
  std::optional<Place> first;
  for (const auto& [path, place] : at) {
    const bool below = path.size() > key.size() && path.starts_with(key) && path[key.size()] == '.';
    if (below && (!first || place < *first)) first = place;
  }
  return first.value_or(where);
}

InetMethod Inet::effective() const { return method.value_or(InetMethod::kManual); }

Entry& Claims::entry(std::string_view path, const model::Attributes& identity, const Place& where) {
  const auto [at, fresh] = found_.try_emplace({std::string(path), identity}, entries.size());
  if (!fresh) return entries[at->second];
  if (entries.size() == kMostEntries) {
    found_.erase(at);
    if (surplus_.path.empty()) miss(where, fmt::format("from here on: more than {} entries", kMostEntries));
    return surplus_ = Entry{where, std::string(path), identity};
  }
  return entries.emplace_back(Entry{where, std::string(path), identity});
}

bool Claims::knows(std::string_view name) const {
  const auto dot = name.rfind('.');
  const bool child = dot != std::string_view::npos && name.size() - dot == 5 &&
                     name.find_first_not_of("0123456789abcdefABCDEF", dot + 1) == std::string_view::npos;
  const auto port = child ? name.substr(0, dot) : name;
  // An author of names of that length in rules, or stars in patterns, wants only to keep us busy.
  constexpr std::size_t kLongestPattern = 64;
  const bool pattern = is_pattern(port) && port.size() <= kLongestPattern;
  const auto fits = [&](const std::string& interface_name) {
    return interface_name.size() <= model::kInterfaceNameMax && base::matches_glob(port, interface_name);
  };
  if (port.starts_with("ib") || known.contains(port) || given_.contains(port)) return true;
  if (learned_.contains(port) || learned_.contains(name)) return true;
  if (!pattern) return false;
  // Behind that many comparisons every pattern is taken for one of ours, and named.
  constexpr std::size_t kMostComparisons = 500'000;
  if (compared_ >= kMostComparisons) return true;
  compared_ += known.size() + names.size() + learned_.size();
  return std::any_of(known.begin(), known.end(), [&](const auto& item) { return fits(item.first); }) ||
         std::any_of(learned_.begin(), learned_.end(), fits) ||
         std::any_of(names.begin(), names.end(), [&](const auto& item) { return fits(item.second.text); });
}

void Claims::learn_names() {
  for (; learned_from_ < interfaces.size(); ++learned_from_) {
    const auto& interface = interfaces[learned_from_];
    if (!interface.broken && !interface.name.empty()) learned_.insert(interface.name);
  }
}

void Claims::learn_names_of(const Claims& other) {
  learned_.insert(other.learned_.begin(), other.learned_.end());
  for (const auto& [guid, name] : other.names) learned_.insert(name.text);
}

void Claims::give_name(const model::Guid& guid, GivenName name) {
  ++given_[name.text];
  const auto [at, fresh] = names.try_emplace(guid, name);
  if (fresh) return;
  if (const auto before = given_.find(at->second.text); --before->second == 0) given_.erase(before);
  at->second = std::move(name);
}

bool is_pattern(std::string_view name) { return name.find_first_of("*?[!|") != std::string_view::npos; }

Result<model::Guid> guid_of_address(std::string_view address) {
  std::string text(base::trim(address));
  std::replace(text.begin(), text.end(), '-', ':');
  const auto bytes = base::split(text, ':');
  const bool pairs = std::all_of(bytes.begin(), bytes.end(), [](std::string_view byte) {
    return !byte.empty() && byte.size() <= 2 &&
           byte.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  });
  if (bytes.size() != 20 || !pairs) {
    return base::fail(
        Code::kInvalid,
        fmt::format("{} is not the hardware address of an IPoIB interface (20 bytes)", address));
  }
  model::Guid guid;
  for (std::size_t at = 12; at < 20; ++at) {
    unsigned byte = 0;
    std::from_chars(bytes[at].data(), bytes[at].data() + bytes[at].size(), byte, 16);
    guid.number = guid.number << 8U | byte;
  }
  if (guid.number == 0) return base::fail(Code::kInvalid, fmt::format("{} has no port GUID", address));
  return guid;
}

Result<model::Pkey> pkey_of(std::string_view text) {
  const auto number = base::c_number(text);
  if (!number || *number > 0xffff)
    return base::fail(Code::kInvalid, fmt::format("{} is not a P_Key (1 to 0xffff)", text));
  return model::Pkey::make(static_cast<std::int64_t>(*number));
}

std::optional<bool> yes_or_no(std::string_view text) {
  const auto word = base::lower(base::trim(text));
  for (const auto* yes : {"yes", "true", "on", "1", "y", "t"}) {
    if (word == yes) return true;
  }
  for (const auto* no : {"no", "false", "off", "0", "n", "f"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

std::optional<int> prefix_of_netmask(std::string_view mask) {
  const auto address = model::IpAddress::parse(mask);
  if (!address || address->family != model::Family::kIpv4) return std::nullopt;
  std::uint32_t bits = 0;
  for (std::size_t at = 0; at < 4; ++at) bits = bits << 8U | address->bytes.at(at);
  int length = 0;
  while (length < 32 && (bits & (1U << static_cast<unsigned>(31 - length))) != 0) ++length;
  const auto whole = length == 0 ? 0U : ~0U << static_cast<unsigned>(32 - length);
  if (bits != whole) return std::nullopt;
  return length;
}

std::string child_name(std::string_view parent, model::Pkey pkey) {
  return fmt::format("{}.{:04x}", parent, pkey.full()).substr(0, model::kInterfaceNameMax);
}

std::optional<ChildName> child_of_name(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || name.size() - dot != 5) return std::nullopt;
  const auto digits = name.substr(dot + 1);
  if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) return std::nullopt;
  const auto pkey = pkey_of(fmt::format("0x{}", digits));
  if (!pkey) return std::nullopt;
  return ChildName{std::string(name.substr(0, dot)), *pkey};
}

bool is_leftover(std::string_view file_name) {
  for (const auto* end : {"~", ".bak", ".orig", ".rpmsave", ".rpmnew", ".rpmorig", ".augnew", ".augtmp",
                          ".dpkg-old", ".dpkg-new", ".dpkg-dist", ".swp"}) {
    if (file_name.ends_with(end)) return true;
  }
  return false;
}

}  // namespace rdmacfg::foreign
