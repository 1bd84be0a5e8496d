// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_rates.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "model/value.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::uint64_t kFirstNewRate = 23;  // 800 Gb/s

using OpensmVersion = std::array<std::uint64_t, 3>;
constexpr OpensmVersion kKnowsNewRates{3, 3, 24};

/// Of the text "OpenSM 3.3.23" in the program, which `opensm --version` prints.
std::optional<OpensmVersion> version_in(std::string_view program) {
  constexpr std::string_view kName = "OpenSM ";
  constexpr std::size_t kLongest = 32;
  for (auto at = program.find(kName); at != std::string_view::npos; at = program.find(kName, at + 1)) {
    const auto text = program.substr(at + kName.size(), kLongest);
    const auto parts = base::split(text.substr(0, text.find_first_not_of("0123456789.")), '.');
    OpensmVersion out{};
    bool whole = parts.size() == out.size();
    for (std::size_t i = 0; whole && i < out.size(); ++i) {
      const auto number = base::parse_number(parts[i]);
      whole = number.has_value();
      out[i] = number.value_or(0);
    }
    if (whole) return out;
  }
  return std::nullopt;
}

/// The version of an installed OpenSM that does not know them.
std::optional<std::string> version_before_new_rates(system::Files& files) {
  for (const auto* path : {"/usr/sbin/opensm", "/usr/bin/opensm"}) {
    const auto program = files.read_linked(path);
    if (!program || !*program) continue;
    const auto version = version_in(**program);
    if (!version || *version >= kKnowsNewRates) return std::nullopt;
    return fmt::format("{}.{}.{}", (*version)[0], (*version)[1], (*version)[2]);
  }
  return std::nullopt;
}

/// The number at the beginning of a text, if it is such a code.
std::optional<std::uint64_t> new_rate(std::string_view text) {
  const auto code = base::c_number(base::trim(text.substr(0, text.find_first_of(",:;#\n"))));
  return code && *code >= kFirstNewRate ? code : std::nullopt;
}

/// The first one in the rule of a partition, with its groups, or in the lines of a policy.
std::optional<std::uint64_t> new_rate_of(const model::Desired& resource) {
  constexpr std::string_view kFlag = "rate=", kKey = "rate-limit";
  const auto rule = model::text_at(resource.settings, "rule");
  for (auto at = rule.find(kFlag); at != std::string::npos; at = rule.find(kFlag, at + 1)) {
    if (const auto code = new_rate(std::string_view(rule).substr(at + kFlag.size()))) return code;
  }
  const auto& lines = model::value_of(resource.settings, "lines");
  const auto* policy = std::get_if<std::vector<std::string>>(&lines);
  if (policy == nullptr) return std::nullopt;
  for (const auto& line : *policy) {
    const auto text = base::trim(line);
    const auto colon = text.find(':');
    if (!text.starts_with(kKey) || colon == std::string_view::npos) continue;
    if (const auto code = new_rate(text.substr(colon + 1))) return code;
  }
  return std::nullopt;
}

}  // namespace

void check_rates(std::span<const model::Desired> desired, std::string_view kind, system::Files& files,
                 model::Diagnostics& diagnostics) {
  std::optional<std::string> version;
  for (const auto& resource : desired) {
    if (resource.key.kind != kind) continue;
    const auto code = new_rate_of(resource);
    if (!code) continue;
    if (!version) version = version_before_new_rates(files);
    if (!version) return;
    const bool is_partition = resource.settings.contains("rule");
    const std::string key = is_partition ? "rate" : "lines";
    const auto at = resource.origins.find(key);
    diagnostics.push_back(
        {model::Severity::kWarning,
         at == resource.origins.end() ? resource.where : at->second,
         fmt::format("[[{}]] {}: the installed OpenSM {} does not support rate {} and {}", kind, key,
                     *version, *code,
                     is_partition ? "does not create the group" : "ignores the whole policy"),
         "write a code up to 22, or install OpenSM 3.3.24 or later",
         {}});
  }
}

}  // namespace rdmacfg::kinds
