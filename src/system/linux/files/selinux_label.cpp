// SPDX-License-Identifier: Apache-2.0
#include "system/linux/files/selinux_label.hpp"

#include <selinux/label.h>
#include <selinux/selinux.h>
#include <sys/xattr.h>

#include <array>
#include <cstddef>
#include <memory>

namespace rdmacfg::system::detail {

namespace {

constexpr const char* kAttribute = "security.selinux";
constexpr std::size_t kLongest = 4096;  // bytes, as much as a page of /proc/self/attr takes

/// The policy's file contexts, read once; none where SELinux is off.
selabel_handle* contexts() {
  static const std::unique_ptr<selabel_handle, void (*)(selabel_handle*)> handle(
      ::is_selinux_enabled() == 1 ? ::selabel_open(SELABEL_CTX_FILE, nullptr, 0) : nullptr, [](auto* opened) {
        if (opened != nullptr) ::selabel_close(opened);
      });
  return handle.get();
}

}  // namespace

CreationLabel::CreationLabel(const std::string& path, mode_t mode) {
  auto* known = contexts();
  char* label = nullptr;
  if (known == nullptr || ::selabel_lookup_raw(known, &label, path.c_str(), static_cast<int>(mode)) != 0)
    return;
  set_ = ::setfscreatecon_raw(label) == 0;
  ::freecon(label);
}

CreationLabel::~CreationLabel() {
  if (set_) ::setfscreatecon_raw(nullptr);
}

void copy_label(int from, int to) {
  std::array<char, kLongest> label{};
  const auto length = ::fgetxattr(from, kAttribute, label.data(), label.size());
  if (length <= 0) return;
  static_cast<void>(::fsetxattr(to, kAttribute, label.data(), static_cast<std::size_t>(length), 0));
}

}  // namespace rdmacfg::system::detail
