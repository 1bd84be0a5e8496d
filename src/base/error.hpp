// SPDX-License-Identifier: Apache-2.0
// Failures as values: a category, a sentence for the administrator and errno; Result<T> carries a value or
// one.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace rdmacfg::base {

/// The category of a failure; callers branch on this and on nothing else.
enum class Code {
  kInvalid,      ///< the document or an argument is wrong; nothing to try again
  kNotFound,     ///< the object is not there (ENOENT, ENODEV)
  kUnsupported,  ///< kernel or hardware cannot do it (EOPNOTSUPP, EINVAL from a capability)
  kDenied,       ///< not permitted (EPERM, EACCES)
  kBusy,         ///< in use right now (EBUSY, EAGAIN)
  kRefused,      ///< the kernel said no for another reason
  kIo,           ///< reading or writing failed (EIO, ENOSPC, a torn file)
  kTimeout,      ///< a deadline ran out
};

/// A failure as an administrator should read it. Library code returns it and never logs it.
struct Error {
  Code code = Code::kRefused;
  std::string message;  ///< lower case, no full stop, names the object: "mlx4_ib0: set mtu 65520"
  int sys_errno = 0;    ///< errno of the failing call, 0 when there was none

  /// The same error with what was being done in front: "writing the rule file: open: Permission denied".
  [[nodiscard]] Error in(std::string_view action) const {
    return Error{code, std::string(action) + ": " + message, sys_errno};
  }
  bool operator==(const Error&) const = default;
};

/// Maps an errno to a Code.
Code code_of_errno(int err);

/// An Error of a failed system call: "what: strerror".
Error errno_error(int err, std::string_view action);

template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

[[nodiscard]] inline Failure fail(Code code, std::string message) {
  return Failure(Error{code, std::move(message), 0});
}
[[nodiscard]] inline Failure fail(Error error) { return Failure(std::move(error)); }
[[nodiscard]] inline Failure fail_errno(int err, std::string_view action) {
  return Failure(errno_error(err, action));
}

}  // namespace rdmacfg::base
