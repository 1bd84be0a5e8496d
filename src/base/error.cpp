// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <cerrno>
#include <system_error>

namespace rdmacfg::base {

Code code_of_errno(int err) {
  switch (err) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return Code::kNotFound;
    case EOPNOTSUPP:
    case EINVAL:
    case ENOSYS:
      return Code::kUnsupported;
    case EPERM:
    case EACCES:
      return Code::kDenied;
    case EBUSY:
    case EAGAIN:
    case EINTR:
      return Code::kBusy;
    case ETIMEDOUT:
      return Code::kTimeout;
    case EIO:
    case ENOSPC:
    case EROFS:
    case ELOOP:
    case EDQUOT:
      return Code::kIo;
    default:
      return Code::kRefused;
  }
}

Error errno_error(int err, std::string_view action) {
  return Error{code_of_errno(err), std::string(action) + ": " + std::generic_category().message(err), err};
}

}  // namespace rdmacfg::base
