// SPDX-License-Identifier: Apache-2.0
// Sources: drivers/target/target_core_configfs.c, drivers/target/target_core_fabric_configfs.c,
// drivers/target/iscsi/iscsi_target_configfs.c, drivers/infiniband/ulp/srpt/ib_srpt.c.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "system/linux/files/configfs.hpp"
#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::Result;
using detail::SysfsDir;

constexpr std::string_view kFileio = "fileio_", kIblock = "iblock_";
constexpr const char* kLioGroup = "tpgt_1";
constexpr std::string_view kGroupPrefix = "tpgt_", kLunPrefix = "lun_";
constexpr const char* kLioFabrics[] = {"iscsi", "srpt"};
/// FD_MAX_DEV_NAME and SE_UDEV_PATH_LEN, beyond which the kernel takes the beginning of a path.
constexpr std::size_t kLioFileLongest = 255, kLioDeviceLongest = 511;
constexpr off_t kLioBlock = 512;
/// Names of our links; rtslib takes any.
constexpr const char* kDiskLink = "disk";
constexpr const char* kLunLink = "lun";

std::optional<int> number_after(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto number = base::parse_number(name.substr(prefix.size()));
  if (!number || *number > 0xffff) return std::nullopt;
  return static_cast<int>(*number);
}

/// The last `parts` parts of a path.
std::string tail_of(std::string_view path, int parts) {
  auto from = path.size();
  while (parts-- > 0 && from > 0) {
    from = path.rfind('/', from - 1);
    if (from == std::string_view::npos) return std::string(path);
  }
  return std::string(path.substr(std::min(from + 1, path.size())));
}

/// The target of the one link in a folder of configfs, as it is written there.
std::string linked_from(const SysfsDir& folder) {
  for (const auto& name : folder.list()) {
    if (auto to = folder.link(name); !to.empty()) return to;
  }
  return {};
}

class ConfigfsLio final : public Lio {
 public:
  ConfigfsLio(Units& units, Modules& modules, const std::filesystem::path& sysfs)
      : units_(units), modules_(modules), folder_(sysfs / "kernel/config/target") {}

  Result<std::optional<LioState>> observe() override {
    detail::FirstError first_error;
    const auto folder = SysfsDir::open(folder_, &first_error);
    if (!folder) return first_error.unless_any(std::optional<LioState>{});
    LioState state;
    if (const auto core = folder->sub("core")) read_backstores(*core, state);
    for (const auto* fabric : kLioFabrics) {
      const auto targets = folder->sub(fabric);
      if (!targets) continue;
      for (const auto& wwn : targets->list()) {
        const auto target = targets->sub(wwn);
        if (!target || !target->sub("fabric_statistics")) continue;  // "discovery_auth", and attributes
        state.targets.push_back(target_of({fabric, wwn}, *target));
      }
    }
    return first_error.unless_any(std::optional(std::move(state)));
  }

  Result<void> start(const std::string& fabric) override {
    if (auto done = detail::start_configfs(folder_, "target_core_mod", units_, modules_); !done) return done;
    const auto at = folder_ / fabric;
    if (::access(at.c_str(), F_OK) == 0) return {};
    if (auto done = modules_.load(fabric == "srpt" ? "ib_srpt" : "iscsi_target_mod"); !done) return done;
    return detail::make_folder(at, fmt::format("start LIO's {}", fabric));
  }

  Result<void> make_backstore(const LioBackstore& wanted) override {
    const auto what = fmt::format("offer {}", wanted.path);
    const auto at = core(wanted.id);
    const bool file = wanted.id.starts_with(kFileio);
    // The kernel splits `control` there, and would offer what the first part names.
    if (wanted.path.find_first_of(",\n") != std::string::npos)
      return fail(Code::kInvalid, what + ": LIO accepts no path with a comma");
    if (wanted.path.size() > (file ? kLioFileLongest : kLioDeviceLongest))
      return fail(Code::kInvalid, what + ": the path is longer than LIO accepts");
    std::string control = "udev_path=" + wanted.path;
    if (file) {
      struct stat status {};
      if (::stat(wanted.path.c_str(), &status) != 0) return base::fail_errno(errno, what);
      if (!S_ISREG(status.st_mode)) return fail(Code::kInvalid, what + ": not a regular file");
      if (status.st_size < kLioBlock)  // the kernel would subtract a block, and offer a disk without an end
        return fail(Code::kInvalid, what +
                                        ": the file is empty, and its size is the disk's: "
                                        "`truncate -s 10G` gives it one");
      control = fmt::format("fd_dev_name={},fd_dev_size={}", wanted.path, status.st_size);
    }
    if (file || wanted.id.starts_with(kIblock)) {
      if (auto done = detail::make_folder(at.parent_path(), what); !done) return done;
    }
    auto done = detail::make_folder(at, what);
    if (done) done = detail::write_attribute(at / "control", control, what);
    if (done) done = detail::write_attribute(at / "udev_path", wanted.path, what);
    if (done && !wanted.serial.empty())
      done = detail::write_attribute(at / "wwn/vpd_unit_serial", wanted.serial + "\n", what);
    if (done) done = enable_backstore(at, wanted.id, what);
    if (!done) (void)remove_backstore(wanted.id);
    if (!done && done.error().sys_errno == EBUSY)
      return fail(Code::kBusy, what + ": this host uses it (mounted, swap, LVM, RAID, or another target)");
    return done;
  }

