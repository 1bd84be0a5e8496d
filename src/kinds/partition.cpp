// SPDX-License-Identifier: Apache-2.0
#include "kinds/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.hpp"
#include "kinds/entry.hpp"
#include "kinds/opensm_file.hpp"
#include "kinds/opensm_units.hpp"
#include "kinds/pkey.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Location;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kKind = "partition";
constexpr std::uint16_t kDefault = 0x7fff;

bool is_membership(std::string_view text) { return text == "full" || text == "limited" || text == "both"; }

/// A member as OpenSM reads it; an error is a sentence.
Result<std::string> member_of(std::string_view text) {
  constexpr std::array<std::string_view, 5> kWords{"ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF"};
  const auto equals = text.find('=');
  const auto who = base::trim(text.substr(0, equals));
  std::string out;
  if (std::find(kWords.begin(), kWords.end(), who) != kWords.end()) {
    out = who;
  } else if (const auto guid = model::Guid::parse(who)) {
    out = opensm_guid(*guid);
  } else {
    return base::fail(
        base::Code::kInvalid,
        fmt::format("\"{}\" is no port GUID, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS or SELF", who));
  }
  if (equals == std::string_view::npos) return out;
  const auto membership = base::trim(text.substr(equals + 1));
  if (!is_membership(membership)) {
    return base::fail(base::Code::kInvalid,
                      fmt::format("\"{}\" is no membership: full, limited or both", membership));
  }
  return out + "=" + std::string(membership);
}

std::optional<std::int64_t> mtu_code(std::int64_t mtu) {
  if (mtu >= 1 && mtu <= 5) return mtu;
  for (std::int64_t code = 1, bytes = 256; code <= 5; ++code, bytes *= 2) {
    if (mtu == bytes) return code;
  }
  return std::nullopt;
}

/// Tells the subnet managers of this host to read the file again.
Result<void> tell(system::Host& host) {
  if (host.offline) return {};
  return reread_partitions(host);
}

