// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/yaml.hpp"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "base/text.hpp"

namespace rdmacfg::foreign {

using base::Code;
using base::Result;

namespace {

/// libyaml's parser and event, freed by themselves.
class YamlReader {
 public:
  explicit YamlReader(std::string_view text) {
    ready_ = yaml_parser_initialize(&parser_) == 1;
    if (ready_)
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                   text.size());
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;
  ~YamlReader() {
    if (held_) yaml_event_delete(&event_);
    if (ready_) yaml_parser_delete(&parser_);
  }

  /// The next event, valid until the next call.
  Result<const yaml_event_t*> next() {
    if (held_) yaml_event_delete(&event_);
    held_ = false;
    if (!ready_ || yaml_parser_parse(&parser_, &event_) != 1) {
      const auto* problem = parser_.problem == nullptr ? "is not valid YAML" : parser_.problem;
      line = static_cast<int>(parser_.problem_mark.line) + 1;
      return base::fail(Code::kInvalid, problem);
    }
    held_ = true;
    return &event_;
  }

  int line = 0;  ///< of what was wrong

 private:
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool ready_ = false, held_ = false;
};

class YamlBuilder {
 public:
  YamlBuilder(const File& file, std::size_t most) : file_(file.path), reader_(file.text), most_(most) {}

  Result<YamlNode> build() {
    int documents = 0;
    YamlNode root;
    root.sort = YamlNode::Sort::kMapping;
    root.file = file_;
    while (true) {
      const auto event = reader_.next();
      if (!event) return base::fail(event.error());
      switch ((*event)->type) {
        case YAML_STREAM_END_EVENT:
          return root;
        case YAML_DOCUMENT_START_EVENT:
          if (++documents > 1) return refuse(**event, "a second document is not read");
          if ((*event)->data.document_start.tag_directives.start !=
              (*event)->data.document_start.tag_directives.end)
            return refuse(**event, "tags are not read");
          break;
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_END_EVENT:
        case YAML_NO_EVENT:
          break;
        default: {
          auto node = value(**event, 0);
          if (!node) return node;
          // "---" and nothing behind it is an empty scalar.
          if (!node->is_scalar() || !node->text.empty()) root = std::move(*node);
        }
      }
    }
  }

  /// The line of what was wrong.
  [[nodiscard]] int line() const { return reader_.line; }

 private:
  base::Failure refuse(int line, std::string_view why) {
    reader_.line = line;
    return base::fail(Code::kInvalid, std::string(why));
  }
  base::Failure refuse(const yaml_event_t& event, std::string_view why) {
    return refuse(static_cast<int>(event.start_mark.line) + 1, why);
  }

  static std::string_view chars(const yaml_char_t* text) {
    return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
  }

  /// The node that begins with `event`.
  Result<YamlNode> value(const yaml_event_t& event, int depth) {
    if (++nodes_ > most_) return refuse(event, fmt::format("more than {} values", most_));
    if (depth > kYamlDepth) return refuse(event, fmt::format("nested deeper than {} levels", kYamlDepth));
    YamlNode out;
    out.file = file_;
    out.line = static_cast<int>(event.start_mark.line) + 1;
    switch (event.type) {
      case YAML_SCALAR_EVENT: {
        const auto& scalar = event.data.scalar;
        if (scalar.anchor != nullptr) return refuse(event, "anchors and aliases are not read");
        if (scalar.tag != nullptr) return refuse(event, "tags are not read");
        out.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
        out.plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return out;
      }
      case YAML_SEQUENCE_START_EVENT:
        if (event.data.sequence_start.anchor != nullptr)
          return refuse(event, "anchors and aliases are not read");
        if (event.data.sequence_start.tag != nullptr) return refuse(event, "tags are not read");
        out.sort = YamlNode::Sort::kSequence;
        return sequence(std::move(out), depth);
      case YAML_MAPPING_START_EVENT:
        if (event.data.mapping_start.anchor != nullptr)
          return refuse(event, "anchors and aliases are not read");
        if (event.data.mapping_start.tag != nullptr) return refuse(event, "tags are not read");
        out.sort = YamlNode::Sort::kMapping;
        return mapping(std::move(out), depth);
      default:
        return refuse(event, "anchors and aliases are not read");
    }
  }

  Result<YamlNode> sequence(YamlNode out, int depth) {
    while (true) {
      const auto event = reader_.next();
      if (!event) return base::fail(event.error());
      if ((*event)->type == YAML_SEQUENCE_END_EVENT) return out;
      auto item = value(**event, depth + 1);
      if (!item) return item;
      out.items.push_back(std::move(*item));
    }
  }

