// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "system/linux/linux_host.hpp"
#include "system/temporary_file.hpp"

namespace rdmacfg::daemon {

/// A write that was killed leaves its file, which no list of folders of ours has. One that a living process
/// writes stays (Files::remove()).
void MetricsFile::clear_leftovers(const std::string& folder) {
  // The folder may belong to a user who fills it, and the main loop waits for this; a run leaves one at most.
  constexpr int kLookedAtMost = 10'000, kRemovedMost = 16;
  int looked_at = 0, removed = 0;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(folder, error);
       !error && at != std::filesystem::directory_iterator() && removed < kRemovedMost &&
       looked_at < kLookedAtMost;
       at.increment(error)) {
    ++looked_at;
    const auto name = at->path().filename().native();
    if (!system::is_temporary_file(name)) continue;
    ++removed;
    (void)files_.remove(fmt::format("{}/{}", folder, name));
  }
}

/// Removes the file of the folder in use before `path`; empty: no metrics are wanted. @return why it failed
std::string MetricsFile::remove_former(const std::string& path) {
  const auto folder = std::filesystem::path(path_).parent_path().native();
  // On a file system that may not answer, the file stays.
  if (system::type_unless_local(folder, mounts_).empty()) {
    clear_leftovers(folder);
    if (auto done = files_.remove(path_); !done) return done.error().message;
  }
  if (path.empty()) {
    if (auto done = files_.remove(note_); !done) return done.error().message;
  }
  path_.clear();
  return {};
}

void MetricsFile::read_note() {
  if (std::exchange(noted_, true)) return;
  const auto note = files_.read(note_);
  if (note && *note) path_ = base::trim(**note);
  // Nobody but root writes the note; all the same only a file of ours is ever removed or replaced.
  if (!path_.ends_with(std::string("/") + metrics::kFileName)) path_.clear();
}

std::string MetricsFile::say_ended() {
  read_note();
  if (path_.empty()) return {};
  const auto folder = std::filesystem::path(path_).parent_path().native();
  if (!system::type_unless_local(folder, mounts_).empty()) return {};
  const auto left = files_.read(path_);
  if (!left) return "metrics: " + left.error().message;
  const auto text = *left ? metrics::after_end(**left) : std::nullopt;
  if (!text) return {};
  if (auto done = files_.write(path_, *text); !done) return "metrics: " + done.error().message;
  return {};
}

std::string MetricsFile::keep(const std::string& folder, const metrics::Facts& facts) {
  read_note();
  const auto path = folder.empty() ? std::string() : folder + "/" + metrics::kFileName;
  if (path_ != path && !path_.empty()) {
    if (auto why = remove_former(path); !why.empty()) return "metrics: " + why;
  }
  if (path.empty()) return {};
  auto text = metrics::text_of(facts);
  if (cleared_ && path_ == path && written_ == text) return {};
  if (const auto type = system::type_unless_local(folder, mounts_); !type.empty()) {
    return fmt::format(
        "metrics: folder {} is on a file system of type {}, which can block the daemon; choose a folder on a "
        "local disk or in memory",
        folder, type);
  }
  if (!std::exchange(cleared_, true)) clear_leftovers(folder);
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return fmt::format("metrics: folder {} does not exist; create it, or install node_exporter", folder);
  }
  if (path_ != path) {
    if (auto done = files_.write(note_, path + "\n"); !done) return "metrics: " + done.error().message;
  }
  if (auto done = files_.write(path, text); !done) {
    return fmt::format(
        "metrics: {} (a folder outside of those in ReadWritePaths= of rdma-configd.service needs "
        "a drop-in)",
        done.error().message);
  }
  path_ = path;
  written_ = std::move(text);
  return {};
}

}  // namespace rdmacfg::daemon
