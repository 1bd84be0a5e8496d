// SPDX-License-Identifier: Apache-2.0
#include "config/trust.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <vector>

#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace rdmacfg::config {

namespace {

using base::UniqueFd;

constexpr int kLinksMost = 40;  // as the kernel (MAXSYMLINKS)

void put_in_front(std::deque<std::string>& parts, std::string_view path) {
  std::vector<std::string> fresh;
  for (const auto part : base::split(path, '/')) {
    if (!part.empty() && part != ".") fresh.emplace_back(part);
  }
  parts.insert(parts.begin(), fresh.begin(), fresh.end());
}

}  // namespace

std::string written_by_others(const struct stat& status, std::string_view object) {
  if (status.st_uid != 0 && status.st_uid != ::geteuid())
    return fmt::format("{} belongs to user {}", object, status.st_uid);
  if ((status.st_mode & S_IWOTH) != 0) return fmt::format("every user can write to {}", object);
  if ((status.st_mode & S_IWGRP) != 0) return fmt::format("group {} can write to {}", status.st_gid, object);
  return {};
}

PathTrust path_trust(int root, std::string_view below) {
  PathTrust out;
  std::deque<std::string> parts;
  put_in_front(parts, below);
  std::vector<UniqueFd> way;  // of the folders behind us
  std::vector<std::string> names;
  int links = 0;
  const auto here = [&] { return way.empty() ? root : way.back().get(); };
  while (!parts.empty()) {
    struct stat status {};
    if (::fstat(here(), &status) != 0) return out;
    if (out.written_by_others.empty())
      out.written_by_others =
          written_by_others(status, fmt::format("the folder /{}", base::join(names, "/")));
    out.closed = out.closed || (!way.empty() && (status.st_mode & S_IXOTH) == 0);
    const auto name = parts.front();
    parts.pop_front();
    if (name == "..") {
      if (!way.empty()) {
        way.pop_back();
        names.pop_back();
      }
      continue;
    }
    UniqueFd next(::openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next || ::fstat(next.get(), &status) != 0) return out;  // reading it has failed, or will
    if (S_ISLNK(status.st_mode)) {
      std::array<char, 4096> target{};
      const auto length = ::readlinkat(next.get(), "", target.data(), target.size());
      if (length < 0 || ++links > kLinksMost) return out;
      const std::string_view to(target.data(), static_cast<std::size_t>(length));
      if (to.starts_with('/')) {
        way.clear();
        names.clear();
      }
      put_in_front(parts, to);
      continue;
    }
    if (!S_ISDIR(status.st_mode)) return out;
    way.push_back(std::move(next));
    names.push_back(name);
  }
  return out;
}

}  // namespace rdmacfg::config
