// SPDX-License-Identifier: Apache-2.0
#include "fleet/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "config/guard.hpp"
#include "config/hosts/host_table.hpp"
#include "config/toml/tree.hpp"
#include "fleet/finding.hpp"
#include "fleet/host_list.hpp"

namespace rdmacfg::fleet {

namespace {

constexpr std::string_view kGroup = "{group}";

model::Diagnostic wrong_at(model::Location where, std::string message, std::string hint) {
  return {model::Severity::kError, std::move(where), std::move(message), std::move(hint), {}};
}

void tell_without(const std::vector<std::string>& hosts, const std::string& name, Groups& out) {
  std::vector<std::string> without;
  for (std::size_t at = 0; at < hosts.size(); ++at) {
    if (out.of_host[at].empty()) without.push_back(hosts[at]);
  }
  if (without.empty()) return;
  out.diagnostics.push_back(wrong_at({name, 0, 1, 1},
                                     fmt::format("{} {} in no group: {}", hosts_text(without.size()),
                                                 without.size() == 1 ? "is" : "are", fold_hosts(without)),
                                     "these hosts are shown without a group"));
}

using ByName = std::unordered_map<std::string, std::string>;

ByName groups_in_table(const config::Text& file, model::Diagnostics& diagnostics) {
  config::Limits limits;
  const auto table = config::HostTable::parse(file, limits, diagnostics, "host,group");
  ByName out;
  if (table.broken()) return out;
  if (table.columns().size() < 2) {
    diagnostics.push_back(
        wrong_at({file.name, 1, 1, 1}, "has no column with groups", "begin with a line like host,group"));
    return out;
  }
  const auto& columns = table.columns();
  const auto named = std::find(columns.begin() + 1, columns.end(), "group");
  const auto column = named == columns.end() ? 1 : static_cast<std::size_t>(named - columns.begin());
  for (const auto& host : table.hosts()) out.emplace(base::lower(host), table.find(host)->cells[column].text);
  return out;
}

/// The groups of a TOML file; it is bounded by the hosts that it lists, and by complaints.
class TomlGroups {
 public:
  TomlGroups(const config::Text& file, model::Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  ByName read() && {
    config::Limits limits;
    limits.file_bytes = model::limits::kFleetFileBytes;
    if (auto wrong = config::check_text(file_, limits)) {
      diagnostics_.push_back(std::move(*wrong));
      return std::move(out_);
    }
    auto tree = config::parse_tree(file_, limits);
    for (auto* list : {&tree.errors, &tree.faults})
      diagnostics_.insert(diagnostics_.end(), list->begin(), list->end());
    for (const auto& [group, node] : tree.root.members) {
      if (node.sort != config::Node::Sort::kList) {
        item(group, node);
      } else {
        for (const auto& element : node.items) item(group, element);
      }
    }
    if (left_out_ > 0)
      diagnostics_.push_back(
          wrong_at({file_.name, 0, 1, 1}, fmt::format("{} more mistakes are not shown", left_out_), ""));
    return std::move(out_);
  }

 private:
  void item(const std::string& group, const config::Node& node) {
    if (listed_ > model::limits::kFleetHosts) return;
    const auto where = config::location_of(file_, node.at);
    const auto* text = std::get_if<std::string>(&node.scalar);
    if (text == nullptr)
      return tell(wrong_at(where, fmt::format("{}: must be a list of hosts, not {}", group, sort_of(node)),
                           "give each group its hosts, outside of any section: rack1 = \"gpu[001-040]\""));
    auto list = parse_hosts({file_.name, *text});
    for (auto& diagnostic : list.diagnostics) {
      diagnostic.where = where;
      diagnostic.message = fmt::format("{}: {}", group, diagnostic.message);
      tell(std::move(diagnostic));
    }
    listed_ += list.names.size();
    if (listed_ > model::limits::kFleetHosts)
      return tell(wrong_at(where,
                           fmt::format("{}: more than the {} hosts allowed in all; the rest is left out",
                                       group, model::limits::kFleetHosts),
                           "list each host once"));
    for (const auto& host : list.names) {
      const auto [at, fresh] = out_.emplace(base::lower(host), group);
      if (!fresh && at->second != group)
        tell(wrong_at(where, fmt::format("{}: host {} is in {} already", group, host, at->second),
                      "each host is in one group"));
    }
  }

  void tell(model::Diagnostic diagnostic) {
    if (diagnostics_.size() < model::limits::kErrors) {
      diagnostics_.push_back(std::move(diagnostic));
    } else {
      ++left_out_;
    }
  }

  const config::Text& file_;
  model::Diagnostics& diagnostics_;
  ByName out_;
  std::size_t listed_ = 0, left_out_ = 0;
};

/// The groups of hosts that the file has with a domain, by their short names; empty: in several groups.
ByName groups_without_domains(const ByName& groups) {
  ByName out;
  for (const auto& [name, group] : groups) {
    const auto dot = name.find('.');
    if (dot == std::string::npos) continue;
    const auto [at, fresh] = out.emplace(name.substr(0, dot), group);
    if (!fresh && at->second != group) at->second.clear();
  }
  return out;
}

std::string group_in(std::string_view before, std::string_view after, std::string_view name) {
  std::vector<std::size_t> begins, ends;
  for (std::size_t at = 0; at <= name.size(); ++at) {
    if (base::matches_host(before, name.substr(0, at))) begins.push_back(at);
    if (base::matches_host(after, name.substr(at))) ends.push_back(at);
  }
  for (std::size_t length = 1; length <= name.size(); ++length) {
    for (const auto from : begins) {
      if (std::binary_search(ends.begin(), ends.end(), from + length))
        return std::string(name.substr(from, length));
    }
  }
  return {};
}

}  // namespace

Groups group_by_pattern(std::string_view pattern, const std::vector<std::string>& hosts) {
  Groups out;
  out.of_host.resize(hosts.size());
  const auto at = pattern.find(kGroup);
  if (at == std::string_view::npos || pattern.find(kGroup, at + 1) != std::string_view::npos ||
      pattern.size() > 253) {
    out.diagnostics.push_back(wrong_at({"--by", 1, 1, static_cast<int>(pattern.size())},
                                       "a pattern needs {group} once, and no such file exists",
                                       "write a pattern such as '{group}n*', or the path of a file"));
    return out;
  }
  const auto before = pattern.substr(0, at), after = pattern.substr(at + kGroup.size());
  ByName spelled;  // case says nothing in the name of a host (RFC 4343), so it says nothing in a part of one
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const auto name = std::string_view(hosts[host]);
    out.of_host[host] = group_in(before, after, name);
    if (out.of_host[host].empty())
      out.of_host[host] = group_in(before, after, name.substr(0, name.find('.')));
    const auto group = out.of_host[host];
    out.of_host[host] = spelled.emplace(base::lower(group), group).first->second;
  }
  tell_without(hosts, "--by", out);
  return out;
}

Groups group_by_file(const config::Text& file, const std::vector<std::string>& hosts) {
  Groups out;
  out.of_host.resize(hosts.size());
  const auto groups = file.name.ends_with(".toml") ? TomlGroups(file, out.diagnostics).read()
                                                   : groups_in_table(file, out.diagnostics);
  if (groups.empty() && !out.diagnostics.empty()) return out;
  const auto short_names = groups_without_domains(groups);
  for (std::size_t at = 0; at < hosts.size(); ++at) {
    const auto name = base::lower(hosts[at]);
    auto found = groups.find(name);
    if (found == groups.end()) found = groups.find(name.substr(0, name.find('.')));
    if (found != groups.end()) {
      out.of_host[at] = found->second;
    } else if (const auto full = short_names.find(name); full != short_names.end()) {
      out.of_host[at] = full->second;
    }
  }
  tell_without(hosts, file.name, out);
  return out;
}

}  // namespace rdmacfg::fleet
