// SPDX-License-Identifier: Apache-2.0
#include "store/ledger.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "model/limits.hpp"
#include "store/json_file.hpp"
#include "store/ledger_json.hpp"

namespace rdmacfg::core {

using base::Result;
using Json = nlohmann::ordered_json;

namespace {

/// Numbers ascend and leave room to count on, and the named generations exist.
void check(const Ledger& ledger) {
  constexpr auto kMost = static_cast<std::uint64_t>(kMostInRecords);
  std::uint64_t last = 0;
  for (const auto& generation : ledger.generations) {
    if (generation.number <= last) reject_record("the numbers of generations do not ascend");
    last = generation.number;
  }
  if (last > kMost || ledger.transaction > kMost) reject_record("a number is too large");
  const auto named = [&](std::uint64_t number) { return number == 0 || ledger.find(number) != nullptr; };
  if (!named(ledger.active)) reject_record("the active generation is missing");
  if (const auto& waiting = ledger.unconfirmed;
      waiting && (waiting->generation == 0 || !named(waiting->generation) || !named(waiting->previous)))
    reject_record("the unconfirmed generation is missing");
  if (const auto& waiting = ledger.unconfirmed;
      waiting && (waiting->deadline_ms < 0 || static_cast<std::uint64_t>(waiting->deadline_ms) > kMost))
    reject_record("the deadline is not a time");
}

/// Earlier versions wrote the reason in the text alone: "rolled back: it was not confirmed in time".
std::string old_reason(std::string_view fate) {
  constexpr std::string_view kBefore = "rolled back: ";
  return fate.starts_with(kBefore) ? std::string(fate.substr(kBefore.size())) : std::string();
}

}  // namespace

void reject_record(const std::string& why) {
  throw Json::other_error::create(501, why, static_cast<const Json*>(nullptr));
}

Ledger ledger_from(const Json& json) {
  Ledger ledger;
  if (json.contains("transaction")) ledger.transaction = number_in<std::uint64_t>(json.at("transaction"));
  ledger.active = number_in<std::uint64_t>(json.at("active"));
  for (const auto& generation : json.at("generations")) {
    ledger.generations.push_back({.number = number_in<std::uint64_t>(generation.at("number")),
                                  .digest = generation.at("digest").get<std::string>(),
                                  .when = generation.at("when").get<std::string>(),
                                  .who = generation.at("who").get<std::string>(),
                                  .what = generation.at("what").get<std::string>(),
                                  .fate = generation.at("fate").get<std::string>()});
    auto& last = ledger.generations.back();
    last.why = generation.contains("why") ? generation.at("why").get<std::string>() : old_reason(last.fate);
  }
  ledger.refused = json.at("refused").get<std::vector<std::string>>();
  if (const auto& waiting = json.at("unconfirmed"); !waiting.is_null()) {
    ledger.unconfirmed =
        Unconfirmed{.generation = number_in<std::uint64_t>(waiting.at("generation")),
                    .previous = number_in<std::uint64_t>(waiting.at("previous")),
                    .boot_id = waiting.at("boot_id").get<std::string>(),
                    .deadline_ms = number_in<std::int64_t>(waiting.at("deadline_ms")),
                    .deadline = waiting.at("deadline").get<std::string>(),
                    .complete = !waiting.contains("complete") || waiting.at("complete").get<bool>()};
  }
  ledger.answered = json.value("answered", std::string());
  ledger.boot_id = json.value("boot_id", std::string());
  check(ledger);
  return ledger;
}

Json ledger_json(const Ledger& ledger) {
  Json generations = Json::array();
  for (const auto& generation : ledger.generations) {
    generations.push_back({{"number", generation.number},
                           {"digest", generation.digest},
                           {"when", generation.when},
                           {"who", generation.who},
                           {"what", generation.what},
                           {"fate", generation.fate}});
    if (!generation.fate.empty()) generations.back()["why"] = generation.why;
  }
  Json waiting = nullptr;
  if (const auto& unconfirmed = ledger.unconfirmed) {
    waiting = {{"generation", unconfirmed->generation}, {"previous", unconfirmed->previous},
               {"boot_id", unconfirmed->boot_id},       {"deadline_ms", unconfirmed->deadline_ms},
               {"deadline", unconfirmed->deadline},     {"complete", unconfirmed->complete}};
  }
  Json json{{"schema", kLedgerSchema},   {"transaction", ledger.transaction},
            {"active", ledger.active},   {"generations", std::move(generations)},
            {"refused", ledger.refused}, {"unconfirmed", std::move(waiting)}};
  if (!ledger.answered.empty()) json["answered"] = ledger.answered;
  if (!ledger.boot_id.empty()) json["boot_id"] = ledger.boot_id;
  return json;
}

const Generation* Ledger::find(std::uint64_t number) const {
  const auto at = std::find_if(generations.begin(), generations.end(),
                               [&](const Generation& generation) { return generation.number == number; });
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
  for (const auto& generation : generations) {
    if (generation.number < number && generation.fate.empty()) found = std::max(found, generation.number);
  }
  return found;
}

bool Ledger::refuses(const std::string& digest) const {
  return std::find(refused.begin(), refused.end(), digest) != refused.end();
}

Result<Ledger> ledger_told(const std::string& text) {
  try {
    const auto json = parse_record(text);
    Ledger ledger;
    ledger.active = number_in<std::uint64_t>(json.at("active"));
    for (const auto& generation : json.at("generations")) {
      ledger.generations.push_back({.number = number_in<std::uint64_t>(generation.at("number")),
                                    .digest = {},
                                    .when = generation.at("when").get<std::string>(),
                                    .who = generation.at("who").get<std::string>(),
                                    .what = generation.at("what").get<std::string>(),
                                    .fate = generation.at("fate").get<std::string>()});
    }
    if (const auto& waiting = json.at("unconfirmed"); !waiting.is_null()) {
      ledger.unconfirmed = Unconfirmed{.generation = number_in<std::uint64_t>(waiting.at("generation")),
                                       .previous = ledger.before(ledger.active),
                                       .boot_id = {},
                                       .deadline_ms = number_up_to(waiting.at("deadline_ms"), kMostInRecords),
                                       .deadline = waiting.at("deadline").get<std::string>()};
    }
    return ledger;
  } catch (const Json::exception&) {
    return base::fail(base::Code::kInvalid, "rdma-configd returned the history in an unknown form");
  }
}

std::vector<std::uint64_t> prune(Ledger& ledger) {
  std::vector<std::uint64_t> dropped;
  const auto fallback = ledger.before(ledger.active);
  for (auto at = ledger.generations.begin();
       at != ledger.generations.end() && ledger.generations.size() > model::limits::kGenerations;) {
    const bool awaited = ledger.unconfirmed && at->number == ledger.unconfirmed->previous;
    if (at->number == ledger.active || at->number == fallback || awaited) {
      ++at;
      continue;
    }
    dropped.push_back(at->number);
    at = ledger.generations.erase(at);
  }
  // A digest is refused as long as the generation that it was rolled back from is remembered.
  std::erase_if(ledger.refused, [&](const std::string& digest) {
    return std::none_of(ledger.generations.begin(), ledger.generations.end(),
                        [&](const Generation& generation) { return generation.digest == digest; });
  });
  return dropped;
}

}  // namespace rdmacfg::core
