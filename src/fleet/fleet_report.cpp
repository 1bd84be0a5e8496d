// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <tuple>

#include "base/text.hpp"

namespace rdmacfg::fleet {

namespace {

struct FactText {
  const char* check;
  const char* about;  ///< {} is what is compared
};

constexpr std::array<FactText, 6> kFacts{{{"devices", "number of RDMA devices"},
                                          {"firmware", "firmware of {}"},
                                          {"port-state", "state of port {}"},
                                          {"rate", "rate of port {}"},
                                          {"interface-mode", "mode of {}"},
                                          {"interface-mtu", "MTU of {}"}}};

std::string message_of(const Difference& difference) {
  if (difference.status == "error")
    return difference.reason.empty() ? "the host did not report it" : difference.reason;
  const auto name = difference.label.empty() ? difference.kind : difference.label;
  if (difference.attribute == "missing") return fmt::format("{} {} is missing", difference.kind, name);
  if (difference.attribute.empty())
    return fmt::format("{} {}: {}", difference.kind, name,
                       difference.reason.empty() ? difference.status : difference.reason);
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

int rank_of(const FleetFinding& finding) {
  constexpr std::array<std::string_view, 7> kOrder{"error",  "failed",  "differs", "unmet",
                                                   "unlike", "limited", "pending"};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), finding.difference.status) -
                          kOrder.begin());
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
      out_.push_back(
          {difference.status == "error" ? "host" : "resource", message_of(difference), difference});
      auto& hosts = out_.back().difference.hosts;
      tidy(hosts);
      auto& said = said_[difference.label + '\n' + difference.attribute];
      said.insert(said.end(), hosts.begin(), hosts.end());
    }
    for (auto& [key, hosts] : said_) tidy(hosts);
  }

  std::vector<FleetFinding> sum_up() && {
    compare_facts();
    compare_tables();
    for (const auto& [text, hosts] : answers_.too_large())
      unlike("link-mtu", text, "", "", "", without(hosts, said_of(text.substr(0, text.find(' ')), "mtu")));
    merge();
    std::stable_sort(out_.begin(), out_.end(), [](const FleetFinding& a, const FleetFinding& b) {
      const auto more_a = a.difference.hosts.size(), more_b = b.difference.hosts.size();
      return std::tuple(rank_of(a), more_b, a.message) < std::tuple(rank_of(b), more_a, b.message);
    });
    return std::move(out_);
  }

 private:
  [[nodiscard]] const std::vector<HostId>& said_of(const std::string& label,
                                                   const std::string& attribute) const {
    static const std::vector<HostId> kNone;
    const auto at = said_.find(label + '\n' + attribute);
    return at == said_.end() ? kNone : at->second;
  }

  void unlike(const char* check, std::string message, std::string label, std::string now, std::string most,
              std::vector<HostId> hosts, std::vector<std::string> pkeys = {}) {
    if (hosts.empty()) return;
    Difference difference;
    difference.status = "unlike";
    difference.label = std::move(label);
    difference.now = std::move(now);
    difference.wanted = std::move(most);
    difference.hosts = std::move(hosts);
    out_.push_back({check, std::move(message), std::move(difference), std::move(pkeys)});
  }

  void compare_facts() {
    for (const auto& [key, shares] : answers_.facts()) {
      if (shares.agree() || !shares.clear()) continue;
      const auto& [fact, what] = key;
      const auto& text = kFacts.at(static_cast<std::size_t>(fact));
      const auto& most = shares.most();
      for (const auto& [value, hosts] : shares.hosts) {
        if (value == most) continue;
        auto others = hosts;
        tidy(others);
        if (fact == Fact::kInterfaceMtu) others = without(others, said_of(what, "mtu"));
        if (fact == Fact::kInterfaceMode) others = without(others, said_of(what, "mode"));
        unlike(text.check, text.about, what, value, most, std::move(others));
      }
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

  void compare_tables() {
    for (const auto& [port, table] : answers_.tables()) {
      // By membership, that of most hosts, and the hosts.
      std::map<std::tuple<std::string, std::string, std::vector<HostId>>, std::vector<std::uint16_t>> alike;
      for (const auto& [partition, members] : table.partitions) {
        if (members.full.size() == table.hosts.size() && members.limited.empty()) continue;
        const auto shares = members_of(table, members);
        if (shares.agree() || !shares.clear()) continue;
        // An interface that waits for its P_Key says the same.
        const auto waiting = answers_.waiting().find(partition);
        for (const auto& [value, hosts] : shares.hosts) {
          if (value == shares.most()) continue;
          alike[{value, shares.most(),
                 waiting == answers_.waiting().end() ? hosts : without(hosts, waiting->second)}]
              .push_back(partition);
        }
      }
      for (const auto& [how, partitions] : alike) {
        const auto& [value, most, hosts] = how;
        auto pkeys = ranges_of(partitions);
        auto message = "membership of {} in " + partitions_text(pkeys);
        unlike("pkey-table", std::move(message), port, value, most, hosts, std::move(pkeys));
      }
    }
  }

  /// Findings of the same hosts about several ports are one.
  void merge() {
    std::map<std::tuple<std::string, std::string, std::vector<std::string>, std::string, std::string,
                        std::vector<HostId>>,
             std::size_t>
        known;
    std::vector<FleetFinding> out;
    for (auto& finding : out_) {
      auto& about = finding.difference;
      if (about.status != "unlike" || about.now.empty()) {
        out.push_back(std::move(finding));
        continue;
      }
      const auto [at, fresh] = known.try_emplace(
          {finding.check, finding.message, finding.pkeys, about.now, about.wanted, about.hosts}, out.size());
      if (fresh) {
        out.push_back(std::move(finding));
      } else {
        out[at->second].difference.label += ", " + about.label;
      }
    }
    for (auto& finding : out) {
      const auto& about = finding.difference;
      if (about.status != "unlike" || about.now.empty()) continue;
      const auto at = finding.message.find("{}");
      if (at != std::string::npos) finding.message.replace(at, 2, about.label);
      finding.message += fmt::format(": {}, on most hosts {}", about.now, about.wanted);
    }
    out_ = std::move(out);
  }

  const HostAnswers& answers_;
  std::vector<FleetFinding> out_;
  std::map<std::string, std::vector<HostId>> said_;  ///< hosts by label and attribute
};

}  // namespace

std::vector<FleetFinding> sum_up(const HostAnswers& answers) { return Summary(answers).sum_up(); }

}  // namespace rdmacfg::fleet
