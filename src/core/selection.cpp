// SPDX-License-Identifier: Apache-2.0
#include "core/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "config/write.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "model/types.hpp"

namespace rdmacfg::core {

using base::Code;
using model::Change;
using model::Key;
using model::Section;

namespace {

constexpr std::string_view kChild = "ipoib.pkey";  ///< is an entry of its own, inside of its port's

/// One entry of a document.
struct EntryUnit {
  const Section* section = nullptr;
  std::size_t parent = 0;  ///< of a P_Key entry: the place of its port's
  bool is_child = false;
  std::set<Key> keys;            ///< resources that it asks for
  std::set<std::string> called;  ///< lower case
  bool selected = false;
};

/// The entries of a document, each with what it asks for on this host.
class EntryUnits {
 public:
  static base::Result<EntryUnits> of(const config::Document& document, system::Host& host) {
    EntryUnits out;
    for (const auto& section : document.sections) {
      const auto parent = out.add(section, std::nullopt);
      for (const auto& child : section.children) {
        if (child.path == kChild) out.add(child, parent);
      }
    }
    auto observation = observe_host(document, host, {}, ObserveOptions{});
    if (!observation) return base::fail(observation.error());
    for (const auto& desired : observation->desired) {
      // Others may add to it: [[lossless]] to [[pfc]].
      for (const auto& [field, where] : desired.origins) {
        if (const auto at = out.places_.find(where); at != out.places_.end())
          out.list[at->second].keys.insert(desired.key);
      }
      const auto at = out.places_.find(desired.where);
      if (at == out.places_.end()) continue;
      auto& unit = out.list[at->second];
      unit.keys.insert(desired.key);
      for (const auto& name : {desired.key.kind, desired.key.id, desired.key.text(), desired.label,
                               model::text_at(desired.settings, "name")})
        unit.called.insert(base::lower(name));
      if (const auto* observed = observation->find(desired.key))
        unit.called.insert(base::lower(observed->label));
    }
    for (std::size_t i = 0; i < out.list.size(); ++i) {
      out.list[i].called.erase("");
      for (const auto& key : out.list[i].keys) out.owners_.emplace(key, i);
    }
    return out;
  }

  [[nodiscard]] bool selects(const Key& key) const {
    const auto [first, last] = owners_.equal_range(key);
    return std::any_of(first, last, [&](const auto& owner) { return list[owner.second].selected; });
  }
  /// The first entry that means the same as one of another document; null without one.
  [[nodiscard]] const EntryUnit* same_as(const EntryUnit& other) const {
    const auto& path = other.section->path;
    // [daemon] and the like may ask for no resource, and there is one of each.
    if (is_single(path)) {
      const auto at = std::find_if(list.begin(), list.end(),
                                   [&](const EntryUnit& unit) { return unit.section->path == path; });
      return at == list.end() ? nullptr : &*at;
    }
    auto found = list.size();
    for (const auto& key : other.keys) {
      const auto [first, last] = owners_.equal_range(key);
      for (auto owner = first; owner != last; ++owner) {
        if (list[owner->second].section->path == path) found = std::min(found, owner->second);
      }
    }
    return found == list.size() ? nullptr : &list[found];
  }

  std::vector<EntryUnit> list;

 private:
  static bool is_single(const std::string& path) {
    const auto& specs = kinds::grammar();
    return std::any_of(specs.begin(), specs.end(),
                       [&](const auto& spec) { return spec.name == path && !spec.repeated; });
  }

  /// @param parent  of a P_Key entry: the place of its port's
  std::size_t add(const Section& section, std::optional<std::size_t> parent) {
    EntryUnit unit;
    unit.section = &section;
    unit.is_child = parent.has_value();
    unit.parent = parent.value_or(0);
    unit.called = {section.path, section.path.substr(section.path.rfind('.') + 1)};
    for (const auto* key :
         {"guid", "device", "interface", "name", "driver", "pci", "key", "domain", "pkey"}) {
      if (const auto* entry = section.find(key))
        unit.called.insert(base::lower(model::text_of(entry->value)));
    }
    const auto *device = section.find("device"), *port = section.find("port");
    if (device != nullptr && port != nullptr)
      unit.called.insert(
          base::lower(fmt::format("{}/{}", model::text_of(device->value), model::text_of(port->value))));
    list.push_back(std::move(unit));
    place(section, list.size() - 1);
    return list.size() - 1;
  }

  void place(const Section& section, std::size_t unit) {
    places_.emplace(section.where, unit);
    for (const auto& [key, entry] : section.entries) {
      if (!entry.from_defaults)
        entry.each_place([&](const model::Location& place) { places_.emplace(place, unit); });
    }
    for (const auto& child : section.children) {
      if (child.path != kChild) place(child, unit);
    }
  }

