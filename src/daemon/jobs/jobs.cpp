// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/jobs.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <system_error>
#include <vector>

#include "daemon/bus/guarded.hpp"
#include "daemon/jobs/worker_outcome.hpp"
#include "store/json_file.hpp"

namespace rdmacfg::daemon {

namespace limits = model::limits;
using Json = nlohmann::ordered_json;

namespace {

std::string text_of(const Job& job) {
  return to_json(job).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_privileged(const Job& job) {
  constexpr std::uint32_t kRoot = 0;
  return !job.uid || *job.uid == kRoot;
}

/// A report of a thousand interfaces takes many times its length to read. It is over within milliseconds, and
/// the C library would keep the pages of it.
void give_back_memory() {
#ifdef __GLIBC__
  (void)::malloc_trim(0);
#endif
}

}  // namespace

std::uint32_t Jobs::add(Job job, Done done) {
  if (closed_ || !has_room(job)) return 0;
  job.id = next_++;
  const auto id = job.id;
  waiting_.emplace_back(std::move(job), std::move(done));
  start_what_may();
  return id;
}

bool Jobs::has_room(const Job& job) const {
  constexpr std::uint32_t kRoot = 0;
  if (!job.uid) return true;
  std::size_t same = 0, users = 0;
  for (const auto& [other, done] : waiting_) {
    if (!other.uid || other.changes() != job.changes()) continue;
    if (other.uid == job.uid) ++same;
    if (*other.uid != kRoot) ++users;
  }
  return *job.uid == kRoot ? same < limits::kQueue : same < limits::kQueueOfUser && users < limits::kQueue;
}

void Jobs::close() {
  closed_ = true;
  spare_.dismiss();
  std::vector<std::uint32_t> waiting;
  waiting.reserve(waiting_.size());
  for (const auto& [job, done] : waiting_) waiting.push_back(job.id);
  for (const auto id : waiting) (void)cancel(id);
  for (const auto& running : running_) {
    if (!running.exited && running.pid > 0)
      (void)::kill(running.pid, running.job.changes() ? SIGUSR2 : SIGKILL);
  }
}

bool Jobs::cancel(std::uint32_t id) {
  const auto waits = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const auto& waiting) { return waiting.first.id == id; });
  if (waits != waiting_.end()) {
    const auto given_up = std::move(*waits);
    waiting_.erase(waits);
    const auto outcome = cancelled();
    if (given_up.first.changes()) remember(given_up.first, outcome.whole);
    guarded("the end of a job", [&given_up, &outcome] { given_up.second(given_up.first, outcome); });
    return true;
  }
  for (auto& running : running_) {
    if (running.job.id != id || running.exited || running.pid <= 0) continue;
    running.unwanted = !running.job.changes();
    (void)::kill(running.pid, running.unwanted ? SIGKILL : SIGUSR1);
    // The slot of a look that was killed is free, however long it takes to end.
    if (running.unwanted) start_what_may();
    return true;
  }
  return false;
}

const Jobs::Result* Jobs::find(std::uint32_t id) const {
  const auto at =
      std::find_if(results_.begin(), results_.end(), [&](const Result& result) { return result.id == id; });
  return at == results_.end() ? nullptr : &*at;
}

bool Jobs::is_of(std::uint32_t id, std::uint32_t uid) const {
  for (const auto& [job, done] : waiting_) {
    if (job.id == id) return job.uid == uid;
  }
  for (const auto& running : running_) {
    if (running.job.id == id) return running.job.uid == uid;
  }
  return true;
}

std::optional<std::string> Jobs::result(std::uint32_t id) const {
  const auto* found = find(id);
  return found == nullptr ? std::nullopt : std::optional(found->report.read());
}

void Jobs::fetched(std::uint32_t id) {
  for (auto& result : results_) {
    if (result.id == id) result.fetched = true;
  }
  if (closed_ && idle() && on_idle) on_idle();
}

std::chrono::milliseconds Jobs::unfetched() const {
  std::chrono::milliseconds left{0};
  const auto now = Loop::now();
  for (const auto& result : results_) {
    if (!result.fetched) left = std::max(left, result.ended + kFetch - now);
  }
  return left;
}

bool Jobs::asked_by(std::uint32_t id, std::uint32_t uid, const std::string& client,
                    std::chrono::milliseconds now) const {
  const auto* found = find(id);
  if (found == nullptr || found->uid != uid) return false;
  return (!client.empty() && found->client == client) || now - found->ended < kOfUser;
}

std::size_t Jobs::looks_of(std::optional<std::uint32_t> uid) const {
  return static_cast<std::size_t>(std::count_if(
      running_.begin(), running_.end(),
      [&](const Running& running) { return !running.job.changes() && running.job.uid == uid; }));
}

