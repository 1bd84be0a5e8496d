// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/api.hpp"

#include <fmt/format.h>
#include <sys/syslog.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <set>
#include <utility>

#include "daemon/bus/api_options.hpp"
#include "daemon/bus/dispatch.hpp"
#include "daemon/bus/guarded.hpp"
#include "daemon/journal.hpp"
#include "model/limits.hpp"
#include "system/linux/dbus/dbus.hpp"

namespace rdmacfg::daemon {

namespace {

constexpr const char* kName = "org.rdmaconfigd1";
constexpr const char* kPath = "/org/rdmaconfigd1";
constexpr const char* kInterface = "org.rdmaconfigd1.Manager";
constexpr const char* kRead = "org.rdmaconfigd1.read";
constexpr const char* kApply = "org.rdmaconfigd1.apply";

std::string too_large_text() {
  return fmt::format("the document has more than the {} bytes or the {} files allowed",
                     model::limits::kDocumentBytes, model::limits::kDocumentFiles);
}

/// The body of a callback of sd-bus: an exception becomes an answer, never an end of the daemon.
template <class Body>
auto checked(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const sdbus::Error&) {
    throw;
  } catch (const std::exception& why) {
    log(LOG_ERR, Message::kTrouble, std::string("internal error in a request: ") + why.what());
    throw api_error("Failed", "internal error");
  }
}

using Documents = std::vector<sdbus::Struct<std::string, std::string>>;
using Options = ApiOptions::Sent;
using system::dbus::Reply;
using Text = Reply<std::string>;
using Number = Reply<std::uint32_t>;

sdbus::Error error(const char* name, const std::string& message) { return api_error(name, message); }

/// For the history. Root may say on whose behalf it asks (sudo); of others the user id is what is known.
std::string who_of(std::uint32_t uid, const ApiOptions& asked) {
  if (uid != 0) return fmt::format("uid {}", uid);
  return asked.who.empty() ? "root" : asked.who;
}

std::vector<config::Text> texts_of(const Documents& documents) {
  std::vector<config::Text> texts;
  for (const auto& document : documents) texts.push_back({std::get<0>(document), std::get<1>(document)});
  return texts;
}

constexpr auto kAny = std::numeric_limits<std::size_t>::max();

/// Why a look at the history has none.
std::string no_history(const Outcome& outcome) {
  if (outcome.report.error) return outcome.report.error->message;
  return "the ledger cannot be read; `rdma-configctl --local history` as root says why";
}

}  // namespace

/// The methods. A client's arguments are looked at after it was found to be allowed, but for their size.
struct Api::Detail {
  Api& api;

  template <class... T>
  static void refuse(const Reply<T...>& reply, const sdbus::Error& why) {
    try {
      reply.fail(why);
    } catch (const sdbus::Error&) {  // the client has gone
    }
  }

  /// Refuses before anybody has asked who calls; the journal has its line once the bus has named the client.
  template <class... T>
  void refuse_at_once(const Reply<T...>& reply, const char* method, const char* action,
                      const sdbus::Error& why) {
    api.untaken_.reset();
    const auto sender = reply.sender();
    refuse(reply, why);
    api.authority_->identify(
        sender,
        [this, method, action, verdict = RequestVerdict{RequestVerdict::Sort::kRefused, why.getMessage()}](
            const Caller& caller) { tell_request(api.lines_, caller, method, action, verdict, 0); });
  }

  /// A call while it is being decided on. `method`: for the journal.
  struct Asked {
    const char* method = "";
    const char* action = kRead;
    std::set<std::string> known{};  ///< options
    bool looks = false;             ///< ends when the client leaves
    bool changes = false;           ///< its job changes the host
  };

