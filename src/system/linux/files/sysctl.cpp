// SPDX-License-Identifier: Apache-2.0
#include "system/sysctl.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::fail;
using base::fail_errno;
using base::Result;
using base::UniqueFd;

class ProcSysctl final : public Sysctl {
 public:
  std::optional<std::string> read(const std::string& path) override {
    const auto where = place(path);
    if (!where) return std::nullopt;
    const UniqueFd file(::open(where->c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return std::nullopt;
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0) return std::nullopt;
    std::string value;
    for (const char c : base::trim({buffer.data(), static_cast<std::size_t>(got)})) {
      const bool blank = c == ' ' || c == '\t' || c == '\n';
      if (!blank) value += c;
      if (blank && value.back() != ' ') value += ' ';
    }
    return value;
  }

  bool hidden(const std::string& path) override {
    const auto where = place(path);
    struct stat status {};
    return where && ::lstat(where->c_str(), &status) == 0 && (status.st_mode & S_IROTH) == 0;
  }

  Result<void> write(const std::string& path, std::string_view value) override {
    const auto where = place(path);
    if (!where) return fail(where.error());
    const auto what = fmt::format("{}: write {}", *where, value);
    const UniqueFd file(::open(where->c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return fail_errno(errno, what);
    const std::string text = std::string(value) + "\n";
    if (::write(file.get(), text.data(), text.size()) < 0) return fail_errno(errno, what);
    return {};
  }

 private:
  static Result<std::string> place(const std::string& path) {
    for (const auto part : base::split(path, '/')) {
      if (part.empty() || part == "." || part == "..") {
        return fail(base::Code::kInvalid, fmt::format("\"{}\": no such kernel setting", path));
      }
    }
    return "/proc/sys/" + path;
  }
};

}  // namespace

std::unique_ptr<Sysctl> make_linux_sysctl() { return std::make_unique<ProcSysctl>(); }

}  // namespace rdmacfg::system