  Result<YamlNode> mapping(YamlNode out, int depth) {
    std::set<std::string> keys;
    while (true) {
      auto event = reader_.next();
      if (!event) return base::fail(event.error());
      if ((*event)->type == YAML_MAPPING_END_EVENT) return out;
      auto key = value(**event, depth + 1);
      if (!key) return key;
      if (!key->is_scalar() || key->text == "<<") return refuse(key->line, "such a key is not read");
      if (!keys.insert(key->text).second)
        return refuse(key->line, fmt::format("{} is defined twice", key->text));
      event = reader_.next();
      if (!event) return base::fail(event.error());
      auto inner = value(**event, depth + 1);
      if (!inner) return inner;
      out.members.push_back({std::move(key->text), {file_, key->line}, std::move(*inner)});
    }
  }

  std::string_view file_;
  YamlReader reader_;
  std::size_t nodes_ = 0, most_;
};

std::string_view word_of(YamlNode::Sort sort) {
  if (sort == YamlNode::Sort::kScalar) return "a word";
  return sort == YamlNode::Sort::kSequence ? "a list" : "a mapping of keys to values";
}

/// netplan adds up the lists of several files, except this one (netplan's parse.c, handle_link_local).
bool is_replaced(std::string_view key) { return key == "link-local"; }

/// Two words, or two lists of words.
bool says_the_same(const YamlNode& first, const YamlNode& second) {
  return first.text == second.text &&
         std::equal(first.items.begin(), first.items.end(), second.items.begin(), second.items.end(),
                    [](const YamlNode& a, const YamlNode& b) { return a.text == b.text; });
}

Place place_of(const YamlNode::Spot& spot) { return {std::string(spot.file), spot.line}; }

}  // namespace

bool YamlNode::is_null() const {
  return is_scalar() && plain && (text.empty() || text == "null" || text == "~");
}

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto at =
      std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.key == key; });
  return at == members.end() ? nullptr : &at->value;
}

std::optional<YamlNode> parse_yaml(const File& file, Claims& claims, std::size_t most) {
  YamlBuilder builder(file, most);
  auto tree = builder.build();
  if (tree) return std::move(*tree);
  // libyaml places an error about a missing end behind the last line.
  const auto breaks = static_cast<int>(std::count(file.text.begin(), file.text.end(), '\n'));
  const int lines = std::max(1, file.text.ends_with('\n') ? breaks : breaks + 1);
  claims.miss({file.path, std::min(builder.line(), lines)}, tree.error().message);
  return std::nullopt;
}

void merge_yaml(YamlNode& into, YamlNode from, Claims& claims) {
  std::map<std::string, std::size_t> places;  // in `into`, by key
  for (std::size_t at = 0; at < into.members.size(); ++at) places.emplace(into.members[at].key, at);
  for (auto& member : from.members) {
    const auto [place, fresh] = places.try_emplace(member.key, into.members.size());
    if (fresh) {
      into.members.push_back(std::move(member));
      continue;
    }
    auto* const at = &into.members[place->second];
    const bool alike = at->value.sort == member.value.sort;
    if (alike && at->value.sort == YamlNode::Sort::kMapping) {
      at->more.push_back(member.where);
      merge_yaml(at->value, std::move(member.value), claims);
    } else if (alike && at->value.sort == YamlNode::Sort::kSequence && !is_replaced(member.key)) {
      at->more.push_back(member.where);
      std::move(member.value.items.begin(), member.value.items.end(), std::back_inserter(at->value.items));
    } else if (!alike && member.value.is_null()) {
      at->more.push_back(member.where);  // "ib0:" and nothing behind it takes nothing away
    } else if (!alike && !at->value.is_null()) {
      claims.miss(place_of(member.where), fmt::format("{}: must be {} as in {}", member.key,
                                                      word_of(at->value.sort), place_of(at->where).text()));
    } else {
      if (!alike || !says_the_same(at->value, member.value))
        claims.pass(place_of(at->where), fmt::format("{}: {} overrides it with another value", at->key,
                                                     place_of(member.where).text()));
      *at = std::move(member);
    }
  }
}

YamlKeys::YamlKeys(const YamlNode& mapping, Claims& claims)
    : mapping_(mapping),
      claims_(claims),
      asked_(mapping.members.size(), false),
      fits_(mapping.sort == YamlNode::Sort::kMapping || mapping.is_null()) {
  if (!fits_) claims_.miss(mapping.place(), fmt::format("must be {}", word_of(YamlNode::Sort::kMapping)));
}

