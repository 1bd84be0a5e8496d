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
#include "system/linux/files/sysfs_dir.hpp"
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
        systemd_.run_job("ReloadUnit", "systemd-udevd.service", "asking systemd-udevd to reload its rules");
    // One that is not active, or cannot be told, looks at its folders by itself.
    if (!end && end.error().code != base::Code::kNotFound) return base::fail(end.error());
    return {};
  }

  base::Result<void> trigger(std::span<const std::string> interfaces) override {
    for (const auto& name : interfaces) {
      if (auto done = change("/sys/class/net/" + name, name); !done) return done;
    }
    return {};
  }

  base::Result<void> trigger_rdma_device(const std::string& device) override {
    for (const std::string type : {"infiniband_mad", "infiniband_verbs"}) {
      const auto path = "/sys/class/" + type;
      const auto folder = detail::SysfsDir::open(path);
      if (!folder) continue;  // ib_umad or ib_uverbs is not loaded
      for (const auto& name : folder->list()) {
        const auto entry = folder->sub(name);
        if (!entry || entry->text("ibdev") != device) continue;
        if (auto done = change(path + "/" + name, name); !done) return done;
      }
    }
    return {};
  }

 private:
  /// A device that is not there is skipped.
  static base::Result<void> change(const std::string& folder, const std::string& name) {
    const base::UniqueFd file(::open((folder + "/uevent").c_str(), O_WRONLY | O_CLOEXEC));
    constexpr std::string_view kChange = "change";
    if (file.get() < 0 && errno == ENOENT) return {};
    if (file.get() < 0 || ::write(file.get(), kChange.data(), kChange.size()) < 0)
      return base::fail_errno(errno, name + ": triggering udev for it again");
    return {};
  }

  detail::Systemd systemd_;
};

}  // namespace

std::unique_ptr<Udev> make_linux_udev(BusLimits limits) {
  return std::make_unique<SystemdUdev>(std::move(limits));
}

}  // namespace rdmacfg::system
