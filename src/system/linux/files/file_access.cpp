// SPDX-License-Identifier: Apache-2.0
#include "system/linux/files/file_access.hpp"

#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace rdmacfg::system::detail {

namespace {

constexpr const char* kAccessList = "system.posix_acl_access";  // acl(5)
constexpr std::size_t kLongestList = 65536;                     // XATTR_SIZE_MAX

/// Whether `to` has the list of `from`, or neither has one.
bool copy_access_list(int from, int to) {
  std::array<char, kLongestList> list{};
  const auto length = ::fgetxattr(from, kAccessList, list.data(), list.size());
  // One that the folder gives to what is made in it (its default list) is not that of the former file.
  if (length <= 0) {
    const bool none = errno == ENODATA || errno == ENOTSUP;
    return none && (::fremovexattr(to, kAccessList) == 0 || errno == ENODATA || errno == ENOTSUP);
  }
  return ::fsetxattr(to, kAccessList, list.data(), static_cast<std::size_t>(length), 0) == 0;
}

}  // namespace

base::Result<void> keep_access(const FileContent& there, int file, const FilePlace& place) {
  struct stat made {};
  if (::fstat(file, &made) != 0) return base::fail_errno(errno, place.shown);
  bool its_group = made.st_gid == there.status.st_gid;
  const bool its_owner = made.st_uid == there.status.st_uid;
  if ((!its_owner || !its_group) && ::fchown(file, there.status.st_uid, there.status.st_gid) == 0)
    its_group = true;
  if (!its_group) its_group = ::fchown(file, static_cast<uid_t>(-1), there.status.st_gid) == 0;
  constexpr mode_t kRights = S_IRWXU | S_IRWXG | S_IRWXO;
  const mode_t mode = there.status.st_mode & kRights;
  const mode_t narrow = mode & ~static_cast<mode_t>(S_IRWXG);
  if (::fchmod(file, its_group ? mode : narrow) != 0) return base::fail_errno(errno, place.shown);
  // The bits of the group are the mask of a list, and would be the group's own rights without the list.
  if (its_group && !copy_access_list(there.file.get(), file) && ::fchmod(file, narrow) != 0)
    return base::fail_errno(errno, place.shown);
  return {};
}

}  // namespace rdmacfg::system::detail