class PartitionKind final : public Kind {
 public:
  [[nodiscard]] std::string_view name() const override { return kKind; }
  [[nodiscard]] std::span<const model::FieldSpec> fields() const override {
    return model::specs<Partition>();
  }

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    const auto sections = bound.of(kKind);
    if (sections.empty()) return;
    std::map<std::uint16_t, Location> listed;
    std::map<std::string, Location> names;
    for (const auto* section : sections) {
      const auto wanted = model::from_attributes<Partition>(section->attributes());
      if (!wanted.pkey) continue;  // reported already, by the grammar
      listed.emplace(wanted.pkey->partition(), section->where);
      auto desired = desired_of(*section, fields(), {std::string(kKind), wanted.pkey->text()},
                                "partition " + wanted.name.value_or(wanted.pkey->text()));
      const auto rule = rule_of(*section, wanted, diagnostics);
      if (const auto [first, fresh] = names.try_emplace(rule.substr(0, rule.find('=')), section->where);
          !fresh) {
        auto& d = diagnostics.emplace_back(model::Diagnostic{
            Severity::kError,
            section->where,
            fmt::format("[[partition]] name: two partitions would be called {}", first->first),
            "OpenSM takes the second for more of the first",
            {}});
        d.related.push_back({first->second, "the first"});
      }
      desired.settings["rule"] = rule;
      desired.origins["rule"] = section->where;
      out.push_back(std::move(desired));
    }
    for (const auto& port : bound.ports) {
      for (const auto& child : port.section->children) {
        if (child.path != "ipoib.pkey") continue;
        const auto* key = child.find("pkey");
        const auto wanted = model::from_attributes<PkeyLink>(child.attributes());
        if (key == nullptr || !wanted.pkey || listed.contains(wanted.pkey->partition())) continue;
        auto& d = diagnostics.emplace_back(model::Diagnostic{
            Severity::kWarning,
            key->where,
            fmt::format("[[ipoib.pkey]] pkey: no [[partition]] has {}", wanted.pkey->text()),
            "the interface has no carrier until a subnet manager gives the port this P_Key",
            {}});
        d.related.push_back({sections.front()->where, "the partitions of this document begin here"});
      }
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& files = world.host().files;
    std::vector<Observed> out;
    for (const auto layout : {OpensmLayout::kDebian, OpensmLayout::kRhel}) {
      auto text = files.read(partitions_path(layout));
      if (!text) return base::fail(text.error());
      if (!*text) continue;
      for (const auto& [partition, rule] : parse_partitions(**text).rules) {
        Observed observed;
        observed.key = {std::string(kKind), fmt::format("{:#06x}", partition | 0x8000U)};
        observed.label = "partition " + rule.substr(0, rule.find('='));
        observed.settings["rule"] = rule;
        observed.ours_by_nature = true;
        out.push_back(std::move(observed));
      }
      break;
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    const Desired* first = nullptr;
    bool has_default = false;
    const auto layout = observe_opensm_layout(world.host().files);
    const auto path = partitions_path(layout);
    const auto text = world.host().files.read(path);
    const auto there = parse_partitions(text && *text ? **text : std::string());
    for (auto& one : desired) {
      if (one.key.kind != kKind) continue;
      if (first == nullptr) first = &one;
      const auto pkey = model::Pkey::parse(one.key.id);
      if (!pkey) continue;
      has_default = has_default || pkey->partition() == kDefault;
      for (const auto& foreign : there.foreign) {
        if (foreign.partition != pkey->partition()) continue;
        diagnostics.push_back({Severity::kError,
                               one.where,
                               fmt::format("{}:{} has a rule for {} already", path, foreign.line, one.key.id),
                               "remove that rule, or this entry",
                               {}});
      }
      if (layout == OpensmLayout::kNone) {
        one.pending = "OpenSM is not installed; package opensm has it";
        one.settings.clear();
      }
    }
    if (first == nullptr || has_default || there.has(kDefault)) return;
    diagnostics.push_back(
        {Severity::kWarning,
         first->where,
         fmt::format("{} will have no rule for the default partition 0x7fff: without one OpenSM "
                     "makes every host a limited member, and hosts do not reach each other",
                     path),
         "add [[partition]] pkey = 0x7fff, members = [\"ALL=full\"]",
         {}});
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    const auto path = partitions_path(observe_opensm_layout(host.files));
    auto text = host.files.read(path);
    if (!text) return base::fail(text.error());
    auto partitions = parse_partitions(text->value_or(""));
    const auto before = partitions.rules;
    for (const auto& change : changes) {
      const auto pkey = model::Pkey::parse(change.key.id);
      if (!pkey) continue;
      const auto wanted = model::from_attributes<Partition>(change.after);
      if (wanted.rule) {
        partitions.rules.insert_or_assign(pkey->partition(), *wanted.rule);
      } else {
        partitions.rules.erase(pkey->partition());
      }
    }
    if (partitions.rules == before) return {};
    const auto content = render_partitions(partitions);
    // OpenSM takes an empty file for one without a default rule.
    auto done = content.empty() ? host.files.remove(path) : host.files.write(path, content);
    return done ? tell(host) : done;
  }

  Result<void> recover(std::span<const Change> /*changes*/, system::Host& host) const override {
    return tell(host);
  }

  [[nodiscard]] bool works_offline() const override { return true; }
  [[nodiscard]] bool reachable(const model::Key& /*key*/, const World& /*world*/) const override {
    return true;
  }

 private:
  static std::string rule_of(const model::Section& section, const Partition& wanted,
                             Diagnostics& diagnostics) {
    const auto wrong = [&](std::string_view key, std::string what, std::string hint) {
      const auto* entry = section.find(key);
      diagnostics.push_back({Severity::kError,
                             entry == nullptr ? section.where : entry->where,
                             fmt::format("[[partition]] {}: {}", key, what),
                             std::move(hint),
                             {}});
    };
    const bool is_default = wanted.pkey->partition() == kDefault;
    auto name = wanted.name.value_or(is_default ? "Default" : fmt::format("p{:04x}", wanted.pkey->full()));
    if (name.find_first_of(" \t\n=,:;#") != std::string::npos) {
      wrong("name", fmt::format("\"{}\" has a character that partitions.conf cannot hold", name),
            "letters, digits, - and _");
    }
    if ((name == "Default") != is_default) {
      wrong("name", is_default ? "the partition 0x7fff is called Default" : "only 0x7fff is called Default",
            "");
    }
    auto rule = fmt::format("{}={:#06x}", name, is_default ? kDefault : wanted.pkey->full());
    if (wanted.ipoib.value_or(true)) rule += ", ipoib";
    if (wanted.mtu) {
      const auto code = mtu_code(*wanted.mtu);
      if (!code) {
        wrong("mtu", fmt::format("{} is no InfiniBand MTU", *wanted.mtu),
              "256, 512, 1024, 2048 or 4096 bytes, or OpenSM's code 1 to 5");
      }
      rule += fmt::format(", mtu={}", code.value_or(0));
    }
    const auto number = [&](std::string_view key, const std::optional<std::int64_t>& value,
                            std::int64_t least, std::int64_t most) {
      if (!value) return;
      if (*value < least || *value > most) {
        wrong(key, fmt::format("{} is out of range, has to be {} to {}", *value, least, most), "");
      }
      rule += fmt::format(", {}={}", key, *value);
    };
    number("rate", wanted.rate, 2, 63);
    number("sl", wanted.sl, 0, 15);
    number("scope", wanted.scope, 1, 14);
    if (wanted.defmember) {
      if (!is_membership(*wanted.defmember)) {
        wrong("defmember", fmt::format("\"{}\" is no membership", *wanted.defmember),
              "full, limited or both");
      }
      rule += ", defmember=" + *wanted.defmember;
    }
    std::vector<std::string> members;
    for (const auto& written : wanted.members.value_or(std::vector<std::string>{"ALL=full"})) {
      auto member = member_of(written);
      if (!member) {
        wrong("members", member.error().message, "");
        continue;
      }
      members.push_back(std::move(*member));
    }
    return fmt::format("{} : {};", rule, base::join(members, ", "));
  }
};

}  // namespace

model::SectionSpec partition_section() {
  model::SectionSpec section{.name = "partition",
                             .doc = "A partition of the fabric, for the OpenSM of this host.",
                             .identities = {{"pkey"}}};
  add_written(section.fields, model::specs<Partition>());
  return section;
}

const Kind& partition() {
  static const PartitionKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
