// SPDX-License-Identifier: Apache-2.0
#include "config/hosts/host_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "config/guard.hpp"
#include "config/hosts/host_values.hpp"
#include "model/types/choices.hpp"

namespace rdmacfg::config {

namespace {

const std::string* text_in(const Node& node) { return std::get_if<std::string>(&node.scalar); }

/// The remedy for a text of [host] with {host}, which defines such values; otherwise that of the fault
/// itself.
std::string place_holder_hint(const std::string* text, std::string hint) {
  return text && mentions_host(*text)
             ? "[host] accepts no placeholders except in lookup: write the text itself"
             : std::move(hint);
}

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
  report.wrong(node.at, fmt::format("{}: must be a section, not {}", label, sort_of(node)),
               std::string(hint));
  return false;
}

/// The name of a value, reported where it cannot be one.
bool check_name(const std::string& name, const Node& node, const std::string& label, const Reporter& report) {
  if (is_reserved(name)) {
    report.wrong(node.key, fmt::format("{} {}: is a reserved word: {{host.{}}}", label, name, name),
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
  report.wrong(
      node.at,
      number ? fmt::format("{}: {}", label, model::out_of_range(*number, 0, static_cast<std::int64_t>(most)))
             : fmt::format("{}: must be an integer from 0 to {}, not {}", label, most, sort_of(node)));
  return std::nullopt;
}

/// A rule of [host.address].
class RuleParser {
 public:
  RuleParser(const Node& node, const std::string& label, const Reporter& report)
      : node_(node), label_(label), report_(report) {}

  /// Nothing when something is wrong with it, which is reported.
  std::optional<AddressRule> parse() {
    const auto before = report_.diagnostics.size();
    rule_.where = location_of(report_.text, node_.key);
    check_keys();
    if (const auto* network = find("network")) parse_network(*network);
    if (const auto* step = find("step")) parse_step(*step);
    if (const auto* offset = find("offset"))
      rule_.offset = whole_number(*offset, label_ + " offset", kNumberMost, report_).value_or(0);
    if (const auto* lookup = find("lookup")) parse_lookup(*lookup);
    if (const auto* family = find("family")) parse_family(*family);
    if (const auto* prefix = find("prefix")) {
      const std::uint64_t bits = rule_.family == model::Family::kIpv6 ? 128 : 32;
      if (const auto length = whole_number(*prefix, label_ + " prefix", bits, report_))
        rule_.prefix = static_cast<int>(*length);
    }
    return report_.diagnostics.size() == before ? std::optional(std::move(rule_)) : std::nullopt;
  }

 private:
  static constexpr std::uint64_t kNumberMost = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] const Node* find(const char* name) const {
    const auto at = node_.members.find(name);
    return at == node_.members.end() ? nullptr : &at->second;
  }

  void check_keys() const {
    const std::vector<std::string> known{"network", "step", "offset", "lookup", "prefix", "family"};
    for (const auto& [name, member] : node_.members) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        report_key(name, member, label_, known, report_);
    }
    const bool network = find("network") != nullptr, lookup = find("lookup") != nullptr;
    if (network == lookup) {
      report_.wrong(node_.key,
                    fmt::format("{}: {}", label_,
                                network ? "network and lookup cannot be combined"
                                        : "neither network nor lookup is given"),
                    "write either network = \"192.0.2.0/24\" or lookup = \"{host}-ib0\"");
    }
    for (const auto* name : {"prefix", "family"}) {
      if (find(name) != nullptr && network && !lookup)
        report_.wrong(find(name)->key,
                      fmt::format("{} {}: is only valid with lookup; a network implies it", label_, name));
    }
    for (const auto* name : {"step", "offset"}) {
      if (find(name) != nullptr && lookup && !network)
        report_.wrong(find(name)->key, fmt::format("{} {}: is only valid with network", label_, name));
    }
  }

  void parse_network(const Node& network) {
    const auto* text = text_in(network);
    const auto parsed = text ? model::IpPrefix::parse(*text)
                             : base::Result<model::IpPrefix>(base::fail(base::Code::kInvalid, ""));
    if (!text || !parsed || text->find('/') == std::string::npos) {
      report_.wrong(network.at,
                    fmt::format("{} network: {} is not a network", label_,
                                text ? fmt::format("\"{}\"", *text) : "this"),
                    place_holder_hint(
                        text, "write it with its prefix length: \"192.0.2.0/24\" or \"2001:db8:1::/64\""));
    } else if (parsed->network() != *parsed) {
      report_.wrong(
          network.at, fmt::format("{} network: \"{}\" is an address inside a network", label_, *text),
          fmt::format("the network is \"{}\"; set offset to start counting later", parsed->network().text()));
    } else {
      rule_.network = *parsed;
    }
  }

  void parse_step(const Node& step) {
    if (step.sort == Node::Sort::kList && !step.items.empty() && step.items.size() <= 16) {
      for (const auto& item : step.items)
        rule_.step.push_back(whole_number(item, label_ + " step", kNumberMost, report_).value_or(0));
    } else {
      const auto found =
          step.sort == Node::Sort::kList
              ? fmt::format("has {} elements; must be a list of 1 to 16 numbers", step.items.size())
              : fmt::format("must be a list of numbers such as [64, 1], not {}", sort_of(step));
      report_.wrong(step.at, fmt::format("{} step: {}", label_, found),
                    "one for each number in the host's name: for r12n07, [64, 1] is 12 times 64 plus 7");
    }
  }

  void parse_lookup(const Node& lookup) {
    const auto* text = text_in(lookup);
    if (!text || text->empty()) {
      report_.wrong(lookup.at, fmt::format("{} lookup: must be a name such as \"{{host}}-ib0\", not {}",
                                           label_, text ? "an empty string" : sort_of(lookup)));
    } else {
      rule_.lookup = *text;
    }
  }

  void parse_family(const Node& family) {
    constexpr model::Choices<model::Family, 2> kFamilies{
        {{model::Family::kIpv4, "ipv4"}, {model::Family::kIpv6, "ipv6"}}};
    const auto parsed = model::parse_choice(kFamilies, family.scalar);
    if (parsed) {
      rule_.family = *parsed;
    } else {
      const auto sort = text_in(family) ? std::string() : fmt::format(", not {}", sort_of(family));
      report_.wrong(family.at, fmt::format("{} family: {}{}", label_, parsed.error().message, sort));
    }
  }

  const Node& node_;
  const std::string& label_;
  const Reporter& report_;
  AddressRule rule_;
};

/// The remedy where TOML has read the dots of a host name as those of a key: [host.values.gpu1.site.org].
std::string quoted_host_hint(const std::string& host, const std::string& label, const Node& labels) {
  auto name = host + '.' + label;
  for (const auto* at = &labels; at->members.size() == 1;) {
    const auto& [next, member] = *at->members.begin();
    if (member.sort != Node::Sort::kTable) break;
    name += '.' + next;
    at = &member;
  }
  return fmt::format("quote a host name with dots: [host.values.\"{}\"]", name);
}

GivenValues parse_values(const std::string& host, const Node& node, const std::string& label,
                         const Reporter& report) {
  GivenValues out;
  for (const auto& [name, member] : node.members) {
    if (!check_name(name, member, label, report)) continue;
    const bool scalar = member.sort == Node::Sort::kScalar && member.scalar.index() > 0;
    if (scalar) {
      const auto* truth = std::get_if<bool>(&member.scalar);
      out.emplace(name, GivenValue{truth ? (*truth ? "true" : "false") : model::text_of(member.scalar),
                                   location_of(report.text, member.at)});
    } else {
      using Origin = Node::Origin;
      const bool own_key = node.origin == Origin::kHeader && member.origin == Origin::kDotted;
      const bool dotted = member.sort == Node::Sort::kTable && member.origin != Origin::kValue && !own_key;
      report.wrong(member.at,
                   fmt::format("{} {}: must be a string, an integer or a boolean, not {}", label, name,
                               sort_of(member)),
                   dotted ? quoted_host_hint(host, name, member) : "");
    }
  }
  return out;
}

void parse_host_values(const Node& node, const Reporter& report, HostSection& out) {
  if (!is_table(node, "[host.values]", "write [host.values.gpu001] or [host.values.\"gpu*\"]", report))
    return;
  for (const auto& [host, values] : node.members) {
    const auto label = fmt::format("[host.values.{}]", host);
    if (!is_table(values, label, "write the values of a host as { ib0 = \"192.0.2.1/24\" }", report))
      continue;
    if (host.find_first_of("{}") != std::string::npos) {
      report.wrong(
          values.key, fmt::format("{}: contains braces, which are not allowed in a host name", label),
          "write the name of a host, or a pattern as gpu[001-512]; placeholders are not expanded here");
      continue;
    }
    auto given = parse_values(host, values, label, report);
    const auto folded = base::lower(host);
    if (host.find_first_of("*?[") != std::string::npos) {
      out.patterns.emplace_back(folded, std::move(given));
    } else if (!out.exact.try_emplace(folded, std::move(given)).second) {
      report.wrong(values.key, fmt::format("{}: host {} is defined twice here", label, folded),
                   "host names ignore case; write the values of a host in one place");
    }
  }
}

void parse_addresses(const Node& node, const Reporter& report, HostSection& out) {
  if (!is_table(node, "[host.address]", "write [host.address] with ib0 = { network = \"192.0.2.0/24\" }",
                report))
    return;
  for (const auto& [key, rule] : node.members) {
    const auto label = fmt::format("[host.address] {}", key);
    if (!check_name(key, rule, "[host.address]", report) ||
        !is_table(rule, label, "write { network = \"192.0.2.0/24\" }", report))
      continue;
    if (auto parsed = RuleParser(rule, label, report).parse()) out.addresses.emplace(key, std::move(*parsed));
  }
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
  if (!is_table(section, "[host]",
                "write [host] with table, values or address; [match] says which hosts a file is for", report))
    return;
  for (const auto& [name, node] : section.members) {
    if (name == "table") {
      parse_tables(node, report, out);
    } else if (name == "values") {
      parse_host_values(node, report, out);
    } else if (name == "address") {
      parse_addresses(node, report, out);
    } else {
      report_key(name, node, "[host]", {"table", "values", "address"}, report);
    }
  }
}

void HostData::parse_tables(const Node& node, const Reporter& report, HostSection& out) {
  const auto& text = report.text;
  std::vector<const Node*> names;
  for (const auto& item : node.items) names.push_back(&item);
  if (node.sort != Node::Sort::kList) names.push_back(&node);
  for (const auto* each : names) {
    const auto* file = text_in(*each);
    if (!file || !file->ends_with(".csv")) {
      report.wrong(each->at, "[host] table: must be the name of a file that ends in .csv",
                   "values can also be written in TOML: [host.values.gpu001]");
    } else if (++tables_ > limits_.tables) {
      report.wrong(each->at, fmt::format("[host] table: the document names more than the {} tables allowed",
                                         limits_.tables));
      break;
    } else if (const auto* table = find_text(texts_, text, *file)) {
      out.tables.push_back(HostTable::parse(*table, limits_, report.diagnostics));
    } else {
      report.wrong(each->at, fmt::format("[host] table: {} cannot be found", *file),
                   place_holder_hint(file, text.name.starts_with('<')
                                               ? "for a document on standard input the name must begin with /"
                                               : "the name is relative to the folder of this file"));
    }
  }
}

}  // namespace rdmacfg::config
