// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ctl/fleet/fleet_commands.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_report.hpp"
#include "ctl/render/render_table.hpp"
#include "fleet/host_list.hpp"
#include "fleet/site_check.hpp"

namespace rdmacfg::ctl {

namespace {

using fleet::Finding;
using fleet::SiteReport;
using Json = nlohmann::ordered_json;

std::size_t errors_in(const SiteReport& site) {
  return static_cast<std::size_t>(
      std::count_if(site.findings.begin(), site.findings.end(),
                    [](const Finding& finding) { return finding.severity == model::Severity::kError; }));
}

Json site_json(const SiteReport& site, const model::Report& report, std::size_t files, int status) {
  auto out = head(kFleetValidationSchema, "fleet validate", report, status);
  const auto errors = errors_in(site);
  out["summary"] = {{"hosts", site.hosts.size()},
                    {"files", files},
                    {"findings", site.findings.size()},
                    {"errors", errors},
                    {"warnings", site.findings.size() - errors},
                    {"compared", site.compared}};
  out["rules"] = Json::array();
  for (const auto& rule : fleet::rules())
    out["rules"].push_back({{"rule", rule.name}, {"about", rule.about}});
  out["findings"] = Json::array();
  for (const auto& finding : site.findings) {
    Json places = Json::array();
    for (const auto& place : finding.places)
      places.push_back({{"where", location_json(place.where)}, {"note", place.note}});
    out["findings"].push_back(
        {{"rule", finding.rule},
         {"severity", finding.severity == model::Severity::kError ? "error" : "warning"},
         {"message", finding.message},
         {"hint", finding.hint},
         {"hosts", fleet::fold_hosts(site.hosts, finding.hosts)},
         {"host_count", finding.hosts.size()},
         {"places", std::move(places)}});
  }
  return out;
}

/// A finding without a line of the document has those of its hosts in the list.
void add_places_of_hosts(const config::Text& list, const std::vector<fleet::ListItem>& items,
                         SiteReport& site) {
  for (auto& finding : site.findings) {
    if (!finding.places.empty()) continue;
    const fleet::ListItem* last = nullptr;  // a range gives many hosts, and has one place
    for (const auto host : finding.hosts) {
      if (finding.places.size() == fleet::kPlaces) break;
      const auto& item = items.at(host);
      if (last == nullptr || item.at != last->at)
        fleet::add_place(finding, fleet::location_in(list, item), "");
      last = &item;
    }
  }
}

void print_site(const Context& context, const SiteReport& site) {
  Table table{{{""}, {"RULE", 1}, {"HOSTS", 0, true}, {"FINDING", 0, true}, {"PLACE", 2}}, {}};
  for (const auto& finding : site.findings) {
    const bool error = finding.severity == model::Severity::kError;
    auto hosts = fleet::fold_hosts(site.hosts, finding.hosts);
    if (finding.hosts.size() > 1) hosts += fmt::format(" ({})", finding.hosts.size());
    if (finding.hosts.size() == site.hosts.size() && site.hosts.size() > 1)
      hosts = fmt::format("all {} hosts", site.hosts.size());
    auto text = finding.message;
    if (!finding.hint.empty()) text += fmt::format(" ({})", finding.hint);
    table.rows.push_back({{error ? "error" : "warning", error ? Style::kBad : Style::kNotice},
                          {finding.rule, Style::kDim},
                          {hosts, Style::kBold},
                          {text},
                          {finding.places.empty() ? "" : finding.places.front().where.text()}});
    for (std::size_t at = 1; context.arguments.verbose && at < finding.places.size(); ++at) {
      const auto& place = finding.places[at];
      table.rows.push_back({{""}, {""}, {""}, {place.note, Style::kDim}, {place.where.text()}});
    }
  }
  context.environment.out << render_table(table, context.out);
}

}  // namespace

int validate_fleet(const Context& context) {
  const auto list = list_of_hosts(context);
  if (!list) return refuse(context, list.error().in("--hosts"));
  auto hosts = fleet::parse_hosts(*list);
  auto texts = load_texts(context, ValueTables::kWhole);
  if (!texts) return refuse(context, texts.error());
  const auto files = texts->size();
  auto site = fleet::check_site(std::move(*texts), std::move(hosts.names));
  // These may be about hosts of an item that could not be read.
  if (!hosts.complete)
    std::erase_if(site.findings, [](const Finding& finding) {
      return finding.rule == "unknown-host" || finding.rule == "sm-none";
    });
  add_places_of_hosts(*list, hosts.items, site);
  model::Report report;
  report.diagnostics = std::move(hosts.diagnostics);
  const auto errors = errors_in(site) + report.diagnostics.size();  // a list of hosts has errors only
  const auto warnings = site.findings.size() - errors_in(site);
  const bool wrong = errors > 0;
  report.exit = wrong ? model::Exit::kError : model::Exit::kOk;
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, site_json(site, report, files, status));
    return status;
  }
  config::Document shown;
  shown.files.push_back(*list);
  tell(context, shown, report.diagnostics);
  print_site(context, site);
  if (!site.compared)
    context.say_error("a file could not be read completely, so the hosts are not compared with each other");
  const auto about = fmt::format("{} in {}", fleet::hosts_text(site.hosts.size()), count(files, "file"));
  if (wrong || !site.findings.empty()) {
    context.say(fmt::format("{}: {}, {}", about, count(errors, "error"), count(warnings, "warning")));
  } else if (!context.arguments.quiet) {
    context.environment.out << "Valid: " << about << ".\n";
  }
  return status;
}

}  // namespace rdmacfg::ctl
