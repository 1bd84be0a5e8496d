// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/profiles/foreign_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "kinds/address/network_match.hpp"
#include "kinds/address/profiles/networkd_file.hpp"
#include "kinds/address/profiles/networkd_older.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/address/profiles/nm_shadows.hpp"
#include "kinds/address/request.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;
using model::Severity;

namespace {

std::vector<ForeignFile> files_in(World& world, const std::string& folder, std::string_view prefix,
                                  std::string_view suffix) {
  std::vector<ForeignFile> out;
  const auto names = world.host().files.list(folder);
  if (!names) return out;  // what may not be read cannot be warned about
  for (const auto& name : *names) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix) || nm_id(name) || networkd_id(name)) continue;
    auto path = fmt::format("{}/{}", folder, name);
    const auto text = world.host().files.read_linked(path);
    if (!text || !*text || (older_networkd_id(name) && begins_as_ours(**text))) continue;
    out.push_back({std::move(path), **text});
  }
  return out;
}

/// Of names of interfaces, which a shell takes as they are.
bool is_name_part(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
         c == '-';
}

/// Whether a text has the name of an interface as a word of its own: "ib0", not "ib0.8002".
bool has_word(const std::string& text, const std::string& interface) {
  for (auto at = text.find(interface); at != std::string::npos; at = text.find(interface, at + 1)) {
    const auto end = at + interface.size();
    if ((at == 0 || !is_name_part(text[at - 1])) && (end == text.size() || !is_name_part(text[end])))
      return true;
  }
  return false;
}

/// Without comments and what only says over which port a P_Key interface is: a file for the one is not a file
/// for the other.
std::string without_parents(const std::string& text) {
  constexpr std::array kParents{"PHYSDEV", "IPOIB_DEVICE", "ETHERDEVICE", "parent", "link:", "base-iface:"};
  std::string out;
  for (const auto line : base::split(text, '\n')) {
    const auto bare = base::trim(line);
    const bool parent = std::any_of(kParents.begin(), kParents.end(), [&](std::string_view key) {
      return bare.starts_with(key) &&
             (key.ends_with(':') || base::trim(bare.substr(key.size())).starts_with('='));
    });
    const bool makes = bare.find("create_child") != std::string_view::npos ||
                       bare.find("type ipoib") != std::string_view::npos;
    if (parent || makes || bare.starts_with('#')) continue;
    out += std::string(line) + '\n';
  }
  return out;
}

using Sections = std::map<std::string, std::map<std::string, std::string>>;

/// The same of a profile that NetworkManager may leave alone.
bool is_for(Sections& sections, const std::string& id, const std::string& name,
            const std::set<std::string>& parents) {
  if (sections["connection"]["type"] != "infiniband") return false;
  auto& infiniband = sections["infiniband"];
  const auto slash = id.find('/');
  const bool child = slash != std::string::npos;
  const auto pkey = infiniband["p-key"];
  if (child != (!pkey.empty() && pkey != "-1")) return false;
  const auto by_name = sections["connection"]["interface-name"];
  if (!by_name.empty() && by_name == name) return true;
  const bool by_address = base::lower(infiniband["mac-address"]).ends_with(id.substr(0, slash));
  if (!child) return by_address;
  if (!by_address && !parents.contains(infiniband["parent"])) return false;
  const auto theirs = model::Pkey::parse(pkey);
  const auto ours = model::Pkey::parse(std::string_view(id).substr(slash + 1));
  return theirs && ours && theirs->partition() == ours->partition();
}

/// A profile of the distribution counts unless one with its UUID is elsewhere, or it was deleted.
std::vector<ForeignFile> read_profiles(World& world) {
  std::vector<ForeignFile> out;
  std::set<std::string> hidden;
  for (const auto folder : {kNmFolder, kNmRunFolder}) {
    for (auto& profile : files_in(world, std::string(folder), "", "")) {
      hidden.insert(profile_uuid(profile.text));
      out.push_back(std::move(profile));
    }
    const auto names = world.host().files.list(std::string(folder));
    for (const auto& name : names ? *names : std::vector<std::string>()) {
      if (!name.ends_with(kNmMeta)) continue;
      auto uuid = name.substr(0, name.size() - kNmMeta.size());
      if (is_tombstone(world.host().files, fmt::format("{}/{}", folder, name), uuid))
        hidden.insert(std::move(uuid));
    }
  }
  for (auto& profile : files_in(world, std::string(kNmVendorFolder), "", ".nmconnection")) {
    const auto uuid = profile_uuid(profile.text);
    if (uuid.empty() || !hidden.contains(uuid)) out.push_back(std::move(profile));
  }
  return out;
}

