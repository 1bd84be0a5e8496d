// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/lio/lio_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "kinds/entry.hpp"
#include "kinds/storage/lio/lio_objects.hpp"
#include "kinds/storage/lio/lio_settings.hpp"
#include "kinds/storage/lio/lio_target_parse.hpp"
#include "kinds/storage/target_entry.hpp"
#include "kinds/storage/target_restorers.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;

namespace {

constexpr std::string_view kLioKind = "lio_target";
constexpr auto kLioCompetitors = std::to_array<std::string_view>({"targetcli", "targetclid", "targetctl"});

using Texts = std::vector<std::string>;

/// Initiators do not ask again which disk a LUN is.
std::string loss_of_lun(const std::string& text, const std::string& target, const Texts& then) {
  const auto number = text.substr(0, text.find(' ') + 1);
  const auto next =
      std::find_if(then.begin(), then.end(), [&](const auto& lun) { return lun.starts_with(number); });
  if (next == then.end()) return fmt::format("initiators lose LUN {} of {}", text, target);
  return fmt::format(
      "LUN {} of {} becomes {}: initiators that have the LUN open would write to the wrong disk; close it "
      "there first",
      text, target, next->substr(number.size()));
}

/// One look for all that a run asks before its first change.
const Result<std::optional<system::LioState>>& lio_state_in(const World& world) {
  return world.once("lio", [&] { return world.host().lio.observe(); });
}

class LioTargetKind final : public Kind {
 public:
  LioTargetKind()
      : Kind({.name = kLioKind,
              .fields = model::specs<LioTargetEntry>(),
              .traits = {.listed_when_foreign = false},
              .lost_after_withdraw =
                  "LIO targets (targetcli saveconfig, and rtslib-fb-targetctl.service or target.service)",
              .competitors = kLioCompetitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    parse_targets(bound, *this, "wwn", complete_lio_target, out, diagnostics);
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    if (world.offline()) return out;
    const auto& state = lio_state_in(world);
    if (!state) return base::fail(state.error());
    if (!*state) return out;
    const auto disks = lio_disks_of(**state);
    for (const auto& [id, target] : lio_targets_of(**state)) {
      auto settings = settings_of(*target, disks);
      LioTargetEntry facts;
      facts.logged_in = std::exchange(settings.logged_in, std::nullopt);
      auto observed = observed_target(*this, id, model::to_attributes(settings), world);
      observed.facts = model::to_attributes(facts);
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    check_targets(desired, observed, *this,
                  {.portals = "portals", .disks = "luns", .child = "lun", .path = path_of_lun}, world,
                  diagnostics);
    for (auto& resource : desired) {
      if (resource.key.kind == kLioKind && !reachable(resource.key, world))
        postpone(resource, fmt::format("there is no InfiniBand port {}", resource.key.id));
    }
    warn_of_restorers(kLioKind, desired, world, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (changes.empty() || world.offline()) return {};
    const auto& state = lio_state_in(world);
    if (!state) return base::fail(state.error());
    const auto there = state->value_or(system::LioState{});
    const auto disks = lio_disks_of(there);
    const auto targets = lio_targets_of(there);
    for (auto* change : changes) {
      const auto now = model::from_attributes<LioTargetEntry>(change->before);
      const bool goes = change->operation == model::Operation::kDelete;
      const auto then = goes ? LioTargetEntry{} : complete_entry(*change);
      for (const auto& text : missing_from(then.luns, now.luns))
        change->interrupts.push_back(loss_of_lun(text, change->label, then.luns.value_or(Texts{})));
      for (const auto& text : missing_from(then.portals, now.portals))
        change->interrupts.push_back(
            fmt::format("initiators that are logged in to {} by {} lose it", change->label, text));
      for (const auto& text : missing_from(then.initiators, now.initiators))
        change->interrupts.push_back(
            fmt::format("{} loses {}", LioGuest::parse(text).initiator, change->label));
      if (!goes && now.any_initiator == true && then.any_initiator != true)
        change->interrupts.push_back(fmt::format(
            "all initiators lose {} for a moment; initiators that are not listed do not get it back",
            change->label));
      const auto target = targets.find(change->key.id);
      if (target == targets.end() || change->interrupts.empty()) continue;
      if (const auto logged_in = settings_of(*target->second, disks).logged_in)
        change->interrupts.push_back(
            fmt::format("logged in to {} now: {}", change->label, base::join(*logged_in, ", ")));
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    std::vector<LioWish> wishes;
    for (const auto& change : changes)
      wishes.push_back({change.key.id, change.after.empty() ? std::optional<LioTargetEntry>{}
                                                            : std::optional(complete_entry(change))});
    return hold_lio_targets(wishes, host);
  }

  bool reachable(const model::Key& key, const World& world) const override {
    const auto name = model::TargetName::parse(key.id);
    return !name || !name->port || world.offline() || world.port(*name->port).has_value();
  }

 private:
  static LioTargetEntry complete_entry(const Change& change) {
    auto all = complete_settings(change);
    if (!change.after.contains("enabled")) all.erase("enabled");  // an interrupted run may have disabled it
    return model::from_attributes<LioTargetEntry>(all);
  }
};

}  // namespace

model::SectionSpec lio_target_section() {
  model::SectionSpec lun{.name = "lun", .doc = "A disk of the target.", .identities = {{"number"}}};
  add_written(lun.fields, model::specs<LioLunEntry>());
  model::SectionSpec section{
      .name = kLioKind,
      .doc =
          "A target of the kernel's SCSI target (LIO): disks that this host exports over iSER or SRP. The "
          "entry is complete: anything else in the target is removed.",
      .identities = {{"wwn"}}};
  add_written(section.fields, model::specs<LioTargetEntry>());
  section.children = {std::move(lun)};
  return section;
}

const Kind& lio_target() {
  static const LioTargetKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
