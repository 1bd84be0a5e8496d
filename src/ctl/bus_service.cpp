// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sdbus-c++/sdbus-c++.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/report_json.hpp"
#include "ctl/service.hpp"

namespace rdmacfg::ctl {

namespace {

using base::Code;
using base::Result;
using model::Report;

constexpr const char* kName = "org.rdmaconfigd1";
constexpr const char* kPath = "/org/rdmaconfigd1";
constexpr const char* kInterface = "org.rdmaconfigd1.Manager";
constexpr std::chrono::seconds kAnswer{150};  ///< somebody may have to type a password first

using Documents = std::vector<sdbus::Struct<std::string, std::string>>;
using Options = std::map<std::string, sdbus::Variant>;

base::Error error_of(const sdbus::Error& error) {
  const auto& name = error.getName();
  const bool denied =
      name == "org.rdmaconfigd1.Error.AccessDenied" || name == "org.freedesktop.DBus.Error.AccessDenied";
  return {denied ? Code::kDenied : Code::kRefused, "rdma-configd: " + error.getMessage(), 0};
}

/// Whether nobody answered: then the call may have been carried out.
bool is_silence(const sdbus::Error& error) {
  const auto& name = error.getName();
  for (const auto* one : {"NoReply", "Timeout", "TimedOut", "Disconnected"}) {
    if (name == std::string("org.freedesktop.DBus.Error.") + one) return true;
  }
  return name == "System.Error.ETIMEDOUT" || name == "System.Error.ECONNRESET" ||
         name == "System.Error.ENOTCONN";
}

class BusService : public Service {
 public:
  explicit BusService(std::chrono::milliseconds patience)
      : connection_(sdbus::createSystemBusConnection()), patience_(patience) {
    bus_ = sdbus::createProxy(*connection_, "org.freedesktop.DBus", "/org/freedesktop/DBus");
    bus_->uponSignal("NameOwnerChanged")
        .onInterface("org.freedesktop.DBus")
        .call([this](const std::string& name, const std::string& /*before*/, const std::string& after) {
          if (name != kName || !after.empty()) return;
          const std::lock_guard hold(mutex_);
          gone_ = true;
          changed_.notify_all();
        });
    bus_->finishRegistration();
    manager_ = sdbus::createProxy(*connection_, kName, kPath);
    manager_->uponSignal("Progress")
        .onInterface(kInterface)
        .call([this](std::uint32_t id, std::uint64_t done, std::uint64_t total, const std::string& what) {
          const std::lock_guard hold(mutex_);
          if (id == job_ && progress_) progress_(done, total, what);
        });
    manager_->uponSignal("Finished")
        .onInterface(kInterface)
        .call([this](std::uint32_t id, std::int32_t exit) {
          const std::lock_guard hold(mutex_);
          // By its own name: a call by the well-known one would start a daemon that was just stopped.
          const auto* message = manager_->getCurrentlyProcessedMessage();
          finished_[id] = {exit, message == nullptr ? kName : message->getSender()};
          changed_.notify_all();
        });
    manager_->finishRegistration();
  }

  ~BusService() override { connection_->leaveEventLoop(); }

  bool runs() {
    bool owned = false;
    bus_->callMethod("NameHasOwner")
        .onInterface("org.freedesktop.DBus")
        .withArguments(kName)
        .storeResultsTo(owned);
    if (owned) connection_->enterEventLoopAsync();
    return owned;
  }

  Result<Report> apply(const Apply& wanted, const Call& call) override {
    Documents documents;
    for (const auto& one : wanted.texts) documents.emplace_back(one.name, one.text);
    auto options = options_of(call);
    if (wanted.confirm_s > 0) options["confirm"] = sdbus::Variant(wanted.confirm_s);
    // What comes over the bus is taken for private; a file that everybody may read need not be.
    const bool is_public = std::none_of(wanted.texts.begin(), wanted.texts.end(),
                                        [](const auto& text) { return text.is_private; });
    if (is_public) options["public"] = sdbus::Variant(true);
    if (wanted.allow_removal) options["allow_removal"] = sdbus::Variant(true);
    if (wanted.retry) options["retry"] = sdbus::Variant(true);
    if (!wanted.expect.empty()) options["expect"] = sdbus::Variant(wanted.expect);
    return job(
        call,
        [&](sdbus::MethodInvoker&& method, std::uint32_t& id) {
          method.onInterface(kInterface)
              .withTimeout(kAnswer)
              .withArguments(documents, options)
              .storeResultsTo(id);
        },
        "Apply");
  }

