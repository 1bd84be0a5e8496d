// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/profiles/networkd_older.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/managed_block.hpp"
#include "formats/udev/udev_backend.hpp"
#include "kinds/address/interface_file_names.hpp"
#include "model/value.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;

namespace {

constexpr std::string_view kOlderPrefix = "10-rdma-configd-";
constexpr InterfaceFileNames kOlderNames{kOlderPrefix, ".network"};
// In Change::carried, before the text of the older file.
constexpr std::string_view kOlderAlone = "older file alone ", kOlderBeside = "older file beside ";

std::string file_name_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

/// The file of now in place of which an older version wrote `name`, and the entry that requests it.
struct Replaced {
  std::string file;
  const Desired* by = nullptr;
};

std::optional<Replaced> replaced(std::string_view name, const std::vector<Desired>& desired) {
  const auto id = older_networkd_id(name);
  const bool keeps_off = name == file_name_of(kOlderKeepOffNetworkd);
  if (!id && !keeps_off) return std::nullopt;
  const auto by = std::find_if(desired.begin(), desired.end(), [&](const Desired& resource) {
    if (resource.ignore || resource.absent) return false;
    return id ? resource.key.kind == "networkd" && resource.key.id == *id : resource.key.kind == "backend";
  });
  if (by == desired.end()) return std::nullopt;
  return Replaced{id ? networkd_file(*id) : std::string(kKeepOffNetworkd), &*by};
}

}  // namespace

std::string older_networkd_file(std::string_view id) {
  return fmt::format("{}/{}", kNetworkdFolder, kOlderNames.name(id));
}

std::optional<std::string> older_networkd_id(std::string_view file_name) { return kOlderNames.id(file_name); }

Result<NetworkFiles> read_network_files(std::string_view id, system::Files& files) {
  auto text = files.read(networkd_file(id));
  if (!text) return base::fail(text.error());
  const auto older = files.read(older_networkd_file(id));
  if (!older && !system::is_unusable(older.error())) return base::fail(older.error());
  NetworkFiles out{std::move(*text), std::nullopt};
  if (older && *older && begins_as_ours(**older)) out.older = **older;  // a link or a folder is not ours
  return out;
}

NetworkdFile parse_network_files(std::string_view id, const NetworkFiles& files) {
  auto out = parse_network(id, files.used().value_or(std::string()));
  const auto name = kOlderNames.name(id);
  if (files.only_older()) {
    out.older_name = name;
  } else if (files.older) {
    out.older_name = fmt::format("{} beside {}", name, file_name_of(networkd_file(id)));
  }
  return out;
}

void carry_older(Change& change, const NetworkFiles& now) {
  if (!now.older) return;
  change.carried.push_back(std::string(now.only_older() ? kOlderAlone : kOlderBeside).append(*now.older));
}

std::optional<FormerOlder> former_older(const Change& change) {
  if (change.operation == model::Operation::kDelete ||
      model::value_of(change.after, "older_name") == model::Value{})
    return std::nullopt;
  for (const auto& carried : change.carried) {
    if (carried.starts_with(kOlderAlone)) return FormerOlder{carried.substr(kOlderAlone.size()), true};
    if (carried.starts_with(kOlderBeside)) return FormerOlder{carried.substr(kOlderBeside.size()), false};
  }
  return std::nullopt;
}

void warn_of_older_drop_ins(const std::vector<Desired>& desired, World& world, Diagnostics& diagnostics) {
  constexpr std::string_view kFolderEnd = ".d";
  auto& files = world.host().files;
  const auto names = files.list(std::string(kNetworkdFolder));
  if (!names) return;  // what may not be read cannot be warned about
  for (const auto& name : *names) {
    if (!name.starts_with(kOlderPrefix) || !name.ends_with(kFolderEnd)) continue;
    const auto file = std::string_view(name).substr(0, name.size() - kFolderEnd.size());
    const auto now = replaced(file, desired);
    if (!now) continue;
    const auto folder = fmt::format("{}/{}", kNetworkdFolder, name);
    const auto inside = files.list(folder);
    const bool any = inside && std::any_of(inside->begin(), inside->end(),
                                           [](const auto& entry) { return entry.ends_with(".conf"); });
    if (!any) continue;
    diagnostics.push_back({model::Severity::kWarning,
                           now->by->where,
                           fmt::format("{} has no effect any more: the file that it extends is now called {}",
                                       folder, file_name_of(now->file)),
                           fmt::format("move its files to {}.d and run `networkctl reload`", now->file),
                           {}});
  }
}

}  // namespace rdmacfg::kinds
