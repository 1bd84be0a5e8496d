// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <variant>

#include "catalog/all.hpp"

namespace rdmacfg::ctl {

using model::Change;
using model::Operation;
using model::Report;
using model::Status;
using model::Value;

namespace {

/// The key's id of the parent: the text before the "/0x8002" of a P_Key interface. Empty for others.
std::string parent_of(const std::string& id) {
  const auto slash = id.rfind("/0x");
  return slash == std::string::npos ? std::string() : id.substr(0, slash);
}

const std::string* wanted_name(const Change& change) {
  return std::get_if<std::string>(&model::value_of(change.after, "name"));
}

/// Whether it is a thing of its own, whatever else its id names: an entry of the document is about it alone.
bool stands_alone(const model::Key& key) {
  static const auto kOwn = [] {
    std::set<std::string, std::less<>> names;
    for (const auto& section : kinds::grammar()) {
      const auto* kind = kinds::find(section.name);
      if (kind != nullptr && !kind->traits().shares_entry) names.emplace(section.name);
    }
    return names;
  }();
  return kOwn.contains(key.kind);
}

/// The final names of the objects of a report, by the id of their key.
class ResultingNames {
 public:
  explicit ResultingNames(const Report& report) {
    for (const auto& change : report.plan.changes) {
      const auto* name = change.operation == Operation::kDelete ? nullptr : wanted_name(change);
      if (name != nullptr) names_.try_emplace(change.key.id, *name);
    }
    for (const auto& change : report.plan.changes) {
      if (!change.label.empty() && !stands_alone(change.key)) names_.try_emplace(change.key.id, change.label);
    }
    for (const auto& resource : report.resources) {
      if (!resource.label.empty() && !stands_alone(resource.key))
        names_.try_emplace(resource.key.id, resource.label);
    }
  }

  [[nodiscard]] const std::string& of(const std::string& id) const {
    const auto at = names_.find(id);
    return at == names_.end() ? id : at->second;
  }

 private:
  std::unordered_map<std::string, std::string> names_;
};

std::string note_of(const ResultingNames& names, const Change& change, const std::string& title) {
  const auto& id = change.key.id;
  const auto parent = parent_of(id);
  std::string note;
  const auto* kind = kinds::find(change.key.kind);
  if (kind != nullptr && !kind->role_of_port().empty())
    return fmt::format("{} of port {}", kind->role_of_port(), names.of(id));
  if (model::Guid::parse(id)) {
    note = "port " + id;
  } else if (id.find(':') != std::string::npos && title.find(id) == std::string::npos) {
    note = id;  // a PCI address; other identities are in the title
  }
  if (!parent.empty()) {
    const auto pkey = change.key.id.substr(parent.size() + 1);
    note = fmt::format("P_Key {} of {}", pkey.substr(0, pkey.find('#')), names.of(parent));
  }
  if (!change.label.empty() && change.label != title)
    note += (note.empty() ? "now " : ", now ") + change.label;
  return note;
}

/// The fields of a change in the order of the kind's table, which is that of reading.
std::vector<std::string> in_order(const Change& change) {
  std::vector<std::string> names;
  const auto* kind = kinds::find(change.key.kind);
  if (kind != nullptr) {
    for (const auto& spec : kind->fields()) {
      if (change.after.contains(spec.name)) names.emplace_back(spec.name);
    }
  }
  for (const auto& [name, value] : change.after) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void add_lines(Block& block, const Change& change) {
  if (change.operation == Operation::kDelete) return;
  const bool all = change.operation == Operation::kCreate;
  const auto has = [](const auto& list, const auto& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  const bool only_derived = std::all_of(change.fields.begin(), change.fields.end(), [&](const auto& field) {
    return kinds::is_derived(change.key, field);
  });
  for (const auto& name : in_order(change)) {
    const bool said = std::any_of(block.lines.begin(), block.lines.end(),
                                  [&](const auto& line) { return line.name == name; });
    // Of what is made, what stays unset says nothing.
    const bool unset = all && model::value_of(change.after, name).index() == 0;
    if (said || unset || (!all && !has(change.fields, name)) ||
        (!only_derived && kinds::is_derived(change.key, name)))
      continue;
    BlockLine line{name,
                   all ? Value() : model::value_of(change.before, name),
                   model::value_of(change.after, name),
                   change.effect,
                   std::nullopt,
                   kinds::field_unit(change.key, name)};
    if (const auto at = change.origins.find(name); at != change.origins.end()) line.origin = at->second;
    block.lines.push_back(std::move(line));
  }
}

void add_missing(std::vector<std::string>& sentences, const std::vector<std::string>& more) {
  for (const auto& sentence : more) {
    if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end())
      sentences.push_back(sentence);
  }
}

void add(Block& block, const Change& change) {
  if (block.operation != change.operation) block.operation = Operation::kUpdate;
  add_lines(block, change);
  add_missing(block.interrupts, change.interrupts);
  add_missing(block.interrupts_later, change.interrupts_later);
}

int rank(Status status) {
  switch (status) {
    case Status::kFailed:
      return 6;
    case Status::kDiffers:
      return 5;
    case Status::kUnmet:
      return 4;
    case Status::kPending:
      return 3;
    case Status::kLimited:
      return 2;
    case Status::kInSync:
    case Status::kDone:
    case Status::kReleased:
      return 1;
    case Status::kForeign:
    case Status::kIgnored:
      return 0;
  }
  return 0;
}

}  // namespace

std::string value_text(const Value& value, std::string_view unit) {
  if (value.index() == 0) return "not set";
  auto text = model::text_of(value);
  if (!unit.empty() && std::holds_alternative<std::int64_t>(value)) text += fmt::format(" {}", unit);
  // Lines of a file, as of a partition with groups, in one.
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at))
    text.replace(at, 1, " / ");
  return text.empty() ? "none" : text;
}

