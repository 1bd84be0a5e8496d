// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "foreign/export/exporter.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"

namespace rdmacfg::foreign {

namespace {

std::vector<std::string> lines_of(const Inet& inet, model::Family family) {
  static const model::Section kWritten;
  kinds::WantedFamily wanted;
  wanted.family = family;
  if (inet.empty()) return kinds::inet_lines(wanted);
  wanted.section = &kWritten;
  wanted.method = inet.effective();
  wanted.addresses = inet.addresses;
  wanted.gateway = inet.gateway;
  wanted.dns = inet.dns;
  wanted.search = inet.search;
  for (const auto& route : inet.routes)
    wanted.routes.push_back({route.to, route.via, route.metric, route.table, {}});
  return kinds::inet_lines(wanted);
}

void render(const Interface& interface, Output& out) {
  kinds::NmProfile profile;
  profile.mode = interface.mode;
  if (interface.mtu) profile.mtu = model::Mtu{*interface.mtu};
  profile.autoconnect = interface.state != model::State::kDown;
  profile.ipv4 = lines_of(interface.ipv4, model::Family::kIpv4);
  profile.ipv6 = lines_of(interface.ipv6, model::Family::kIpv6);
  const auto guid = interface.guid ? interface.guid->text() : std::string();
  std::string id = guid.empty() ? interface.name : guid,
              file = interface.name.empty() ? guid : interface.name;
  if (interface.pkey) {
    profile.pkey = interface.pkey;
    if (!interface.parent.empty()) profile.parent = interface.parent;
    id += "/" + interface.pkey->text();
    if (interface.name.empty()) file += "-" + interface.pkey->text().substr(2);
  }
  profile.name = interface.name.empty() ? file : interface.name;
  auto text = kinds::render_keyfile(id, profile);
  text.replace(0, text.find('\n') + 1, first_line("nm"));
  const auto at = text.find("[infiniband]\n") + std::string_view("[infiniband]\n").size();
  // A port is known by its GUID, or where that is not written by the name of its interface.
  if (interface.pkey && interface.parent.empty()) {
    text.insert(at, fmt::format("mac-address=80:00:00:00:fe:80:00:00:00:00:00:00:{}\n", guid));
  } else if (!interface.pkey && !interface.guid) {
    text.erase(at, text.find('\n', at) + 1 - at);
    text.insert(text.find("type=infiniband\n"), fmt::format("interface-name={}\n", interface.name));
  }
  std::string name = file;
  std::erase(name, ':');
  out.files.push_back({fmt::format("{}/{}.nmconnection", kinds::kNmFolder, name), text});
}

}  // namespace

void render_nm(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out) {
  for (const auto& tree : trees) {
    render(tree.port, out);
    for (const auto& child : tree.children) render(child, out);
  }
}

}  // namespace rdmacfg::foreign
