// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.hpp"
#include "ctl/fleet/fleet_commands.hpp"

namespace rdmacfg::ctl {

namespace {

using model::limits::kFleetFileBytes;

base::Failure too_large(const std::string& path) {
  return base::fail(base::Code::kInvalid,
                    fmt::format("{}: has more than the {} bytes that are allowed", path, kFleetFileBytes));
}

}  // namespace

base::Result<config::Text> read_fleet_file(const Context& context, const std::string& path) {
  config::Text out{path, {}};
  if (path == "-") {
    out.name = "<standard input>";
    out.text.resize(kFleetFileBytes + 1);
    context.environment.in.read(out.text.data(), static_cast<std::streamsize>(out.text.size()));
    out.text.resize(static_cast<std::size_t>(context.environment.in.gcount()));
    if (out.text.size() > kFleetFileBytes) return too_large(out.name);
    return out;
  }
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return base::fail_errno(errno, path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return base::fail_errno(errno, path);
  if (!S_ISREG(status.st_mode)) return base::fail(base::Code::kInvalid, path + ": is not a regular file");
  if (static_cast<std::size_t>(status.st_size) > kFleetFileBytes) return too_large(path);
  out.text.resize(static_cast<std::size_t>(status.st_size) + 1);  // one more shows whether it grew
  std::size_t size = 0;
  for (;;) {
    const auto got = ::read(fd.get(), out.text.data() + size, out.text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno(errno, path);
    size += static_cast<std::size_t>(got);
    if (size > kFleetFileBytes) return too_large(path);
    if (got == 0) break;
    if (size == out.text.size()) out.text.resize(2 * size);
  }
  out.text.resize(size);
  return out;
}

}  // namespace rdmacfg::ctl
