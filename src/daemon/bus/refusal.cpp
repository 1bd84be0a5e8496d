// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/refusal.hpp"

#include <nlohmann/json.hpp>

#include "store/json_file.hpp"

namespace rdmacfg::daemon {

using Json = nlohmann::ordered_json;

void Refusal::judge(const Outcome& outcome) {
  if (outcome.cancelled) return;
  const bool known = outcome.status.is_object();
  const bool ended_before_plan = daemon::ended_before_plan(outcome);
  if (known && !ended_before_plan && !outcome.status.value("document_judged", true)) return;
  const bool held = !ended_before_plan && (!known || outcome.status.value("document_held", true));
  const bool is_private = known && outcome.status.value("private", false);
  now_.why =
      held ? "" : why_refused(outcome.report, is_private ? DocumentValues::kLeftOut : DocumentValues::kShown);
  now_.at = known ? std::optional(outcome.status.value("active", std::uint64_t{0})) : std::nullopt;
}

void Refusal::active(std::optional<std::uint64_t> generation) {
  if (!now_.at) now_.at = generation;
  if (now_.at != generation) now_.why.clear();
}

void Refusal::load() {
  const auto text = files_.read(path_);
  if (!text || !*text) return;
  try {
    const auto json = core::parse_record(**text);
    if (json.at("boot_id").get<std::string>() != boot_id_) return;
    Content content{json.at("why").get<std::string>(), std::nullopt};
    if (const auto& at = json.at("generation"); !at.is_null())
      content.at = core::number_in<std::uint64_t>(at);
    now_ = std::move(content);
  } catch (const Json::exception&) {
    return;  // damaged: as if there were none
  }
}

base::Result<void> Refusal::keep() {
  if (kept_ == now_) return {};
  base::Result<void> done;
  if (now_.why.empty()) {
    const auto there = files_.read(path_);
    if (!there || *there) done = files_.remove(path_);
  } else {
    const Json json{
        {"boot_id", boot_id_}, {"generation", now_.at ? Json(*now_.at) : Json(nullptr)}, {"why", now_.why}};
    done = files_.write(path_, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  if (done) kept_ = now_;
  return done;
}

}  // namespace rdmacfg::daemon
