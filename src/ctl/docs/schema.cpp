// SPDX-License-Identifier: Apache-2.0
#include "ctl/docs/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "ctl/command.hpp"

namespace rdmacfg::ctl {

using Json = nlohmann::ordered_json;
using model::FieldSpec;
using model::Role;
using model::SectionSpec;

namespace {

bool is_written(const FieldSpec& field) { return field.role != Role::kFact && field.role != Role::kDerived; }

/// The default as a value, where the table names one and not a sentence.
Json default_of(const FieldSpec& field) {
  if (field.parse == nullptr || field.fallback.find(' ') != std::string_view::npos || field.fallback == "-")
    return nullptr;
  std::vector<model::Value> spellings{std::string(field.fallback)};
  if (field.fallback == "true" || field.fallback == "false") spellings = {field.fallback == "true"};
  if (const auto number = base::parse_number(field.fallback))
    spellings = {static_cast<std::int64_t>(*number)};
  for (const auto& spelling : spellings) {
    if (!field.parse(spelling)) continue;
    return std::visit(
        [](const auto& value) -> Json {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
            return nullptr;
          } else {
            return value;
          }
        },
        spelling);
  }
  return nullptr;
}

std::string described(const FieldSpec& field) {
  std::string text(field.doc);
  if (field.fallback != "-" && !field.fallback.empty()) text += fmt::format(" Default: {}.", field.fallback);
  if (field.effect != model::Effect::kNow)
    text += fmt::format(" Works after {}.", model::text_of(field.effect));
  return text;
}

/// The rules of a value, or a text that is filled in for each host.
Json with_host(Json field) {
  const Json filled = {{"type", "string"}, {"pattern", "\\{host[.}]"}};
  Json rules = Json::object(), out = Json::object();
  for (auto& [key, value] : field.items())
    (key == "title" || key == "description" || key == "default" ? out : rules)[key] = value;
  if (rules.contains("items")) rules["items"] = {{"anyOf", {rules["items"], filled}}};
  out["anyOf"] = {std::move(rules), filled};
  return out;
}

Json field_schema(const FieldSpec& field) {
  Json out = {{"title", fmt::format("{}: {}", field.name, field.type)}, {"description", described(field)}};
  if (const auto value = default_of(field); !value.is_null()) out["default"] = value;
  out.update(Json::parse(field.schema));
  if (out.contains("items")) out.erase("default");  // what holds without a list is told in words
  return with_host(std::move(out));
}

/// Exactly one of the sets of keys, and none of the others' keys.
void add_identities(Json& out, const SectionSpec& section) {
  if (section.identities.size() == 1) out["required"] = section.identities.front();
  if (section.identities.size() < 2) return;
  Json alternatives = Json::array();
  for (const auto& set : section.identities) {
    Json others = Json::array();
    for (const auto& other : section.identities) {
      for (const auto& key : other) {
        if (std::find(set.begin(), set.end(), key) == set.end()) others.push_back({{"required", {key}}});
      }
    }
    alternatives.push_back({{"required", set}, {"not", {{"anyOf", std::move(others)}}}});
  }
  out["oneOf"] = std::move(alternatives);
}

Json closed_object(std::string_view title, std::string_view doc) {
  return {{"title", title}, {"description", doc}, {"type", "object"}, {"additionalProperties", false}};
}

bool is_identity(const SectionSpec& section, std::string_view key) {
  return std::any_of(section.identities.begin(), section.identities.end(),
                     [&](const auto& set) { return std::find(set.begin(), set.end(), key) != set.end(); });
}

Json section_schema(const SectionSpec& section, const std::string& path) {
  Json out = closed_object(path, section.doc);
  Json properties = Json::object();
  for (const auto& field : section.fields) {
    if (is_written(field)) properties[std::string(field.name)] = field_schema(field);
  }
  for (const auto& child : section.children) {
    auto inner = section_schema(child, fmt::format("{}.{}", path, child.name));
    // An identifying key must have a value.
    if (is_identity(section, child.name)) inner["minProperties"] = 1;
    properties[std::string(child.name)] = std::move(inner);
  }
  out["properties"] = std::move(properties);
  add_identities(out, section);
  if (!section.repeated) return out;
  return {{"type", "array"}, {"description", section.doc}, {"items", std::move(out)}};
}

Json defaults_schema(const SectionSpec& section, const std::string& path) {
  Json out = closed_object("defaults." + path, fmt::format("Defaults for every [[{}]].", path));
  Json properties = Json::object();
  for (const auto& field : section.fields) {
    if (has_default(section, field)) properties[std::string(field.name)] = field_schema(field);
  }
  for (const auto& child : section.children) {
    auto inner = defaults_schema(child, fmt::format("{}.{}", path, child.name));
    if (!inner["properties"].empty()) properties[std::string(child.name)] = std::move(inner);
  }
  out["properties"] = std::move(properties);
  return out;
}

Json host_schema() {
  Json out = closed_object("match", "The whole file applies only to hosts that match.");
  out["required"] = {"host"};
  out["properties"]["host"] = {
      {"description",
       "Host name patterns, with or without the domain: *, ?, [a-z], and [001-512] for numbers."},
      {"oneOf",
       {{{"type", "string"}, {"minLength", 1}},
        {{"type", "array"}, {"minItems", 1}, {"items", {{"type", "string"}, {"minLength", 1}}}}}}};
  return out;
}

Json values_schema() {
  const Json scalar = {{"type", {"string", "integer", "boolean"}}};
  Json out = closed_object("host", "Values of each host, for {host.KEY} in strings.");
  auto& all = out["properties"];
  const Json file = {{"type", "string"}, {"pattern", "\\.csv$"}};
  all["table"] = {{"description", "CSV tables whose first column is host."},
                  {"oneOf", {file, {{"type", "array"}, {"items", file}}}}};
  all["values"] = {{"description", "Values of a host, or of those that a pattern matches."},
                   {"type", "object"},
                   {"additionalProperties", {{"type", "object"}, {"additionalProperties", scalar}}}};
  auto rule = closed_object("address", "Counted from the host's name, or looked up in /etc/hosts.");
  const Json number = {{"type", "integer"}, {"minimum", 0}, {"maximum", 4294967295}};
  rule["properties"] = {{"network", {{"type", "string"}, {"pattern", "/[0-9]{1,3}$"}}},
                        {"step", {{"type", "array"}, {"minItems", 1}, {"maxItems", 16}, {"items", number}}},
                        {"offset", number},
                        {"lookup", {{"type", "string"}, {"minLength", 1}}},
                        {"prefix", {{"type", "integer"}, {"minimum", 0}, {"maximum", 128}}},
                        {"family", {{"enum", {"ipv4", "ipv6"}}}}};
  rule["oneOf"] = {{{"required", {"network"}}}, {{"required", {"lookup"}}}};
  all["address"] = {{"type", "object"}, {"additionalProperties", std::move(rule)}};
  return out;
}

}  // namespace

