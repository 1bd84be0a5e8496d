// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/worker_outcome.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdint>
#include <utility>

#include "model/limits.hpp"
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
      outcome.status = json.at("status");
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
    outcome.report.exit = static_cast<model::Exit>(json.at("exit").get<int>());
    outcome.whole = StoredReport(std::move(whole), std::move(text));
    outcome.status = json.at("status");
    outcome.looked = json.value("looked", false);
    outcome.handles_made = json.value("handles_made", std::size_t{0});
    return outcome;
  } catch (const Json::exception&) {
    // Told to stop before it could say how; it had begun nothing.
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGUSR1 || WTERMSIG(status) == SIGUSR2))
      return cancelled();
    return lost_worker(job, end_of(job, status));
  }
}

}  // namespace rdmacfg::daemon
