// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ctl/service.hpp"
#include "store/report_json.hpp"
#include "system/linux/dbus/dbus.hpp"

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
  for (const auto* suffix : {"NoReply", "Timeout", "TimedOut", "Disconnected"}) {
    if (name == std::string("org.freedesktop.DBus.Error.") + suffix) return true;
  }
  return name == "System.Error.ETIMEDOUT" || name == "System.Error.ECONNRESET" ||
         name == "System.Error.ENOTCONN";
}

constexpr const char* kBus = "org.freedesktop.DBus";
constexpr const char* kBusPath = "/org/freedesktop/DBus";

class BusService : public Service {
 public:
  explicit BusService(std::chrono::milliseconds patience)
      : patience_(patience), bus_(connection_, kBus, kBusPath), manager_(connection_, kName, kPath) {
    on_signal(
        "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
        "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.rdmaconfigd1'",
        [this](sdbus::Message& message) {
          // Any client may send signals to our name, and a match by a service's name takes them for its own.
          if (system::dbus::sender_of(message) != kBus) return;
          std::string name, before, after;
          message >> name >> before >> after;
          if (name != kName) return;
          daemon_ = after;
          if (after.empty()) gone_ = true;
        });
    hear_daemon("Progress", [this](sdbus::Message& message) {
      std::uint32_t id = 0;
      std::uint64_t done = 0, total = 0;
      std::string what;
      message >> id >> done >> total >> what;
      if (id == job_ && progress_) progress_(done, total, what);
    });
    hear_daemon("Finished", [this](sdbus::Message& message) {
      std::uint32_t id = 0;
      std::int32_t exit = 0;
      message >> id >> exit;
      // By its own name: a call by the well-known one would start a daemon that was just stopped.
      finished_[id] = {exit, daemon_};
    });
  }

  ~BusService() override { connection_.stop_thread(); }

  bool runs() {
    constexpr std::chrono::seconds kConnectionsOwn(0);
    if (!bus_.call<bool>(kBus, "NameHasOwner", kConnectionsOwn, kName)) return false;
    daemon_ = bus_.call<std::string>(kBus, "GetNameOwner", kConnectionsOwn, kName);
    connection_.start_thread([this] { mark_bus_lost(); });
    return true;
  }

  Result<Report> apply(const Apply& wanted, const Call& call) override {
    Documents documents;
    for (const auto& text : wanted.texts) documents.emplace_back(text.name, text.text);
    auto options = options_of(call);
    if (wanted.confirm_s > 0) options["confirm"] = sdbus::Variant(wanted.confirm_s);
    // Text that comes over the bus is taken for private; a file that everybody may read need not be.
    const bool is_public = std::none_of(wanted.texts.begin(), wanted.texts.end(),
                                        [](const auto& text) { return text.is_private; });
    if (is_public) options["public"] = sdbus::Variant(true);
    if (wanted.allow_removal) options["allow_removal"] = sdbus::Variant(true);
    if (wanted.retry) options["retry"] = sdbus::Variant(true);
    if (!wanted.expect.empty()) options["expect"] = sdbus::Variant(wanted.expect);
    return job(call, "Apply", documents, options);
  }

  Result<Report> confirm(const Call& call) override { return job(call, "Confirm", options_of(call)); }

  Result<Report> roll_back(std::uint64_t generation, std::uint64_t from, const Call& call) override {
    auto options = options_of(call);
    if (from != 0) options["active"] = sdbus::Variant(from);
    return job(call, "Rollback", generation, options);
  }

  Result<core::Ledger> history() override {
    if (!answers()) return base::fail(Code::kTimeout, "rdma-configd does not answer");
    try {
      return core::ledger_told(manager_.call<std::string>(kInterface, "History", kAnswer,
                                                          Options{{"interactive", sdbus::Variant(true)}}));
    } catch (const sdbus::Error& error) {
      return base::fail(error_of(error));
    }
  }

  Result<Report> reload(const Call& call) override { return job(call, "Reload", options_of(call)); }

  Result<DaemonStatus> status() override {
    if (!answers()) return base::fail(Code::kTimeout, "rdma-configd does not answer");
    try {
      const auto all = manager_.call<std::map<std::string, sdbus::Variant>>("org.freedesktop.DBus.Properties",
                                                                            "GetAll", patience_, kInterface);
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
      take("RepairsByKind", out.repairs_by_kind);
      take("LastRepair", out.last_repair);
      std::vector<sdbus::Struct<std::string, std::string, std::string>> contention;
      take("Contention", contention);
      for (const auto& entry : contention)
        out.contended.emplace_back(std::get<0>(entry), std::get<1>(entry), std::get<2>(entry));
      return out;
    } catch (const sdbus::Error& error) {
      return base::fail(error_of(error));
    }
  }

