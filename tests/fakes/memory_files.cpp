// SPDX-License-Identifier: Apache-2.0
#include "fakes/memory_files.hpp"

#include <cerrno>
#include <utility>

#include "model/limits.hpp"

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;

Result<std::optional<std::string>> MemoryFiles::read(const std::string& path) {
  if (unreadable.contains(path)) return fail_errno(EACCES, path + ": read");
  if (const auto failure = next_read.extract(path); !failure.empty())
    return fail_errno(failure.mapped(), path + ": read");
  if (links.contains(path))
    return base::fail(base::Code::kIo, path + " is a symbolic link, not a regular file");
  if (content.contains(path.substr(0, path.rfind('/')))) return fail_errno(ENOTDIR, path + ": read");
  const auto at = content.find(path);
  if (at == content.end()) return std::optional<std::string>{};
  return std::optional<std::string>{at->second};
}

Result<void> MemoryFiles::write(const std::string& path, std::string_view text) {
  constexpr std::size_t kLimit = std::size_t{4} * 1024 * 1024;  // as Files::write
  const auto folder = path.substr(0, path.rfind('/'));
  const bool record = folder == "/var/lib/rdma-configd" || folder == "/run/rdma-configd";
  if (text.size() > (record ? model::limits::kRecordBytes : kLimit))
    return base::fail(base::Code::kInvalid, path + ": too long to be written");
  const auto at = content.find(path);
  if (at != content.end() && at->second == text && !access.contains(path)) return {};
  const int err = faults_.call(path + ": write", [&] {
    content.insert_or_assign(path, std::string(text));
    if (keeps_private) root_only.insert(path);
    access.erase(path);
    return 0;
  });
  if (err != 0) return fail_errno(err, path + ": write");
  return {};
}

Result<void> MemoryFiles::write_private(const std::string& path, std::string_view text) {
  auto done = write(path, text);
  if (done) root_only.insert(path);
  return done;
}

Result<void> MemoryFiles::rename(const std::string& from, const std::string& to) {
  const bool link = links.contains(from);
  if (!content.contains(from) && !link) return {};
  const int err = faults_.call(from + ": rename", [&] {
    const auto move = [&](std::set<std::string>& paths) {
      paths.erase(to);
      if (paths.erase(from) > 0) paths.insert(to);
    };
    content.erase(to);
    access.erase(to);
    if (auto text = content.extract(from)) {
      text.key() = to;
      content.insert(std::move(text));
    }
    if (auto odd = access.extract(from)) {
      odd.key() = to;
      access.insert(std::move(odd));
    }
    for (auto* paths : {&root_only, &unreadable, &links, &exposed}) move(*paths);
    return 0;
  });
  if (err != 0) return fail_errno(err, from + ": rename");
  return {};
}

Result<void> MemoryFiles::remove(const std::string& path) {
  if (!content.contains(path)) return {};
  const int err = faults_.call(path + ": remove", [&] {
    content.erase(path);
    return 0;
  });
  if (err != 0) return fail_errno(err, path + ": remove");
  return {};
}

Result<std::vector<std::string>> MemoryFiles::list(const std::string& folder) {
  if (content.contains(folder)) return fail_errno(ENOTDIR, folder + ": list");
  const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  std::set<std::string> names;
  for (const auto& [path, text] : content) {
    if (path.starts_with(prefix))
      names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace rdmacfg::fakes
