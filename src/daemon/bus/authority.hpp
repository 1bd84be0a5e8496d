// SPDX-License-Identifier: Apache-2.0
// Permissions: root may do everything, everybody else as polkit says. Any failure to ask polkit means no.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/bus/quota.hpp"
#include "model/limits.hpp"

namespace rdmacfg::system::dbus {
class Connection;
class Peer;
}  // namespace rdmacfg::system::dbus

namespace rdmacfg::daemon {

/// The caller, as the bus knows it.
struct Caller {
  std::string name;           ///< unique name on the bus
  std::uint32_t uid = 65534;  ///< nobody, when the bus does not say
  std::uint32_t pid = 0;      ///< 0: not known
};

/// How long an answer is waited for; one that comes later is not heard.
struct AuthorityDeadlines {
  std::chrono::milliseconds answer{25'000};     ///< of the bus, and of polkit
  std::chrono::milliseconds password{120'000};  ///< of polkit, while somebody types
};

class Authority {
 public:
  enum class Answer {
    kYes,
    kNo,
    kBusy,  ///< too many questions
  };

  explicit Authority(system::dbus::Connection& connection, AuthorityDeadlines deadlines = {});
  ~Authority();

  using Answered = std::function<void(Answer answer, const Caller& caller)>;

  /// Whether the user may be asked for a password.
  enum class Interaction { kNone, kAllowed };

  /// Asks without waiting; `answered` is called once, whatever fails. `sender` is a unique bus name; `action`
  /// "org.rdmaconfigd1.apply". A caller for whom `may_anyway` says so needs no permission.
  using MayAnyway = std::function<bool(const Caller& caller)>;
  void check(const std::string& sender, const std::string& action, Interaction interaction,
             const Answered& answered, MayAnyway may_anyway = nullptr);

  /// Asks the bus for the user of a client, without waiting, for the journal's line of a request that was
  /// refused already. `named` is called once: while too many such questions wait, or without an answer, with
  /// nobody's user id.
  using Named = std::function<void(const Caller& caller)>;
  void identify(const std::string& sender, const Named& named);

  /// Whether this client is root. Waits for the bus itself, so it is for requests that would be refused
  /// otherwise: however many others ask, root is heard. A connection that is not root's is asked about once.
  [[nodiscard]] bool is_root(const std::string& sender);

 private:
  void ask_polkit(const Caller& caller, const std::string& action, Interaction interaction,
                  const Answered& answered);

  AuthorityDeadlines deadlines_;
  std::unique_ptr<system::dbus::Peer> bus_, polkit_;
  /// Connections that are not root's; a name on the bus is never given twice.
  Known<std::string> others_{model::limits::kOthersKnown};
  // Apart: whom the bus names root needs no question, and does not wait behind passwords that others type.
  Quota<std::string> named_{model::limits::kQuestions, model::limits::kQuestionsOfUser};
  Quota<std::string> lookups_{model::limits::kQuestions, model::limits::kQuestionsOfUser};
  Quota<std::uint32_t> questions_{model::limits::kQuestions, model::limits::kQuestionsOfUser};
};

}  // namespace rdmacfg::daemon
