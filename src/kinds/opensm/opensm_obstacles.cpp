// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_obstacles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/units.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Guid;

namespace {

/// The first port in GUIDS stops the subnet managers that opensm-launch starts by files of their own.
std::string why_not_listed(OpensmLayout layout, system::Files& files) {
  if (layout != OpensmLayout::kRhel) return {};
  const auto path = opensm_defaults_path(layout);
  const auto text = files.read(path);
  const auto instances = observe_opensm_instances(files);
  if (!text || !instances || instances->empty() || !takes_first_port(text->value_or(""), layout)) return {};
  return fmt::format(
      "opensm.service starts a subnet manager for each of {}, and ignores these files once GUIDS of {} "
      "names a port: give this entry an [[opensm.option]], which makes such a file start it, too, or "
      "remove the files",
      base::join(*instances, ", "), path);
}

/// NVIDIA's packages bring an OpenSM of their own, with another service.
std::string beside_ofed(system::Files& files) {
  constexpr std::array kServices{"/etc/init.d/opensmd", "/usr/lib/systemd/system/opensmd.service",
                                 "/lib/systemd/system/opensmd.service"};
  const bool there = std::any_of(kServices.begin(), kServices.end(), [&](const char* path) {
    const auto text = files.read_linked(path);
    return text && text->has_value();
  });
  return there ? "; opensmd of MLNX_OFED or DOCA, which is installed, is not managed: write [[service]] "
                 "name = \"opensmd\" to start it"
               : "";
}

/// A file of others starts it, with another priority than is wanted; we do not write there.
std::string why_other_priority(const Desired& resource, const LaunchFiles& theirs) {
  const auto wanted = model::from_attributes<Opensm>(resource.settings).priority;
  const auto guid = Guid::parse(resource.key.id);
  const auto at = guid && wanted && resource.needs.empty() ? theirs.find(*guid) : theirs.end();
  if (at == theirs.end() || at->second.priority == wanted) return {};
  return fmt::format("{} starts it with {}: write sm_priority {} there, or leave priority out",
                     at->second.path,
                     at->second.priority ? fmt::format("priority {}", *at->second.priority)
                                         : std::string("the usual priority"),
                     *wanted);
}

/// Debian: PORTS of others spells the GUID in another way, and a port takes no second subnet manager.
std::string why_other_spelling(Guid guid, system::Host& host) {
  const auto path = opensm_defaults_path(OpensmLayout::kDebian);
  const auto text = host.files.read(path);
  const auto others = parse_opensm_defaults(text ? text->value_or("") : std::string()).others;
  const auto units = observe_units_by_name(units_of_other_spellings(others, guid), host);
  if (!units) return {};
  for (const auto& [name, unit] : *units) {
    if (!is_up(unit)) continue;
    return fmt::format(
        "{0} runs on this port, because PORTS in {1} spells the GUID that way: `systemctl stop {0}`, and "
        "write {2} there",
        name, path, opensm_guid(guid));
  }
  return {};
}

}  // namespace

std::string why_not_started(const Desired& resource, const std::map<model::Key, Opensm>& now,
                            const std::set<int>& ours, const LaunchFiles& theirs, World& world) {
  auto& files = world.host().files;
  const auto layout = observe_opensm_layout(files);
  if (layout == OpensmLayout::kNone) {
    const auto folder = observe_opensm_folder(files);
    if (!folder || !*folder) return without_opensm(files) + beside_ofed(files);
    return "neither opensm@.service nor /etc/sysconfig/opensm exists: no known way to start OpenSM";
  }
  const auto at = now.find(resource.key);
  if (at == now.end()) {
    const auto* unit = layout == OpensmLayout::kRhel ? "opensm.service" : "opensm@.service";
    return fmt::format("there is no {}{}", unit, beside_ofed(files));
  }
  if (auto why = why_other_priority(resource, theirs); !why.empty()) return why;
  if (at->second.running == true) return {};
  const auto guid = Guid::parse(resource.key.id);
  if (resource.needs.empty() && !(guid && theirs.contains(*guid))) {
    if (auto why = why_not_listed(layout, files); !why.empty()) return why;
  }
  const auto port = guid ? world.port(*guid) : std::nullopt;
  if (!port) return "no port has this GUID now";
  if (layout == OpensmLayout::kDebian) {
    if (auto why = why_other_spelling(*guid, world.host()); !why.empty()) return why;
  }
  const int master = port->port->sm_lid.value_or(0);
  const bool other = master != 0 && port->port->state == "ACTIVE" && master != port->port->lid.value_or(0) &&
                     !ours.contains(master);
  if (other && model::value_of(resource.policy, "beside_other") != model::Value{true}) {
    return fmt::format(
        "another subnet manager, LID {}, is master here; beside_other = true starts one beside it", master);
  }
  return {};
}

}  // namespace rdmacfg::kinds
