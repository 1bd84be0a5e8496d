// SPDX-License-Identifier: Apache-2.0
// Paths into the document, "ipoib[mlx4_ib0].pkey[0x8002].mtu".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "ctl/commands/document_edit.hpp"
#include "model/types.hpp"

namespace rdmacfg::ctl {

using base::Code;
using base::fail;
using base::Result;
using config::Node;

namespace {

/// Keys by whose value alone an entry can be selected.
constexpr std::array kNames{"guid",   "name",    "interface", "device", "pkey", "unit",
                            "domain", "driver",  "key",       "path",   "wwn",  "nqn",
                            "target", "address", "option",    "mgid",   "pci",  "node_guid"};

/// The same, in the order in which people call an entry.
constexpr std::array kSpoken{"name",    "interface", "device", "pkey", "unit", "domain",
                             "driver",  "key",       "path",   "wwn",  "nqn",  "target",
                             "address", "option",    "mgid",   "guid", "pci",  "node_guid"};

/// A target of SRP is called by the GUID of its port.
bool may_be_guid(std::string_view key) { return key.ends_with("guid") || key == "wwn"; }

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// Kernel settings are written with dots or slashes.
std::string with_slashes(std::string text) {
  std::replace(text.begin(), text.end(), '.', '/');
  return text;
}

bool is_value(const Node& node, std::string_view key, const std::string& wanted) {
  if (node.sort != Node::Sort::kScalar) return false;
  const auto text = model::text_of(node.scalar);
  if (base::lower(text) == base::lower(wanted)) return true;
  if (key == "key" && with_slashes(text) == with_slashes(wanted)) return true;
  if (may_be_guid(key)) {
    const auto guid = model::Guid::parse(text), wanted_guid = model::Guid::parse(wanted);
    return guid && wanted_guid && *guid == *wanted_guid;
  }
  const auto number = base::parse_number(text), wanted_number = base::parse_number(wanted);
  if (!number || !wanted_number) return false;
  return *number == *wanted_number || (key == "pkey" && ((*number ^ *wanted_number) & 0x7fffU) == 0);
}

bool is_selected(const Node& entry, const std::string& selector) {
  const auto equals = selector.find('=');
  if (equals != std::string::npos) {
    const auto key = base::trim(std::string_view(selector).substr(0, equals));
    auto value = std::string(base::trim(std::string_view(selector).substr(equals + 1)));
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    const auto at = entry.members.find(key);
    return at != entry.members.end() && is_value(at->second, key, value);
  }
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* key) {
    const auto at = entry.members.find(key);
    return at != entry.members.end() && is_value(at->second, key, selector);
  });
}

bool is_list_of_tables(const Node& node) {
  return node.sort == Node::Sort::kList && !node.items.empty() &&
         node.items.front().sort == Node::Sort::kTable;
}

/// Selectors of a list's entries, for people: "mlx4_ib0, mlx4_ib1".
std::string selectors_of(const Node& list) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.items.size() && i < kMost; ++i) {
    const auto& members = list.items[i].members;
    const auto name =
        std::find_if(kSpoken.begin(), kSpoken.end(), [&](const char* key) { return members.contains(key); });
    const auto* value = name == kSpoken.end() ? nullptr : &members.find(*name)->second.scalar;
    const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
    out.push_back(value == nullptr    ? std::to_string(i)
                  : number != nullptr ? fmt::format("{:#06x}", *number)  // a P_Key
                                      : model::text_of(*value));
  }
  return base::join(out, ", ") + (list.items.size() > kMost ? ", …" : "");
}

/// The entries of a list by what selects them, as is_selected() has it of selectors without "=": with one
/// look for all of them.
class Selectable {
 public:
  explicit Selectable(const Node& list) {
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      for (const auto* key : kNames) {
        const auto at = list.items[i].members.find(key);
        if (at == list.items[i].members.end() || at->second.sort != Node::Sort::kScalar) continue;
        add(key, model::text_of(at->second.scalar), i);
      }
    }
  }

  /// Whether a selector leads to this entry alone.
  [[nodiscard]] bool is_only(const std::string& selector, std::size_t place) const {
    std::vector<std::string> words{as_text(selector), as_setting(selector)};
    if (const auto guid = model::Guid::parse(selector)) words.push_back(as_guid(*guid));
    if (const auto number = base::parse_number(selector)) {
      words.push_back(as_number(*number));
      words.push_back(as_partition(*number));
    }
    bool found = false;
    for (const auto& word : words) {
      const auto at = first_.find(word);
      if (at == first_.end()) continue;
      if (at->second != place || several_.contains(word)) return false;
      found = true;
    }
    return found;
  }

 private:
  static std::string as_text(const std::string& value) { return "text " + base::lower(value); }
  static std::string as_setting(const std::string& value) { return "setting " + with_slashes(value); }
  static std::string as_guid(const model::Guid& guid) { return "guid " + guid.text(); }
  static std::string as_number(std::uint64_t number) { return fmt::format("number {}", number); }
  static std::string as_partition(std::uint64_t number) {
    return fmt::format("partition {}", number & 0x7fffU);
  }

  void add(std::string_view key, const std::string& text, std::size_t place) {
    add(as_text(text), place);
    if (key == "key") add(as_setting(text), place);
    if (may_be_guid(key)) {
      if (const auto guid = model::Guid::parse(text)) add(as_guid(*guid), place);
      return;
    }
    const auto number = base::parse_number(text);
    if (!number) return;
    add(as_number(*number), place);
    if (key == "pkey") add(as_partition(*number), place);
  }

  void add(const std::string& word, std::size_t place) {
    const auto [at, fresh] = first_.try_emplace(word, place);
    if (!fresh && at->second != place) several_.insert(word);
  }

  std::map<std::string, std::size_t> first_;
  std::set<std::string> several_;
};

