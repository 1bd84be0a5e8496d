// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "base/text.hpp"
#include "fabric/fabric.hpp"
#include "fleet/granted.hpp"
#include "model/types.hpp"

namespace rdmacfg::fleet {

namespace {

/// The text of a finding before and after the names of its ports or interfaces.
struct Wording {
  std::string before;
  std::string after{};
  auto operator<=>(const Wording&) const = default;
};

struct FactText {
  const char* check;
  const char* before;  ///< the name of what is compared
};

constexpr std::array<FactText, 7> kFacts{{{"devices", "number of RDMA devices"},
                                          {"firmware", "firmware of "},
                                          {"port-state", "state of port "},
                                          {"rate", "rate of port "},
                                          {"interface-mode", "mode of "},
                                          {"interface-mtu", "MTU of "},
                                          {"port-mtu", "active MTU of port "}}};

std::string message_of(const Difference& difference) {
  if (difference.status == Difference::Status::kError)
    return difference.reason.empty() ? "the host did not report it" : difference.reason;
  const auto name = difference.label.empty() ? difference.kind : difference.label;
  if (difference.absent) return fmt::format("{} {} is missing", difference.kind, name);
  if (difference.attribute.empty())
    return fmt::format(
        "{} {}: {}", difference.kind, name,
        difference.reason.empty() ? std::string(text_of(difference.status)) : difference.reason);
  auto out = fmt::format("{} {}: {} is {}, must be {}", difference.kind, name, difference.attribute,
                         difference.now.empty() ? "unknown" : difference.now, difference.wanted);
  if (!difference.reason.empty()) out += fmt::format(" ({})", difference.reason);
  return out;
}

/// P_Keys as people write a list of them: three or more in a row are a range.
std::vector<std::string> ranges_of(const std::vector<std::uint16_t>& partitions) {
  const auto text = [](std::uint16_t partition) { return fmt::format("{:#06x}", partition | 0x8000U); };
  std::vector<std::string> out;
  for (std::size_t first = 0, last = 0; first < partitions.size(); first = ++last) {
    while (last + 1 < partitions.size() && partitions[last + 1] == partitions[last] + 1) ++last;
    if (last == first + 1) last = first;
    out.push_back(text(partitions[first]));
    if (last > first) out.back() += '-' + text(partitions[last]);
  }
  return out;
}

/// "partition 0x8002", "partitions 0x8001-0x8040, 0x8050"; a long list is cut.
std::string partitions_text(const std::vector<std::string>& ranges) {
  constexpr std::size_t kShown = 8;
  const bool single = ranges.size() == 1 && ranges.front().find('-') == std::string::npos;
  const auto shown = std::min(ranges.size(), kShown);
  auto out =
      std::string(single ? "partition " : "partitions ") + base::join(std::span(ranges.data(), shown), ", ");
  if (ranges.size() > shown) out += fmt::format(" and {} more", ranges.size() - shown);
  return out;
}

/// The end of a message: how it is, and how it is to be.
std::string comparison_of(const std::string& check, const Difference& about) {
  if (check == "pkey-rule")
    return fmt::format(": {}, must be {} by the rule of its subnet manager", about.now, about.wanted);
  if (check == "group-mtu")
    return fmt::format(": {}, must be at most {} by its multicast group", about.now, about.wanted);
  if (check == "group-rate" || check == "group-link-mtu")
    return fmt::format(": {}, must be at least {} to join its multicast group", about.now, about.wanted);
  return fmt::format(": {}, on most hosts {}", about.now, about.wanted);
}

/// Hosts of `list` that are not in `other`; both are sorted.
std::vector<HostId> without(const std::vector<HostId>& list, const std::vector<HostId>& other) {
  std::vector<HostId> out;
  std::set_difference(list.begin(), list.end(), other.begin(), other.end(), std::back_inserter(out));
  return out;
}

class Summary {
 public:
  explicit Summary(const HostAnswers& answers) : answers_(answers) {
    for (const auto& difference : answers.differences()) {
      findings_.push_back({difference.status == Difference::Status::kError ? "host" : "resource",
                           message_of(difference), difference});
      auto& hosts = findings_.back().difference.hosts;
      tidy(hosts);
      auto& said = said_[difference.label + '\n' + difference.attribute];
      said.insert(said.end(), hosts.begin(), hosts.end());
    }
    for (auto& [key, hosts] : said_) tidy(hosts);
  }