  std::map<model::Location, std::size_t> places_;
  std::multimap<Key, std::size_t> owners_;  ///< entries that ask for a resource
};

/// Changes that give up the name that another one takes.
std::multimap<Key, Key> name_givers(const std::vector<Change>& changes) {
  std::map<std::pair<std::string, model::Value>, const Key*> holders;
  for (const auto& change : changes) {
    const auto& name = model::value_of(change.before, "name");
    if (name != model::Value{})
      holders.emplace(std::pair{std::string(name_space_of(change)), name}, &change.key);
  }
  std::multimap<Key, Key> out;
  for (const auto& change : changes) {
    const auto at = holders.find({std::string(name_space_of(change)), model::value_of(change.after, "name")});
    if (at != holders.end() && *at->second != change.key) out.emplace(change.key, *at->second);
  }
  return out;
}

/// `keys` with what their changes need of other changes, over any number of steps.
void close_over(const std::vector<Change>& changes, std::set<Key>& keys) {
  std::map<Key, const Change*> by_key;
  for (const auto& change : changes) by_key.emplace(change.key, &change);
  const auto givers = name_givers(changes);
  std::vector<Key> open(keys.begin(), keys.end());
  const auto take = [&](const Key& key) {
    if (by_key.contains(key) && keys.insert(key).second) open.push_back(key);
  };
  while (!open.empty()) {
    const auto key = open.back();
    open.pop_back();
    const auto at = by_key.find(key);
    if (at == by_key.end()) continue;
    for (const auto& need : at->second->needs) take(need);
    const auto [first, last] = givers.equal_range(key);
    for (auto giver = first; giver != last; ++giver) take(giver->second);
  }
}

bool is_called(const EntryUnit& unit, std::string_view word) {
  // Resources call a GUID in one way, however it is spelled.
  if (const auto guid = model::Guid::parse(word); guid && unit.called.contains(guid->text())) return true;
  return std::any_of(unit.called.begin(), unit.called.end(),
                     [&](const auto& name) { return name == word || base::matches_glob(word, name); });
}

/// A name or pattern, or one within a section, spelled as for get and set: "ipoib[mlx4_ib0]",
/// "ipoib/mlx4_ib0".
bool is_meant(const EntryUnit& unit, const std::string& word) {
  if (is_called(unit, word)) return true;
  const auto cut = word.find_first_of("[/");
  if (cut == std::string::npos || cut == 0 || (word[cut] == '[' && word.back() != ']')) return false;
  const auto section = std::string_view(word).substr(0, cut);
  const auto name = std::string_view(word).substr(cut + 1, word.size() - cut - (word[cut] == '[' ? 2 : 1));
  return (section == unit.section->path || section == "pkey") && !name.empty() && is_called(unit, section) &&
         is_called(unit, name);
}

class Selector {
 public:
  Selector(EntryUnits wanted, EntryUnits active, const model::Report& planned)
      : wanted_(std::move(wanted)), active_(std::move(active)), planned_(planned) {}

  base::Result<void> match(const std::string& pattern) {
    const auto word = base::lower(pattern);
    bool found = false;
    for (auto* units : {&wanted_, &active_}) {
      for (auto& unit : units->list) {
        if (!is_meant(unit, word)) continue;
        unit.selected = found = true;
      }
    }
    if (found) return {};
    std::vector<std::string> names;
    for (const auto* units : {&wanted_, &active_}) {
      for (const auto& unit : units->list) names.insert(names.end(), unit.called.begin(), unit.called.end());
    }
    const auto near = base::nearest(word, names);
    return base::fail(Code::kNotFound, fmt::format("--only {}: no entry of the document matches{}", pattern,
                                                   near ? fmt::format("; did you mean {}?", *near) : ""));
  }

  /// Selects what goes with what is selected, until nothing more does.
  void close() {
    for (std::size_t before = 0, now = count(); now != before;) {
      before = now;
      auto keys = this->keys();
      close_over(planned_.plan.changes, keys);
      for (auto* units : {&wanted_, &active_}) {
        for (auto& unit : units->list) {
          const bool meant = std::any_of(unit.keys.begin(), unit.keys.end(),
                                         [&](const Key& key) { return keys.contains(key); });
          unit.selected = unit.selected || meant;
        }
      }
      for (auto& unit : wanted_.list) {
        auto& parent = wanted_.list[unit.parent];
        if (unit.selected && unit.is_child && active_.same_as(parent) == nullptr) parent.selected = true;
      }
      // With a port's entry those of its P_Key interfaces go.
      for (auto& unit : active_.list) {
        if (!unit.is_child) continue;
        const auto& parent = active_.list[unit.parent];
        if (parent.selected && wanted_.same_as(parent) == nullptr) unit.selected = true;
      }
      now = count();
    }
  }