const YamlNode* YamlKeys::take(std::string_view key) {
  for (std::size_t at = 0; at < mapping_.members.size(); ++at) {
    const auto& member = mapping_.members[at];
    if (member.key != key) continue;
    if (!asked_[at]) {
      claims_.took(place_of(member.where));
      for (const auto& spot : member.more) claims_.took(place_of(spot));
    }
    asked_[at] = true;
    return member.value.is_null() ? nullptr : &member.value;
  }
  return nullptr;
}

const YamlNode* YamlKeys::mapping(std::string_view key) {
  const auto* node = take(key);
  if (node == nullptr || node->sort == YamlNode::Sort::kMapping) return node;
  wrong(*node, fmt::format("{}: must be {}", key, word_of(YamlNode::Sort::kMapping)));
  return nullptr;
}

const std::vector<YamlNode>& YamlKeys::list(std::string_view key) {
  static const std::vector<YamlNode> kNone;
  const auto* node = take(key);
  if (node == nullptr) return kNone;
  if (node->sort == YamlNode::Sort::kSequence) return node->items;
  wrong(*node, fmt::format("{}: must be {}", key, word_of(YamlNode::Sort::kSequence)));
  return kNone;
}

std::vector<const YamlNode*> YamlKeys::words(std::string_view key) {
  std::vector<const YamlNode*> out;
  for (const auto& item : list(key)) {
    if (item.is_scalar()) {
      out.push_back(&item);
    } else {
      wrong(item, fmt::format("{}: must be {}", key, word_of(YamlNode::Sort::kScalar)));
    }
  }
  return out;
}

std::string YamlKeys::text(std::string_view key) {
  const auto* node = take(key);
  if (node == nullptr) return {};
  if (node->is_scalar()) return node->text;
  wrong(*node, fmt::format("{}: must be a word", key));
  return {};
}

std::optional<bool> YamlKeys::flag(std::string_view key) {
  const auto* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto out = node->is_scalar() ? yes_or_no(node->text) : std::nullopt;
  if (!out) wrong(*node, fmt::format("{}: must be true or false", key));
  return out;
}

std::optional<std::int64_t> YamlKeys::number(std::string_view key, std::uint64_t most) {
  const auto* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto out = node->is_scalar() ? base::parse_number(node->text) : std::nullopt;
  if (out && *out <= most) return static_cast<std::int64_t>(*out);
  wrong(*node, fmt::format("{}: must be a number up to {}", key, most));
  return std::nullopt;
}

void YamlKeys::pass(std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) take(key);
}

void YamlKeys::usual(std::string_view key, std::string_view value) {
  const auto* node = take(key);
  if (node == nullptr || (node->is_scalar() && node->text == value)) return;
  const auto wanted = yes_or_no(value);
  if (wanted && node->is_scalar() && yes_or_no(node->text) == wanted) return;
  const auto what = node->is_scalar() ? fmt::format("{}: {}", key, node->text) : std::string(key);
  wrong(*node, fmt::format("{}: cannot be expressed in the document", what));
}

void YamlKeys::mark(Interface& interface, std::string_view path, std::string_view key) const {
  for (const auto& member : mapping_.members) {
    if (member.key == key) interface.at.insert_or_assign(std::string(path), place_of(member.where));
  }
}

void YamlKeys::finish(std::string_view inside) {
  for (std::size_t at = 0; at < mapping_.members.size(); ++at) {
    if (asked_[at]) continue;
    asked_[at] = true;
    const auto& member = mapping_.members[at];
    claims_.miss(place_of(member.where), fmt::format("{}: {}: is not supported", inside, member.key));
    for (const auto& spot : member.more)
      claims_.miss(place_of(spot), fmt::format("{}: {}: is not supported", inside, member.key));
  }
}

std::optional<model::Guid> YamlKeys::guid(std::string_view key) {
  const auto* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto parsed = guid_of_address(node->text);
  if (parsed) return *parsed;
  wrong(*node, parsed.error().message);
  return std::nullopt;
}

std::optional<model::IpoibMode> YamlKeys::mode(std::string_view key) {
  const auto* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto parsed = model::parse_named_mode(node->text);
  if (parsed) return *parsed;
  wrong(*node, parsed.error().message);
  return std::nullopt;
}

void YamlKeys::wrong(const YamlNode& node, std::string_view why) {
  // Several values of one list may be wrong, which counted as one line.
  if (auto& lines = claims_.understood[std::string(node.file)]; lines > 0) --lines;
  claims_.miss(node.place(), std::string(why));
}

}  // namespace rdmacfg::foreign
