// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/requests.hpp"

#include <fmt/format.h>
#include <sys/syslog.h>

#include <fstream>

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

}  // namespace

bool RequestLines::take(std::uint32_t uid, Time now, std::size_t& left_out) {
  left_out = 0;
  if (!users_.contains(uid) && users_.size() >= kUsers) users_.clear();
  auto& user = users_[uid];
  renew(user, now);
  renew(others_, now);
  if (user.lines >= kLines || (uid != 0 && others_.lines >= kLinesInAll)) {
    ++user.left_out;
    return false;
  }
  ++user.lines;
  if (uid != 0) ++others_.lines;
  left_out = user.left_out;
  user.left_out = 0;
  return true;
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
                  const std::string& action, const RequestVerdict& verdict, std::uint32_t job) {
  const bool allowed = verdict.sort == RequestVerdict::Sort::kAllowed;
  const bool change = action.ends_with(".apply") && allowed;
  std::size_t left_out = 0;
  if (!lines.take(caller.uid, Loop::now(), left_out) && caller.uid != 0 && !change) return;
  log(allowed ? LOG_INFO : LOG_NOTICE, Message::kRequest,
      fmt::format(
          "request of {}: {} {}{}{}", described(caller), method, verdict.text(),
          job == 0 ? "" : fmt::format(", job {}", job),
          left_out == 0 ? "" : fmt::format(" ({} more requests of this user were not logged)", left_out)),
      {{"RDMA_UID", std::to_string(caller.uid)},
       {"RDMA_PID", std::to_string(caller.pid)},
       {"RDMA_METHOD", method},
       {"RDMA_ACTION", action},
       {"RDMA_VERDICT", verdict.text()},
       {"RDMA_JOB_ID", std::to_string(job)}});
}

void tell_request_ended(const Job& job, const Outcome& outcome) {
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