/// Users may take kLooks slots, and one of them no more than kLooksOfUser; root and the daemon may take those
/// and one more that nobody else gets. A killed look occupies none, since a process that waits for a device
/// or server ends only when that answers: kStuckLooks of them may remain, half of them of users.
bool Jobs::has_slot(const Job& job) const {
  if (job.changes()) return !changing_;
  std::size_t all = 0, users = 0, stuck = 0;
  for (const auto& running : running_) {
    if (running.job.changes()) continue;
    if (running.unwanted || !running.overdue.empty()) {
      ++stuck;
      continue;
    }
    ++all;
    if (!is_privileged(running.job)) ++users;
  }
  const bool privileged = is_privileged(job);
  if (all >= limits::kLooks + limits::kRootLooks) return false;
  if (stuck >= (privileged ? limits::kStuckLooks : limits::kStuckLooks / 2)) return false;
  return privileged || (users < limits::kLooks && looks_of(job.uid) < limits::kLooksOfUser);
}

/// The daemon's own and root's first, then the user whose look was started longest ago; of one user, and of
/// changes, in the order in which they came.
Jobs::Waiting::iterator Jobs::next_to_start() {
  const auto rank = [this](const Job& job) {
    if (is_privileged(job)) return std::uint64_t{0};
    const auto at = job.changes() ? served_.end() : served_.find(*job.uid);
    return at == served_.end() ? std::uint64_t{1} : at->second;
  };
  auto best = waiting_.end();
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    if (!has_slot(at->first)) continue;
    if (best == waiting_.end() || rank(at->first) < rank(best->first)) best = at;
  }
  return best;
}

void Jobs::start_what_may() {
  constexpr std::size_t kRemembered = 1024;
  constexpr std::uint64_t kFirstTurn = 2;  // after those who never had one
  for (auto at = next_to_start(); at != waiting_.end(); at = next_to_start()) {
    auto [job, done] = std::move(*at);
    waiting_.erase(at);
    if (!job.changes() && !is_privileged(job)) {
      if (served_.size() >= kRemembered) served_.clear();
      served_[*job.uid] = kFirstTurn + turn_++;
    }
    start(std::move(job), std::move(done));
  }
}

void Jobs::start(Job job, Done done) {
  auto& running = running_.emplace_back();
  running.job = std::move(job);
  running.done = std::move(done);
  if (running.job.changes()) changing_ = true;
  // Of a job that has not begun, or whose end would not be heard of, the daemon would be busy for ever.
  try {
    launch(running);
  } catch (const std::exception& why) {
    give_up(running, why.what());
  }
}

void Jobs::launch(Running& running) {
  if (begins) begins(running.job);
  const auto text = text_of(running.job);
  auto spare = running.job.verb == Job::Verb::kExpire ? spare_.take(text) : std::nullopt;
  auto process = spare ? std::move(*spare) : start_worker(program_, text);
  running.pid = process.pid;
  running.out = std::move(process.out);
  running.report = std::move(process.report);
  if (running.pid < 0) {
    running.status = process.error;
    return finish_soon(running);
  }
  running.readable = loop_.on_readable(running.out.get(), [this, &running] { read(running); });
  running.exit = loop_.on_exit(running.pid, [this, &running](int status) {
    running.exited = true;
    running.status = status;
    read(running);
  });
  watch_time(running);
}

void Jobs::give_up(Running& running, const std::string& why) {
  running.readable.reset();
  running.exit.reset();
  running.deadline.reset();
  if (running.pid > 0) kill_and_reap(running.pid);
  running.overdue = running.pid > 0 ? "the worker could not be watched: " + why : why;
  try {
    finish_soon(running);
  } catch (const std::exception&) {  // then at once
    finish_when_over(running);
  }
}

/// Not from inside add(): the caller does not know the job's number yet.
void Jobs::finish_soon(Running& running) {
  running.at_end = running.exited = true;
  running.exit = loop_.after(std::chrono::milliseconds(0), [this, &running] { finish_when_over(running); });
}

void Jobs::watch_time(Running& running) {
  const auto said = [](std::chrono::milliseconds time) {
    return fmt::format("{} s", std::chrono::duration_cast<std::chrono::seconds>(time).count());
  };
  if (!running.job.changes()) {
    running.deadline = loop_.after(deadlines.look, [this, &running, said] {
      end_now(running, "the query took longer than " + said(deadlines.look));
    });
    return;
  }
  running.deadline = loop_.after(deadlines.change, [this, &running, said] {
    if (!running.exited) (void)::kill(running.pid, SIGUSR1);
    running.deadline = loop_.after(deadlines.undo, [this, &running, said] {
      end_now(running, fmt::format("the change took longer than {}, and undoing it longer than {}",
                                   said(deadlines.change), said(deadlines.undo)));
    });
  });
}

