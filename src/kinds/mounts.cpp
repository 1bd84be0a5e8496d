// SPDX-License-Identifier: Apache-2.0
#include "kinds/mounts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::IpAddress;

namespace {

/// Programs, our files and our records are there.
constexpr std::array<std::string_view, 4> kSystemMounts{"/", "/usr", "/etc", "/var"};

std::optional<IpAddress> address_option(const Mounted& mounted, const std::string& key) {
  const auto at = mounted.options.find(key);
  if (at == mounted.options.end()) return std::nullopt;
  const auto address = IpAddress::parse(at->second);
  return address ? std::optional(*address) : std::nullopt;
}

void add_nfs_server(const Mounted& mounted, std::string_view where, std::vector<RootServer>& out) {
  const auto peer = mounted.is_nfs() ? address_option(mounted, "addr") : std::nullopt;
  if (peer) out.push_back({*peer, address_option(mounted, "clientaddr"), std::string(where)});
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

/// The mounts that the layers of an overlay are on.
void add_layers(const std::map<std::string, Mounted>& mounts, const Mounted& overlay, std::string_view where,
                std::vector<RootServer>& out) {
  for (const auto& [key, folders] : overlay.options) {
    if (!key.starts_with("lowerdir") && key != "upperdir") continue;
    for (const auto folder : base::split(folders, ':')) {
      for (const auto& [path, mounted] : mounts) {
        if (path != "/" && is_below(folder, path)) add_nfs_server(mounted, where, out);
      }
    }
  }
}

/// Places without which programs stop.
struct SystemPlaces {
  std::map<std::string, Mounted> mounts;  ///< all of the host
  std::vector<std::string> where;         ///< those of them that the system and files of swap space are on
  bool swaps = false;                     ///< some disk is swap space
};

/// A page that cannot be read stops its program as a file does.
void add_swaps(system::Files& files, SystemPlaces& places) {
  const auto text = files.read("/proc/swaps");
  if (!text || !*text) return;
  for (const auto line : base::split(**text, '\n')) {
    const auto words = base::words_of(line);
    if (words.size() < 2 || !words[0].starts_with('/')) continue;  // the heading
    if (words[1] != "file") {
      places.swaps = true;
      continue;
    }
    const auto file = base::unescape_octal(words[0]);
    std::string_view nearest;
    for (const auto& [path, mounted] : places.mounts) {
      if (path.size() > nearest.size() && (path == "/" || is_below(file, path))) nearest = path;
    }
    const bool known = std::find(places.where.begin(), places.where.end(), nearest) != places.where.end();
    if (!nearest.empty() && !known) places.where.emplace_back(nearest);
  }
}

SystemPlaces observe_places(system::Files& files) {
  SystemPlaces out{observe_mounts(files), {kSystemMounts.begin(), kSystemMounts.end()}};
  add_swaps(files, out);
  return out;
}

/// Which of the places is on the disks that have these uses, those on volumes and arrays of them included;
/// empty: none.
std::string place_on(const std::vector<system::DiskUse>& uses, const SystemPlaces& places) {
  using Sort = system::DiskUse::Sort;
  for (const auto& where : places.where) {
    const auto at = places.mounts.find(where);
    if (at == places.mounts.end()) continue;
    const std::string &source = at->second.source, &type = at->second.type;
    for (const auto& use : uses) {
      const bool mounted = use.sort == Sort::kMount && use.name == where;
      // Nothing says where it is mounted, so it may be here.
      const bool in_btrfs = use.sort == Sort::kBtrfs && type == "btrfs";
      const bool in_pool =
          use.sort == Sort::kPool && type == "zfs" && use.name == source.substr(0, source.find('/'));
      if (mounted || in_btrfs || in_pool) return where;
    }
  }
  const bool swaps = places.swaps && std::any_of(uses.begin(), uses.end(),
                                                 [](const auto& use) { return use.sort == Sort::kSwap; });
  return swaps ? "swap space" : "";
}

/// A session with a target, or a controller.
struct DiskSession {
  std::string name, group, address;
};

/// Sessions of a group have the same disks.
template <class Port>
void add_disk_servers(Port& port, const std::vector<DiskSession>& sessions, const SystemPlaces& places,
                      std::vector<RootServer>& out) {
  std::vector<std::string> all;
  std::map<std::string, std::vector<std::string>> groups;
  for (const auto& session : sessions) {
    all.push_back(session.name);
    groups[session.group].push_back(session.name);
  }
  if (all.empty()) return;
  const auto uses = port.uses(all);
  const auto where = uses ? place_on(*uses, places) : std::string();
  if (where.empty()) return;
  std::set<std::string> found;
  for (const auto& [group, names] : groups) {
    const auto used = port.uses(names);
    if (used && !place_on(*used, places).empty()) found.insert(group);
  }
  for (const auto& session : sessions) {
    // Of several paths by different targets each can go alone.
    if (!found.empty() && !found.contains(session.group)) continue;
    if (const auto peer = IpAddress::parse(session.address)) out.push_back({*peer, std::nullopt, where});
  }
}

}  // namespace

std::string memory_below(const std::string& path, const std::map<std::string, Mounted>& mounts) {
  const auto in_memory = [](const Mounted* mounted) {
    return mounted != nullptr &&
           (mounted->type == "tmpfs" || mounted->type == "ramfs" || mounted->type == "rootfs");
  };
  const auto* mounted = mount_of(path, mounts);
  if (in_memory(mounted)) return mounted->type;
  if (mounted == nullptr || mounted->type != "overlay") return {};
  const auto changes = mounted->options.find("upperdir");
  if (changes == mounted->options.end()) return {};
  const auto* below = mount_of(changes->second, mounts);
  return in_memory(below) ? "an overlay in " + below->type : std::string();
}

std::vector<RootServer> observe_root_servers(system::Host& host) {
  std::vector<RootServer> out;
  if (host.offline) return out;
  const auto places = observe_places(host.files);
  bool on_disk = places.swaps;
  for (const auto& where : places.where) {
    const auto at = places.mounts.find(where);
    if (at == places.mounts.end()) continue;
    add_nfs_server(at->second, where, out);
    if (at->second.type == "overlay") add_layers(places.mounts, at->second, where, out);
    on_disk = on_disk || at->second.source.starts_with("/dev/") || at->second.type == "zfs";
  }
  if (!on_disk) return out;
  std::vector<DiskSession> sessions, controllers;
  if (const auto all = host.iscsi.observe()) {
    for (const auto& session : *all) sessions.push_back({session.name, session.target, session.address});
  }
  if (const auto all = host.nvme_host.observe()) {
    for (const auto& controller : *all)
      controllers.push_back({controller.name, controller.subsystem, controller.address});
  }
  add_disk_servers(host.iscsi, sessions, places, out);
  add_disk_servers(host.nvme_host, controllers, places, out);
  return out;
}

Result<std::set<int>> interfaces_to(const std::vector<RootServer>& servers, system::Host& host) {
  constexpr std::uint32_t kMain = 254;
  std::set<int> out;
  if (servers.empty()) return out;
  const auto routes = host.inet.observe_routes();
  if (!routes) return base::fail(routes.error());
  for (const auto& server : servers) {
    const system::InetRoute* best = nullptr;
    const auto length = [](const system::InetRoute& route) {
      return route.to.any ? 0 : route.to.network.length;
    };
    for (const auto& route : *routes) {
      if (route.family != server.peer.family || route.table != kMain) continue;
      if (!route.to.any && !route.to.network.contains(server.peer)) continue;
      const bool better = best == nullptr || length(route) > length(*best) ||
                          (length(route) == length(*best) && route.metric < best->metric);
      if (better) best = &route;
    }
    if (best != nullptr) out.insert(best->index);
  }
  return out;
}

}  // namespace rdmacfg::kinds
