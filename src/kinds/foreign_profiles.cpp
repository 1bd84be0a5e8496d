// SPDX-License-Identifier: Apache-2.0
#include "kinds/foreign_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

}  // namespace

bool profile_is_for(const std::string& text, const std::string& id, const std::string& name) {
  auto sections = keyfile_sections(text);
  if (sections["connection"]["type"] != "infiniband" || sections["connection"]["autoconnect"] == "false")
    return false;
  auto& infiniband = sections["infiniband"];
  const auto slash = id.find('/');
  const bool child = slash != std::string::npos;
  if (child != infiniband.contains("p-key")) return false;
  const auto by_name = sections["connection"]["interface-name"];
  if (!by_name.empty() && by_name == name) return true;
  if (!base::lower(infiniband["mac-address"]).ends_with(id.substr(0, slash))) return false;
  if (!child) return true;
  const auto theirs = model::Pkey::parse(infiniband["p-key"]);
  const auto ours = model::Pkey::parse(std::string_view(id).substr(slash + 1));
  return theirs && ours && theirs->partition() == ours->partition();
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
    for (const auto& profile : profiles) {
      if (!profile_is_for(profile.text, one.key.id, link == nullptr ? "" : link->name)) continue;
      warn(diagnostics, one, fmt::format("{} is a profile for the same interface", profile.file),
           "NetworkManager may activate that one instead: delete it, or give it autoconnect=false");
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