void Jobs::end_now(Running& running, std::string why) {
  running.deadline.reset();
  if (running.exited) {
    // A process of its own holds the other end of the pipe: there is nothing more to wait for.
    running.at_end = true;
    running.readable.reset();
    return finish_when_over(running);
  }
  running.overdue = std::move(why);
  (void)::kill(running.pid, SIGKILL);
  if (!running.job.changes()) start_what_may();  // its slot is free
}

void Jobs::read(Running& running) {
  std::array<char, 65536> chunk{};
  while (!running.at_end) {
    const auto count = ::read(running.out.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) {
      running.at_end = true;
      break;
    }
    running.text.append(chunk.data(), static_cast<std::size_t>(count));
    if (take_lines(running)) continue;
    running.text.clear();
    running.last.clear();
    if (!running.exited) end_now(running, "the worker's output exceeds its limit");
    running.at_end = true;
  }
  if (running.at_end) running.readable.reset();
  finish_when_over(running);
}

bool Jobs::take_lines(Running& running) {
  for (std::size_t end = 0; (end = running.text.find('\n')) != std::string::npos;) {
    if (end > limits::kSummaryBytes) return false;
    auto line = running.text.substr(0, end);
    running.text.erase(0, end + 1);
    // The result is long, and is read at its end.
    const auto json = line.starts_with("{\"progress\"") ? Json::parse(line, nullptr, false) : Json();
    const auto at = json.is_object() ? json.find("progress") : json.end();
    const bool told = json.is_object() && at != json.end() && at->is_array() && at->size() == 3 &&
                      (*at)[0].is_number_unsigned() && (*at)[1].is_number_unsigned() && (*at)[2].is_string();
    if (told) {
      if (progress) {
        progress(running.job.id, (*at)[0].get<std::uint64_t>(), (*at)[1].get<std::uint64_t>(),
                 (*at)[2].get<std::string>());
      }
    } else {
      running.last = std::move(line);
    }
  }
  return running.text.size() <= limits::kSummaryBytes;
}

void Jobs::finish_when_over(Running& running) {
  if (!running.at_end || !running.exited) return;
  const auto at = std::find_if(running_.begin(), running_.end(),
                               [&](const Running& candidate) { return &candidate == &running; });
  if (at == running_.end()) return;
  std::list<Running> over;
  over.splice(over.begin(), running_, at);
  end(over);
  give_back_memory();
}

void Jobs::end(std::list<Running>& over) {
  auto& running = over.front();
  const auto outcome = [&] {
    if (running.pid <= 0)
      return broken(
          "the worker could not be started: " +
          (running.overdue.empty() ? std::generic_category().message(running.status) : running.overdue));
    if (running.unwanted) return cancelled();
    if (!running.overdue.empty()) return lost_worker(running.job, running.overdue);
    return outcome_of(running.job, running.last, running.status, std::move(running.report));
  }();
  if (running.job.changes() && changed)
    guarded("the end of a change", [&] { changed(running.job, outcome); });
  if (running.job.changes()) changing_ = false;
  // The answer to a look is its result.
  if (running.job.changes()) remember(running.job, outcome.whole);
  const auto over_now = std::move(over);
  guarded("the end of a job", [&] { over_now.front().done(over_now.front().job, outcome); });
  start_what_may();
  if (on_idle && idle()) on_idle();
}

void Jobs::remember(const Job& job, const StoredReport& report) {
  if (!job.uid) return;
  results_.push_back(
      {.id = job.id, .report = report, .uid = *job.uid, .ended = Loop::now(), .client = job.client});
  const auto bytes = [this] {
    std::size_t sum = 0;
    for (const auto& result : results_) sum += result.report.size();
    return sum;
  };
  while (results_.size() > limits::kResults)
    drop_one([](const Result& /*result*/) { return std::size_t{1}; });
  while (results_.size() > 1 && bytes() > limits::kResultBytes)
    drop_one([](const Result& result) { return result.report.size(); });
}

void Jobs::drop_one(const std::function<std::size_t(const Result& result)>& weight) {
  std::map<std::uint32_t, std::size_t> of_user;
  for (const auto& result : results_) of_user[result.uid] += weight(result);
  auto heaviest = results_.begin();
  for (auto at = results_.begin(); at != results_.end() - 1; ++at) {
    if (of_user[at->uid] > of_user[heaviest->uid]) heaviest = at;
  }
  results_.erase(heaviest);
}

}  // namespace rdmacfg::daemon
