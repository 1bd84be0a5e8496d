// SPDX-License-Identifier: Apache-2.0
// Tells a start after a crash from every other one: the configuration is read at apply, reload and boot, and
// not because the daemon was killed while somebody was editing it.
#pragma once

#include <string>
#include <utility>

#include "system/files.hpp"

namespace rdmacfg::daemon {

class Marker {
 public:
  /// `path`: on a file system that does not outlive a boot.
  Marker(system::Files& files, std::string path, std::string boot_id)
      : files_(files), path_(std::move(path)), boot_id_(std::move(boot_id)) {}

  /// Whether a daemon of this boot had read the configuration, and did not come to its end.
  [[nodiscard]] bool stands() {
    const auto text = files_.read(path_);
    return text && *text && **text == text_of();
  }
  /// The configuration was read.
  [[nodiscard]] base::Result<void> set() { return files_.write(path_, text_of()); }
  /// The daemon ends as it should.
  [[nodiscard]] base::Result<void> clear() { return files_.remove(path_); }

 private:
  [[nodiscard]] std::string text_of() const { return boot_id_ + "\n"; }

  system::Files& files_;
  std::string path_, boot_id_;
};

}  // namespace rdmacfg::daemon