  Result<Report> confirm(const Call& call) override {
    const auto options = options_of(call);
    return job(
        call,
        [&](sdbus::MethodInvoker&& method, std::uint32_t& id) {
          method.onInterface(kInterface).withTimeout(kAnswer).withArguments(options).storeResultsTo(id);
        },
        "Confirm");
  }

  Result<Report> roll_back(std::uint64_t generation, std::uint64_t from, const Call& call) override {
    auto options = options_of(call);
    if (from != 0) options["active"] = sdbus::Variant(from);
    return job(
        call,
        [&](sdbus::MethodInvoker&& method, std::uint32_t& id) {
          method.onInterface(kInterface)
              .withTimeout(kAnswer)
              .withArguments(generation, options)
              .storeResultsTo(id);
        },
        "Rollback");
  }

  Result<core::Ledger> history() override {
    if (!answers()) return base::fail(Code::kTimeout, "rdma-configd does not answer");
    std::string text;
    try {
      manager_->callMethod("History")
          .onInterface(kInterface)
          .withTimeout(kAnswer)
          .withArguments(Options{{"interactive", sdbus::Variant(true)}})
          .storeResultsTo(text);
    } catch (const sdbus::Error& error) {
      return base::fail(error_of(error));
    }
    return core::ledger_told(text);
  }

  Result<Report> reload(const Call& call) override {
    const auto options = options_of(call);
    return job(
        call,
        [&](sdbus::MethodInvoker&& method, std::uint32_t& id) {
          method.onInterface(kInterface).withTimeout(kAnswer).withArguments(options).storeResultsTo(id);
        },
        "Reload");
  }

  Result<DaemonStatus> status() override {
    if (!answers()) return base::fail(Code::kTimeout, "rdma-configd does not answer");
    std::map<std::string, sdbus::Variant> all;
    try {
      manager_->callMethod("GetAll")
          .onInterface("org.freedesktop.DBus.Properties")
          .withTimeout(patience_)
          .withArguments(kInterface)
          .storeResultsTo(all);
      DaemonStatus out;
      const auto take = [&](const char* name, auto& into) {
        // One of an older version has fewer.
        if (const auto at = all.find(name); at != all.end())
          into = at->second.get<std::remove_reference_t<decltype(into)>>();
      };
      take("Version", out.version);
      take("State", out.state);
      take("Generation", out.generation);
      take("Unconfirmed", out.unconfirmed);
      take("Pending", out.pending);
      take("Limited", out.limited);
      take("Refused", out.refused);
      take("Failing", out.failing);
      take("Repairs", out.repairs);
      take("LastRepair", out.last_repair);
      std::vector<sdbus::Struct<std::string, std::string, std::string>> contention;
      take("Contention", contention);
      for (const auto& one : contention)
        out.contended.emplace_back(std::get<0>(one), std::get<1>(one), std::get<2>(one));
      return out;
    } catch (const sdbus::Error& error) {
      return base::fail(error_of(error));
    }
  }

  Result<void> follow(const std::function<bool(const DaemonEvent* event)>& told) override {
    auto proxy = sdbus::createProxy(*connection_, kName, kPath);
    proxy->uponSignal("Event")
        .onInterface(kInterface)
        .call([this](std::int32_t priority, const std::string& event, const std::string& text) {
          const std::lock_guard hold(mutex_);
          events_.push_back({priority, event, text});
          changed_.notify_all();
        });
    proxy->finishRegistration();
    std::unique_lock wait(mutex_);
    for (;;) {
      changed_.wait_for(wait, std::chrono::seconds(1), [&] { return gone_ || !events_.empty(); });
      const auto events = std::exchange(events_, {});
      const bool gone = gone_;
      wait.unlock();
      for (const auto& one : events) {
        if (!told(&one)) return {};
      }
      if (!told(nullptr)) return {};
      if (gone) return base::fail(Code::kNotFound, "rdma-configd has ended");
      wait.lock();
    }
  }

