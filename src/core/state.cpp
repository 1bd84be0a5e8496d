// SPDX-License-Identifier: Apache-2.0
#include "core/state.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "core/value_json.hpp"

namespace rdmacfg::core {

using base::Code;
using base::Result;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kStateSchema = 1;
constexpr int kJournalSchema = 1;

/// Reads a JSON file of ours and checks its schema; every exception of the library ends here.
template <class T>
Result<std::optional<T>> load(system::Files& files, const std::string& path, int schema,
                              const std::function<T(const Json&)>& decode) {
  auto text = files.read(path);
  if (!text) return base::fail(text.error());
  if (!*text) return std::optional<T>{};
  try {
    const auto json = Json::parse(**text);
    if (const auto found = json.at("schema").get<int>(); found != schema) {
      return base::fail(Code::kInvalid,
                        fmt::format("{}: schema {}, this program reads {}; it was written by another version "
                                    "of rdma-configd",
                                    path, found, schema));
    }
    return std::optional<T>(decode(json));
  } catch (const Json::exception& e) {
    return base::fail(Code::kInvalid,
                      fmt::format("{}: damaged ({}); move it away to start without it", path, e.what()));
  }
}

}  // namespace

const Record* State::of(const model::Observed& observed) const {
  const auto at = records.find(observed.key);
  if (at == records.end() || at->second.instance != observed.instance) return nullptr;
  return &at->second;
}

Result<State> load_state(system::Files& files, const std::string& path) {
  auto loaded = load<State>(files, path, kStateSchema, [](const Json& json) {
    State state;
    for (const auto& one : json.at("records")) {
      Record record;
      record.created = one.at("created").get<bool>();
      record.instance = one.at("instance").get<std::string>();
      record.before = attributes_from(one.at("before"));
      record.managed = one.at("managed").get<std::set<std::string>>();
      for (const auto& [field, limit] : one.at("limits").items()) {
        record.limits[field] = {value_from(limit.at("wanted")), value_from(limit.at("got")),
                                limit.at("reason").get<std::string>()};
      }
      state.records[{one.at("kind").get<std::string>(), one.at("id").get<std::string>()}] = std::move(record);
    }
    return state;
  });
  if (!loaded) return base::fail(loaded.error());
  return loaded->value_or(State{});
}

Result<void> save_state(system::Files& files, const std::string& path, const State& state) {
  Json json{{"schema", kStateSchema}, {"records", Json::array()}};
  for (const auto& [key, record] : state.records) {
    Json limits = Json::object();
    for (const auto& [field, limit] : record.limits) {
      limits[field] = {
          {"wanted", to_json(limit.wanted)}, {"got", to_json(limit.got)}, {"reason", limit.reason}};
    }
    json["records"].push_back({{"kind", key.kind},
                               {"id", key.id},
                               {"created", record.created},
                               {"instance", record.instance},
                               {"before", to_json(record.before)},
                               {"managed", record.managed},
                               {"limits", std::move(limits)}});
  }
  return files.write(path, json.dump(1) + "\n");
}

Result<std::optional<Journal>> load_journal(system::Files& files, const std::string& path) {
  return load<Journal>(files, path, kJournalSchema, [](const Json& json) {
    Journal journal;
    journal.boot_id = json.at("boot_id").get<std::string>();
    for (const auto& change : json.at("changes")) journal.plan.changes.push_back(change_from(change));
    return journal;
  });
}

Result<void> write_journal(system::Files& files, const std::string& path, const Journal& journal) {
  Json json{{"schema", kJournalSchema}, {"boot_id", journal.boot_id}, {"changes", Json::array()}};
  for (const auto& change : journal.plan.changes) json["changes"].push_back(to_json(change));
  return files.write(path, json.dump() + "\n");
}

}  // namespace rdmacfg::core
