// SPDX-License-Identifier: Apache-2.0
// Texts of sites about their hosts, and answers of hosts: lists and patterns of hosts, tables of
// values, /etc/hosts, groupings, and collected JSON.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "config/guard.hpp"
#include "config/hosts/host_data.hpp"
#include "fakes/fleet_site.hpp"
#include "fleet/fleet_report.hpp"
#include "fleet/groups.hpp"
#include "fleet/host_list.hpp"
#include "target.hpp"

namespace rdmacfg::fuzz {
namespace {

constexpr std::size_t kMostHosts = 2000;

void check_places(const model::Diagnostics& diagnostics, const std::string& file) {
  for (const auto& diagnostic : diagnostics)
    require(!diagnostic.message.empty() && diagnostic.where.file == file,
            "a complaint says what is wrong and where");
}

/// A list of hosts stands for the names that its shortest spelling stands for.
void run_host_list(std::string_view bytes) {
  const auto list = fleet::parse_hosts({"list", std::string(bytes)}, kMostHosts);
  check_places(list.diagnostics, "list");
  require(list.names.size() <= kMostHosts, "a list is bounded");
  require(!list.names.empty() || !list.diagnostics.empty(), "an empty list is an error");
  for (const auto& name : list.names) require(fleet::is_host_name(name), "hosts have valid names");
  if (list.names.empty()) return;
  const auto folded = fleet::fold_hosts(list.names);
  const auto again = fleet::parse_hosts({"list", folded}, kMostHosts);
  require(again.diagnostics.empty(), "a folded list can be read");
  require(std::set(again.names.begin(), again.names.end()) == std::set(list.names.begin(), list.names.end()),
          "a folded list has the same hosts");
  (void)base::matches_host(bytes.substr(0, 64), list.names.front());
}

void run_host_table(std::string_view bytes) {
  const config::Text text{"nodes.csv", std::string(bytes)};
  model::Diagnostics wrong;
  const auto table = config::HostTable::parse(text, {}, wrong);
  check_places(wrong, "nodes.csv");
  require(table.broken() == !wrong.empty(), "a table that is broken says why");
  const auto hosts = table.hosts();
  for (const auto& host : hosts) {
    const auto* row = table.find(host);
    require(row != nullptr && row->cells.size() == table.columns().size(),
            "a host has a field for each column");
    if (table.broken()) continue;
    model::Diagnostics again;
    const auto own = config::HostTable::parse({"nodes.csv", config::rows_of_host(text, host, {})}, {}, again);
    require(again.empty() && own.find(host) != nullptr, "a host keeps its own line");
    if (&host - hosts.data() > 8) break;
  }
  (void)fleet::group_by_file(text, {"gpu1", "gpu002.example.net"});
}

void run_hosts_file(std::string_view bytes) {
  const auto file = config::HostsFile::parse({"/etc/hosts", std::string(bytes)});
  const auto lines = 1 + std::count(bytes.begin(), bytes.end(), '\n');
  for (const auto& [name, list] : file.by_name) {
    require(!name.empty() && name == base::lower(name), "names are in lower case");
    for (const auto& line : list)
      require(line.where.line >= 1 && line.where.line <= lines, "a name has its line");
  }
}

/// The first part is a pattern, the second one a TOML file.
void run_groups(std::string_view bytes) {
  const std::vector<std::string> hosts{"r1n01", "r1n02", "r12n03.example.net", "login"};
  const auto parts = parts_of(bytes);
  for (const auto& groups :
       {fleet::group_by_pattern(parts[0].substr(0, 48), hosts),
        fleet::group_by_file({"racks.toml", parts.size() > 1 ? parts[1] : parts[0]}, hosts)}) {
    require(groups.of_host.size() == hosts.size(), "every host has an answer");
    const bool all = std::none_of(groups.of_host.begin(), groups.of_host.end(),
                                  [](const std::string& group) { return group.empty(); });
    require(all || !groups.diagnostics.empty(), "a host without a group is told");
  }
}

/// The answers of hosts.
void run_answers(std::string_view bytes) {
  std::vector<std::string> hosts;
  const auto parts = parts_of(bytes);
  for (std::size_t at = 0; at < parts.size(); ++at) hosts.push_back("gpu" + std::to_string(at));
  fleet::HostAnswers answers(hosts);
  for (fleet::HostId host = 0; host < parts.size(); ++host) {
    if (const auto wrong = answers.add(host, {"x.json", parts[host]}))
      require(!wrong->message.empty() && wrong->where.line >= 1, "a complaint has a place");
  }
  // The last part is also taken for a fabric.
  if (const auto wrong = answers.add_fabric({"x.json", parts.back()}))
    require(!wrong->message.empty() && wrong->where.line >= 1, "a complaint has a place");
  for (const auto& finding : fleet::sum_up(answers)) {
    require(!finding.message.empty() && !finding.difference.hosts.empty(),
            "a finding says what, and who has it");
    require(std::is_sorted(finding.difference.hosts.begin(), finding.difference.hosts.end()),
            "hosts are sorted");
  }
}

}  // namespace

std::vector<Target> fleet_targets() {
  return {
      {"host-list",
       run_host_list,
       {"gpu[001-512,600],login1\n# a comment\nr[1-2]n[01-04]", "a[9-10],a010,a10"}},
      {"host-table",
       run_host_table,
       {"host,ib0,mtu\ngpu1,10.0.0.1/24,2044\n\"gpu2\",\"a \"\"b\"\"\",\n# x\n"}},
      {"hosts-file",
       run_hosts_file,
       {"127.0.0.1 localhost\n10.0.0.1\tgpu1-ib0 GPU1-ib # x\nfe80::1%eth0 a\n"}},
      {"groups", run_groups, {"{group}n*\n#---\nrack1 = \"r1n[01-02]\"\nrack2 = [\"r12n03\", \"login\"]\n"}},
      {"answers",
       run_answers,
       {fakes::diff_of_host(1, 0),
        fakes::diff_of_host(1, 1) + std::string(kSeparator) + fakes::diff_of_host(2),
        R"({"schema": "org.rdmaconfigd.show/1", "exit": {"status": 0, "name": "ok"}, "devices": [{"board_id": "b", "firmware": "1", "ports": [{"device": "m", "port": 1, "state": "ACTIVE", "rate": "r", "mtu_active": 2048, "pkeys": [{"pkey": "0xffff", "membership": "full"}]}]}], "interfaces": [{"name": "i", "device": "m", "port": 1, "mode": "datagram", "mtu": 4092}]})",
        fakes::show_of_host(1) + std::string(kSeparator) +
            R"({"schema": "org.rdmaconfigd.fabric/1", "nodes": [{"ports": [{"guid": "00:02:c9:03:00:00:00:01", "lid": 10}]}], "groups": [{"gid": "ff12:401b:ffff::ffff:ffff", "mtu": 1024, "rate_gbps": 800.0}]})"}}};
}

}  // namespace rdmacfg::fuzz
