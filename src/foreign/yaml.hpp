// SPDX-License-Identifier: Apache-2.0
// YAML as netplan and nmstate write it: mappings, sequences and scalars. Without aliases, anchors, tags and
// further documents, and bounded in depth and size: what comes from a file is not trusted.
#pragma once

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

  Sort sort = Sort::kScalar;
  int line = 0;
  bool plain = false;  ///< a scalar without quotes
  std::string text;    ///< of a scalar
  std::vector<YamlNode> items;
  std::vector<Member> members;

  [[nodiscard]] const YamlNode* find(std::string_view key) const;
  [[nodiscard]] bool is_scalar() const { return sort == Sort::kScalar; }
};

struct YamlNode::Member {
  std::string key;
  int line = 0;
  YamlNode value;
};

/// One document; an empty one is a mapping without members. The error has the line in its text.
base::Result<YamlNode> parse_yaml(std::string_view text);

/// The members of a mapping of which every one is to be asked for, as Keys does it.
class YamlKeys {
 public:
  YamlKeys(const YamlNode& mapping, std::string file, Claims& claims);
  const YamlNode* take(std::string_view key);
  std::string text(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  std::optional<std::int64_t> number(std::string_view key, std::uint64_t most);
  void pass(std::initializer_list<std::string_view> keys);
  void finish(std::string_view inside);
  [[nodiscard]] Place place(const YamlNode& node) const { return {file_, node.line}; }
  void wrong(const YamlNode& node, std::string_view why);

 private:
  const YamlNode& mapping_;
  std::string file_;
  Claims& claims_;
  std::vector<bool> asked_;
};

}  // namespace rdmacfg::foreign
