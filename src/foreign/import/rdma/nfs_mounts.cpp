// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/rdma/nfs_mounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "foreign/keys.hpp"
#include "formats/storage/mount_unit.hpp"

namespace rdmacfg::foreign {

namespace {

bool mounts_over_rdma(std::string_view options) {
  const auto all = base::split(options, ',');
  return std::any_of(all.begin(), all.end(), [](std::string_view option) {
    return option == "rdma" || option == "proto=rdma" || option == "proto=rdma6";
  });
}

/// The value of "port=20049"; empty for none, or the usual one.
std::string_view other_port(std::string_view options) {
  constexpr std::string_view kPort = "port=";
  std::string_view out;
  for (const auto option : base::split(options, ',')) {
    if (option.starts_with(kPort)) out = option.substr(kPort.size());
  }
  return out == "20049" ? std::string_view() : out;
}

/// The entry that says the same. @param what  what it is in: "line"
std::string advice_for_mount(std::string_view source, std::string_view path, std::string_view options,
                             std::string_view what) {
  const auto colon = source.find(":/");
  // Paths with blanks, which each of these files spells differently (\040, \x20), are left to the reader.
  const bool plain = fmt::format("{} {}", source, path).find_first_of("\\\"") == std::string::npos;
  if (colon == std::string_view::npos || !path.starts_with('/') || !plain)
    return fmt::format("write [[nfs_mount]]; until then keep this {}", what);
  auto server = source.substr(0, colon);
  if (server.starts_with('[') && server.ends_with(']')) server = server.substr(1, server.size() - 2);
  auto entry =
      fmt::format(R"(path = "{}", server = "{}", export = "{}")", path, server, source.substr(colon + 1));
  if (const auto port = other_port(options); !port.empty()) entry += fmt::format(", port = {}", port);
  return fmt::format("write [[nfs_mount]] with {} in place of this {}; until then it stays in force", entry,
                     what);
}

}  // namespace

void tell_fstab(const File& file, Claims& claims) {
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto words = words_of(raw.substr(0, raw.find('#')));
    if (words.size() < 4 || (words[2] != "nfs" && words[2] != "nfs4") || !mounts_over_rdma(words[3]))
      continue;
    claims.pass({file.path, number}, advice_for_mount(words[0], words[1], words[3], "line"));
  }
}

void tell_mount_unit(const File& file, Claims& claims) {
  if (kinds::is_our_mount_unit(file.text)) return;
  Claims aside;  // what systemd makes of other lines is its own matter
  std::string source, path, options, type;
  Place where{file.path, 0};
  for (const auto& group : parse_groups(file, aside)) {
    for (const auto& item : group.items) {
      if (group.name != "Mount") continue;
      if (item.key == "What") source = item.value;
      if (item.key == "Where") path = item.value;
      if (item.key == "Type") type = item.value;
      if (item.key != "Options") continue;
      options = item.value;
      where.line = item.line;
    }
  }
  // Of CIFS, "rdma" is an option, too. Without a type, mount(8) takes NFS for a source like ours.
  const bool nfs = type.empty() || type == "nfs" || type == "nfs4";
  if (nfs && mounts_over_rdma(options)) claims.pass(where, advice_for_mount(source, path, options, "unit"));
}

void tell_automounts(const File& file, Claims& claims) {
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto words = words_of(raw.substr(0, raw.find('#')));
    const bool rdma = std::any_of(words.begin(), words.end(), [](std::string_view word) {
      return word.starts_with('-') && mounts_over_rdma(word.substr(1));
    });
    if (rdma) claims.pass({file.path, number}, "the document has no automounts; keep this line");
  }
}

}  // namespace rdmacfg::foreign
