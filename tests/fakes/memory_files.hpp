// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/faults.hpp"
#include "system/files.hpp"

namespace rdmacfg::fakes {

/// The files of a host, in memory. Writes that change nothing and removals of what is not there are no calls.
class MemoryFiles final : public system::Files {
 public:
  explicit MemoryFiles(Faults& faults) : faults_(faults) {}

  base::Result<std::optional<std::string>> read(const std::string& path) override;
  base::Result<void> write(const std::string& path, std::string_view content) override;
  base::Result<void> write_private(const std::string& path, std::string_view content) override;
  base::Result<void> rename(const std::string& from, const std::string& to) override;
  base::Result<void> remove(const std::string& path) override;
  base::Result<std::vector<std::string>> list(const std::string& folder) override;
  std::string odd_access(const std::string& path, system::Readers /*readers*/) override {
    const auto at = access.find(path);
    return at == access.end() || !content.contains(path) ? std::string() : at->second;
  }
  base::Result<void> sync(const std::string& folder) override {
    synced.insert(folder);
    return {};
  }
  void keep_private(bool is_private) override { keeps_private = is_private; }
  bool hidden(const std::string& path) override { return root_only.contains(path); }
  std::optional<std::uint64_t> born(const std::string& path) override {
    const auto at = births.find(path);
    return at == births.end() ? std::nullopt : std::optional(at->second);
  }
  std::optional<std::uint64_t> modified(const std::string& path) override {
    const auto at = writings.find(path);
    return at == writings.end() ? std::nullopt : std::optional(at->second);
  }
  std::string link_target(const std::string& path) override {
    const auto at = link_targets.find(path);
    return at == link_targets.end() ? std::string() : at->second;
  }
  bool open_to_others(const std::string& path) override { return exposed.contains(path); }
  bool not_executable(const std::string& path) override {
    return content.contains(path) && plain.contains(path);
  }

  /// The content itself, without counting and faults.
  std::map<std::string, std::string> content;
  /// Mode and owner of files that are not as they were written: "mode 0666".
  std::map<std::string, std::string> access;
  /// Paths of files that only root may read; those written by write_private() or under keep_private() are
  /// added.
  std::set<std::string> root_only;
  bool keeps_private = false;
  /// Folders that sync() was called for.
  std::set<std::string> synced;
  /// Paths whose reading fails with EACCES.
  std::set<std::string> unreadable;
  /// The errno of the next read of a path, and of no later one.
  std::map<std::string, int> next_read{};
  /// Paths at which there is no regular file.
  std::set<std::string> links;
  /// Targets of symbolic links, by their paths.
  std::map<std::string, std::string> link_targets{};
  /// When files were created, where that is known.
  std::map<std::string, std::uint64_t> births;
  /// When files were last written, where that is known.
  std::map<std::string, std::uint64_t> writings;
  /// Paths of files that others than root may read.
  std::set<std::string> exposed;
  /// Paths of files that nobody may execute.
  std::set<std::string> plain;

 private:
  Faults& faults_;
};

}  // namespace rdmacfg::fakes