  std::vector<FleetFinding> sum_up() && {
    compare_facts();
    compare_tables();
    compare_groups();
    for (const auto& [excess, hosts] : answers_.too_large()) add_excess(excess, hosts);
    merge();
    std::stable_sort(findings_.begin(), findings_.end(), [](const FleetFinding& a, const FleetFinding& b) {
      const auto more_a = a.difference.hosts.size(), more_b = b.difference.hosts.size();
      return std::tuple(a.difference.status, more_b, a.message) <
             std::tuple(b.difference.status, more_a, b.message);
    });
    return std::move(findings_);
  }

 private:
  [[nodiscard]] const std::vector<HostId>& said_of(const std::string& label,
                                                   const std::string& attribute) const {
    static const std::vector<HostId> kNone;
    const auto at = said_.find(label + '\n' + attribute);
    return at == said_.end() ? kNone : at->second;
  }

  /// A comparison with other hosts; merge() completes the message of `finding`.
  struct Comparison {
    Wording wording;
    FleetFinding finding;
  };

  void add_excess(const ExcessMtu& excess, const std::vector<HostId>& hosts) {
    Difference difference;
    difference.status = Difference::Status::kUnlike;
    difference.hosts = without(hosts, said_of(excess.interface, "mtu"));
    if (difference.hosts.empty()) return;
    auto message =
        fmt::format("{} has MTU {}, but its link carries {}", excess.interface, excess.mtu, excess.carried);
    findings_.push_back({"link-mtu", std::move(message), std::move(difference)});
  }

  void unlike(const char* check, Wording wording, std::string label, std::string now, std::string most,
              std::vector<HostId> hosts, std::vector<std::string> pkeys = {}) {
    if (hosts.empty()) return;
    Difference difference;
    difference.status = Difference::Status::kUnlike;
    difference.label = std::move(label);
    difference.now = std::move(now);
    difference.wanted = std::move(most);
    difference.hosts = std::move(hosts);
    comparisons_.push_back({std::move(wording), {check, "", std::move(difference), std::move(pkeys)}});
  }

  void compare_facts() {
    for (const auto& [key, shares] : answers_.facts()) {
      const auto& [fact, what] = key;
      if (shares.clear()) {
        compare_fact(fact, what, {kFacts.at(static_cast<std::size_t>(fact)).before}, shares);
      } else if (fact == Fact::kRate) {
        compare_rates_by_board(what);
      }
    }
  }

  /// Hosts of several sorts: those with one sort of adapter are alike.
  void compare_rates_by_board(const std::string& port) {
    const auto& rates = answers_.rates_by_board();
    for (auto at = rates.lower_bound({port, ""}); at != rates.end() && at->first.first == port; ++at) {
      if (at->second.clear())
        compare_fact(Fact::kRate, port, {"rate of port ", " of " + at->first.second}, at->second);
    }
  }

  void compare_fact(Fact fact, const std::string& what, const Wording& wording,
                    const Shares<std::string>& shares) {
    const auto& most = shares.most();
    for (const auto& [value, hosts] : shares.hosts) {
      if (value == most) continue;
      auto others = hosts;
      tidy(others);
      if (fact == Fact::kInterfaceMtu) others = without(others, said_of(what, "mtu"));
      if (fact == Fact::kInterfaceMode) others = without(others, said_of(what, "mode"));
      unlike(kFacts.at(static_cast<std::size_t>(fact)).check, wording, what, value, most, std::move(others));
    }
  }

