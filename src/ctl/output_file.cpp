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

/// Puts a new file in the place of `path`, with the access of `like` where there is one.
base::Result<void> put_in_place(const fs::path& path, std::string_view text, const struct stat* like) {
  constexpr mode_t kMode = 0644, kAccess = 07777;
  // Readers of folders pass over hidden files. XXXXXX: of mkstemp(3).
  auto name = (path.parent_path() / ("." + path.filename().string() + ".XXXXXX")).string();
  const base::UniqueFd file(::mkstemp(name.data()));
  if (!file) return base::fail_errno(errno, path.string());
  // A file that cannot be given away keeps its owner.
  if (like != nullptr) (void)!::fchown(file.get(), like->st_uid, like->st_gid);
  const bool done = write_all(file.get(), text) &&
                    ::fchmod(file.get(), like == nullptr ? kMode : like->st_mode & kAccess) == 0 &&
                    ::fsync(file.get()) == 0 && std::rename(name.c_str(), path.c_str()) == 0;
  if (done) return {};
  const int why = errno;
  (void)::unlink(name.c_str());
  return base::fail_errno(why, path.string());
}

/// Whether a new file cannot be made beside the old one, which may be written to all the same.
bool is_refused(const base::Error& error) {
  return error.sys_errno == EACCES || error.sys_errno == EPERM || error.sys_errno == EROFS;
}

}  // namespace

base::Result<void> write_output(const fs::path& path, std::string_view text) {
  // On a full disk the text that was there stays.
  struct stat status {};
  std::error_code none;
  const auto place = fs::canonical(path, none);  // a symbolic link stays one
  if (!none && ::stat(place.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      ::access(place.c_str(), W_OK) == 0) {
    auto done = put_in_place(place, text, &status);
    if (done || !is_refused(done.error())) return done;
  }
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
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_output(path, text);
  return put_in_place(path, text, nullptr);
}

}  // namespace rdmacfg::ctl
