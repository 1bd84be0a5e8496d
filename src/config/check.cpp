// SPDX-License-Identifier: Apache-2.0
#include "config/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "config/hosts/host_values.hpp"
#include "config/merge.hpp"

namespace rdmacfg::config {

namespace {

using model::Section;
using model::SectionSpec;

template <class Specs>
auto find_spec(const Specs& specs, std::string_view name) -> decltype(specs.data()) {
  const auto at =
      std::find_if(specs.begin(), specs.end(), [&](const auto& spec) { return spec.name == name; });
  return at == specs.end() ? nullptr : &*at;
}

/// With the places of a list's elements, unless these are not the ones that were written.
model::Entry entry_of(const Node& node, model::Value value, const Text& text) {
  model::Entry out{std::move(value), location_of(text, node.at), false};
  const auto* list = std::get_if<std::vector<std::string>>(&out.value);
  if (list == nullptr || node.sort != Node::Sort::kList || list->size() != node.items.size()) return out;
  out.items.reserve(node.items.size());
  for (const auto& item : node.items) out.items.push_back(location_of(text, item.at));
  return out;
}

bool is_tables(const Node& node) {
  return node.sort == Node::Sort::kList && !node.items.empty() &&
         node.items.front().sort == Node::Sort::kTable;
}

/// The keys by which an entry is usually identified; none where there is one entry only.
std::vector<std::string_view> first_identity(const SectionSpec& spec) {
  return spec.identities.empty() ? std::vector<std::string_view>{} : spec.identities.front();
}

class Checker {
 public:
  Checker(const Grammar& grammar, const Reporter& report, CheckedFile& file)
      : grammar_(grammar), report_(report), file_(file) {}

  /// Every section of `specs` in `table`, in the grammar's order and then the text's.
  std::vector<Section> sections(const Node& table, const std::vector<SectionSpec>& specs,
                                std::string_view parent) {
    std::vector<Section> out;
    for (const auto& spec : specs) {
      const auto at = table.members.find(spec.name);
      if (at == table.members.end()) continue;
      const auto path = path_of(parent, spec.name);
      const bool is_single = at->second.sort == Node::Sort::kTable;
      for (const Node* node : tables(at->second, spec, path))
        out.push_back(section(*node, spec, path, spec.repeated && is_single));
    }
    report_duplicates(out, specs, file_.faulty, report_.diagnostics);
    return out;
  }

  std::vector<Section> defaults(const Node& table, const std::vector<SectionSpec>& specs,
                                std::string_view parent) {
    std::vector<Section> out;
    for (const auto& [name, node] : table.members) {
      const auto path = path_of(parent, name);
      const auto* spec = find_spec(specs, name);
      if (!spec || !gives_defaults(*spec)) {
        report_no_defaults(name, node, specs, path);
      } else if (node.sort != Node::Sort::kTable) {
        report_.wrong(node.key,
                      fmt::format("[defaults.{}]: must be one section, not {}", path, sort_of(node)),
                      fmt::format("write [defaults.{}]: defaults are for every {} entry", path,
                                  label_of(path, spec->repeated)));
      } else {
        out.push_back(default_section(node, *spec, path));
      }
    }
    return out;
  }

 private:
  /// The key behind the last part of [ipoib.pkey.0x8002]: one that identifies the entry, or its name.
  static std::string key_in_header(const SectionSpec& spec, const std::string& name) {
    const auto number = base::parse_number(name);
    for (const auto& set : spec.identities) {
      const auto* field = set.size() == 1 ? find_spec(spec.fields, set.front()) : nullptr;
      if (field == nullptr || field->parse == nullptr) continue;
      if (number && field->parse(model::Value(static_cast<std::int64_t>(*number))))
        return fmt::format(", and {} = {} below it", field->name, name);
      if (field->parse(model::Value(name)))
        return fmt::format(", and {} = \"{}\" below it", field->name, name);
    }
    return find_spec(spec.fields, "name") ? fmt::format(", and name = \"{}\" below it", name) : std::string();
  }

