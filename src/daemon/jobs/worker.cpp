// SPDX-License-Identifier: Apache-2.0
// The worker process: one job, under the lock that keeps applies apart.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>

#include "base/sanitizers.hpp"
#include "catalog/all.hpp"
#include "core/commit.hpp"
#include "core/guards/concealed.hpp"
#include "core/guards/delegation.hpp"
#include "core/guards/doubts.hpp"
#include "core/plan.hpp"
#include "core/standing.hpp"
#include "daemon/jobs/document_json.hpp"
#include "daemon/jobs/job.hpp"
#include "daemon/summary.hpp"
#include "daemon/watch/duties.hpp"
#include "kinds/abilities.hpp"
#include "model/limits.hpp"
#include "store/confined.hpp"
#include "store/lock.hpp"
#include "store/report_json.hpp"
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
void tell(int fd, const Json& json) {
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

Report failed(base::Error error) {
  Report report;
  report.error = std::move(error);
  report.exit = Exit::kError;
  return report;
}

/// The document of the job: its own texts, or the system's configuration. Nothing when there is none.
Result<std::optional<config::Document>> document_of(const Job& job, const std::string& host_name) {
  // Text that came over the bus may be hostile, and root's own files are not.
  if (!job.texts.empty()) {
    auto sent = parse_confined(job.texts, host_name);
    if (!sent) return base::fail(sent.error());
    core::require_version(*sent);
    core::doubt(*sent);
    return std::optional(std::move(*sent));
  }
  config::Source source;
  source.host = host_name;
  auto read = config::read_files(source);
  if (!read && read.error().code == Code::kNotFound && job.by_itself) {
    return std::optional<config::Document>{};  // installed, but not configured
  }
  if (!read) return base::fail(read.error());
  auto document = config::parse_texts(std::move(*read), host_name, kinds::grammar());
  if (job.by_itself) config::distrust(document);
  core::require_version(document);
  core::doubt(document);
  return std::optional(std::move(document));
}

/// The main process's needs of a job beside its report.
struct Told {
  bool document_judged = false;  ///< whether the system's configuration is held is told
  bool document_held = true;     ///< it is what is held now
  bool own_document = true;      ///< the caller may read the document that was looked at
};

Report run(const Job& job, core::Context& context, const core::Request& request, Told& told) {
  const auto hold = [&] {
    return in_turn([&] { return core::hold(request, context); }, job.awaited, request, context);
  };
  switch (job.verb) {
    case Job::Verb::kShow:
    case Job::Verb::kHistory:
      if (job.texts.empty()) {
        told.own_document = !core::active_is_private(context.host.files, context.paths);
        return core::look(request, context);
      }
      [[fallthrough]];
    case Job::Verb::kValidate:
    case Job::Verb::kDiff:
    case Job::Verb::kApply: {
      if (job.resumes) {
        (void)goes_on(job.settled_at, job.settled, context);
        if (auto report = resume(job.awaited, request, context)) return std::move(*report);
      }
      told.document_judged = true;
      if (auto report = give_way(job.applied_then, job.awaited, request, context)) return std::move(*report);
      auto document = document_of(job, request.host_name);
      told.document_held = document.has_value();
      if (!document) return failed(document.error());
      if (!*document) return hold();
      told.own_document = !job.texts.empty() || !config::is_private(**document);
      const bool applied =
          job.verb == Job::Verb::kApply && job.by_itself;  // it has something to fall back on
      if (!applied && model::has_errors((*document)->diagnostics)) return core::validate(**document);
      if (job.verb == Job::Verb::kValidate) return core::validate(**document);
      const auto is_active = [&] {
        const auto ledger = core::read_ledger(context.host.files, context.paths);
        return ledger && ledger->is_active(core::digest_of(**document));
      };
      if (applied && is_active() && goes_on(job.settled_at, job.settled, context)) return hold();
      if (applied) {
        auto report = in_turn([&] { return core::commit(**document, request, context); }, job.awaited,
                              request, context);
        told.document_held = is_active();
        return report;
      }
      if (job.verb == Job::Verb::kApply) return core::commit(**document, request, context);
      return core::diff(**document, context.host, context.options);
    }
    case Job::Verb::kHold:
      heed_policy(job.settled, request, context);
      return hold();
    case Job::Verb::kConfirm:
      return core::confirm(request, context);
    case Job::Verb::kRollBack:
      return core::roll_back(job.generation, request, context);
    case Job::Verb::kExpire:
      return core::expire(request, context);
  }
  return failed({Code::kInvalid, "unknown job", 0});
}

/// A client that agreed to a plan (`expect`) has seen it, and an unconfirmed apply comes back by itself.
core::RemovalGuard guard_for(const Job& job) {
  using core::RemovalGuard;
  if (job.by_itself || job.verb == Job::Verb::kHold) return RemovalGuard::kMost;
  const bool unseen = job.verb == Job::Verb::kApply && job.expect.empty() && job.confirm_s == 0;
  return unseen && !job.allow_removal ? RemovalGuard::kLifelines : RemovalGuard::kNone;
}

/// The document that a client's job applies, where it names one; an empty document for one that goes back to
/// none.
std::optional<config::Document> wanted_by(const Job& job, const core::Request& request,
                                          core::Context& context) {
  auto& files = context.host.files;
  if (job.verb == Job::Verb::kApply && !job.by_itself) {
    auto sent = parse_confined(job.texts, request.host_name);
    if (!sent) return std::nullopt;  // the job says why
    return std::move(*sent);
  }
  if (job.verb != Job::Verb::kRollBack) return std::nullopt;
  const auto ledger = core::read_ledger(files, context.paths);
  const auto target = ledger ? core::rollback_target(*ledger, job.generation) : base::fail(ledger.error());
  if (!target) return std::nullopt;  // the job says why
  if (*target == 0) return config::Document{};
  auto texts = core::read_texts(files, context.paths, *target);
  if (!texts) return std::nullopt;
  return core::parse_again(std::move(*texts), request.host_name);
}

std::optional<config::Document> active_document(const core::Request& request, core::Context& context) {
  const auto ledger = core::read_ledger(context.host.files, context.paths);
  if (!ledger || ledger->active == 0) return std::nullopt;
  auto texts = core::read_texts(context.host.files, context.paths, ledger->active);
  if (!texts) return std::nullopt;
  return core::parse_again(std::move(*texts), request.host_name);
}

/// Jobs that others than root may request, and their view of the host (docs/SECURITY.md).
Report run_for_caller(const Job& job, core::Context& context, const core::Request& request, Told& told) {
  if (job.uid.value_or(0) == 0) return run(job, context, request, told);
  if (!job.changes()) {
    return core::look_concealed(context, [&](core::Context& seen, bool& own_document) {
      auto report = run(job, seen, request, told);
      own_document = told.own_document;
      return report;
    });
  }
  const auto wanted = wanted_by(job, request, context);
  if (wanted) {
    const auto active = active_document(request, context);
    auto beyond = core::beyond_delegation(*wanted, active ? &*active : nullptr, context.host);
    if (!beyond.empty()) {
      Report report;
      report.diagnostics = wanted->diagnostics;
      report.diagnostics.insert(report.diagnostics.end(), beyond.begin(), beyond.end());
      config::arrange(report.diagnostics, *wanted);
      report.exit = Exit::kError;
      return report;
    }
  }
  const bool clean = wanted && !model::has_errors(wanted->diagnostics);
  return core::change_concealed(clean ? &*wanted : nullptr, request, context,
                                [&] { return run(job, context, request, told); });
}

/// Brings records of hidden state up to date, unless an interrupted run has left its journal: its changes are
/// for recovery to find out. @return whether it did.
bool look_closely(core::Context& context, const std::set<std::string>& handles,
                  std::vector<std::string>& notes) {
  const auto journal = context.host.files.read(context.options.paths.journal);
  if (!journal || *journal) return false;
  for (const auto* kind : kinds::all()) {
    const auto* hidden = kinds::ability<kinds::HasHiddenState>(kind);
    if (hidden == nullptr) continue;
    if (auto done = hidden->refresh_hidden(context.host, handles); !done)
      notes.push_back(done.error().message);
  }
  return true;
}

/// Values of this look that later ones compare with.
void keep_readings(const Job& job, const Report& report, system::Host& host,
                   std::vector<std::string>& notes) {
  if ((job.verb != Job::Verb::kHold && !job.by_itself) || report.resources.empty()) return;
  for (const auto* kind : kinds::all()) {
    const auto* keeper = kinds::ability<kinds::KeepsReadings>(kind);
    if (keeper == nullptr) continue;
    if (auto done = keeper->keep_readings(report.resources, host); !done)
      notes.push_back(done.error().message);
  }
}

/// The main process's part of the ledger.
Json status_json(core::Context& context, const Told& told, bool history) {
  const auto ledger = core::read_ledger(context.host.files, context.paths);
  if (!ledger) return nullptr;
  Json out{{"active", ledger->active},
           {"unconfirmed", nullptr},
           {"report_drift", false},
           {"audit_s", 0},
           {"metrics", ""}};
  out["degraded"] = core::degraded(context.host.files);
  out["private"] = !told.own_document || core::active_is_private(context.host.files, context.paths);
  out["document_judged"] = told.document_judged;
  out["document_held"] = told.document_held;
  const auto policy = policy_of(*ledger, system::linux_host_name(), context);
  out["report_drift"] = policy.drift == model::Drift::kReport;
  out["audit_s"] = policy.audit.value_or(model::Audit{}).seconds;
  out["metrics"] = policy.metrics.value_or(model::MetricsFolder{}).path;
  if (const auto last = core::last_apply(*ledger))
    out["last"] = {{"number", last->number}, {"when", last->when}, {"rolled_back", last->rolled_back}};
  if (const auto& waiting = ledger->unconfirmed) {
    out["unconfirmed"] = {
        {"generation", waiting->generation},
        {"deadline_ms", waiting->boot_id == context.host.boot_id ? waiting->deadline_ms : 0},
        {"deadline", waiting->deadline}};
  }
  if (!history) return out;
  Json list = Json::array();
  for (const auto& one : ledger->generations) {
    list.push_back({{"number", one.number},
                    {"when", one.when},
                    {"who", one.who},
                    {"what", one.what},
                    {"fate", one.fate},
                    {"active", one.number == ledger->active}});
  }
  out["generations"] = std::move(list);
  return out;
}

/// run() for a look, which has a bound on its memory.
Report run_bounded(const Job& job, core::Context& context, const core::Request& request, Told& told) {
  try {
    return run_for_caller(job, context, request, told);
  } catch (const std::bad_alloc&) {
    return failed({Code::kRefused,
                   fmt::format("the look takes more than the {} MiB of memory that are allowed",
                               model::limits::kLookMemory / model::limits::kMiB),
                   0});
  }
}

/// Puts the whole report into the file for clients. Where that fails nothing is in it: the summary stands for
/// a change's, and a look has failed. @return whether it is there
bool hand_over(int whole, Report& report, bool changes) {
  const auto write = [&]() -> Result<void> {
    try {
      return write_all(whole, bounded_report(report, changes));
    } catch (const std::bad_alloc&) {
      return base::fail(Code::kIo, "handing over the report: out of memory");
    }
  };
  const auto done = write();
  if (done) return true;
  (void)!::ftruncate(whole, 0);
  if (changes) {
    report.notes.push_back(done.error().message + "; values are left out here");
  } else {
    report = failed(done.error());
  }
  return false;
}

}  // namespace

