// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/srp_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "base/text.hpp"
#include "formats/managed_block.hpp"

namespace rdmacfg::kinds {

namespace {

bool is_rule_line(std::string_view line) { return !line.empty() && !line.starts_with('#'); }

constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
constexpr std::size_t kGidDigits = 32;
constexpr std::size_t kMostOptionDigits = 16;

std::optional<model::SrpId> id_of(std::string_view value) {
  if (value.find_first_not_of(kHexDigits) != std::string_view::npos) return std::nullopt;
  const auto id = model::SrpId::parse(value);
  return id ? std::optional(*id) : std::nullopt;
}

bool take_match(std::string_view key, std::string_view value, SrpRule& rule) {
  if (key == "id_ext") return (rule.id_ext = id_of(value)).has_value();
  if (key == "ioc_guid") return (rule.ioc_guid = id_of(value)).has_value();
  if (key == "service_id") return (rule.service_id = id_of(value)).has_value();
  if (key == "dgid") {
    // Of fewer digits it would compare others than meant.
    if (value.size() != kGidDigits || value.find_first_not_of(kHexDigits) != std::string_view::npos)
      return false;
    const auto gid = model::PortGid::parse(value);
    if (!gid) return false;
    rule.dgid = *gid;
    return true;
  }
  std::uint16_t pkey = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), pkey, 16);
  if (key != "pkey" || error != std::errc{} || end != value.data() + value.size()) return false;
  rule.pkey = pkey;
  return true;
}

}  // namespace

std::string render_srp_rule(const SrpRule& rule) {
  std::vector<std::string> parts;
  if (rule.id_ext) parts.push_back("id_ext=" + rule.id_ext->text());
  if (rule.ioc_guid) parts.push_back("ioc_guid=" + rule.ioc_guid->text());
  if (rule.dgid) parts.push_back("dgid=" + rule.dgid->digits());
  if (rule.service_id) parts.push_back("service_id=" + rule.service_id->text());
  if (rule.pkey) parts.push_back(fmt::format("pkey={:04x}", *rule.pkey));
  if (!rule.options.empty()) parts.push_back(rule.options);
  const std::string first = rule.allow ? "a" : "d";
  return parts.empty() ? first : first + " " + base::join(parts, ",");
}

std::optional<SrpRule> parse_srp_rule(std::string_view line) {
  constexpr std::array<std::string_view, 9> kOptions{"allow_ext_sg", "ch_count",        "cmd_sg_entries",
                                                     "comp_vector",  "max_cmd_per_lun", "max_sect",
                                                     "queue_size",   "sg_tablesize",    "tl_retry_count"};
  SrpRule rule;
  if (line.empty() || std::string_view("aAdD").find(line.front()) == std::string_view::npos)
    return std::nullopt;
  rule.allow = line.front() == 'a' || line.front() == 'A';
  // An option ends with a comma or a blank, and blanks may follow (copy_till_comma()).
  auto rest = line.substr(1);
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (rest.empty()) return rule;
    const auto part = rest.substr(0, rest.find_first_of(", \t"));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto key = part.substr(0, equals), value = part.substr(equals + 1);
    if (std::find(kOptions.begin(), kOptions.end(), key) == kOptions.end()) {
      if (!take_match(key, value, rule)) return std::nullopt;
      continue;
    }
    if (!rule.allow || value.empty() || value.size() > kMostOptionDigits ||
        value.find_first_not_of("0123456789") != std::string_view::npos)
      return std::nullopt;
    if (!rule.options.empty()) rule.options += ",";
    rule.options += part;
  }
}

std::vector<std::string> parse_srp_rules(std::string_view text) {
  std::vector<std::string> out;
  for (const auto line : base::split(text, '\n')) {
    if (is_rule_line(line)) out.emplace_back(line);
  }
  return out;
}

std::string render_srp_rules(std::span<const std::string> rules) {
  if (rules.empty()) return {};
  auto out = fmt::format("{}\n# The first rule that matches a target decides.\n", kOurFirstLine);
  for (const auto& rule : rules) out += rule + "\n";
  return out;
}

bool is_our_srp_file(std::string_view text) { return text.starts_with(kOurFirstLine); }

int first_srp_rule(std::string_view text) {
  int number = 0;
  for (const auto line : base::split(text, '\n')) {
    ++number;
    if (is_rule_line(line)) return number;
  }
  return 0;
}

std::string render_srp_drop_in() {
  return fmt::format("{}\n[Service]\nBindReadOnlyPaths={}:{}\n", kOurFirstLine, kSrpRulesFile,
                     kSrpDaemonFile);
}

}  // namespace rdmacfg::kinds
