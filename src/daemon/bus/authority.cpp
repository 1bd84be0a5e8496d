// SPDX-License-Identifier: Apache-2.0
// Source: org.freedesktop.PolicyKit1.Authority, CheckAuthorization.
#include "daemon/bus/authority.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

#include "daemon/bus/guarded.hpp"
#include "system/linux/dbus/dbus.hpp"

namespace rdmacfg::daemon {

namespace {

constexpr std::uint32_t kAllowInteraction = 1;

using Credentials = std::map<std::string, sdbus::Variant>;

/// Puts into `caller` what the bus says of it. @return whether that has its user
bool take_credentials(Caller& caller, const Credentials& credentials) {
  const auto uid = credentials.find("UnixUserID"), pid = credentials.find("ProcessID");
  if (pid != credentials.end() && pid->second.containsValueOfType<std::uint32_t>())
    caller.pid = pid->second.get<std::uint32_t>();
  if (uid == credentials.end() || !uid->second.containsValueOfType<std::uint32_t>()) return false;
  caller.uid = uid->second.get<std::uint32_t>();
  return true;
}

}  // namespace

Authority::Authority(system::dbus::Connection& connection, AuthorityDeadlines deadlines)
    : deadlines_(deadlines),
      bus_(std::make_unique<system::dbus::Peer>(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus")),
      polkit_(std::make_unique<system::dbus::Peer>(connection, "org.freedesktop.PolicyKit1",
                                                   "/org/freedesktop/PolicyKit1/Authority")) {}

Authority::~Authority() = default;

void Authority::check(const std::string& sender, const std::string& action, Interaction interaction,
                      const Answered& answered, MayAnyway may_anyway) {
  Caller caller{.name = sender};
  if (sender.empty()) return answered(Answer::kNo, caller);
  if (!lookups_.try_acquire(sender)) {
    if (!is_root(sender)) return answered(Answer::kBusy, caller);
    caller.uid = 0;
    return answered(Answer::kYes, caller);
  }
  const auto told = [this, asking = caller, action, interaction, answered,
                     may_anyway = std::move(may_anyway)](const sdbus::Error* error,
                                                         const Credentials& credentials) {
    guarded("credentials", [&] {
      auto asker = asking;
      lookups_.release(asker.name);
      // An error: it has gone.
      if (error != nullptr || !take_credentials(asker, credentials)) return answered(Answer::kNo, asker);
      if (asker.uid == 0 || (may_anyway && may_anyway(asker))) return answered(Answer::kYes, asker);
      if (!questions_.try_acquire(asker.uid)) return answered(Answer::kBusy, asker);
      ask_polkit(asker, action, interaction, answered);
    });
  };
  try {
    bus_->call_async<Credentials>("org.freedesktop.DBus", "GetConnectionCredentials", deadlines_.answer, told,
                                  sender);
  } catch (const sdbus::Error&) {  // the bus has gone, or takes no more calls
    lookups_.release(sender);
    answered(Answer::kNo, caller);
  }
}

void Authority::identify(const std::string& sender, const Named& named) {
  const Caller caller{.name = sender};
  if (sender.empty() || !named_.try_acquire(sender)) return named(caller);
  const auto told = [this, caller, named](const sdbus::Error* error, const Credentials& credentials) {
    guarded("credentials", [&] {
      auto asker = caller;
      named_.release(asker.name);
      if (error == nullptr) (void)take_credentials(asker, credentials);
      named(asker);
    });
  };
  try {
    bus_->call_async<Credentials>("org.freedesktop.DBus", "GetConnectionCredentials", deadlines_.answer, told,
                                  sender);
  } catch (const sdbus::Error&) {  // the bus has gone, or takes no more calls
    named_.release(sender);
    named(caller);
  }
}

bool Authority::is_root(const std::string& sender) {
  if (others_.contains(sender)) return false;
  try {
    if (bus_->call<std::uint32_t>("org.freedesktop.DBus", "GetConnectionUnixUser", model::limits::kBusCall,
                                  sender) == 0)
      return true;
    others_.add(sender);
  } catch (const sdbus::Error&) {  // it has gone
  }
  return false;
}

void Authority::ask_polkit(const Caller& caller, const std::string& action, Interaction interaction,
                           const Answered& answered) {
  using Subject = sdbus::Struct<std::string, std::map<std::string, sdbus::Variant>>;
  using Verdict = sdbus::Struct<bool, bool, std::map<std::string, std::string>>;
  const Subject subject{"system-bus-name", {{"name", sdbus::Variant(caller.name)}}};
  const bool interactive = interaction == Interaction::kAllowed;
  const auto told = [this, answered, caller](const sdbus::Error* error, const Verdict& verdict) {
    guarded("polkit's answer", [&] {
      questions_.release(caller.uid);
      const bool yes = error == nullptr && std::get<0>(verdict);
      answered(yes ? Answer::kYes : Answer::kNo, caller);
    });
  };
  try {
    polkit_->call_async<Verdict>("org.freedesktop.PolicyKit1.Authority", "CheckAuthorization",
                                 interactive ? deadlines_.password : deadlines_.answer, told, subject, action,
                                 std::map<std::string, std::string>{}, interactive ? kAllowInteraction : 0U,
                                 std::string());
  } catch (const sdbus::Error&) {  // the bus has gone, or takes no more calls
    questions_.release(caller.uid);
    answered(Answer::kNo, caller);
  }
}

}  // namespace rdmacfg::daemon
