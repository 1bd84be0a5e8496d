// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <system_error>

#include "base/open_folder.hpp"
#include "base/unique_fd.hpp"
#include "system/linux/files/file_access.hpp"
#include "system/linux/files/file_place.hpp"
#include "system/linux/files/replacement_file.hpp"
#include "system/linux/files/rooted_dir.hpp"
#include "system/linux/files/selinux_label.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using base::UniqueFd;
using detail::FileContent;
using detail::FilePlace;

constexpr mode_t kFileMode = 0644;
constexpr mode_t kPrivateMode = 0600;
constexpr int kLinksMost = 8;
constexpr int kLinksInAll = 40;  ///< symbolic links followed in one path; the kernel's MAXSYMLINKS

Result<void> write_all(int fd, std::string_view content, const std::string& shown) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno(errno, shown);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

class LinuxFiles final : public Files {
 public:
  explicit LinuxFiles(std::filesystem::path root) : dirs_(std::move(root)) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    const auto place = find(path, For::kReading);
    if (!place) {
      if (place.error().sys_errno == ENOENT) return std::optional<std::string>();
      return fail(place.error());
    }
    auto content = detail::read_place(*place);
    if (!content) return fail(content.error());
    if (!*content) return std::optional<std::string>();
    return std::optional(std::move((*content)->text));
  }

  Result<std::optional<std::string>> read_linked(const std::string& path) override {
    return read(behind_links(path).native());
  }

  Result<void> write(const std::string& path, std::string_view content) override {
    return write_as(path, content, kFileMode);
  }

  Result<void> edit(const std::string& path, std::string_view content) override {
    return write_as(path, content, kFileMode, WhoseFile::kOthers);
  }

  void keep_private(bool is_private) override { private_ = is_private; }

  bool hidden(const std::string& path) override {
    std::vector<std::string> names;  // still to go, the last one first
    const auto go = [&names](const std::filesystem::path& way) {
      const auto at = names.size();
      for (const auto& part : way.relative_path()) names.push_back(part.native());
      std::reverse(names.begin() + static_cast<std::ptrdiff_t>(at), names.end());
    };
    go(path);
    std::filesystem::path folder("/");  // without symbolic links
    mode_t mode = S_IROTH;
    for (int links = 0; !names.empty();) {
      const auto name = std::move(names.back());
      names.pop_back();
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        folder = folder.parent_path();
        continue;
      }
      const auto next = folder / name;
      const auto shown = dirs_.shown(next.native());
      struct stat status {};
      // The mode of anything else that cannot be looked at is unknown, so it counts as hidden.
      if (::lstat(shown.c_str(), &status) != 0) return errno != ENOENT && errno != ENOTDIR;
      if (S_ISLNK(status.st_mode)) {
        std::error_code error;
        const auto target = std::filesystem::read_symlink(shown, error);
        if (error) return true;
        if (++links > kLinksInAll) return false;  // nor does the kernel follow them
        if (target.is_absolute()) folder = "/";
        go(target);
        continue;
      }
      mode = status.st_mode;
      if (S_ISDIR(mode) && !names.empty() && (mode & S_IXOTH) == 0) return true;
      folder = next;
    }
    return (mode & S_IROTH) == 0;
  }

  Result<void> write_private(const std::string& path, std::string_view content) override {
    return write_as(path, content, kPrivateMode);
  }

  enum class WhoseFile { kOurs, kOthers };

  Result<void> write_as(const std::string& path, std::string_view content, mode_t most,
                        WhoseFile whose = WhoseFile::kOurs) {
    const auto place = find(path, For::kWriting);
    if (!place) return fail(place.error());
    if (const auto limit = detail::length_limit(path); content.size() > limit)
      return fail(Code::kInvalid, fmt::format("{}: its {} bytes are more than the {} allowed", place->shown,
                                              content.size(), limit));
    const auto before = detail::read_place(*place);
    const struct stat* like = before && *before ? &(*before)->status : nullptr;
    struct stat status {};
    if (!before) {
      // A file that is too long, or cannot be read, is replaced all the same; a link or device is not.
      const bool known =
          ::fstatat(place->folder.get(), place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISREG(status.st_mode);
      if (!known && before.error().sys_errno != EACCES) return fail(before.error());
      if (known) like = &status;
    }
    // One that is undone is not for more readers than before it went.
    if (const auto gone = removed_.find(path); before && like == nullptr && gone != removed_.end())
      like = &gone->second;
    mode_t mode = like == nullptr ? new_mode(path, most) : wanted_mode(*like, path, most);
    if (!before) mode &= new_mode(path, most);
    const bool edits = whose == WhoseFile::kOthers && before && *before;
    if (edits && (*before)->text == content) return {};
    if (!edits && before && *before && is_as_wanted(**before, content, mode)) return {};
    detail::ReplacementFile temporary(*place);
    if (auto done = temporary.create(); !done) return done;
    if (before && *before) detail::copy_label((*before)->file.get(), temporary.file.get());
    if (auto done = write_all(temporary.file.get(), content, place->shown); !done) return done;
    if (edits) {
      if (auto done = detail::keep_access(**before, temporary.file.get(), *place); !done) return done;
    } else {
      const mode_t given =
          like == nullptr ? mode : with_its_group(*like, temporary.file.get(), mode, most, *place);
      if (::fchmod(temporary.file.get(), given) != 0) return fail_errno(errno, place->shown);
    }
    if (::fsync(temporary.file.get()) != 0 || ::renameat(place->folder.get(), temporary.name.c_str(),
                                                         place->folder.get(), place->name.c_str()) != 0) {
      return fail_errno(errno, place->shown);
    }
    temporary.name.clear();
    return sync_folder(*place);
  }

  std::string odd_access(const std::string& path, Readers readers) override {
    const auto place = find(path, For::kReading);
    struct stat status {};
    if (!place || ::fstatat(place->folder.get(), place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
      return {};
    std::string out;
    const mode_t mode = status.st_mode & 07777U;
    if (mode != wanted_mode(status, path, readers == Readers::kRoot ? kPrivateMode : kFileMode))
      out = fmt::format("mode {:04o}", mode);
    // A reader may be anybody.
    if (status.st_uid != 0 && status.st_uid != ::geteuid())
      out += fmt::format("{}owner {}", out.empty() ? "" : ", ", status.st_uid);
    return out;
  }

  Result<void> remove(const std::string& path) override {
    const auto place = find(path, For::kRemoving);
    if (!place) return place.error().sys_errno == ENOENT ? Result<void>() : fail(place.error());
    struct stat status {};
    if (::fstatat(place->folder.get(), place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return errno == ENOENT ? Result<void>() : fail_errno(errno, place->shown);
    }
    if (!S_ISREG(status.st_mode)) {
      return fail(Code::kIo, fmt::format("{} is {}, not a regular file; it was not removed", place->shown,
                                         detail::sort_of(status.st_mode)));
    }
    UniqueFd held;
    if (detail::is_being_written(*place, held)) return {};
    if (::unlinkat(place->folder.get(), place->name.c_str(), 0) != 0 && errno != ENOENT) {
      return fail_errno(errno, place->shown);
    }
    removed_.insert_or_assign(path, status);
    return sync_folder(*place);
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    const auto place = find(from, For::kRemoving);
    if (!place) return place.error().sys_errno == ENOENT ? Result<void>() : fail(place.error());
    const std::filesystem::path target(to);
    if (target.parent_path() != std::filesystem::path(from).parent_path() || !target.has_filename())
      return fail(Code::kInvalid,
                  fmt::format("{}: rename to \"{}\": must stay in the same directory", from, to));
    if (::renameat(place->folder.get(), place->name.c_str(), place->folder.get(),
                   target.filename().c_str()) != 0) {
      return errno == ENOENT ? Result<void>() : fail_errno(errno, place->shown);
    }
    return sync_folder(*place);
  }

  Result<void> sync(const std::string& folder) override {
    const auto opened = dirs_.open(folder);
    if (!opened) return opened.error().sys_errno == ENOENT ? Result<void>() : fail(opened.error());
    return ::fsync(opened->get()) == 0 ? Result<void>() : fail_errno(errno, dirs_.shown(folder));
  }

  Result<std::vector<std::string>> list(const std::string& folder) override {
    std::vector<std::string> names;
    auto opened = dirs_.open(folder);
    if (!opened) {
      if (opened.error().sys_errno == ENOENT) return names;
      return fail(opened.error());
    }
    const int own = ::fcntl(opened->get(), F_DUPFD_CLOEXEC, 0);  // closedir closes what it has been given
    const auto entries = base::open_folder(own);
    if (!entries) return fail_errno(errno, dirs_.shown(folder));
    errno = 0;
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view name(entry->d_name);
      if (name != "." && name != "..") names.emplace_back(name);
    }
    if (errno != 0) return fail_errno(errno, dirs_.shown(folder));
    std::sort(names.begin(), names.end());
    return names;
  }

  bool masks(const std::string& path) override {
    const auto place = find(path, For::kReading);
    // By its text: below another root there may be no /dev/null.
    return place && detail::link_of(*place) == "/dev/null";
  }

  std::string link_target(const std::string& path) override {
    const auto place = find(path, For::kReading);
    return place ? detail::link_of(*place) : std::string();
  }

  std::optional<std::uint64_t> born(const std::string& path) override {
    constexpr std::uint64_t kSecond = 1'000'000, kMicrosecond = 1'000;
    const auto place = find(path, For::kReading);
    struct statx status {};
    if (!place ||
        ::statx(place->folder.get(), place->name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) != 0 ||
        (status.stx_mask & STATX_BTIME) == 0 || status.stx_btime.tv_sec < 0)
      return std::nullopt;
    return static_cast<std::uint64_t>(status.stx_btime.tv_sec) * kSecond +
           status.stx_btime.tv_nsec / kMicrosecond;
  }

  std::optional<std::uint64_t> modified(const std::string& path) override {
    constexpr std::uint64_t kSecond = 1'000'000, kMicrosecond = 1'000;
    const auto place = find(behind_links(path).native(), For::kReading);
    struct stat status {};
    if (!place || ::fstatat(place->folder.get(), place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        status.st_mtim.tv_sec < 0)
      return std::nullopt;
    return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kSecond +
           static_cast<std::uint64_t>(status.st_mtim.tv_nsec) / kMicrosecond;
  }

  bool open_to_others(const std::string& path) override {
    const auto place = find(path, For::kReading);
    struct stat status {};
    if (!place || ::fstatat(place->folder.get(), place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return false;
    return status.st_uid != 0 || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0;
  }

  bool not_executable(const std::string& path) override {
    const auto place = find(behind_links(path).native(), For::kReading);
    struct stat status {};
    if (!place || ::fstatat(place->folder.get(), place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return false;
    return (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0;
  }

 private:
  enum class For { kReading, kWriting, kRemoving };

  /// The path that a symbolic link leads to, and a link there, and so on.
  [[nodiscard]] std::filesystem::path behind_links(const std::string& path) const {
    std::filesystem::path at(path);
    for (int links = 0; links < kLinksMost; ++links) {
      const auto place = find(at.native(), For::kReading);
      if (!place) break;  // as read() says it
      const auto target = detail::link_of(*place);
      if (target.empty()) break;
      at = at.parent_path() / target;
    }
    return at;
  }

  [[nodiscard]] Result<FilePlace> find(const std::string& path, For what) const {
    const std::filesystem::path whole(path);
    const auto name = whole.filename().native();
    if (!whole.is_absolute() || name.empty() || name == "." || name == "..") {
      return fail(Code::kInvalid, fmt::format("\"{}\": not an absolute path of a file", path));
    }
    const auto links =
        what == For::kReading ? detail::RootedDir::Links::kFollowed : detail::RootedDir::Links::kInside;
    auto folder =
        what == For::kWriting ? dirs_.make(whole.parent_path()) : dirs_.open(whole.parent_path(), links);
    if (!folder) return fail(folder.error());
    return FilePlace{std::move(*folder), name, path, dirs_.shown(path)};
  }

  [[nodiscard]] mode_t new_mode(const std::string& path, mode_t most) const {
    return private_ && !path.starts_with("/etc/systemd/") ? kPrivateMode : most;
  }

  [[nodiscard]] mode_t wanted_mode(const struct stat& there, const std::string& path, mode_t most) const {
    const auto mode = mode_beside(there, most);
    return is_ours(path) ? mode & new_mode(path, most) : mode;
  }

  /// A file that an administrator let fewer people read, as those with keys in them, stays so.
  static mode_t mode_beside(const struct stat& there, mode_t most) {
    const bool narrower = (there.st_mode & most) != most;
    return narrower ? most & (there.st_mode | S_IRUSR | S_IWUSR) : most;
  }

  /// Gives a narrower file's group to the new one, as its service may read it by that (systemd-networkd is
  /// not root). @return the mode for it: without the right to do so, what the group may read does not go to
  /// another one; but our files hold no secrets, and must stay readable.
  static mode_t with_its_group(const struct stat& there, int file, mode_t mode, mode_t most,
                               const FilePlace& place) {
    if (mode == most || (mode & S_IRWXG) == 0) return mode;
    struct stat made {};
    if (::fstat(file, &made) == 0 && made.st_gid == there.st_gid) return mode;
    if (::fchown(file, static_cast<uid_t>(-1), there.st_gid) == 0) return mode;
    return is_ours(place.name) ? most : mode & ~static_cast<mode_t>(S_IRWXG);
  }

  /// By its name, which nobody else takes.
  static bool is_ours(std::string_view name) {
    return name.find("rdma-configd") != std::string_view::npos ||
           name.find("rdma_configd") != std::string_view::npos;
  }

  static bool is_as_wanted(const FileContent& there, std::string_view wanted, mode_t mode) {
    return there.text == wanted && (there.status.st_mode & 07777U) == mode &&
           there.status.st_uid == ::geteuid();
  }

  static Result<void> sync_folder(const FilePlace& place) {
    if (::fsync(place.folder.get()) != 0) return fail_errno(errno, place.shown);
    return {};
  }

  detail::RootedDir dirs_;
  bool private_ = false;
  std::map<std::string, struct stat> removed_;  ///< files that this process has removed, as they were
};

}  // namespace

std::unique_ptr<Files> make_linux_files(std::filesystem::path root) {
  return std::make_unique<LinuxFiles>(std::move(root));
}

}  // namespace rdmacfg::system
