// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.hpp"
#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::fail;
using base::fail_errno;
using base::Result;

class SysfsMlx4Ports final : public Mlx4Ports {
 public:
  explicit SysfsMlx4Ports(const std::filesystem::path& sysfs) : devices_(sysfs / "bus/pci/devices") {}

  Result<std::vector<Mlx4Device>> observe_mlx4() override {
    std::vector<Mlx4Device> out;
    detail::FirstError first_error;
    const auto folder = detail::SysfsDir::open(devices_, &first_error);
    if (first_error.error()) return fail(*first_error.error());
    if (!folder) return out;
    for (const auto& pci : folder->list()) {
      if (::access((devices_ / pci / "mlx4_port1").c_str(), F_OK) != 0) {
        first_error.note(errno, devices_ / pci / "mlx4_port1");
        continue;
      }
      const auto device = folder->sub(pci);
      if (!device) continue;
      Mlx4Device found{pci, {}, false};
      for (const auto* file : {"mlx4_port1", "mlx4_port2"}) {
        if (auto type = device->read(file)) found.types.push_back(std::move(*type));
      }
      // mlx4_init_port_info(): mode 0444 for functions of an adapter with SR-IOV, the physical one too.
      if (struct stat status{}; ::stat((devices_ / pci / "mlx4_port1").c_str(), &status) == 0) {
        constexpr ::mode_t kWritable = S_IWUSR | S_IWGRP | S_IWOTH;
        found.fixed = (status.st_mode & kWritable) == 0;
      }
      out.push_back(std::move(found));
    }
    return first_error.unless_any(std::move(out));
  }

  Result<void> set_type(const std::string& pci, int port, const std::string& type) override {
    const auto what = fmt::format("{}: make port {} {}", pci, port, type);
    if (pci.empty() || pci.find('/') != std::string::npos)
      return fail(base::Code::kInvalid, what + ": not a PCI address");
    const auto path = devices_ / pci / fmt::format("mlx4_port{}", port);
    const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return fail_errno(errno, what);
    const auto line = type + "\n";
    for (;;) {
      const ssize_t written = ::write(file.get(), line.data(), line.size());
      if (written == static_cast<ssize_t>(line.size())) return {};
      if (written >= 0) return fail(base::Code::kIo, what + ": the kernel took only a part of it");
      if (errno != EINTR) return fail_errno(errno, what);
    }
  }

 private:
  std::filesystem::path devices_;
};

}  // namespace

std::unique_ptr<Mlx4Ports> make_linux_mlx4_ports(const std::filesystem::path& sysfs) {
  return std::make_unique<SysfsMlx4Ports>(sysfs);
}

}  // namespace rdmacfg::system
