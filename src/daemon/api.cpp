// SPDX-License-Identifier: Apache-2.0
#include "daemon/api.hpp"

#include <fmt/format.h>
#include <sdbus-c++/sdbus-c++.h>

#include <set>
#include <utility>

#include "daemon/api_options.hpp"

namespace rdmacfg::daemon {

namespace {

constexpr const char* kName = "org.rdmaconfigd1";
constexpr const char* kPath = "/org/rdmaconfigd1";
constexpr const char* kInterface = "org.rdmaconfigd1.Manager";
constexpr const char* kRead = "org.rdmaconfigd1.read";
constexpr const char* kApply = "org.rdmaconfigd1.apply";

using Documents = std::vector<sdbus::Struct<std::string, std::string>>;
using Options = ApiOptions::Sent;

sdbus::Error error(const char* name, const std::string& message) { return api_error(name, message); }

/// For the history. Root may say on whose behalf it asks (sudo); of others the user id is what is known.
std::string who_of(std::uint32_t uid, const ApiOptions& asked) {
  if (uid != 0) return fmt::format("uid {}", uid);
  return asked.who.empty() ? "root" : asked.who;
}

std::vector<config::Text> texts_of(const Documents& documents) {
  std::vector<config::Text> texts;
  for (const auto& one : documents) texts.push_back({std::get<0>(one), std::get<1>(one)});
  return texts;
}

}  // namespace

/// The methods. A client's arguments are looked at after it was found to be allowed, but for their size.
struct Api::Detail {
  Api& api;

  template <class... T>
  using Reply = std::shared_ptr<sdbus::Result<T...>>;

  template <class... T>
  static void refuse(const Reply<T...>& reply, const sdbus::Error& why) {
    try {
      reply->returnError(why);
    } catch (const sdbus::Error&) {  // the client has gone
    }
  }

  /// Carries out `then` when the sender of the message may do `action`.
  template <class... T, class Then>
  void allowed(Reply<T...> reply, const char* action, const Options& options,
               const std::set<std::string>& known, Then then,
               const Authority::MayAnyway& may_anyway = nullptr) {
    const auto* message = api.object_->getCurrentlyProcessedMessage();
    const std::string sender = message == nullptr ? "" : message->getSender();
    ApiOptions asked;
    try {
      asked = ApiOptions::read(options, known);
    } catch (const sdbus::Error& why) {
      return refuse(reply, why);
    }
    const bool interactive = asked.interactive;
    api.authority_->check(
        sender, action, interactive,
        [reply, action, asked = std::move(asked), then = std::move(then)](Authority::Answer answer,
                                                                          std::uint32_t uid) {
          if (answer == Authority::Answer::kYes) {
            try {
              asked.check();
              then(uid, asked);
            } catch (const sdbus::Error& why) {
              refuse(reply, why);
            }
          } else if (answer == Authority::Answer::kBusy) {
            refuse(reply, error("LimitsExceeded", "too many requests are waiting to be authorised"));
          } else {
            refuse(reply, error("AccessDenied", fmt::format("{} is not authorised", action)));
          }
        },
        may_anyway);
  }

  static bool too_large(const Documents& documents) {
    std::size_t bytes = 0;
    for (const auto& one : documents) bytes += std::get<0>(one).size() + std::get<1>(one).size();
    return documents.size() > kDocumentFiles || bytes > kDocumentBytes;
  }

  std::uint32_t add(Job job, Jobs::Done done) {
    const auto id = api.jobs_.add(std::move(job), std::move(done));
    if (id == 0) {
      throw error("LimitsExceeded",
                  api.jobs_.closed() ? "the daemon is about to end" : "too many jobs are waiting");
    }
    return id;
  }

  /// A job that only looks: the reply is its report.
  void look(sdbus::Result<std::string>&& result, Job::Verb verb, const Documents& documents,
            const Options& options) {
    auto reply = std::make_shared<sdbus::Result<std::string>>(std::move(result));
    if (too_large(documents)) return refuse(reply, error("LimitsExceeded", "the document is too large"));
    const auto then = [this, reply, verb, documents](std::uint32_t uid, const ApiOptions& asked) {
      Job job;
      job.verb = verb;
      job.texts = texts_of(documents);
      job.uid = uid;
      job.who = who_of(uid, asked);
      if (verb == Job::Verb::kValidate && job.texts.empty())
        throw error("InvalidArgs", "there is no document to validate");
      (void)add(std::move(job), [reply](const Job& one, const Outcome& outcome) {
        try {
          reply->returnResults(one.verb == Job::Verb::kHistory ? outcome.status.dump() : outcome.report_text);
        } catch (const sdbus::Error&) {
        }
      });
    };
    allowed(reply, kRead, options, {}, then);
  }

