// SPDX-License-Identifier: Apache-2.0
#include "store/value_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/characters.hpp"
#include "store/json_file.hpp"

namespace rdmacfg::core {

using Json = nlohmann::ordered_json;
using model::Attributes;
using model::Change;
using model::Effect;
using model::Operation;
using model::Value;

namespace {

// Before the digits of a text that JSON cannot hold: it comes from a file of others that is not UTF-8, and
// undoing brings back every byte.
constexpr std::string_view kKeptBytes =
    "\x01"
    "bytes ";

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = base::utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string kept_text(const std::string& text) {
  if (is_utf8(text) && !text.starts_with(kKeptBytes)) return text;
  std::string out(kKeptBytes);
  for (const char c : text) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::vector<std::string> kept_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  out.reserve(texts.size());
  for (const auto& text : texts) out.push_back(kept_text(text));
  return out;
}

std::string text_from(std::string kept) {
  if (!kept.starts_with(kKeptBytes)) return kept;
  const auto digits = std::string_view(kept).substr(kKeptBytes.size());
  std::string out;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    unsigned byte = 0;
    const auto* end = digits.data() + at + 2;
    if (std::from_chars(digits.data() + at, end, byte, 16).ptr != end) return kept;
    out += static_cast<char>(byte);
  }
  return out;
}

std::vector<std::string> texts_from(const Json& json) {
  auto out = json.get<std::vector<std::string>>();
  for (auto& text : out) text = text_from(std::move(text));
  return out;
}

}  // namespace

Json kept_json(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return kept_text(*text);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return kept_texts(*list);
  return to_json(value);
}

Json kept_json(const Attributes& attributes) {
  Json out = Json::object();
  for (const auto& [name, value] : attributes) out[name] = kept_json(value);
  return out;
}

Json to_json(const Value& value) {
  struct Visitor {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool flag) const { return flag; }
    Json operator()(std::int64_t number) const { return number; }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(const std::vector<std::string>& list) const { return list; }
  };
  return std::visit(Visitor{}, value);
}

Json to_json(const Attributes& attributes) {
  Json out = Json::object();
  for (const auto& [name, value] : attributes) out[name] = to_json(value);
  return out;
}

Json to_json(const model::Location& where) {
  return {{"file", where.file}, {"line", where.line}, {"column", where.column}};
}

namespace {

/// The functions that carry a change out or take it back.
Json essence(const Change& change) {
  Json out;
  out["kind"] = change.key.kind;
  out["id"] = change.key.id;
  out["label"] = change.label;
  out["operation"] = text_of(change.operation);
  out["before"] = to_json(change.before);
  out["after"] = to_json(change.after);
  out["fields"] = change.fields;
  if (!change.needs.empty()) out["needs"] = Json::array();
  for (const auto& need : change.needs) out["needs"].push_back({{"kind", need.kind}, {"id", need.id}});
  if (!change.siblings.empty()) out["beside"] = change.siblings;
  return out;
}

}  // namespace

Json kept_json(const Change& change) {
  auto out = essence(change);
  out["before"] = kept_json(change.before);
  out["after"] = kept_json(change.after);
  if (!change.parent_object.empty()) out["footing"] = change.parent_object;
  if (!change.carried.empty()) out["carried"] = kept_texts(change.carried);
  // Which fields a document asks for has to survive a kill (remember()); where it does so has not.
  for (const auto& field : change.fields) {
    if (!change.origins.contains(field)) out["given_back"].push_back(field);
  }
  return out;
}

Json to_json(const Change& change) {
  auto out = essence(change);
  out["effect"] = text_of(change.effect);
  out["interrupts"] = change.interrupts;
  if (!change.interrupts_later.empty()) out["interrupts_later"] = change.interrupts_later;
  if (change.needs.empty()) out["needs"] = Json::array();
  out["origins"] = Json::object();
  for (const auto& [field, where] : change.origins) out["origins"][field] = to_json(where);
  out["footing"] = change.parent_object;
  if (!change.returned.empty()) out["returned"] = change.returned;
  out["overruled"] = change.overruled;
  out["carried"] = change.carried;
  return out;
}

Value value_from(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    throw Json::other_error::create(501, "a number is too large", static_cast<const Json*>(nullptr));
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_string()) return text_from(json.get<std::string>());
  return texts_from(json);
}

Attributes attributes_from(const Json& json) {
  Attributes out;
  for (const auto& [name, value] : json.get_ref<const Json::object_t&>())
    out.emplace(name, value_from(value));
  return out;
}

namespace {

model::Location place_from(const Json& json) {
  return {.file = json.at("file").get<std::string>(),
          .line = number_in<int>(json.at("line")),
          .column = number_in<int>(json.at("column"))};
}

Operation operation_from(const std::string& text) {
  for (const auto each : {Operation::kCreate, Operation::kUpdate, Operation::kDelete}) {
    if (text_of(each) == text) return each;
  }
  throw Json::other_error::create(501, "unknown operation", static_cast<const Json*>(nullptr));
}

}  // namespace

Change change_from(const Json& json) {
  Change change;
  change.key = {json.at("kind").get<std::string>(), json.at("id").get<std::string>()};
  change.label = json.at("label").get<std::string>();
  change.operation = operation_from(json.at("operation").get<std::string>());
  change.before = attributes_from(json.at("before"));
  change.after = attributes_from(json.at("after"));
  change.fields = json.at("fields").get<std::vector<std::string>>();
  const auto part = [&](const char* name) { return json.contains(name) ? json.at(name) : Json(); };
  for (const auto& need : part("needs")) {
    change.needs.push_back({need.at("kind").get<std::string>(), need.at("id").get<std::string>()});
  }
  const auto origins = part("origins");
  for (const auto& [field, where] : origins.items()) change.origins[field] = place_from(where);
  if (!json.contains("origins")) {
    const auto given_back = json.value("given_back", std::vector<std::string>());
    for (const auto& field : change.fields) {
      if (std::find(given_back.begin(), given_back.end(), field) == given_back.end())
        change.origins[field] = {};
    }
  }
  const auto effect = json.value("effect", std::string());
  for (const auto each : {Effect::kNow, Effect::kDriverReload, Effect::kInitramfsReboot}) {
    if (text_of(each) == effect) change.effect = each;
  }
  change.interrupts = json.value("interrupts", std::vector<std::string>());
  change.interrupts_later = json.value("interrupts_later", std::vector<std::string>());
  change.parent_object = json.value("footing", std::string());
  change.returned = json.value("returned", std::string());
  change.overruled = json.value("overruled", std::vector<std::string>());
  change.siblings = json.value("beside", std::vector<std::string>());
  if (const auto carried = json.find("carried"); carried != json.end()) change.carried = texts_from(*carried);
  return change;
}

}  // namespace rdmacfg::core
