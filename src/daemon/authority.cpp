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
                      std::function<void(Answer)> answered) {
  if (sender.empty()) return answered(Answer::kNo);
  if (pending_ >= kPending || pending_of_[sender] >= kPendingPerSender) return answered(Answer::kBusy);
  ++pending_;
  ++pending_of_[sender];
  auto once = std::make_shared<std::function<void(Answer)>>(
      [this, sender, answered = std::move(answered)](Answer answer) {
        --pending_;
        if (--pending_of_[sender] == 0) pending_of_.erase(sender);
        answered(answer);
      });
  bus_->callMethodAsync("GetConnectionUnixUser")
      .onInterface("org.freedesktop.DBus")
      .withTimeout(kDeadline)
      .withArguments(sender)
      .uponReplyInvoke(
          [this, sender, action, interactive, once](const sdbus::Error* error, std::uint32_t uid) {
            if (error != nullptr) return (*once)(Answer::kNo);  // it has gone
            if (uid == 0) return (*once)(Answer::kYes);
            ask_polkit(sender, action, interactive, once);
          });
}

void Authority::ask_polkit(const std::string& sender, const std::string& action, bool interactive,
                           const std::shared_ptr<std::function<void(Answer)>>& answered) {
  using Subject = sdbus::Struct<std::string, std::map<std::string, sdbus::Variant>>;
  using Verdict = sdbus::Struct<bool, bool, std::map<std::string, std::string>>;
  const Subject subject{"system-bus-name", {{"name", sdbus::Variant(sender)}}};
  polkit_->callMethodAsync("CheckAuthorization")
      .onInterface("org.freedesktop.PolicyKit1.Authority")
      .withTimeout(interactive ? kInteractiveDeadline : kDeadline)
      .withArguments(subject, action, std::map<std::string, std::string>{},
                     interactive ? kAllowInteraction : 0U, std::string())
      .uponReplyInvoke([answered](const sdbus::Error* error, Verdict verdict) {
        const bool yes = error == nullptr && std::get<0>(verdict);
        (*answered)(yes ? Answer::kYes : Answer::kNo);
      });
}

}  // namespace rdmacfg::daemon
