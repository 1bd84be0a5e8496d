// SPDX-License-Identifier: Apache-2.0
#include "system/public_view.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

namespace rdmacfg::system {

using base::fail_errno;
using base::Result;

namespace public_view {

class PublicFiles final : public Files {
 public:
  PublicFiles(Files& files, std::vector<std::string> records) : files_(files), records_(std::move(records)) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    if (kept_back(path)) return fail_errno(EACCES, path);
    return files_.read(path);
  }
  Result<std::optional<std::string>> read_linked(const std::string& path) override {
    if (kept_back(path)) return fail_errno(EACCES, path);
    return files_.read_linked(path);
  }
  Result<std::vector<std::string>> list(const std::string& folder) override {
    if (kept_back(folder)) return fail_errno(EACCES, folder);
    return files_.list(folder);
  }
  Result<void> write(const std::string& path, std::string_view /*content*/) override {
    return fail_errno(EPERM, path);
  }
  Result<void> write_private(const std::string& path, std::string_view /*content*/) override {
    return fail_errno(EPERM, path);
  }
  Result<void> rename(const std::string& from, const std::string& /*to*/) override {
    return fail_errno(EPERM, from);
  }
  Result<void> remove(const std::string& path) override { return fail_errno(EPERM, path); }
  std::string odd_access(const std::string& path, Readers readers) override {
    return files_.odd_access(path, readers);
  }
  bool hidden(const std::string& path) override { return files_.hidden(path); }
  bool masks(const std::string& path) override { return files_.masks(path); }
  std::string link_target(const std::string& path) override { return files_.link_target(path); }
  std::optional<std::uint64_t> born(const std::string& path) override { return files_.born(path); }
  std::optional<std::uint64_t> modified(const std::string& path) override { return files_.modified(path); }
  bool open_to_others(const std::string& path) override { return files_.open_to_others(path); }
  bool not_executable(const std::string& path) override { return files_.not_executable(path); }

 private:
  [[nodiscard]] bool kept_back(const std::string& path) const {
    const bool record = std::any_of(records_.begin(), records_.end(),
                                    [&](const std::string& folder) { return path.starts_with(folder); });
    return !record && files_.hidden(path);
  }

  Files& files_;
  std::vector<std::string> records_;
};

class PublicSysctl final : public Sysctl {
 public:
  explicit PublicSysctl(Sysctl& sysctl) : sysctl_(sysctl) {}
  std::optional<std::string> read(const std::string& path) override {
    return sysctl_.hidden(path) ? std::nullopt : sysctl_.read(path);
  }
  bool hidden(const std::string& path) override { return sysctl_.hidden(path); }
  Result<void> write(const std::string& path, std::string_view /*value*/) override {
    return fail_errno(EPERM, path);
  }

 private:
  Sysctl& sysctl_;
};

class PublicModules final : public Modules {
 public:
  explicit PublicModules(Modules& modules) : modules_(modules) {}
  Result<std::vector<std::string>> observe_loaded() override { return modules_.observe_loaded(); }
  std::optional<std::string> parameter(const std::string& module, const std::string& name) override {
    return modules_.hidden(module, name) ? std::nullopt : modules_.parameter(module, name);
  }
  bool hidden(const std::string& module, const std::string& name) override {
    return modules_.hidden(module, name);
  }
  bool loaded_after(const std::string& module, const std::string& path) override {
    return modules_.loaded_after(module, path);
  }
  bool has_tree() override { return modules_.has_tree(); }
  Result<std::optional<ModuleInfo>> info(const std::string& module) override { return modules_.info(module); }
  std::vector<std::string> known() override { return modules_.known(); }
  Result<void> load(const std::string& module) override { return fail_errno(EPERM, module); }
  Result<void> unload(const std::string& module) override { return fail_errno(EPERM, module); }

 private:
  Modules& modules_;
};

/// The kernel shows others the first 64 bytes of the configuration space, where bridges are told apart.
class PublicPci final : public Pci {
 public:
  explicit PublicPci(Pci& pci) : pci_(pci) {}
  Result<std::vector<std::string>> list() override { return pci_.list(); }
  Result<std::optional<PciCapabilities>> observe(const std::string& address) override {
    auto found = pci_.observe(address);
    if (found && *found)
      *found = PciCapabilities{.bridge = (*found)->bridge, .max_read_request = {}, .redirects = {}};
    return found;
  }

 private:
  Pci& pci_;
};

}  // namespace public_view

struct PublicView::Ports {
  Ports(Host& real, std::vector<std::string> records)
      : files(real.files, std::move(records)),
        modules(real.modules),
        sysctl(real.sysctl),
        pci(real.pci),
        host{.links = real.links,
             .inet = real.inet,
             .resolver = real.resolver,
             .network_manager = real.network_manager,
             .networkd = real.networkd,
             .ipoib = real.ipoib,
             .rdma = real.rdma,
             .rdma_admin = real.rdma_admin,
             .rdma_cm = real.rdma_cm,
             .files = files,
             .udev = real.udev,
             .units = real.units,
             .timers = real.timers,
             .modules = modules,
             .initramfs = real.initramfs,
             .dcb = real.dcb,
             .mlx4_ports = real.mlx4_ports,
             .nfsd = real.nfsd,
             .nvme_target = real.nvme_target,
             .nvme_host = real.nvme_host,
             .iscsi = real.iscsi,
             .lio = real.lio,
             .accounts = real.accounts,
             .sysctl = sysctl,
             .rdma_system = real.rdma_system,
             .pci = pci,
             .packages = real.packages,
             .boot_id = real.boot_id,
             .offline = real.offline,
             .for_others = true} {}

  public_view::PublicFiles files;
  public_view::PublicModules modules;
  public_view::PublicSysctl sysctl;
  public_view::PublicPci pci;
  Host host;
};

PublicView::PublicView(Host& host, std::vector<std::string> records)
    : ports_(std::make_unique<Ports>(host, std::move(records))) {}
PublicView::~PublicView() = default;
Host& PublicView::host() { return ports_->host; }

}  // namespace rdmacfg::system
