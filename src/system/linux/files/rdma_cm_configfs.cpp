// SPDX-License-Identifier: Apache-2.0
// Source: drivers/infiniband/core/cma_configfs.c, Documentation/ABI/testing/configfs-rdma_cm.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using detail::FirstError;
using detail::SysfsDir;

constexpr const char* kModes = "default_roce_mode";
constexpr const char* kTos = "default_roce_tos";
constexpr auto kGroupMode = 0755;
constexpr auto kWaitForMount = std::chrono::milliseconds(2000);  // systemd mounts it when the module appears

class ConfigfsRdmaCm final : public RdmaCm {
 public:
  ConfigfsRdmaCm(Units& units, std::filesystem::path sysfs)
      : units_(units),
        sysfs_(std::move(sysfs)),
        config_(sysfs_ / "kernel/config"),
        folder_(config_ / "rdma_cm") {}

  Result<std::string> observe_instance() override {
    const auto path = sysfs_ / "module/rdma_cm";
    struct stat found {};
    // sysfs gives every entry a number of its own, also one that comes again under the same name.
    if (::stat(path.c_str(), &found) == 0) return std::to_string(found.st_ino);
    FirstError first_error;
    first_error.note(errno, path);
    return first_error.unless_any(std::string());
  }

  Result<std::vector<std::string>> observe_folders() override {
    FirstError first_error;
    std::vector<std::string> out;
    if (const auto folder = SysfsDir::open(folder_, &first_error)) out = folder->list();
    return first_error.unless_any(std::move(out));
  }

  Result<std::optional<RoceDefaults>> observe_defaults(const std::string& device, int port) override {
    std::optional<RoceDefaults> out;
    if (!usable(device)) return out;
    FirstError first_error;
    if (const auto folder = SysfsDir::open(folder_ / device / "ports" / std::to_string(port), &first_error)) {
      const auto mode = folder->read(kModes);
      const auto tos = folder->number(kTos);
      if (mode && tos) out = RoceDefaults{*mode, static_cast<int>(*tos)};
    }
    return first_error.unless_any(std::move(out));
  }

  Result<void> start() override {
    if (::access(folder_.c_str(), F_OK) == 0) return {};
    const auto instance = observe_instance();
    if (!instance) return fail(instance.error());
    if (instance->empty()) {
      if (auto loaded = make_linux_modules(sysfs_)->load("rdma_cm"); !loaded) return loaded;
    }
    // systemd mounts configfs by itself when its module appears.
    const auto end = std::chrono::steady_clock::now() + kWaitForMount;
    if (units_.act(UnitAction::kStart, "sys-kernel-config.mount")) {
      while (::access(folder_.c_str(), F_OK) != 0 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return ::access(folder_.c_str(), F_OK) == 0 ? Result<void>{} : mount();
  }

  Result<bool> make_folder(const std::string& device) override {
    const auto what = fmt::format("{}: create its folder in {}", device, folder_.string());
    if (!usable(device)) return fail(Code::kInvalid, what + ": not a valid device name");
    if (::mkdir((folder_ / device).c_str(), kGroupMode) != 0)
      return errno == EEXIST ? Result<bool>(false) : fail_errno(errno, what);
    ++made_;
    return true;
  }

  [[nodiscard]] std::size_t folders_made() const override { return made_; }

  Result<void> write_gid_type(const std::string& device, int port, const std::string& gid_type) override {
    return write(device, port, kModes, gid_type);
  }

  Result<void> write_tos(const std::string& device, int port, int tos) override {
    return write(device, port, kTos, std::to_string(tos));
  }

  Result<void> remove_folder(const std::string& device) override {
    if (!usable(device)) return {};
    if (::rmdir((folder_ / device).c_str()) == 0 || errno == ENOENT) return {};
    return fail_errno(errno, fmt::format("{}: remove its folder in {}", device, folder_.string()));
  }

 private:
  static bool usable(const std::string& name) {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
  }

  Result<void> mount() {
    if (::mount("configfs", config_.c_str(), "configfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0 &&
        errno != EBUSY) {
      return fail_errno(errno, fmt::format("mount configfs at {}", config_.string()));
    }
    if (::access(folder_.c_str(), F_OK) != 0)
      return fail(Code::kUnsupported,
                  fmt::format("{}: the kernel offers no RoCE defaults", folder_.string()));
    return {};
  }

  Result<void> write(const std::string& device, int port, const std::string& file, const std::string& value) {
    const auto what = fmt::format("{} port {}: write {} to {}", device, port, value, file);
    if (!usable(device)) return fail(Code::kInvalid, what + ": not a valid device name");
    const auto path = folder_ / device / "ports" / std::to_string(port) / file;
    const base::UniqueFd attribute(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!attribute) return fail_errno(errno, what);
    const auto line = value + "\n";
    if (::write(attribute.get(), line.data(), line.size()) < 0) return fail_errno(errno, what);
    return {};
  }

  Units& units_;
  std::filesystem::path sysfs_, config_, folder_;
  std::size_t made_ = 0;
};

}  // namespace

std::unique_ptr<RdmaCm> make_linux_rdma_cm(Units& units, std::filesystem::path sysfs) {
  return std::make_unique<ConfigfsRdmaCm>(units, std::move(sysfs));
}

}  // namespace rdmacfg::system
