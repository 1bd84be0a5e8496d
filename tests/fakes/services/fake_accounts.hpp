// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "fakes/faults.hpp"
#include "fakes/memory_files.hpp"
#include "system/accounts.hpp"

namespace rdmacfg::fakes {

/// Users and groups. A group is never taken away again.
class FakeAccounts final : public system::Accounts {
 public:
  FakeAccounts(Faults& faults, MemoryFiles& files) : faults_(faults), files_(files) {}

  std::set<std::string> users{"root"};
  std::set<std::string> groups{"root"};
  std::vector<std::string> logged_in_from;
  int group_error = 0;  ///< of who is asked for groups

  bool has_user(const std::string& name) override { return users.contains(name); }
  base::Result<bool> has_group(const std::string& name) override {
    if (group_error != 0) return base::fail_errno(group_error, "asking for the group " + name);
    return groups.contains(name);
  }

  std::vector<std::string> login_hosts() override { return logged_in_from; }

  base::Result<void> make_declared(const std::string& sysusers_file) override {
    const int err = faults_.call("systemd-sysusers " + sysusers_file, [&] {
      const auto file = files_.content.find(sysusers_file);
      if (file == files_.content.end()) return ENOENT;
      for (const auto line : base::split(file->second, '\n')) {
        const auto words = base::split(line, ' ');
        if (words.size() == 3 && words[0] == "g") groups.emplace(words[1]);
      }
      return 0;
    });
    if (err != 0) return base::fail_errno(err, "systemd-sysusers");
    return {};
  }

 private:
  Faults& faults_;
  MemoryFiles& files_;
};

}  // namespace rdmacfg::fakes
