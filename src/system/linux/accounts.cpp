// SPDX-License-Identifier: Apache-2.0
#include "system/accounts.hpp"

#include <grp.h>
#include <pwd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <vector>

#include "system/linux/command.hpp"
#include "system/linux/dbus/systemd.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20U;  // bytes; a group may have thousands of members
constexpr const char* kSysusersUnit = "rdma-configd-sysusers.service";

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

  base::Result<void> make_declared(const std::string& sysusers_file) override {
    // The daemon may not give files to the group of /etc/gshadow, so a unit of ours does this; for
    // rdma-configctl, too.
    const std::string what = "making the groups of " + sysusers_file;
    if (sysusers_file == kSysusersFile) {
      const auto ended = systemd_.run_job("StartUnit", kSysusersUnit, what);
      if (!ended && ended.error().code != base::Code::kNotFound) return base::fail(ended.error());
      if (ended && *ended == detail::JobEnd::kDone) return {};
      if (ended && *ended)
        return base::fail(base::Code::kBusy,
                          what + ": systemd has put it behind other jobs and not run it yet");
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
