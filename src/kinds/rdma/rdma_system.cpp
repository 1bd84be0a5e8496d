// SPDX-License-Identifier: Apache-2.0
#include "kinds/rdma/rdma_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "formats/modprobe_conf.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/initramfs_stamp.hpp"
#include "kinds/host/module.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::NetnsMode;
using model::Observed;

namespace {

constexpr std::string_view kRdmaSystemKind = "rdma_system";
constexpr std::string_view kModule = "ib_core";
constexpr std::string_view kParameter = "netns_mode";
constexpr std::string_view kOption = "options ib_core netns_mode=";

/// As ib_core reads it: the last one counts, in any spelling of a boolean.
Result<std::optional<NetnsMode>> read_option(system::Files& files) {
  const auto lines = read_option_lines(files, kNetnsOptionsFile);
  if (!lines) return base::fail(lines.error());
  std::optional<NetnsMode> mode;
  const auto at = lines->find(std::string(kModule));
  if (at == lines->end()) return mode;
  for (const auto& option : at->second.list) {
    if (option.name != kParameter) continue;
    if (same_value(option, "N")) mode = NetnsMode::kExclusive;
    if (same_value(option, "Y")) mode = NetnsMode::kShared;
  }
  return mode;
}

Result<void> write_option(system::Files& files, std::optional<NetnsMode> mode) {
  const std::string path(kNetnsOptionsFile);
  return mode ? files.write(path, render_netns_option(*mode)) : files.remove(path);
}

/// The same parameter in a [[module]] entry of the same document: two files would contradict each other.
void check_own_options(const Bound& bound, const model::Location& netns_at, Diagnostics& diagnostics) {
  for (const auto* section : bound.of("module")) {
    const auto* name = section->find("name");
    const auto* options = section->find("options");
    if (name == nullptr || options == nullptr || model::text_of(name->value) != kModule) continue;
    const auto parsed = model::Codec<model::ModuleOptions>::parse(options->value);
    if (!parsed) continue;
    const auto same = std::find_if(parsed->list.begin(), parsed->list.end(),
                                   [](const auto& option) { return option.name == kParameter; });
    if (same == parsed->list.end()) continue;
    diagnostics.push_back(
        {model::Severity::kError,
         options->place_of(static_cast<std::size_t>(same - parsed->list.begin())),
         fmt::format("[[module]] options: {} of {} is set by netns of [rdma_system]", kParameter, kModule),
         "leave it out here",
         {{netns_at, "netns of [rdma_system]"}}});
  }
}

/// rdma-core's srp_daemon_port@.service has PrivateNetwork=yes: in exclusive mode ib_umad refuses a process
/// of another network namespace than the device's (rdma_dev_access_netns() of drivers/infiniband/core).
void warn_of_srp_daemon(const Bound& bound, const model::Entry& netns, Diagnostics& diagnostics) {
  if (model::text_of(netns.value) != model::text_of(NetnsMode::kExclusive)) return;
  for (const auto* path : {"srp_initiator", "srp_rule"}) {
    const auto sections = bound.of(path);
    if (sections.empty()) continue;
    diagnostics.push_back({model::Severity::kWarning,
                           netns.where,
                           "[rdma_system] netns: srp_daemon reaches no device in exclusive mode, as its "
                           "service has a private network namespace",
                           "write netns = \"shared\", or PrivateNetwork=no in a drop-in: systemctl edit "
                           "srp_daemon_port@.service",
                           {{sections.front()->where, "the SRP initiator"}}});
    return;
  }
}

std::optional<std::string> netns_option_after(std::span<const Desired> desired,
                                              std::span<const Observed> /*observed*/) {
  for (const auto& resource : desired) {
    if (resource.key.kind != kRdmaSystemKind) continue;
    if (const auto mode = model::from_attributes<RdmaSystem>(resource.settings).option)
      return render_netns_option(*mode);
  }
  return std::nullopt;
}

constexpr std::array kRdmaSystemFiles{OwnedFile{.path = kNetnsOptionsFile,
                                                .what = "Network namespace mode of ib_core.",
                                                .text_after = netns_option_after}};

class RdmaSystemKind final : public Kind, public MustStay {
 public:
  RdmaSystemKind()
      : Kind({.name = kRdmaSystemKind,
              .fields = model::specs<RdmaSystem>(),
              .traits = {.works_offline = true, .listed_when_foreign = false},
              .files = kRdmaSystemFiles,
              .lost_after_withdraw =
                  "settings of the RDMA subsystem that are not module options (rdma system set)"}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kRdmaSystemKind)) {
      auto desired = desired_of(*section, fields(), {std::string(kRdmaSystemKind), "netns"}, "RDMA system");
      if (const auto* netns = section->find("netns")) {
        desired.settings["option"] = netns->value;
        desired.origins["option"] = netns->where;
        check_own_options(bound, netns->where, diagnostics);
        warn_of_srp_daemon(bound, *netns, diagnostics);
      }
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto option = read_option(world.host().files);
    if (!option) return base::fail(option.error());
    std::vector<Observed> out;
    if (!*option && world.tracked(kRdmaSystemKind).empty()) return out;
    RdmaSystem now;
    now.option = *option;
    if (!world.offline()) {
      if (const auto shared = world.host().rdma_system.observe_shared()) {
        now.netns = *shared ? NetnsMode::kShared : NetnsMode::kExclusive;
      }
    }
    Observed observed;
    observed.key = {std::string(kRdmaSystemKind), "netns"};
    observed.label = "RDMA system";
    observed.settings = model::to_attributes(now);
    observed.ours_by_nature = option->has_value();
    if (now.netns) observed.instance = world.host().boot_id;
    if (!observed.settings.empty()) out.push_back(std::move(observed));
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    for (auto& resource : desired) {
      if (resource.key.kind != kRdmaSystemKind) continue;
      warn_of_other_files(resource, world, diagnostics);
      if (!resource.settings.contains("netns")) continue;
      // Without ib_core there is nothing to change now, and the option holds when it is loaded.
      if (world.offline() || !world.host().rdma_system.observe_shared()) resource.settings.erase("netns");
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& /*world*/) const override {
    for (auto* change : changes) {
      const auto now = model::from_attributes<RdmaSystem>(change->before);
      const auto wanted = model::from_attributes<RdmaSystem>(change->after);
      if (now.netns && wanted.netns && *now.netns != *wanted.netns &&
          *wanted.netns == NetnsMode::kExclusive) {
        change->interrupts.emplace_back("programs in other network namespaces no longer see RDMA devices");
      }
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<RdmaSystem>(change.after);
      if (!change.origins.contains("option")) {
        const auto remains = wanted.option ? OptionsFile::kStays : OptionsFile::kGoes;
        if (auto done = note_dropped_options(host, kNetnsOptionsFile, remains); !done) return done;
      }
      const auto write = [&] { return write_option(host.files, wanted.option); };
      if (auto done = write_for_image(host, write); !done) return done;
      if (!wanted.netns || host.offline) continue;
      const auto shared = host.rdma_system.observe_shared();
      const bool wants_shared = *wanted.netns == NetnsMode::kShared;
      if (!shared || *shared == wants_shared) continue;
      auto done = host.rdma_system.set_shared(wants_shared);
      // Another network namespace is there: the option holds after a reboot, and judge() says so.
      if (!done && done.error().code != base::Code::kBusy) return done;
    }
    return {};
  }

  Verdict judge(const Desired& /*desired*/, const Observed* /*observed*/,
                const std::vector<std::string>& differing, World& /*world*/) const override {
    if (std::find(differing.begin(), differing.end(), "netns") == differing.end()) return {};
    return {Verdict::Sort::kLimited,
            "the kernel changes it only while there is no other network namespace (services with "
            "PrivateNetwork=, containers); it takes effect at the next reboot",
            {"netns"},
            {}};
  }

  [[nodiscard]] bool returns(std::string_view field, const model::Attributes& /*before*/,
                             const model::Attributes& /*then*/) const override {
    return field == "option";
  }
  [[nodiscard]] bool has_to_stay(const Observed& then, const World& now) const override {
    return then.instance == now.host().boot_id;
  }

 private:
  /// The option is all that there is at the next boot.
  static void warn_of_other_files(const Desired& desired, World& world, Diagnostics& diagnostics) {
    const auto mode = model::from_attributes<RdmaSystem>(desired.settings).option;
    if (!mode) return;
    model::ModuleOptions wanted;
    wanted.list.push_back({std::string(kParameter), *mode == NetnsMode::kShared ? "1" : "0", true});
    const auto lines = read_foreign_lines(world.host());
    warn_foreign_options("[rdma_system] netns", std::string(kModule), wanted, desired.origins.at("option"),
                         lines, diagnostics);
    const auto at_next_boot = next_boot_settings(world.host());
    if (const auto at = at_next_boot.find(std::string(kModule)); at != at_next_boot.end())
      warn_of_options_at_next_boot("[rdma_system] netns", at->first, wanted, desired.origins.at("option"),
                                   at->second, diagnostics);
  }
};

}  // namespace

std::string render_netns_option(NetnsMode mode) {
  return fmt::format("{}\n{}{}\n", kOurFirstLine, kOption, mode == NetnsMode::kShared ? 1 : 0);
}

model::SectionSpec rdma_system_section() {
  model::SectionSpec section{
      .name = "rdma_system", .repeated = false, .doc = "Settings of the RDMA subsystem as a whole."};
  add_written(section.fields, model::specs<RdmaSystem>());
  return section;
}

const Kind& rdma_system() {
  static const RdmaSystemKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
