// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/initramfs_stamp.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;

std::string digest_of(const Contents& contents) {
  if (contents.empty()) return {};
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::string_view text) {
    for (const char c : text) {
      hash ^= static_cast<unsigned char>(c);
      hash *= 0x100000001b3U;
    }
    hash ^= 0xffU;
    hash *= 0x100000001b3U;
  };
  for (const auto& [path, content] : contents) {
    add(path);
    add(content);
  }
  return fmt::format("{:016x}", hash);
}

Result<std::string> digest_now(system::Files& files) {
  Contents contents;
  for (const auto path : kInitramfsFiles) {
    auto content = files.read(std::string(path));
    if (!content) return base::fail(content.error());
    if (*content) contents.emplace(path, std::move(**content));
  }
  return digest_of(contents);
}

Result<std::string> read_stamp(system::Files& files) {
  auto text = files.read(std::string(kInitramfsStamp));
  if (!text) return base::fail(text.error());
  return std::string(base::trim(text->value_or(std::string())));
}

Result<void> write_stamp(system::Files& files, std::string_view stamp) {
  if (stamp.empty()) return files.remove(std::string(kInitramfsStamp));
  return files.write(std::string(kInitramfsStamp), std::string(stamp) + "\n");
}

bool is_there(system::Files& files, std::string_view path) {
  const auto text = files.read(std::string(path));
  return text && text->has_value();
}

bool can_rebuild(system::Host& host) { return host.initramfs.tool() && host.initramfs.has_image(); }

Result<void> note_dropped_options(system::Host& host, std::string_view path, bool goes) {
  const auto stamp = read_stamp(host.files);
  if (!stamp) return base::fail(stamp.error());
  if (!goes) return *stamp == kDroppedStamp ? write_stamp(host.files, {}) : Result<void>{};
  const auto digest = digest_now(host.files);
  if (!digest) return base::fail(digest.error());
  // Of an image that we made with this file the digest tells.
  if (*stamp == *digest || *stamp == kUnfinishedStamp || *stamp == kDroppedStamp) return {};
  if (!is_there(host.files, path) || !can_rebuild(host)) return {};
  return write_stamp(host.files, kDroppedStamp);
}

}  // namespace rdmacfg::kinds
