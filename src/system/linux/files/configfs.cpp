// SPDX-License-Identifier: Apache-2.0
#include "system/linux/files/configfs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

#include "base/unique_fd.hpp"

namespace rdmacfg::system::detail {

using base::fail_errno;
using base::Result;

namespace {

constexpr auto kConfigfsMode = 0755;
constexpr auto kConfigfsMountTime = std::chrono::milliseconds(2000);

}  // namespace

bool is_path_part(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

Result<void> make_folder(const std::filesystem::path& path, const std::string& action) {
  if (::mkdir(path.c_str(), kConfigfsMode) == 0 || errno == EEXIST) return {};
  return fail_errno(errno, action);
}

Result<void> remove_folder(const std::filesystem::path& path, const std::string& action) {
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
  return fail_errno(errno, action);
}

Result<void> make_link(const std::filesystem::path& to, const std::filesystem::path& at,
                       const std::string& action) {
  if (::symlink(to.c_str(), at.c_str()) == 0 || errno == EEXIST) return {};
  return fail_errno(errno, action);
}

Result<void> remove_link(const std::filesystem::path& path, const std::string& action) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return fail_errno(errno, action);
}

Result<void> write_attribute(const std::filesystem::path& path, const std::string& value,
                             const std::string& action) {
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return fail_errno(errno, action);
  if (::write(file.get(), value.data(), value.size()) < 0) return fail_errno(errno, action);
  return {};
}

Result<void> start_configfs(const std::filesystem::path& folder, const char* module, Units& units,
                            Modules& modules) {
  if (::access(folder.c_str(), F_OK) == 0) return {};
  if (auto loaded = modules.load(module); !loaded) return loaded;
  const auto end = std::chrono::steady_clock::now() + kConfigfsMountTime;
  (void)units.act(UnitAction::kStart, "sys-kernel-config.mount");
  while (::access(folder.c_str(), F_OK) != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (::access(folder.c_str(), F_OK) == 0) return {};
  return base::fail(base::Code::kUnsupported,
                    fmt::format("{}: not there, although {} is loaded", folder.string(), module));
}

std::string unit_escaped(const std::string& text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.";
  std::string out;
  for (const char c : text) {
    if (c == '/') {
      out += '-';
    } else if (kPlain.find(c) != std::string_view::npos && !(out.empty() && c == '.')) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace rdmacfg::system::detail
