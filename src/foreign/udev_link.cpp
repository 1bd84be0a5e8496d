// SPDX-License-Identifier: Apache-2.0
// .link files of udev (systemd.link(5)).
#include "foreign/formats.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

namespace {

/// The items of the sections of one name, of a file and then of its drop-ins.
std::vector<Item> section_of(const std::vector<Group>& groups, std::string_view name) {
  std::vector<Item> out;
  for (const auto& group : groups) {
    if (group.name == name) out.insert(out.end(), group.items.begin(), group.items.end());
  }
  return out;
}

void link_settings(Keys wanted, Interface out, Claims& claims) {
  if (auto name = wanted.text("Name")) {
    claims.names.try_emplace(*out.guid, *name);
    out.name = std::move(*name);
  }
  out.mtu = wanted.number("MTUBytes", model::kMtuConnectedMax);
  wanted.pass({"NamePolicy", "Description", "AlternativeNamesPolicy", "MACAddressPolicy"});
  wanted.finish();
  claims.interfaces.push_back(std::move(out));
}

}  // namespace

void parse_link(const File& file, std::span<const File> files, Claims& claims) {
  const auto groups = groups_with_drop_ins(file, files, claims);
  Keys match(file.path, section_of(groups, "Match"), claims);
  const auto is_long = [&](std::string_view key) { return match.peek(key).size() > 40; };
  const auto driver = match.peek("Driver");
  if (!is_long("MACAddress") && !is_long("PermanentMACAddress")) {
    if (match.peek("Type") == "infiniband" || driver.find("ipoib") != std::string::npos) {
      claims.miss({file.path, 0}, "[Match] does not name the port by its address");
    } else {
      claims.pass({file.path, 0}, "is not for InfiniBand");
    }
    return;
  }
  for (const auto& item : {match.take("MACAddress"), match.take("PermanentMACAddress")}) {
    if (!item) continue;
    const auto guid = guid_of_address(item->value);
    if (!guid) {
      match.wrong(*item, guid.error().message);
      continue;
    }
    Interface out;
    out.where = {file.path, 0};
    out.guid = *guid;
    link_settings(Keys(file.path, section_of(groups, "Link"), claims), std::move(out), claims);
  }
  match.pass({"Type", "OriginalName", "Driver"});
  match.finish();
}

}  // namespace rdmacfg::foreign
