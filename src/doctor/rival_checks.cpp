// SPDX-License-Identifier: Apache-2.0
// Other programs and files that set what the document sets. Sources: openibd's openib.conf, cloud-init's
// "Network configuration" (network: {config: disabled}), nm-settings-keyfile(5), Azure's Linux agent
// (rdma.py) and images for HPC (install_azure_persistent_rdma_naming.sh), dhcpcd.conf(5).
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "doctor/checks.hpp"
#include "kinds/address/profiles/foreign_profiles.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/storage/target_restorers.hpp"
#include "model/types.hpp"

namespace rdmacfg::core::detail {

namespace {

/// Whether a line that is not a comment contains `part`.
bool says(const std::string& text, std::string_view part) {
  for (const auto line : base::split(text, '\n')) {
    const auto trimmed = base::trim(line);
    if (!trimmed.starts_with('#') && trimmed.find(part) != std::string_view::npos) return true;
  }
  return false;
}

void rival(std::vector<Finding>& out, std::string object, std::string what, std::string fix) {
  out.push_back({"rivals", Finding::Weight::kRisk, std::move(object), std::move(what), std::move(fix)});
}

/// Whether a unit runs now or at the next boot.
bool takes_part(const system::Unit& unit) {
  return unit.there() && (unit.active == "active" || unit.file == "enabled");
}

/// Whether the document has an entry in a section that says something for `key`, a value or a table.
bool document_sets(const DoctorContext& context, std::string_view section, std::string_view key) {
  if (context.document == nullptr) return false;
  const auto& sections = context.document->sections;
  const auto table = fmt::format("{}.{}", section, key);
  return std::any_of(sections.begin(), sections.end(), [&](const auto& entry) {
    return entry.path == section && (entry.find(key) != nullptr || entry.child(table) != nullptr);
  });
}

void rival_services(const DoctorContext& context, std::vector<Finding>& out) {
  for (const auto& unit : units(context, {"lldpad.service", "openibd.service"})) {
    if (!takes_part(unit)) continue;
    if (unit.name == "lldpad.service") {
      rival(out, unit.name, "negotiates DCB on its own and overwrites PFC, ETS and DSCP settings made here",
            "disable it (systemctl disable --now lldpad), or leave DCB to it and out of the document");
    } else {
      rival(out, unit.name,
            "NVIDIA's driver package sets mode and MTU of IPoIB interfaces and reloads drivers on its own",
            "disable it, or set SET_IPOIB_CM=no and leave IPOIB_MTU out in /etc/infiniband/openib.conf");
    }
  }
}

/// An agent of Azure's images that sets addresses, and their service that names RDMA devices.
void rival_agents(const DoctorContext& context, std::vector<Finding>& out) {
  if (document_sets(context, "rdma_device", "name")) {
    for (const auto& unit : units(context, {"azure_persistent_rdma_naming.service"})) {
      if (!takes_part(unit)) continue;
      rival(out, unit.name,
            "renames RDMA devices to mlx5_ib0, mlx5_ib1, … and mlx5_an0, …, in the order of their PCI "
            "addresses",
            "disable it and the service that starts it again (systemctl disable --now "
            "azure_persistent_rdma_naming.service azure_persistent_rdma_naming_monitor.service)");
    }
  }
  constexpr std::string_view kAgentFile = "/etc/waagent.conf";
  if (!document_sets(context, "ipoib", "ipv4")) return;
  const auto text = read(context, std::string(kAgentFile));
  if (!text || kinds::assigned(*text, "OS.EnableRDMA") != "y") return;
  for (const auto& unit : units(context, {"waagent.service", "walinuxagent.service"})) {
    if (!takes_part(unit) || (!unit.id.empty() && unit.id != unit.name)) continue;
    rival(out, std::string(kAgentFile),
          "OS.EnableRDMA=y makes Azure's agent add an address of its own, with a prefix of /16, to IPoIB "
          "interfaces whose names begin with ib",
          fmt::format(
              "write OS.EnableRDMA=n there and restart {}, or leave these addresses to it and out of the "
              "document",
              unit.name));
    return;
  }
}

/// dhcpcd as a service requests addresses on all interfaces, unless its file selects some.
void rival_dhcpcd(const DoctorContext& context, std::vector<Finding>& out) {
  if (!document_sets(context, "ipoib", "ipv4") && !document_sets(context, "ipoib", "ipv6")) return;
  for (const auto& unit : units(context, {"dhcpcd.service"})) {
    if (!takes_part(unit)) continue;
    const auto text = read(context, "/etc/dhcpcd.conf");
    if (text && (says(*text, "denyinterfaces") || says(*text, "allowinterfaces"))) continue;
    rival(out, unit.name,
          "requests addresses for every interface, and gives one of 169.254.0.0/16 to those without an "
          "answer",
          "write denyinterfaces with the document's IPoIB interfaces (such as ib*) to /etc/dhcpcd.conf, and "
          "restart "
          "it");
  }
}

/// The names of the document's targets of a section.
std::vector<std::string> targets_of(const DoctorContext& context, const kinds::TargetRestorer& restorer) {
  std::vector<std::string> out;
  if (context.document == nullptr) return out;
  for (const auto& section : context.document->sections) {
    if (section.path == restorer.section)
      out.push_back(model::text_at(section.attributes(), restorer.identity));
  }
  return out;
}

void rival_restorers(const DoctorContext& context, std::vector<Finding>& out) {
  constexpr std::size_t kTargetsNamed = 3;
  for (const auto& restorer : kinds::kTargetRestorers) {
    const auto saved = read(context, std::string(restorer.file));
    if (!saved) continue;  // its start fails before it removes anything
    const auto unsaved = kinds::unsaved_targets(targets_of(context, restorer), *saved);
    if (unsaved.empty()) continue;
    for (const auto& unit : units(context, {std::string(restorer.unit)})) {
      if (!takes_part(unit)) continue;
      if (!unit.id.empty() && unit.id != unit.name) continue;  // an alias of the one before
      rival(out, unit.name,
            fmt::format("when it starts, it removes the targets that {} lacks ({}): connected hosts lose "
                        "them until the daemon's next check",
                        restorer.file, base::join_first(kTargetsNamed, unsaved, ", ")),
            fmt::format("add them to the file by `{}`, or disable the unit without stopping it, as its stop "
                        "removes all targets (systemctl disable {})",
                        restorer.save, unit.name));
    }
  }
}

/// Whether a file of cloud-init says network: {config: disabled}, in one line or in two.
bool disables_network(const std::string& text) {
  bool inside = false;
  for (const auto line : base::split(text, '\n')) {
    std::string bare(line.substr(0, line.find('#')));
    std::erase_if(bare, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '"' || c == '\''; });
    if (bare.empty()) continue;
    if (line.front() != ' ') inside = bare == "network:";
    if (bare == "network:{config:disabled}" || (inside && bare == "config:disabled")) return true;
  }
  return false;
}

bool cloud_init_keeps_off(const DoctorContext& context) {
  if (read(context, "/etc/cloud/cloud-init.disabled")) return true;
  constexpr std::string_view kFolder = "/etc/cloud/cloud.cfg.d";
  std::vector<std::string> paths{"/etc/cloud/cloud.cfg"};
  if (const auto names = context.world.host().files.list(std::string(kFolder))) {
    for (const auto& name : *names) {
      if (name.ends_with(".cfg")) paths.push_back(fmt::format("{}/{}", kFolder, name));
    }
  }
  return std::any_of(paths.begin(), paths.end(), [&](const auto& path) {
    const auto text = read(context, path);
    return text && disables_network(*text);
  });
}

/// Which lines of rules count: those without an address are for whichever port fits, or for none.
enum class Nameless { kForAnyPort, kForNone };

/// Whether a line of rules gives a name: not one that compares it, nor one about ENV{ID_NET_NAME}.
bool gives_name(std::string_view line) {
  constexpr std::string_view kName = "NAME";
  for (auto at = line.find(kName); at != std::string_view::npos; at = line.find(kName, at + 1)) {
    auto rest = base::trim(line.substr(at + kName.size()));
    if (rest.starts_with(':')) rest.remove_prefix(1);
    if (rest.starts_with('=') && !rest.starts_with("==")) return true;
  }
  return false;
}

/// The names that rules give to ports which the document names too: "mlx4_ib0 (00:02:c9:…)".
std::vector<std::string> names_twice(const DoctorContext& context, const std::string& text,
                                     Nameless nameless) {
  std::vector<std::string> out;
  if (context.document == nullptr) return out;
  for (const auto& section : context.document->sections) {
    if (section.path != "ipoib") continue;
    const auto written = section.attributes();
    const auto name = model::text_at(written, "name");
    const auto guid = model::Guid::parse(model::text_at(written, "guid"));
    if (name.empty() || !guid) continue;
    for (const auto line : base::split(text, '\n')) {
      const auto bare = base::trim(line);
      if (bare.starts_with('#') || !gives_name(bare)) continue;
      const bool any = nameless == Nameless::kForAnyPort && bare.find("address}") == std::string_view::npos;
      if (any || base::lower(bare).find(guid->text()) != std::string::npos) {
        out.push_back(fmt::format("{} ({})", name, guid->text()));
        break;
      }
    }
  }
  return out;
}

void rival_openib_conf(const DoctorContext& context, std::vector<Finding>& out) {
  // Nothing else reads its file, which stays when the package is removed.
  const auto openibd = units(context, {"openibd.service"});
  const bool installed =
      std::any_of(openibd.begin(), openibd.end(), [](const auto& unit) { return unit.there(); });
  if (const auto text = read(context, "/etc/infiniband/openib.conf"); text && installed) {
    const auto connected = kinds::assigned(*text, "SET_IPOIB_CM");
    if (connected == "yes" || connected == "auto" || !kinds::assigned(*text, "IPOIB_MTU").empty()) {
      rival(out, "/etc/infiniband/openib.conf", "sets mode or MTU of IPoIB interfaces when openibd starts",
            "set SET_IPOIB_CM=no and remove IPOIB_MTU");
    }
  }
}

void rival_files(const DoctorContext& context, std::vector<Finding>& out) {
  rival_openib_conf(context, out);
  constexpr std::string_view kOurRules = "70-rdma-configd-ipoib.rules";
  // If several folders have a file of the same name, udev reads only the first, even if it is empty.
  std::set<std::string> seen;
  for (const std::string folder :
       {"/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d"}) {
    const auto names = context.world.host().files.list(folder);
    if (!names) continue;
    for (const auto& name : *names) {
      if (!seen.insert(name).second) continue;
      const bool known = name == "82-net-setup-link.rules" || name == "83-mlnx-sf-name.rules" ||
                         name == "70-persistent-ipoib.rules";
      // Such as those that netplan makes for set-name: 99-netplan-ID.rules.
      const bool later = name.ends_with(".rules") && name > kOurRules &&
                         folder != "/usr/lib/udev/rules.d";  // no vendor does
      if (!known && !later) continue;
      const auto file = fmt::format("{}/{}", folder, name);
      const auto text = read(context, file);
      if (!text || !says(*text, "NAME")) continue;
      if (!known) {
        if (const auto twice = names_twice(context, *text, Nameless::kForNone); !twice.empty())
          rival(out, file,
                "udev reads its rules after ours, and they name ports that the document names too: their "
                "names win",
                file.find("/99-netplan-") == std::string::npos
                    ? fmt::format("remove the lines for {}", base::join(twice, ", "))
                    : fmt::format(
                          "remove set-name for {} from the YAML files in /etc/netplan and run netplan apply",
                          base::join(twice, ", ")));
        continue;
      }
      if (name == "70-persistent-ipoib.rules") {
        // For a port that the document does not name its rule is the only one: without it, it is renamed.
        if (const auto twice = names_twice(context, *text, Nameless::kForAnyPort); !twice.empty())
          rival(out, file, "its rules name ports that the document names too; udev uses the last name given",
                fmt::format("remove the lines for {}", base::join(twice, ", ")));
        continue;
      }
      rival(out, file, "its rules name network interfaces too; udev uses the last name given",
            "remove the lines for ports that the document names");
    }
  }
  for (const std::string path :
       {"/etc/netplan/50-cloud-init.yaml", "/etc/network/interfaces.d/50-cloud-init"}) {
    if (!read(context, path) || cloud_init_keeps_off(context)) continue;
    rival(
        out, path,
        "cloud-init rewrites the network configuration at every boot, for interfaces that it selects itself",
        "prevent that: network: {config: disabled} in "
        "/etc/cloud/cloud.cfg.d/99-disable-network-config.cfg");
  }
}

/// Whether a profile for the interface sets mode or MTU otherwise than the document. `parents`: see
/// kinds::profile_is_for().
bool contradicts(const DoctorContext& context, const system::Link& link, const std::set<std::string>& parents,
                 const std::string& text) {
  const auto guid = link.ipoib->guid.text();
  const auto id = link.ipoib->child ? guid + "/" + link.ipoib->pkey.text() : guid;
  if (!kinds::profile_is_for(text, id, link.name, parents)) return false;
  const auto profile = kinds::parse_keyfile(text);
  const auto mode = wanted_mode(context, link);
  const auto mtu = wanted_mtu(context, link);
  return (!mode.empty() && profile.mode && model::text_of(*profile.mode) != mode) ||
         (mtu && profile.mtu && profile.mtu->bytes != *mtu);
}

void rival_profiles(const DoctorContext& context, std::vector<Finding>& out) {
  const auto manager = units(context, {"NetworkManager.service"});
  if (manager.empty() || manager.front().active != "active") return;
  std::vector<std::pair<const system::Link*, std::set<std::string>>> interfaces;
  for (const auto& link : context.world.snapshot().links) {
    if (!link.ipoib) continue;
    interfaces.emplace_back(&link, link.ipoib->child
                                       ? kinds::names_of_port(link.ipoib->guid.text(), context.world)
                                       : std::set<std::string>());
  }
  for (const auto& profile : kinds::profiles_of_others(context.world)) {
    const bool against = std::any_of(interfaces.begin(), interfaces.end(), [&](const auto& interface) {
      return contradicts(context, *interface.first, interface.second, profile.text);
    });
    if (!against) continue;
    // Files elsewhere are generated or the distribution's: nobody is to edit them.
    const bool editable = profile.file.starts_with(kinds::kNmFolder);
    rival(
        out, profile.file,
        "NetworkManager sets another mode or MTU than the document from this profile, whenever it activates "
        "it",
        editable ? "make the profile match the document, or set autoconnect=false in it"
                 : kinds::how_to_keep_off(kinds::foreign_profile(profile)));
  }
}

}  // namespace

void rivals(const DoctorContext& context, std::vector<Finding>& out) {
  rival_services(context, out);
  rival_agents(context, out);
  rival_dhcpcd(context, out);
  rival_restorers(context, out);
  rival_files(context, out);
  rival_profiles(context, out);
}

}  // namespace rdmacfg::core::detail