  /// Carries out `then` when the sender of the message may; that returns the number of the job, or 0.
  template <class... T, class Then>
  void allowed(Reply<T...> reply, const Asked& what, const Options& options, Then then,
               const Authority::MayAnyway& may_anyway = nullptr) {
    api.untaken_.reset();
    const auto sender = reply.sender();
    ApiOptions asked;
    try {
      asked = ApiOptions::read(options, what.known);
    } catch (const sdbus::Error& why) {
      return refuse_at_once(reply, what.method, what.action, why);
    }
    if (what.looks && !api.callers_.came(sender) &&
        !(api.authority_->is_root(sender) && api.callers_.came(sender, kAny)))
      return refuse_at_once(reply, what.method, what.action,
                            error("LimitsExceeded", "too many clients have requests under way"));
    const auto interaction =
        asked.interactive ? Authority::Interaction::kAllowed : Authority::Interaction::kNone;
    api.authority_->check(
        sender, what.action, interaction,
        [this, reply, what, asked = std::move(asked), then = std::move(then)](Authority::Answer answer,
                                                                              const Caller& caller) {
          std::uint32_t job = 0;
          using Sort = RequestVerdict::Sort;
          RequestVerdict verdict;
          const auto say_no = [&](const char* name, const std::string& why) {
            verdict = {Sort::kRefused, why};
            refuse(reply, error(name, why));
          };
          if (answer == Authority::Answer::kNo) {
            verdict = {Sort::kDenied};
            refuse(reply, error("AccessDenied", fmt::format("{} is not authorized", what.action)));
          } else if (answer == Authority::Answer::kBusy) {
            say_no("LimitsExceeded", "too many requests are waiting for authorization");
          } else if (what.looks && api.callers_.is_gone(caller.name)) {
            verdict = {Sort::kDropped, "the client has disconnected"};
          } else {
            try {
              asked.check();
              job = then(caller, asked);
              if (what.changes) verdict.sort = Sort::kBegun;
            } catch (const sdbus::Error& why) {
              verdict = {Sort::kRefused, why.getMessage()};
              refuse(reply, why);
            } catch (const std::exception& why) {
              // The client is answered, and its call counted as over, whatever happens.
              log(LOG_ERR, Message::kTrouble, std::string("internal error in a request: ") + why.what());
              say_no("Failed", "internal error");
            }
          }
          if (what.looks) (void)api.callers_.became(caller.name, job);
          tell_request(api.lines_, caller, what.method, what.action, verdict, job);
        },
        may_anyway);
  }

  static bool too_large(const Documents& documents) {
    std::size_t bytes = 0;
    for (const auto& document : documents)
      bytes += std::get<0>(document).size() + std::get<1>(document).size();
    return documents.size() > model::limits::kDocumentFiles || bytes > model::limits::kDocumentBytes;
  }

  std::uint32_t add(Job job, Jobs::Done done) {
    const auto id = api.jobs_.add(std::move(job), std::move(done));
    if (id == 0) {
      throw error("LimitsExceeded",
                  api.jobs_.closed() ? "the daemon is shutting down" : "too many jobs are waiting");
    }
    return id;
  }

  /// A job that only looks: the reply is its report.
  void look(const Text& reply, const char* method, Job::Verb verb, const Documents& documents,
            const Options& options) {
    if (too_large(documents))
      return refuse_at_once(reply, method, kRead, error("LimitsExceeded", too_large_text()));
    const auto then = [this, reply, verb, texts = texts_of(documents)](const Caller& caller,
                                                                       const ApiOptions& asked) {
      Job job;
      job.verb = verb;
      job.texts = texts;
      job.uid = caller.uid;
      job.who = who_of(caller.uid, asked);
      if (verb == Job::Verb::kValidate && job.texts.empty())
        throw error("InvalidArgs", "there is no document to validate");
      return add(std::move(job),
                 [this, reply, name = caller.name](const Job& ended_job, const Outcome& outcome) {
                   api.callers_.ended(name, ended_job.id);
                   if (outcome.cancelled) return refuse(reply, error("Cancelled", "the query was cancelled"));
                   if (ended_job.verb == Job::Verb::kHistory && !outcome.status.is_object())
                     return refuse(reply, error("Failed", no_history(outcome)));
                   const auto text =
                       ended_job.verb == Job::Verb::kHistory ? outcome.status.dump() : outcome.whole.read();
                   try {
                     reply.send(text);
                   } catch (const sdbus::Error&) {  // the client has gone
                   }
                 });
    };
    allowed(reply, {.method = method, .looks = true}, options, then);
  }

