// SPDX-License-Identifier: Apache-2.0
// Rules of check.hpp about allowed and required keys.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <variant>

#include "base/text.hpp"
#include "config/check.hpp"
#include "config/other_names.hpp"

namespace rdmacfg::config {

namespace {

using model::SectionSpec;

constexpr std::size_t kHomesNamed = 4;  ///< a key of more sections says nothing about the intention

/// Labels of the sections below `specs` that have a key of this name, without the one at `except`.
void find_homes(std::string_view key, const std::vector<SectionSpec>& specs, std::string_view parent,
                std::string_view except, std::vector<std::string>& homes) {
  for (const auto& spec : specs) {
    const auto path = path_of(parent, spec.name);
    const bool has = std::any_of(spec.fields.begin(), spec.fields.end(),
                                 [&](const auto& field) { return field.name == key && is_written(field); });
    if (has && path != except) homes.push_back(label_of(path, spec.repeated));
    find_homes(key, spec.children, path, except, homes);
  }
}

/// Labels of the sections called `name` that are part of another one.
void find_inner(std::string_view name, const std::vector<SectionSpec>& specs, std::string_view parent,
                std::vector<std::string>& homes) {
  for (const auto& spec : specs) {
    const auto path = path_of(parent, spec.name);
    if (!parent.empty() && spec.name == name) homes.push_back(label_of(path, spec.repeated));
    find_inner(name, spec.children, path, homes);
  }
}

/// The only one of `known` that has all the words of `name`, or all of whose words it has: rdma_port for
/// port, netns for netns_mode.
std::optional<std::string> sharing_words(std::string_view name, const std::vector<std::string>& known) {
  const auto words = [](std::string_view text) {
    auto out = "_" + base::lower(text) + "_";
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
  };
  const auto wanted = words(name);
  std::optional<std::string> found;
  for (const auto& key : known) {
    const auto has = words(key);
    if (has.find(wanted) == std::string::npos && wanted.find(has) == std::string::npos) continue;
    if (found) return std::nullopt;
    found = key;
  }
  return found;
}

/// A setting that is written as a key, net.core.rmem_max = 1, where key and value are keys: its name; else
/// empty.
std::string setting_of(std::string_view name, const Node& node, const SectionSpec& spec) {
  const auto has = [&](std::string_view key) {
    return std::any_of(spec.fields.begin(), spec.fields.end(),
                       [&](const model::FieldSpec& field) { return field.name == key; });
  };
  if (!has("key") || !has("value")) return {};
  std::string out(name);
  for (const auto* at = &node; at->origin == Node::Origin::kDotted && !at->members.empty();) {
    const auto& [next, member] = *at->members.begin();
    out += '.' + next;
    at = &member;
  }
  return out.find_first_of("./") == std::string::npos ? std::string() : out;
}

/// Whether a key that is reported as unknown was meant as one that identifies the entry, and is not there.
bool has_meant_identity(const Node& table, const SectionSpec& spec) {
  std::vector<std::string> known;
  for (const auto& field : spec.fields) {
    if (is_written(field)) known.emplace_back(field.name);
  }
  for (const auto& child : spec.children) known.emplace_back(child.name);
  const auto identifies = [&](std::string_view key) {
    return std::any_of(spec.identities.begin(), spec.identities.end(),
                       [&](const auto& set) { return std::find(set.begin(), set.end(), key) != set.end(); });
  };
  return std::any_of(table.members.begin(), table.members.end(), [&](const auto& member) {
    const std::string_view name = member.first;
    if (std::find(known.begin(), known.end(), name) != known.end()) return false;
    if (identifies("key") && !setting_of(name, member.second, spec).empty()) return true;
    auto meant = called_here(name, known);
    if (!meant) meant = base::nearest(name, known);
    if (!meant) meant = sharing_words(name, known);
    return meant && identifies(*meant) && !table.members.contains(*meant);
  });
}

std::string set_text(const std::vector<std::string_view>& set) {
  return base::join(std::vector<std::string>(set.begin(), set.end()), " and ");
}

/// The same with the value of what has only one: driver = "mlx4_en".
std::string set_text(const std::vector<std::string_view>& set, const SectionSpec& spec) {
  if (set.size() == 1) {
    for (const auto& field : spec.fields) {
      if (field.name == set.front() && field.type.starts_with('"'))
        return fmt::format("{} = {}", field.name, field.type);
    }
  }
  return set_text(set);
}

std::string choices(const SectionSpec& spec) {
  std::vector<std::string> sets;
  for (const auto& set : spec.identities) sets.push_back(set_text(set, spec));
  return base::join(sets, ", or ");
}

/// The names that are valid in one place, and where else a misplaced name is valid.
struct Names {
  std::vector<std::string> keys, sections;
  std::vector<std::string> homes;  ///< labels of the sections that have the name
};

/// What an unknown name was probably meant as: "; did you mean …?" behind the message, and a hint.
struct Meant {
  std::string question, hint;
  bool guessed = true;  ///< false: nothing is like it
};

std::string question_of(const std::string& name) { return fmt::format("; did you mean \"{}\"?", name); }

/// A table may stand for a key, and a key for a table: the `others` come second.
Meant like_none(std::string_view name, std::vector<std::string> known,
                const std::vector<std::string>& others) {
  const auto other = base::nearest(name, others);
  known.insert(known.end(), others.begin(), others.end());
  return {other ? question_of(*other) : "",
          known.empty() ? "nothing is valid here" : fmt::format("valid here: {}", base::join(known, ", ")),
          other.has_value()};
}

Meant meant_section(std::string_view name, const Names& names) {
  if (const auto here = called_here(name, names.sections); here && names.homes.empty())
    return {"", fmt::format("it is called {} here", *here)};
  if (!names.homes.empty())
    return {"", fmt::format("{} is part of another entry: write {}", name, base::join(names.homes, ", or "))};
  if (const auto near = base::nearest(name, names.sections)) return {question_of(*near), ""};
  if (const auto alike = sharing_words(name, names.sections)) return {question_of(*alike), ""};
  return like_none(name, names.sections, names.keys);
}

/// How a section such as [ipoib.ipv4] has the value of `name`, a key of other tools.
std::string example_in_family(std::string_view name, std::string_view section) {
  struct Example {
    std::string_view begin, keys;
  };
  constexpr auto kExamples = std::to_array<Example>({
      {"gateway", "addresses = [\"…\"], gateway = \"…\""},
      {"dns", "addresses = [\"…\"], dns = [\"…\"]"},
      {"nameserver", "addresses = [\"…\"], dns = [\"…\"]"},
      {"route", "addresses = [\"…\"], routes = [{ to = \"…\", via = \"…\" }]"},
      {"dhcp", "method = \"auto\""},
  });
  const auto word = base::lower(name);
  for (const auto& example : kExamples) {
    if (word.starts_with(example.begin)) return fmt::format("{} = {{ {} }}", section, example.keys);
  }
  return family_example(section);
}

Meant meant_key(std::string_view name, const Names& names) {
  auto all = names.keys;
  all.insert(all.end(), names.sections.begin(), names.sections.end());
  if (auto hint = rewritten(name, names.keys); !hint.empty()) return {"", std::move(hint)};
  auto here = called_here(name, all);
  if (!here) {
    if (const auto near = base::nearest(name, names.keys)) return {question_of(*near), ""};
    if (const auto alike = sharing_words(name, names.keys)) return {question_of(*alike), ""};
    here = nearly_called_here(name, all);
  }
  if (here) {
    const bool becomes_section =
        std::find(names.sections.begin(), names.sections.end(), *here) != names.sections.end();
    // [ipoib.ipv4] has the key itself, or what it stands for.
    if (becomes_section && here->starts_with("ipv"))
      return {"", fmt::format("it belongs to {}, as in {}", *here, example_in_family(name, *here))};
    return {"", fmt::format("it is called {} here{}", *here, becomes_section ? ", and is a section" : "")};
  }
  if (!names.homes.empty() && names.homes.size() <= kHomesNamed)
    return {"", fmt::format("{} belongs to {}", name, base::join(names.homes, ", ")), false};
  return like_none(name, names.keys, names.sections);
}

/// `stray`: the error about the entry's only key, if there is one; it then says what is missing.
void report_without_identity(const Node& table, const SectionSpec& spec, std::string_view label,
                             const Reporter& report, model::Diagnostic* stray) {
  if (stray != nullptr) {
    stray->hint = fmt::format("no key identifies the entry: write {}", choices(spec));
    return;
  }
  report
      .wrong(place_of(table), fmt::format("{}: no identifying key", label),
             fmt::format("add {}", choices(spec)))
      .topic = model::Topic::kNoIdentity;
}

}  // namespace

std::string Place::path_to(std::string_view name) const {
  return fmt::format("{}{}", in_defaults ? "defaults." : "", path_of(path, name));
}

bool report_unknown(std::string_view name, const Node& node, const Place& place, const Grammar& grammar,
                    const Reporter& report) {
  const bool is_list = node.sort == Node::Sort::kList;
  const bool is_section =
      node.sort == Node::Sort::kTable || (is_list && node.origin == Node::Origin::kHeader);
  Names names;
  if (place.spec) {
    for (const auto& field : place.spec->fields) {
      if (is_written(field)) names.keys.emplace_back(field.name);
    }
  } else {
    names.keys.emplace_back("version");
    names.sections = {"match", "defaults", "host"};
  }
  for (const auto& child : place.spec ? place.spec->children : grammar)
    names.sections.emplace_back(child.name);
  if (is_section) {
    find_inner(name, grammar, "", names.homes);
  } else {
    find_homes(name, grammar, "", place.path, names.homes);
  }

  const auto message = is_section
                           ? fmt::format("{}: unknown section", label_of(place.path_to(name), is_list))
                           : fmt::format("{}{}{}: unknown key", place.label, place.spec ? " " : "", name);
  auto meant = is_section ? meant_section(name, names) : meant_key(name, names);
  const auto* number = std::get_if<std::int64_t>(&node.scalar);
  const bool of_document = (number != nullptr && *number == 1) || rewritten(name, names.keys).empty();
  const bool misplaced = !is_section && place.spec && name == "version" && of_document;
  if (misplaced) meant = {"", "move it to the top of the file, before the first section"};
  const auto setting = place.spec ? setting_of(name, node, *place.spec) : std::string();
  if (!setting.empty())
    meant = {"", fmt::format("write key = \"{}\" and value = …, in an entry for each setting", setting)};
  if (!is_section && !meant.guessed && names.homes.empty()) {
    if (auto option = as_module_option(name, names.keys); !option.empty()) meant.hint = std::move(option);
  }
  const bool foreign = is_section && !is_list && !place.spec && !foreign_hint(name).empty();
  if (foreign) meant = {"", foreign_hint(name)};
  auto& wrong = report.wrong(is_section && node.origin == Node::Origin::kHeader ? node.at : node.key,
                             message + meant.question, meant.hint);
  if (misplaced && setting.empty()) wrong.topic = model::Topic::kMisplacedVersion;
  return meant.guessed;
}

bool check_identity(const Node& table, const SectionSpec& spec, std::string_view label,
                    const Reporter& report, model::Diagnostic* stray) {
  using Set = std::vector<std::string_view>;
  if (spec.identities.empty() || report.partial) return true;
  const auto is_there = [&](std::string_view key) { return table.members.contains(key); };
  const auto key_of = [&](std::string_view key) { return table.members.find(key)->second.key; };
  std::set<std::string_view> there;
  for (const auto& set : spec.identities)
    std::copy_if(set.begin(), set.end(), std::inserter(there, there.end()), is_there);
  if (there.empty()) {
    if (!has_meant_identity(table, spec)) report_without_identity(table, spec, label, report, stray);
    return false;
  }

  Set whole, partial, lacking;
  for (const auto& set : spec.identities) {
    Set missing;
    std::remove_copy_if(set.begin(), set.end(), std::back_inserter(missing), is_there);
    if (missing.empty() && set.size() == there.size()) {
      for (const auto& key : set) {
        const Node& node = table.members.find(key)->second;
        if (node.sort != Node::Sort::kTable || !node.members.empty()) continue;
        report.wrong(node.key, fmt::format("{} {}: is empty and identifies nothing", label, key),
                     fmt::format("write at least one key of {}", key));
      }
      return true;
    }
    if (missing.empty() && set.size() > whole.size()) whole = set;
    // Of the sets begun, the one that lacks least is the one that was probably meant.
    if (missing.size() < set.size() && (partial.empty() || missing.size() < lacking.size())) {
      partial = set;
      lacking = std::move(missing);
    }
  }
  if (!whole.empty()) {
    const auto extra = *std::find_if(there.begin(), there.end(), [&](std::string_view key) {
      return std::find(whole.begin(), whole.end(), key) == whole.end();
    });
    report
        .wrong(key_of(extra),
               fmt::format("{} {}: conflicts with {}, which already {} the entry", label, extra,
                           set_text(whole), whole.size() == 1 ? "identifies" : "identify"),
               fmt::format("keep one: {}", choices(spec)))
        .related.push_back({location_of(report.text, key_of(whole.front())), "set here"});
    return true;
  }
  if (has_meant_identity(table, spec)) return true;
  const auto given = *std::find_if(partial.begin(), partial.end(), is_there);
  // "mlx4_0/1" has the port in it, and the error about the value says how to write both.
  const auto* text = std::get_if<std::string>(&table.members.find(given)->second.scalar);
  if (text != nullptr && given == "device" && text->find_first_of("/:") != std::string::npos) return true;
  report.wrong(key_of(given), fmt::format("{} {}: requires {}", label, given, set_text(lacking)),
               fmt::format("write {}", choices(spec)));
  return true;
}

}  // namespace rdmacfg::config
