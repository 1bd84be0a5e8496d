// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/profiles/nm_keyfile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "kinds/address/interface_file_names.hpp"

namespace rdmacfg::kinds {

using model::Family;

namespace {

constexpr InterfaceFileNames kKeyfileNames{"rdma-configd-", ".nmconnection"};
constexpr std::size_t kInterfaceName = 15;  // IFNAMSIZ, without the zero
// NetworkManager wants all 20 bytes, and compares the last 8 (nm_utils_hwaddr_matches()).
constexpr std::string_view kAnyPort = "80:00:00:00:FE:80:00:00:00:00:00:00:";

/// A list as keyfiles have it: every element with a semicolon behind it.
template <class List>
std::string list_of(const List& list) {
  std::string out;
  for (const auto& item : list) out += fmt::format("{};", item);
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c; });
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) out += line + "\n";
  return out;
}

std::string text_of(const std::map<std::string, std::string>& section, const std::string& key) {
  const auto at = section.find(key);
  return at == section.end() ? std::string() : at->second;
}

std::vector<std::string> lines_of(const std::map<std::string, std::string>& section) {
  std::vector<std::string> out;
  out.reserve(section.size());
  for (const auto& [key, value] : section) out.push_back(fmt::format("{}={}", key, value));
  return out;
}

/// "198.51.100.0/24,192.0.2.9,5"
std::string route_value(const WantedRoute& route, Family family) {
  std::string out = route.to.any ? (family == Family::kIpv4 ? "0.0.0.0/0" : "::/0") : route.to.text();
  if (route.via || route.metric)
    out += "," + (route.via ? route.via->text() : std::string(family == Family::kIpv4 ? "0.0.0.0" : "::"));
  if (route.metric) out += fmt::format(",{}", *route.metric);
  return out;
}

}  // namespace

std::string nm_uuid(std::string_view id) { return base::uuid_of(fmt::format("networkmanager {}", id)); }

std::string nm_file(std::string_view id) { return fmt::format("{}/{}", kNmFolder, kKeyfileNames.name(id)); }

std::optional<std::string> nm_id(std::string_view file_name) { return kKeyfileNames.id(file_name); }

std::set<std::string> nm_profiles(system::Files& files) {
  std::set<std::string> out;
  const auto names = files.list(std::string(kNmFolder));
  if (!names) return out;
  for (const auto& name : *names) {
    if (auto id = nm_id(name)) out.insert(std::move(*id));
  }
  return out;
}

std::optional<std::string> nm_interface_name(const NmProfile& profile) {
  if (!profile.pkey || !profile.parent) return std::nullopt;
  return fmt::format("{}.{:04x}", *profile.parent, profile.pkey->full()).substr(0, kInterfaceName);
}

std::string render_keyfile(std::string_view id, const NmProfile& profile) {
  const auto mode = profile.mode.value_or(model::IpoibMode::kDatagram);
  std::string out = "# Written by rdma-configd from its configuration; do not edit.\n[connection]\n";
  out +=
      fmt::format("id={}\nuuid={}\ntype=infiniband\n", profile.name.value_or(std::string(id)), nm_uuid(id));
  if (profile.autoconnect == false) out += "autoconnect=false\n";
  if (const auto interface = nm_interface_name(profile))
    out += fmt::format("interface-name={}\n", *interface);
  if (!profile.pkey && !base::matches_glob(kNmChildren, profile.name.value_or("")))
    out += fmt::format("\n[match]\ninterface-name=!{};\n", kNmChildren);
  out += "\n[infiniband]\n";
  if (!profile.pkey) out += fmt::format("mac-address={}{}\n", kAnyPort, upper(id.substr(0, 23)));
  if (profile.mtu) out += fmt::format("mtu={}\n", profile.mtu->bytes);
  if (profile.pkey) out += fmt::format("p-key={}\n", profile.pkey->full());
  if (profile.parent) out += fmt::format("parent={}\n", *profile.parent);
  out += fmt::format("transport-mode={}\n", model::text_of(mode));
  out += "\n[ipv4]\n" + joined(profile.ipv4.value_or(std::vector<std::string>{"method=disabled"}));
  out += "\n[ipv6]\n" + joined(profile.ipv6.value_or(std::vector<std::string>{"method=link-local"}));
  return out;
}

