// SPDX-License-Identifier: Apache-2.0
// Kernel modules over libkmod and /sys/module. Sources: libkmod.h, systemd's modprobe@.service.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <syslog.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "system/linux/dbus/systemd.hpp"
#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/kmod.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;

using detail::Kmod;
using detail::KmodContext;
using detail::KmodModule;

constexpr const char* kIndex = "modules.dep.bin";

std::string underscored(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

/// Parameters as modinfo has them: "parm=pfctx:text", "parmtype=pfctx:uint".
std::vector<std::string> parameters_of(const Kmod& kmod, kmod_module* module) {
  std::vector<std::string> out;
  kmod_list* raw = nullptr;
  if (kmod.module_get_info(module, &raw) < 0) return out;
  const std::unique_ptr<kmod_list, void (*)(kmod_list*)> list(raw, kmod.module_info_free_list);
  for (const kmod_list* at = raw; at != nullptr; at = kmod.list_next(raw, at)) {
    const std::string_view key = kmod.module_info_get_key(at);
    if (key != "parm" && key != "parmtype") continue;
    const std::string_view value = kmod.module_info_get_value(at);
    out.push_back(underscored(value.substr(0, value.find(':'))));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Where the daemon sees /lib/modules, which its unit hides (units/rdma-configd.service).
constexpr const char* kBoundTree = "/run/rdma-configd-modules";

/// The running kernel's module tree.
std::filesystem::path tree_of_kernel() {
  utsname name{};
  if (::uname(&name) != 0) return {};
  const auto tree = std::filesystem::path("/lib/modules") / name.release;
  const auto bound = std::filesystem::path(kBoundTree) / name.release;
  std::error_code hidden;
  const auto readable = [&](const auto& path) { return std::filesystem::exists(path / kIndex, hidden); };
  return !readable(tree) && readable(bound) ? bound : tree;
}

class LinuxModules final : public Modules {
 public:
  explicit LinuxModules(std::filesystem::path sysfs) : sysfs_(std::move(sysfs)), tree_(tree_of_kernel()) {}

  Result<std::vector<std::string>> observe_loaded() override {
    detail::FirstError first_error;
    std::vector<std::string> out;  // none without CONFIG_MODULES
    if (const auto folder = detail::SysfsDir::open(sysfs_ / "module", &first_error)) out = folder->list();
    return first_error.unless_any(std::move(out));
  }

  std::optional<std::string> parameter(const std::string& module, const std::string& name) override {
    const auto folder = detail::SysfsDir::open(sysfs_ / "module" / module / "parameters");
    return folder ? folder->read(name) : std::nullopt;
  }

  bool hidden(const std::string& module, const std::string& name) override {
    struct stat status {};
    const auto path = sysfs_ / "module" / module / "parameters" / name;
    return ::lstat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) == 0;
  }

  bool loaded_after(const std::string& module, const std::string& path) override {
    // The folder is as old as its inode, which may be re-created later than the module, but never earlier.
    struct stat folder {
    }, file{};
    if (::stat((sysfs_ / "module" / module).c_str(), &folder) != 0 || ::stat(path.c_str(), &file) != 0)
      return false;
    const auto order = [](const struct stat& status) {
      return std::pair(status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    };
    return order(file) < order(folder);
  }

  bool has_tree() override {
    std::error_code hidden;  // of a folder that may not be looked into
    return std::filesystem::exists(tree_ / kIndex, hidden);
  }

  Result<std::optional<ModuleInfo>> info(const std::string& name) override {
    if (auto done = open(); !done) return fail(done.error());
    auto module = find(name);
    if (!module) return fail(module.error());
    const int state = kmod_->module_get_initstate(module->get());
    ModuleInfo out;
    out.builtin = state == KMOD_MODULE_BUILTIN;
    if (!out.builtin && kmod_->module_get_path(module->get()) == nullptr) return std::optional<ModuleInfo>();
    out.parameters = parameters_of(*kmod_, module->get());
    return std::optional(std::move(out));
  }

  std::vector<std::string> known() override {
    std::vector<std::string> out;
    for (const auto* file : {"modules.dep", "modules.builtin"}) {
      std::ifstream in(tree_ / file);
      for (std::string line; std::getline(in, line);) {
        const auto path = line.substr(0, line.find(':'));
        const auto start = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
        out.push_back(underscored(path.substr(start, path.find(".ko", start) - start)));
      }
    }
    return out;
  }

  Result<void> load(const std::string& name) override {
    const auto what = fmt::format("loading the module {}", name);
    // systemd's own unit loads it where this process may not. It ends well whether it could or not, so a
    // module that is still not there is asked for directly, which gives the reason.
    const auto ended = systemd_.run_job("StartUnit", fmt::format("modprobe@{}.service", name), what);
    if (ended && *ended && detail::SysfsDir::open(sysfs_ / "module" / name)) return {};
    if (auto done = open(); !done) return fail(done.error());
    auto module = find(name);
    if (!module) return fail(module.error());
    // As modprobe -b does: a blacklisted module is refused, and said to be.
    const int status = kmod_->module_probe_insert_module(module->get(), KMOD_PROBE_APPLY_BLACKLIST, nullptr,
                                                         nullptr, nullptr, nullptr);
    if (status == 0 || status == -EEXIST) return {};
    if (status > 0) return fail(Code::kRefused, what + ": blacklisted in modprobe.d");
    return fail_errno(-status, what);
  }

  Result<void> unload(const std::string& name) override {
    if (auto done = open(); !done) return done;
    auto module = find(name);
    if (!module) return fail(module.error());
    const int status = kmod_->module_remove_module(module->get(), KMOD_REMOVE_NOLOG);
    if (status == 0 || status == -ENOENT) return {};
    const auto what = fmt::format("unloading the module {}", name);
    if (status == -EPERM) {
      // Nor may the daemon, whose unit keeps CAP_SYS_MODULE from it.
      const auto ended = systemd_.run_job(
          "StartUnit", fmt::format("rdma-configd-unload@{}.service", underscored(name)), what);
      if (ended && *ended && !detail::SysfsDir::open(sysfs_ / "module" / underscored(name))) return {};
    }
    if (status == -EAGAIN || status == -EWOULDBLOCK) return fail(Code::kBusy, what + ": in use");
    return fail_errno(-status, what);
  }

 private:
  /// A context reads modprobe.d once; options written since must be seen, so it is created for each call.
  Result<void> open() {
    auto library = Kmod::open();
    if (!library) return fail(library.error());
    kmod_ = *library;
    context_ = KmodContext(kmod_->create(tree_.empty() ? nullptr : tree_.c_str(), nullptr), kmod_->unref);
    if (!context_) return fail_errno(ENOMEM, "reading modprobe.d");
    kmod_->set_log_priority(context_.get(), LOG_CRIT);
    return {};
  }

  Result<KmodModule> find(const std::string& name) {
    kmod_module* raw = nullptr;
    if (const int status = kmod_->module_new_from_name(context_.get(), name.c_str(), &raw); status < 0)
      return fail_errno(-status, fmt::format("the module {}", name));
    return KmodModule(raw, kmod_->module_unref);
  }

  std::filesystem::path sysfs_;
  std::filesystem::path tree_;
  detail::Systemd systemd_;
  const Kmod* kmod_ = nullptr;  // open() sets it
  KmodContext context_{nullptr, nullptr};
};

}  // namespace

std::unique_ptr<Modules> make_linux_modules(std::filesystem::path sysfs) {
  return std::make_unique<LinuxModules>(std::move(sysfs));
}

}  // namespace rdmacfg::system
