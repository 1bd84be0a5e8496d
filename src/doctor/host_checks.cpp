// SPDX-License-Identifier: Apache-2.0
// Checks of the host around the RDMA devices: limits, the initramfs, what keeps modules loaded.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <set>

#include "base/text.hpp"
#include "catalog/initramfs.hpp"
#include "core/pipeline.hpp"
#include "doctor/checks.hpp"
#include "model/types/host_types.hpp"
#include "store/damage.hpp"
#include "store/generations.hpp"
#include "store/held_record.hpp"
#include "store/state.hpp"

namespace rdmacfg::core::detail {

namespace {

constexpr std::int64_t kEnoughKib =
    std::int64_t{64} * 1024;  // below this even a small MPI job fails to register its buffers

/// Services that start programs which register memory; their limit is inherited.
constexpr std::array kJobStarters{"slurmd.service", "pbs.service",    "pbs_mom.service", "sge_execd.service",
                                  "lsfd.service",   "condor.service", "kubelet.service"};

/// Soft limit of locked memory, bytes; nothing when unlimited or unknown.
std::optional<std::int64_t> locked_memory(const std::string& limits) {
  constexpr std::string_view kRow = "Max locked memory";
  for (const auto line : base::split(limits, '\n')) {
    if (!line.starts_with(kRow)) continue;
    const auto rest = base::trim(line.substr(kRow.size()));
    const auto number = base::parse_as<std::int64_t>(rest.substr(0, rest.find(' ')));
    if (number) return number;
  }
  return std::nullopt;
}

}  // namespace

std::vector<system::Unit> units(const DoctorContext& context, const std::vector<std::string>& names) {
  auto found = context.world.host().units.observe_units(names);
  if (!found || !*found) return {};
  return std::move(**found);
}

std::optional<std::string> read(const DoctorContext& context, const std::string& path) {
  auto text = context.world.host().files.read(path);
  return text ? std::move(*text) : std::nullopt;
}

void small_memlock(const DoctorContext& context, std::vector<Finding>& out) {
  std::vector<std::string> names(kJobStarters.begin(), kJobStarters.end());
  if (context.document != nullptr) {
    for (const auto& section : context.document->sections) {
      const auto* more = section.path == "memlock" ? section.find("units") : nullptr;
      const auto* list = more == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&more->value);
      if (list == nullptr) continue;
      for (const auto& written : *list) {
        const auto unit = model::UnitName::parse(written);
        // Of a template systemd has no unit, and says nothing of the others either when it is asked for one.
        if (unit && unit->text.find("@.") == std::string::npos) names.push_back(unit->text);
      }
    }
  }
  const std::set<std::string> ours(names.begin() + static_cast<std::ptrdiff_t>(kJobStarters.size()),
                                   names.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const auto& unit : units(context, names)) {
    if (unit.main_pid <= 0) continue;
    const auto limits = read(context, fmt::format("/proc/{}/limits", unit.main_pid));
    const auto bytes = limits ? locked_memory(*limits) : std::nullopt;
    if (!bytes || *bytes >= kEnoughKib * 1024) continue;
    out.push_back(
        {"small_memlock", Finding::Weight::kProblem, unit.name,
         fmt::format("its processes may lock {} KiB of memory: RDMA programs that it starts fail to register "
                     "their buffers",
                     *bytes / 1024),
         ours.contains(unit.name)
             ? fmt::format(
                   "the document names it in [[memlock]] units: after an apply it needs a restart (systemctl "
                   "restart {})",
                   unit.name)
             : fmt::format("set LimitMEMLOCK=infinity for {} ([[memlock]] units) and restart it",
                           unit.name)});
  }
}

