// SPDX-License-Identifier: Apache-2.0
#include "fleet/site_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "config/parsed.hpp"
#include "core/guards/plausibility.hpp"
#include "core/pipeline.hpp"
#include "fleet/host_list.hpp"
#include "fleet/rules.hpp"
#include "fleet/shape.hpp"
#include "fleet/site.hpp"

namespace rdmacfg::fleet {

namespace {

using model::Severity;

/// Complaints about the documents of single hosts, equal ones together.
class DiagnosticGroups {
 public:
  explicit DiagnosticGroups(const std::vector<std::string>& hosts) : hosts_(hosts) {}

  void add(HostId host, const model::Diagnostic& diagnostic) {
    std::string_view message = diagnostic.message;
    message.remove_suffix(diagnostic.host_bytes);
    const auto key = fmt::format("{}\n{}\n{}", diagnostic.where.text(),
                                 diagnostic.severity == Severity::kError, shape_of(message, hosts_[host]));
    const auto [at, fresh] = by_shape_.try_emplace(key, found_.size());
    if (fresh) {
      found_.push_back({"document", diagnostic.severity, std::string(message), diagnostic.hint});
      add_place(found_.back(), diagnostic.where, "");
    }
    auto& finding = found_[at->second];
    if (finding.hosts.empty() || finding.hosts.back() != host) finding.hosts.push_back(host);
    for (const auto& related : diagnostic.related) add_place(finding, related.where, related.note);
  }

  std::vector<Finding> take() && { return std::move(found_); }

 private:
  const std::vector<std::string>& hosts_;
  std::unordered_map<std::string, std::size_t> by_shape_;
  std::vector<Finding> found_;
};

/// Hosts of which tables and [host.values] speak, but the list does not.
void check_tables(const config::Parsed& parsed, const std::vector<std::string>& hosts,
                  std::vector<Finding>& out) {
  std::unordered_set<std::string> known, known_short;
  for (const auto& host : hosts) {
    const auto name = base::lower(host);
    known_short.insert(name.substr(0, name.find('.')));
    known.insert(name);
  }
  const auto tell = [&](const std::string& where, std::vector<std::string> names, model::Location place) {
    if (names.empty()) return;
    Finding finding{
        "unknown-host", Severity::kWarning,
        fmt::format("{} has values for {} that {} not in the list: {}", where, hosts_text(names.size()),
                    names.size() == 1 ? "is" : "are", fold_hosts(names)),
        "add them to --hosts, or remove their lines"};
    add_place(finding, place, "");
    out.push_back(std::move(finding));
  };
  const auto is_unknown = [&](const std::string& name) {
    const auto folded = base::lower(name);
    const auto dot = folded.find('.');
    // The values of a full name are those of that host only.
    return !known.contains(folded) &&
           !(dot == std::string::npos ? known_short.contains(folded) : known.contains(folded.substr(0, dot)));
  };
  for (const auto& section : parsed.data().sections()) {
    for (const auto& table : section.tables) {
      std::vector<std::string> names;
      for (const auto& name : table.hosts()) {
        auto folded = base::lower(name);
        const auto dot = folded.find('.');
        // Beside a line of the short name, that of a full one is for a host that calls itself so.
        const bool is_beside = dot != std::string::npos && !known.contains(folded) &&
                               table.find(folded.substr(0, dot)) != nullptr;
        if (is_beside || is_unknown(folded)) names.push_back(std::move(folded));
      }
      const auto* row = names.empty() ? nullptr : table.find(names.front());
      const auto file = table.file();
      tell(file, std::move(names), {file, row ? row->line : 0, 1, 1});
    }
    std::vector<std::string> names;
    model::Location first;  // of the file
    for (const auto& [name, values] : section.exact) {
      if (values.empty() || !is_unknown(name)) continue;
      names.push_back(name);
      for (const auto& [key, value] : values) {
        const auto& where = value.where;
        if (first.file.empty() || std::tie(where.line, where.column) < std::tie(first.line, first.column))
          first = where;
      }
    }
    tell("[host.values]", std::move(names), first);
  }
}

std::size_t order_of(const std::vector<Rule>& all, const std::string& rule) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Rule& candidate) { return candidate.name == rule; });
  return at == all.end() ? 0 : 1 + static_cast<std::size_t>(at - all.begin());
}

void arrange(std::vector<Finding>& findings, const std::vector<config::Text>& texts) {
  std::map<std::string, std::size_t> files;
  for (const auto& text : texts) files.emplace(text.name, files.size());
  const auto& all = rules();
  const auto key = [&](const Finding& finding) {
    const auto where = finding.places.empty() ? model::Location{} : finding.places.front().where;
    const auto file = files.find(where.file);
    return std::tuple(finding.severity == Severity::kWarning, order_of(all, finding.rule),
                      file == files.end() ? 0 : file->second, where.line, where.column,
                      finding.hosts.empty() ? 0 : finding.hosts.front());
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

}  // namespace

SiteReport check_site(std::vector<config::Text> texts, std::vector<std::string> hosts,
                      const config::Limits& limits) {
  SiteReport out;
  out.hosts = std::move(hosts);
  const config::Parsed parsed(std::move(texts), limits);
  Site site(out.hosts);
  // check_membership() judges P_Keys with the partitions of all subnet managers in view.
  DiagnosticGroups diagnostic_groups(out.hosts), of_membership(out.hosts);
  std::vector<HostId> without;
  const auto documents = static_cast<std::size_t>(
      std::count_if(parsed.texts().begin(), parsed.texts().end(),
                    [](const auto& text) { return !config::is_host_data(text.name); }));
  auto files = parsed.texts();  // the same for all hosts
  bool has_version = false;
  for (HostId host = 0; host < out.hosts.size(); ++host) {
    auto document = parsed.on(out.hosts[host], kinds::grammar());
    document.files.swap(files);
    if (!has_version) {
      const auto before = document.diagnostics.size();
      core::require_version(document);
      has_version = document.diagnostics.size() == before;
    }
    core::warn_of_implausible(document);
    document.files.swap(files);
    out.compared = out.compared && document.whole;
    if (document.skipped.size() == documents) without.push_back(host);
    const auto report = core::validate(document, limits);
    for (const auto& diagnostic : report.diagnostics) {
      auto& groups = diagnostic.topic == model::Topic::kPkeyMembership ? of_membership : diagnostic_groups;
      groups.add(host, diagnostic);
    }
    site.add(host, document);
  }
  out.findings = std::move(diagnostic_groups).take();
  // The files alone do not say that a host is forgotten when none can be read.
  if (!without.empty() && out.compared)
    out.findings.push_back({"no-file", Severity::kError,
                            fmt::format("no file of the document is for {}", fold_hosts(out.hosts, without)),
                            "look for a misspelt name in --hosts, or extend [match] of a file", without});
  check_tables(parsed, out.hosts, out.findings);
  if (out.compared) {
    check_duplicates(site, out.findings);
    check_partitions(site, out.findings);
    check_membership(site, out.findings);
    check_managers(site, out.findings);
    check_traffic(site, out.findings);
  } else {
    auto unjudged = std::move(of_membership).take();
    std::move(unjudged.begin(), unjudged.end(), std::back_inserter(out.findings));
  }
  arrange(out.findings, parsed.texts());
  return out;
}

}  // namespace rdmacfg::fleet
