// SPDX-License-Identifier: Apache-2.0
// As much of JSON Schema as our own schemas use; a keyword that it does not know is reported, not passed
// over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace rdmacfg::ctl {

class MiniSchema {
 public:
  using Json = nlohmann::ordered_json;

  explicit MiniSchema(Json schema) : root_(std::move(schema)) {}

  /// The faults of `value`, each with its path.
  [[nodiscard]] std::vector<std::string> check(const Json& value) const {
    std::vector<std::string> errors;
    check(root_, value, "", errors);
    return errors;
  }

 private:
  using Errors = std::vector<std::string>;

  static bool is_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "boolean") return value.is_boolean();
    return type == "null" && value.is_null();
  }

  [[nodiscard]] bool holds(const Json& schema, const Json& value) const {
    Errors errors;
    check(schema, value, "", errors);
    return errors.empty();
  }

  [[nodiscard]] int holding(const Json& schemas, const Json& value) const {
    return static_cast<int>(
        std::count_if(schemas.begin(), schemas.end(), [&](const Json& s) { return holds(s, value); }));
  }

  void check(const Json& schema, const Json& value, const std::string& at, Errors& errors) const {
    for (const auto& [word, rule] : schema.items()) {
      if (!word_holds(word, rule, schema, value, at, errors))
        errors.push_back(at + ": " + word + " " + rule.dump());
    }
  }

  bool word_holds(const std::string& word, const Json& rule, const Json& schema, const Json& value,
                  const std::string& at, Errors& errors) const {
    static const std::set<std::string> kNotes{"$schema",     "$id",     "$defs",   "title",
                                              "description", "default", "examples"};
    if (kNotes.contains(word)) return true;
    if (word == "$ref") {
      check(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, at, errors);
      return true;
    }
    if (word == "type" && rule.is_string()) return is_type(value, rule);
    if (word == "type")
      return std::any_of(rule.begin(), rule.end(), [&](const Json& type) { return is_type(value, type); });
    if (word == "const") return value == rule;
    if (word == "enum") return std::find(rule.begin(), rule.end(), value) != rule.end();
    if (word == "oneOf") return holding(rule, value) == 1;
    if (word == "anyOf") return holding(rule, value) > 0;
    if (word == "not") return !holds(rule, value);
    if (word == "minimum") return !value.is_number() || value >= rule;
    if (word == "maximum") return !value.is_number() || value <= rule;
    if (word == "minLength")
      return !value.is_string() || value.get<std::string>().size() >= rule.get<std::size_t>();
    if (word == "maxLength")
      return !value.is_string() || value.get<std::string>().size() <= rule.get<std::size_t>();
    if (word == "minItems") return !value.is_array() || value.size() >= rule.get<std::size_t>();
    if (word == "maxItems") return !value.is_array() || value.size() <= rule.get<std::size_t>();
    if (word == "minProperties") return !value.is_object() || value.size() >= rule.get<std::size_t>();
    if (word == "pattern") {
      return !value.is_string() ||
             std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>()));
    }
    if (word == "required") {
      return !value.is_object() || std::all_of(rule.begin(), rule.end(), [&](const Json& key) {
        return value.contains(key.get<std::string>());
      });
    }
    if (word == "items") {
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
        check(rule, value[i], at + "/" + std::to_string(i), errors);
      }
      return true;
    }
    if (word == "properties" || word == "additionalProperties") {
      members(word, rule, schema, value, at, errors);
      return true;
    }
    return false;
  }

  void members(const std::string& word, const Json& rule, const Json& schema, const Json& value,
               const std::string& at, Errors& errors) const {
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
      const bool known = schema.contains("properties") && schema["properties"].contains(key);
      if (word == "properties") {
        if (known) check(rule[key], member, at + "/" + key, errors);
      } else if (!known && rule == false) {
        errors.push_back(at + "/" + key + ": unknown");
      } else if (!known && rule.is_object()) {
        check(rule, member, at + "/" + key, errors);
      }
    }
  }

  Json root_;
};

}  // namespace rdmacfg::ctl
