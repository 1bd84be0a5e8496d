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

enum class AccessList { kNone, kSame, kLost };

/// Gives `to` the list of `from`, or none where that has none.
AccessList copy_access_list(int from, int to) {
  std::array<char, kLongestList> list{};
  const auto length = ::fgetxattr(from, kAccessList, list.data(), list.size());
  if (length < 0 && (errno == ENODATA || errno == ENOTSUP)) {
    // One that the folder gives to what is made in it (its default list) is not that of the former file.
    const bool none = ::fremovexattr(to, kAccessList) == 0 || errno == ENODATA || errno == ENOTSUP;
    return none ? AccessList::kNone : AccessList::kLost;
  }
  const bool same =
      length > 0 && ::fsetxattr(to, kAccessList, list.data(), static_cast<std::size_t>(length), 0) == 0;
  return same ? AccessList::kSame : AccessList::kLost;
}

/// The mode for a file without its former group: members of that are among the others now, who get no more
/// than they had.
mode_t for_another_group(mode_t mode) {
  constexpr unsigned kGroupBits = 3;
  return mode & (S_IRWXU | ((mode >> kGroupBits) & S_IRWXO));
}

}  // namespace

base::Result<void> keep_access(const FileContent& there, int file, const FilePlace& place) {
  struct stat made {};
  if (::fstat(file, &made) != 0) return base::fail_errno(errno, place.shown);
  bool its_owner = made.st_uid == there.status.st_uid, its_group = made.st_gid == there.status.st_gid;
  if ((!its_owner || !its_group) && ::fchown(file, there.status.st_uid, there.status.st_gid) == 0)
    its_owner = its_group = true;
  if (!its_group) its_group = ::fchown(file, static_cast<uid_t>(-1), there.status.st_gid) == 0;
  constexpr mode_t kRights = S_IRWXU | S_IRWXG | S_IRWXO;
  mode_t mode = there.status.st_mode & kRights;
  // The next edit is by this process, whatever the former owner might do.
  if (!its_owner) mode |= S_IRUSR | S_IWUSR;
  const auto list = copy_access_list(there.file.get(), file);
  if (list == AccessList::kLost || (list == AccessList::kSame && !its_group)) {
    // The bits of the group are the mask of a list; those whom the list refuses would be among the others.
    mode &= S_IRWXU;
  } else if (!its_group) {
    mode = for_another_group(mode);
  }
  return ::fchmod(file, mode) == 0 ? base::Result<void>() : base::fail_errno(errno, place.shown);
}

}  // namespace rdmacfg::system::detail