  /// A job that changes the host: the reply is its number, its end a signal.
  void change(const Number& reply, const char* method, Job wanted, const Options& options,
              const std::set<std::string>& known, std::size_t bytes_ok = 1) {
    if (bytes_ok == 0)
      return refuse_at_once(reply, method, kApply, error("LimitsExceeded", too_large_text()));
    const auto then = [this, reply, wanted = std::move(wanted)](const Caller& caller,
                                                                const ApiOptions& asked) {
      Job job = wanted;
      job.uid = caller.uid;
      job.client = caller.name;
      job.retry = asked.retry;
      job.allow_removal = asked.allow_removal;
      for (auto& text : job.texts) text.is_private = !asked.public_texts;
      job.confirm_s = static_cast<std::int64_t>(asked.confirm);
      if (asked.confirm > 0) job.what += fmt::format(" --confirm {}", asked.confirm);
      job.from = asked.active;
      job.expect = asked.expect;
      job.who = who_of(caller.uid, asked);
      // A job may not end before its number was told.
      const auto id = add(std::move(job), [this](const Job& ended_job, const Outcome& outcome) {
        tell_request_ended(api.lines_, ended_job, outcome);
        api.finished(ended_job.id, static_cast<int>(outcome.report.exit));
        if (api.ended) api.ended(ended_job, outcome);
      });
      reply.send(id);
      return id;
    };
    allowed(reply, {.method = method, .action = kApply, .known = known, .changes = true}, options, then);
  }
};

/// Every synchronous call of the daemon is made here, with a short deadline: a broker that hangs must not
/// keep the loop from the watchdog.
std::unique_ptr<system::dbus::Connection> Api::connect() {
  auto connection = std::make_unique<system::dbus::Connection>();
  connection->set_deadline(model::limits::kBusCall);
  return connection;
}

