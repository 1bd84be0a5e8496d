// SPDX-License-Identifier: Apache-2.0
#include "foreign/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

bool is_name(std::string_view text) {
  if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// The value of an assignment; the reason when a shell would make something else of it than its text.
base::Result<std::string> unquote(std::string_view text) {
  using base::Code;
  using base::fail;
  std::string out;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\'' && (c == '$' || c == '`'))
      return fail(Code::kUnsupported, "only a shell can compute this value");
    if (quote == '\'') {
      if (c == '\'') {
        quote = 0;
      } else {
        out += c;
      }
    } else if (c == '\\') {
      if (++at == text.size()) return fail(Code::kUnsupported, "the line continues on the next line");
      const bool special = text[at] == '"' || text[at] == '\\' || text[at] == '$' || text[at] == '`';
      if (quote == '"' && !special) out += '\\';
      out += text[at];
    } else if (quote == '"') {
      if (c == '"') {
        quote = 0;
      } else {
        out += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ' ' || c == '\t' || c == ';') {
      const auto rest = base::trim(text.substr(c == ';' ? at + 1 : at));
      if (rest.empty() || rest.front() == '#') return out;
      return fail(Code::kUnsupported, "a shell would execute the rest of the line");
    } else if (std::string_view("&|<>()").find(c) != std::string_view::npos) {
      return fail(Code::kUnsupported, "a shell would execute the rest of the line");
    } else {
      out += c;
    }
  }
  if (quote != 0) return fail(Code::kInvalid, "the quotation mark is not closed");
  return out;
}

}  // namespace

std::vector<Item> parse_assignments(const File& file) {
  std::vector<Item> out;
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    auto line = base::trim(raw);
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("export ")) line = base::trim(line.substr(7));
    const auto equals = line.find('=');
    const auto key = line.substr(0, equals);
    if (equals == std::string_view::npos || !is_name(key)) {
      out.push_back({"", "", number, "", "is not an assignment"});
      continue;
    }
    auto value = unquote(line.substr(equals + 1));
    if (value) {
      out.push_back({std::string(key), std::move(*value), number});
    } else {
      out.push_back({std::string(key), "", number, "", value.error().message});
    }
  }
  return out;
}

std::vector<Group> parse_groups(const File& file, Claims& claims) {
  std::vector<Group> out;
  int number = 0;
  std::string joined;
  int first = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    auto line = base::trim(raw);
    const bool comment = !line.empty() && (line.front() == '#' || line.front() == ';');
    if (comment) continue;
    if (joined.empty()) first = number;
    if (line.ends_with('\\')) {
      joined += std::string(line.substr(0, line.size() - 1)) + ' ';
      continue;
    }
    const auto whole = joined + std::string(line);
    joined.clear();
    line = base::trim(whole);
    if (line.empty()) continue;
    if (line.front() == '[' && line.back() == ']' && line.size() > 2) {
      out.push_back({std::string(line.substr(1, line.size() - 2)), first, {}, file.path});
      continue;
    }
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      claims.miss({file.path, first}, "is neither a section nor a key with a value");
    } else if (out.empty()) {
      claims.miss({file.path, first}, "comes before the first section");
    } else {
      out.back().items.push_back({std::string(base::trim(line.substr(0, equals))),
                                  std::string(base::trim(line.substr(equals + 1))), first, file.path});
    }
  }
  if (!joined.empty()) claims.miss({file.path, first}, "the file ends within a line");
  return out;
}

DropIns::DropIns(std::span<const File> files) {
  for (const auto& file : files) {
    if (auto unit = unit_of(file.path); !unit.empty()) found_[std::move(unit)].push_back(&file);
  }
}

std::span<const File* const> DropIns::of(std::string_view unit) const {
  const auto at = found_.find(unit);
  return at == found_.end() ? std::span<const File* const>() : std::span<const File* const>(at->second);
}

std::vector<Group> groups_with_drop_ins(const File& file, const DropIns& drop_ins, Claims& claims) {
  auto out = parse_groups(file, claims);
  for (const auto* other : drop_ins.of(std::string_view(file.path).substr(file.path.rfind('/') + 1))) {
    auto more = parse_groups(*other, claims);
    std::move(more.begin(), more.end(), std::back_inserter(out));
  }
  return out;
}

std::string unit_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos || !path.ends_with(".conf")) return {};
  const auto folder = path.substr(0, slash);
  const auto name = folder.substr(folder.rfind('/') + 1);
  return name.ends_with(".d") ? std::string(name.substr(0, name.size() - 2)) : std::string();
}

Keys::Keys(std::string file, std::vector<Item> items, Claims& claims)
    : file_(std::move(file)), claims_(claims) {
  items_.reserve(items.size());
  for (auto& item : items) {
    places_[item.key].push_back(items_.size());
    items_.push_back({std::move(item)});
  }
}

const std::vector<std::size_t>& Keys::places_of(std::string_view key) const {
  static const std::vector<std::size_t> kNowhere;
  const auto at = places_.find(key);
  return at == places_.end() ? kNowhere : at->second;
}