  /// Whether an entry is written as [ipoib.mlx4_ib0], with its name in the header: then that is all to say.
  bool report_named_headers(const Node& node, const SectionSpec& spec, const std::string& path) const {
    std::vector<std::string> parts;
    for (const auto& child : spec.children) parts.emplace_back(child.name);
    const bool named = std::all_of(node.members.begin(), node.members.end(), [&](const auto& member) {
      return member.second.sort == Node::Sort::kTable && !find_spec(spec.fields, member.first) &&
             !find_spec(spec.children, member.first) && !base::nearest(member.first, parts);
    });
    if (!named || node.members.empty()) return false;
    for (const auto& [name, entry] : node.members) {
      report_.wrong(place_of(entry),
                    fmt::format("[{}.{}]: the name of an entry is not part of its header", path, name),
                    fmt::format("write [[{}]]{}", path, key_in_header(spec, name)));
    }
    return true;
  }

  /// The tables that a section was written as; a wrong form is reported, and its content used as far as
  /// possible.
  std::vector<const Node*> tables(const Node& node, const SectionSpec& spec, const std::string& path) {
    const auto label = label_of(path, spec.repeated);
    std::vector<const Node*> out;
    if (node.sort == Node::Sort::kTable) {
      if (spec.repeated && node.origin == Node::Origin::kImplied) {
        if (!report_.partial && report_named_headers(node, spec, path)) return out;
        if (!report_.partial)
          report_.wrong(node.at, fmt::format("[[{0}]] must come before its subsections", path),
                        fmt::format("write [[{}]] with its keys first", path));
      } else if (spec.repeated && node.origin == Node::Origin::kValue &&
                 path.find('.') != std::string::npos) {
        // Beside a table in braces, a header of its own would be a second definition.
        report_.wrong(node.key,
                      fmt::format("[{0}]: can occur several times; write {1} = [{{ … }}]", path, spec.name));
      } else if (spec.repeated) {
        report_.wrong(node.origin == Node::Origin::kHeader ? node.at : node.key,
                      fmt::format("[{0}]: can occur several times; write [[{0}]]", path));
      }
      out.push_back(&node);
    } else if (node.sort != Node::Sort::kList) {
      std::string hint = fmt::format("write {}", label);
      if (find_spec(spec.fields, spec.name)) hint = fmt::format("{} belongs to {}", spec.name, label);
      if (spec.name.starts_with("ipv")) hint = "write " + family_example(spec.name);
      report_.wrong(node.at, fmt::format("{}: must be a section, not {}", label, sort_of(node)), hint);
    } else if (!spec.repeated && !node.items.empty() && !is_tables(node)) {
      report_.wrong(node.at, fmt::format("{}: must be a section, not a list", label),
                    "write " + (spec.name.starts_with("ipv") ? family_example(spec.name) : label));
    } else if (!spec.repeated) {
      report_.wrong(node.at,
                    fmt::format("[{0}]: only one such section is allowed, so it cannot be a list", path),
                    fmt::format("write [{}]", path));
      if (is_tables(node)) out.push_back(&node.items.front());
    } else {
      for (const auto& item : node.items) {
        if (item.sort == Node::Sort::kTable) {
          out.push_back(&item);
        } else {
          std::string keys;
          for (const auto key : first_identity(spec))
            keys += fmt::format("{}{} = …", keys.empty() ? "" : ", ", key);
          // A route is identified by nothing; its first keys say what it is.
          constexpr std::size_t kFirst = 2;
          for (std::size_t at = 0; first_identity(spec).empty() && at < std::min(kFirst, spec.fields.size());
               ++at)
            keys += fmt::format("{}{} = …", keys.empty() ? "" : ", ", spec.fields[at].name);
          report_.wrong(
              item.at,
              fmt::format("{}: must be a table like {{ key = value }}, not {}", label, sort_of(item)),
              keys.empty() ? "" : fmt::format("write {{ {} }}", keys));
        }
      }
    }
    return out;
  }