Api::Api(Loop& loop, Jobs& jobs)
    : loop_(loop),
      jobs_(jobs),
      connection_(connect()),
      authority_(std::make_unique<Authority>(*connection_)),
      units_(std::make_unique<UnitWatch>(*connection_,
                                         [this](const std::string& what) {
                                           if (unit_changed) unit_changed(what);
                                         })),
      object_(std::make_unique<system::dbus::Object>(*connection_, kPath, kInterface)) {
  add_looks();
  add_changes();
  add_properties();
  object_->signal<std::uint32_t, std::uint64_t, std::uint64_t, std::string>("Progress",
                                                                            {"job", "done", "total", "what"});
  object_->signal<std::uint32_t, std::int32_t>("Finished", {"job", "exit"});
  object_->signal<std::int32_t, std::string, std::string>("Event", {"priority", "event", "text"});
  object_->publish();
  watch_managers();
  watch_profiles();
  watch_clients();
  watch_calls();
  connection_->request_name(kName);

  source_ = loop_.on_changing(
      connection_->poll().fd,
      [this]() -> Loop::Interest {
        try {
          const auto poll = connection_->poll();
          const auto now = std::chrono::steady_clock::now().time_since_epoch();
          return interest_in_bus(
              poll.events, poll.deadline_us,
              static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
        } catch (const sdbus::Error&) {
          return {};  // its end is always told
        }
      },
      [this] { process(); });
}

/// Methods whose reply is what they are asked for.
void Api::add_looks() {
  auto d = std::make_shared<Detail>(Detail{*this});
  object_->method("Show", {"options"}, {"report"}, [d](const Text& reply, const Options& options) {
    checked([&] { d->look(reply, "Show", Job::Verb::kShow, {}, options); });
  });
  object_->method("History", {"options"}, {"history"}, [d](const Text& reply, const Options& options) {
    checked([&] { d->look(reply, "History", Job::Verb::kHistory, {}, options); });
  });
  object_->method("Validate", {"documents", "options"}, {"report"},
                  [d](const Text& reply, const Documents& documents, const Options& options) {
                    checked([&] { d->look(reply, "Validate", Job::Verb::kValidate, documents, options); });
                  });
  object_->method("Diff", {"documents", "options"}, {"report"},
                  [d](const Text& reply, const Documents& documents, const Options& options) {
                    checked([&] { d->look(reply, "Diff", Job::Verb::kDiff, documents, options); });
                  });
  object_->method(
      "Result", {"job", "options"}, {"report"},
      [d, this](const Text& reply, const std::uint32_t& id, const Options& options) {
        checked([&] {
          const auto then = [this, reply, id](const Caller& caller, const ApiOptions&) {
            const auto text = jobs_.result(id);
            // It shows what only root may read, if root asked for it.
            if (text && caller.uid != 0 && !jobs_.asked_by(id, caller.uid, caller.name))
              throw error("AccessDenied",
                          fmt::format("job {} is not yours, so only root may see its result", id));
            if (!text) throw error("NotFound", fmt::format("there is no result for job {}", id));
            reply.send(*text);
            jobs_.fetched(id);
            return id;
          };
          // A caller that was allowed to request it may know its outcome.
          d->allowed(reply, {.method = "Result"}, options, then, [this, id](const Caller& caller) {
            return jobs_.asked_by(id, caller.uid, caller.name);
          });
        });
      });
}

/// Methods whose reply is the number of a job, and one that ends a job.
void Api::add_changes() {
  auto d = std::make_shared<Detail>(Detail{*this});
  object_->method("Apply", {"documents", "options"}, {"job"},
                  [d](const Number& reply, const Documents& documents, const Options& options) {
                    checked([&] {
                      const bool fits = !Detail::too_large(documents);
                      Job job;
                      job.verb = Job::Verb::kApply;
                      job.what = "apply";
                      if (fits) job.texts = texts_of(documents);
                      d->change(reply, "Apply", std::move(job), options,
                                {"allow_removal", "confirm", "expect", "public", "retry", "who"},
                                fits ? 1 : 0);
                    });
                  });
  object_->method("Confirm", {"options"}, {"job"}, [d](const Number& reply, const Options& options) {
    checked([&] {
      Job job;
      job.verb = Job::Verb::kConfirm;
      job.what = "confirm";
      d->change(reply, "Confirm", std::move(job), options, {"who"});
    });
  });
  object_->method("Rollback", {"generation", "options"}, {"job"},
                  [d](const Number& reply, const std::uint64_t& generation, const Options& options) {
                    checked([&] {
                      Job job;
                      job.verb = Job::Verb::kRollBack;
                      job.generation = generation;
                      job.what = "rollback";
                      d->change(reply, "Rollback", std::move(job), options, {"active", "who"});
                    });
                  });
  object_->method("Reload", {"options"}, {"job"}, [d](const Number& reply, const Options& options) {
    checked([&] {
      Job job;
      job.verb = Job::Verb::kApply;
      job.by_itself = true;
      job.what = "reload";
      d->change(reply, "Reload", std::move(job), options, {"who"});
    });
  });
  object_->method("Cancel", {"job", "options"}, {},
                  [d, this](const Reply<>& reply, const std::uint32_t& id, const Options& options) {
                    checked([&] {
                      d->allowed(reply, {.method = "Cancel", .action = kApply}, options,
                                 [this, reply, id](const Caller& caller, const ApiOptions&) {
                                   if (caller.uid != 0 && !jobs_.is_of(id, caller.uid))
                                     throw error(
                                         "AccessDenied",
                                         fmt::format("job {} is not yours, so only root may cancel it", id));
                                   if (!jobs_.cancel(id))
                                     throw error("NotFound", fmt::format("there is no job {}", id));
                                   reply.send();
                                   return id;
                                 });
                    });
                  });
}

void Api::add_properties() {
  const auto add = [this](const char* name, auto member) {
    object_->property(name, [this, member] { return checked([&] { return properties_.*member; }); });
  };
  object_->property(
      "Version", [] { return std::string(RDMACFG_VERSION); }, system::dbus::Object::Changes::kNever);
  add("State", &Properties::state);
  add("Generation", &Properties::generation);
  add("Unconfirmed", &Properties::unconfirmed);
  add("Pending", &Properties::pending);
  add("Limited", &Properties::limited);
  add("Unmet", &Properties::unmet);
  add("Contended", &Properties::contended);
  object_->property("Contention", [this] {
    return checked([&] {
      std::vector<sdbus::Struct<std::string, std::string, std::string>> out;
      for (const auto& [kind, id, why] : properties_.contention) out.emplace_back(kind, id, why);
      return out;
    });
  });
  add("Refused", &Properties::refused);
  add("Failing", &Properties::failing);
  add("Repairs", &Properties::repairs);
  add("RepairsByKind", &Properties::repairs_by_kind);
  add("LastRepair", &Properties::last_repair);
}

/// sd-bus runs the matches for a call before it looks up the method (process_match(), bus_process_object()).
/// It handles its own methods, such as those for properties, only if the call names their interface.
void Api::watch_calls() {
  matches_.push_back(
      connection_->match(fmt::format("type='method_call',path='{}'", kPath), [this](sdbus::Message& message) {
        guarded("a call", [&] {
          const auto interface = system::dbus::interface_of(message);
          if (interface.empty() || interface == kInterface)
            untaken_ = Call{system::dbus::sender_of(message), system::dbus::member_of(message)};
        });
      }));
}

Api::~Api() = default;

}  // namespace rdmacfg::daemon
