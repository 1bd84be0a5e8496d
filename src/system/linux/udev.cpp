// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "base/unique_fd.hpp"
#include "system/linux/dbus/systemd.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

class SystemdUdev final : public Udev {
 public:
  explicit SystemdUdev(BusLimits limits) : systemd_(std::move(limits)) {
    // Reloading takes 20 ms on an idle host, and two seconds on one that is busy booting.
    systemd_.set_timeout(std::chrono::seconds(10));
  }

  base::Result<void> reload_rules() override {
    const auto end =
        systemd_.run_job("ReloadUnit", "systemd-udevd.service", "having systemd-udevd read its rules again");
    // One that is not active, or cannot be told, looks at its folders by itself.
    if (!end && end.error().code != base::Code::kNotFound) return base::fail(end.error());
    return {};
  }

  base::Result<void> trigger(std::span<const std::string> interfaces) override {
    for (const auto& name : interfaces) {
      const auto path = "/sys/class/net/" + name + "/uevent";
      const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
      constexpr std::string_view kChange = "change";
      if (file.get() < 0 && errno == ENOENT) continue;
      if (file.get() < 0 || ::write(file.get(), kChange.data(), kChange.size()) < 0)
        return base::fail_errno(errno, name + ": telling udev to look at it again");
    }
    return {};
  }

 private:
  detail::Systemd systemd_;
};

}  // namespace

std::unique_ptr<Udev> make_linux_udev(BusLimits limits) {
  return std::make_unique<SystemdUdev>(std::move(limits));
}

}  // namespace rdmacfg::system
