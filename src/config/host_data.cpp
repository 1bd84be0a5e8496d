// SPDX-License-Identifier: Apache-2.0
#include "config/host_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/text.hpp"
#include "config/guard.hpp"

namespace rdmacfg::config {

namespace {

const std::string* text_in(const Node& node) { return std::get_if<std::string>(&node.scalar); }

void report_key(std::string_view name, const Node& node, const std::string& label,
                const std::vector<std::string>& known, const Reporter& report) {
  const auto near = base::nearest(name, known);
  report.wrong(node.key,
               fmt::format("{} {}: unknown key{}", label, name,
                           near ? fmt::format("; did you mean \"{}\"?", *near) : ""),
               near ? "" : fmt::format("valid here: {}", base::join(known, ", ")));
}

bool is_table(const Node& node, const std::string& label, std::string_view hint, const Reporter& report) {
  if (node.sort == Node::Sort::kTable) return true;
  report.wrong(node.at, fmt::format("{}: is {}, must be a section", label, sort_of(node)), std::string(hint));
  return false;
}

/// The name of a value, reported where it cannot be one.
bool check_name(const std::string& name, const Node& node, const std::string& label, const Reporter& report) {
  if (is_reserved(name)) {
    report.wrong(node.key,
                 fmt::format("{} {}: the word has a meaning of its own: {{host.{}}}", label, name, name),
                 "give the value another name");
    return false;
  }
  if (is_value_name(name)) return true;
  report.wrong(node.key, fmt::format("{} {}: cannot be the name of a value", label, name),
               "a name begins with a letter and has letters, digits, - and _");
  return false;
}

std::optional<std::uint64_t> whole_number(const Node& node, const std::string& label, std::uint64_t most,
                                          const Reporter& report) {
  const auto* number = std::get_if<std::int64_t>(&node.scalar);
  if (number && *number >= 0 && static_cast<std::uint64_t>(*number) <= most)
    return static_cast<std::uint64_t>(*number);
  report.wrong(node.at, fmt::format("{}: must be an integer from 0 to {}", label, most));
  return std::nullopt;
}

std::optional<AddressRule> parse_rule(const Node& node, const std::string& label, const Reporter& report) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto before = report.diagnostics.size();
  AddressRule rule;
  rule.where = location_of(report.text, node.key);
  const auto find = [&](const char* name) {
    const auto at = node.members.find(name);
    return at == node.members.end() ? nullptr : &at->second;
  };
  for (const auto& [name, member] : node.members) {
    if (name != "network" && name != "step" && name != "offset" && name != "lookup" && name != "prefix" &&
        name != "family")
      report_key(name, member, label, {"network", "step", "offset", "lookup", "prefix", "family"}, report);
  }
  const auto* network = find("network");
  const auto* lookup = find("lookup");
  if ((network == nullptr) == (lookup == nullptr)) {
    report.wrong(
        node.key,
        fmt::format("{}: {}", label,
                    network ? "cannot be counted and looked up at once" : "does not say where it comes from"),
        "write either network = \"192.0.2.0/24\" or lookup = \"{host}-ib0\"");
  }
  for (const auto* name : {"prefix", "family"}) {
    if (find(name) && network && !lookup)
      report.wrong(find(name)->key,
                   fmt::format("{} {}: goes with lookup; a network says it itself", label, name));
  }
  for (const auto* name : {"step", "offset"}) {
    if (find(name) && lookup && !network)
      report.wrong(find(name)->key,
                   fmt::format("{} {}: goes with network; nothing is counted here", label, name));
  }
  if (network) {
    const auto* text = text_in(*network);
    const auto parsed = text ? model::IpPrefix::parse(*text)
                             : base::Result<model::IpPrefix>(base::fail(base::Code::kInvalid, ""));
    if (!text || !parsed || text->find('/') == std::string::npos) {
      report.wrong(
          network->at,
          fmt::format("{} network: {} is not a network", label, text ? fmt::format("\"{}\"", *text) : "this"),
          "write it with its prefix length: \"192.0.2.0/24\" or \"2001:db8:1::/64\"");
    } else if (parsed->network() != *parsed) {
      report.wrong(
          network->at, fmt::format("{} network: \"{}\" is an address inside a network", label, *text),
          fmt::format("the network is \"{}\"; offset says where counting starts", parsed->network().text()));
    } else {
      rule.network = *parsed;
    }
  }
  if (const auto* step = find("step")) {
    if (step->sort == Node::Sort::kList && !step->items.empty() && step->items.size() <= 16) {
      for (const auto& item : step->items)
        rule.step.push_back(whole_number(item, label + " step", kMost, report).value_or(0));
    } else {
      report.wrong(step->at, fmt::format("{} step: must be a list of numbers", label),
                   "one for each number in the host's name: for r12n07, [64, 1] is 12 times 64 plus 7");
    }
  }
  if (const auto* offset = find("offset"))
    rule.offset = whole_number(*offset, label + " offset", kMost, report).value_or(0);
  if (lookup) {
    const auto* text = text_in(*lookup);
    if (!text || text->empty()) {
      report.wrong(lookup->at, fmt::format("{} lookup: must be a name, such as \"{{host}}-ib0\"", label));
    } else {
      rule.lookup = *text;
    }
  }
  if (const auto* family = find("family")) {
    const auto* text = text_in(*family);
    if (text && (*text == "ipv4" || *text == "ipv6")) {
      rule.family = *text == "ipv6" ? model::Family::kIpv6 : model::Family::kIpv4;
    } else {
      report.wrong(family->at, fmt::format("{} family: must be \"ipv4\" or \"ipv6\"", label));
    }
  }
  if (const auto* prefix = find("prefix")) {
    if (const auto length =
            whole_number(*prefix, label + " prefix", rule.family == model::Family::kIpv6 ? 128 : 32, report))
      rule.prefix = static_cast<int>(*length);
  }
  return report.diagnostics.size() == before ? std::optional(std::move(rule)) : std::nullopt;
}

GivenValues parse_values(const Node& node, const std::string& label, const Reporter& report) {
  GivenValues out;
  for (const auto& [name, member] : node.members) {
    if (!check_name(name, member, label, report)) continue;
    const bool scalar = member.sort == Node::Sort::kScalar && member.scalar.index() > 0;
    if (scalar) {
      const auto* truth = std::get_if<bool>(&member.scalar);
      out.emplace(name, GivenValue{truth ? (*truth ? "true" : "false") : model::text_of(member.scalar),
                                   location_of(report.text, member.at)});
    } else {
      report.wrong(member.at, fmt::format("{} {}: is {}, must be a text, an integer or a boolean", label,
                                          name, sort_of(member)));
    }
  }
  return out;
}

/// The text that a file of the document calls `named`.
const Text* find_text(const std::vector<Text>& texts, const Text& from, const std::string& named) {
  const auto beside = (std::filesystem::path(from.name).parent_path() / named).lexically_normal().native();
  const auto at = std::find_if(texts.begin(), texts.end(), [&](const Text& text) {
    return text.name == beside || (named.starts_with('/') && text.name.ends_with(named));
  });
  return at == texts.end() ? nullptr : &*at;
}

std::set<std::string> names_in(const HostSection& section) {
  std::set<std::string> out;
  const auto take = [&](const auto& values) {
    for (const auto& [name, value] : values) out.insert(name);
  };
  take(section.addresses);
  for (const auto& table : section.tables) {
    if (!table.columns().empty()) out.insert(table.columns().begin() + 1, table.columns().end());
  }
  for (const auto& [host, values] : section.exact) take(values);
  for (const auto& [pattern, values] : section.patterns) take(values);
  return out;
}

}  // namespace

