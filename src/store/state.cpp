// SPDX-License-Identifier: Apache-2.0
#include "store/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "catalog/all.hpp"
#include "store/json_file.hpp"
#include "store/value_json.hpp"

namespace rdmacfg::core {

using base::Result;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kStateSchema = 1;
constexpr int kJournalSchema = 1;

}  // namespace

State state_from(const Json& json, std::vector<std::string>* dropped) {
  State state;
  for (const auto& entry : json.at("records").get_ref<const Json::array_t&>()) {
    model::Key key{entry.at("kind").get<std::string>(), entry.at("id").get<std::string>()};
    if (!is_understood(key)) {
      if (dropped != nullptr) dropped->push_back(key.text());
      continue;
    }
    Record record;
    // In the file's order, with what says nothing left out: it is read at each start, for 1,000 interfaces.
    for (const auto& [name, value] : entry.items()) {
      if (name == "created") {
        record.created = value.get<bool>();
      } else if (name == "instance") {
        record.instance = value.get<std::string>();
      } else if (name == "before") {
        record.before = attributes_from(value);
      } else if (name == "managed") {
        record.managed = value.get<std::set<std::string>>();
      } else if (name == "limits") {
        for (const auto& [field, limit] : value.get_ref<const Json::object_t&>()) {
          record.limits[field] = {value_from(limit.at("wanted")), value_from(limit.at("got")),
                                  limit.at("reason").get<std::string>()};
        }
      }
    }
    state.records[std::move(key)] = std::move(record);
  }
  return state;
}

Json state_json(const State& state) {
  Json json{{"schema", kStateSchema}, {"records", Json::array()}};
  for (const auto& [key, record] : state.records) {
    Json entry{{"kind", key.kind}, {"id", key.id}};
    if (record.created) entry["created"] = true;
    if (!record.instance.empty()) entry["instance"] = record.instance;
    if (!record.before.empty()) entry["before"] = kept_json(record.before);
    if (!record.managed.empty()) entry["managed"] = record.managed;
    for (const auto& [field, limit] : record.limits) {
      entry["limits"][field] = {
          {"wanted", kept_json(limit.wanted)}, {"got", kept_json(limit.got)}, {"reason", limit.reason}};
    }
    json["records"].push_back(std::move(entry));
  }
  return json;
}

Json plan_json(const model::Plan& plan) {
  Json changes = Json::array();
  for (const auto& change : plan.changes) changes.push_back(to_json(change));
  return changes;
}

Json kept_json(const model::Plan& plan) {
  Json changes = Json::array();
  for (const auto& change : plan.changes) changes.push_back(kept_json(change));
  return changes;
}

model::Plan plan_from(const Json& changes, std::vector<std::string>* dropped) {
  model::Plan plan;
  for (const auto& item : changes.get_ref<const Json::array_t&>()) {
    auto change = change_from(item);
    if (is_understood(change.key)) {
      plan.changes.push_back(std::move(change));
    } else if (dropped != nullptr) {
      dropped->push_back(change.key.text());
    }
  }
  return plan;
}

bool is_understood(const model::Key& key) {
  const auto odd = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  constexpr std::string_view kNoBeginning = "#;\"' ";  // of a comment, or nothing that a kind names
  return kinds::find(key.kind) != nullptr && !key.id.empty() &&
         kNoBeginning.find(key.id.front()) == std::string_view::npos &&
         std::none_of(key.id.begin(), key.id.end(), odd);
}

const Record* State::of(const model::Observed& observed) const {
  const auto at = records.find(observed.key);
  if (at == records.end() || at->second.instance != observed.instance) return nullptr;
  return &at->second;
}

Result<State> load_state(system::Files& files, const std::string& path, std::vector<std::string>* dropped) {
  auto loaded = load_json<State>(files, path, kStateSchema,
                                 [&](const Json& json) { return state_from(json, dropped); });
  if (!loaded) return base::fail(loaded.error());
  return loaded->value_or(State{});
}

Result<void> save_state(system::Files& files, const std::string& path, const State& state) {
  // A line for each record: for people, and not a byte more to read than that takes.
  std::string text = fmt::format("{{\"schema\":{},\"records\":[", kStateSchema);
  const auto json = state_json(state);
  for (const auto& record : json.at("records")) {
    text += (text.back() == '[' ? "\n" : ",\n") + record.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return files.write(path, text + "\n]}\n");
}

Result<std::optional<Journal>> load_journal(system::Files& files, const std::string& path,
                                            std::vector<std::string>* dropped) {
  return load_json<Journal>(files, path, kJournalSchema, [&](const Json& json) {
    Journal journal;
    journal.boot_id = json.at("boot_id").get<std::string>();
    journal.plan = plan_from(json.at("changes"), dropped);
    if (json.contains("transaction")) journal.transaction = number_in<std::uint64_t>(json.at("transaction"));
    if (const auto before = json.find("before"); before != json.end())
      journal.before = state_from(*before, nullptr);
    return journal;
  });
}

Result<void> write_journal(system::Files& files, const std::string& path, const Journal& journal) {
  const Json json{{"schema", kJournalSchema},
                  {"transaction", journal.transaction},
                  {"boot_id", journal.boot_id},
                  {"changes", kept_json(journal.plan)},
                  {"before", state_json(journal.before)}};
  return files.write_private(path, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace rdmacfg::core
