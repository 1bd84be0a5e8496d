// SPDX-License-Identifier: Apache-2.0
#include "system/nfsd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::fail_errno;
using base::Result;

class ProcNfsd final : public Nfsd {
 public:
  explicit ProcNfsd(const std::filesystem::path& proc) : ports_(proc / "fs/nfsd/portlist") {}

  Result<std::optional<std::vector<int>>> observe_rdma_ports() override {
    const base::UniqueFd file(::open(ports_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) {
      const bool away = errno == ENOENT || errno == ENOTDIR;  // the module is not loaded
      if (away) return std::optional<std::vector<int>>{};
      return fail_errno(errno, ports_.string());
    }
    std::array<char, 4096> buffer{};  // a page is all that the kernel has room for
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0) return fail_errno(errno, ports_.string());
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
    const base::UniqueFd file(::open(ports_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return fail_errno(errno, what);
    const auto line = fmt::format("rdma {}\n", port);
    if (::write(file.get(), line.data(), line.size()) >= 0) return {};
    if (errno == EPROTONOSUPPORT) {
      return base::fail(base::Code::kUnsupported,
                        what + ": this kernel has no module rpcrdma, by which nfsd serves RDMA");
    }
    return fail_errno(errno, what);
  }

 private:
  std::filesystem::path ports_;
};

}  // namespace

std::unique_ptr<Nfsd> make_linux_nfsd(const std::filesystem::path& proc) {
  return std::make_unique<ProcNfsd>(proc);
}

}  // namespace rdmacfg::system
