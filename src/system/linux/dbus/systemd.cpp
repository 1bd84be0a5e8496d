// SPDX-License-Identifier: Apache-2.0
#include "system/linux/dbus/systemd.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

namespace rdmacfg::system::detail {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kJobPoll(500);

using Slot = std::unique_ptr<sd_bus_slot, sd_bus_slot* (*)(sd_bus_slot*)>;

}  // namespace

/// The end of a job, as systemd announces it.
struct Job {
  std::string unit;
  std::string path;
  std::string manager;  ///< who sends its signals
  std::string ended;    ///< path of the job that ended last
  std::string result;   ///< "done", "failed", "skipped", …

  static int on_removed(sd_bus_message* message, void* user, sd_bus_error* /*error*/) {
    auto& job = *static_cast<Job*>(user);
    if (sender_of(message) != job.manager) return 0;
    const char *path = nullptr, *unit = nullptr, *result = nullptr;
    std::uint32_t id = 0;
    if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) < 0) return 0;
    if (job.path != path) return 0;
    job.ended = path;
    job.result = result;
    return 0;
  }
};

bool BusError::is_systemds(const char* name) const {
  return error.name != nullptr &&
         std::string_view(error.name) == std::string("org.freedesktop.systemd1.") + name;
}

bool BusError::says_nobody() const {
  return is("org.freedesktop.DBus.Error.ServiceUnknown") || is("org.freedesktop.DBus.Error.NameHasNoOwner");
}

base::Error BusError::error_of(int status, const std::string& what) const {
  auto out = base::errno_error(-status, what);
  if (error.message != nullptr) out.message = fmt::format("{}: {}", what, error.message);
  if (is_systemds("NoSuchUnit")) out.code = Code::kNotFound;
  if (is("org.freedesktop.DBus.Error.AccessDenied") ||
      is("org.freedesktop.DBus.Error.InteractiveAuthorizationRequired")) {
    out.code = Code::kDenied;
  }
  return out;
}

bool is_usable(sd_bus* bus) {
  constexpr int kMost = 10'000;  // a sender that never stops must not keep us here
  int status = 1;
  for (int i = 0; status > 0 && i < kMost; ++i) status = sd_bus_process(bus, nullptr);
  return status >= 0 && sd_bus_is_open(bus) > 0;
}

std::string sender_of(sd_bus_message* message) {
  const char* sender = sd_bus_message_get_sender(message);
  return sender == nullptr ? "" : sender;
}

std::uint64_t microseconds_of(std::chrono::milliseconds duration) {
  return static_cast<std::uint64_t>(std::chrono::microseconds(duration).count());
}

int await_ready(sd_bus* opened, std::chrono::milliseconds deadline) {
  const OpeningSteps steps{
      [opened] { return sd_bus_is_ready(opened) != 0; },
      [opened] { return sd_bus_process(opened, nullptr); },
      [opened](std::chrono::microseconds at_most) {
        return sd_bus_wait(opened, static_cast<std::uint64_t>(at_most.count()));
      },
      &Clock::now,
  };
  const int status = await_steps(steps, deadline);
  if (status < 0) sd_bus_close(opened);
  return status;
}

int await_steps(const OpeningSteps& steps, std::chrono::milliseconds deadline) {
  const auto end = steps.now() + deadline;
  while (!steps.is_ready()) {
    const int status = steps.process();
    if (status < 0) return status;
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - steps.now());
    if (left.count() <= 0) return steps.is_ready() ? 0 : -ETIMEDOUT;
    if (status > 0) continue;
    if (const int waited = steps.wait(left); waited < 0 && waited != -EINTR) return waited;
  }
  return 0;
}

namespace {

/// Whether systemd answers at all. Every peer of D-Bus answers Ping(), and an error is an answer, too; the
/// end of the connection is none. @return 0, or a negative errno
int ask_for_life(sd_bus* bus) {
  sd_bus_message* raw = nullptr;
  int status = sd_bus_message_new_method_call(bus, &raw, kSystemd, "/", "org.freedesktop.DBus.Peer", "Ping");
  if (status < 0) return status;
  const BusMessage ping(raw, sd_bus_message_unref);
  status = sd_bus_call(bus, ping.get(), microseconds_of(Silence::kBriefly), nullptr, nullptr);
  if (status == -ETIMEDOUT) return status;
  return sd_bus_is_open(bus) > 0 ? 0 : -ECONNRESET;
}

}  // namespace

