// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/initramfs_stamp.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/dracut_conf.hpp"
#include "formats/managed_block.hpp"
#include "kinds/boot_record.hpp"

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

bool made_by_dracut(system::Host& host) {
  const auto tool = host.initramfs.tool();
  if (!tool || tool->starts_with("mkinitcpio")) return false;
  // All others are commands over dracut but initramfs-tools' update-initramfs, of which dracut's own has the
  // name and not the text.
  if (!tool->starts_with("update-initramfs")) return true;
  const auto script = host.files.read("/usr/sbin/update-initramfs");
  return script && *script && (*script)->find("dracut") != std::string::npos;
}

bool has_dracut_module(system::Files& files, std::string_view module) {
  const auto folders = files.list("/usr/lib/dracut/modules.d");
  const bool there = folders && std::any_of(folders->begin(), folders->end(), [&](const std::string& name) {
                       return name.size() == module.size() + 2 && name.ends_with(module) &&
                              name.find_first_not_of("0123456789") == 2;
                     });
  return there && !read_dracut_conf(files).omitted_modules.contains(module);
}

bool has_rdma_in_image(system::Host& host) {
  return has_dracut_module(host.files, "rdma") && made_by_dracut(host);
}

Result<Contents> contents_now(system::Host& host) {
  Contents out;
  for (const auto path : kInitramfsFiles) {
    if (path == kMlx4File) continue;
    auto content = host.files.read(std::string(path));
    if (!content) return base::fail(content.error());
    if (*content) out.emplace(path, std::move(**content));
  }
  if (!has_rdma_in_image(host)) return out;
  const auto file = read_marked(host.files, std::string(kMlx4File));
  if (!file) return base::fail(file.error());
  // Without remarks of ours on the text around them, which port_types_after() does not know.
  const auto text = file->text.value_or(std::string());
  std::string lines;
  for (const auto& line : parse_marked(text, kMlx4Marks).lines) {
    if (line.ours && !line.text.starts_with('#')) lines.append(line.text).append("\n");
  }
  if (!lines.empty()) out.emplace(kMlx4File, std::move(lines));
  return out;
}

Result<std::string> digest_now(system::Host& host) {
  const auto contents = contents_now(host);
  if (!contents) return base::fail(contents.error());
  return digest_of(*contents);
}

Result<std::string> read_stamp(system::Files& files) {
  auto text = read_kept_record(files, std::string(kInitramfsStamp));
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

Result<void> write_for_image(system::Host& host, const std::function<Result<void>()>& write) {
  const auto marks =
      host.offline || !can_rebuild(host) ? std::string() : host.initramfs.marks_ahead_of_clock();
  const auto stamp = read_stamp(host.files);
  if (!stamp || *stamp == kUnfinishedStamp || (marks.empty() && !stamp->starts_with(kUndatedStamp)))
    return write();
  const auto before = digest_now(host);
  if (!before) return write();
  // A /var that cannot be written keeps nothing from being configured; times are then all there is.
  (void)write_stamp(host.files, marks.empty() ? std::string() : std::string(kUndatedStamp) + marks);
  auto done = write();
  const auto after = digest_now(host);
  if (after && *after == *before) (void)write_stamp(host.files, *stamp);
  return done;
}

Result<void> note_dropped_options(system::Host& host, std::string_view path, OptionsFile file) {
  const auto stamp = read_stamp(host.files);
  if (!stamp) return base::fail(stamp.error());
  if (file == OptionsFile::kStays)
    return *stamp == kDroppedStamp ? write_stamp(host.files, {}) : Result<void>{};
  const auto digest = digest_now(host);
  if (!digest) return base::fail(digest.error());
  // Of an image that we made with this file the digest tells.
  if (*stamp == *digest || *stamp == kUnfinishedStamp || *stamp == kDroppedStamp) return {};
  const auto contents = contents_now(host);
  if (!contents) return base::fail(contents.error());
  if (!contents->contains(path) || !can_rebuild(host)) return {};
  return write_stamp(host.files, kDroppedStamp);
}

}  // namespace rdmacfg::kinds
