// SPDX-License-Identifier: Apache-2.0
// With drift = "report": the resources that were as wanted, for the next daemon of this boot. To that one
// every difference would else be new, and be made as the document says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "daemon/reconciler.hpp"
#include "system/files.hpp"

namespace rdmacfg::daemon {

class SettledFile {
 public:
  struct Content {
    std::uint64_t generation = 0;  ///< that was held
    Reconciler::Settled resources;
    bool operator==(const Content&) const = default;
  };

  /// `path`: on a file system that does not outlive a boot.
  SettledFile(system::Files& files, std::string path, std::string boot_id)
      : files_(files), path_(std::move(path)), boot_id_(std::move(boot_id)) {}

  /// Nothing without one of this boot.
  [[nodiscard]] std::optional<Content> load();
  [[nodiscard]] base::Result<void> save(const Content& content);
  [[nodiscard]] base::Result<void> clear();

 private:
  system::Files& files_;
  std::string path_, boot_id_;
};

}  // namespace rdmacfg::daemon