  Result<void> remove_backstore(const std::string& id) override {
    const auto at = core(id);
    const auto what = fmt::format("remove the backstore {}", id);
    if (auto done = detail::remove_folder(at, what); !done) return done;
    (void)::rmdir(at.parent_path().c_str());  // others may be in it
    return {};
  }

  Result<void> make_target(const LioTargetId& target) override {
    const auto what = fmt::format("{}: make the target", target.wwn);
    if (!detail::is_path_part(target.wwn)) return fail(Code::kInvalid, what + ": not a valid name");
    if (auto done = detail::make_folder(at(target), what); !done) {
      if (target.fabric != "srpt" || done.error().sys_errno != EINVAL) return done;
      return fail(Code::kNotFound, what + ": this host has no port with that GID that accepts SRP");
    }
    const auto folder = group(target);
    detail::FirstError ignored;
    const auto there = SysfsDir::open(folder, &ignored);
    if (there && !is_fresh(*there)) return {};
    auto done = there ? Result<void>{} : detail::make_folder(folder, what);
    if (done && target.fabric == "iscsi") done = write(folder / "attrib/authentication", "0", what);
    if (!done && !there) (void)remove_target(target);
    return done;
  }

  Result<void> remove_group(const LioTargetId& target) override {
    return detail::remove_folder(group(target), fmt::format("{}: remove the portal group", target.wwn));
  }

  Result<void> remove_target(const LioTargetId& target) override {
    const auto what = fmt::format("{}: remove the target", target.wwn);
    if (auto done = detail::remove_folder(group(target), what); !done) return done;
    return detail::remove_folder(at(target), what);
  }

  Result<void> enable(const LioTargetId& target, bool enabled) override {
    return write(group(target) / "enable", enabled ? "1" : "0",
                 fmt::format("{}: {} it", target.wwn, enabled ? "enable" : "disable"));
  }

  Result<void> allow_any(const LioTargetId& target) override {
    const auto what = fmt::format("{}: let any initiator log in", target.wwn);
    for (const auto& [name, value] : {std::pair{"demo_mode_write_protect", "0"},
                                      {"cache_dynamic_acls", "1"},
                                      {"generate_node_acls", "1"}}) {
      if (auto done = write(group(target) / "attrib" / name, value, what); !done) return done;
    }
    return {};
  }

  Result<void> make_lun(const LioTargetId& target, const LioLun& lun) override {
    const auto what = fmt::format("{}: offer {} as LUN {}", target.wwn, lun.backstore, lun.number);
    const auto at = this->lun(target, lun.number);
    if (auto done = detail::make_folder(at, what); !done || lun.backstore.empty()) return done;
    auto done = detail::make_link(core(lun.backstore), at / kDiskLink, what);
    if (!done) (void)::rmdir(at.c_str());
    return done;
  }

  Result<void> remove_lun(const LioTargetId& target, int number) override {
    return remove_linked(lun(target, number), fmt::format("{}: remove LUN {}", target.wwn, number));
  }

  Result<void> make_acl(const LioTargetId& target, const std::string& initiator) override {
    const auto what = fmt::format("{}: let {} log in", target.wwn, initiator);
    if (!detail::is_path_part(initiator)) return fail(Code::kInvalid, what + ": not a valid name");
    return detail::make_folder(acl(target, initiator), what);
  }