bool is_reserved(std::string_view name) { return name == "fqdn" || name == "domain" || name == "number"; }

bool is_host_data(std::string_view file) { return file.ends_with(".csv") || file.ends_with("/etc/hosts"); }

NamedFiles files_named(const Node& root) {
  NamedFiles out;
  const auto host = root.members.find("host");
  if (host == root.members.end() || host->second.sort != Node::Sort::kTable) return out;
  const auto& section = host->second.members;
  if (const auto table = section.find("table"); table != section.end()) {
    if (const auto* name = text_in(table->second)) out.tables.push_back(*name);
    for (const auto& item : table->second.items) {
      if (const auto* name = text_in(item)) out.tables.push_back(*name);
    }
  }
  if (const auto address = section.find("address"); address != section.end()) {
    out.hosts_file = std::any_of(address->second.members.begin(), address->second.members.end(),
                                 [](const auto& rule) { return rule.second.members.contains("lookup"); });
  }
  return out;
}

HostsFile HostsFile::parse(const Text& text) {
  HostsFile out;
  out.file = text.name;
  int number = 0;
  for (auto line : base::split(text.text, '\n')) {
    ++number;
    line = base::trim(line.substr(0, line.find('#')));
    std::optional<model::IpAddress> address;
    while (!line.empty()) {
      const auto end = std::min(line.find_first_of(" \t"), line.size());
      const auto word = line.substr(0, end);
      line = base::trim(line.substr(end));
      if (!address) {
        const auto parsed = model::IpAddress::parse(word);
        if (!parsed) break;  // as the resolver does
        address = *parsed;
      } else {
        out.by_name[base::lower(word)].push_back({*address, {text.name, number, 1, 1}});
      }
    }
  }
  return out;
}

