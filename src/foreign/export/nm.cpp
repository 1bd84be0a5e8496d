// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "foreign/export/exporter.hpp"
#include "kinds/address/nm_keyfile.hpp"

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

void render(const Interface& one, Output& out) {
  kinds::NmProfile profile;
  profile.mode = one.mode;
  if (one.mtu) profile.mtu = model::Mtu{*one.mtu};
  profile.autoconnect = one.state != model::State::kDown;
  profile.ipv4 = lines_of(one.ipv4, model::Family::kIpv4);
  profile.ipv6 = lines_of(one.ipv6, model::Family::kIpv6);
  const auto guid = one.guid ? one.guid->text() : std::string();
  std::string id = guid.empty() ? one.name : guid, file = one.name.empty() ? guid : one.name;
  if (one.pkey) {
    profile.pkey = one.pkey;
    if (!one.parent.empty()) profile.parent = one.parent;
    id += "/" + one.pkey->text();
    if (one.name.empty()) file += "-" + one.pkey->text().substr(2);
  }
  profile.name = one.name.empty() ? file : one.name;
  auto text = kinds::render_keyfile(id, profile);
  text.replace(0, text.find('\n') + 1, first_line("nm"));
  const auto at = text.find("[infiniband]\n") + std::string_view("[infiniband]\n").size();
  // A port is known by its GUID, or where that is not written by the name of its interface.
  if (one.pkey && one.parent.empty()) {
    text.insert(at, fmt::format("mac-address=80:00:00:00:fe:80:00:00:00:00:00:00:{}\n", guid));
  } else if (!one.pkey && !one.guid) {
    text.erase(at, text.find('\n', at) + 1 - at);
    text.insert(text.find("type=infiniband\n"), fmt::format("interface-name={}\n", one.name));
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
