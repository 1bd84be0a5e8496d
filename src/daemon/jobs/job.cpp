// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/job.hpp"

#include "store/json_file.hpp"

namespace rdmacfg::daemon {

using Json = nlohmann::ordered_json;

namespace {

using ByKey = std::map<model::Key, std::string>;

Json by_key(const ByKey& all) {
  Json out = Json::array();
  for (const auto& [key, text] : all) out.push_back({key.kind, key.id, text});
  return out;
}

ByKey by_key_from(const Json& json) {
  ByKey out;
  for (const auto& entry : json)
    out[{entry.at(0).get<std::string>(), entry.at(1).get<std::string>()}] = entry.at(2).get<std::string>();
  return out;
}

using Fields = std::map<model::Key, model::LeftFields>;

Json json_of(const Fields& all) {
  Json out = Json::array();
  for (const auto& [key, left] : all) out.push_back({key.kind, key.id, left.fields, left.why});
  return out;
}

Fields fields_from(const Json& json) {
  Fields out;
  for (const auto& entry : json) {
    out[{entry.at(0).get<std::string>(), entry.at(1).get<std::string>()}] = {
        entry.at(2).get<std::set<std::string>>(), entry.at(3).get<std::string>()};
  }
  return out;
}

}  // namespace

Json to_json(const Job& job) {
  Json texts = Json::array();
  for (const auto& text : job.texts) texts.push_back({text.name, text.text, text.is_private});
  return {{"id", job.id},
          {"verb", static_cast<int>(job.verb)},
          {"texts", std::move(texts)},
          {"generation", job.generation},
          {"from", job.from},
          {"confirm_s", job.confirm_s},
          {"by_itself", job.by_itself},
          {"retry", job.retry},
          {"allow_removal", job.allow_removal},
          {"awaited", job.awaited},
          {"resumes", job.resumes},
          {"settled", by_key(job.settled)},
          {"settled_at", job.settled_at},
          {"applied_then", job.applied_then ? Json(*job.applied_then) : Json(nullptr)},
          {"closely", job.closely ? Json(*job.closely) : Json(nullptr)},
          {"expect", job.expect},
          {"who", job.who},
          {"what", job.what},
          {"uid", job.uid ? Json(*job.uid) : Json(nullptr)},
          {"left_alone", by_key(job.left_alone)},
          {"fields_left_alone", json_of(job.fields_left_alone)}};
}

Job job_from(const Json& json) {
  Job job;
  job.id = core::number_in<std::uint32_t>(json.at("id"));
  job.verb = core::enumerator_in(json.at("verb"), Job::Verb::kHistory);
  for (const auto& text : json.at("texts")) {
    job.texts.push_back({.name = text.at(0).get<std::string>(),
                         .text = text.at(1).get<std::string>(),
                         .is_private = text.at(2).get<bool>()});
  }
  job.generation = core::number_in<std::uint64_t>(json.at("generation"));
  job.from = core::number_in<std::uint64_t>(json.at("from"));
  job.confirm_s = core::number_up_to(json.at("confirm_s"), core::kMostInRecords / 1000);
  job.by_itself = json.at("by_itself").get<bool>();
  job.retry = json.at("retry").get<bool>();
  job.allow_removal = json.at("allow_removal").get<bool>();
  job.awaited = json.at("awaited").get<bool>();
  job.resumes = json.at("resumes").get<bool>();
  job.settled = by_key_from(json.at("settled"));
  job.settled_at = core::number_in<std::uint64_t>(json.at("settled_at"));
  if (const auto& then = json.at("applied_then"); !then.is_null()) job.applied_then = then.get<std::string>();
  if (const auto& handles = json.at("closely"); !handles.is_null())
    job.closely = handles.get<std::set<std::string>>();
  job.expect = json.at("expect").get<std::string>();
  job.who = json.at("who").get<std::string>();
  job.what = json.at("what").get<std::string>();
  if (const auto& uid = json.at("uid"); !uid.is_null()) job.uid = core::number_in<std::uint32_t>(uid);
  job.left_alone = by_key_from(json.at("left_alone"));
  job.fields_left_alone = fields_from(json.at("fields_left_alone"));
  return job;
}

}  // namespace rdmacfg::daemon
