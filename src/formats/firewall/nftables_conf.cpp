// SPDX-License-Identifier: Apache-2.0
#include "formats/firewall/nftables_conf.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

bool nft_has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Statements without comments. They point into `text`.
std::vector<std::string_view> nft_statements(std::string_view text) {
  std::vector<std::string_view> out;
  for (const auto line : base::split(text, '\n')) {
    for (const auto part : base::split(line.substr(0, line.find('#')), ';')) {
      if (const auto statement = base::trim(part); !statement.empty()) out.push_back(statement);
    }
  }
  return out;
}

/// Whether a statement has the port as a number, also within a range. Names of services(5) are not resolved:
/// those of RDMA count.
bool nft_names_port(std::string_view statement, const FirewallPort& port) {
  for (const std::string_view name : {"rdma", "roce", "nvme"}) {
    if (nft_has(statement, name)) return true;
  }
  constexpr std::string_view kNumber = "0123456789-";
  for (auto at = statement.find_first_of(kNumber); at != std::string_view::npos;
       at = statement.find_first_of(kNumber, at)) {
    const auto end = std::min(statement.find_first_not_of(kNumber, at), statement.size());
    if (port.in(statement.substr(at, end - at))) return true;
    at = end;
  }
  return false;
}

/// Whether a statement accepts packets that have nothing to do with the port: answers, ICMP, the loopback
/// interface, other ports by their numbers.
bool accepts_others_only(std::string_view statement) {
  constexpr std::array<std::string_view, 11> kNarrow{
      "ct state",   "ct status",  "icmp",           "igmp", "sport", "iif lo",
      "iifname lo", "iif \"lo\"", "iifname \"lo\"", "oif",  "policy"};
  if (nft_has(statement, "ct state") && nft_has(statement, "new")) return nft_has(statement, "dport");
  if (nft_has(statement, "dport"))
    return !nft_has(statement, "@") && !nft_has(statement, "$") && !nft_has(statement, "!=");
  return std::any_of(kNarrow.begin(), kNarrow.end(),
                     [&](std::string_view word) { return nft_has(statement, word); });
}

}  // namespace

bool nftables_refuses(std::string_view text, const FirewallPort& port) {
  bool for_ip = false, for_input = false, drops = false;
  for (const auto statement : nft_statements(text)) {
    if (statement.starts_with("include") || nft_names_port(statement, port)) return false;
    if (nft_has(statement, "accept") && !accepts_others_only(statement)) return false;
    // A table of IPv6, ARP or bridges alone may leave IPv4 open.
    if (nft_has(statement, "table ")) for_ip = nft_has(statement, "inet ") || nft_has(statement, "table ip ");
    if (nft_has(statement, "hook ")) for_input = for_ip && nft_has(statement, "hook input");
    if (for_input && statement.starts_with("policy drop")) drops = true;
  }
  return drops;
}

}  // namespace rdmacfg::kinds