  Result<void> remove_acl(const LioTargetId& target, const std::string& initiator) override {
    const auto at = acl(target, initiator);
    const auto what = fmt::format("{}: do not let {} log in", target.wwn, initiator);
    detail::FirstError ignored;
    const auto folder = SysfsDir::open(at, &ignored);
    // A run that ended in map() leaves a folder that leads nowhere.
    for (const auto& name : folder ? folder->list() : std::vector<std::string>{}) {
      if (!number_after(kLunPrefix, name)) continue;
      if (auto done = remove_linked(at / name, what); !done) return done;
    }
    return detail::remove_folder(at, what);
  }

  Result<void> map(const LioTargetId& target, const std::string& initiator,
                   const LioMapping& mapping) override {
    const auto what = fmt::format("{}: show LUN {} to {}", target.wwn, mapping.lun, initiator);
    const auto at = mapped(target, initiator, mapping.number);
    auto done = detail::make_folder(at, what);
    if (done) done = detail::make_link(lun(target, mapping.lun), at / kLunLink, what);
    if (done) done = write(at / "write_protect", mapping.read_only ? "1" : "0", what);
    return done;
  }

  Result<void> unmap(const LioTargetId& target, const std::string& initiator, int number) override {
    return remove_linked(mapped(target, initiator, number),
                         fmt::format("{}: hide LUN {} from {}", target.wwn, number, initiator));
  }

  Result<void> make_portal(const LioTargetId& target, const LioPortal& portal) override {
    const auto what =
        fmt::format("{}: listen on {}{}", target.wwn, portal.name, portal.iser ? " for iSER" : "");
    if (!detail::is_path_part(portal.name)) return fail(Code::kInvalid, what + ": not a valid address");
    const auto at = group(target) / "np" / portal.name;
    const bool there = ::access(at.c_str(), F_OK) == 0;
    if (auto done = detail::make_folder(at, what); !done) return done;
    auto done = write(at / "iser", portal.iser ? "1" : "0", what);
    if (!done && !there) (void)::rmdir(at.c_str());
    if (!done && done.error().sys_errno == ENODEV)
      return fail(Code::kNotFound, what + ": no RDMA device has this address");
    return done;
  }

  Result<void> remove_portal(const LioTargetId& target, const std::string& name) override {
    return detail::remove_folder(group(target) / "np" / name,
                                 fmt::format("{}: do not listen on {}", target.wwn, name));
  }

 private:
  [[nodiscard]] std::filesystem::path core(const std::string& id) const { return folder_ / "core" / id; }
  [[nodiscard]] std::filesystem::path at(const LioTargetId& target) const {
    return folder_ / target.fabric / target.wwn;
  }
  [[nodiscard]] std::filesystem::path group(const LioTargetId& target) const {
    return at(target) / kLioGroup;
  }
  [[nodiscard]] std::filesystem::path lun(const LioTargetId& target, int number) const {
    return group(target) / "lun" / fmt::format("{}{}", kLunPrefix, number);
  }
  [[nodiscard]] std::filesystem::path acl(const LioTargetId& target, const std::string& initiator) const {
    return group(target) / "acls" / initiator;
  }
  [[nodiscard]] std::filesystem::path mapped(const LioTargetId& target, const std::string& initiator,
                                             int number) const {
    return acl(target, initiator) / fmt::format("{}{}", kLunPrefix, number);
  }

  static void read_backstores(const SysfsDir& core, LioState& state) {
    for (const auto& hba : core.list()) {
      const auto folder = hba.find('_') == std::string::npos ? std::optional<SysfsDir>() : core.sub(hba);
      if (!folder) continue;
      for (const auto& name : folder->list()) {
        const auto backstore = folder->sub(name);
        if (!backstore || !backstore->sub("wwn")) continue;  // attributes of the HBA
        LioBackstore out{.id = hba + "/" + name,
                         .path = backstore->text("udev_path"),
                         .serial = {},
                         .enabled = backstore->text("enable") == "1"};
        const auto serial = backstore->text("wwn/vpd_unit_serial");
        out.serial = std::string(
            base::trim(serial.substr(serial.find(':') == std::string::npos ? 0 : serial.find(':') + 1)));
        state.backstores.push_back(std::move(out));
      }
    }
  }

