// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace rdmacfg::system::detail {

/// While it lives, what this thread makes gets the SELinux label that the policy has for `path`, which is as
/// on the host, for a file or folder of `mode` (S_IFREG, S_IFDIR). Does nothing where SELinux is off; a path
/// that the policy does not know gets what its folder gives it (setfscreatecon(3), selabel_lookup(3)).
class CreationLabel {
 public:
  CreationLabel(const std::string& path, mode_t mode);
  ~CreationLabel();
  CreationLabel(const CreationLabel&) = delete;
  CreationLabel& operator=(const CreationLabel&) = delete;

 private:
  bool set_ = false;
};

/// Gives file `to` the label that `from` has, which may be an administrator's own choice (chcon(1)). Without
/// SELinux, or where it may not be done, `to` keeps its own: a file is written whatever its label.
void copy_label(int from, int to);

}  // namespace rdmacfg::system::detail