std::vector<Block> blocks_of(const Report& report) {
  const ResultingNames names(report);
  // A parent and its children are read together, so they stand together, the parent first.
  std::vector<std::list<Block>> families;
  std::unordered_map<std::string, std::size_t> family_of;
  std::unordered_map<std::string, Block*> known;
  for (const auto& change : report.plan.changes) {
    const auto& id = change.key.id;
    const bool alone = stands_alone(change.key);
    const auto object = alone ? change.key.text() : id;
    auto& block = known[object];
    if (block == nullptr) {
      const auto parent = parent_of(id);
      const auto [place, fresh] = family_of.try_emplace(parent.empty() ? object : parent, families.size());
      if (fresh) families.emplace_back();
      auto& family = families[place->second];
      block = &*family.emplace(parent.empty() ? family.begin() : family.end());
      block->operation = change.operation;
      block->id = id;
      block->title = (alone || change.operation == Operation::kDelete) && !change.label.empty()
                         ? change.label
                         : names.of(id);
      block->note = note_of(names, change, block->title);
    }
    add(*block, change);
  }
  std::vector<Block> blocks;
  blocks.reserve(known.size());
  for (auto& family : families) {
    std::move(family.begin(), family.end(), std::back_inserter(blocks));
  }
  return blocks;
}

Tally tally_of(const std::vector<model::ResourceReport>& resources) {
  // As people see them: an interface's settings are of several kinds, and a port's OpenSM is another thing.
  std::map<std::pair<std::string, std::string>, Status> worst;
  for (const auto& resource : resources) {
    const auto [at, fresh] = worst.try_emplace({resource.key.id, resource.label}, resource.status);
    if (!fresh && rank(resource.status) > rank(at->second)) at->second = resource.status;
  }
  Tally tally;
  for (const auto& [object, status] : worst) {
    switch (rank(status)) {
      case 6:
        ++tally.failed;
        break;
      case 5:
        ++tally.differs;
        break;
      case 4:
        ++tally.unmet;
        break;
      case 3:
        ++tally.pending;
        break;
      case 2:
        ++tally.limited;
        break;
      case 1:
        ++tally.in_sync;
        break;
      default:
        break;
    }
  }
  return tally;
}

}  // namespace rdmacfg::ctl
