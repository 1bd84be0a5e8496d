// SPDX-License-Identifier: Apache-2.0
// Rules of check.hpp about allowed and required keys.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "config/check.hpp"

namespace rdmacfg::config {

namespace {

using model::SectionSpec;

constexpr std::size_t kHomesNamed = 4;  ///< a key of more sections says nothing about the intention

/// Labels of the sections below `specs` that have a key of this name, without the one at `except`.
void find_homes(std::string_view key, const std::vector<SectionSpec>& specs, std::string_view parent,
                std::string_view except, std::vector<std::string>& homes) {
  for (const auto& spec : specs) {
    const auto path = path_of(parent, spec.name);
    const bool has = std::any_of(spec.fields.begin(), spec.fields.end(),
                                 [&](const auto& field) { return field.name == key && is_written(field); });
    if (has && path != except) homes.push_back(label_of(path, spec.repeated));
    find_homes(key, spec.children, path, except, homes);
  }
}

/// Labels of the sections called `name` that are part of another one.
void find_inner(std::string_view name, const std::vector<SectionSpec>& specs, std::string_view parent,
                std::vector<std::string>& homes) {
  for (const auto& spec : specs) {
    const auto path = path_of(parent, spec.name);
    if (!parent.empty() && spec.name == name) homes.push_back(label_of(path, spec.repeated));
    find_inner(name, spec.children, path, homes);
  }
}

/// Other tools' names of keys and sections, and ours: NetworkManager, nmstate, netplan,
/// ifcfg files, systemd units, limits.d, nvme-cli, nvmetcli, targetcli, open-iscsi, fstab, modprobe.d.
constexpr std::array<std::pair<std::string_view, std::string_view>, 73> kElsewhere{{
    {"transport", "mode"},
    {"transport_mode", "mode"},
    {"transport-mode", "mode"},
    {"connected_mode", "mode"},
    {"hwaddr", "guid"},
    {"mac", "guid"},
    {"mac_address", "guid"},
    {"mac-address", "guid"},
    {"port_guid", "guid"},
    {"dhcp", "ipv4"},
    {"dhcp4", "ipv4"},
    {"dhcp6", "ipv6"},
    {"address", "ipv4"},
    {"addresses", "ipv4"},
    {"ip", "ipv4"},
    {"gateway", "ipv4"},
    {"dns", "ipv4"},
    {"routes", "ipv4"},
    {"method", "ipv4"},
    {"gateway", "via"},
    {"nexthop", "via"},
    {"destination", "to"},
    {"dns-servers", "dns"},
    {"nameservers", "dns"},
    {"dns_servers", "dns"},
    {"p_key", "pkey"},
    {"p-key", "pkey"},
    {"pkey_id", "pkey"},
    {"services", "units"},
    {"name", "key"},
    {"option", "key"},
    {"state", "running"},
    {"rebuild", "policy"},
    {"group", "domain"},
    {"user", "domain"},
    {"netdev", "interface"},
    {"ifname", "interface"},
    {"nic", "interface"},
    {"memlock", "limit"},
    {"soft", "limit"},
    {"hard", "limit"},
    {"started", "running"},
    {"active", "running"},
    {"enable", "enabled"},
    {"traddr", "address"},
    {"traddr", "addresses"},
    {"trsvcid", "port"},
    {"host_traddr", "host_address"},
    {"host-traddr", "host_address"},
    {"subsysnqn", "nqn"},
    {"allowed_hosts", "hosts"},
    {"device_path", "device"},
    {"iqn", "wwn"},
    {"iqn", "target"},
    {"targetname", "target"},
    {"tpgt", "portal_group"},
    {"acls", "initiators"},
    {"portals", "addresses"},
    {"mountpoint", "path"},
    {"mount_point", "path"},
    {"parameters", "options"},
    {"params", "options"},
    {"rxe", "soft_rdma"},
    {"siw", "soft_rdma"},
    {"soft_roce", "soft_rdma"},
    {"softroce", "soft_rdma"},
    {"iscsi", "iser_session"},
    {"iser", "iser_session"},
    {"nvmet", "nvme_target"},
    {"limits", "memlock"},
    {"ulimit", "memlock"},
    {"dcb", "pfc"},
    {"infiniband", "ipoib"},
}};

/// The name here of what other tools call `name`, when it is among `known`.
std::optional<std::string> called_here(std::string_view name, const std::vector<std::string>& known) {
  const auto word = base::lower(name);
  for (const auto& [elsewhere, here] : kElsewhere) {
    if (elsewhere == word && std::find(known.begin(), known.end(), here) != known.end())
      return std::string(here);
  }
  return std::nullopt;
}

/// The only one of `known` that has all the words of `name`, or all of whose words it has: rdma_port for
/// port, netns for netns_mode.
std::optional<std::string> sharing_words(std::string_view name, const std::vector<std::string>& known) {
  const auto words = [](std::string_view text) {
    auto out = "_" + base::lower(text) + "_";
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
  };
  const auto wanted = words(name);
  std::optional<std::string> found;
  for (const auto& key : known) {
    const auto has = words(key);
    if (has.find(wanted) == std::string::npos && wanted.find(has) == std::string::npos) continue;
    if (found) return std::nullopt;
    found = key;
  }
  return found;
}

/// Whether a key that is reported as unknown was meant as one that identifies the entry, and is not there.
bool has_meant_identity(const Node& table, const SectionSpec& spec) {
  std::vector<std::string> known;
  for (const auto& field : spec.fields) {
    if (is_written(field)) known.emplace_back(field.name);
  }
  for (const auto& child : spec.children) known.emplace_back(child.name);
  const auto identifies = [&](std::string_view key) {
    return std::any_of(spec.identities.begin(), spec.identities.end(),
                       [&](const auto& set) { return std::find(set.begin(), set.end(), key) != set.end(); });
  };
  return std::any_of(table.members.begin(), table.members.end(), [&](const auto& member) {
    const std::string_view name = member.first;
    if (std::find(known.begin(), known.end(), name) != known.end()) return false;
    auto meant = called_here(name, known);
    if (!meant) meant = base::nearest(name, known);
    if (!meant) meant = sharing_words(name, known);
    return meant && identifies(*meant) && !table.members.contains(*meant);
  });
}

std::string set_text(const std::vector<std::string_view>& set) {
  return base::join(std::vector<std::string>(set.begin(), set.end()), " and ");
}

/// The same with the value of what has only one: driver = "mlx4_en".
std::string set_text(const std::vector<std::string_view>& set, const SectionSpec& spec) {
  if (set.size() == 1) {
    for (const auto& field : spec.fields) {
      if (field.name == set.front() && field.type.starts_with('"'))
        return fmt::format("{} = {}", field.name, field.type);
    }
  }
  return set_text(set);
}

std::string choices(const SectionSpec& spec) {
  std::vector<std::string> sets;
  for (const auto& set : spec.identities) sets.push_back(set_text(set, spec));
  return base::join(sets, ", or ");
}

}  // namespace

const Span& place_of(const Node& table) {
  return table.origin == Node::Origin::kDotted ? table.key : table.at;
}

void report_unknown(std::string_view name, const Node& node, const Place& place, const Grammar& grammar,
                    const Reporter& report) {
  const bool is_list = node.sort == Node::Sort::kList;
  const bool is_section =
      node.sort == Node::Sort::kTable || (is_list && node.origin == Node::Origin::kHeader);
  std::vector<std::string> keys, sections, homes;
  if (place.spec) {
    for (const auto& field : place.spec->fields) {
      if (is_written(field)) keys.emplace_back(field.name);
    }
  } else {
    keys.emplace_back("version");
    sections = {"match", "defaults", "host"};
  }
  for (const auto& child : place.spec ? place.spec->children : grammar) sections.emplace_back(child.name);
  if (is_section) {
    find_inner(name, grammar, "", homes);
  } else {
    find_homes(name, grammar, "", place.path, homes);
  }

  std::string message, hint;
  if (is_section) {
    message = fmt::format("{}: unknown section", label_of(path_of(place.path, name), is_list));
  } else {
    message = fmt::format("{}{}{}: unknown key", place.label, place.spec ? " " : "", name);
  }
  auto known = is_section ? sections : keys;
  auto all = keys;
  all.insert(all.end(), sections.begin(), sections.end());
  if (const auto here = called_here(name, is_section ? sections : all);
      here && (!is_section || homes.empty())) {
    const bool becomes_section =
        !is_section && std::find(sections.begin(), sections.end(), *here) != sections.end();
    hint = fmt::format("it is called {} here{}", *here, becomes_section ? ", and is a section" : "");
    // [ipoib.ipv4] has the key itself, or what it stands for.
    if (becomes_section && here->starts_with("ipv"))
      hint = fmt::format(
          "it belongs to {}, as in {} = {{ addresses = [\"…\"] }} or {} = {{ method = \"auto\" }}", *here,
          *here, *here);
  } else if (is_section && !homes.empty()) {
    hint = fmt::format("{} is part of another entry: write {}", name, base::join(homes, ", or "));
  } else if (const auto near = base::nearest(name, known)) {
    message += fmt::format("; did you mean \"{}\"?", *near);
  } else if (const auto alike = sharing_words(name, known)) {
    message += fmt::format("; did you mean \"{}\"?", *alike);
  } else if (!homes.empty() && homes.size() <= kHomesNamed) {
    hint = fmt::format("{} belongs to {}", name, base::join(homes, ", "));
  } else {
    // A table may stand for a key, and a key for a table: the other names come second.
    const auto& others = is_section ? keys : sections;
    if (const auto other = base::nearest(name, others))
      message += fmt::format("; did you mean \"{}\"?", *other);
    known.insert(known.end(), others.begin(), others.end());
    hint = known.empty() ? "nothing is valid here" : fmt::format("valid here: {}", base::join(known, ", "));
  }
  report.wrong(is_section && node.origin == Node::Origin::kHeader ? node.at : node.key, std::move(message),
               std::move(hint));
}

void check_identity(const Node& table, const SectionSpec& spec, std::string_view label,
                    const Reporter& report) {
  using Set = std::vector<std::string_view>;
  if (spec.identities.empty() || report.partial) return;
  const auto is_there = [&](std::string_view key) { return table.members.contains(key); };
  const auto key_of = [&](std::string_view key) { return table.members.find(key)->second.key; };
  std::set<std::string_view> there;
  for (const auto& set : spec.identities)
    std::copy_if(set.begin(), set.end(), std::inserter(there, there.end()), is_there);
  if (there.empty()) {
    if (has_meant_identity(table, spec)) return;
    report.wrong(place_of(table), fmt::format("{}: no identifying key", label),
                 fmt::format("add {}", choices(spec)));
    return;
  }

  Set whole, partial, lacking;
  for (const auto& set : spec.identities) {
    Set missing;
    std::remove_copy_if(set.begin(), set.end(), std::back_inserter(missing), is_there);
    if (missing.empty() && set.size() == there.size()) {
      for (const auto& key : set) {
        const Node& node = table.members.find(key)->second;
        if (node.sort != Node::Sort::kTable || !node.members.empty()) continue;
        report.wrong(node.key, fmt::format("{} {}: is empty and identifies nothing", label, key),
                     fmt::format("write at least one key of {}", key));
      }
      return;
    }
    if (missing.empty() && set.size() > whole.size()) whole = set;
    // Of the sets begun, the one that lacks least is the one that was probably meant.
    if (missing.size() < set.size() && (partial.empty() || missing.size() < lacking.size())) {
      partial = set;
      lacking = std::move(missing);
    }
  }
  if (!whole.empty()) {
    const auto extra = *std::find_if(there.begin(), there.end(), [&](std::string_view key) {
      return std::find(whole.begin(), whole.end(), key) == whole.end();
    });
    report
        .wrong(key_of(extra),
               fmt::format("{} {}: conflicts with {}, which already identifies the entry", label, extra,
                           set_text(whole)),
               fmt::format("keep one: {}", choices(spec)))
        .related.push_back({location_of(report.text, key_of(whole.front())), "said here"});
    return;
  }
  if (has_meant_identity(table, spec)) return;
  const auto given = *std::find_if(partial.begin(), partial.end(), is_there);
  report.wrong(key_of(given), fmt::format("{} {}: needs {} beside it", label, given, set_text(lacking)),
               fmt::format("write {}", choices(spec)));
}

}  // namespace rdmacfg::config
