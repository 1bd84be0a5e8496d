// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "base/text.hpp"
#include "ctl/fleet/fleet_commands.hpp"
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
namespace fs = std::filesystem;

constexpr std::size_t kErrorsShown = 50;
constexpr const char* kFabricFile = "fabric.json";

/// Files by the host that they are of.
struct FleetFolder {
  std::map<std::string, std::vector<std::string>> files;
  std::map<std::string, std::string> names;  ///< of these hosts, by the name in lower case (RFC 4343)
  std::map<std::string, std::string> alike;  ///< of hosts without files: one with them, but for the domain
  std::vector<std::string> fabrics;          ///< files with the output of fabric, of whatever host
  model::Diagnostics diagnostics;
};

void wrong_file(FleetFolder& out, const std::string& path, std::string message, std::string hint) {
  out.diagnostics.push_back(
      {model::Severity::kError, {path, 0, 1, 1}, std::move(message), std::move(hint), {}});
}

/// A host's output is there once, in a file of its name or in its folder.
void add_file(FleetFolder& out, const std::string& host, const fs::path& path, std::string_view sort) {
  auto& files = out.files[out.names.try_emplace(base::lower(host), host).first->second];
  const auto other =
      std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.ends_with(sort); });
  if (other == files.end()) {
    files.push_back(path.string());
  } else {
    wrong_file(out, path.string(),
               fmt::format("{} also belongs to host {} and is used instead of this file", *other, host),
               "remove one of the two");
  }
}

void unreadable(FleetFolder& out, const fs::path& path, const std::error_code& error) {
  wrong_file(out, path.string(), error.message(), "it may belong to a host: make it readable, or remove it");
}

/// A file below `path` that has the name of a host's output, such as HOST/tmp/show.json or
/// RACK/HOST.show.json: tools that collect files keep folders. Empty: none.
std::string misplaced_answer(const fs::path& path) {
  constexpr std::size_t kMostEntries = 1000;
  std::string out;
  std::size_t entries = 0;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
       !error && at != fs::recursive_directory_iterator() && entries < kMostEntries; at.increment(error)) {
    ++entries;
    const auto name = "." + at->path().filename().string();
    const bool is_answer = name.ends_with(".show.json") || name.ends_with(".diff.json");
    if (is_answer && (out.empty() || at->path().string() < out)) out = at->path().string();
  }
  return out;
}

/// Whether a name is that of a packed file or of an archive, which may have the output of hosts.
bool is_packed(const std::string& name) {
  constexpr std::array<std::string_view, 10> kEndings{".gz",  ".bz2", ".xz",  ".zst", ".lz4",
                                                      ".tar", ".tgz", ".zip", ".7z",  ".cpio"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const auto ending) { return base::lower(name).ends_with(ending); });
}

void packed_file(FleetFolder& out, const fs::path& path) {
  wrong_file(out, path.string(), "is packed and was not read", "unpack it there, or remove it");
}

/// HOST/diff.json.gz without HOST/diff.json; where both are there, the packed file is an older one.
void add_packed(FleetFolder& out, const fs::path& folder) {
  std::error_code error;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const auto name = at->path().filename().string();
    if (!is_packed(name)) continue;
    for (const auto* file : {"show.json", "diff.json", kFabricFile}) {
      std::error_code ignored;
      if (name.starts_with(file) && !fs::exists(folder / file, ignored)) packed_file(out, at->path());
    }
  }
}

/// HOST/show.json and HOST/diff.json, and HOST/fabric.json beside them. An empty folder is that of a host
/// whose output was lost.
void add_folder(FleetFolder& out, const fs::path& path) {
  const auto name = path.filename().string();
  std::error_code error;
  const bool empty = fs::is_empty(path, error);
  if (error) return unreadable(out, path, error);
  bool any = false;
  add_packed(out, path);
  for (const auto* file : {"show.json", "diff.json", kFabricFile}) {
    const auto sort = fs::symlink_status(path / file, error).type();
    if (sort == fs::file_type::not_found) continue;
    if (sort == fs::file_type::none) return unreadable(out, path, error);
    any = true;
    if (file == std::string_view(kFabricFile))
      out.fabrics.push_back((path / file).string());
    else if (fleet::is_host_name(name))
      add_file(out, name, path / file, file);
    else
      wrong_file(out, (path / file).string(), "its folder does not have the name of a host",
                 "call it HOST/" + std::string(file));
  }
  if (any) return;
  if (empty)
    return wrong_file(out, path.string(), "has neither show.json nor diff.json of the host",
                      "collect them again, or remove the folder");
  if (const auto file = misplaced_answer(path); !file.empty())
    wrong_file(out, file, "is nested too deeply and was not read",
               "move it to HOST.show.json or HOST/show.json, or run fleet report on its own folder");
}