/// The names that profiles may use for the port of an interface: its interface, or a profile for it.
std::set<std::string> names_of_port(const std::string& id, World& world,
                                    const std::vector<ForeignFile>& profiles) {
  const auto port = id.substr(0, id.find('/'));
  std::set<std::string> out{nm_uuid(port)};
  const auto* link = interface_of(port, world);
  const auto name = link == nullptr ? std::string() : link->name;
  if (link != nullptr) out.insert(name);
  for (const auto& profile : profiles) {
    auto sections = keyfile_sections(profile.text);
    const auto uuid = sections["connection"]["uuid"];
    if (!uuid.empty() && is_for(sections, port, name, {})) out.insert(uuid);
  }
  return out;
}

/// NetworkManager names a P_Key interface by the number as the profile has it, ours by the one with the
/// membership bit.
bool makes_a_second(const std::string& text) {
  const auto pkey = base::parse_number(keyfile_sections(text)["infiniband"]["p-key"]);
  return pkey && *pkey < 0x8000;
}

/// NetworkManager's name for the P_Key interface of a profile
/// (nm_setting_infiniband_get_virtual_interface_name).
std::string made_name(Sections& sections, const std::string& parent) {
  const auto pkey = base::parse_number(sections["infiniband"]["p-key"]).value_or(0);
  return fmt::format("{}.{:04x}", parent, pkey).substr(0, model::kInterfaceNameMax);
}

/// Its name for people, which is the file's where it says none.
std::string id_of(Sections& sections, const std::string& file) {
  if (const auto& id = sections["connection"]["id"]; !id.empty()) return id;
  auto name = file.substr(file.rfind('/') + 1);
  constexpr std::string_view kSuffix = ".nmconnection";
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

/// As a shell takes it.
std::string shell_word(const std::string& text) {
  if (!text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), is_name_part))
    return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

const std::vector<ForeignFile>& profiles_of_others(World& world) {
  return world.once("profiles of others", [&] { return read_profiles(world); });
}

bool is_about(const std::string& text, const std::string& interface) {
  return has_word(without_parents(text), interface);
}

std::string assigned(const std::string& text, std::string_view key) {
  std::string out;
  for (const auto line : base::split(text, '\n')) {
    auto value = base::trim(line);
    if (!value.starts_with(key) || value.substr(key.size(), 1) != "=") continue;
    value.remove_prefix(key.size() + 1);
    const bool quoted = value.starts_with('"') || value.starts_with('\'');
    const auto end = quoted ? value.find(value.front(), 1) : value.find_first_of(" \t#;");
    out = quoted ? value.substr(1, end - 1) : value.substr(0, end);
  }
  return out;
}

bool profile_is_for(const std::string& text, const std::string& id, const std::string& name,
                    const std::set<std::string>& parents) {
  auto sections = keyfile_sections(text);
  return sections["connection"]["autoconnect"] != "false" && is_for(sections, id, name, parents);
}

ForeignProfile foreign_profile(const ForeignFile& file) {
  auto sections = keyfile_sections(file.text);
  return {file.file, id_of(sections, file.file)};
}

std::string how_to_keep_off(const ForeignProfile& profile) {
  if (profile.file.find("/system-connections/netplan-") != std::string::npos)  // written at each boot
    return "remove the interface from the YAML files in /etc/netplan and run netplan apply";
  const auto id = shell_word(profile.id);
  return fmt::format("nmcli connection delete {0}, or nmcli connection modify {0} autoconnect no", id);
}

namespace {

/// The document's names for the interfaces of ports from now on, or once the port is there, by port.
std::map<std::string, std::string, std::less<>> coming_names(const std::vector<Desired>& desired) {
  std::map<std::string, std::string, std::less<>> out;
  for (const auto& resource : desired) {
    if (resource.key.kind == "link_name" && !resource.ignore)
      out.emplace(resource.key.id, model::text_at(resource.settings, "rule"));
  }
  return out;
}

std::string name_in(const std::map<std::string, std::string, std::less<>>& names, std::string_view port) {
  const auto at = names.find(port);
  return at == names.end() ? std::string() : at->second;
}

void warn(Diagnostics& diagnostics, const Desired& desired, const std::string& message, std::string hint) {
  diagnostics.push_back({Severity::kWarning, desired.where, message, std::move(hint), {}});
}

}  // namespace

std::set<std::string> names_of_port(const std::string& id, World& world) {
  return names_of_port(id, world, profiles_of_others(world));
}