  /// @param is_single  written as one section, [sysctl], which the last error says
  Section section(const Node& table, const SectionSpec& spec, const std::string& path, bool is_single) {
    const Place here{.spec = &spec, .path = path, .label = label_of(path, spec.repeated)};
    const auto& label = here.label;
    Section out;
    out.path = path;
    out.where = location_of(report_.text, place_of(table));
    const auto errors = report_.diagnostics.size();
    bool dropped = false;             // a value that was reported while it was read
    std::vector<std::size_t> strays;  // errors about keys that are like no known one
    for (const auto& [name, node] : table.members) {
      if (find_spec(spec.children, name)) continue;
      const auto* field = find_spec(spec.fields, name);
      if (!field) {
        const bool guessed = report_unknown(name, node, here, grammar_, report_);
        if (!guessed) strays.push_back(report_.diagnostics.size() - 1);
      } else if (!is_written(*field)) {
        report_not_written(name, node, label);
      } else if (auto value = check_value(node, *field, here, report_)) {
        out.entries.emplace(name, entry_of(node, std::move(*value), report_.text));
      } else {
        // A placeholder that cannot be filled in because of an error in [host] is reported there.
        dropped = dropped || is_substitute(node) || mentions_host(node);
      }
    }
    // Without a header of its own, that is said already.
    auto* stray = strays.size() == 1 ? &report_.diagnostics.at(strays.front()) : nullptr;
    bool identified = true;
    if (table.origin != Node::Origin::kImplied) {
      if (is_single) stray = &report_.diagnostics.at(errors - 1);
      identified = check_identity(table, spec, label, report_, stray);
    }
    bool faulty = dropped || !identified || report_.diagnostics.size() > errors;
    out.children = sections(table, spec.children, path);
    for (const auto& child : out.children) faulty = faulty || (says_which(child, spec) && is_faulty(child));
    if (faulty) file_.faulty.insert(out.where);
    // The entries in [ipoib.ipv4] are parts of it; an [[ipoib.pkey]] is an interface of its own.
    if (faulty && !spec.repeated) spread(out.children);
    return out;
  }

  [[nodiscard]] bool is_faulty(const Section& section) const { return file_.faulty.contains(section.where); }

  static bool says_which(const Section& child, const SectionSpec& spec) {
    const auto name = std::string_view(child.path).substr(child.path.rfind('.') + 1);
    return std::any_of(spec.identities.begin(), spec.identities.end(),
                       [&](const auto& set) { return std::find(set.begin(), set.end(), name) != set.end(); });
  }

  void spread(const std::vector<Section>& sections) {
    for (const auto& section : sections) {
      file_.faulty.insert(section.where);
      spread(section.children);
    }
  }

  Section default_section(const Node& table, const SectionSpec& spec, const std::string& path) {
    const Place here{
        .spec = &spec, .path = path, .label = fmt::format("[defaults.{}]", path), .in_defaults = true};
    const auto& label = here.label;
    Section out;
    out.path = path;
    out.where = location_of(report_.text, table.at);
    const auto errors = report_.diagnostics.size();
    bool dropped = false;  // a value that was reported while it was read
    Node children;
    for (const auto& [name, node] : table.members) {
      const auto* field = find_spec(spec.fields, name);
      const bool names_one = std::any_of(spec.identities.begin(), spec.identities.end(),
                                         [&, key = std::string_view(name)](const auto& set) {
                                           return std::find(set.begin(), set.end(), key) != set.end();
                                         });
      if (find_spec(spec.children, name)) {
        children.members.emplace(name, node);
      } else if (!field || !spec.defaults) {
        report_unknown(name, node, here, grammar_, report_);
      } else if (!is_written(*field)) {
        report_not_written(name, node, label);
      } else if (field->role == model::Role::kIdentity || names_one) {
        report_.wrong(node.key,
                      fmt::format("{} {}: identifies an entry, so it cannot have a default", label, name));
      } else if (name == "name") {
        report_.wrong(node.key,
                      fmt::format("{} name: a default name would be given to every interface", label));
      } else if (auto value = check_value(node, *field, here, report_)) {
        auto entry = entry_of(node, std::move(*value), report_.text);
        entry.from_defaults = true;
        out.entries.emplace(name, std::move(entry));
      } else {
        dropped = dropped || is_substitute(node) || mentions_host(node);
      }
    }
    if (dropped || report_.diagnostics.size() > errors) file_.faulty_defaults.insert(path);
    out.children = defaults(children, spec.children, path);
    return out;
  }