int work(int in, int out, int whole) {
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

  const auto text = read_all(in);
  if (!text) return 1;
  Job job;
  try {
    job = job_from(Json::parse(*text));
  } catch (const Json::exception&) {
    return 1;
  }
  core::confine_others_by(system::run_parser_confined);
  be_as_killable_as_others();
  bound_resources(job);
  const auto host = system::make_linux_host();
  host->holding = job.verb == Job::Verb::kHold;
  core::Context context{*host, {}};
  context.options.independent = job.by_itself || job.verb == Job::Verb::kHold;
  context.options.retry_limited = job.retry;
  context.options.guard_removal = guard_for(job);
  context.options.cancelled = [] { return g_cancelled.load(); };
  context.options.left_alone = job.left_alone;
  context.options.fields_left_alone = job.fields_left_alone;
  context.options.progress = [&](std::size_t done, std::size_t total, const std::string& what) {
    tell(out, {{"progress", {done, total, what}}});
  };
  bool moved = false;
  std::string too_long;
  if (job.verb == Job::Verb::kApply && !job.by_itself) {
    context.options.confirm = [&](const Report& plan) {
      too_long = core::too_long(plan.plan);
      if (!too_long.empty()) return false;
      moved = !job.expect.empty() && core::digest_of(plan.plan) != job.expect;
      return !moved;
    };
  }
  const core::Request request{
      .who = job.who,
      .what = job.what,
      .host_name = system::linux_host_name(),
      .by_itself = job.by_itself,
      .confirm = job.confirm_s > 0 ? std::optional(std::chrono::seconds(job.confirm_s)) : std::nullopt,
      .from = job.from,
      .of_others = job.verb == Job::Verb::kApply && job.uid.value_or(0) != 0};
  Report report;
  Told told;
  std::shared_ptr<void> lock;
  bool looked = false;
  bool unbegun = false;  // somebody did not want it before it had begun
  if (job.changes()) {
    const auto unwanted = [] { return g_cancelled || g_given_up; };
    auto taken = core::take_lock(
        "/run/rdma-configd.lock", kLockDeadline,
        [&](const std::string& holder) {
          tell(out, {{"progress", {0, 0, core::waits_for(holder)}}});
        },
        unwanted);
    // From here on it is finished; the signal would but interrupt what the kernel is asked.
    ::signal(SIGUSR2, SIG_IGN);
    unbegun = unwanted();
    if (unbegun) {
      report = failed({Code::kRefused, "it was cancelled", 0});
    } else if (taken) {
      lock = *taken;
      core::narrow(context.host.files, context.paths);
      std::vector<std::string> notes;
      looked = job.closely && look_closely(context, *job.closely, notes);
      report = run_for_caller(job, context, request, told);
      keep_readings(job, report, context.host, notes);
      report.notes.insert(report.notes.end(), notes.begin(), notes.end());
    } else {
      report = failed(taken.error());
    }
  } else {
    report = run_bounded(job, context, request, told);
  }
  if (!too_long.empty()) {
    report.error = base::Error{Code::kRefused, too_long, 0};
    report.exit = Exit::kError;
  }
  if (report.error && report.error->sys_errno == EROFS)
    report.notes.emplace_back(
        "rdma-configd.service writes only folders that were there when it started: after installing opensm, "
        "NetworkManager or rdma-core, run `systemctl restart rdma-configd`");
  if (moved) {
    report.error =
        base::Error{Code::kBusy, "the host is not as it was when the plan was made: look at the new one", 0};
  }
  const bool handed_over = whole >= 0 && !unbegun && hand_over(whole, report, job.changes());
  const bool summed_up = job.changes() || !handed_over;
  tell(out, {{"exit", static_cast<int>(report.exit)},
             {"cancelled", unbegun},
             {"looked", looked},
             {"handles_made", host->rdma_cm.folders_made()},
             {"report", summed_up ? summary_of(report) : Json(nullptr)},
             {"status", status_json(context, told, job.verb == Job::Verb::kHistory)}});
  return 0;
}

}  // namespace rdmacfg::daemon