std::optional<ForeignProfile> profile_that_makes(const system::Link& child, World& world) {
  const auto* parent = world.link(child.parent);
  if (parent == nullptr || !child.ipoib || world.offline()) return std::nullopt;
  const auto id = fmt::format("{}/{}", child.ipoib->guid.text(), child.ipoib->pkey.text());
  const auto& profiles = profiles_of_others(world);
  const auto parents = names_of_port(id, world, profiles);
  for (const auto& profile : profiles) {
    auto sections = keyfile_sections(profile.text);
    if (!profile_is_for(profile.text, id, child.name, parents)) continue;
    if (made_name(sections, parent->name) != child.name) continue;
    return foreign_profile(profile);
  }
  return std::nullopt;
}

std::string how_to_stop(const ForeignProfile& profile, std::string_view interface) {
  return fmt::format(
      "NetworkManager creates {0} for its profile \"{1}\" ({2}) at each start: {3} (rdma-configctl import nm "
      "shows its settings); then ip link del {0} if it still exists",
      interface, profile.id, profile.file, how_to_keep_off(profile));
}

void warn_of_foreign_profiles(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
  warn_of_shadows(desired, world, diagnostics);
  const auto& profiles = profiles_of_others(world);
  if (profiles.empty()) return;
  const auto names = coming_names(desired);
  for (const auto& resource : desired) {
    if (resource.key.kind != "nm_profile" || resource.ignore) continue;
    const auto* link = interface_of(resource.key.id, world);
    auto parents = names_of_port(resource.key.id, world, profiles);
    const auto& id = resource.key.id;
    const auto slash = id.find('/');
    auto coming = name_in(names, id.substr(0, slash));
    if (const auto wanted = model::text_at(resource.settings, "parent"); !wanted.empty()) {
      parents.insert(wanted);
      if (const auto pkey = model::Pkey::parse(id.substr(slash + 1)))
        coming = fmt::format("{}.{:04x}", wanted, pkey->full());
    }
    for (const auto& profile : profiles) {
      if (!profile_is_for(profile.text, id, link == nullptr ? "" : link->name, parents) &&
          !profile_is_for(profile.text, id, coming, parents))
        continue;
      const auto ways = how_to_keep_off(foreign_profile(profile));
      warn(diagnostics, resource, fmt::format("{} is a profile for the same interface", profile.file),
           makes_a_second(profile.text) ? ways +
                                              ": at its start NetworkManager creates an interface with "
                                              "another name for it, so the partition has two"
                                        : ways + ": NetworkManager may activate that profile instead");
    }
  }
}

namespace {

/// P_Key interfaces of the document, by port.
std::map<std::string, std::vector<std::string>> children_of(const std::vector<Desired>& desired) {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& resource : desired) {
    if (resource.key.kind == "pkey" && !resource.ignore && !resource.netdev.empty())
      out[resource.key.id.substr(0, resource.key.id.find('/'))].push_back(resource.netdev);
  }
  return out;
}

bool networkd_runs(World& world) {
  return !world.offline() && world.once("networkd runs", [&] {
    const auto links = world.host().networkd.observe({});
    return links && links->has_value();
  });
}

/// Whether a file is of systemd-networkd, which runs, and takes it for an interface of this name before ours.
bool networkd_takes(const ForeignFile& file, const std::string& name, World& world) {
  return network_file_is_first(file.file, file.text, name) && networkd_runs(world);
}

/// The first of them that a file speaks of, or that systemd-networkd takes it for; empty when there is none.
std::string child_in(const ForeignFile& file, const std::vector<std::string>& children, World& world) {
  if (children.empty()) return {};
  const auto own = without_parents(file.text);  // once for the many children of a port
  const auto at = std::find_if(children.begin(), children.end(), [&](const std::string& name) {
    return has_word(own, name) || networkd_takes(file, name, world);
  });
  return at == children.end() ? std::string() : *at;
}

/// Whether ifcfg files of RHEL count: by its network-scripts, or by NetworkManager's plugin, which RHEL 10
/// and Fedora since 41 lack. True where neither is known.
bool reads_ifcfg(system::Files& files) {
  const std::string plugins = "/usr/lib64/NetworkManager";
  const auto scripts = files.read_linked("/etc/sysconfig/network-scripts/ifup-eth");
  const auto releases = files.list(plugins);
  if ((scripts && *scripts) || !releases || releases->empty()) return true;
  return std::any_of(releases->begin(), releases->end(), [&](const std::string& release) {
    const auto names = files.list(plugins + "/" + release);
    return names &&
           std::find(names->begin(), names->end(), "libnm-settings-plugin-ifcfg-rh.so") != names->end();
  });
}