  /// Hosts by their membership of a partition: full, limited, missing.
  [[nodiscard]] static Shares<std::string> members_of(const PortTables& table,
                                                      const PortTables::Members& members) {
    std::vector<HostId> known;
    std::set_union(members.full.begin(), members.full.end(), members.limited.begin(), members.limited.end(),
                   std::back_inserter(known));
    Shares<std::string> out;
    const auto put = [&](const char* membership, std::vector<HostId> hosts) {
      if (!hosts.empty()) out.hosts[membership] = std::move(hosts);
    };
    put("full", members.full);
    put("limited", without(members.limited, members.full));
    put("missing", without(table.hosts, known));
    return out;
  }

  /// Hosts whose port has another membership than the rule of its subnet manager gives, by both; and all
  /// hosts whose rule is known.
  struct AgainstRule {
    std::map<std::pair<std::string, std::string>, std::vector<HostId>> wrong;
    std::vector<HostId> known;
  };

  [[nodiscard]] static AgainstRule compare_with_rule(const GrantedMembership& granted,
                                                     const PortTables& table, std::uint16_t partition,
                                                     const PortTables::Members& members) {
    using Level = GrantedMembership::Level;
    const auto text = [](Level level, const char* none) {
      return level == Level::kFull ? "full" : level == Level::kLimited ? "limited" : none;
    };
    AgainstRule out;
    for (const auto& port : table.ports) {
      const auto bounds = granted.of(port, partition);
      if (!bounds) continue;
      const auto is_in = [&](const std::vector<HostId>& list) {
        return std::binary_search(list.begin(), list.end(), port.host);
      };
      const auto now = is_in(members.full)      ? Level::kFull
                       : is_in(members.limited) ? Level::kLimited
                                                : Level::kNone;
      out.known.push_back(port.host);
      if (now >= bounds->least && now <= bounds->most) continue;
      const auto wanted = now < bounds->least ? bounds->least : bounds->most;
      out.wrong[{text(now, "missing"), text(wanted, "none")}].push_back(port.host);
    }
    tidy(out.known);
    for (auto& [how, hosts] : out.wrong) tidy(hosts);
    return out;
  }

  /// Which check, the membership, that which is right, and the hosts.
  using TableFinding = std::tuple<std::string, std::string, std::string, std::vector<HostId>>;

  /// Against the rules of [[partition]] where these are known, else against most hosts.
  void compare_table(const GrantedMembership& granted, const PortTables& table, std::uint16_t partition,
                     std::map<TableFinding, std::vector<std::uint16_t>>& out) const {
    static const PortTables::Members kNobody;
    const auto seen = table.partitions.find(partition);
    const auto& members = seen == table.partitions.end() ? kNobody : seen->second;
    // An interface that waits for its P_Key says the same.
    const auto waiting = answers_.waiting().find(partition);
    const auto others = [&](const std::vector<HostId>& hosts) {
      return waiting == answers_.waiting().end() ? hosts : without(hosts, waiting->second);
    };
    std::vector<HostId> known;
    if (granted.partitions().contains(partition)) {
      auto against = compare_with_rule(granted, table, partition, members);
      for (const auto& [how, hosts] : against.wrong)
        out[{"pkey-rule", how.first, how.second, others(hosts)}].push_back(partition);
      known = std::move(against.known);
    }
    if (members.full.size() == table.hosts.size() && members.limited.empty()) return;
    const auto shares = members_of(table, members);
    if (shares.agree() || !shares.clear()) return;
    for (const auto& [value, hosts] : shares.hosts) {
      if (value != shares.most())
        out[{"pkey-table", value, shares.most(), others(without(hosts, known))}].push_back(partition);
    }
  }

  void compare_tables() {
    const GrantedMembership granted(answers_);
    for (const auto& [port, table] : answers_.tables()) {
      auto partitions = granted.partitions();
      for (const auto& [partition, members] : table.partitions) partitions.insert(partition);
      std::map<TableFinding, std::vector<std::uint16_t>> alike;
      for (const auto partition : partitions) compare_table(granted, table, partition, alike);
      for (const auto& [how, found] : alike) {
        const auto& [check, value, wanted, hosts] = how;
        auto pkeys = ranges_of(found);
        Wording wording{"membership of ", " in " + partitions_text(pkeys)};
        unlike(check.c_str(), std::move(wording), port, value, wanted, hosts, std::move(pkeys));
      }
    }
  }

