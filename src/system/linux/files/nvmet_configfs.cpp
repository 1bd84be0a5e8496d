// SPDX-License-Identifier: Apache-2.0
// Source: drivers/nvme/target/configfs.c.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "system/linux/files/configfs.hpp"
#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using detail::SysfsDir;

constexpr auto kNvmetPortMode = 0755;

class ConfigfsNvmeTarget final : public NvmeTarget {
 public:
  ConfigfsNvmeTarget(Units& units, Modules& modules, const std::filesystem::path& sysfs)
      : units_(units), modules_(modules), folder_(sysfs / "kernel/config/nvmet") {}

  Result<std::optional<NvmeTargetState>> observe() override {
    detail::FirstError first_error;
    const auto folder = SysfsDir::open(folder_, &first_error);
    if (!folder) return first_error.unless_any(std::optional<NvmeTargetState>{});
    NvmeTargetState state;
    if (const auto subsystems = folder->sub("subsystems")) {
      for (const auto& nqn : subsystems->list()) {
        if (const auto subsystem = subsystems->sub(nqn))
          state.subsystems.push_back(subsystem_of(nqn, *subsystem));
      }
    }
    if (const auto ports = folder->sub("ports")) {
      for (const auto& id : ports->list()) {
        const auto number = base::parse_number(id);
        const auto port = ports->sub(id);
        if (number && *number <= 0xffff && port)
          state.ports.push_back(port_of(static_cast<int>(*number), *port));
      }
    }
    std::sort(state.ports.begin(), state.ports.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
    return first_error.unless_any(std::optional(std::move(state)));
  }

  Result<void> start() override { return detail::start_configfs(folder_, "nvmet", units_, modules_); }

  Result<void> make_subsystem(const std::string& nqn) override {
    return make("subsystems", nqn, fmt::format("{}: make the subsystem", nqn));
  }
  Result<void> remove_subsystem(const std::string& nqn) override {
    return detail::remove_folder(subsystem(nqn), fmt::format("{}: remove the subsystem", nqn));
  }

  Result<void> set_any_host(const std::string& nqn, bool any) override {
    return write(subsystem(nqn) / "attr_allow_any_host", any ? "1" : "0",
                 fmt::format("{}: let {} connect", nqn, any ? "any host" : "named hosts only"));
  }

  Result<void> allow_host(const std::string& nqn, const std::string& host) override {
    const auto what = fmt::format("{}: let {} connect", nqn, host);
    const bool known = ::access((folder_ / "hosts" / host).c_str(), F_OK) == 0;
    if (auto made = make("hosts", host, what); !made) return made;
    auto done = detail::make_link(folder_ / "hosts" / host, subsystem(nqn) / "allowed_hosts" / host, what);
    if (!done && !known) forget_host(host);
    return done;
  }

  Result<void> disallow_host(const std::string& nqn, const std::string& host) override {
    const auto what = fmt::format("{}: do not let {} connect", nqn, host);
    if (auto done = detail::remove_link(subsystem(nqn) / "allowed_hosts" / host, what); !done) return done;
    forget_host(host);
    return {};
  }

  Result<void> make_namespace(const std::string& nqn, const NvmeNamespace& wanted) override {
    const auto what = fmt::format("{}: offer {} as namespace {}", nqn, wanted.device, wanted.nsid);
    const auto at = subsystem(nqn) / "namespaces" / std::to_string(wanted.nsid);
    auto done = detail::make_folder(at, what);
    if (!done) return done;
    if (!wanted.device.empty()) done = write(at / "device_path", wanted.device, what);
    if (done && !wanted.uuid.empty()) done = write(at / "device_uuid", wanted.uuid, what);
    if (done && wanted.enabled) done = claim(wanted.device, what);
    if (done && wanted.enabled) done = enable(at, nqn, wanted.nsid, what);
    if (!done) (void)::rmdir(at.c_str());
    return done;
  }

  Result<void> remove_namespace(const std::string& nqn, int nsid) override {
    return detail::remove_folder(subsystem(nqn) / "namespaces" / std::to_string(nsid),
                                 fmt::format("{}: remove namespace {}", nqn, nsid));
  }

  Result<void> make_port(const NvmePort& port) override {
    const auto what = fmt::format("create the NVMe port {} {}", port.address, port.service);
    const auto at = folder_ / "ports" / std::to_string(port.id);
    if (::mkdir(at.c_str(), kNvmetPortMode) != 0) return fail_errno(errno, what);
    for (const auto& [file, value] : {std::pair{"addr_trtype", port.transport},
                                      {"addr_adrfam", port.family},
                                      {"addr_traddr", port.address},
                                      {"addr_trsvcid", port.service}}) {
      if (auto done = write(at / file, value, what); !done) {
        (void)::rmdir(at.c_str());
        return done;
      }
    }
    return {};
  }

  Result<void> remove_port(int id) override {
    return detail::remove_folder(folder_ / "ports" / std::to_string(id),
                                 fmt::format("remove the NVMe port {}", id));
  }

  Result<void> offer(int port, const std::string& nqn) override {
    return detail::make_link(subsystem(nqn), port_folder(port) / "subsystems" / nqn,
                             fmt::format("{}: offer it on port {}", nqn, port));
  }

  Result<void> withdraw(int port, const std::string& nqn) override {
    return detail::remove_link(port_folder(port) / "subsystems" / nqn,
                               fmt::format("{}: withdraw it from port {}", nqn, port));
  }

 private:
  /// The kernel's object of a host goes with the last subsystem that names it (else: EBUSY), unless it has
  /// keys (DH-HMAC-CHAP), which nobody could give back.
  void forget_host(const std::string& host) const {
    const auto at = folder_ / "hosts" / host;
    detail::FirstError ignored;
    const auto folder = SysfsDir::open(at, &ignored);
    if (!folder || !folder->text("dhchap_key").empty() || !folder->text("dhchap_ctrl_key").empty()) return;
    (void)::rmdir(at.c_str());
  }

  /// nvmet opens a device beside others that use it: a file system, swap, LVM, RAID, a partition of it. As
  /// mkfs does, this asks for it alone. A device that cannot be opened here is left to the kernel.
  static Result<void> claim(const std::string& device, const std::string& what) {
    struct stat status {};
    if (::stat(device.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) return {};
    const base::UniqueFd alone(::open(device.c_str(), O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC));
    if (alone || errno != EBUSY) return {};
    return fail(Code::kBusy, fmt::format("{}: this host uses it (mounted, swap, LVM, RAID, or a partition of "
                                         "it is)",
                                         what));
  }

  [[nodiscard]] std::filesystem::path subsystem(const std::string& nqn) const {
    return folder_ / "subsystems" / nqn;
  }
  [[nodiscard]] std::filesystem::path port_folder(int id) const {
    return folder_ / "ports" / std::to_string(id);
  }

  static NvmeSubsystem subsystem_of(const std::string& nqn, const SysfsDir& folder) {
    NvmeSubsystem out{
        .nqn = nqn, .any_host = folder.text("attr_allow_any_host") == "1", .hosts = {}, .namespaces = {}};
    if (const auto hosts = folder.sub("allowed_hosts")) out.hosts = hosts->list();
    if (const auto namespaces = folder.sub("namespaces")) {
      for (const auto& id : namespaces->list()) {
        const auto nsid = base::parse_number(id);
        const auto nvme_namespace = namespaces->sub(id);
        if (!nsid || *nsid > 0x7fffffff || !nvme_namespace) continue;
        out.namespaces.push_back({static_cast<int>(*nsid), nvme_namespace->text("device_path"),
                                  nvme_namespace->text("device_uuid"),
                                  nvme_namespace->text("enable") == "1"});
      }
    }
    std::sort(out.namespaces.begin(), out.namespaces.end(),
              [](const auto& a, const auto& b) { return a.nsid < b.nsid; });
    return out;
  }

  static NvmePort port_of(int id, const SysfsDir& folder) {
    NvmePort out{.id = id,
                 .transport = folder.text("addr_trtype"),
                 .family = folder.text("addr_adrfam"),
                 .address = folder.text("addr_traddr"),
                 .service = folder.text("addr_trsvcid"),
                 .subsystems = {}};
    if (const auto subsystems = folder.sub("subsystems")) out.subsystems = subsystems->list();
    return out;
  }

  Result<void> make(const char* kind, const std::string& name, const std::string& what) {
    if (!detail::is_path_part(name)) return fail(Code::kInvalid, what + ": not a valid NQN");
    return detail::make_folder(folder_ / kind / name, what);
  }

  static Result<void> write(const std::filesystem::path& path, const std::string& value,
                            const std::string& what) {
    return detail::write_attribute(path, value + "\n", what);
  }

  /// The kernel opens the device as the writer sees it, and the daemon sees no block devices and may not
  /// write files (PrivateDevices=, ProtectSystem=).
  Result<void> enable(const std::filesystem::path& at, const std::string& nqn, int nsid,
                      const std::string& what) {
    auto done = write(at / "enable", "1", what);
    const int error = done ? 0 : done.error().sys_errno;
    if (error != ENOENT && error != EROFS && error != EACCES) return done;
    const auto unit = fmt::format("rdma-configd-nvme-namespace@{}.service",
                                  detail::unit_escaped(fmt::format("{}/namespaces/{}", nqn, nsid)));
    constexpr std::size_t kUnitNameLongest = 255;
    if (unit.size() > kUnitNameLongest) return done;
    const auto asked = units_.act(UnitAction::kStart, unit);
    detail::FirstError ignored;
    const auto folder = SysfsDir::open(at, &ignored);
    return asked && folder && folder->text("enable") == "1" ? Result<void>{} : done;
  }

  Units& units_;
  Modules& modules_;
  std::filesystem::path folder_;
};

}  // namespace

std::unique_ptr<NvmeTarget> make_linux_nvme_target(Units& units, Modules& modules,
                                                   const std::filesystem::path& sysfs) {
  return std::make_unique<ConfigfsNvmeTarget>(units, modules, sysfs);
}

}  // namespace rdmacfg::system