  /// A job that changes the host: the reply is its number, its end a signal.
  void change(sdbus::Result<std::uint32_t>&& result, Job wanted, const Options& options,
              const std::set<std::string>& known, std::size_t bytes_ok = 1) {
    auto reply = std::make_shared<sdbus::Result<std::uint32_t>>(std::move(result));
    if (bytes_ok == 0) return refuse(reply, error("LimitsExceeded", "the document is too large"));
    const auto then = [this, reply, wanted = std::move(wanted)](std::uint32_t uid, const ApiOptions& asked) {
      Job job = wanted;
      job.uid = uid;
      job.retry = asked.retry;
      job.confirm_s = static_cast<std::int64_t>(asked.confirm);
      if (asked.confirm > 0) job.what += fmt::format(" --confirm {}", asked.confirm);
      job.from = asked.active;
      job.expect = asked.expect;
      job.who = who_of(uid, asked);
      // A job may not end before its number was told.
      const auto id = add(std::move(job), [this](const Job& one, const Outcome& outcome) {
        api.finished(one.id, static_cast<int>(outcome.report.exit));
        if (api.ended) api.ended(one, outcome);
      });
      reply->returnResults(id);
    };
    allowed(reply, kApply, options, known, then);
  }
};

Api::Api(Loop& loop, Jobs& jobs)
    : loop_(loop),
      jobs_(jobs),
      connection_(sdbus::createSystemBusConnection()),
      authority_(std::make_unique<Authority>(*connection_)),
      units_(std::make_unique<UnitWatch>(*connection_,
                                         [this](const std::string& what) {
                                           if (unit_changed) unit_changed(what);
                                         })),
      object_(sdbus::createObject(*connection_, kPath)) {
  auto d = std::make_shared<Detail>(Detail{*this});
  using Text = sdbus::Result<std::string>;
  using Number = sdbus::Result<std::uint32_t>;
  object_->registerMethod("Show")
      .onInterface(kInterface)
      .withInputParamNames("options")
      .withOutputParamNames("report")
      .implementedAs([d](Text&& result, const Options& options) {
        d->look(std::move(result), Job::Verb::kShow, {}, options);
      });
  object_->registerMethod("History")
      .onInterface(kInterface)
      .withInputParamNames("options")
      .withOutputParamNames("history")
      .implementedAs([d](Text&& result, const Options& options) {
        d->look(std::move(result), Job::Verb::kHistory, {}, options);
      });
  object_->registerMethod("Validate")
      .onInterface(kInterface)
      .withInputParamNames("documents", "options")
      .withOutputParamNames("report")
      .implementedAs([d](Text&& result, const Documents& documents, const Options& options) {
        d->look(std::move(result), Job::Verb::kValidate, documents, options);
      });
  object_->registerMethod("Diff")
      .onInterface(kInterface)
      .withInputParamNames("documents", "options")
      .withOutputParamNames("report")
      .implementedAs([d](Text&& result, const Documents& documents, const Options& options) {
        d->look(std::move(result), Job::Verb::kDiff, documents, options);
      });
  object_->registerMethod("Apply")
      .onInterface(kInterface)
      .withInputParamNames("documents", "options")
      .withOutputParamNames("job")
      .implementedAs([d](Number&& result, const Documents& documents, const Options& options) {
        const bool fits = !Detail::too_large(documents);
        Job job;
        job.verb = Job::Verb::kApply;
        job.what = "apply";
        if (fits) job.texts = texts_of(documents);
        d->change(std::move(result), std::move(job), options, {"confirm", "expect", "retry", "who"},
                  fits ? 1 : 0);
      });
  object_->registerMethod("Confirm")
      .onInterface(kInterface)
      .withInputParamNames("options")
      .withOutputParamNames("job")
      .implementedAs([d](Number&& result, const Options& options) {
        Job job;
        job.verb = Job::Verb::kConfirm;
        job.what = "confirm";
        d->change(std::move(result), std::move(job), options, {"who"});
      });
  object_->registerMethod("Rollback")
      .onInterface(kInterface)
      .withInputParamNames("generation", "options")
      .withOutputParamNames("job")
      .implementedAs([d](Number&& result, const std::uint64_t& generation, const Options& options) {
        Job job;
        job.verb = Job::Verb::kRollBack;
        job.generation = generation;
        job.what = "rollback";
        d->change(std::move(result), std::move(job), options, {"active", "who"});
      });
  object_->registerMethod("Reload")
      .onInterface(kInterface)
      .withInputParamNames("options")
      .withOutputParamNames("job")
      .implementedAs([d](Number&& result, const Options& options) {
        Job job;
        job.verb = Job::Verb::kApply;
        job.by_itself = true;
        job.what = "reload";
        d->change(std::move(result), std::move(job), options, {"who"});
      });
  object_->registerMethod("Cancel")
      .onInterface(kInterface)
      .withInputParamNames("job", "options")
      .implementedAs([d, this](sdbus::Result<>&& result, const std::uint32_t& id, const Options& options) {
        auto reply = std::make_shared<sdbus::Result<>>(std::move(result));
        d->allowed(reply, kApply, options, {}, [this, reply, id](std::uint32_t, const ApiOptions&) {
          if (!jobs_.cancel(id)) throw error("NotFound", fmt::format("there is no job {}", id));
          reply->returnResults();
        });
      });
  object_->registerMethod("Result")
      .onInterface(kInterface)
      .withInputParamNames("job", "options")
      .withOutputParamNames("report")
      .implementedAs([d, this](Text&& result, const std::uint32_t& id, const Options& options) {
        auto reply = std::make_shared<Text>(std::move(result));
        const auto then = [this, reply, id](std::uint32_t, const ApiOptions&) {
          const auto* text = jobs_.result(id);
          if (text == nullptr) throw error("NotFound", fmt::format("there is no result of a job {}", id));
          reply->returnResults(*text);
          jobs_.fetched(id);
        };
        // Who was allowed to have it done may know how it went.
        d->allowed(reply, kRead, options, {}, then,
                   [this, id](std::uint32_t uid) { return jobs_.asked_by(id, uid); });
      });
  object_->registerSignal("Progress")
      .onInterface(kInterface)
      .withParameters<std::uint32_t, std::uint64_t, std::uint64_t, std::string>("job", "done", "total",
                                                                                "what");
  object_->registerSignal("Finished")
      .onInterface(kInterface)
      .withParameters<std::uint32_t, std::int32_t>("job", "exit");
  object_->registerProperty("Version")
      .onInterface(kInterface)
      .withGetter([] { return std::string(RDMACFG_VERSION); })
      .withUpdateBehavior(sdbus::Flags::CONST_PROPERTY_VALUE);
  object_->registerProperty("State").onInterface(kInterface).withGetter([this] { return properties_.state; });
  object_->registerProperty("Generation").onInterface(kInterface).withGetter([this] {
    return properties_.generation;
  });
  object_->registerProperty("Unconfirmed").onInterface(kInterface).withGetter([this] {
    return properties_.unconfirmed;
  });
  object_->registerProperty("Pending").onInterface(kInterface).withGetter([this] {
    return properties_.pending;
  });
  object_->registerProperty("Limited").onInterface(kInterface).withGetter([this] {
    return properties_.limited;
  });
  object_->registerProperty("Contended").onInterface(kInterface).withGetter([this] {
    return properties_.contended;
  });
  object_->finishRegistration();
  watch_managers();
  connection_->requestName(kName);

  source_ = loop_.on_changing(
      connection_->getEventLoopPollData().fd,
      [this]() -> Loop::Interest {
        try {
          const auto data = connection_->getEventLoopPollData();
          return {data.events, data.timeout_usec};
        } catch (const sdbus::Error&) {
          return {};  // its end is always told
        }
      },
      [this] { process(); });
}

Api::~Api() = default;

}  // namespace rdmacfg::daemon