bool has_default(const SectionSpec& section, const FieldSpec& field) {
  // A default name would be given to every interface.
  return section.defaults && (field.role == Role::kSetting || field.role == Role::kPolicy) &&
         field.name != "name";
}

std::string render_schema(const std::vector<SectionSpec>& grammar) {
  Json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"$id", "urn:rdma-configd:schema:config:1"},
              {"title", "Configuration of rdma-configd"},
              {"description",
               "/etc/rdma-configd/config.toml and conf.d/*.toml. Generated by `rdma-configctl schema`."},
              {"type", "object"},
              {"additionalProperties", false}};
  Json properties = {{"version", {{"description", "Version of the language."}, {"const", 1}}},
                     {"match", host_schema()},
                     {"host", values_schema()}};
  Json defaults = closed_object("defaults", "Values for entries that do not give them.");
  defaults["properties"] = Json::object();
  for (const auto& section : grammar) {
    properties[std::string(section.name)] = section_schema(section, std::string(section.name));
    auto inner = defaults_schema(section, std::string(section.name));
    if (!inner["properties"].empty()) defaults["properties"][std::string(section.name)] = std::move(inner);
  }
  properties["defaults"] = std::move(defaults);
  out["properties"] = std::move(properties);
  return out.dump(2) + "\n";
}

int schema(const Context& context) {
  context.environment.out << render_schema(kinds::grammar());
  return 0;
}

}  // namespace rdmacfg::ctl
