// SPDX-License-Identifier: Apache-2.0
#include "kinds/boot_record.hpp"

#include <cerrno>

#include "base/retry.hpp"

namespace rdmacfg::kinds {

using base::Result;

Result<std::optional<std::string>> read_kept_record(system::Files& files, const std::string& path) {
  auto text = base::load_twice([&] { return files.read(path); });
  if (text) return text;
  const auto& error = text.error();
  const bool lost = system::is_unusable(error) || error.sys_errno == EIO || error.sys_errno == EUCLEAN ||
                    error.sys_errno == EBADMSG || error.sys_errno == ENOTDIR;  // a file replaces the folder
  return lost ? Result<std::optional<std::string>>(std::optional<std::string>()) : text;
}

std::string boot_record_in_run(std::string_view path) {
  return "/run/rdma-configd" + std::string(path.substr(path.rfind('/')));
}

Result<std::optional<std::string>> read_boot_record(system::Files& files, std::string_view path) {
  if (auto in_run = files.read(boot_record_in_run(path)); in_run && *in_run) return in_run;
  return read_kept_record(files, std::string(path));
}

Result<void> write_boot_record(system::Files& files, std::string_view path,
                               const std::optional<std::string>& text) {
  const std::string kept(path);
  const auto in_run = boot_record_in_run(path);
  // An empty one says that the one in /var does not count.
  const auto write_in_run = [&] { return files.write(in_run, text.value_or("")); };
  // While it exists it counts: after a kill behind the next step, its older text would win.
  const auto there = files.read(in_run);
  if (!there || *there) (void)write_in_run();
  auto done = text ? files.write(kept, *text) : files.remove(kept);
  if (done) return files.remove(in_run);
  return write_in_run() ? Result<void>() : done;
}

}  // namespace rdmacfg::kinds
