// SPDX-License-Identifier: Apache-2.0
#include "system/storage/nfsd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::fail_errno;
using base::Result;

class ProcNfsd final : public Nfsd {
 public:
  explicit ProcNfsd(std::filesystem::path proc) : proc_(std::move(proc)) {}

  Result<std::optional<std::vector<int>>> observe_rdma_ports() override {
    const auto ports = port_list();
    const base::UniqueFd file(::open(ports.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) {
      const bool away = errno == ENOENT || errno == ENOTDIR;  // the module is not loaded
      if (away) return std::optional<std::vector<int>>{};
      return fail_errno(errno, ports.string());
    }
    std::array<char, 4096> buffer{};  // a page is all that the kernel has room for
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0) return fail_errno(errno, ports.string());
    const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
    if (base::trim(text).empty()) return std::optional<std::vector<int>>{};
    std::vector<int> out;
    constexpr std::string_view kTransport = "rdma ";
    for (const auto line : base::split(text, '\n')) {
      if (!line.starts_with(kTransport)) continue;
      const auto port = base::parse_number(base::trim(line.substr(kTransport.size())));
      if (port && *port <= 65535) out.push_back(static_cast<int>(*port));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());  // one for each family
    return std::optional(std::move(out));
  }

  Result<void> listen_rdma(int port) override {
    const auto what = fmt::format("nfsd: serve RDMA on port {}", port);
    const base::UniqueFd file(::open(port_list().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return fail_errno(errno, what);
    const auto line = fmt::format("rdma {}\n", port);
    if (::write(file.get(), line.data(), line.size()) >= 0) return {};
    if (errno == EPROTONOSUPPORT) {
      return base::fail(base::Code::kUnsupported,
                        what + ": this kernel has no module rpcrdma, which nfsd needs to serve RDMA");
    }
    return fail_errno(errno, what);
  }

 private:
  /// systemd gives the daemon's unit a /proc of its own, where nfsd's file system is not mounted; the unit
  /// has /proc/fs of the host here. Without that unit the folder is empty.
  [[nodiscard]] std::filesystem::path port_list() const {
    constexpr const char* kHosts = "/run/rdma-configd-proc-fs/nfsd/portlist";
    std::error_code error;
    if (proc_ == "/proc" && std::filesystem::exists(kHosts, error)) return kHosts;
    return proc_ / "fs/nfsd/portlist";
  }

  std::filesystem::path proc_;
};

}  // namespace

std::unique_ptr<Nfsd> make_linux_nfsd(const std::filesystem::path& proc) {
  return std::make_unique<ProcNfsd>(proc);
}

}  // namespace rdmacfg::system
