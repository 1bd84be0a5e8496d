// SPDX-License-Identifier: Apache-2.0
// Tells a start after a crash from every other one: the configuration is read at apply, reload and boot, and
// not because the daemon was killed while somebody was editing it.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
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
    return text && *text && base::split(std::string_view(**text), '\n').front() == boot_id_;
  }
  /// The configuration was read. The marker of another daemon that runs stays.
  [[nodiscard]] base::Result<void> set() {
    if (is_anothers()) return {};
    return files_.write(path_, fmt::format("{}\n{}\n", boot_id_, process_text(std::to_string(::getpid()))));
  }
  /// The daemon ends as it should. The marker of another daemon that runs stays.
  [[nodiscard]] base::Result<void> clear() {
    if (is_anothers()) return {};
    return files_.remove(path_);
  }

 private:
  /// Whether a process set it that runs and is another, such as the service's beside one started by hand.
  [[nodiscard]] bool is_anothers() {
    const auto text = files_.read(path_);
    if (!text || !*text) return false;
    const auto lines = base::split(std::string_view(**text), '\n');
    if (lines.size() < 2 || lines[0] != boot_id_) return false;
    const auto blank = lines[1].find(' ');
    if (blank == std::string_view::npos) return false;  // without a start nobody can be told from a later one
    const std::string pid(lines[1].substr(0, blank));
    return pid != std::to_string(::getpid()) && process_text(pid) == lines[1];
  }

  /// "4711 123456": process id and start, as proc_pid_stat(5) counts it; a later process of the same number
  /// has another. Without a start where there is no such process.
  [[nodiscard]] std::string process_text(const std::string& pid) {
    constexpr std::size_t kStart = 19;  // field 22, behind the name and the state
    const auto text = pid.find_first_not_of("0123456789") == std::string::npos
                          ? files_.read(fmt::format("/proc/{}/stat", pid))
                          : base::Result<std::optional<std::string>>();
    if (!text || !*text) return pid;
    const std::string_view stat = **text;
    const auto words = base::words_of(stat.substr(stat.rfind(')') + 1), " \t\n");
    return words.size() > kStart ? fmt::format("{} {}", pid, words[kStart]) : pid;
  }

  system::Files& files_;
  std::string path_, boot_id_;
};

}  // namespace rdmacfg::daemon