  static LioTarget target_of(LioTargetId id, const SysfsDir& folder) {
    LioTarget out{.id = std::move(id), .groups = 0};
    for (const auto& name : folder.list()) out.groups += name.starts_with(kGroupPrefix) ? 1 : 0;
    const auto group = folder.sub(kLioGroup);
    if (!group) return out;
    out.enabled = group->text("enable") == "1";
    out.any_initiator = group->text("attrib/generate_node_acls") == "1";
    out.authentication = group->text("attrib/authentication") == "1" && !is_fresh(*group);
    out.write_protected = group->text("attrib/demo_mode_write_protect") == "1";
    if (const auto luns = group->sub("lun")) {
      for (const auto& name : luns->list()) {
        const auto number = number_after(kLunPrefix, name);
        const auto lun = luns->sub(name);
        if (number && lun) out.luns.push_back({*number, tail_of(linked_from(*lun), 2)});
      }
    }
    if (const auto acls = group->sub("acls")) {
      for (const auto& name : acls->list()) {
        if (const auto acl = acls->sub(name)) out.acls.push_back(acl_of(name, *acl));
      }
    }
    if (const auto portals = group->sub("np")) {
      for (const auto& name : portals->list()) {
        if (const auto portal = portals->sub(name))
          out.portals.push_back({name, portal->text("iser") == "1"});
      }
    }
    auto guests = group->text("dynamic_sessions");
    std::replace(guests.begin(), guests.end(), '\0', '\n');
    for (const auto line : base::split(guests, '\n')) {
      if (!base::trim(line).empty()) out.guests.emplace_back(base::trim(line));
    }
    std::sort(out.luns.begin(), out.luns.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return out;
  }

  /// With a name and secret of CHAP; the kernel takes "NULL" as none.
  static bool has_secret(const SysfsDir& folder) {
    const auto user = folder.text("auth/userid");
    return !user.empty() && user != "NULL";
  }

  /// As the kernel makes a group, which then asks for CHAP: a run may have ended before it was told not to.
  static bool is_fresh(const SysfsDir& group) {
    for (const auto* name : {"acls", "lun", "np"}) {
      const auto folder = group.sub(name);
      if (folder && !folder->list().empty()) return false;
    }
    return group.text("enable") != "1" && !has_secret(group);
  }

  static LioAcl acl_of(const std::string& initiator, const SysfsDir& folder) {
    LioAcl out{.initiator = initiator,
               .luns = {},
               .logged_in = folder.text("info").starts_with("InitiatorName"),
               .has_secret = has_secret(folder)};
    for (const auto& name : folder.list()) {
      const auto number = number_after(kLunPrefix, name);
      const auto entry = number ? folder.sub(name) : std::optional<SysfsDir>();
      if (!entry) continue;
      const auto lun = number_after(kLunPrefix, tail_of(linked_from(*entry), 1));
      if (lun) out.luns.push_back({*number, *lun, entry->text("write_protect") == "1"});
    }
    std::sort(out.luns.begin(), out.luns.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return out;
  }

  static Result<void> write(const std::filesystem::path& path, const std::string& value,
                            const std::string& what) {
    return detail::write_attribute(path, value + "\n", what);
  }

  static Result<void> remove_linked(const std::filesystem::path& folder, const std::string& what) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (!entry.is_symlink(error)) continue;
      if (auto done = detail::remove_link(entry.path(), what); !done) return done;
    }
    return detail::remove_folder(folder, what);
  }

  /// The kernel opens the device as the writer sees it, and the daemon sees no block devices and may not
  /// write files (PrivateDevices=, ProtectSystem=).
  Result<void> enable_backstore(const std::filesystem::path& at, const std::string& id,
                                const std::string& what) {
    auto done = write(at / "enable", "1", what);
    const int error = done ? 0 : done.error().sys_errno;
    if (error != ENOENT && error != EROFS && error != EACCES && error != EPERM) return done;
    const auto unit = fmt::format("rdma-configd-lio-backstore@{}.service", detail::unit_escaped(id));
    const auto asked = units_.act(UnitAction::kStart, unit);
    detail::FirstError ignored;
    const auto folder = SysfsDir::open(at, &ignored);
    if (asked && folder && folder->text("enable") == "1") return {};
    return fail(base::Error{
        done.error().code,
        fmt::format("{}: the device does not exist, or this host uses it; see `journalctl -u '{}'`", what,
                    unit),
        error});
  }

  Units& units_;
  Modules& modules_;
  std::filesystem::path folder_;
};

}  // namespace

std::unique_ptr<Lio> make_linux_lio(Units& units, Modules& modules, const std::filesystem::path& sysfs) {
  return std::make_unique<ConfigfsLio>(units, modules, sysfs);
}

}  // namespace rdmacfg::system
