// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/opensm_replaced.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

/// Numbers that OpenSM takes as they are; for all others it has a default.
struct TakenNumbers {
  std::string_view option;
  std::uint64_t least, most;
  std::uint64_t any;  ///< one more
  std::string_view hint;
};
constexpr std::uint64_t kSaRateMaxEnum = 63, kRate300 = 18, kRate1200 = 24;
constexpr std::array kTakenNumbers{
    TakenNumbers{"max_op_vls", 1, 15, 15, "1: VL0, 2: VL0-1, 3: VL0-3, 4: VL0-7, 5: VL0-14"},
    TakenNumbers{"max_rate_enum", 2, kRate1200, kSaRateMaxEnum, "OpenSM would use 63, all rates"},
    TakenNumbers{"perfmgr_max_outstanding_queries", 1, 0xffffffff, 1, "OpenSM would use 500"},
    TakenNumbers{"perfmgr_sweep_time_s", 1, 0xffff, 1, "OpenSM would use 180"}};

/// "0x10:3": a shift and its multiplier.
bool is_cct_entry(std::string_view text) {
  const auto colon = text.find(':');
  return colon != std::string_view::npos && base::c_number(text.substr(0, colon)) &&
         base::c_number(text.substr(colon + 1));
}

std::optional<WrongValue> wrong_cct(std::string_view option, std::string_view value) {
  const bool list = option == "cc_cct";
  if (!list && option != "cc_sw_cong_setting_credit_starvation_return_delay") return std::nullopt;
  if (list && value == "(null)") return std::nullopt;
  const auto entries = list ? base::split(value, ',') : std::vector<std::string_view>{value};
  for (const auto entry : entries) {
    if (list && entry.empty()) continue;  // strtok_r() passes over it, and not over blanks
    if (!is_cct_entry(base::trim(entry)))
      return WrongValue{fmt::format("\"{}\" is not a shift and its multiplier", base::trim(entry)),
                        list ? "SHIFT:MULTIPLIER, with a comma between two; OpenSM would ignore the line"
                             : "SHIFT:MULTIPLIER; OpenSM would ignore the line"};
  }
  return std::nullopt;
}

std::optional<WrongValue> wrong_port_mask(std::string_view option, std::string_view value) {
  constexpr std::size_t kDigitsMost = 64;  // 256 bits
  if (option != "cc_sw_cong_setting_victim_mask" && option != "cc_sw_cong_setting_credit_mask")
    return std::nullopt;
  auto digits = value;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  if (!digits.empty() && digits.size() <= kDigitsMost &&
      digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos)
    return std::nullopt;
  return WrongValue{fmt::format("{} is not a mask of ports", value),
                    fmt::format("1 to {} hexadecimal digits", kDigitsMost)};
}

/// "SL VALUE"
std::optional<WrongValue> wrong_of_sl(std::string_view option, std::string_view value) {
  constexpr std::uint64_t kSlMost = 15, kByteMost = 0xff, kShortMost = 0xffff;
  constexpr std::array<std::string_view, 4> kOfSl{
      "cc_ca_cong_setting_ccti_increase", "cc_ca_cong_setting_ccti_min", "cc_ca_cong_setting_ccti_timer",
      "cc_ca_cong_setting_trigger_threshold"};
  if (std::find(kOfSl.begin(), kOfSl.end(), option) == kOfSl.end()) return std::nullopt;
  const auto most = option == "cc_ca_cong_setting_ccti_timer" ? kShortMost : kByteMost;
  const auto words = base::words_of(value);
  const auto sl = words.size() == 2 ? base::c_number(words[0]) : std::nullopt;
  const auto number = words.size() == 2 ? base::c_number(words[1]) : std::nullopt;
  if (sl && *sl <= kSlMost && number && *number <= most) return std::nullopt;
  return WrongValue{fmt::format("\"{}\" is not an SL and its value", value),
                    fmt::format("\"SL VALUE\", from 0 to {} and from 0 to {}; OpenSM would ignore the line",
                                kSlMost, most)};
}

/// The options of a file, with OpenSM's defaults for those that are not set.
class EffectiveOptions {
 public:
  explicit EffectiveOptions(const std::map<std::string, std::string>& options) : options_(options) {}

