// SPDX-License-Identifier: Apache-2.0
// Sources: drivers/infiniband/ulp/ipoib/ipoib_main.c (create_child), ipoib_cm.c (mode),
// Documentation/infiniband/ipoib.rst.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;

class SysfsIpoib final : public Ipoib {
 public:
  explicit SysfsIpoib(const std::filesystem::path& sysfs) : net_(sysfs / "class/net") {}

  bool has_mode_file(const std::string& name) override {
    return usable(name) && ::access((net_ / name / "mode").c_str(), F_OK) == 0;
  }

  Result<void> write_mode(const std::string& name, model::IpoibMode mode) override {
    const auto word = model::text_of(mode);
    return write(name, "mode", word, fmt::format("{}: set mode {}", name, word));
  }

  Result<void> create_child(const std::string& parent, model::Pkey pkey) override {
    const auto what = fmt::format("{}: create a child with P_Key {}", parent, pkey.text());
    auto done = write(parent, "create_child", pkey.text(), what);
    if (!done && done.error().sys_errno == ENOTUNIQ) {
      return fail(
          base::Error{Code::kRefused, what + ": an interface with this P_Key already exists", ENOTUNIQ});
    }
    return done;
  }

 private:
  /// Whether a name stays below the folder. The kernel allows no such names, but they also come from
  /// documents.
  static bool usable(const std::string& name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
  }

  Result<void> write(const std::string& name, const std::string& file, std::string_view value,
                     const std::string& what) {
    if (!usable(name)) return fail(Code::kInvalid, what + ": not a valid interface name");
    const base::UniqueFd folder(::open((net_ / name).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return fail_errno(errno, what);
    const base::UniqueFd attribute(::openat(folder.get(), file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!attribute) {
      if (errno != ENOENT) return fail_errno(errno, what);
      return fail(base::Error{
          Code::kUnsupported,
          fmt::format(
              "{}: no sysfs file \"{}\" (not an IPoIB interface, or a P_Key interface created over netlink)",
              what, file),
          ENOENT});
    }
    // The kernel compares the whole text, newline included.
    const std::string line = std::string(value) + "\n";
    for (;;) {
      const ssize_t written = ::write(attribute.get(), line.data(), line.size());
      if (written == static_cast<ssize_t>(line.size())) return {};
      if (written >= 0) return fail(Code::kIo, what + ": the kernel took only a part of the value");
      if (errno != EINTR) return fail_errno(errno, what);
    }
  }

  std::filesystem::path net_;
};

}  // namespace

std::unique_ptr<Ipoib> make_linux_ipoib(const std::filesystem::path& sysfs) {
  return std::make_unique<SysfsIpoib>(sysfs);
}

}  // namespace rdmacfg::system
