// SPDX-License-Identifier: Apache-2.0
// How `fleet validate` and `fleet report` grow with the hosts of a site: tests/bench/fleet runs it.
//   fleet_bench validate|report HOSTS
// Prints the time, the processor time, the most memory and the findings of one run. The JSON of `report` is
// made beforehand, host by host, and its time is not counted.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "fakes/fleet_site.hpp"
#include "fleet/fleet_report.hpp"
#include "fleet/host_list.hpp"
#include "fleet/site_check.hpp"

namespace rdmacfg::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Time {
  double wall = 0, processor = 0;

  template <class Stage>
  auto measure(Stage stage) {
    const auto start = Clock::now();
    const auto clock = std::clock();
    auto out = stage();
    processor += static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC;
    wall += std::chrono::duration<double>(Clock::now() - start).count();
    return out;
  }
};

void print(const char* what, int hosts, const Time& time, std::size_t findings) {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:<9} {:>6} hosts: {:6.2f} s, processor {:6.2f} s, {:4} MB, {} findings\n", what, hosts,
             time.wall, time.processor, usage.ru_maxrss / 1024, findings);
}

/// Whether each mistake of the site is one finding, and nothing else is.
bool validate(int hosts) {
  auto site = fakes::fleet_site(hosts, fakes::Mistakes::kForty);
  Time time;
  fleet::HostList list;
  const auto report = time.measure([&] {
    list = fleet::parse_hosts({"--hosts", site.hosts});
    return fleet::check_site(std::move(site.texts), std::move(list.names));
  });
  print("validate", hosts, time, report.findings.size());
  std::multiset<std::pair<std::string, std::string>> missed(site.mistakes.begin(), site.mistakes.end());
  std::size_t others = 0;
  const auto found = [&](const std::string& rule, const std::string& who) {
    const auto at = missed.find({rule, who});
    if (at != missed.end()) {
      missed.erase(at);
    } else {
      ++others;
    }
  };
  for (const auto& finding : report.findings)
    found(finding.rule, fleet::fold_hosts(report.hosts, finding.hosts));
  for (const auto& diagnostic : list.diagnostics)  // "host gpu00007 is listed twice"
    found("list", std::string(base::split(diagnostic.message, ' ').at(1)));
  fmt::print("          {} of {} mistakes found, {} other findings\n", site.mistakes.size() - missed.size(),
             site.mistakes.size(), others);
  return missed.empty() && others == 0;
}

void report(int hosts) {
  std::vector<std::string> names;
  for (int number = 1; number <= hosts; ++number) names.push_back(fmt::format("gpu{:05}", number));
  fleet::HostAnswers answers(std::move(names));
  Time time;
  std::size_t bytes = 0;
  for (int number = 1; number <= hosts; ++number) {
    const int drift = number % 100 < 5 ? number % 100 : -1;
    for (const auto& text : {fakes::show_of_host(number, drift), fakes::diff_of_host(number, drift)}) {
      bytes += text.size();
      time.measure([&] { return answers.add(static_cast<fleet::HostId>(number - 1), {"x.json", text}); });
    }
  }
  const auto findings = time.measure([&] { return fleet::sum_up(answers); });
  print("report", hosts, time, findings.size());
  fmt::print("          {} MB of JSON\n", bytes >> 20U);
}

}  // namespace
}  // namespace rdmacfg::bench

int main(int argc, char** argv) {
  const int hosts = argc == 3 ? std::atoi(argv[2]) : 0;
  if (hosts < 200) {
    std::fputs("usage: fleet_bench validate|report HOSTS (from 200)\n", stderr);
    return 2;
  }
  if (std::string_view(argv[1]) == "validate") {
    return rdmacfg::bench::validate(hosts) ? 0 : 1;
  }
  rdmacfg::bench::report(hosts);
  return 0;
}
