// SPDX-License-Identifier: Apache-2.0
// A message bus of a test's own.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/unique_fd.hpp"
#include "unit/system/temp_tree.hpp"
#include "unit/wait_until.hpp"

extern char** environ;

namespace rdmacfg::daemon {

/// A message bus that lets everybody do everything: dbus-daemon, or with RDMACFG_TEST_BUS=dbus-broker that.
class PrivateBus {
 public:
  explicit PrivateBus(system::TempTree& tree) : tree_(tree) {
    // Users other than the test's connect, too.
    std::filesystem::permissions(tree_.path(), std::filesystem::perms(0755));
    tree_.put("/bus.conf",
              "<busconfig><type>custom</type><listen>" + address() +
                  "</listen><policy context=\"default\"><allow user=\"*\"/><allow own=\"*\"/>"
                  "<allow send_destination=\"*\"/><allow receive_sender=\"*\"/></policy></busconfig>");
    // The socket of a bus that was here before would be taken for this one's.
    std::error_code none;
    std::filesystem::remove(tree_.at("/socket"), none);
    const char* other = ::getenv("RDMACFG_TEST_BUS");
    const bool broker = other != nullptr && std::string_view(other) == "dbus-broker";
    std::string program = broker ? SOURCE_ROOT "/tests/unit/daemon/dbus-broker" : "dbus-daemon";
    std::string first = broker ? tree_.path().native() : "--config-file=" + tree_.at("/bus.conf").native();
    std::string nofork = "--nofork";
    std::array<char*, 4> argv{program.data(), first.data(), broker ? nullptr : nofork.data(), nullptr};
    if (::posix_spawnp(&pid_, program.c_str(), nullptr, nullptr, argv.data(), environ) != 0) pid_ = -1;
    (void)unit::wait_until([this] { return listens() || has_ended(); });
  }
  PrivateBus(const PrivateBus&) = delete;
  PrivateBus& operator=(const PrivateBus&) = delete;
  ~PrivateBus() { stop(); }
  void stop() {
    if (pid_ <= 0) return;
    (void)::kill(pid_, SIGKILL);
    (void)::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  /// A bus that is there and does not answer, until it is let go on.
  void freeze(bool frozen) const { (void)::kill(pid_, frozen ? SIGSTOP : SIGCONT); }
  [[nodiscard]] std::string address() const { return "unix:path=" + tree_.at("/socket").native(); }
  [[nodiscard]] bool there() const { return pid_ > 0 && listens(); }

 private:
  /// It could not be started, or has come to its end: it is not waited for.
  [[nodiscard]] bool has_ended() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ <= 0;
  }
  /// The socket is there before somebody listens on it, and before users other than root may connect.
  [[nodiscard]] bool listens() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = tree_.at("/socket").native();
    struct stat state {};
    constexpr mode_t kEverybody = 0222;
    if (::stat(path.c_str(), &state) != 0 || (state.st_mode & kEverybody) != kEverybody) return false;
    if (path.size() >= sizeof address.sun_path) return false;
    path.copy(address.sun_path, path.size());
    const base::UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  system::TempTree& tree_;
  int pid_ = -1;
};

}  // namespace rdmacfg::daemon
