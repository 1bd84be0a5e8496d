// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "base/text.hpp"
#include "fleet/rules.hpp"

namespace rdmacfg::fleet {

namespace {

/// Duplicates of one line of the document; from this number on they are one finding.
constexpr std::size_t kApart = 20;

struct Duplicate {
  std::string text;  ///< what is there twice
  std::vector<HostId> hosts;
  std::vector<std::pair<SourcePosition, HostId>> spots;  ///< in the document, or in its table
};

/// One finding each; those of one line of the document together when they are many: a step that is missing
/// there gives all hosts one address.
void tell_duplicates(const Site& site, const char* rule, const char* what, const char* many,
                     const std::string& hint, std::map<SourcePosition, std::vector<Duplicate>>& by_line,
                     std::vector<Finding>& out) {
  for (auto& [line, list] : by_line) {
    if (list.size() >= kApart) {
      Finding finding{
          rule, model::Severity::kError,
          fmt::format("{} {} are given more than once, such as {}", list.size(), many, list.front().text),
          hint};
      for (auto& each : list) finding.hosts.insert(finding.hosts.end(), each.hosts.begin(), each.hosts.end());
      tidy(finding.hosts);
      add_place(finding, site.location(line), "");
      out.push_back(std::move(finding));
      continue;
    }
    for (auto& each : list) {
      tidy(each.hosts);
      Finding finding{rule, model::Severity::kError,
                      fmt::format("{} {} is given to {}", what, each.text, hosts_text(each.hosts.size())),
                      hint, each.hosts};
      for (const auto& [spot, host] : each.spots)
        add_place(finding, site.location(spot), "of host " + site.hosts[host]);
      out.push_back(std::move(finding));
    }
  }
}

/// Addresses that two hosts have; of two interfaces of one host the check of its document tells.
void check_addresses(const Site& site, std::vector<Finding>& out) {
  const auto host_of = [&](const Address* address) { return site.interfaces[address->interface].host; };
  std::vector<const Address*> all;
  all.reserve(site.addresses.size());
  for (const auto& address : site.addresses) {
    if (!address.prefix.address.link_local()) all.push_back(&address);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Address* a, const Address* b) { return a->prefix.address < b->prefix.address; });
  std::map<SourcePosition, std::vector<Duplicate>> by_line;
  for (std::size_t i = 0; i < all.size();) {
    auto end = i + 1;
    while (end < all.size() && all[end]->prefix.address == all[i]->prefix.address) ++end;
    const bool shared = std::any_of(
        all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(end),
        [&](const Address* address) { return host_of(address) != host_of(all[i]); });
    if (shared) {
      Duplicate duplicate{all[i]->prefix.address.text(), {}, {}};
      for (auto at = i; at < end; ++at) {
        const auto host = host_of(all[at]);
        duplicate.hosts.push_back(host);
        duplicate.spots.emplace_back(all[at]->from.line > 0 ? all[at]->from : all[at]->where, host);
      }
      by_line[all[i]->where].push_back(std::move(duplicate));
    }
    i = end;
  }
  tell_duplicates(site, "address", "address", "addresses", "give each interface a separate address", by_line,
                  out);
}

void check_guids(const Site& site, std::vector<Finding>& out) {
  std::vector<const OwnGuid*> all;
  for (const auto& guid : site.guids) {
    if (guid.number != 0) all.push_back(&guid);
  }
  const auto same = [](const OwnGuid* a, const OwnGuid* b) {
    return a->number == b->number && a->node == b->node;
  };
  std::stable_sort(all.begin(), all.end(), [](const OwnGuid* a, const OwnGuid* b) {
    return std::pair(a->number, a->node) < std::pair(b->number, b->node);
  });
  std::map<SourcePosition, std::vector<Duplicate>> by_line;
  for (std::size_t i = 0; i < all.size();) {
    auto end = i + 1;
    while (end < all.size() && same(all[end], all[i])) ++end;
    const bool shared = std::any_of(all.begin() + static_cast<std::ptrdiff_t>(i),
                                    all.begin() + static_cast<std::ptrdiff_t>(end),
                                    [&](const OwnGuid* fact) { return fact->host != all[i]->host; });
    if (shared) {
      Duplicate duplicate{model::Guid{all[i]->number}.text(), {}, {}};
      for (auto at = i; at < end; ++at) {
        duplicate.hosts.push_back(all[at]->host);
        duplicate.spots.emplace_back(all[at]->from.line > 0 ? all[at]->from : all[at]->where, all[at]->host);
      }
      by_line[all[i]->where].push_back(std::move(duplicate));
    }
    i = end;
  }
  tell_duplicates(site, "guid", "GUID", "GUIDs",
                  "look at the port with `rdma-configctl show` on one of the hosts", by_line, out);
}

/// An inventory may list hosts by their addresses, which is_host_name() takes for names.
bool is_dotted_address(std::string_view name) {
  const auto labels = base::split(name, '.');
  return labels.size() == 4 && std::all_of(labels.begin(), labels.end(), [](std::string_view label) {
           return !label.empty() && label.find_first_not_of("0123456789") == std::string_view::npos;
         });
}

void check_host_names(const Site& site, std::vector<Finding>& out) {
  std::unordered_map<std::string, std::vector<HostId>> by_name;
  Finding addresses{"host-name", model::Severity::kError, "",
                    "list hosts by name: values, [match] and tables refer to names"};
  for (HostId host = 0; host < site.hosts.size(); ++host) {
    if (is_dotted_address(site.hosts[host])) addresses.hosts.push_back(host);
  }
  if (!addresses.hosts.empty()) {
    addresses.message = fmt::format(
        "{} listed by address, such as {}",
        addresses.hosts.size() == 1 ? "1 host is" : fmt::format("{} hosts are", addresses.hosts.size()),
        site.hosts[addresses.hosts.front()]);
    out.push_back(addresses);
  }
  for (HostId host = 0; host < site.hosts.size(); ++host) {
    if (is_dotted_address(site.hosts[host])) continue;
    by_name[base::lower(site.hosts[host].substr(0, site.hosts[host].find('.')))].push_back(host);
  }
  std::map<std::string, std::vector<HostId>> shared;
  for (auto& [name, hosts] : by_name) {
    if (hosts.size() > 1) shared.emplace(name, std::move(hosts));
  }
  for (auto& [name, hosts] : shared) {
    // Racks with domains of their own may well use a name again; without a domain it is one host, listed
    // twice.
    const bool full = std::all_of(hosts.begin(), hosts.end(), [&](HostId host) {
      return site.hosts[host].find('.') != std::string::npos;
    });
    out.push_back(
        {"host-name", full ? model::Severity::kWarning : model::Severity::kError,
         fmt::format("{} are called {} without their domains", hosts_text(hosts.size()), name),
         full ? "{host} is the same on them, and their short name in a table or [match] matches all of them"
              : "tables and [match] may confuse them; rename one",
         hosts});
  }
}

void check_partition_names(const Site& site, std::vector<Finding>& out) {
  std::map<std::uint32_t, std::map<std::uint16_t, std::vector<const PartitionFact*>>> by_name;
  std::map<std::uint16_t, std::map<std::uint32_t, std::vector<const PartitionFact*>>> by_number;
  for (const auto& partition : site.partitions) {
    by_name[partition.name][partition.number].push_back(&partition);
    by_number[partition.number][partition.name].push_back(&partition);
  }
  const auto tell = [&](std::string message, const auto& groups) {
    Finding finding{"partition-name", model::Severity::kError, std::move(message),
                    "subnet managers of one fabric need the same partitions"};
    for (const auto& [key, list] : groups) {
      for (const auto* fact : list) {
        finding.hosts.push_back(fact->host);
        add_place(finding, site.location(fact->where),
                  fmt::format("{:#06x} {}", fact->number | 0x8000U, site.words.text(fact->name)));
      }
    }
    tidy(finding.hosts);
    out.push_back(std::move(finding));
  };
  for (const auto& [name, groups] : by_name) {
    if (groups.size() > 1)
      tell(fmt::format("{} partitions are called {}", groups.size(), site.words.text(name)), groups);
  }
  for (const auto& [number, groups] : by_number) {
    if (groups.size() > 1)
      tell(fmt::format("partition {:#06x} has {} names", number | 0x8000U, groups.size()), groups);
  }
}

}  // namespace

void check_duplicates(const Site& site, std::vector<Finding>& out) {
  check_host_names(site, out);
  check_addresses(site, out);
  check_guids(site, out);
  check_partition_names(site, out);
}

}  // namespace rdmacfg::fleet
