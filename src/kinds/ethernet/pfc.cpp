// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/pfc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "kinds/entry.hpp"
#include "kinds/ethernet/dcb.hpp"
#include "kinds/host/initramfs_stamp.hpp"
#include "kinds/host/module.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostic;
using model::Diagnostics;
using model::ModuleOptions;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kPfcKind = "pfc";

std::optional<std::string> pfc_options_after(std::span<const Desired> desired,
                                             std::span<const Observed> /*observed*/) {
  OptionLines lines;
  for (const auto& resource : desired) {
    if (resource.key.kind != kPfcKind) continue;
    if (const auto priorities = model::from_attributes<PfcDriver>(resource.settings).priorities)
      lines[resource.key.id] = pfc_options(*priorities);
  }
  return lines.empty() ? std::nullopt : std::optional(render_option_lines(lines));
}

constexpr std::array kPfcFiles{OwnedFile{.path = kPfcOptionsFile,
                                         .what = "Options of modules for PFC.",
                                         .rendered = canonical_option_lines,
                                         .text_after = pfc_options_after}};

class PfcKind final : public Kind {
 public:
  PfcKind()
      : Kind({.name = kPfcKind,
              .fields = model::specs<PfcDriver>(),
              .traits = {.works_offline = true},
              .files = kPfcFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kPfcKind)) {
      const auto* driver = section->find("driver");
      if (driver == nullptr) continue;
      const auto id = model::text_of(driver->value);
      auto desired = desired_of(*section, fields(), {std::string(kPfcKind), id}, "PFC of " + id);
      for (const auto& [key, entry] : section->entries) {
        if (key == "driver" || key == "priorities") continue;
        diagnostics.push_back(Diagnostic{
            Severity::kError,
            entry.where,
            fmt::format("[[pfc]] {}: valid only with interface; the options of {} take only priorities", key,
                        id),
            "",
            {}});
      }
      if (!section->find("priorities")) {
        diagnostics.push_back(Diagnostic{Severity::kError,
                                         section->where,
                                         "[[pfc]]: priorities is missing",
                                         "write priorities = [3], or [] for no PFC",
                                         {},
                                         model::Topic::kMissingKey});
      }
      check_own_options(bound, desired, diagnostics);
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& host = world.host();
    const auto lines = read_option_lines(host.files, kPfcOptionsFile);
    if (!lines) return base::fail(lines.error());
    std::vector<Observed> out;
    for (const auto& [module, options] : *lines) {
      Observed observed;
      observed.key = {std::string(kPfcKind), module};
      observed.label = "PFC of " + module;
      if (const auto priorities = pfc_priorities(options))
        observed.settings =
            model::to_attributes(PfcDriver{.driver = {}, .priorities = priorities, .running = {}});
      if (!world.offline()) observed.facts = running(module, host);
      observed.ours_by_nature = true;
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    std::optional<std::vector<ForeignLine>> foreign;
    std::map<std::string, std::vector<ForeignLine>> at_next_boot;
    for (const auto& resource : desired) {
      if (resource.key.kind != kPfcKind) continue;
      if (!foreign) {
        foreign = read_foreign_lines(world.host());
        at_next_boot = next_boot_settings(world.host());
      }
      const auto options = options_of(resource);
      const auto driver_at = resource.origins.at("driver");
      const auto at = resource.origins.contains("priorities") ? resource.origins.at("priorities") : driver_at;
      warn_foreign_options("[[pfc]] priorities", resource.key.id, options, at, *foreign, diagnostics);
      warn_of_options_at_next_boot("[[pfc]] priorities", resource.key.id, options, at,
                                   at_next_boot[resource.key.id], diagnostics);
      (void)check_known("[[pfc]]", resource.key.id, options, driver_at, at, world, diagnostics);
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    for (auto* change : changes) {
      if (why_not_running(change->key.id, options_of(change->after), world.host().modules).empty())
        change->effect = model::Effect::kNow;
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto lines = read_option_lines(host.files, kPfcOptionsFile);
    if (!lines) return base::fail(lines.error());
    bool dropped = false;
    for (const auto& change : changes) {
      dropped = dropped || !change.origins.contains("priorities");
      auto options = options_of(change.after);
      if (options.list.empty()) {
        lines->erase(change.key.id);
      } else {
        (*lines)[change.key.id] = std::move(options);
      }
    }
    if (dropped) {
      const auto remains = lines->empty() ? OptionsFile::kGoes : OptionsFile::kStays;
      if (auto done = note_dropped_options(host, kPfcOptionsFile, remains); !done) return done;
    }
    return write_for_image(host, [&] { return write_option_lines(host.files, kPfcOptionsFile, *lines); });
  }

  Verdict judge(const Desired& desired, const Observed* observed, const std::vector<std::string>& /*fields*/,
                World& world) const override {
    if (observed == nullptr) return {};
    const auto wanted = options_of(desired);
    const auto why = why_not_running(desired.key.id, wanted, world.host().modules);
    if (why.empty()) return {};
    return {
        Verdict::Sort::kPending, why + "; " + what_it_takes(desired.key.id, wanted, world.host()), {}, {}};
  }

 private:
  static ModuleOptions options_of(const model::Attributes& attributes) {
    const auto priorities = model::from_attributes<PfcDriver>(attributes).priorities;
    return priorities ? pfc_options(*priorities) : ModuleOptions{};
  }
  static ModuleOptions options_of(const Desired& desired) { return options_of(desired.settings); }

  static model::Attributes running(const std::string& module, system::Host& host) {
    ModuleOptions found;
    for (const auto* name : {"pfctx", "pfcrx"}) {
      if (auto value = host.modules.parameter(module, name)) found.list.push_back({name, *value, true});
    }
    if (found.list.empty()) return {};
    return model::to_attributes(PfcDriver{.driver = {}, .priorities = {}, .running = found});
  }

  /// The same parameters in a [[module]] entry of the same document.
  static void check_own_options(const Bound& bound, const Desired& desired, Diagnostics& diagnostics) {
    for (const auto* section : bound.of("module")) {
      const auto* name = section->find("name");
      const auto* options = section->find("options");
      if (name == nullptr || options == nullptr || model::text_of(name->value) != desired.key.id) continue;
      const auto parsed = model::Codec<ModuleOptions>::parse(options->value);
      if (!parsed) continue;
      for (std::size_t i = 0; i < parsed->list.size(); ++i) {
        const auto& option = parsed->list[i];
        if (option.name != "pfctx" && option.name != "pfcrx") continue;
        diagnostics.push_back(
            Diagnostic{Severity::kError,
                       options->place_of(i),
                       fmt::format("[[module]] options: {} is set by a [[pfc]] entry for {}", option.name,
                                   desired.key.id),
                       "leave it out here",
                       {{desired.where, "the [[pfc]] entry"}}});
      }
    }
  }
};

}  // namespace

ModuleOptions pfc_options(model::Priorities priorities) {
  const auto mask = fmt::format("{:#04x}", priorities.mask);
  return {{{"pfctx", mask, true}, {"pfcrx", mask, true}}};
}

std::optional<model::Priorities> pfc_priorities(const ModuleOptions& options) {
  std::optional<model::Priorities> out;
  for (const auto& option : options.list) {
    const auto mask = base::parse_number(option.value);
    if ((option.name != "pfctx" && option.name != "pfcrx") || !mask || *mask > 0xff) return std::nullopt;
    const model::Priorities found{static_cast<unsigned>(*mask)};
    if (out && *out != found) return std::nullopt;
    out = found;
  }
  return options.list.size() == 2 ? out : std::nullopt;
}

model::SectionSpec pfc_section() {
  model::SectionSpec section{.name = kPfcKind,
                             .doc =
                                 "Priority flow control: of a driver by module options, or of an interface "
                                 "by data center bridging (DCB).",
                             .identities = {{"driver"}, {"interface"}}};
  add_written(section.fields, model::specs<PfcDriver>());
  std::vector<model::FieldSpec> of_interface;
  add_written(of_interface, model::specs<InterfaceDcb>());
  for (const auto& spec : of_interface) {
    const bool there = std::any_of(section.fields.begin(), section.fields.end(),
                                   [&](const auto& other) { return other.name == spec.name; });
    if (!there) section.fields.push_back(spec);
  }
  return section;
}

const Kind& pfc() {
  static const PfcKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
