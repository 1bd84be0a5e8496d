// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nvme/nvme_target_parse.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "kinds/entry.hpp"
#include "kinds/storage/nvme/nvme_target.hpp"
#include "kinds/storage/target_entry.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;
using model::Severity;

namespace {

constexpr std::int64_t kNvmePort = 4420;  // "nvme" of services(5)
constexpr std::int64_t kNsidMost = 1024;  // NVMET_MAX_NAMESPACES of drivers/nvme/target/nvmet.h

using Texts = std::vector<std::string>;

class TargetEntry {
 public:
  TargetEntry(const model::Section& section, Desired& desired, Diagnostics& diagnostics)
      : section_(section), desired_(desired), diagnostics_(diagnostics) {}

  void complete() {
    const auto before = diagnostics_.size();
    hosts();
    listeners();
    namespaces();
    if (diagnostics_.size() == before) warn_of_gaps();
  }

 private:
  void wrong(const model::Location& where, std::string_view key, const std::string& message,
             std::string hint) {
    report_entry_error(section_, where, key, message, std::move(hint), diagnostics_);
  }

  void hosts() {
    const auto* any = section_.find("any_host");
    const auto* named = section_.find("hosts");
    desired_.settings.try_emplace("any_host", false);
    desired_.origins.try_emplace("any_host", section_.where);
    Texts list;
    if (named != nullptr) {
      if (const auto* texts = std::get_if<Texts>(&named->value)) list = *texts;
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (auto nqn = model::Nqn::parse(list[i]); !nqn)
          wrong(named->place_of(i), "hosts", nqn.error().message, "");
      }
    }
    if (any != nullptr && any->value == model::Value{true} && !list.empty()) {
      wrong(any->where, "any_host", "the kernel accepts either names or any host",
            "leave hosts out, or any_host");
    }
    desired_.settings["hosts"] = value_of_set(std::move(list));
    desired_.origins.try_emplace("hosts", section_.where);
  }

  void listeners() {
    const auto* addresses = section_.find("addresses");
    const auto wanted = model::from_attributes<NvmeTargetSubsystem>(desired_.policy);
    set_derived(desired_, "listeners",
                value_of_set(portals_of(section_, wanted.addresses,
                                        wanted.port ? wanted.port->number : kNvmePort, diagnostics_)),
                addresses == nullptr ? section_.where : addresses->where);
  }

  void namespaces() {
    std::map<std::int64_t, std::string> devices;
    std::map<std::string, model::Location> places;
    for (const auto& child : section_.children) {
      if (child.path != "nvme_target.namespace") continue;
      const auto* nsid = child.find("nsid");
      const auto* device = child.find("device");
      if (nsid == nullptr) continue;  // reported already, by the grammar
      const auto number = std::get<std::int64_t>(nsid->value);
      if (const auto why = why_out_of_range(number, 1, kNsidMost); !why.empty()) {
        wrong(nsid->where, "namespace.nsid", why, "");
      } else if (device == nullptr) {
        wrong(child.where, "namespace.device", "is missing", "device = \"/dev/disk/by-id/…\"");
      } else {
        const auto path = model::text_of(device->value);
        const auto [at, fresh] = places.try_emplace(path, device->where);
        if (!fresh) warn_of_second(*device, path, at->second);
        devices.emplace(number, path);
      }
    }
    set_derived(desired_, "namespaces", value_of_numbered(devices), section_.where);
  }

  /// nvmet takes a subsystem without any of these, and no host sees a disk of it.
  void warn_of_gaps() {
    const auto lacks = [&](std::string_view setting) {
      return model::value_of(desired_.settings, setting) == model::Value{};
    };
    const auto* any = section_.find("any_host");
    std::vector<std::string> gaps;
    if (lacks("hosts") && (any == nullptr || any->value != model::Value{true}))
      gaps.emplace_back("hosts (or any_host = true)");
    if (lacks("listeners")) gaps.emplace_back("addresses");
    if (lacks("namespaces")) gaps.emplace_back("[[nvme_target.namespace]]");
    if (gaps.empty()) return;
    diagnostics_.push_back({Severity::kWarning,
                            section_.where,
                            "[[nvme_target]]: no host can use a disk of this subsystem",
                            "add " + base::join(gaps, ", "),
                            {}});
  }

  /// nvmet gives each namespace a UUID of its own.
  void warn_of_second(const model::Entry& device, std::string_view path, const model::Location& first) {
    diagnostics_.push_back({Severity::kWarning,
                            device.where,
                            fmt::format("[[nvme_target]] namespace.device: {} is in two namespaces", path),
                            "hosts treat them as two disks and destroy the data: remove one",
                            {{first, "first used here"}}});
  }

  const model::Section& section_;
  Desired& desired_;
  Diagnostics& diagnostics_;
};

}  // namespace

void complete_nvme_target(const model::Section& section, Desired& desired, Diagnostics& diagnostics) {
  TargetEntry(section, desired, diagnostics).complete();
}

}  // namespace rdmacfg::kinds