void damaged_records(const DoctorContext& context, std::vector<Finding>& out) {
  auto& files = context.world.host().files;
  // Not set aside yet: nothing has needed them since.
  const auto look = [&](const std::string& path, const auto& loaded) {
    if (loaded || !is_damage(loaded.error())) return;
    out.push_back({"damaged_records", Finding::Weight::kRisk, path,
                   loaded.error().message + ": the next apply or start of the daemon sets it aside",
                   "check the file and the disk, then run `rdma-configctl apply`"});
  };
  const Paths paths;
  look(paths.state, load_state(files, paths.state));
  look(paths.journal, load_journal(files, paths.journal));
  look(paths.held, load_held_record(files, paths, context.world.host().boot_id));
  const GenerationPaths generations;
  look(generations.ledger, load_ledger(files, generations.ledger));
  look(generations.rollback_record, load_rollback_record(files, generations.rollback_record));
  const auto waiting = unwritten(files);
  for (const auto& reason : waiting) {
    out.push_back({"damaged_records", Finding::Weight::kRisk, "/run/rdma-configd", reason,
                   "df /var and findmnt --target /var show why it cannot be written"});
  }
  for (const auto& reason : degraded(files)) {
    if (std::find(waiting.begin(), waiting.end(), reason) != waiting.end()) continue;
    out.push_back({"damaged_records", Finding::Weight::kRisk, "/var/lib/rdma-configd",
                   reason + ": objects that rdma-configd made earlier may no longer be known as its own",
                   "check the file and the disk, then run `rdma-configctl apply`, which ends this report"});
  }
}

void stale_initramfs(const DoctorContext& context, std::vector<Finding>& out) {
  const auto command = kinds::stale_initramfs(context.world);
  if (!command) return;
  const auto by_hand = context.world.host().initramfs.by_hand();
  out.push_back(
      {"stale_initramfs", Finding::Weight::kRisk, "initramfs",
       "was built before rdma-configd last changed module options or naming rules: drivers loaded from it "
       "at boot get the old ones",
       by_hand ? fmt::format("run {} ({})", *command, *by_hand)
               : fmt::format("run {}, or `rdma-configctl apply` with [initramfs] policy = \"rebuild\"",
                             *command)});
}

void pinned_rdma_cm(const DoctorContext& context, std::vector<Finding>& out) {
  const auto folders = context.world.host().rdma_cm.observe_folders();
  if (!folders) return;
  for (const auto& folder : *folders) {
    const auto& devices = context.world.snapshot().devices;
    const bool there = std::any_of(devices.begin(), devices.end(),
                                   [&](const auto& device) { return device.name == folder; });
    out.push_back(
        {"pinned_rdma_cm", Finding::Weight::kRisk, "/sys/kernel/config/rdma_cm/" + folder,
         there ? "while this folder exists, rdma_cm cannot be unloaded and drivers cannot be restarted"
               : "this folder is stale, as its device was removed or renamed, and prevents rdma_cm from "
                 "being unloaded",
         "rmdir it; values set through it stay"});
  }
}

std::map<std::string, int> multicast_groups(system::Files& files) {
  std::map<std::string, int> groups;
  const auto text = files.read("/proc/net/igmp");
  if (!text || !*text) return groups;
  // 224.0.0.1, which every interface has: a number in the byte order of this machine (igmp_mc_seq_show()).
  const auto all_systems =
      fmt::format("{:08X}", std::bit_cast<std::uint32_t>(std::array<std::uint8_t, 4>{224, 0, 0, 1}));
  std::string interface;
  for (const auto line : base::split(**text, '\n')) {
    const bool group = line.starts_with("\t");
    const auto words = base::trim(line);
    if (group) {
      if (!interface.empty() && !words.starts_with(all_systems)) ++groups[interface];
      continue;
    }
    // "5\tib0       :     1      V3"
    const auto tab = words.find('\t');
    const auto colon = words.find(':');
    interface = tab == std::string_view::npos || colon == std::string_view::npos || colon < tab
                    ? std::string()
                    : std::string(base::trim(words.substr(tab, colon - tab)));
  }
  return groups;
}

}  // namespace rdmacfg::core::detail