  Result<void> follow(const std::function<bool(const DaemonEvent* event)>& told) override {
    hear_daemon("Event", [this](sdbus::Message& message) {
      std::int32_t priority = 0;
      std::string event, text;
      message >> priority >> event >> text;
      events_.push_back({priority, event, text});
    });
    std::unique_lock wait(mutex_);
    for (;;) {
      changed_.wait_for(wait, std::chrono::seconds(1), [&] { return gone_ || !events_.empty(); });
      const auto events = std::exchange(events_, {});
      const bool gone = gone_;
      wait.unlock();
      for (const auto& event : events) {
        if (!told(&event)) return {};
      }
      if (!told(nullptr)) return {};
      if (gone)
        return base::fail(Code::kNotFound,
                          bus_is_lost() ? "the connection to the system bus is lost" : "rdma-configd exited");
      wait.lock();
    }
  }

 private:
  /// `heard` is called by the connection's thread, and may change what `mutex_` guards.
  void on_signal(const std::string& rule, system::dbus::MessageHandler heard) {
    matches_.push_back(connection_.match(rule, [this, heard = std::move(heard)](sdbus::Message& message) {
      const std::lock_guard hold(mutex_);
      heard(message);
      changed_.notify_all();
    }));
  }

  /// Signals of who has the daemon's name. The bus tells of a new owner before any of its signals.
  void hear_daemon(const char* member, system::dbus::MessageHandler heard) {
    on_signal(fmt::format("type='signal',sender='{}',path='{}',interface='{}',member='{}'", kName, kPath,
                          kInterface, member),
              [this, heard = std::move(heard)](sdbus::Message& message) {
                if (system::dbus::sender_of(message) == daemon_) heard(message);
              });
  }

  /// Nothing more is heard, from the daemon neither.
  void mark_bus_lost() {
    const std::lock_guard hold(mutex_);
    lost_ = gone_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] bool bus_is_lost() {
    const std::lock_guard hold(mutex_);
    return lost_;
  }

  static Options options_of(const Call& call) {
    Options options{{"interactive", sdbus::Variant(true)}};
    if (!call.who.empty()) options["who"] = sdbus::Variant(call.who);
    return options;
  }

  /// Its main loop waits for nothing, whatever it is doing.
  [[nodiscard]] bool answers() {
    try {
      manager_.call("org.freedesktop.DBus.Peer", "Ping", patience_);
    } catch (const sdbus::Error& error) {
      return !is_silence(error);
    }
    return true;
  }

  /// Starts a job and waits for its end: as long as the daemon lives there is one.
  template <class... Arguments>
  Result<Report> job(const Call& call, const char* method, const Arguments&... arguments) {
    std::uint32_t id = 0;
    // A daemon that hangs may carry out a request later, when nobody counts on it any more.
    if (!answers()) {
      return base::fail(Code::kTimeout,
                        "rdma-configd does not answer, and no request was sent: see `systemctl status "
                        "rdma-configd`, or bypass the daemon (--local)");
    }
    {
      const std::lock_guard hold(mutex_);
      gone_ = lost_;  // an earlier one does not matter: the call starts another
    }
    try {
      id = manager_.call<std::uint32_t>(kInterface, method, kAnswer, arguments...);
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
    if (!finished)
      return unknown(bus_is_lost() ? "the connection to the system bus is lost"
                                   : "rdma-configd exited during the job");
    try {
      system::dbus::Peer daemon(connection_, finished->by, kPath);
      const auto text = daemon.call<std::string>(kInterface, "Result", kAnswer, id,
                                                 Options{{"interactive", sdbus::Variant(true)}});
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
    report.error = base::Error{Code::kIo,
                               why +
                                   ", so the outcome is not known. At its next start it finishes or undoes "
                                   "the job: see `systemctl status rdma-configd`, `rdma-configctl history` "
                                   "and `rdma-configctl diff`, then retry if necessary",
                               0};
    report.exit = model::Exit::kUndoIncomplete;
    return report;
  }

  /// Of a job that ended, of which only the exit status is known.
  static Report untold(std::int32_t exit, const std::string& why) {
    Report report;
    report.exit = exit >= 0 && exit <= static_cast<int>(model::Exit::kPartly) ? static_cast<model::Exit>(exit)
                                                                              : model::Exit::kUndoIncomplete;
    report.error =
        base::Error{Code::kRefused,
                    fmt::format("rdma-configd ended the job with exit status {}, without details ({}): see "
                                "`rdma-configctl show`",
                                exit, why),
                    0};
    return report;
  }

  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string daemon_;                          ///< its own name on the bus; empty: nobody has the daemon's
  std::map<std::uint32_t, Finished> finished_;  ///< by job
  std::function<void(std::size_t, std::size_t, const std::string&)> progress_;
  std::vector<DaemonEvent> events_;
  std::uint32_t job_ = 0;
  bool gone_ = false;
  bool lost_ = false;  ///< the bus itself
  system::dbus::Connection connection_;
  system::dbus::Peer bus_, manager_;
  std::vector<std::shared_ptr<void>> matches_;
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