/// A host that was collected by its short name and by its full one counts twice, if they are one host.
void check_names(FleetFolder& out, const std::string& folder) {
  std::vector<std::string> both;
  for (const auto& [lower, name] : out.names) {
    const auto known = out.names.find(lower.substr(0, lower.find('.')));
    if (lower.find('.') == std::string::npos || known == out.names.end()) continue;
    if (both.empty() || both.back() != known->second) both.push_back(known->second);
  }
  if (both.empty()) return;
  wrong_file(
      out, folder,
      fmt::format("{} {} output under both the short and the full name: {}", fleet::hosts_text(both.size()),
                  both.size() == 1 ? "has" : "have", fleet::fold_hosts(both)),
      "remove one of the two, or list the hosts that count with --hosts");
}

/// HOST.show.json and HOST.diff.json, or HOST/show.json and HOST/diff.json; NAME.fabric.json. Names
/// without .json say nothing.
base::Result<FleetFolder> files_in(const std::string& folder) {
  FleetFolder out;
  std::error_code error;
  std::vector<fs::path> paths;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error))
    paths.push_back(at->path());
  if (error) return base::fail(base::Code::kNotFound, fmt::format("{}: {}", folder, error.message()));
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    const auto name = path.filename().string();
    if (name.starts_with('.')) continue;
    if (fs::is_directory(path, error)) {
      add_folder(out, path);
      continue;
    }
    if (is_packed(name)) {
      packed_file(out, path);
      continue;
    }
    if (!name.ends_with(".json")) {
      // Such as a link to a host's folder that is not there now.
      std::error_code ignored;
      if (error && (error != std::errc::no_such_file_or_directory || fs::is_symlink(path, ignored)))
        unreadable(out, path, error);
      continue;
    }
    if (name == kFabricFile || name.ends_with(std::string(".") + kFabricFile)) {
      out.fabrics.push_back(path.string());
      continue;
    }
    const bool ours = name.ends_with(".show.json") || name.ends_with(".diff.json");
    const auto host = name.substr(0, name.size() - std::min(name.size(), std::string(".show.json").size()));
    if (!ours || !fleet::is_host_name(host)) {
      wrong_file(out, path.string(), "the name of the file does not name a host",
                 "call it HOST.show.json, HOST.diff.json or NAME.fabric.json");
      continue;
    }
    add_file(out, host, path, std::string_view(name).substr(host.size() + 1));
  }
  if (out.files.size() > model::limits::kFleetHosts)
    return base::fail(base::Code::kInvalid,
                      fmt::format("{}: has files of more than the {} hosts that are allowed", folder,
                                  model::limits::kFleetHosts));
  return out;
}

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
                               {"status", about.status},
                               {"message", finding.message},
                               {"kind", or_null(about.kind)},
                               {"label", or_null(about.label)},
                               {"attribute", or_null(about.attribute)},
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
    const bool bad = about.status == "error" || about.status == "failed" || about.status == "differs";
    auto text = finding.message;
    if (about.varies)
      text += fmt::format(" (on {}; others have other values)", view.answers.hosts()[about.hosts.front()]);
    const Cell word{about.status, bad ? Style::kBad : Style::kNotice};
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

/// The message of an error about a file whose name stands before it already.
std::string without_path(const std::string& path, const base::Error& error) {
  const auto begin = path + ": ";
  return error.message.starts_with(begin) ? error.message.substr(begin.size()) : error.message;
}

/// The groups of --by.
base::Result<fleet::Groups> groups_of(const Context& context, const std::vector<std::string>& hosts,
                                      std::vector<config::Text>& shown) {
  const auto& by = context.arguments.fleet.by;
  std::error_code error;
  if (!has_folder(by) && !fs::is_regular_file(by, error)) {
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
      const auto text = read_fleet_file(context, path);
      if (!text) {
        diagnostics.push_back(
            {model::Severity::kError, {path, 0, 1, 1}, without_path(path, text.error()), "", {}});
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
    const auto text = read_fleet_file(context, path, fabric::limits::kFabricFileBytes);
    if (!text) {
      diagnostics.push_back(
          {model::Severity::kError, {path, 0, 1, 1}, without_path(path, text.error()), "", {}});
    } else if (auto wrong = answers.add_fabric(*text)) {
      diagnostics.push_back(std::move(*wrong));
    }
  }
}

}  // namespace

int report_fleet(const Context& context) {
  auto folder = files_in(context.arguments.words[1]);
  if (!folder) return refuse(context, folder.error());
  config::Document shown;
  if (context.arguments.fleet.hosts.empty()) {
    check_names(*folder, context.arguments.words[1]);
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
                                  "has no file of a host",
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
