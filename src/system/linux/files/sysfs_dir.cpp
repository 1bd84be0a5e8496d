// SPDX-License-Identifier: Apache-2.0
#include "system/linux/files/sysfs_dir.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/open_folder.hpp"
#include "base/text.hpp"

namespace rdmacfg::system::detail {

namespace {

constexpr int kOpenSysfsFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

}  // namespace

void FirstError::note(int error, const std::string& path) {
  // EINVAL: not a symbolic link. EACCES and EPERM of a file are its mode's; a reader without privilege sees
  // less.
  for (const int gone : {0, ENOENT, ENOTDIR, ENODEV, ENXIO, EINVAL})
    if (error == gone) return;
  if (!error_) error_ = base::fail_errno(error, "reading " + path).value();
}

void SysfsDir::note(int error, const std::string& name) const {
  if (first_error_ != nullptr) first_error_->note(error, path_ + "/" + name);
}

std::optional<SysfsDir> SysfsDir::open(const std::string& path, FirstError* first_error) {
  const int fd = ::open(path.c_str(), kOpenSysfsFolder);
  if (fd < 0 && first_error != nullptr) first_error->note(errno, path);
  return fd < 0 ? std::nullopt : std::optional(SysfsDir(fd, path, first_error));
}

std::optional<SysfsDir> SysfsDir::sub(const std::string& path) const {
  const int fd = ::openat(fd_.get(), path.c_str(), kOpenSysfsFolder);
  if (fd < 0) note(errno, path);
  return fd < 0 ? std::nullopt : std::optional(SysfsDir(fd, path_ + "/" + path, first_error_));
}

std::optional<std::string> SysfsDir::read(const std::string& name) const {
  const base::UniqueFd file(::openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    if (errno != EACCES && errno != EPERM) note(errno, name);
    return std::nullopt;
  }
  std::array<char, 4096> buffer{};  // a sysfs attribute is a page at most
  ssize_t length = 0;
  do {
    length = ::read(file.get(), buffer.data(), buffer.size());
  } while (length < 0 && errno == EINTR);
  if (length < 0) {
    if (errno == ENOMEM) note(errno, name);  // others are the driver's
    return std::nullopt;
  }
  return std::string(base::trim({buffer.data(), static_cast<std::size_t>(length)}));
}

std::optional<std::int64_t> SysfsDir::number(const std::string& name) const {
  const auto text = read(name);
  if (!text) return std::nullopt;
  const auto number = base::parse_number(*text);
  if (!number || *number > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::string SysfsDir::link(const std::string& name) const {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = ::readlinkat(fd_.get(), name.c_str(), buffer.data(), buffer.size());
  if (length < 0) note(errno, name);
  return length < 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::vector<std::string> SysfsDir::list() const {
  std::vector<std::string> names;
  const auto folder = base::open_folder(::openat(fd_.get(), ".", kOpenSysfsFolder));
  if (!folder) {
    note(errno, "");
    return names;
  }
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  note(errno, "");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace rdmacfg::system::detail