  [[nodiscard]] std::set<Key> keys() const {
    std::set<Key> out;
    for (const auto* units : {&wanted_, &active_}) {
      for (const auto& unit : units->list) {
        if (unit.selected) out.insert(unit.keys.begin(), unit.keys.end());
      }
    }
    return out;
  }

  /// The active entries, those that are selected as they are wanted.
  [[nodiscard]] std::vector<Section> compose() const {
    std::vector<Section> out;
    for (std::size_t i = 0; i < active_.list.size(); ++i) {
      const auto& unit = active_.list[i];
      if (unit.is_child || unit.selected) continue;
      out.push_back(alone(*unit.section));
      add_children(out.back(), i, wanted_.same_as(unit));
    }
    for (const auto& unit : wanted_.list) {
      if (unit.is_child || !unit.selected) continue;
      out.push_back(alone(*unit.section));
      const auto* then = active_.same_as(unit);
      add_children(out.back(), then == nullptr ? active_.list.size() : index_of(active_, *then), &unit);
    }
    return out;
  }

 private:
  static std::size_t index_of(const EntryUnits& units, const EntryUnit& unit) {
    return static_cast<std::size_t>(&unit - units.list.data());
  }
  static Section alone(const Section& section) {
    auto out = section;
    std::erase_if(out.children, [](const Section& child) { return child.path == kChild; });
    return out;
  }
  /// P_Key entries: of the active port entry those that stay, of the wanted one those that are selected.
  void add_children(Section& out, std::size_t active, const EntryUnit* wanted) const {
    enum class Which { kSelected, kOthers };
    const auto append = [&](const EntryUnits& units, std::size_t port, Which which) {
      // They follow their port's entry.
      for (auto i = port + 1; i < units.list.size() && units.list[i].is_child; ++i) {
        if (units.list[i].selected == (which == Which::kSelected))
          out.children.push_back(*units.list[i].section);
      }
    };
    append(active_, active, Which::kOthers);
    if (wanted != nullptr) append(wanted_, index_of(wanted_, *wanted), Which::kSelected);
  }
  [[nodiscard]] std::size_t count() const {
    std::size_t out = 0;
    for (const auto* units : {&wanted_, &active_})
      out += static_cast<std::size_t>(std::count_if(units->list.begin(), units->list.end(),
                                                    [](const EntryUnit& unit) { return unit.selected; }));
    return out;
  }

  EntryUnits wanted_, active_;
  const model::Report& planned_;
};

}  // namespace

void restrict_to(const std::set<Key>& only, std::vector<Change>& changes) {
  auto keys = only;
  close_over(changes, keys);
  std::erase_if(changes, [&](const Change& change) { return !keys.contains(change.key); });
}

base::Result<Selection> select(const config::Document& wanted, const config::Document* active,
                               const model::Report& planned, system::Host& host,
                               const std::vector<std::string>& patterns) {
  const config::Document none;
  auto of_wanted = EntryUnits::of(wanted, host);
  if (!of_wanted) return base::fail(of_wanted.error());
  auto of_active = EntryUnits::of(active == nullptr ? none : *active, host);
  if (!of_active) return base::fail(of_active.error());
  Selector selector(std::move(*of_wanted), std::move(*of_active), planned);
  for (const auto& pattern : patterns) {
    if (auto done = selector.match(pattern); !done) return base::fail(done.error());
  }
  selector.close();
  Selection out;
  out.keys = selector.keys();
  auto changes = planned.plan.changes;
  restrict_to(out.keys, changes);
  out.rest = planned.plan.changes.size() - changes.size();
  // Below another root nothing is held that the rest could be kept as.
  const auto sections = selector.compose();
  if (host.offline || config::say_the_same(sections, wanted.sections)) {
    out.document = wanted;
    return out;
  }
  if (active != nullptr && config::say_the_same(sections, active->sections)) {
    out.document = *active;
    return out;
  }
  config::Text text{.name = fmt::format("{}{})", kSelectionName, base::join(patterns, " ")),
                    .text = config::write_document(sections, kinds::grammar())};
  text.is_private = config::is_private(wanted) || (active != nullptr && config::is_private(*active));
  out.document = config::parse_texts({std::move(text)}, {}, kinds::grammar());
  for (const auto& diagnostic : out.document.diagnostics) {
    if (diagnostic.severity != model::Severity::kError) continue;
    return base::fail(Code::kInvalid,
                      fmt::format("the entries that --only selects conflict with the remaining entries: {}; "
                                  "select those too, or apply the whole document",
                                  diagnostic.message));
  }
  return out;
}

}  // namespace rdmacfg::core
