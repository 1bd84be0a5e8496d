// SPDX-License-Identifier: Apache-2.0
#include "daemon/job.hpp"

namespace rdmacfg::daemon {

using Json = nlohmann::ordered_json;

Json to_json(const Job& job) {
  Json texts = Json::array(), skip = Json::array();
  for (const auto& one : job.texts) texts.push_back({one.name, one.text});
  for (const auto& [key, why] : job.left_alone) skip.push_back({key.kind, key.id, why});
  return {{"id", job.id},
          {"verb", static_cast<int>(job.verb)},
          {"texts", std::move(texts)},
          {"generation", job.generation},
          {"confirm_s", job.confirm_s},
          {"by_itself", job.by_itself},
          {"retry", job.retry},
          {"report_only", job.report_only},
          {"awaited", job.awaited},
          {"resumes", job.resumes},
          {"settled", job.settled},
          {"applied_then", job.applied_then ? Json(*job.applied_then) : Json(nullptr)},
          {"expect", job.expect},
          {"who", job.who},
          {"what", job.what},
          {"left_alone", std::move(skip)}};
}

Job job_from(const Json& json) {
  Job job;
  job.id = json.at("id").get<std::uint32_t>();
  job.verb = static_cast<Job::Verb>(json.at("verb").get<int>());
  for (const auto& one : json.at("texts")) {
    job.texts.push_back({one.at(0).get<std::string>(), one.at(1).get<std::string>()});
  }
  job.generation = json.at("generation").get<std::uint64_t>();
  job.confirm_s = json.at("confirm_s").get<std::int64_t>();
  job.by_itself = json.at("by_itself").get<bool>();
  job.retry = json.at("retry").get<bool>();
  job.report_only = json.at("report_only").get<bool>();
  job.awaited = json.at("awaited").get<bool>();
  job.resumes = json.at("resumes").get<bool>();
  job.settled = json.at("settled").get<std::uint64_t>();
  if (const auto& then = json.at("applied_then"); !then.is_null()) job.applied_then = then.get<std::string>();
  job.expect = json.at("expect").get<std::string>();
  job.who = json.at("who").get<std::string>();
  job.what = json.at("what").get<std::string>();
  for (const auto& one : json.at("left_alone")) {
    job.left_alone[{one.at(0).get<std::string>(), one.at(1).get<std::string>()}] =
        one.at(2).get<std::string>();
  }
  return job;
}

}  // namespace rdmacfg::daemon
