// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/srp/srp_initiator_parse.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "formats/storage/srp_rules.hpp"
#include "kinds/entry.hpp"
#include "kinds/storage/srp/srp_initiator.hpp"
#include "model/limits.hpp"

namespace rdmacfg::kinds {

using model::Diagnostics;
using model::Location;
using model::Section;
using model::Severity;

namespace {

constexpr std::int64_t kIntMost = std::numeric_limits<std::int32_t>::max();  // match_int() of the kernel

/// An option of a login; srp_parse_options() of drivers/infiniband/ulp/srp/ib_srp.c has the ranges.
struct LoginOption {
  std::string_view key;
  std::int64_t least, most;
};
constexpr std::array kLoginOptions{
    LoginOption{"allow_ext_sg", 0, 1},           LoginOption{"ch_count", 1, kIntMost},
    LoginOption{"cmd_sg_entries", 1, 255},       LoginOption{"comp_vector", 0, kIntMost},
    LoginOption{"max_cmd_per_lun", 1, kIntMost}, LoginOption{"max_sect", 1, kIntMost},
    LoginOption{"queue_size", 1, kIntMost},      LoginOption{"sg_tablesize", 1, 2048},
    LoginOption{"tl_retry_count", 2, 7}};

class SrpEntries {
 public:
  explicit SrpEntries(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void add(const Section& section) {
    const auto entry = model::from_attributes<SrpRuleEntry>(section.attributes());
    if (!entry.name) return;  // reported already, by the grammar
    SrpRule rule;
    rule.allow = entry.allow.value_or(true);
    rule.id_ext = entry.id_ext;
    rule.ioc_guid = entry.ioc_guid;
    rule.service_id = entry.service_id;
    rule.dgid = entry.dgid;
    rule.options = options_of(section, rule.allow);
    warn_unreachable(section.where, fmt::format("[[srp_rule]] {}", *entry.name),
                     "write it before that rule, or remove one of them");
    if (entry.pkey) {
      // srp_daemon compares all 16 bits with the entry of its port's table, which has the membership.
      for (const std::uint16_t pkey : {entry.pkey->full(), entry.pkey->partition()}) {
        rule.pkey = pkey;
        lines.push_back(render_srp_rule(rule));
      }
      return;
    }
    if (rule.matches_all() && !all_) all_ = section.where;
    lines.push_back(render_srp_rule(rule));
  }

  void others(const Location& where, bool allowed) {
    warn_unreachable(where, "[srp_initiator] others",
                     "leave it out, or restrict that rule to certain targets");
    lines.emplace_back(allowed ? "a" : "d");
    all_ = where;
  }

  /// An administrator who names targets may not know that srp_daemon logs in to all others, too.
  void end(const Location& where) {
    if (all_ || lines.empty()) return;
    diagnostics_.push_back({Severity::kWarning,
                            where,
                            "[[srp_rule]]: targets that no rule matches are logged in to as well",
                            "[srp_initiator] others = false excludes them, others = true confirms them",
                            {}});
  }

  std::vector<std::string> lines;

 private:
  void wrong(const Location& where, std::string_view key, std::string what, std::string hint) {
    diagnostics_.push_back(
        {Severity::kError, where, fmt::format("[[srp_rule]] {}: {}", key, what), std::move(hint), {}});
  }

  void warn_unreachable(const Location& where, const std::string& what, std::string hint) {
    if (!all_) return;
    auto& d = diagnostics_.emplace_back(model::Diagnostic{
        Severity::kWarning,
        where,
        fmt::format("{}: no target reaches it, as a rule before it matches every target", what),
        std::move(hint),
        {}});
    d.related.push_back({*all_, "the rule that matches every target"});
  }

  /// ib_srp warns in the kernel's log alone.
  void warn_of_queue(const Section& section) {
    const auto* lun = section.find("max_cmd_per_lun");
    const auto* queue = section.find("queue_size");
    if (lun == nullptr || queue == nullptr) return;
    const auto most = std::get<std::int64_t>(queue->value), wanted = std::get<std::int64_t>(lun->value);
    if (most < 1 || wanted <= most) return;
    diagnostics_.push_back(
        {Severity::kWarning,
         lun->where,
         fmt::format("[[srp_rule]] max_cmd_per_lun: {} is above queue_size, {}, which all units share",
                     wanted, most),
         "lower it, or raise queue_size",
         {{queue->where, "queue_size"}}});
  }

  std::string options_of(const Section& section, bool allow) {
    std::vector<std::string> out;
    std::optional<Location> first;
    for (const auto& [key, least, most] : kLoginOptions) {
      const auto* entry = section.find(key);
      if (entry == nullptr) continue;
      if (!first) first = entry->where;
      if (!allow) {
        wrong(entry->where, key, "a rule with allow = false cannot have login options",
              "leave it out; srp_daemon would refuse the file");
        continue;
      }
      const auto* truth = std::get_if<bool>(&entry->value);
      const auto number =
          truth != nullptr ? static_cast<std::int64_t>(*truth) : std::get<std::int64_t>(entry->value);
      if (auto why = why_out_of_range(number, least, most); !why.empty()) {
        wrong(entry->where, key, std::move(why), "");
        continue;
      }
      out.push_back(fmt::format("{}={}", key, number));
    }
    warn_of_queue(section);
    auto text = base::join(out, ",");
    if (text.size() > model::limits::kSrpOptionBytes) {
      wrong(*first, "options",
            fmt::format("{} bytes together; {} are allowed", text.size(), model::limits::kSrpOptionBytes),
            "srp_daemon leaves out a target whose login is too long: give fewer options");
    }
    return text;
  }

  Diagnostics& diagnostics_;
  std::optional<Location> all_;  ///< the rule that matches every target
};

}  // namespace

std::vector<std::string> srp_rules_of(const Bound& bound, Diagnostics& diagnostics) {
  SrpEntries entries(diagnostics);
  const auto rules = bound.of("srp_rule");
  for (const auto* section : rules) entries.add(*section);
  for (const auto* section : bound.of("srp_initiator")) {
    const auto* others = section->find("others");
    if (others != nullptr) entries.others(others->where, others->value == model::Value{true});
  }
  if (!rules.empty()) entries.end(rules.front()->where);
  return std::move(entries.lines);
}

}  // namespace rdmacfg::kinds