 private:
  static Options options_of(const Call& call) {
    Options options{{"interactive", sdbus::Variant(true)}};
    if (!call.who.empty()) options["who"] = sdbus::Variant(call.who);
    return options;
  }

  /// Its main loop waits for nothing, whatever it is doing.
  [[nodiscard]] bool answers() {
    try {
      manager_->callMethod("Ping").onInterface("org.freedesktop.DBus.Peer").withTimeout(patience_);
    } catch (const sdbus::Error& error) {
      return !is_silence(error);
    }
    return true;
  }

  /// Starts a job and waits for its end: as long as the daemon lives there is one.
  template <class Start>
  Result<Report> job(const Call& call, const Start& start, const char* method) {
    std::uint32_t id = 0;
    // What is asked of a daemon that hangs it may do later, when nobody counts on it any more.
    if (!answers()) {
      return base::fail(Code::kTimeout,
                        "rdma-configd does not answer, and nothing was asked of it: see `systemctl status "
                        "rdma-configd`, or go without it (--local)");
    }
    {
      const std::lock_guard hold(mutex_);
      gone_ = false;  // one that went before is no matter: the call starts another
    }
    try {
      start(manager_->callMethod(method), id);
    } catch (const sdbus::Error& error) {
      if (is_silence(error)) return unknown("rdma-configd has not answered");
      return base::fail(error_of(error));
    }
    std::optional<Finished> finished;
    {
      std::unique_lock wait(mutex_);
      job_ = id;
      progress_ = call.progress;
      changed_.wait(wait, [&] { return gone_ || finished_.contains(id); });
      progress_ = nullptr;
      if (const auto at = finished_.find(id); at != finished_.end()) finished = at->second;
    }
    if (!finished) return unknown("rdma-configd ended while it was at work");
    try {
      std::string text;
      const auto daemon = sdbus::createProxy(*connection_, finished->by, kPath);
      daemon->callMethod("Result")
          .onInterface(kInterface)
          .withTimeout(kAnswer)
          .withArguments(id, Options{{"interactive", sdbus::Variant(true)}})
          .storeResultsTo(text);
      if (auto report = core::report_from(text)) return report;
      return untold(finished->exit, "its report cannot be read");
    } catch (const sdbus::Error& error) {
      return untold(finished->exit, error_of(error).message);
    }
  }

  struct Finished {
    std::int32_t exit = 0;
    std::string by;  ///< the daemon, by its unique name
  };

  /// Of a job that may have begun, and of whose end nothing is known.
  static Report unknown(const std::string& why) {
    Report report;
    report.error =
        base::Error{Code::kIo,
                    why +
                        ", so it is not known what was done. When it starts again it finishes or undoes what "
                        "it began: look at `systemctl status rdma-configd`, `rdma-configctl history` and "
                        "`rdma-configctl diff`, then do it again if need be",
                    0};
    report.exit = model::Exit::kUndoIncomplete;
    return report;
  }

  /// Of a job that ended, of which only the exit status is known.
  static Report untold(std::int32_t exit, const std::string& why) {
    Report report;
    report.exit = exit >= 0 && exit <= static_cast<int>(model::Exit::kPartly) ? static_cast<model::Exit>(exit)
                                                                              : model::Exit::kUndoIncomplete;
    report.error = base::Error{
        Code::kRefused,
        fmt::format("rdma-configd has ended the job with exit status {}; more is not known ({}): see "
                    "`rdma-configctl show`",
                    exit, why),
        0};
    return report;
  }

  std::unique_ptr<sdbus::IConnection> connection_;
  std::chrono::milliseconds patience_;
  std::unique_ptr<sdbus::IProxy> bus_, manager_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint32_t, Finished> finished_;  ///< by job
  std::function<void(std::size_t, std::size_t, const std::string&)> progress_;
  std::vector<DaemonEvent> events_;
  std::uint32_t job_ = 0;
  bool gone_ = false;
};

}  // namespace

std::unique_ptr<Service> connect_to_service(std::chrono::milliseconds patience) {
  try {
    auto service = std::make_unique<BusService>(patience);
    if (service->runs()) return service;
  } catch (const sdbus::Error&) {  // there is no bus: early boot, a container, an installer
  }
  return nullptr;
}

}  // namespace rdmacfg::ctl
