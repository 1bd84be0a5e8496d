// SPDX-License-Identifier: Apache-2.0
// Who may do what: root may, everybody else as polkit says. Whatever keeps polkit from answering means no.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/quota.hpp"

namespace sdbus {
class IConnection;
class IProxy;
}  // namespace sdbus

namespace rdmacfg::daemon {

class Authority {
 public:
  static constexpr std::size_t kPending = 64;      ///< questions to polkit under way, in all
  static constexpr std::size_t kPendingOfOne = 4;  ///< and of one user; likewise of one client to the bus

  enum class Answer {
    kYes,
    kNo,
    kBusy,  ///< too many questions
  };

  explicit Authority(sdbus::IConnection& connection);
  ~Authority();

  using Answered = std::function<void(Answer answer, std::uint32_t uid)>;

  /// Asks without waiting. `sender` is a unique bus name; `action` "org.rdmaconfigd1.apply"; `interactive`:
  /// the user may be asked for a password. A user for whom `may_anyway` says so needs no permission.
  using MayAnyway = std::function<bool(std::uint32_t uid)>;
  void check(const std::string& sender, const std::string& action, bool interactive, Answered answered,
             MayAnyway may_anyway = nullptr);

 private:
  void ask_polkit(const std::string& sender, std::uint32_t uid, const std::string& action, bool interactive,
                  const Answered& answered);

  std::unique_ptr<sdbus::IProxy> bus_, polkit_;
  // Apart: whom the bus names root needs no question, and does not wait behind passwords that others type.
  Quota<std::string> lookups_{kPending, kPendingOfOne};
  Quota<std::uint32_t> questions_{kPending, kPendingOfOne};
};

}  // namespace rdmacfg::daemon
