// SPDX-License-Identifier: Apache-2.0
// Source: org.freedesktop.PolicyKit1.Authority, CheckAuthorization.
#include "daemon/authority.hpp"

#include <sdbus-c++/sdbus-c++.h>

#include <chrono>
#include <cstdint>
#include <utility>

namespace rdmacfg::daemon {

namespace {

using namespace std::chrono_literals;

constexpr auto kDeadline = 25s;
constexpr auto kInteractiveDeadline = 120s;  // somebody types a password
constexpr std::uint32_t kAllowInteraction = 1;

}  // namespace

Authority::Authority(sdbus::IConnection& connection)
    : bus_(sdbus::createProxy(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus")),
      polkit_(sdbus::createProxy(connection, "org.freedesktop.PolicyKit1",
                                 "/org/freedesktop/PolicyKit1/Authority")) {
  bus_->finishRegistration();
  polkit_->finishRegistration();
}

Authority::~Authority() = default;

void Authority::check(const std::string& sender, const std::string& action, bool interactive,
                      Answered answered, MayAnyway may_anyway) {
  constexpr std::uint32_t kNobody = 65534;
  if (sender.empty()) return answered(Answer::kNo, kNobody);
  if (!lookups_.take(sender)) return answered(Answer::kBusy, kNobody);
  bus_->callMethodAsync("GetConnectionUnixUser")
      .onInterface("org.freedesktop.DBus")
      .withTimeout(kDeadline)
      .withArguments(sender)
      .uponReplyInvoke([this, sender, action, interactive, answered = std::move(answered),
                        may_anyway = std::move(may_anyway)](const sdbus::Error* error, std::uint32_t uid) {
        lookups_.give(sender);
        if (error != nullptr) return answered(Answer::kNo, kNobody);  // it has gone
        if (uid == 0 || (may_anyway && may_anyway(uid))) return answered(Answer::kYes, uid);
        if (!questions_.take(uid)) return answered(Answer::kBusy, uid);
        ask_polkit(sender, uid, action, interactive, answered);
      });
}

void Authority::ask_polkit(const std::string& sender, std::uint32_t uid, const std::string& action,
                           bool interactive, const Answered& answered) {
  using Subject = sdbus::Struct<std::string, std::map<std::string, sdbus::Variant>>;
  using Verdict = sdbus::Struct<bool, bool, std::map<std::string, std::string>>;
  const Subject subject{"system-bus-name", {{"name", sdbus::Variant(sender)}}};
  polkit_->callMethodAsync("CheckAuthorization")
      .onInterface("org.freedesktop.PolicyKit1.Authority")
      .withTimeout(interactive ? kInteractiveDeadline : kDeadline)
      .withArguments(subject, action, std::map<std::string, std::string>{},
                     interactive ? kAllowInteraction : 0U, std::string())
      .uponReplyInvoke([this, answered, uid](const sdbus::Error* error, Verdict verdict) {
        questions_.give(uid);
        const bool yes = error == nullptr && std::get<0>(verdict);
        answered(yes ? Answer::kYes : Answer::kNo, uid);
      });
}

}  // namespace rdmacfg::daemon
