// SPDX-License-Identifier: Apache-2.0
// .link files of udev (systemd.link(5)).
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "foreign/import/formats.hpp"
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

/// The addresses of InfiniBand, 20 bytes long; several are separated by blanks.
bool has_long(std::string_view addresses) {
  const auto words = words_of(addresses);
  return std::any_of(words.begin(), words.end(), [](std::string_view word) { return word.size() > 40; });
}

/// Whether patterns of names ask for those of our interfaces, not for every name.
bool is_for_ours(std::string_view patterns, const Claims& claims) {
  const auto words = words_of(patterns);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return word.find_first_not_of("*?") != std::string_view::npos && claims.knows(word);
  });
}

/// Whether nothing in [Match] rules our interfaces out: no type, driver, address or literal name.
bool may_be_for_ours(const Keys& match) {
  for (const auto* key : {"Type", "Driver", "MACAddress", "PermanentMACAddress"}) {
    if (match.has(key)) return false;
  }
  const auto names = match.peek("OriginalName");
  return names.find_first_not_of("*? \t") == std::string::npos;
}

/// Whether an item of [Link] is a setting that the document has, too.
bool is_of_document(const Item& item) { return item.key == "Name" || item.key == "MTUBytes"; }

bool has_settings(const std::vector<Item>& link) {
  return std::any_of(link.begin(), link.end(), is_of_document);
}

/// Names the settings of a file whose port is not known.
void tell_settings(const std::vector<Item>& link, Claims& claims) {
  for (const auto& item : link) {
    if (is_of_document(item))
      claims.miss({item.file, item.line},
                  fmt::format("{}: {}: not imported, as its port is not known", item.key, item.value));
  }
}

/// The settings of a file, for each of the ports that it matches.
void link_settings(Keys wanted, const Interface& base, const std::set<model::Guid>& guids, Claims& claims) {
  auto out = base;
  const auto name = wanted.take("Name");
  // "keep" is about names that were given before, which there are none of at boot.
  const auto policy = wanted.text("NamePolicy").value_or("keep");
  if (name && policy != "keep") {
    wanted.wrong(*name, fmt::format("{}: counts only where no policy of NamePolicy={} gives a name",
                                    name->value, policy));
  } else if (name && guids.size() > 1) {
    wanted.wrong(*name, fmt::format("{}: {} ports cannot all be called so", name->value, guids.size()));
  } else if (name) {
    if (!claims.names.contains(*guids.begin()))
      claims.give_name(*guids.begin(), {name->value, wanted.place(*name)});
    out.name = name->value;
  }
  out.mtu = wanted.number("MTUBytes", model::kMtuConnectedMax);
  wanted.mark(out, "mtu", "MTUBytes");
  wanted.usual("WakeOnLan", "off");
  wanted.pass({"NamePolicy", "Description", "AlternativeNamesPolicy", "MACAddressPolicy"});
  wanted.finish();
  for (const auto& guid : guids) {
    out.guid = guid;
    claims.interfaces.push_back(out);
  }
}

}  // namespace

void parse_link(const File& file, const DropIns& drop_ins, Claims& claims) {
  const auto groups = groups_with_drop_ins(file, drop_ins, claims);
  Keys match(file.path, section_of(groups, "Match"), claims);
  const auto driver = match.peek("Driver");
  if (!has_long(match.peek("MACAddress")) && !has_long(match.peek("PermanentMACAddress"))) {
    const bool ours = match.peek("Type") == "infiniband" || driver.find("ipoib") != std::string::npos ||
                      match.peek("Property").find("ipoib") != std::string::npos ||
                      is_for_ours(match.peek("OriginalName"), claims);
    if (ours) {
      claims.miss({file.path, 0}, "[Match] does not name the port by its address");
      tell_settings(section_of(groups, "Link"), claims);
    } else if (may_be_for_ours(match) && has_settings(section_of(groups, "Link"))) {
      claims.pass({file.path, 0},
                  "[Match] does not tell whether it is for InfiniBand; nothing of it is imported");
    } else {
      claims.pass({file.path, 0}, "is not for InfiniBand");
    }
    return;
  }
  // A port's address begins with the number of a queue pair, which may change: then one port has several.
  std::set<model::Guid> guids;
  for (const auto* key : {"MACAddress", "PermanentMACAddress"}) {
    for (const auto& item : match.take_all(key)) {
      std::string why;
      for (const auto word : words_of(item.value)) {
        if (const auto guid = guid_of_address(word)) {
          guids.insert(*guid);
        } else {
          why = guid.error().message;
        }
      }
      if (!why.empty()) match.wrong(item, why);
    }
  }
  if (!guids.empty()) {
    Interface out;
    out.where = {file.path, 0};
    out.passive = true;
    link_settings(Keys(file.path, section_of(groups, "Link"), claims), out, guids, claims);
  }
  match.pass({"Type", "OriginalName", "Driver"});
  match.finish();
}

}  // namespace rdmacfg::foreign
