// SPDX-License-Identifier: Apache-2.0
// Refusals of inotify(7), with the setting that lifts them.
#pragma once

#include <fmt/format.h>
#include <sys/inotify.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/unique_fd.hpp"

namespace rdmacfg::system::detail {

/// A new instance. Source of its errors: inotify_init(2); the limits hold for all programs of a user
/// together.
inline base::Result<base::UniqueFd> new_inotify() {
  base::UniqueFd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (fd) return base::Result<base::UniqueFd>(std::move(fd));
  auto error = base::errno_error(errno, "inotify");
  if (error.sys_errno == EMFILE) error.message += "; raise fs.inotify.max_user_instances";
  return base::fail(std::move(error));
}

/// Why a place that is there cannot be watched (inotify_add_watch(2)); empty where `error` says that it is
/// not there, or is of another kind.
inline std::string why_unwatched(const std::string& place, int error) {
  if (error == ENOSPC)
    return fmt::format(
        "{} cannot be watched: the limit of inotify is reached; raise fs.inotify.max_user_watches", place);
  if (error == ENOMEM) return fmt::format("{} cannot be watched: out of memory", place);
  return {};
}

}  // namespace rdmacfg::system::detail
