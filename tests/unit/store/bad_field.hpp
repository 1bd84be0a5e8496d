// SPDX-License-Identifier: Apache-2.0
// Records of JSON with one field that is missing, or of another shape.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace rdmacfg::core {

using OrderedJson = nlohmann::ordered_json;

/// A value in the place of another one, or nothing there.
struct BadField {
  std::string at;     ///< JSON Pointer (RFC 6901)
  std::string value;  ///< JSON; empty: the key is missing
  std::string why = "damaged (";
};
using BadFields = std::vector<BadField>;

inline std::string with_field(const std::string& valid, const BadField& bad) {
  auto json = OrderedJson::parse(valid);
  const OrderedJson::json_pointer at(bad.at);
  if (bad.value.empty()) {
    json.at(at.parent_pointer()).erase(at.back());
  } else {
    json[at] = OrderedJson::parse(bad.value);
  }
  return json.dump();
}

/// The same fields below another place.
inline BadFields below(const std::string& place, BadFields fields) {
  for (auto& field : fields) field.at.insert(0, place);
  return fields;
}

inline BadFields joined(BadFields first, const BadFields& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Of a list of values by name.
inline BadFields bad_attributes(const std::string& at) {
  return {{at, "1"},
          {at, "\"x\""},
          {at, "[]"},
          {at, "[1]"},
          {at, R"({"mtu": {}})"},
          {at, R"({"mtu": 1.5})"},
          {at, R"({"mtu": 9223372036854775808})"},
          {at, R"({"mtu": 18446744073709551615})"},
          {at, "null"},
          {at, R"({"mtu": [1]})"},
          {at, R"({"mtu": ["a", null]})"},
          {at, R"({"mtu": [["a"]]})"}};
}

/// Of a list of strings.
inline BadFields bad_texts(const std::string& at) {
  return {{at, "1"}, {at, "\"x\""}, {at, "{}"}, {at, "[1]"}, {at, "[[]]"}, {at, R"(["a", null])"}};
}

/// Of a plan at "/changes", which has one change.
inline BadFields bad_changes() {
  BadFields out{{"/changes", ""},
                {"/changes", "1"},
                {"/changes", "{}"},
                {"/changes", "null"},
                {"/changes/0", "1"},
                {"/changes/0", "[]"},
                {"/changes/0/kind", ""},
                {"/changes/0/kind", "1"},
                {"/changes/0/id", ""},
                {"/changes/0/id", "null"},
                {"/changes/0/label", ""},
                {"/changes/0/label", "1"},
                {"/changes/0/operation", ""},
                {"/changes/0/operation", "1"},
                {"/changes/0/operation", "\"replace\""},
                {"/changes/0/operation", "\"\""},
                {"/changes/0/before", ""},
                {"/changes/0/after", ""},
                {"/changes/0/fields", ""},
                {"/changes/0/needs", "1"},
                {"/changes/0/needs", "\"x\""},
                {"/changes/0/needs", "[1]"},
                {"/changes/0/needs/0/kind", ""},
                {"/changes/0/needs/0/kind", "1"},
                {"/changes/0/needs/0/id", ""},
                {"/changes/0/needs/0/id", "1"},
                {"/changes/0/effect", "1"},
                {"/changes/0/effect", "null"},
                {"/changes/0/footing", "1"},
                {"/changes/0/footing", "null"},
                {"/changes/0/returned", "1"},
                {"/changes/0/origins", "1"},
                {"/changes/0/origins", R"({"mtu": 1})"},
                {"/changes/0/origins", R"({"mtu": {"line": 1, "column": 1}})"},
                {"/changes/0/origins", R"({"mtu": {"file": "a", "column": 1}})"},
                {"/changes/0/origins", R"({"mtu": {"file": "a", "line": 1}})"},
                {"/changes/0/origins", R"({"mtu": {"file": 1, "line": 1, "column": 1}})"},
                {"/changes/0/origins", R"({"mtu": {"file": "a", "line": "1", "column": 1}})"},
                {"/changes/0/origins", R"({"mtu": {"file": "a", "line": 1, "column": null}})"}};
  for (const auto* list :
       {"fields", "beside", "interrupts", "interrupts_later", "overruled", "carried", "given_back"})
    out = joined(std::move(out), bad_texts(std::string("/changes/0/") + list));
  out = joined(std::move(out), bad_attributes("/changes/0/before"));
  return joined(std::move(out), bad_attributes("/changes/0/after"));
}

}  // namespace rdmacfg::core
