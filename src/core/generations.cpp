// SPDX-License-Identifier: Apache-2.0
#include "core/generations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.hpp"
#include "core/json_file.hpp"
#include "core/value_json.hpp"
#include "kinds/all.hpp"

namespace rdmacfg::core {

using base::Result;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kSchema = 1;
constexpr std::size_t kKept = 32;

Ledger ledger_from(const Json& json) {
  Ledger ledger;
  ledger.active = json.at("active").get<std::uint64_t>();
  for (const auto& one : json.at("generations")) {
    ledger.generations.push_back({.number = one.at("number").get<std::uint64_t>(),
                                  .digest = one.at("digest").get<std::string>(),
                                  .when = one.at("when").get<std::string>(),
                                  .who = one.at("who").get<std::string>(),
                                  .what = one.at("what").get<std::string>(),
                                  .fate = one.at("fate").get<std::string>()});
  }
  ledger.refused = json.at("refused").get<std::vector<std::string>>();
  if (const auto& waiting = json.at("unconfirmed"); !waiting.is_null()) {
    ledger.unconfirmed =
        Unconfirmed{.generation = waiting.at("generation").get<std::uint64_t>(),
                    .previous = waiting.at("previous").get<std::uint64_t>(),
                    .boot_id = waiting.at("boot_id").get<std::string>(),
                    .deadline_ms = waiting.at("deadline_ms").get<std::int64_t>(),
                    .deadline = waiting.at("deadline").get<std::string>(),
                    .complete = !waiting.contains("complete") || waiting.at("complete").get<bool>()};
  }
  ledger.answered = json.value("answered", std::string());
  return ledger;
}

Json ledger_json(const Ledger& ledger) {
  Json generations = Json::array();
  for (const auto& one : ledger.generations) {
    generations.push_back({{"number", one.number},
                           {"digest", one.digest},
                           {"when", one.when},
                           {"who", one.who},
                           {"what", one.what},
                           {"fate", one.fate}});
  }
  Json waiting = nullptr;
  if (const auto& one = ledger.unconfirmed) {
    waiting = {{"generation", one->generation},   {"previous", one->previous}, {"boot_id", one->boot_id},
               {"deadline_ms", one->deadline_ms}, {"deadline", one->deadline}, {"complete", one->complete}};
  }
  Json json{{"schema", kSchema},
            {"active", ledger.active},
            {"generations", std::move(generations)},
            {"refused", ledger.refused},
            {"unconfirmed", std::move(waiting)}};
  if (!ledger.answered.empty()) json["answered"] = ledger.answered;
  return json;
}

std::string path_of(const std::string& folder, std::uint64_t number) {
  return fmt::format("{}/{}.json", folder, number);
}

}  // namespace

const Generation* Ledger::find(std::uint64_t number) const {
  const auto at = std::find_if(generations.begin(), generations.end(),
                               [&](const Generation& one) { return one.number == number; });
  return at == generations.end() ? nullptr : &*at;
}

Generation* Ledger::find(std::uint64_t number) {
  return const_cast<Generation*>(std::as_const(*this).find(number));
}

bool Ledger::is_active(const std::string& digest) const {
  const auto* generation = find(active);
  return generation != nullptr && generation->digest == digest;
}

std::uint64_t Ledger::before(std::uint64_t number) const {
  std::uint64_t found = 0;
  for (const auto& one : generations) {
    if (one.number < number && one.fate.empty()) found = std::max(found, one.number);
  }
  return found;
}

bool Ledger::refuses(const std::string& digest) const {
  return std::find(refused.begin(), refused.end(), digest) != refused.end();
}

std::string digest_of(const config::Document& document) {
  std::string all;
  // A document that has moved is the same one.
  for (const auto& file : document.files) {
    all += fmt::format("{}:", file.text.size());
    all += file.text;
  }
  if (!document.host.empty()) all += "host:" + document.host;
  return base::sha256(all);
}

Result<Ledger> load_ledger(system::Files& files, const std::string& path) {
  auto loaded = load_json<Ledger>(files, path, kSchema, ledger_from);
  if (!loaded) return base::fail(loaded.error());
  return loaded->value_or(Ledger{});
}

Result<void> save_ledger(system::Files& files, const std::string& path, const Ledger& ledger) {
  return files.write(path, ledger_json(ledger).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<Remembered> load_texts(system::Files& files, const std::string& folder, std::uint64_t number) {
  const auto path = path_of(folder, number);
  auto loaded = load_json<Remembered>(files, path, kSchema, [](const Json& json) {
    Remembered remembered;
    for (const auto& one : json.at("files")) {
      remembered.files.push_back({one.at("name").get<std::string>(), one.at("text").get<std::string>()});
    }
    remembered.host = json.value("host", std::string());
    return remembered;
  });
  if (!loaded) return base::fail(loaded.error());
  if (!*loaded) {
    return base::fail(base::Code::kNotFound, fmt::format("{}: generation {} is not there", path, number));
  }
  return std::move(**loaded);
}

Result<void> save_texts(system::Files& files, const std::string& folder, std::uint64_t number,
                        const config::Document& document) {
  Json list = Json::array();
  for (const auto& one : document.files) list.push_back({{"name", one.name}, {"text", one.text}});
  Json json{{"schema", kSchema}, {"files", std::move(list)}};
  if (!document.host.empty()) json["host"] = document.host;
  return files.write(path_of(folder, number),
                     json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

config::Document parse_again(Remembered remembered, std::string_view host) {
  const auto name = remembered.host.empty() ? std::string(host) : std::move(remembered.host);
  return config::parse_texts(std::move(remembered.files), name, kinds::grammar());
}

void prune(system::Files& files, const GenerationPaths& paths, Ledger& ledger) {
  const auto fallback = ledger.before(ledger.active);
  for (auto at = ledger.generations.begin();
       at != ledger.generations.end() && ledger.generations.size() > kKept;) {
    const bool awaited = ledger.unconfirmed && at->number == ledger.unconfirmed->previous;
    if (at->number == ledger.active || at->number == fallback || awaited) {
      ++at;
      continue;
    }
    (void)files.remove(path_of(paths.texts, at->number));
    at = ledger.generations.erase(at);
  }
  // A digest is refused as long as the generation that it was rolled back from is remembered.
  std::erase_if(ledger.refused, [&](const std::string& digest) {
    return std::none_of(ledger.generations.begin(), ledger.generations.end(),
                        [&](const Generation& one) { return one.digest == digest; });
  });
}

Result<std::optional<TakeBack>> load_take_back(system::Files& files, const std::string& path) {
  return load_json<TakeBack>(files, path, kSchema, [](const Json& json) {
    return TakeBack{json.at("boot_id").get<std::string>(), plan_from(json.at("changes")),
                    state_from(json.at("before")), json.value("in_two_runs", false)};
  });
}

Result<void> save_take_back(system::Files& files, const std::string& path, const TakeBack& take_back) {
  const Json json{{"schema", kSchema},
                  {"boot_id", take_back.boot_id},
                  {"changes", kept_json(take_back.plan)},
                  {"before", state_json(take_back.before)},
                  {"in_two_runs", take_back.in_two_runs}};
  return files.write(path, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace rdmacfg::core
