// SPDX-License-Identifier: Apache-2.0
// The worker process: one job, under the lock that keeps applies apart.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/sanitizers.hpp"
#include "core/commit/commit.hpp"
#include "core/plan.hpp"
#include "daemon/jobs/job.hpp"
#include "daemon/jobs/job_run.hpp"
#include "daemon/summary.hpp"
#include "model/limits.hpp"
#include "store/confined.hpp"
#include "store/damage.hpp"
#include "store/generations.hpp"
#include "store/json_file.hpp"
#include "store/lock.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/sandbox.hpp"

namespace rdmacfg::daemon {

using base::Code;
using base::Result;
using model::Exit;
using model::Report;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::chrono::seconds kLockDeadline{120};
std::atomic<bool> g_cancelled{false};
std::atomic<bool> g_given_up{false};  ///< the daemon ends: cancelled, unless it has begun

void cancel(int /*number*/) { g_cancelled = true; }
void give_up(int /*number*/) { g_given_up = true; }

Result<std::string> read_all(int fd) {
  std::string text;
  std::array<char, 65536> chunk{};
  for (;;) {
    const auto count = ::read(fd, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::fail_errno(errno, "reading the job");
    if (count == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

Result<void> write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto count = ::write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return base::fail_errno(count < 0 ? errno : EIO, "handing over the report");
    done += static_cast<std::size_t>(count);
  }
  return {};
}

/// A reader that is gone (the daemon was killed) does not stop an apply half way.
void write_line(int fd, const Json& json) {
  (void)write_all(fd, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void set_limit(__rlimit_resource which, rlim_t value, rlim_t margin = 0) {
  const rlimit limit{value, value + margin};
  (void)::setrlimit(which, &limit);
}

/// The kernel's victim, where it needs one, is a worker like any other process, not spared as the daemon is.
void be_as_killable_as_others() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!::write(fd, "0", 1);
  ::close(fd);
}

/// A change keeps the daemon's priority, since it may hold RTNL; a look does not, and is bounded in all else.
void bound_resources(const Job& job) {
  namespace limits = model::limits;
  set_limit(RLIMIT_CORE, 0);
  const auto cpu = job.changes() ? limits::kChangeCpu : limits::kLookCpu;
  constexpr rlim_t kToDieOfIt = 5;  // seconds between SIGXCPU, which says why, and SIGKILL
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(cpu.count()), kToDieOfIt);
  if (job.changes()) return;
  (void)::setpriority(PRIO_PROCESS, 0, 0);
  set_limit(RLIMIT_NOFILE, limits::kLookDescriptors);
  if constexpr (!base::kSanitized) set_limit(RLIMIT_AS, limits::kLookMemory);
}

/// run_for_caller() for a look, which has a bound on its memory.
Report run_bounded(const Job& job, core::Context& context, const core::Request& request, JobFacts& facts) {
  try {
    return run_for_caller(job, context, request, facts);
  } catch (const std::bad_alloc&) {
    return failure_report({Code::kRefused,
                           fmt::format("the query takes more than the {} MiB of memory allowed",
                                       model::limits::kLookMemory / model::limits::kMiB),
                           0});
  }
}

/// Puts the whole report into the file for clients. Where that fails nothing is in it: the summary stands for
/// a change's, and a look has failed. @return whether it is there
bool hand_over(int whole, Report& report, ReportOf subject) {
  const auto write = [&]() -> Result<void> {
    try {
      return write_all(whole, bounded_report(report, subject));
    } catch (const std::bad_alloc&) {
      return base::fail(Code::kIo, "handing over the report: out of memory");
    }
  };
  const auto done = write();
  if (done) return true;
  (void)!::ftruncate(whole, 0);
  if (subject == ReportOf::kChange) {
    report.notes.push_back(done.error().message + "; values are left out here");
  } else {
    report = failure_report(done.error());
  }
  return false;
}

void take_signals() {
  struct sigaction action {};
  action.sa_handler = cancel;
  ::sigaction(SIGUSR1, &action, nullptr);
  action.sa_handler = give_up;
  ::sigaction(SIGUSR2, &action, nullptr);
  // The service manager signals all of the service; started work is finished.
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::optional<Job> read_job(int in) {
  const auto text = read_all(in);
  if (!text) return std::nullopt;
  try {
    return job_from(core::parse_record(*text));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// Why an apply was not begun when its plan was known.
struct PlanRefusal {
  bool moved = false;      ///< it is not the plan that was agreed to
  std::string too_long{};  ///< core::too_long()
};

core::Options options_of(const Job& job, int out, PlanRefusal& refusal) {
  core::Options options;
  options.independent = job.by_itself || job.verb == Job::Verb::kHold;
  options.retry_limited = job.retry;
  options.guard_removal = guard_for(job);
  options.cancelled = [] { return g_cancelled.load(); };
  options.left_alone = job.left_alone;
  options.fields_left_alone = job.fields_left_alone;
  options.progress = [out](std::size_t done, std::size_t total, const std::string& next) {
    write_line(out, {{"progress", {done, total, next}}});
  };
  if (job.verb != Job::Verb::kApply || job.by_itself) return options;
  options.confirm = [&job, &refusal](const Report& plan) {
    refusal.too_long = core::too_long(plan.plan);
    if (!refusal.too_long.empty()) return false;
    refusal.moved = !job.expect.empty() && core::digest_of(plan.plan) != job.expect;
    return !refusal.moved;
  };
  return options;
}

core::Request request_of(const Job& job) {
  return {.who = job.who,
          .what = job.what,
          .host_name = system::linux_host_name(),
          .by_itself = job.by_itself,
          .confirm = job.confirm_s > 0 ? std::optional(std::chrono::seconds(job.confirm_s)) : std::nullopt,
          .from = job.from,
          .of_others = job.verb == Job::Verb::kApply && job.uid.value_or(0) != 0};
}

struct ChangeOutcome {
  Report report{};
  bool refreshed = false;  ///< records of hidden state are up to date
  bool unbegun = false;    ///< somebody did not want it before it had begun
};

/// Does a job that changes the host, under the lock, which `lock` holds on.
ChangeOutcome change_host(const Job& job, core::Context& context, JobFacts& facts, int out,
                          std::shared_ptr<void>& lock) {
  ChangeOutcome outcome;
  const auto unwanted = [] { return g_cancelled || g_given_up; };
  auto taken = core::take_lock(
      "/run/rdma-configd.lock", kLockDeadline,
      [&](const std::string& holder) {
        write_line(out, {{"progress", {0, 0, core::waits_for(holder)}}});
      },
      unwanted);
  // From here on it is finished; the signal would but interrupt what the kernel is asked.
  ::signal(SIGUSR2, SIG_IGN);
  outcome.unbegun = unwanted();
  if (outcome.unbegun) {
    outcome.report = failure_report({Code::kRefused, "cancelled", 0});
    return outcome;
  }
  if (!taken) {
    outcome.report = failure_report(taken.error());
    return outcome;
  }
  lock = *taken;
  auto& files = context.host.files;
  const bool exposed = !core::narrow(files, context.paths).empty();
  std::vector<std::string> notes;
  outcome.refreshed = job.closely && refresh_hidden(context, *job.closely, notes);
  outcome.report = run_for_caller(job, context, request_of(job), facts);
  keep_readings(job, outcome.report, context.host, notes);
  outcome.report.notes.insert(outcome.report.notes.end(), notes.begin(), notes.end());
  if (exposed) core::tell_damage(files, core::narrow(files, context.paths), outcome.report);
  return outcome;
}

/// Adds what the run itself cannot know.
void complete_report(const PlanRefusal& refusal, Report& report) {
  if (!refusal.too_long.empty()) {
    report.error = base::Error{Code::kRefused, refusal.too_long, 0};
    report.exit = Exit::kError;
  }
  if (report.error && report.error->sys_errno == EROFS)
    report.notes.emplace_back(
        "rdma-configd.service can write only to directories that existed when it started: after installing "
        "opensm, "
        "NetworkManager or rdma-core, run `systemctl restart rdma-configd`");
  if (refusal.moved) {
    report.error =
        base::Error{Code::kBusy, "the host has changed since the plan was made: review the new plan", 0};
  }
}

}  // namespace

int work(int in, int out, int whole) {
  take_signals();
  const auto job = read_job(in);
  if (!job) return 1;
  core::confine_others_by(system::run_parser_confined);
  be_as_killable_as_others();
  bound_resources(*job);
  const auto host = system::make_linux_host();
  host->holding = job->verb == Job::Verb::kHold;
  PlanRefusal refusal;
  core::Context context{*host, {}};
  context.options = options_of(*job, out, refusal);
  JobFacts facts;
  std::shared_ptr<void> lock;
  auto [report, refreshed, unbegun] =
      job->changes() ? change_host(*job, context, facts, out, lock)
                     : ChangeOutcome{.report = run_bounded(*job, context, request_of(*job), facts)};
  complete_report(refusal, report);
  const auto subject = job->changes() ? ReportOf::kChange : ReportOf::kLook;
  const bool handed_over = whole >= 0 && !unbegun && hand_over(whole, report, subject);
  const bool summed_up = job->changes() || !handed_over;
  write_line(out, {{"exit", static_cast<int>(report.exit)},
                   {"cancelled", unbegun},
                   {"looked", refreshed},
                   {"handles_made", host->rdma_cm.folders_made()},
                   {"report", summed_up ? summary_of(report) : Json(nullptr)},
                   {"status", status_json(context, facts, job->verb)}});
  return 0;
}

}  // namespace rdmacfg::daemon