  [[nodiscard]] std::uint64_t number(const std::string& option, std::uint64_t otherwise) const {
    const auto at = options_.find(option);
    const auto read = at == options_.end() ? std::nullopt : base::c_number(opensm_value(at->second));
    return read.value_or(otherwise);  // a line that is not a number counts for nothing
  }

  [[nodiscard]] std::string text(const std::string& option) const {
    const auto at = options_.find(option);
    return at == options_.end() ? std::string() : std::string(opensm_value(at->second));
  }

 private:
  const std::map<std::string, std::string>& options_;
};

void replace_timeout(const EffectiveOptions& options, std::vector<ReplacedOption>& out) {
  constexpr std::uint64_t kTimeout = 200, kLongTimeout = 500;  // ms, osm_base.h
  const auto least = options.number("transaction_timeout", kTimeout);
  const auto given = options.number("long_transaction_timeout", kLongTimeout);
  if (given >= least) return;
  out.push_back(
      {"long_transaction_timeout",
       fmt::format("OpenSM uses {} instead of {}, which is less than transaction_timeout", least, given),
       fmt::format("write {} or more, or a lower transaction_timeout", least)});
}

/// Leases of M_Keys would end between two sweeps.
void replace_lease(const EffectiveOptions& options, std::vector<ReplacedOption>& out) {
  constexpr std::uint64_t kSweepInterval = 10;  // seconds, osm_base.h
  const auto lease = options.number("m_key_lease_period", 0);
  const auto sweep = options.number("sweep_interval", kSweepInterval);
  if (options.number("m_key_protection_level", 0) == 0 || lease == 0) return;
  if (sweep == 0 && lease > 1) {
    out.push_back(
        {"sweep_interval",
         fmt::format("OpenSM uses {} instead of 0, as protected M_Keys have a lease of {} seconds", lease - 1,
                     lease),
         "write m_key_lease_period = 0 for leases without an end, or a sweep_interval below the lease"});
  } else if (sweep >= lease) {
    out.push_back(
        {"m_key_lease_period",
         fmt::format("OpenSM uses {} instead of {}, as sweep_interval is {}", sweep + 1, lease, sweep),
         "write a longer lease than sweep_interval"});
  }
}

void replace_rate(const EffectiveOptions& options, std::vector<ReplacedOption>& out) {
  const auto rate = options.number("max_rate_enum", kSaRateMaxEnum);
  if (options.text("use_original_extended_sa_rates_only") != "TRUE" || rate <= kRate300) return;
  out.push_back({"max_rate_enum",
                 fmt::format("OpenSM uses {} instead of {}, as use_original_extended_sa_rates_only is TRUE",
                             kRate300, rate),
                 "leave use_original_extended_sa_rates_only out, which max_rate_enum replaces"});
}

void replace_enforcement(const EffectiveOptions& options, std::vector<ReplacedOption>& out) {
  const auto enforce = options.text("part_enforce");
  if (options.text("no_partition_enforcement") != "TRUE" || enforce.empty() || enforce == "off") return;
  out.push_back(
      {"part_enforce",
       fmt::format("OpenSM sets it to off instead of {}, as no_partition_enforcement is TRUE", enforce),
       "leave no_partition_enforcement out"});
}

}  // namespace

std::optional<WrongValue> replaced_opensm_number(std::string_view option, std::uint64_t number) {
  for (const auto& taken : kTakenNumbers) {
    if (taken.option != option || (number >= taken.least && number <= taken.most) || number == taken.any)
      continue;
    // OpenSM has no other value of its own for this one.
    return WrongValue{
        taken.any == taken.most
            ? fmt::format("{} is out of range; must be from {} to {}", number, taken.least, taken.most)
            : fmt::format("OpenSM does not accept {} for {}", number, option),
        std::string(taken.hint)};
  }
  return std::nullopt;
}

std::optional<WrongValue> wrong_congestion_text(std::string_view option, std::string_view value) {
  if (auto wrong = wrong_cct(option, value)) return wrong;
  if (auto wrong = wrong_port_mask(option, value)) return wrong;
  return wrong_of_sl(option, value);
}

std::vector<ReplacedOption> replaced_opensm_options(const std::map<std::string, std::string>& options) {
  const EffectiveOptions effective(options);
  std::vector<ReplacedOption> out;
  replace_timeout(effective, out);
  replace_lease(effective, out);
  replace_rate(effective, out);
  replace_enforcement(effective, out);
  return out;
}

}  // namespace rdmacfg::kinds