std::optional<Item> Keys::take(std::string_view key) {
  std::optional<Item> out;
  for (const auto at : places_of(key)) {
    auto& held = items_[at];
    if (!held.asked) claims_.took(place(held.item));
    held.asked = true;
    if (out) claims_.pass(place(*out), fmt::format("{}: a later line sets it again", key));
    out = held.item;
  }
  if (out && !out->why.empty()) {
    wrong(*out, out->why);
    return std::nullopt;
  }
  if (out) out->value = std::string(base::trim(out->value));
  if (out && out->value.empty()) return std::nullopt;
  return out;
}

std::optional<Item> Keys::take_unescaped(std::string_view key) {
  auto item = take(key);
  if (!item || !item->escaped) return item;
  wrong(*item, "has an escape, which GLib reads only in text; the key has no value");
  return std::nullopt;
}

std::vector<Item> Keys::take_all(std::string_view key) {
  std::vector<Item> out;
  for (const auto at : places_of(key)) {
    auto& held = items_[at];
    if (!held.asked) claims_.took(place(held.item));
    held.asked = true;
    if (!held.item.why.empty()) {
      wrong(held.item, held.item.why);
    } else if (base::trim(held.item.value).empty()) {
      out.clear();
    } else {
      out.push_back(held.item);
    }
  }
  return out;
}

void Keys::pass(std::span<const std::string_view> keys) {
  const auto pass_all = [&](const std::vector<std::size_t>& places) {
    for (const auto at : places) {
      if (!items_[at].asked) claims_.took(place(items_[at].item));
      items_[at].asked = true;
    }
  };
  for (const auto key : keys) {
    if (!key.ends_with('*')) {
      pass_all(places_of(key));
      continue;
    }
    const auto prefix = key.substr(0, key.size() - 1);
    for (auto at = places_.lower_bound(prefix); at != places_.end() && at->first.starts_with(prefix); ++at) {
      if (!at->first.empty()) pass_all(at->second);
    }
  }
}

void Keys::usual(std::string_view key, std::string_view value) {
  const auto item = take(key);
  if (!item || item->value == value) return;
  const auto wanted = yes_or_no(value);
  if (!wanted || yes_or_no(item->value) != wanted) refuse(key);
}

Place Keys::where(std::string_view key) const {
  const auto& places = places_of(key);
  return places.empty() ? Place{file_, 0} : place(items_[places.back()].item);
}

void Keys::mark(Interface& interface, std::string_view path, std::string_view key) const {
  if (has(key)) interface.at.insert_or_assign(std::string(path), where(key));
}

void Keys::tell(std::string_view key, std::string_view why) {
  if (const auto item = take(key)) wrong(*item, why);
}

void Keys::refuse(std::string_view key) {
  if (const auto item = take(key))
    wrong(*item, fmt::format("{}: cannot be expressed in the document", item->value));
}

void Keys::finish() {
  for (auto& held : items_) {
    if (held.asked) continue;
    held.asked = true;
    const auto &key = held.item.key, &why = held.item.why;
    // A key without a value does nothing, as if it were not there.
    if (!key.empty() && why.empty() && base::trim(held.item.value).empty()) {
      claims_.took(place(held.item));
      continue;
    }
    claims_.miss(place(held.item), key.empty()   ? why
                                   : why.empty() ? fmt::format("{}: is not supported", key)
                                                 : fmt::format("{}: {}", key, why));
  }
}

bool Keys::has(std::string_view key) const { return places_.contains(key); }

std::string Keys::peek(std::string_view key) const {
  const auto& places = places_of(key);
  return places.empty() ? std::string() : std::string(base::trim(items_[places.back()].item.value));
}

std::vector<std::string> Keys::left() const {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const auto& held : items_) {
    if (!held.asked && !held.item.key.empty() && seen.insert(held.item.key).second)
      out.push_back(held.item.key);
  }
  return out;
}

void Keys::wrong(const Item& item, std::string_view why) {
  --claims_.understood[place(item).file];
  claims_.miss(place(item), fmt::format("{}: {}", item.key, why));
}

std::optional<std::string> Keys::text(std::string_view key) {
  auto item = take(key);
  return item ? std::optional(std::move(item->value)) : std::nullopt;
}

std::optional<bool> Keys::flag(std::string_view key) {
  const auto item = take(key);
  if (!item) return std::nullopt;
  const auto out = yes_or_no(item->value);
  if (!out) wrong(*item, fmt::format("{} is neither yes nor no", item->value));
  return out;
}

std::optional<std::int64_t> Keys::number(std::string_view key, std::uint64_t most) {
  const auto item = take_unescaped(key);
  if (!item) return std::nullopt;
  const auto out = base::parse_number(item->value);
  if (!out || *out == 0 || *out > most) {
    wrong(*item, fmt::format("{} is not a number from 1 to {}", item->value, most));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*out);
}

}  // namespace rdmacfg::foreign