/// Whether files of wicked count. They stay where NetworkManager replaced it (Leap 16, Tumbleweed).
bool reads_wicked(system::Files& files) {
  const auto has_unit = [&](const std::string& name) {
    const auto unit = files.read_linked("/usr/lib/systemd/system/" + name);
    return unit && unit->has_value();
  };
  return has_unit("wicked.service") || !has_unit("NetworkManager.service");
}

struct PlaceOfOthers {
  std::string_view folder, prefix, suffix, whose;
};
constexpr std::string_view kIfcfgFolder = "/etc/sysconfig/network-scripts";
constexpr std::string_view kWickedFolder = "/etc/sysconfig/network";
// systemd-networkd takes the first file of a name, in the order of its folders here.
constexpr std::array<PlaceOfOthers, 10> kPlacesOfOthers{
    {{kIfcfgFolder, "ifcfg-", "", "an ifcfg file"},
     {kWickedFolder, "ifcfg-", "", "a wicked file"},
     {"/etc/netplan", "", ".yaml", "netplan"},
     {"/run/netplan", "", ".yaml", "netplan"},
     {"/etc/systemd/network", "", ".network", "systemd-networkd"},
     {"/run/systemd/network", "", ".network", "systemd-networkd"},
     {"/usr/local/lib/systemd/network", "", ".network", "systemd-networkd"},
     {"/usr/lib/systemd/network", "", ".network", "systemd-networkd"},
     {"/etc/network/interfaces.d", "", "", "ifupdown (cloud-init writes there too)"},
     {"/etc/network", "interfaces", "", "ifupdown"}}};

/// The files of a place that are read here.
std::vector<ForeignFile> files_that_count(const PlaceOfOthers& place, World& world) {
  if (place.folder == kIfcfgFolder && !reads_ifcfg(world.host().files)) return {};
  auto out = files_in(world, std::string(place.folder), place.prefix, place.suffix);
  if (place.folder == kWickedFolder && !out.empty()) {
    if (!reads_wicked(world.host().files)) return {};
    // The file's name says for which interface it is (ifcfg(5) of wicked).
    for (auto& file : out)
      file.text += "\nDEVICE=" + file.file.substr(place.folder.size() + 1 + place.prefix.size()) + "\n";
  }
  return out;
}

/// The remedy for a file that configures an interface too. Generated files have another source.
std::string remedy_for(const std::string& file) {
  if (file.find("/network/10-netplan-") != std::string::npos) {
    return "remove the interface from the YAML files in /etc/netplan and run netplan apply: netplan writes "
           "that "
           "file again at each boot";
  }
  if (file.find("cloud-init") != std::string::npos) {
    return "remove the interface from that file, and write network: {config: disabled} to "
           "/etc/cloud/cloud.cfg.d/99-disable-network-config.cfg: cloud-init writes the file again";
  }
  return "remove the interface from that file: only one program should configure it";
}

}  // namespace

void warn_of_other_configurations(const std::vector<Desired>& desired, World& world,
                                  Diagnostics& diagnostics) {
  const auto names = coming_names(desired);
  auto children = children_of(desired);
  std::set<std::string> seen;
  for (const auto& place : kPlacesOfOthers) {
    const bool networkd = place.suffix == ".network";
    for (const auto& file : files_that_count(place, world)) {
      if (networkd && seen.contains(file.file.substr(file.file.rfind('/') + 1))) continue;
      const bool unmanaged = networkd && network_file_leaves_alone(file.text);
      for (const auto& resource : desired) {
        if (resource.key.kind != "backend" || resource.ignore || resource.settings.empty()) continue;
        if (unmanaged && model::text_at(resource.settings, "backend") != "networkd") continue;
        const auto* link = interface_of(resource.key.id, world);
        const auto now = link == nullptr ? std::string() : link->name;
        const auto coming = name_in(names, resource.key.id);
        const auto is_for_name = [&](const std::string& name) {
          return !name.empty() && (is_about(file.text, name) || networkd_takes(file, name, world));
        };
        const bool meant =
            base::lower(file.text).find(resource.key.id) != std::string::npos || is_for_name(now);
        const bool port = meant || is_for_name(coming);
        const auto child = port ? std::string() : child_in(file, children[resource.key.id], world);
        if (!port && child.empty()) continue;
        warn(diagnostics, resource,
             fmt::format("{} ({}) configures {} too", file.file, place.whose,
                         !port         ? child
                         : !meant      ? coming
                         : now.empty() ? resource.label
                                       : now),
             remedy_for(file.file));
      }
    }
    if (!networkd) continue;
    if (const auto all = world.host().files.list(std::string(place.folder)))
      seen.insert(all->begin(), all->end());
  }
}

}  // namespace rdmacfg::kinds
