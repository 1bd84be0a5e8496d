// SPDX-License-Identifier: Apache-2.0
// get and set: single values of the document.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "catalog/all.hpp"
#include "ctl/commands/document_edit.hpp"
#include "ctl/document_file.hpp"
#include "ctl/json.hpp"

namespace rdmacfg::ctl {

using base::Code;
using base::Result;
using Json = nlohmann::ordered_json;

namespace {

/// A merged section as the tree that paths walk through.
config::Node node_of(const model::Section& section) {
  config::Node node;
  node.sort = config::Node::Sort::kTable;
  for (const auto& [key, entry] : section.entries) {
    config::Node value;
    if (const auto* list = std::get_if<std::vector<std::string>>(&entry.value)) {
      value.sort = config::Node::Sort::kList;
      for (const auto& item : *list) value.items.emplace_back().scalar = item;
    } else {
      value.scalar = entry.value;
    }
    node.members.emplace(key, std::move(value));
  }
  return node;
}

const model::SectionSpec* spec_of(const std::vector<model::SectionSpec>& specs, std::string_view name) {
  for (const auto& spec : specs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

config::Node tree_of(const std::vector<model::Section>& sections,
                     const std::vector<model::SectionSpec>& specs) {
  config::Node root;
  root.sort = config::Node::Sort::kTable;
  for (const auto& section : sections) {
    const auto dot = section.path.rfind('.');
    const auto name = section.path.substr(dot == std::string::npos ? 0 : dot + 1);
    const auto* spec = spec_of(specs, name);
    auto node = node_of(section);
    auto below =
        tree_of(section.children, spec == nullptr ? std::vector<model::SectionSpec>() : spec->children);
    node.members.merge(below.members);
    if (spec == nullptr || !spec->repeated) {
      root.members.insert_or_assign(name, std::move(node));
      continue;
    }
    auto& list = root.members[name];
    list.sort = config::Node::Sort::kList;
    list.items.push_back(std::move(node));
  }
  return root;
}

Json json_of(const config::Node& node) {
  switch (node.sort) {
    case config::Node::Sort::kList: {
      Json out = Json::array();
      for (const auto& item : node.items) out.push_back(json_of(item));
      return out;
    }
    case config::Node::Sort::kTable: {
      Json out = Json::object();
      for (const auto& [key, member] : node.members) out[key] = json_of(member);
      return out;
    }
    default:
      return value_json(node.scalar);
  }
}

void print(std::ostream& out, const config::Node& node, const std::string& prefix) {
  if (node.sort == config::Node::Sort::kScalar) {
    // As the document has it; a text alone without its quotes, for scripts.
    const auto* text = std::get_if<std::string>(&node.scalar);
    out << (prefix.empty() ? "" : prefix + " = ")
        << (text != nullptr ? *text : base::harmless_json(value_json(node.scalar).dump())) << '\n';
  } else if (node.sort == config::Node::Sort::kList &&
             (node.items.empty() || node.items.front().sort != config::Node::Sort::kTable)) {
    out << (prefix.empty() ? "" : prefix + " = ") << base::harmless_json(json_of(node).dump()) << '\n';
  } else if (node.sort == config::Node::Sort::kList) {
    const auto selectors = selectors_for(node);
    for (std::size_t i = 0; i < node.items.size(); ++i)
      print(out, node.items[i], fmt::format("{}[{}]", prefix, selectors[i]));
  } else {
    for (const auto& [key, member] : node.members)
      print(out, member, prefix.empty() ? key : fmt::format("{}.{}", prefix, key));
  }
}

/// Whether a file is for other hosts.
bool is_for_others(const config::Document& document, const std::string& name) {
  return std::any_of(document.skipped.begin(), document.skipped.end(),
                     [&](const config::SkippedFile& file) { return file.name == name; });
}

/// Whether an entry of one file is the `merged` one of the document, by the keys that identify it.
bool is_same_entry(const config::Node& entry, const config::Node& merged, const model::SectionSpec& spec) {
  const auto is_same = [&](std::string_view key) {
    const auto field = std::find_if(spec.fields.begin(), spec.fields.end(),
                                    [&](const model::FieldSpec& candidate) { return candidate.name == key; });
    const auto here = entry.members.find(key), there = merged.members.find(key);
    if (field == spec.fields.end() || field->parse == nullptr || here == entry.members.end() ||
        there == merged.members.end() || here->second.sort != config::Node::Sort::kScalar)
      return false;
    const auto value = field->parse(here->second.scalar);
    return value && *value == there->second.scalar;
  };
  return std::any_of(spec.identities.begin(), spec.identities.end(),
                     [&](const auto& set) { return std::all_of(set.begin(), set.end(), is_same); });
}

/// The path to the entry that `path` leads to in the document, as one file counts it: a drop-in may have the
/// entry without the name by which `path` selects it.
std::optional<std::vector<PathStep>> path_within(const config::Node& file, const config::Node& document,
                                                 const std::vector<PathStep>& path) {
  const auto* spec = spec_of(kinds::grammar(), path.front().name);
  const auto list = file.members.find(path.front().name);
  if (spec == nullptr || path.front().selector.empty() || list == file.members.end()) return std::nullopt;
  const std::vector<PathStep> first{path.front()};
  const auto merged = find_node(document, first);
  if (!merged || merged->value == nullptr || merged->counted) return std::nullopt;
  for (std::size_t i = 0; i < list->second.items.size(); ++i) {
    const auto& entry = list->second.items[i];
    if (!is_same_entry(entry, *merged->value, *spec)) continue;
    auto counted = path;
    counted.front().selector = std::to_string(i);
    const std::vector<PathStep> to_entry{counted.front()};
    const auto found = find_node(file, to_entry);
    // A name may look like a number.
    if (found && found->value == &entry) return counted;
  }
  return std::nullopt;
}

/// Where a value is written: the file, and the path that leads to the entry there.
struct Destination {
  std::size_t file = 0;
  std::vector<PathStep> path;
};

/// The file in which a path is to be written: the last one that has the key, else the first with the entry,
/// else the first; of those that are for this host, where there is one.
Result<Destination> destination_of(const Context& context, const std::vector<config::Text>& texts,
                                   const std::vector<PathStep>& path) {
  const auto document = config::parse_texts(texts, host_name(context), kinds::grammar());
  const auto whole = tree_of(document.sections, kinds::grammar());
  std::optional<Destination> value;
  std::optional<std::size_t> first;
  std::optional<base::Error> error;
  std::size_t entry = 0, most = 0, with_section = 0;
  bool counted = false;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (is_for_others(document, texts[i].name)) continue;
    if (!first) entry = *(first = i);
    const auto tree = config::parse_tree(texts[i], {});
    if (!tree.errors.empty()) continue;  // with_value() says what is wrong with the one that is chosen
    if (tree.root.members.contains(path.front().name)) ++with_section;
    const auto found = find_node(tree.root, path);
    if (!found) {
      if (!error) error = found.error().in(texts[i].name);
      if (found.error().code == Code::kNotFound)
        value = Destination{i, path};  // a list that is too short is the list all the same
      continue;
    }
    counted = counted || found->counted;
    if (found->value != nullptr) {
      value = Destination{i, path};
    } else if (auto other = path_within(tree.root, whole, path)) {
      const auto unnamed = find_node(tree.root, *other);
      if (unnamed && unnamed->value != nullptr) value = Destination{i, std::move(*other)};
    }
    if (found->steps > most) {
      most = found->steps;
      entry = i;
    }
  }
  if (counted && with_section > 1)
    return base::fail(Code::kInvalid,
                      fmt::format("{}: a number counts within one file, and {} files have such entries; use "
                                  "the name of the entry: {}[NAME]",
                                  path_text(path, path.size()), with_section, path.front().name));
  if (!value && error) return base::fail(*error);
  return value ? std::move(*value) : Destination{entry, path};
}

void lay_over(config::Node& below, const config::Node& above) {
  if (below.sort != config::Node::Sort::kTable || above.sort != config::Node::Sort::kTable) {
    below = above;
    return;
  }
  for (const auto& [key, member] : above.members) {
    const auto [at, fresh] = below.members.try_emplace(key, member);
    if (!fresh) lay_over(at->second, member);
  }
}

/// Values for all sections: merged into them, they are only in the files.
std::optional<config::Node> before_merging(const config::Document& document,
                                           const std::vector<PathStep>& path) {
  if (path.front().name != "version" && path.front().name != "defaults") return std::nullopt;
  std::optional<config::Node> out;
  for (const auto& text : document.files) {
    if (is_for_others(document, text.name)) continue;
    const auto tree = config::parse_tree(text, {});
    const auto found = find_node(tree.root, path);
    if (!found || found->value == nullptr) continue;
    if (out) {
      lay_over(*out, *found->value);
    } else {
      out = *found->value;
    }
  }
  return out;
}

/// "PATH=VALUE" is two words, as netplan writes it, and "PATH = VALUE", as the document does; a '=' in
/// brackets belongs to a selector.
void split_at_equals(std::vector<std::string>& words) {
  const auto& word = words.front();
  int open = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    open += word[i] == '[' ? 1 : word[i] == ']' ? -1 : 0;
    if (word[i] != '=' || open != 0) continue;
    const std::string_view whole = word;
    words = {std::string(base::trim(whole.substr(0, i))), std::string(base::trim(whole.substr(i + 1)))};
    return;
  }
}

/// Whether the values of a field are lists in the first place, as its schema says.
bool is_of_lists(const model::FieldSpec& field) {
  return field.schema.starts_with(R"({"type":"array")") || field.schema.starts_with(R"({"type":["array")");
}

}  // namespace

std::string as_toml_for(const std::vector<PathStep>& path, const std::string& written) {
  const auto plain = as_toml(written);
  const auto* specs = &kinds::grammar();
  const model::SectionSpec* spec = nullptr;
  for (std::size_t i = path.front().name == "defaults" ? 1 : 0; i + 1 < path.size(); ++i) {
    spec = spec_of(*specs, path[i].name);
    if (spec == nullptr) return plain;
    specs = &spec->children;
  }
  if (spec == nullptr || !path.back().selector.empty() || plain.starts_with('[')) return plain;
  const auto field =
      std::find_if(spec->fields.begin(), spec->fields.end(),
                   [&](const model::FieldSpec& candidate) { return candidate.name == path.back().name; });
  if (field == spec->fields.end() || field->parse == nullptr) return plain;
  std::vector<std::string> items;
  for (const auto item : base::split(written, ',')) items.emplace_back(base::trim(item));
  const auto number = base::parse_number(written);
  const auto scalar = number ? model::Value(static_cast<std::int64_t>(*number)) : model::Value(written);
  // A list of texts takes a single one, too, but none with a comma is meant.
  const bool texts = field->type == model::Codec<std::vector<std::string>>::kType && items.size() > 1;
  if (!texts && (field->parse(scalar) || field->parse(model::Value(written)))) return plain;
  // In a list, the error about a wrong item names the item.
  const bool takes_list = is_of_lists(*field) && plain.starts_with('"');
  if (!takes_list && !field->parse(items)) return plain;
  for (auto& item : items) item = as_toml(item);
  return fmt::format("[{}]", base::join(items, ", "));
}

int get(const Context& context) {
  if (context.arguments.words.size() != 1)
    return refuse(context, {Code::kInvalid, "get takes one path, such as ipoib[mlx4_ib0].mtu", 0});
  const auto& written = context.arguments.words.front();
  const auto path = parse_path(written);
  if (!path) return refuse(context, path.error());
  const auto document = load(context);
  if (!document) return refuse(context, document.error());
  if (model::has_errors(document->diagnostics)) {
    tell(context, *document, document->diagnostics);
    return refuse(context, {Code::kInvalid, "the document has errors; see `rdma-configctl validate`", 0});
  }
  const auto tree = tree_of(document->sections, kinds::grammar());
  const auto found = find_node(tree, *path);
  if (!found) return refuse(context, found.error());
  const auto raw = found->value == nullptr ? before_merging(*document, *path) : std::nullopt;
  const auto* value = raw ? &*raw : found->value;
  if (value == nullptr) return refuse(context, {Code::kNotFound, describe_missing(tree, *path).text(), 0});
  if (context.arguments.json) {
    auto json = head(kValueSchema, "get", {}, 0);
    json["path"] = written;
    json["value"] = json_of(*value);
    emit(context, std::move(json));
    return 0;
  }
  print(context.environment.out, *value, "");
  return 0;
}

namespace {

/// Whether a path is about an entry of a [[section]] of which the file has none: a key alone does not make
/// one.
bool lacks_entry(const config::Text& text, const std::vector<PathStep>& path) {
  const auto* spec = spec_of(kinds::grammar(), path.front().name);
  if (spec == nullptr || !spec->repeated || path.size() == 1) return false;
  const auto tree = config::parse_tree(text, {});
  return tree.errors.empty() && !tree.root.members.contains(path.front().name);
}

/// Why a path cannot be written: it begins with the name of an entry, say. Empty: it begins with a section.
std::string why_no_section(const config::Text& text, const std::vector<PathStep>& path) {
  if (is_section(path.front().name)) return {};
  const auto tree = config::parse_tree(text, {});
  if (!tree.errors.empty() || tree.root.members.contains(path.front().name)) return {};
  return describe_missing(tree.root, path, text.name).text();
}

/// The files of the document, one of them with its new text.
struct EditedTexts {
  std::vector<config::Text> texts;
  std::size_t file = 0;  ///< the edited one
  bool same = false;     ///< its text is as it was
};

/// `words`: the path, and the value unless --unset removes it.
Result<EditedTexts> edited_texts(const Context& context, const std::vector<std::string>& words) {
  const bool unset = context.arguments.set.unset;
  const auto path = parse_path(words.front());
  if (!path) return base::fail(path.error());
  auto texts = texts_to_edit(context);
  if (!texts) return base::fail(texts.error());
  const auto destination = destination_of(context, *texts, *path);
  if (!destination) return base::fail(destination.error());
  auto& text = (*texts)[destination->file];
  if (const auto why = why_no_section(text, *path); !why.empty()) return base::fail(Code::kNotFound, why);
  if (!unset && lacks_entry(text, destination->path))
    return base::fail(Code::kNotFound,
                      fmt::format("{} is not in {}; add the entry with `rdma-configctl edit`",
                                  path_text(*path, path->size()), text.name));
  auto changed = unset ? without_value(text, destination->path)
                       : with_value(text, destination->path, as_toml_for(*path, words[1]));
  if (!changed) return base::fail(changed.error());
  const bool same = *changed == text.text;
  text.text = std::move(*changed);
  return EditedTexts{std::move(*texts), destination->file, same};
}

/// set(), under the document's lock.
int set_value(const Context& context) {
  const auto& arguments = context.arguments;
  auto words = arguments.words;
  if (!arguments.set.unset && words.size() == 1) split_at_equals(words);
  const std::size_t wanted = arguments.set.unset ? 1 : 2;
  if (words.size() != wanted) {
    return refuse(context,
                  {Code::kInvalid,
                   arguments.set.unset ? "set --unset takes one path, such as ipoib[mlx4_ib0].umcast"
                                       : "set takes a path and a value, such as ipoib[mlx4_ib0].mtu 4092",
                   0});
  }
  const auto edited = edited_texts(context, words);
  if (!edited) return refuse(context, edited.error());
  const auto& text = edited->texts[edited->file];
  auto all = with_tables(context, edited->texts);
  if (!all) return refuse(context, all.error());
  const auto document = parse_document(std::move(*all), host_name(context));
  const auto report = core::validate(document);
  if (report.exit == model::Exit::kError) {
    tell(context, document, report.diagnostics);
    return refuse(context, {Code::kInvalid,
                            fmt::format("{} was not changed: the document would have errors", text.name), 0});
  }
  tell(context, document, report.diagnostics);
  // A document on a pipe goes on, changed or not.
  if (!edited->same || text.name == config::kStandardInput) {
    if (auto done = write_document(context, text.name, text.text); !done)
      return refuse(context, done.error());
  }
  if (arguments.json) {
    emit(context, to_json(report, "set", 0));
    return 0;
  }
  if (edited->same) {
    context.say("the document already has this value; nothing was changed");
    return 0;
  }
  context.say(fmt::format("{} was changed; `rdma-configctl diff` shows its effect on the host", text.name));
  return 0;
}

}  // namespace

int set(const Context& context) {
  // From before the text is read: another set at the same time works on what this one writes.
  const auto lock = lock_document(context);
  if (!lock) return refuse(context, lock.error());
  return set_value(context);
}

}  // namespace rdmacfg::ctl
