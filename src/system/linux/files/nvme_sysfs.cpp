// SPDX-License-Identifier: Apache-2.0
// Sources: drivers/nvme/host/sysfs.c, multipath.c.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "system/linux/files/disk_uses.hpp"
#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::fail;
using base::fail_errno;
using base::Result;
using detail::SysfsDir;

constexpr std::string_view kNvmePrefix = "nvme";

/// "nvme12"
bool is_controller_name(std::string_view name) {
  return name.starts_with(kNvmePrefix) && base::parse_number(name.substr(kNvmePrefix.size())).has_value();
}

/// The disk that a controller's entry "nvme0n1" or "nvme0c1n1" (a path of nvme0n1) stands for; empty for
/// another one.
std::string disk_of(const std::string& entry, bool& is_path) {
  if (!entry.starts_with(kNvmePrefix)) return {};
  const auto space = entry.rfind('n');
  if (space < kNvmePrefix.size() || !base::parse_number(entry.substr(space + 1))) return {};
  const auto head = entry.substr(kNvmePrefix.size(), space - kNvmePrefix.size());
  const auto path = head.find('c');
  is_path = path != std::string::npos;
  if (!base::parse_number(head.substr(0, path))) return {};
  return fmt::format("nvme{}{}", head.substr(0, path), entry.substr(space));
}

class SysfsNvmeHost final : public NvmeHost {
 public:
  SysfsNvmeHost(std::filesystem::path sysfs, std::filesystem::path proc)
      : sysfs_(std::move(sysfs)), proc_(std::move(proc)) {}

  Result<std::vector<NvmeController>> observe() override {
    std::vector<NvmeController> out;
    detail::FirstError first_error;
    const auto all = SysfsDir::open(sysfs_ / "class/nvme", &first_error);
    if (!all) return first_error.unless_any(std::move(out));
    for (const auto& name : all->list()) {
      const auto folder = all->sub(name);
      if (!folder) continue;
      NvmeController controller{.name = name,
                                .subsystem = folder->text("subsysnqn"),
                                .transport = folder->text("transport"),
                                .address = {},
                                .service = {},
                                .state = folder->text("state")};
      if (controller.transport.empty() || controller.transport == "pcie") continue;
      const auto address = folder->text("address");
      for (const auto part : base::split(address, ',')) {
        const auto equals = std::min(part.find('='), part.size());
        const auto key = part.substr(0, equals), value = part.substr(std::min(equals + 1, part.size()));
        if (key == "traddr") controller.address = value;
        if (key == "trsvcid") controller.service = value;
      }
      out.push_back(std::move(controller));
    }
    return first_error.unless_any(std::move(out));
  }

  Result<std::vector<DiskUse>> uses(const std::vector<std::string>& names) override {
    detail::FirstError first_error;
    std::set<std::string> disks;
    for (const auto& name : names) {
      const auto folder = SysfsDir::open(sysfs_ / "class/nvme" / name, &first_error);
      if (!folder) continue;
      for (const auto& entry : folder->list()) {
        bool is_path = false;
        const auto disk = disk_of(entry, is_path);
        if (!disk.empty() && !(is_path && has_other_path(name, names))) disks.insert(disk);
      }
    }
    return first_error.unless_any(detail::uses_of(disks, sysfs_, proc_));
  }

  Result<void> disconnect(const std::string& name) override {
    const auto what = fmt::format("{}: disconnect", name);
    const auto at = sysfs_ / "class/nvme" / name / "delete_controller";
    const base::UniqueFd file(::open(at.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return errno == ENOENT ? Result<void>{} : fail_errno(errno, what);
    const bool gone = ::write(file.get(), "1", 1) < 0 && errno == ENODEV;
    if (gone || ::access(at.c_str(), F_OK) != 0) return {};
    return fail(base::Code::kIo, what + ": the controller still exists");
  }

 private:
  /// Whether a controller that is not `going` leads to the same subsystem, so that its disks stay.
  [[nodiscard]] bool has_other_path(const std::string& name, const std::vector<std::string>& going) const {
    detail::FirstError ignored;
    const auto all = SysfsDir::open(sysfs_ / "class/nvme-subsystem", &ignored);
    if (!all) return false;
    for (const auto& id : all->list()) {
      const auto subsystem = all->sub(id);
      if (!subsystem) continue;
      const auto entries = subsystem->list();
      if (std::find(entries.begin(), entries.end(), name) == entries.end()) continue;
      return std::any_of(entries.begin(), entries.end(), [&](const std::string& other) {
        const bool stays = std::find(going.begin(), going.end(), other) == going.end();
        const auto controller = stays && is_controller_name(other) ? subsystem->sub(other) : std::nullopt;
        return controller && controller->text("state") == "live";
      });
    }
    return false;
  }

  std::filesystem::path sysfs_, proc_;
};

}  // namespace

std::unique_ptr<NvmeHost> make_linux_nvme_host(const std::filesystem::path& sysfs,
                                               const std::filesystem::path& proc) {
  return std::make_unique<SysfsNvmeHost>(sysfs, proc);
}

}  // namespace rdmacfg::system