/// One of several entries; nullptr: there is none of that selector.
Result<const Node*> select(const Node& list, const std::vector<PathStep>& path, std::size_t step,
                           bool* counted = nullptr) {
  const auto& selector = path[step].selector;
  const auto name = path_text(path, step + 1);
  if (selector.empty()) {
    if (list.items.size() == 1) return &list.items.front();
    return fail(Code::kInvalid,
                fmt::format("{}: there are {} entries; select one: {}[0], {}[NAME] or {}[KEY=VALUE]", name,
                            list.items.size(), name, name, name));
  }
  std::vector<const Node*> found;
  for (const auto& item : list.items) {
    if (is_selected(item, selector)) found.push_back(&item);
  }
  if (found.size() > 1)
    return fail(Code::kInvalid,
                fmt::format("{}: {} entries match; select one by number or KEY=VALUE", name, found.size()));
  if (found.size() == 1) return found.front();
  const auto number = base::parse_number(selector);
  if (!number || *number >= list.items.size()) return nullptr;
  if (counted != nullptr) *counted = true;
  return &list.items[static_cast<std::size_t>(*number)];
}

}  // namespace

std::vector<std::string> selectors_for(const Node& list) {
  const Selectable selectable(list);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const auto& members = list.items[i].members;
    out.push_back(std::to_string(i));
    for (const auto* key : kSpoken) {
      const auto at = members.find(key);
      if (at == members.end() || at->second.sort != Node::Sort::kScalar) continue;
      const auto* number = std::get_if<std::int64_t>(&at->second.scalar);
      auto selector = number != nullptr ? fmt::format("{:#06x}", *number) : model::text_of(at->second.scalar);
      if (selector.find_first_of("[]=") != std::string::npos || !selectable.is_only(selector, i)) continue;
      out.back() = std::move(selector);
      break;
    }
  }
  return out;
}

bool is_section(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWithoutKind{"version", "defaults", "match", "host"};
  const auto& grammar = kinds::grammar();
  return std::find(kWithoutKind.begin(), kWithoutKind.end(), name) != kWithoutKind.end() ||
         std::any_of(grammar.begin(), grammar.end(),
                     [&](const model::SectionSpec& section) { return section.name == name; });
}

std::string path_text(const std::vector<PathStep>& path, std::size_t steps) {
  std::string out;
  for (std::size_t i = 0; i < steps; ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : ".", path[i].name);
    if (!path[i].selector.empty()) out += fmt::format("[{}]", path[i].selector);
  }
  return out;
}

Result<std::vector<PathStep>> parse_path(std::string_view path) {
  std::vector<PathStep> out;
  std::size_t at = 0;
  const auto wrong = [&](std::string_view what) {
    return fail(Code::kInvalid, fmt::format("{}: {}; write SECTION.KEY or SECTION[SELECTOR].KEY, such as "
                                            "ipoib[mlx4_ib0].mtu",
                                            path, what));
  };
  while (true) {
    PathStep step;
    const auto start = at;
    while (at < path.size() && is_bare(path[at])) ++at;
    step.name = path.substr(start, at - start);
    if (step.name.empty()) return wrong("a name is missing");
    if (at < path.size() && path[at] == '[') {
      const auto end = path.find(']', at);
      if (end == std::string_view::npos) return wrong("the bracket is not closed");
      step.selector = base::trim(path.substr(at + 1, end - at - 1));
      if (step.selector.empty()) return wrong("the brackets are empty");
      at = end + 1;
    }
    out.push_back(std::move(step));
    if (at == path.size()) return out;
    if (path[at] != '.') return wrong(fmt::format("unexpected '{}'", path[at]));
    ++at;
  }
}

