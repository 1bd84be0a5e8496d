// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/requests.hpp"

#include <fmt/format.h>
#include <sys/syslog.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "daemon/journal.hpp"

namespace rdmacfg::daemon {

namespace {

/// The name of the process, which it may choose itself; empty when it has ended.
std::string command_of(std::uint32_t pid) {
  constexpr std::size_t kMost = 15;  // TASK_COMM_LEN, without the zero
  std::ifstream in(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(in, name);
  name.resize(std::min(name.size(), kMost));
  for (auto& c : name) {
    if (c < ' ' || c > '~') c = '?';
  }
  return name;
}

/// Whether the host may be other than before; where that is not known, it may.
bool may_have_changed(const Job& job, const Outcome& outcome) {
  using model::Exit;
  const auto& report = outcome.report;
  if (outcome.lost || report.exit == Exit::kUndone || report.exit == Exit::kUndoIncomplete) return true;
  if (outcome.cancelled || (report.exit != Exit::kOk && report.exit != Exit::kPartly)) return false;
  // A summary without room for them has a note in place of resources and changes.
  const bool is_cut = job.verb != Job::Verb::kConfirm && report.resources.empty() && !report.notes.empty();
  return is_cut || !report.plan.empty();
}

}  // namespace

bool RequestLines::take(std::uint32_t uid, Time now, std::size_t& left_out) {
  left_out = 0;
  if (uid == 0) return true;
  if (!users_.contains(uid) && users_.size() >= kUsers) users_.clear();
  auto& user = users_[uid];
  renew(user, now);
  renew(others_, now);
  if (user.lines >= kLines || others_.lines >= kLinesInAll) {
    ++user.left_out;
    return false;
  }
  ++user.lines;
  ++others_.lines;
  left_out = user.left_out;
  user.left_out = 0;
  return true;
}

bool RequestLines::settle(std::uint32_t job, const std::function<bool()>& took_effect) {
  const auto at = withheld_.find(job);
  if (at == withheld_.end()) return true;
  const auto withheld = std::move(at->second);
  withheld_.erase(at);
  if (!took_effect()) return false;
  if (const auto user = users_.find(withheld.uid); user != users_.end() && user->second.left_out > 0)
    --user->second.left_out;
  withheld.write();
  return true;
}

bool RequestLines::is_new(const nlohmann::ordered_json& status) {
  if (!status.is_object()) return false;
  auto ledger = nlohmann::ordered_json::object();
  for (const auto* part : {"active", "unconfirmed", "last"}) {
    if (const auto at = status.find(part); at != status.end()) ledger[part] = *at;
  }
  const bool out = ledger != ledger_;
  ledger_ = std::move(ledger);
  return out;
}

std::string described(const Caller& caller) {
  auto out = fmt::format("uid {}", caller.uid);
  if (caller.pid == 0) return out;
  const auto command = command_of(caller.pid);
  return out + fmt::format(", process {}{}", caller.pid, command.empty() ? "" : " (" + command + ")");
}

std::string RequestVerdict::text() const {
  switch (sort) {
    case Sort::kAllowed:
    case Sort::kBegun:
      break;
    case Sort::kDenied:
      return "denied";
    case Sort::kRefused:
      return "refused: " + why;
    case Sort::kDropped:
      return "dropped: " + why;
  }
  return "allowed";
}

void tell_request(RequestLines& lines, const Caller& caller, const std::string& method,
                  const std::string& action, const RequestVerdict& verdict, std::uint32_t job,
                  RequestLines::Time now) {
  const bool begun = verdict.sort == RequestVerdict::Sort::kBegun;
  const bool allowed = begun || verdict.sort == RequestVerdict::Sort::kAllowed;
  std::size_t left_out = 0;
  const bool told = lines.take(caller.uid, now, left_out);
  if (!told && !begun) return;
  const auto write_line = [=, who = described(caller), verdict_text = verdict.text(), uid = caller.uid,
                           pid = caller.pid] {
    log(allowed ? LOG_INFO : LOG_NOTICE, Message::kRequest,
        fmt::format(
            "request of {}: {} {}{}{}", who, method, verdict_text,
            job == 0 ? "" : fmt::format(", job {}", job),
            left_out == 0 ? "" : fmt::format(" ({} more requests of this user were not logged)", left_out)),
        {{"RDMA_UID", std::to_string(uid)},
         {"RDMA_PID", std::to_string(pid)},
         {"RDMA_METHOD", method},
         {"RDMA_ACTION", action},
         {"RDMA_VERDICT", verdict_text},
         {"RDMA_JOB_ID", std::to_string(job)}});
  };
  if (told) return write_line();
  lines.withhold(job, caller.uid, write_line);
}

void tell_request_ended(RequestLines& lines, const Job& job, const Outcome& outcome) {
  const bool is_new = lines.is_new(outcome.status);
  if (!lines.settle(job.id, [&] { return is_new || may_have_changed(job, outcome); })) return;
  const auto generation =
      outcome.status.is_object() ? outcome.status.value("active", std::uint64_t{0}) : std::uint64_t{0};
  const auto verdict = fmt::format("exit {}", static_cast<int>(outcome.report.exit));
  log(LOG_INFO, Message::kRequest,
      fmt::format("job {} of uid {} ended: {}, {}{}", job.id, job.uid.value_or(0), job.what, verdict,
                  generation == 0 ? "" : fmt::format(", generation {} is active", generation)),
      {{"RDMA_UID", std::to_string(job.uid.value_or(0))},
       {"RDMA_METHOD", job.what},
       {"RDMA_VERDICT", verdict},
       {"RDMA_JOB_ID", std::to_string(job.id)},
       {"RDMA_GENERATION", std::to_string(generation)}});
}

}  // namespace rdmacfg::daemon
