// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/worker_outcome.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "model/limits.hpp"
#include "model/types/policy_types.hpp"
#include "store/json_file.hpp"
#include "store/report_json.hpp"

namespace rdmacfg::daemon {

using Json = nlohmann::ordered_json;

namespace {

/// How the started changes of a job whose worker is gone are recovered.
std::string sequel(const Job& job) {
  constexpr const char* kBack = "the next repair restores the active generation; ";
  switch (job.verb) {
    case Job::Verb::kApply:
      if (job.confirm_s > 0) return "its changes are rolled back";
      return job.by_itself ? "the next run continues from there" : std::string(kBack) + "apply again";
    case Job::Verb::kRollBack:
      return std::string(kBack) + "roll back again";
    case Job::Verb::kConfirm:
      return "`rdma-configctl history` shows whether it is confirmed";
    default:
      return "the next repair continues from there";
  }
}

/// How the process of a worker without a result ended.
std::string end_of(const Job& job, int status) {
  if (!WIFSIGNALED(status)) return "the worker ended without a result";
  if (WTERMSIG(status) == SIGXCPU)
    return fmt::format("the worker used more than the {} s of processor time allowed",
                       (job.changes() ? model::limits::kChangeCpu : model::limits::kLookCpu).count());
  return fmt::format("the worker was killed by signal {}", WTERMSIG(status));
}

/// The host as a worker describes it; null where the ledger cannot be read. Its numbers are checked here,
/// once: the main process takes them with value(), which would turn a boolean or one out of range into
/// another.
/// @throws Json::exception
Json status_in(const Json& result) {
  const auto& status = result.at("status");
  const auto check = [](const Json& part, const char* key, std::int64_t most) {
    if (const auto at = part.find(key); at != part.end()) (void)core::number_up_to(*at, most);
  };
  check(status, "active", core::kMostInRecords);
  check(status, "audit_s", model::Audit::kMost);
  if (const auto last = status.find("last"); last != status.end())
    check(*last, "number", core::kMostInRecords);
  if (const auto waiting = status.find("unconfirmed"); waiting != status.end())
    check(*waiting, "deadline_ms", core::kMostInRecords);
  return status;
}

}  // namespace

Outcome broken(const std::string& why, model::Exit exit) {
  Outcome outcome;
  outcome.report.error = base::Error{base::Code::kIo, why, 0};
  outcome.report.exit = exit;
  outcome.whole =
      StoredReport(core::report_json(outcome.report).dump(-1, ' ', false, Json::error_handler_t::replace));
  return outcome;
}

Outcome cancelled() {
  auto outcome = broken("cancelled");
  outcome.cancelled = true;
  return outcome;
}

Outcome lost_worker(const Job& job, const std::string& how) {
  auto outcome =
      job.changes() ? broken(fmt::format("{} while it may have been changing the host; {}", how, sequel(job)),
                             model::Exit::kUndoIncomplete)
                    : broken(how);
  outcome.lost = true;
  return outcome;
}

Outcome outcome_of(const Job& job, const std::string& line, int status, base::UniqueFd whole) {
  try {
    const auto json = core::parse_record(line);
    if (json.value("cancelled", false)) {
      auto outcome = cancelled();
      outcome.status = status_in(json);
      return outcome;
    }
    // Of a look there is nothing but the exit status: its report is the client's.
    Outcome outcome;
    std::string text;
    if (const auto& summary = json.at("report"); !summary.is_null()) {
      text = summary.dump(-1, ' ', false, Json::error_handler_t::replace);
      auto report = core::report_from(text);
      if (!report)
        return lost_worker(job, "the worker's result cannot be read (" + report.error().message + ")");
      outcome.report = std::move(*report);
    }
    outcome.report.exit = core::enumerator_in(json.at("exit"), model::Exit::kPartly);
    outcome.whole = StoredReport(std::move(whole), std::move(text));
    outcome.status = status_in(json);
    outcome.looked = json.value("looked", false);
    if (const auto made = json.find("handles_made"); made != json.end())
      outcome.handles_made = core::number_in<std::size_t>(*made);
    return outcome;
  } catch (const Json::exception&) {
    // Told to stop before it could say how; it had begun nothing.
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGUSR1 || WTERMSIG(status) == SIGUSR2))
      return cancelled();
    return lost_worker(job, end_of(job, status));
  }
}

}  // namespace rdmacfg::daemon