// systemd sends it to everybody at its own socket: true before it reads its unit files, false after that
// (org.freedesktop.systemd1(5)).
int Systemd::on_reloading(sd_bus_message* message, void* user, sd_bus_error* /*error*/) {
  int active = 0;
  if (sd_bus_message_read(message, "b", &active) >= 0) static_cast<Systemd*>(user)->reloading_ = active != 0;
  return 0;
}

int Systemd::noted(int status) {
  if (status != -ETIMEDOUT) return status;
  const bool before = reloading_;
  if (bus_) (void)is_usable(bus_.get());  // hears what it said meanwhile
  if (reloading_ != before) return status;
  reloading_ = false;  // a reload, too, has its limit
  limits_.silences->systemd.note();
  return status;
}

int Systemd::ask(sd_bus* bus, BusError& error, const std::function<int(sd_bus_error*)>& question) {
  const bool before = reloading_;
  const int status = noted(question(&error.error));
  if (status != -ETIMEDOUT || before || !reloading_) return status;
  sd_bus_error_free(&error.error);
  sd_bus_set_method_call_timeout(bus, microseconds_of(patience()));
  return noted(question(&error.error));
}

Result<sd_bus*> Systemd::bus() {
  if (!bus_ || !is_usable(bus_.get())) {
    bus_.reset();
    subscribed_ = reloading_ = false;
    if (auto opened = open(); !opened) return fail(opened.error());
    if (!bus_) return nullptr;
  }
  auto& silence = limits_.silences->systemd;
  if (silence.presumed() && !reloading_) {
    if (const int status = ask_for_life(bus_.get()); status < 0) {
      silence.note();
      return fail_errno(-status, "reaching systemd");
    }
    silence.end();
  }
  sd_bus_set_method_call_timeout(bus_.get(), microseconds_of(patience()));
  return bus_.get();
}

Result<sd_bus*> Systemd::bus_for_reload() {
  auto opened = bus();
  if (opened && *opened != nullptr)
    sd_bus_set_method_call_timeout(*opened, microseconds_of(std::max(limits_.call, limits_.reload)));
  return opened;
}

Result<void> Systemd::open() {
  if (::access((limits_.systemd / "system").c_str(), F_OK) != 0) return {};  // sd_booted(3)
  if (::geteuid() == 0) {
    const int status = open_direct();
    if (status == -ETIMEDOUT || status == -EAGAIN) {  // over the system bus it would answer no sooner
      limits_.silences->systemd.note();
      return fail_errno(-status, "reaching systemd");
    }
    if (bus_) return {};
  }
  return open_over_bus();
}

int Systemd::open_direct() {
  sd_bus* opened = nullptr;
  int status = sd_bus_new(&opened);
  if (status < 0) return status;
  Bus direct(opened, sd_bus_flush_close_unref);
  status = sd_bus_set_address(opened, ("unix:path=" + (limits_.systemd / "private").native()).c_str());
  if (status >= 0) status = sd_bus_start(opened);
  if (status >= 0) status = await_ready(opened, limits_.silences->systemd.patience(limits_.call));
  if (status < 0) return status;
  bus_ = std::move(direct);
  // Over the bus a match would be one more call that may have no answer.
  return sd_bus_match_signal(bus_.get(), nullptr, nullptr, kSystemdPath, kSystemdManager, "Reloading",
                             &Systemd::on_reloading, this);
}

Result<void> Systemd::open_over_bus() {
  sd_bus* opened = nullptr;
  int status = sd_bus_open_system(&opened);
  if (status < 0) {
    if (status == -ENOENT || status == -ECONNREFUSED || status == -ENOMEDIUM) return {};
    return fail_errno(-status, "reaching systemd");
  }
  Bus ours(opened, sd_bus_flush_close_unref);
  auto& silence = limits_.silences->bus;
  status = await_ready(opened, silence.patience(std::min(limits_.bus, limits_.call)));
  if (status == -ETIMEDOUT) silence.note();
  if (status < 0) return fail_errno(-status, "reaching systemd");
  bus_ = std::move(ours);
  return {};
}

