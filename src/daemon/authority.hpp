// SPDX-License-Identifier: Apache-2.0
// Who may do what: root may, everybody else as polkit says. Whatever keeps polkit from answering means no.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace sdbus {
class IConnection;
class IProxy;
}  // namespace sdbus

namespace rdmacfg::daemon {

class Authority {
 public:
  static constexpr std::size_t kPending = 64;          ///< questions under way, in all
  static constexpr std::size_t kPendingPerSender = 4;  ///< and of one client

  enum class Answer {
    kYes,
    kNo,
    kBusy,  ///< too many questions
  };

  explicit Authority(sdbus::IConnection& connection);
  ~Authority();

  using Answered = std::function<void(Answer answer, std::uint32_t uid)>;

  /// Asks without waiting. `sender` is a unique bus name; `action` "org.rdmaconfigd1.apply"; `interactive`:
  /// the user may be asked for a password.
  void check(const std::string& sender, const std::string& action, bool interactive, Answered answered);

 private:
  void ask_polkit(const std::string& sender, std::uint32_t uid, const std::string& action, bool interactive,
                  const std::shared_ptr<Answered>& answered);

  std::unique_ptr<sdbus::IProxy> bus_, polkit_;
  std::size_t pending_ = 0;
  std::map<std::string, std::size_t> pending_of_;
};

}  // namespace rdmacfg::daemon