  /// The check, what is before the name, and the name, of an interface or a port; how it is, and how it is
  /// to be.
  using GroupFinding = std::tuple<std::string, std::string, std::string, std::string, std::string>;

  /// Interfaces and ports that do not fit the multicast groups of their fabric, by partition. OpenSM lets no
  /// port join whose MTU or rate is less (validate_port_caps() in osm_sa_mcmember_record.c).
  [[nodiscard]] std::map<GroupFinding, std::map<std::uint16_t, std::vector<HostId>>> against_groups() const {
    std::map<GroupFinding, std::map<std::uint16_t, std::vector<HostId>>> out;
    for (const auto& member : answers_.group_members()) {
      const auto put = [&](const char* check, const char* before, const std::string& place, std::string now,
                           std::string wanted) {
        out[{check, before, place, std::move(now), std::move(wanted)}][member.partition].push_back(
            member.host);
      };
      const auto most = member.most_mtu - model::kIpoibHeader;
      if (member.most_mtu > 0 && member.mtu > most)
        put("group-mtu", "MTU of ", member.interface, std::to_string(member.mtu), std::to_string(most));
      if (member.link_mtu > 0 && member.link_mtu < member.least_mtu)
        put("group-link-mtu", "active MTU of port ", member.port, std::to_string(member.link_mtu),
            std::to_string(member.least_mtu));
      if (member.rate > 0 && member.rate < member.least_rate)
        put("group-rate", "rate of port ", member.port, fabric::rate_text(member.rate),
            fabric::rate_text(member.least_rate));
    }
    return out;
  }

  void compare_groups() {
    for (const auto& [how, by_partition] : against_groups()) {
      const auto& [check, before, place, now, wanted] = how;
      const bool is_interface = check == "group-mtu";
      std::map<std::vector<HostId>, std::vector<std::uint16_t>> alike;
      for (const auto& [partition, found] : by_partition) {
        auto hosts = found;
        tidy(hosts);
        if (is_interface) hosts = without(hosts, said_of(place, "mtu"));
        alike[std::move(hosts)].push_back(partition);
      }
      for (const auto& [hosts, partitions] : alike) {
        auto pkeys = ranges_of(partitions);
        Wording wording{before, " in " + partitions_text(pkeys)};
        unlike(check.c_str(), std::move(wording), place, now, wanted, hosts, std::move(pkeys));
      }
    }
  }

  /// Comparisons of the same hosts about several ports are one finding.
  void merge() {
    std::map<std::tuple<std::string, Wording, std::vector<std::string>, std::string, std::string,
                        std::vector<HostId>>,
             std::size_t>
        known;
    std::vector<Comparison> merged;
    for (auto& comparison : comparisons_) {
      const auto& [wording, finding] = comparison;
      const auto& about = finding.difference;
      const auto [at, fresh] = known.try_emplace(
          {finding.check, wording, finding.pkeys, about.now, about.wanted, about.hosts}, merged.size());
      if (fresh) {
        merged.push_back(std::move(comparison));
      } else {
        merged[at->second].finding.difference.label += ", " + about.label;
      }
    }
    for (auto& [wording, finding] : merged) {
      const auto& about = finding.difference;
      finding.message = wording.before + about.label + wording.after + comparison_of(finding.check, about);
      findings_.push_back(std::move(finding));
    }
  }

  const HostAnswers& answers_;
  std::vector<FleetFinding> findings_;
  std::vector<Comparison> comparisons_;
  std::map<std::string, std::vector<HostId>> said_;  ///< hosts by label and attribute
};

}  // namespace

std::vector<FleetFinding> sum_up(const HostAnswers& answers) { return Summary(answers).sum_up(); }

}  // namespace rdmacfg::fleet
