// SPDX-License-Identifier: Apache-2.0
// Reads folders of sysfs, and tells what is missing from what cannot be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/unique_fd.hpp"

namespace rdmacfg::system::detail {

/// The reason why something that is there could not be read: without it a device would look as if it were
/// another one, or not there at all.
class FirstError {
 public:
  /// Nothing for errors that say that it is not there or has gone.
  void note(int error, const std::string& path);
  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }
  /// The values read, if all of them could be.
  template <class T>
  [[nodiscard]] base::Result<T> unless_any(T read) const {
    if (error_) return base::fail(*error_);
    return read;
  }

 private:
  std::optional<base::Error> error_;  ///< the first one
};

/// A folder of sysfs that is held open: everything read through it belongs to one device, even when another
/// one takes its name meanwhile.
class SysfsDir {
 public:
  /// Nothing when it is missing or may not be read. Parts of it that exist but cannot be opened are
  /// noted in `first_error`, which outlives it.
  static std::optional<SysfsDir> open(const std::string& path, FirstError* first_error = nullptr);
  [[nodiscard]] std::optional<SysfsDir> sub(const std::string& path) const;

  /// An attribute without blanks around it; nothing when it cannot be read (absent, EINVAL, device gone).
  [[nodiscard]] std::optional<std::string> read(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name) const { return read(name).value_or(std::string()); }
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& name) const;

  /// The target of a symbolic link in it, as it is written there; empty when it is not one.
  [[nodiscard]] std::string link(const std::string& name) const;

  /// Names of its entries without dot files, sorted.
  [[nodiscard]] std::vector<std::string> list() const;

 private:
  SysfsDir(int fd, std::string path, FirstError* first_error)
      : fd_(fd), path_(std::move(path)), first_error_(first_error) {}
  void note(int error, const std::string& name) const;

  base::UniqueFd fd_;
  std::string path_;  ///< for messages
  FirstError* first_error_;
};

}  // namespace rdmacfg::system::detail