Result<std::optional<JobEnd>> Systemd::run_job(const char* method, const std::string& unit,
                                               const std::string& what) {
  auto opened = bus();
  if (!opened) return fail(opened.error());
  if (*opened == nullptr) return std::optional<JobEnd>{};
  Job job;
  job.unit = unit;
  sd_bus_slot* raw_slot = nullptr;
  // No sender: systemd itself, at the other end of a direct connection, has no name.
  int status = sd_bus_match_signal(*opened, &raw_slot, nullptr, kSystemdPath, kSystemdManager, "JobRemoved",
                                   Job::on_removed, &job);
  const Slot slot(raw_slot, sd_bus_slot_unref);
  if (status < 0) return fail_errno(-status, what);
  if (!subscribed_) {
    // Without a subscriber systemd sends no signals.
    BusError error;
    status = noted(sd_bus_call_method(*opened, kSystemd, kSystemdPath, kSystemdManager, "Subscribe",
                                      &error.error, nullptr, nullptr));
    if (status < 0 && error.says_nobody()) return std::optional<JobEnd>{};
    if (status < 0 && !error.is_systemds("AlreadySubscribed")) return fail(error.error_of(status, what));
    subscribed_ = true;
  }
  BusError error;
  sd_bus_message* raw_reply = nullptr;
  status = noted(sd_bus_call_method(*opened, kSystemd, kSystemdPath, kSystemdManager, method, &error.error,
                                    &raw_reply, "ss", unit.c_str(), "replace"));
  const BusMessage reply(raw_reply, sd_bus_message_unref);
  if (status < 0 && error.says_nobody()) return std::optional<JobEnd>{};
  if (status < 0 && error.is_systemds("JobTypeNotApplicable")) return std::optional(JobEnd::kInvalid);
  if (status < 0) return fail(error.error_of(status, what));
  const char* path = nullptr;
  if (status = sd_bus_message_read(reply.get(), "o", &path); status < 0) return fail_errno(-status, what);
  job.path = path;
  job.manager = sender_of(reply.get());
  return wait(*opened, job, what);
}

namespace {

/// "waiting": the job has not begun yet. @return as sd_bus_get_property_string(3)
int read_job_state(sd_bus* bus, const std::string& path, std::string& state) {
  BusError error;
  char* raw = nullptr;
  const int status = sd_bus_get_property_string(bus, kSystemd, path.c_str(), "org.freedesktop.systemd1.Job",
                                                "State", &error.error, &raw);
  const std::unique_ptr<char, void (*)(void*)> text(raw, &::free);
  if (status >= 0) state = raw;
  return status;
}

}  // namespace

Result<std::optional<JobEnd>> Systemd::wait(sd_bus* bus, Job& job, const std::string& what) {
  const auto begin = Clock::now();
  const auto end = begin + limits_.job;
  const auto poll = std::min<Clock::duration>(kJobPoll, limits_.queued);
  for (;;) {
    const int status = sd_bus_process(bus, nullptr);
    if (status < 0) return fail_errno(-status, what);
    if (job.ended == job.path) break;
    const auto now = Clock::now();
    if (now >= end) return fail(Code::kTimeout, fmt::format("{}: timed out", what));
    if (status > 0) continue;
    if (now >= begin + limits_.queued) {
      std::string state;
      if (noted(read_job_state(bus, job.path, state)) == -ETIMEDOUT) return fail_errno(ETIMEDOUT, what);
      if (state == "waiting") return std::optional(JobEnd::kQueued);
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(std::min<Clock::duration>(end - now, poll));
    if (const int waited = sd_bus_wait(bus, static_cast<std::uint64_t>(left.count()));
        waited < 0 && waited != -EINTR) {
      return fail_errno(-waited, what);
    }
  }
  if (job.result == "done" || job.result == "skipped") return std::optional(JobEnd::kDone);
  if (job.result == "invalid") return std::optional(JobEnd::kInvalid);
  return fail(Code::kRefused, fmt::format("{}: systemd says \"{}\" (journalctl -u {} may say why)", what,
                                          job.result, job.unit));
}

}  // namespace rdmacfg::system::detail