std::map<std::string, std::map<std::string, std::string>> keyfile_sections(std::string_view text) {
  std::map<std::string, std::map<std::string, std::string>> out;
  std::string section;
  for (const auto raw : base::split(text, '\n')) {
    const auto line = base::trim(raw);
    if (line.size() > 2 && line.front() == '[' && line.back() == ']') {
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const auto equals = line.find('=');
    if (line.empty() || line.front() == '#' || equals == std::string_view::npos) continue;
    out[section][std::string(base::trim(line.substr(0, equals)))] = base::trim(line.substr(equals + 1));
  }
  return out;
}

NmProfile parse_keyfile(std::string_view text) {
  auto sections = keyfile_sections(text);
  const auto& connection = sections["connection"];
  const auto& infiniband = sections["infiniband"];
  NmProfile out;
  if (auto name = text_of(connection, "id"); !name.empty()) out.name = std::move(name);
  out.autoconnect = text_of(connection, "autoconnect") != "false";
  if (auto parent = text_of(infiniband, "parent"); !parent.empty()) out.parent = std::move(parent);
  if (auto pkey = model::Pkey::parse(text_of(infiniband, "p-key"))) out.pkey = *pkey;
  if (auto mode = model::parse_ipoib_mode(text_of(infiniband, "transport-mode"))) out.mode = *mode;
  if (const auto mtu = base::parse_as<std::int64_t>(text_of(infiniband, "mtu")); mtu && *mtu != 0)
    out.mtu = model::Mtu{*mtu};
  if (sections.contains("ipv4")) out.ipv4 = lines_of(sections["ipv4"]);
  if (sections.contains("ipv6")) out.ipv6 = lines_of(sections["ipv6"]);
  return out;
}

std::vector<std::string> nm_lines_missing(std::string_view id, std::string_view text) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kNeeded{{{"connection", "type"},
                                                                        {"connection", "uuid"},
                                                                        {"infiniband", "mac-address"},
                                                                        {"infiniband", "transport-mode"}}};
  auto now = keyfile_sections(text), should = keyfile_sections(render_keyfile(id, parse_keyfile(text)));
  std::vector<std::string> out;
  for (const auto& [section, key] : kNeeded) {
    const auto wanted = text_of(should[section], key), there = text_of(now[section], key);
    // Of an address only the end counts, which is the GUID; NetworkManager writes either in its own case.
    const auto from = std::string_view(key) == "mac-address" && there.size() == wanted.size()
                          ? kAnyPort.size()
                          : std::size_t{0};
    if (base::lower(there).substr(std::min(from, there.size())) !=
        base::lower(wanted).substr(std::min(from, wanted.size())))
      out.push_back(fmt::format("- {}={}", key, wanted));
  }
  return out;
}

std::vector<std::string> nm_lines_in_the_way(std::string_view text) {
  // Users, one of whom must have a session; the controller of the interface, under the newer and older keys;
  // conditions on the host: nm-settings-nmcli(5), and check_connection_compatible() of nm-device.c.
  constexpr std::array<std::pair<const char*, const char*>, 8> kBinding{{{"connection", "permissions"},
                                                                         {"connection", "controller"},
                                                                         {"connection", "master"},
                                                                         {"connection", "port-type"},
                                                                         {"connection", "slave-type"},
                                                                         {"match", "driver"},
                                                                         {"match", "kernel-command-line"},
                                                                         {"match", "path"}}};
  auto now = keyfile_sections(text);
  std::vector<std::string> out;
  for (const auto& [section, key] : kBinding) {
    if (const auto there = text_of(now[section], key); !there.empty())
      out.push_back(fmt::format("+ {}={}", key, there));
  }
  const auto profile = parse_keyfile(text);
  const auto bound = text_of(now["connection"], "interface-name");
  const auto own = nm_interface_name(profile).value_or(profile.name.value_or(""));
  if (!bound.empty() && bound != own) out.push_back("+ interface-name=" + bound);
  return out;
}

std::vector<std::string> nm_lines_edited(std::string_view id, std::string_view text) {
  auto out = nm_lines_missing(id, text);
  for (auto& line : nm_lines_in_the_way(text)) out.push_back(std::move(line));
  return out;
}

std::vector<std::string> inet_lines(const WantedFamily& family) {
  if (family.section == nullptr)
    return {family.family == Family::kIpv4 ? "method=disabled" : "method=link-local"};
  // A map sorts as parse_keyfile() does, so that the written and the read keyfile are the same.
  std::map<std::string, std::string> keys{{"method", std::string(model::text_of(family.method))}};
  int number = 0;
  for (const auto& address : family.addresses) {
    ++number;
    keys[fmt::format("address{}", number)] =
        number == 1 && family.gateway ? fmt::format("{},{}", address.text(), family.gateway->text())
                                      : address.text();
  }
  number = 0;
  for (const auto& route : family.routes) {
    ++number;
    keys[fmt::format("route{}", number)] = route_value(route, family.family);
    if (route.table != 254)
      keys[fmt::format("route{}_options", number)] = fmt::format("table={}", route.table);
  }
  std::vector<std::string> servers;
  for (const auto& server : family.dns) servers.push_back(server.text());
  if (!servers.empty()) keys["dns"] = list_of(servers);
  if (!family.search.empty()) keys["dns-search"] = list_of(family.search);
  return lines_of(keys);
}

}  // namespace rdmacfg::kinds
