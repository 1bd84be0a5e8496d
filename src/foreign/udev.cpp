// SPDX-License-Identifier: Apache-2.0
// Names that udev gives: rules (udev(7), rdma-core's 70-persistent-ipoib.rules) and .link files
// (systemd.link(5)).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "foreign/formats.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

namespace {

/// KEY{attribute}=="value" of a rule.
struct Term {
  std::string key;
  std::string sign;
  std::string value;
};

/// Nothing when the line is none that udev would take.
std::optional<std::vector<Term>> terms_of(std::string_view line) {
  std::vector<Term> out;
  while (true) {
    const auto from = line.find_first_not_of(" \t,");
    if (from == std::string_view::npos) return out;
    line.remove_prefix(from);
    const auto sign = line.find_first_of("=!+-:");
    if (sign == std::string_view::npos) return std::nullopt;
    Term term{std::string(base::trim(line.substr(0, sign))), {}, {}};
    line.remove_prefix(sign);
    const auto quote = line.find('"');
    if (quote == std::string_view::npos || quote > 4) return std::nullopt;
    term.sign = base::trim(line.substr(0, quote));
    if (term.sign.ends_with('e')) term.sign.pop_back();  // key=e"…"
    line.remove_prefix(quote + 1);
    const auto end = line.find('"');
    if (end == std::string_view::npos) return std::nullopt;
    term.value = line.substr(0, end);
    line.remove_prefix(end + 1);
    out.push_back(std::move(term));
  }
}

std::string value_of(const std::vector<Term>& terms, std::string_view key, std::string_view sign) {
  for (const auto& term : terms) {
    if (term.key == key && term.sign == sign) return term.value;
  }
  return {};
}

/// The GUID that a pattern for the whole hardware address ends in: "?*00:02:c9:03:00:31:78:f2".
std::optional<model::Guid> guid_of_pattern(std::string_view pattern) {
  constexpr std::size_t kGuid = 23;
  if (pattern.size() < kGuid) return std::nullopt;
  const auto tail = pattern.substr(pattern.size() - kGuid);
  const auto guid = model::Guid::parse(tail);
  return guid && tail[2] == ':' ? std::optional(*guid) : std::nullopt;
}

void parse_interface(const std::vector<Term>& terms, const Place& where, Claims& claims) {
  const auto name = value_of(terms, "NAME", "=");
  auto address = value_of(terms, "ATTR{address}", "==");
  if (address.empty()) address = value_of(terms, "ATTRS{address}", "==");
  const bool infiniband = value_of(terms, "ATTR{type}", "==") == "32";
  if (name.empty() || (address.empty() && !infiniband)) return;
  const auto guid = guid_of_pattern(address);
  if (!guid) {
    if (infiniband) claims.miss(where, "does not name the port by the GUID at the end of its address");
    return;
  }
  if (name.find_first_of("$%") != std::string::npos) {
    claims.miss(where, fmt::format("NAME=\"{}\": is made by udev", name));
    return;
  }
  claims.took(where);
  claims.names.insert_or_assign(*guid, name);
}

/// rdma-core's 60-rdma-persistent-naming.rules: PROGRAM="rdma_rename %k NAME_FIXED NAME".
void parse_device(const std::vector<Term>& terms, const Place& where, Claims& claims) {
  std::string program = value_of(terms, "PROGRAM", "=");
  if (program.empty()) program = value_of(terms, "PROGRAM", "==");
  const auto words = words_of(program);
  const auto fixed = std::find(words.begin(), words.end(), "NAME_FIXED");
  if (fixed == words.end() || fixed + 1 == words.end()) return;
  model::Attributes identity;
  if (const auto guid = model::Guid::parse(value_of(terms, "ATTR{node_guid}", "=="))) {
    identity["node_guid"] = guid->text();
  } else if (const auto pci = model::PciAddress::parse(value_of(terms, "KERNELS", "=="))) {
    identity["pci"] = pci->text;
  } else {
    claims.miss(where, "does not name the device by node GUID or PCI address");
    return;
  }
  claims.took(where);
  claims.entry("rdma_device", identity, where).values["name"] = std::string(*(fixed + 1));
}

void parse_rules(const File& file, Claims& claims) {
  int number = 0, first = 0;
  std::string joined;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto line = base::trim(raw);
    if (joined.empty()) {
      if (line.empty() || line.front() == '#') continue;
      first = number;
    }
    if (line.ends_with('\\')) {
      joined += std::string(line.substr(0, line.size() - 1)) + ' ';
      continue;
    }
    joined += line;
    // Rules about something else are udev's matter; only what may name an InfiniBand thing is looked at.
    const bool ours =
        joined.find("NAME") != std::string::npos &&
        (joined.find("address}") != std::string::npos || joined.find("rdma_rename") != std::string::npos ||
         joined.find("type}==\"32\"") != std::string::npos);
    if (ours) {
      const Place where{file.path, first};
      const auto terms = terms_of(joined);
      if (!terms) {
        claims.miss(where, "is no rule as udev takes it");
      } else if (value_of(*terms, "SUBSYSTEM", "==") == "infiniband") {
        parse_device(*terms, where, claims);
      } else {
        parse_interface(*terms, where, claims);
      }
    }
    joined.clear();
  }
}

void parse_link(const File& file, Claims& claims) {
  const auto groups = parse_groups(file, claims);
  std::vector<Item> match, link;
  for (const auto& group : groups) {
    if (group.name == "Match") match.insert(match.end(), group.items.begin(), group.items.end());
    if (group.name == "Link") link.insert(link.end(), group.items.begin(), group.items.end());
  }
  const auto address_of = [&](std::string_view key) {
    for (const auto& item : match) {
      if (item.key == key && item.value.size() > 40) return item.value;
    }
    return std::string();
  };
  auto address = address_of("MACAddress");
  if (address.empty()) address = address_of("PermanentMACAddress");
  if (address.empty()) {
    claims.pass({file.path, 0}, "is not for InfiniBand");
    return;
  }
  Keys keys(file.path, std::move(match), claims);
  for (const auto& item : {keys.take("MACAddress"), keys.take("PermanentMACAddress")}) {
    if (!item) continue;
    const auto guid = guid_of_address(item->value);
    if (!guid) {
      keys.wrong(*item, guid.error().message);
      continue;
    }
    Keys wanted(file.path, link, claims);
    Interface out;
    out.where = {file.path, 0};
    out.guid = *guid;
    if (auto name = wanted.text("Name")) {
      claims.names.try_emplace(*guid, *name);
      out.name = std::move(*name);
    }
    out.mtu = wanted.number("MTUBytes", model::kMtuConnectedMax);
    wanted.pass({"NamePolicy", "Description", "AlternativeNamesPolicy", "MACAddressPolicy"});
    wanted.finish();
    claims.interfaces.push_back(std::move(out));
  }
  keys.pass({"Type", "OriginalName", "Driver"});
  keys.finish();
}

}  // namespace

void parse_udev(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    if (file.path.ends_with(".link")) {
      parse_link(file, claims);
    } else {
      parse_rules(file, claims);
    }
  }
}

}  // namespace rdmacfg::foreign