Result<Found> find_node(const Node& root, const std::vector<PathStep>& path) {
  Found found;
  found.entry = found.deepest = found.home = &root;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto at = found.entry->members.find(path[i].name);
    const bool last = i + 1 == path.size();
    found.deepest = found.entry;
    if (at == found.entry->members.end()) {
      if (!last) found.entry = nullptr;
      return found;
    }
    const auto* node = &at->second;
    if (node->sort == Node::Sort::kList && !is_list_of_tables(*node) && !path[i].selector.empty()) {
      const auto number = base::parse_number(path[i].selector);
      if (!last || !number || *number >= node->items.size())
        return fail(Code::kNotFound,
                    fmt::format("{}: the list has {} value{}, counted from [0]", path_text(path, path.size()),
                                node->items.size(), node->items.size() == 1 ? "" : "s"));
      found.value = &node->items[static_cast<std::size_t>(*number)];
      found.single = true;
      found.steps = i + 1;
      return found;
    }
    if (is_list_of_tables(*node) && (!last || !path[i].selector.empty())) {
      auto selected = select(*node, path, i, &found.counted);
      if (!selected) return fail(selected.error());
      if (*selected == nullptr) {
        found.entry = nullptr;
        return found;
      }
      found.single = last && node->origin == Node::Origin::kValue;
      node = *selected;
    } else if (!path[i].selector.empty() && !is_selected(*node, path[i].selector)) {
      found.entry = nullptr;
      return found;
    }
    found.steps = i + 1;
    if (last) {
      found.value = node;
      return found;
    }
    if (node->sort != Node::Sort::kTable)
      return fail(Code::kInvalid,
                  fmt::format("{} is {}, which has no keys", path_text(path, i + 1), config::sort_of(*node)));
    found.entry = node;
    if (node->origin == Node::Origin::kDotted || node->origin == Node::Origin::kImplied) continue;
    found.home = node;
    found.home_steps = i + 1;
  }
  return found;
}

namespace {

/// The remedy for a path that begins with the name of an entry, or with a key: "write ipoib[mlx4_ib0].mtu".
std::string section_instead(const Node& root, const std::vector<PathStep>& path) {
  const auto& word = path.front().name;
  const auto whole = path_text(path, path.size());
  const auto rest = whole.substr(path_text(path, 1).size());
  const auto is_called = [&](const Node& item, bool with_key) {
    return is_selected(item, word) && (!with_key || path.size() == 1 || item.members.contains(path[1].name));
  };
  for (const bool with_key : {true, false}) {
    for (const auto& [section, node] : root.members) {
      if (is_list_of_tables(node) && std::any_of(node.items.begin(), node.items.end(),
                                                 [&](const Node& item) { return is_called(item, with_key); }))
        return fmt::format("write {}[{}]{}", section, word, rest);
    }
  }
  for (const auto& [section, node] : root.members) {
    if (node.sort == Node::Sort::kTable && node.members.contains(word))
      return fmt::format("write {}.{}", section, whole);
    if (!is_list_of_tables(node)) continue;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      if (!node.items[i].members.contains(word)) continue;
      return node.items.size() == 1 ? fmt::format("write {}.{}", section, whole)
                                    : fmt::format("write {}[{}].{}", section, selectors_for(node)[i], whole);
    }
  }
  return {};
}

}  // namespace

Missing describe_missing(const Node& root, const std::vector<PathStep>& path, std::string_view in) {
  Missing absent{fmt::format("{} is not in {}", path_text(path, path.size()), in), {}};
  const Node *at = &root, *list = nullptr;  // list: the one of which `at` is the only entry
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto member = at->members.find(path[i].name);
    if (member == at->members.end()) {
      const auto named = [&](const Node& item) { return is_selected(item, path[i].name); };
      if (list != nullptr && std::any_of(list->items.begin(), list->items.end(), named)) {
        absent.instead = fmt::format("write {}[{}]", path_text(path, i), path[i].name);
        return absent;
      }
      std::vector<std::string> keys;
      for (const auto& [key, node] : at->members) keys.push_back(key);
      if (const auto near = base::nearest(path[i].name, keys))
        absent.instead = fmt::format("did you mean {}?", *near);
      if (i == 0 && !is_section(path.front().name)) {
        if (auto instead = section_instead(root, path); !instead.empty()) absent.instead = std::move(instead);
        if (absent.instead.empty())
          absent.instead = fmt::format(
              "there is no section {}; write SECTION.KEY or SECTION[SELECTOR].KEY, such "
              "as ipoib[mlx4_ib0].mtu",
              path.front().name);
      }
      return absent;
    }
    const auto* node = &member->second;
    list = is_list_of_tables(*node) && path[i].selector.empty() ? node : nullptr;
    if (is_list_of_tables(*node)) {
      const auto selected = select(*node, path, i);
      if (!selected) return {selected.error().message, {}};
      if (*selected == nullptr)
        return {fmt::format("there is no {} in {}", path_text(path, i + 1), in),
                fmt::format("there {} {}", node->items.size() == 1 ? "is" : "are", selectors_of(*node))};
      node = *selected;
    }
    at = node;
  }
  return absent;
}

}  // namespace rdmacfg::ctl
