// SPDX-License-Identifier: Apache-2.0
// A rule of udev (udev(7)) as its terms, and whether its matches hold for a device of ours.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// KEY{attribute}=="value" of a rule.
struct UdevTerm {
  std::string key;
  std::string sign;
  std::string value;
  bool any_case = false;  ///< i"…"

  [[nodiscard]] bool sets() const { return sign == "=" || sign == ":="; }
  [[nodiscard]] bool adds() const { return sets() || sign == "+="; }
};
using UdevTerms = std::vector<UdevTerm>;

/// Nothing when the line is none that udev would take.
std::optional<UdevTerms> parse_udev_terms(std::string_view line);

/// The value that a rule matches the key with by `==`; empty without one.
std::string matched_value(const UdevTerms& terms, std::string_view key);

/// Whether the rule asks one of the keys for digits above 9 in upper case: sysfs has them in lower case, so
/// it fits nothing.
bool asks_for_upper_case(const UdevTerms& terms, std::span<const std::string_view> keys);
/// The message about such a rule.
inline constexpr std::string_view kUpperCase =
    "has digits in upper case; sysfs has lower case, so udev has never applied it";

/// Whether it is for interfaces that go only.
bool is_for_removal(const UdevTerms& terms);

/// The object whose appearance has a rule tried: an IPoIB interface, or an RDMA device.
enum class UdevSubject { kInterface, kDevice };

/// Whether a match holds for a device of ours when it appears.
enum class UdevFit { kNot, kMaybe, kYes };

/// Whether all matches of a rule hold.
UdevFit udev_fit(const UdevTerms& terms, UdevSubject subject, const Claims& claims);

/// Why a rule may not apply, by its matches with `!=`: empty where it does, nothing where it never does.
std::optional<std::string> udev_condition(const UdevTerms& terms, UdevSubject subject, const Claims& claims);

}  // namespace rdmacfg::foreign
