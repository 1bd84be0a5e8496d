// SPDX-License-Identifier: Apache-2.0
#include "ctl/output_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

#include "base/unique_fd.hpp"

namespace rdmacfg::ctl {

namespace fs = std::filesystem;

namespace {

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

base::Result<void> write_output(const fs::path& path, std::string_view text) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error)
    return base::fail(base::Code::kIo, fmt::format("{}: {}", path.parent_path().string(), error.message()));
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) return base::fail_errno(errno == 0 ? EIO : errno, path.string());
  return {};
}

base::Result<void> replace_output(const fs::path& path, std::string_view text) {
  constexpr mode_t kMode = 0644;
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_output(path, text);
  // Readers of folders pass over hidden files. XXXXXX: of mkstemp(3).
  auto name = (path.parent_path() / ("." + path.filename().string() + ".XXXXXX")).string();
  const base::UniqueFd file(::mkstemp(name.data()));
  if (!file) return base::fail_errno(errno, path.string());
  const bool done = write_all(file.get(), text) && ::fchmod(file.get(), kMode) == 0 &&
                    ::fsync(file.get()) == 0 && std::rename(name.c_str(), path.c_str()) == 0;
  if (done) return {};
  const int why = errno;
  (void)::unlink(name.c_str());
  return base::fail_errno(why, path.string());
}

}  // namespace rdmacfg::ctl
