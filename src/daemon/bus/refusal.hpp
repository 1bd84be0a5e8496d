// SPDX-License-Identifier: Apache-2.0
// Why the configuration, as it was last read, is not what is held.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "daemon/jobs/outcome.hpp"
#include "system/files.hpp"

namespace rdmacfg::daemon {

class Refusal {
 public:
  /// `path`: for the daemon that comes after a crash, which holds what is active and does not read the
  /// configuration; on a file system that does not outlive a boot.
  Refusal(system::Files& files, std::string path, std::string boot_id)
      : files_(files), path_(std::move(path)), boot_id_(std::move(boot_id)) {}

  /// Empty: it is what is held.
  [[nodiscard]] const std::string& why() const { return now_.why; }

  /// An apply of the configuration has ended. One that was cancelled, or that has not come to it, changes
  /// nothing of what was said last.
  void judge(const Outcome& outcome);
  /// Another generation is active than that which was held instead: somebody has applied it.
  void active(std::optional<std::uint64_t> generation);
  /// Somebody wanted what is held now.
  void clear() { now_ = {}; }

  /// The record of the daemon before this one, in this boot.
  void load();
  /// For the next one; writes only what is not written already.
  [[nodiscard]] base::Result<void> keep();

 private:
  struct Content {
    std::string why;
    std::optional<std::uint64_t> at;  ///< generation that is held instead; nothing: not known yet
    bool operator==(const Content&) const = default;
  };

  system::Files& files_;
  std::string path_, boot_id_;
  Content now_;
  std::optional<Content> kept_;
};

}  // namespace rdmacfg::daemon
