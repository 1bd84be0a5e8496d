// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace rdmacfg::daemon {

/// Programs of root and of system accounts that run now and are known to set what we set. The kernel's
/// notifications do not say who changed something.
class Suspects {
 public:
  explicit Suspects(std::filesystem::path proc = "/proc") : proc_(std::move(proc)) {}

  /// Those that set what a resource of this kind is: "NetworkManager, openibd"; empty when none runs. The
  /// processes are looked at once, when it is first asked.
  [[nodiscard]] std::string of(std::string_view kind);

 private:
  std::filesystem::path proc_;
  std::optional<std::set<std::string>> running_;
};

}  // namespace rdmacfg::daemon
