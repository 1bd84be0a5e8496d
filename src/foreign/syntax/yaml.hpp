// SPDX-License-Identifier: Apache-2.0
// YAML as netplan and nmstate write it: mappings, sequences and scalars. Without aliases, anchors, tags and
// further documents, and bounded in depth and size: the content of a file is not trusted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

inline constexpr int kYamlDepth = 16;
inline constexpr std::size_t kYamlNodes = 20000;

struct YamlNode {
  enum class Sort { kScalar, kSequence, kMapping };
  struct Member;

  /// Where it is written; the file is the one given to parse_yaml().
  struct Spot {
    std::string_view file;
    int line = 0;
  };

  Sort sort = Sort::kScalar;
  std::string_view file;
  int line = 0;
  bool plain = false;  ///< a scalar without quotes
  std::string text;    ///< of a scalar
  std::vector<YamlNode> items;
  std::vector<Member> members;

  [[nodiscard]] const YamlNode* find(std::string_view key) const;
  [[nodiscard]] bool is_scalar() const { return sort == Sort::kScalar; }
  [[nodiscard]] bool is_null() const;  ///< nothing, null or ~
  [[nodiscard]] Place place() const { return {std::string(file), line}; }
};

struct YamlNode::Member {
  std::string key;
  Spot where;
  YamlNode value;
  std::vector<Spot> more = {};  ///< in further files, when they were merged
};

/// One document; an empty one is a mapping without members. The nodes speak of `file`, which has to stay.
/// An error is reported with its line; then there is none.
/// @param most  keys and values
std::optional<YamlNode> parse_yaml(const File& file, Claims& claims, std::size_t most = kYamlNodes);

/// Puts a later file's mapping into an earlier one's: mappings are merged, sequences go on (link-local does
/// not), of other values the later one holds (netplan(5)), which is remarked. A node of another sort is
/// reported and left out, and a key without a value changes no mapping or sequence.
void merge_yaml(YamlNode& into, YamlNode from, Claims& claims);

/// The members of a mapping of which every one is to be asked for, as Keys does it.
class YamlKeys {
 public:
  /// A node that is neither a mapping nor nothing is reported, and has no members.
  YamlKeys(const YamlNode& mapping, Claims& claims);
  /// Whether it is a mapping, or nothing.
  [[nodiscard]] bool fits() const { return fits_; }
  const YamlNode* take(std::string_view key);
  /// Members of one sort; others are reported, and are like none.
  const YamlNode* mapping(std::string_view key);
  const std::vector<YamlNode>& list(std::string_view key);
  /// A sequence of scalars.
  std::vector<const YamlNode*> words(std::string_view key);
  std::string text(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  std::optional<std::int64_t> number(std::string_view key, std::uint64_t most);
  /// The GUID in a hardware address.
  std::optional<model::Guid> guid(std::string_view key);
  std::optional<model::IpoibMode> mode(std::string_view key);
  void pass(std::initializer_list<std::string_view> keys);
  /// As those of Keys.
  void usual(std::string_view key, std::string_view value);
  void finish(std::string_view inside);
  /// Notes that the document's key `path` of an interface comes from `key`, if that is there.
  void mark(Interface& interface, std::string_view path, std::string_view key) const;
  void wrong(const YamlNode& node, std::string_view why);

 private:
  const YamlNode& mapping_;
  Claims& claims_;
  std::vector<bool> asked_;
  bool fits_ = true;
};

}  // namespace rdmacfg::foreign
