// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "base/text.hpp"
#include "ctl/fleet/fleet_commands.hpp"
#include "ctl/fleet/fleet_folder.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_report.hpp"
#include "ctl/render/render_table.hpp"
#include "fabric/limits.hpp"
#include "fleet/fleet_report.hpp"
#include "fleet/groups.hpp"
#include "fleet/host_list.hpp"

namespace rdmacfg::ctl {

namespace {

using fleet::FleetFinding;
using fleet::HostId;
using Json = nlohmann::ordered_json;

constexpr std::size_t kErrorsShown = 50;

/// The hosts of a finding by their groups, those with the largest part first.
struct GroupShare {
  std::string group;
  std::vector<HostId> hosts;
  std::size_t all = 0;
};

std::vector<GroupShare> shares_of(const FleetFinding& finding, const std::vector<std::string>& groups,
                                  const std::map<std::string, std::size_t>& sizes) {
  std::map<std::string, std::vector<HostId>> by_group;
  for (const auto host : finding.difference.hosts) by_group[groups[host]].push_back(host);
  std::vector<GroupShare> out;
  for (auto& [group, hosts] : by_group) out.push_back({group, std::move(hosts), sizes.at(group)});
  std::stable_sort(out.begin(), out.end(), [](const GroupShare& a, const GroupShare& b) {
    return a.hosts.size() * b.all > b.hosts.size() * a.all;
  });
  return out;
}

struct FleetView {
  const fleet::HostAnswers& answers;
  std::vector<FleetFinding> findings;
  std::vector<std::string> groups;  ///< by host; empty without --by
  std::map<std::string, std::size_t> sizes;
};

Json fleet_json(const FleetView& view, const model::Report& report, int status) {
  auto out = head(kFleetReportSchema, "fleet report", report, status);
  const auto& hosts = view.answers.hosts();
  out["summary"] = {{"hosts", hosts.size()}, {"findings", view.findings.size()}};
  out["findings"] = Json::array();
  for (const auto& finding : view.findings) {
    const auto& about = finding.difference;
    Json groups = Json::array();
    if (!view.groups.empty()) {
      for (const auto& share : shares_of(finding, view.groups, view.sizes))
        groups.push_back({{"group", share.group.empty() ? Json(nullptr) : Json(share.group)},
                          {"hosts", fleet::fold_hosts(hosts, share.hosts)},
                          {"host_count", share.hosts.size()},
                          {"of", share.all}});
    }
    const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
    out["findings"].push_back({{"check", finding.check},
                               {"status", std::string(text_of(about.status))},
                               {"message", finding.message},
                               {"kind", or_null(about.kind)},
                               {"label", or_null(about.label)},
                               {"attribute", about.absent ? Json("missing") : or_null(about.attribute)},
                               {"now", or_null(about.now)},
                               {"wanted", or_null(about.wanted)},
                               {"pkeys", finding.pkeys},
                               {"varies", about.varies},
                               {"hosts", fleet::fold_hosts(hosts, about.hosts)},
                               {"host_count", about.hosts.size()},
                               {"groups", std::move(groups)}});
  }
  return out;
}

std::string hosts_cell(const FleetView& view, const std::vector<HostId>& hosts) {
  const auto& all = view.answers.hosts();
  if (hosts.size() == all.size() && all.size() > 1) return fmt::format("all {} hosts", all.size());
  auto out = fleet::fold_hosts(all, hosts);
  if (hosts.size() > 1) out += fmt::format(" ({})", hosts.size());
  return out;
}

void print_fleet(const Context& context, const FleetView& view) {
  Table table{{{""}, {"GROUP"}, {"HOSTS", 0, true}, {"FINDING", 0, true}}, {}};
  for (const auto& finding : view.findings) {
    const auto& about = finding.difference;
    const bool bad = about.status <= fleet::Difference::Status::kDiffers;
    auto text = finding.message;
    if (about.varies)
      text += fmt::format(" (on {}; others have other values)", view.answers.hosts()[about.hosts.front()]);
    const Cell word{std::string(text_of(about.status)), bad ? Style::kBad : Style::kNotice};
    if (view.groups.empty()) {
      table.rows.push_back({word, {""}, {hosts_cell(view, about.hosts), Style::kBold}, {text}});
      continue;
    }
    bool first = true;
    for (const auto& share : shares_of(finding, view.groups, view.sizes)) {
      const auto group = share.group.empty() ? std::string("-") : share.group;
      table.rows.push_back({first ? word : Cell{""},
                            {fmt::format("{} ({} of {})", group, share.hosts.size(), share.all)},
                            {fleet::fold_hosts(view.answers.hosts(), share.hosts), Style::kBold},
                            {first ? text : ""}});
      first = false;
    }
  }
  context.environment.out << render_table(table, context.out);
}

/// The groups of --by.
base::Result<fleet::Groups> groups_of(const Context& context, const std::vector<std::string>& hosts,
                                      std::vector<config::Text>& shown) {
  const auto& by = context.arguments.fleet.by;
  std::error_code error;
  if (!has_folder(by) && !std::filesystem::is_regular_file(by, error)) {
    shown.push_back({"--by", by});
    return fleet::group_by_pattern(by, hosts);
  }
  auto file = read_fleet_file(context, by);
  if (!file && file.error().sys_errno == ENOENT)
    return base::fail({file.error().code,
                       fmt::format("--by: {} does not exist; write the path of a file, or a pattern such as "
                                   "'{{group}}n*'",
                                   by),
                       ENOENT});
  if (!file) return base::fail(file.error().in("--by"));
  shown.push_back(std::move(*file));
  return fleet::group_by_file(shown.back(), hosts);
}

/// Leaves the hosts of --hosts only; those of them without a file have not answered.
base::Result<void> choose_hosts(const Context& context, FleetFolder& folder,
                                std::vector<config::Text>& shown) {
  auto list = list_of_hosts(context);
  if (!list) return base::fail(list.error().in("--hosts"));
  shown.push_back(std::move(*list));
  const auto wanted = fleet::parse_hosts(shown.back());
  std::map<std::string, std::vector<std::string>> chosen;
  std::map<std::string, std::string> others;  // of the folder, by the name without a domain
  const auto short_name = [](const std::string& name) { return name.substr(0, name.find('.')); };
  for (const auto& [lower, name] : folder.names) others.emplace(short_name(lower), name);
  for (const auto& host : wanted.names) {
    const auto known = folder.names.find(base::lower(host));
    auto& files = chosen[host];
    if (known == folder.names.end()) continue;
    files = std::move(folder.files.at(known->second));
    others.erase(short_name(known->first));
  }
  for (const auto& [host, files] : chosen) {
    const auto other = others.find(short_name(base::lower(host)));
    if (files.empty() && other != others.end()) folder.alike.emplace(host, other->second);
  }
  folder.files = std::move(chosen);
  folder.diagnostics.insert(folder.diagnostics.end(), wanted.diagnostics.begin(), wanted.diagnostics.end());
  return {};
}

/// Reads the files of all hosts. An empty one is what a shell leaves of a host that was not reached: with
/// thousands of hosts it says more in one finding than as an error of each file.
void read_answers(const Context& context, const FleetFolder& folder, fleet::HostAnswers& answers,
                  model::Diagnostics& diagnostics) {
  HostId host = 0;
  for (const auto& [name, files] : folder.files) {
    const auto other = folder.alike.find(name);
    if (files.empty())
      answers.add_silent(host, other == folder.alike.end()
                                   ? "no output from this host"
                                   : "no output from this host, but there is output from " + other->second);
    for (const auto& path : files) {
      const auto text = read_fleet_text(context, path);
      if (!text) {
        diagnostics.push_back({model::Severity::kError, {path, 0, 1, 1}, text.error().message, "", {}});
      } else if (base::trim(text->text).empty()) {
        answers.add_silent(host, "the output of the host is empty");
      } else if (auto wrong = answers.add(host, *text)) {
        diagnostics.push_back(std::move(*wrong));
      }
    }
    ++host;
  }
}

/// Reads what hosts said of their fabric, behind all answers of hosts.
void read_fabrics(const Context& context, const FleetFolder& folder, fleet::HostAnswers& answers,
                  model::Diagnostics& diagnostics) {
  for (const auto& path : folder.fabrics) {
    const auto text = read_fleet_text(context, path, fabric::limits::kFabricFileBytes);
    if (!text) {
      diagnostics.push_back({model::Severity::kError, {path, 0, 1, 1}, text.error().message, "", {}});
    } else if (auto wrong = answers.add_fabric(*text)) {
      diagnostics.push_back(std::move(*wrong));
    }
  }
}

}  // namespace

int report_fleet(const Context& context) {
  auto folder = fleet_files_in(context.arguments.words[1]);
  if (!folder) return refuse(context, folder.error());
  config::Document shown;
  if (context.arguments.fleet.hosts.empty()) {
    check_fleet_names(*folder, context.arguments.words[1]);
  } else if (auto done = choose_hosts(context, *folder, shown.files); !done) {
    return refuse(context, done.error());
  }
  std::vector<std::string> hosts;
  for (const auto& [host, files] : folder->files) hosts.push_back(host);
  fleet::HostAnswers answers(hosts);
  model::Report report;
  report.diagnostics = std::move(folder->diagnostics);
  read_answers(context, *folder, answers, report.diagnostics);
  read_fabrics(context, *folder, answers, report.diagnostics);
  FleetView view{answers, fleet::sum_up(answers), {}, {}};
  if (!context.arguments.fleet.by.empty()) {
    auto groups = groups_of(context, hosts, shown.files);
    if (!groups) return refuse(context, groups.error());
    view.groups = std::move(groups->of_host);
    for (const auto& group : view.groups) ++view.sizes[group];
    report.diagnostics.insert(report.diagnostics.end(), groups->diagnostics.begin(),
                              groups->diagnostics.end());
  }
  if (hosts.empty() && context.arguments.fleet.hosts.empty())
    report.diagnostics.push_back({model::Severity::kError,
                                  {context.arguments.words[1], 0, 1, 1},
                                  "contains no files of hosts",
                                  "collect HOST.show.json and HOST.diff.json there",
                                  {}});
  report.exit = model::has_errors(report.diagnostics) ? model::Exit::kError
                : view.findings.empty()               ? model::Exit::kOk
                                                      : model::Exit::kDiffers;
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, fleet_json(view, report, status));
    return status;
  }
  const auto errors = report.diagnostics.size();
  if (errors > kErrorsShown) report.diagnostics.resize(kErrorsShown);
  tell(context, shown, report.diagnostics);
  if (errors > kErrorsShown)
    context.say_error(fmt::format("{} more errors are not shown", errors - kErrorsShown));
  print_fleet(context, view);
  context.say(fmt::format("{}: {}", fleet::hosts_text(hosts.size()), count(view.findings.size(), "finding")));
  return status;
}

}  // namespace rdmacfg::ctl
