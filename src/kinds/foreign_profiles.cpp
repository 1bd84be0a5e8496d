// SPDX-License-Identifier: Apache-2.0
#include "kinds/foreign_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.hpp"
#include "kinds/addressing.hpp"
#include "kinds/networkd_file.hpp"
#include "kinds/nm_keyfile.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;
using model::Severity;

namespace {

struct Foreign {
  std::string file;
  std::string text;
};

std::vector<Foreign> files_in(World& world, const std::string& folder, std::string_view prefix,
                              std::string_view suffix) {
  std::vector<Foreign> out;
  const auto names = world.host().files.list(folder);
  if (!names) return out;  // what may not be read cannot be warned about
  for (const auto& name : *names) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix) || nm_id(name) || networkd_id(name)) continue;
    auto path = fmt::format("{}/{}", folder, name);
    const auto text = world.host().files.read(path);
    if (text && *text) out.push_back({std::move(path), **text});
  }
  return out;
}

/// Whether a text names an interface as a word of its own: "ib0", not "ib0.8002".
bool names(const std::string& text, const std::string& interface) {
  const auto part = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '-';
  };
  for (auto at = text.find(interface); at != std::string::npos; at = text.find(interface, at + 1)) {
    const auto end = at + interface.size();
    if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]))) return true;
  }
  return false;
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

/// What profiles may call the port of an interface: by its interface, or by a profile for it.
std::set<std::string> names_of_port(const Desired& one, World& world, const std::vector<Foreign>& profiles) {
  const auto port = one.key.id.substr(0, one.key.id.find('/'));
  std::set<std::string> out{nm_uuid(port)};
  if (auto wanted = model::text_at(one.settings, "parent"); !wanted.empty()) out.insert(std::move(wanted));
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

}  // namespace

bool profile_is_for(const std::string& text, const std::string& id, const std::string& name,
                    const std::set<std::string>& parents) {
  auto sections = keyfile_sections(text);
  return sections["connection"]["autoconnect"] != "false" && is_for(sections, id, name, parents);
}

namespace {

void warn(Diagnostics& diagnostics, const Desired& one, const std::string& message, std::string hint) {
  diagnostics.push_back({Severity::kWarning, one.where, message, std::move(hint), {}});
}

}  // namespace

void warn_of_foreign_profiles(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
  std::vector<Foreign> profiles;
  for (const auto* folder :
       {"/etc/NetworkManager/system-connections", "/run/NetworkManager/system-connections"}) {
    for (auto& one : files_in(world, folder, "", "")) profiles.push_back(std::move(one));
  }
  for (const auto& one : desired) {
    if (one.key.kind != "nm_profile" || one.ignore) continue;
    const auto* link = interface_of(one.key.id, world);
    const auto parents = names_of_port(one, world, profiles);
    for (const auto& profile : profiles) {
      if (!profile_is_for(profile.text, one.key.id, link == nullptr ? "" : link->name, parents)) continue;
      warn(diagnostics, one, fmt::format("{} is a profile for the same interface", profile.file),
           makes_a_second(profile.text)
               ? "delete it, or give it autoconnect=false: NetworkManager makes an interface of another name "
                 "for it when it starts, and the partition has two"
               : "NetworkManager may activate that one instead: delete it, or give it autoconnect=false");
    }
  }
}

void warn_of_other_configurations(const std::vector<Desired>& desired, World& world,
                                  Diagnostics& diagnostics) {
  struct Place {
    const char* folder;
    const char* prefix;
    const char* suffix;
    const char* whose;
  };
  constexpr std::array<Place, 7> kPlaces{
      {{"/etc/sysconfig/network-scripts", "ifcfg-", "", "an ifcfg file"},
       {"/etc/sysconfig/network", "ifcfg-", "", "a file of wicked"},
       {"/etc/netplan", "", ".yaml", "netplan"},
       {"/etc/systemd/network", "", ".network", "systemd-networkd"},
       {"/run/systemd/network", "", ".network", "systemd-networkd"},
       {"/etc/network/interfaces.d", "", "", "ifupdown (cloud-init writes there too)"},
       {"/etc/network", "interfaces", "", "ifupdown"}}};
  for (const auto& place : kPlaces) {
    for (const auto& file : files_in(world, place.folder, place.prefix, place.suffix)) {
      for (const auto& one : desired) {
        if (one.key.kind != "backend" || one.ignore || one.settings.empty()) continue;
        const auto* link = interface_of(one.key.id, world);
        const bool meant = base::lower(file.text).find(one.key.id) != std::string::npos ||
                           (link != nullptr && names(file.text, link->name));
        if (!meant) continue;
        warn(diagnostics, one,
             fmt::format("{} ({}) configures {} too", file.file, place.whose,
                         link == nullptr ? one.label : link->name),
             "take the interface out of that file: one of the two should configure it");
      }
    }
  }
}

}  // namespace rdmacfg::kinds
