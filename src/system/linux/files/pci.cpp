// SPDX-License-Identifier: Apache-2.0
#include "system/pci.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/unique_fd.hpp"
#include "model/types.hpp"
#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::fail_errno;
using base::Result;

constexpr std::size_t kSpace = 4096;  ///< of PCI Express

class SysfsPci final : public Pci {
 public:
  explicit SysfsPci(const std::filesystem::path& sysfs) : devices_(sysfs / "bus/pci/devices") {}

  Result<std::vector<std::string>> list() override {
    std::vector<std::string> out;
    detail::FirstError first_error;
    if (const auto folder = detail::SysfsDir::open(devices_, &first_error)) {
      for (auto& name : folder->list()) {
        if (model::PciAddress::parse(name)) out.push_back(std::move(name));
      }
    }
    return first_error.unless_any(std::move(out));
  }

  Result<std::optional<PciCapabilities>> observe(const std::string& address) override {
    if (!model::PciAddress::parse(address)) return std::optional<PciCapabilities>();
    const auto path = devices_ / address / "config";
    const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) {
      if (errno == ENOENT) return std::optional<PciCapabilities>();
      return fail_errno(errno, path.string());
    }
    std::string bytes(kSpace, '\0');
    std::size_t length = 0;
    while (length < bytes.size()) {
      const auto got = ::read(file.get(), bytes.data() + length, bytes.size() - length);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail_errno(errno, path.string());
      if (got == 0) break;
      length += static_cast<std::size_t>(got);
    }
    bytes.resize(length);
    return parse_pci_config(bytes);
  }

 private:
  std::filesystem::path devices_;
};

}  // namespace

std::unique_ptr<Pci> make_linux_pci(const std::filesystem::path& sysfs) {
  return std::make_unique<SysfsPci>(sysfs);
}

}  // namespace rdmacfg::system