  void report_not_written(const std::string& name, const Node& node, const std::string& label) {
    report_.wrong(node.key, fmt::format("{} {}: is read-only", label, name));
  }

  static bool gives_defaults(const SectionSpec& spec) {
    return spec.defaults || std::any_of(spec.children.begin(), spec.children.end(), gives_defaults);
  }

  void report_no_defaults(const std::string& name, const Node& node, const std::vector<SectionSpec>& specs,
                          const std::string& path) {
    const auto parent = std::string_view(path).substr(0, path.size() - name.size());  // with its dot
    std::vector<std::string> known, homes;
    for (const auto& spec : specs) {
      if (gives_defaults(spec)) known.emplace_back(spec.name);
      const bool has =
          spec.defaults && std::any_of(spec.fields.begin(), spec.fields.end(), [&](const auto& field) {
            return field.name == name && field.role != model::Role::kIdentity;
          });
      if (has) homes.push_back(fmt::format("[defaults.{}{}]", parent, spec.name));
    }
    std::string hint = "write it in each entry";
    if (!homes.empty()) {
      hint = fmt::format("write it in {}", base::join(homes, " or "));
    } else if (const auto near = base::nearest(name, known)) {
      hint = fmt::format("did you mean \"{}\"?", *near);
    } else if (!known.empty()) {
      hint = fmt::format("defaults are possible for {}", base::join(known, ", "));
    }
    report_.wrong(node.key, fmt::format("[defaults.{}]: there are no defaults for {}", path, path), hint);
  }

  const Grammar& grammar_;
  const Reporter& report_;
  CheckedFile& file_;
};

/// False when the file is of a version that this program does not know, so that the rest would be guesswork.
bool check_version(const Node& root, const Reporter& report) {
  const auto at = root.members.find("version");
  if (at == root.members.end()) return true;
  const auto* number = std::get_if<std::int64_t>(&at->second.scalar);
  if (number && *number == 1) return true;
  const auto found = number ? std::to_string(*number) : std::string(sort_of(at->second));
  report.wrong(at->second.at, fmt::format("version: is {}, but this program reads version 1", found),
               number && *number > 1
                   ? "the file is for a newer rdma-configd: update rdma-configd, or write it for version 1"
                   : "write version = 1");
  return false;
}

}  // namespace

std::string family_example(std::string_view section) {
  return fmt::format("{0} = {{ addresses = [\"…\"] }} or {0} = {{ method = \"auto\" }}", section);
}

const Span& place_of(const Node& table) {
  return table.origin == Node::Origin::kDotted ? table.key : table.at;
}

std::string label_of(std::string_view path, bool repeated) {
  return repeated ? fmt::format("[[{}]]", path) : fmt::format("[{}]", path);
}

std::string path_of(std::string_view parent, std::string_view name) {
  return parent.empty() ? std::string(name) : fmt::format("{}.{}", parent, name);
}

CheckedFile check_file(const Node& root, std::string_view host, const Grammar& grammar, Reporter report) {
  CheckedFile out;
  out.understood = check_version(root, report);
  if (!out.understood) return out;
  if (const auto match = root.members.find("match"); match != root.members.end()) {
    out.matched = true;
    out.skipped = check_match(match->second, host, report);
    // Values wanted by a file for other hosts need not exist on this one.
    if (out.skipped) report.values = nullptr;
  }
  Checker checker(grammar, report, out);
  for (const auto& [name, node] : root.members) {
    if (name == "version" || name == "match" || name == "host" || find_spec(grammar, name)) continue;
    if (name == "defaults" && node.sort == Node::Sort::kTable) {
      out.defaults = checker.defaults(node, grammar, "");
    } else if (name == "defaults") {
      report.wrong(node.at,
                   fmt::format("defaults: must be sections such as [defaults.ipoib], not {}", sort_of(node)));
    } else {
      report_unknown(name, node, {}, grammar, report);
    }
  }
  out.sections = checker.sections(root, grammar, "");
  return out;
}

}  // namespace rdmacfg::config
