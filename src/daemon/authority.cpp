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
                      Answered answered) {
  constexpr std::uint32_t kNobody = 65534;
  if (sender.empty()) return answered(Answer::kNo, kNobody);
  if (pending_ >= kPending || pending_of_[sender] >= kPendingPerSender)
    return answered(Answer::kBusy, kNobody);
  ++pending_;
  ++pending_of_[sender];
  auto once = std::make_shared<Answered>(
      [this, sender, answered = std::move(answered)](Answer answer, std::uint32_t uid) {
        --pending_;
        if (--pending_of_[sender] == 0) pending_of_.erase(sender);
        answered(answer, uid);
      });
  bus_->callMethodAsync("GetConnectionUnixUser")
      .onInterface("org.freedesktop.DBus")
      .withTimeout(kDeadline)
      .withArguments(sender)
      .uponReplyInvoke(
          [this, sender, action, interactive, once](const sdbus::Error* error, std::uint32_t uid) {
            if (error != nullptr) return (*once)(Answer::kNo, kNobody);  // it has gone
            if (uid == 0) return (*once)(Answer::kYes, uid);
            ask_polkit(sender, uid, action, interactive, once);
          });
}

void Authority::ask_polkit(const std::string& sender, std::uint32_t uid, const std::string& action,
                           bool interactive, const std::shared_ptr<Answered>& answered) {
  using Subject = sdbus::Struct<std::string, std::map<std::string, sdbus::Variant>>;
  using Verdict = sdbus::Struct<bool, bool, std::map<std::string, std::string>>;
  const Subject subject{"system-bus-name", {{"name", sdbus::Variant(sender)}}};
  polkit_->callMethodAsync("CheckAuthorization")
      .onInterface("org.freedesktop.PolicyKit1.Authority")
      .withTimeout(interactive ? kInteractiveDeadline : kDeadline)
      .withArguments(subject, action, std::map<std::string, std::string>{},
                     interactive ? kAllowInteraction : 0U, std::string())
      .uponReplyInvoke([answered, uid](const sdbus::Error* error, Verdict verdict) {
        const bool yes = error == nullptr && std::get<0>(verdict);
        (*answered)(yes ? Answer::kYes : Answer::kNo, uid);
      });
}

}  // namespace rdmacfg::daemon
