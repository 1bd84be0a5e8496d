// SPDX-License-Identifier: Apache-2.0
#include "system/accounts.hpp"

#include <grp.h>
#include <pwd.h>
#include <systemd/sd-login.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "system/linux/command.hpp"
#include "system/linux/dbus/systemd.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20U;  // bytes; a group may have thousands of members
constexpr const char* kSysusersUnit = "rdma-configd-sysusers.service";

struct Free {
  void operator()(void* memory) const { ::free(memory); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

/// A property of a session by sd-login(3); empty when it has none.
std::string word_of(int (*get)(const char* session, char** word), const char* session) {
  char* word = nullptr;
  const int result = get(session, &word);
  const Owned<char> owned(word);
  return result < 0 || word == nullptr ? std::string() : std::string(word);
}

class LinuxAccounts final : public Accounts {
 public:
  bool has_user(const std::string& name) override {
    std::vector<char> buffer(kBuffer);
    passwd entry{};
    passwd* found = nullptr;
    return ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
  }

  base::Result<bool> has_group(const std::string& name) override {
    std::vector<char> buffer(kBuffer);
    group entry{};
    group* found = nullptr;
    const int err = ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (err == ERANGE || found != nullptr) return true;
    // getgrnam(3): the errno that a service leaves behind which lacks the name, or is missing.
    for (const int absent : {0, ENOENT, ESRCH, ECONNREFUSED}) {
      if (err == absent) return false;
    }
    return base::fail_errno(err, "asking for the group " + name);
  }

  std::vector<std::string> login_hosts() override {
    char** sessions = nullptr;
    const int count = ::sd_get_sessions(&sessions);
    const Owned<char*> list(sessions);
    std::vector<std::string> out;
    for (int i = 0; i < count; ++i) {
      const Owned<char> session(list.get()[i]);
      if (word_of(::sd_session_get_state, session.get()) == "closing") continue;
      auto host = word_of(::sd_session_get_remote_host, session.get());
      if (!host.empty()) out.push_back(std::move(host));
    }
    return out;
  }

  base::Result<void> make_declared(const std::string& sysusers_file) override {
    // The daemon may not give files to the group of /etc/gshadow, so a unit of ours does this; for
    // rdma-configctl, too.
    const std::string what = "creating the groups of " + sysusers_file;
    if (sysusers_file == kSysusersFile) {
      const auto ended = systemd_.run_job("StartUnit", kSysusersUnit, what);
      if (!ended && ended.error().code != base::Code::kNotFound) return base::fail(ended.error());
      if (ended && *ended == detail::JobEnd::kDone) return {};
      if (ended && *ended)
        return base::fail(base::Code::kBusy, what + ": systemd has queued it behind other jobs");
    }
    // No systemd, as in a chroot, or none that has the unit.
    const std::array<std::string, 2> words{"/usr/bin/systemd-sysusers", sysusers_file};
    return detail::run_command(words, std::chrono::seconds(30));
  }

 private:
  detail::Systemd systemd_;
};

}  // namespace

std::unique_ptr<Accounts> make_linux_accounts() { return std::make_unique<LinuxAccounts>(); }

}  // namespace rdmacfg::system