HostData::HostData(const std::vector<Text>& texts, const Limits& limits) : texts_(texts), limits_(limits) {
  for (const auto& text : texts) {
    if (text.name.ends_with("/etc/hosts")) hosts_file_ = HostsFile::parse(text);
  }
}

void HostData::add(const Node& root, const Text& text, model::Diagnostics& diagnostics) {
  auto& out = sections_.emplace_back();
  const auto at = root.members.find("host");
  if (at == root.members.end()) return;
  const Reporter report{text, diagnostics};
  const auto before = diagnostics.size();
  parse_section(at->second, report, out);
  out.incomplete = diagnostics.size() > before;
  out.names = names_in(out);
}

void HostData::parse_section(const Node& section, const Reporter& report, HostSection& out) {
  const auto& text = report.text;
  if (!is_table(section, "[host]",
                "write [host] with table, values or address; [match] says which hosts a file is for", report))
    return;
  for (const auto& [name, node] : section.members) {
    if (name == "table") {
      std::vector<const Node*> names;
      for (const auto& item : node.items) names.push_back(&item);
      if (node.sort != Node::Sort::kList) names.push_back(&node);
      for (const auto* each : names) {
        const auto* file = text_in(*each);
        if (!file || !file->ends_with(".csv")) {
          report.wrong(each->at, "[host] table: must be the name of a file that ends in .csv",
                       "values can also be written in TOML: [host.values.gpu001]");
        } else if (++tables_ > limits_.tables) {
          report.wrong(
              each->at,
              fmt::format("[host] table: the document names more than the {} tables that are allowed",
                          limits_.tables));
          break;
        } else if (const auto* table = find_text(texts_, text, *file)) {
          out.tables.push_back(HostTable::parse(*table, limits_, report.diagnostics));
        } else {
          report.wrong(each->at, fmt::format("[host] table: {} cannot be found", *file),
                       text.name.starts_with('<')
                           ? "for a document on standard input the name must begin with /"
                           : "its name is taken from the folder of this file");
        }
      }
    } else if (name == "values") {
      if (!is_table(node, "[host.values]", "write [host.values.gpu001] or [host.values.\"gpu*\"]", report))
        continue;
      for (const auto& [host, values] : node.members) {
        const auto label = fmt::format("[host.values.{}]", host);
        if (!is_table(values, label, "write the values of a host as { ib0 = \"192.0.2.1/24\" }", report))
          continue;
        auto given = parse_values(values, label, report);
        const auto folded = base::lower(host);
        if (host.find_first_of("*?[") != std::string::npos) {
          out.patterns.emplace_back(folded, std::move(given));
        } else if (!out.exact.try_emplace(folded, std::move(given)).second) {
          report.wrong(values.key, fmt::format("{}: host {} has values here twice", label, folded),
                       "upper and lower case are the same host; write its values in one place");
        }
      }
    } else if (name == "address") {
      if (!is_table(node, "[host.address]", "write [host.address] with ib0 = { network = \"192.0.2.0/24\" }",
                    report))
        continue;
      for (const auto& [key, rule] : node.members) {
        const auto label = fmt::format("[host.address] {}", key);
        if (!check_name(key, rule, "[host.address]", report) ||
            !is_table(rule, label, "write { network = \"192.0.2.0/24\" }", report))
          continue;
        if (auto parsed = parse_rule(rule, label, report)) out.addresses.emplace(key, std::move(*parsed));
      }
    } else {
      report_key(name, node, "[host]", {"table", "values", "address"}, report);
    }
  }
}

}  // namespace rdmacfg::config
