// SPDX-License-Identifier: Apache-2.0
#include "kinds/rdma/device_rename.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace rdmacfg::kinds {

using base::Code;
using base::Result;

namespace {

/// Renames in an order in which no name is in use; a circle goes through a temporary name.
class DeviceRenamer {
 public:
  DeviceRenamer(system::Host& host, const World& world, std::set<std::string> folders)
      : host_(host), folders_(std::move(folders)) {
    for (const auto& device : world.snapshot().devices) taken_.insert(device.name);
  }

  /// Present name → wanted name.
  Result<void> run(std::map<std::string, std::string> moves) {
    while (!moves.empty()) {
      auto next =
          std::find_if(moves.begin(), moves.end(), [&](const auto& m) { return !taken_.contains(m.second); });
      if (next != moves.end()) {
        if (auto done = rename(next->first, next->second); !done) return done;
        moves.erase(next);
        continue;
      }
      next = std::find_if(moves.begin(), moves.end(), [&](const auto& m) {
        return std::any_of(moves.begin(), moves.end(),
                           [&](const auto& other) { return other.second == m.first; });
      });
      if (next == moves.end()) {
        return base::fail(Code::kBusy, fmt::format("{}: rename to {}: another RDMA device has this name",
                                                   moves.begin()->first, moves.begin()->second));
      }
      const auto room = free_name();
      const auto wanted = next->second;
      if (auto done = rename(next->first, room); !done) return done;
      moves.erase(next);
      moves.emplace(room, wanted);
    }
    for (const auto& name : renamed_) {
      if (auto done = host_.udev.trigger_rdma_device(name); !done) return done;
    }
    return {};
  }

 private:
  std::string free_name() const {
    int number = 0;
    while (taken_.contains(fmt::format("rdmacfg{}", number))) ++number;
    return fmt::format("rdmacfg{}", number);
  }

  Result<void> rename(const std::string& device, const std::string& name) {
    if (auto done = host_.rdma_admin.rename_device(device, name); !done) return done;
    taken_.erase(device);
    taken_.insert(name);
    renamed_.erase(device);
    renamed_.insert(name);
    // A folder in configfs keeps the old name, and with it leads nowhere. Its values stay with the device.
    if (folders_.erase(device) == 0) return {};
    if (auto done = host_.rdma_cm.remove_folder(device); !done) return done;
    if (auto made = host_.rdma_cm.make_folder(name); !made) return base::fail(made.error());
    folders_.insert(name);
    return {};
  }

  system::Host& host_;
  std::set<std::string> folders_, taken_, renamed_;
};

}  // namespace

Result<void> rename_devices(system::Host& host, const World& world,
                            std::map<std::string, std::string> names) {
  if (names.empty()) return {};
  const auto folders = host.rdma_cm.observe_folders();
  if (!folders) return base::fail(folders.error());
  return DeviceRenamer(host, world, {folders->begin(), folders->end()}).run(std::move(names));
}

std::string interrupted_by_rename(const std::string& device) {
  return fmt::format(
      "programs that open {} by this name no longer find it; programs that have it open are not affected",
      device);
}

}  // namespace rdmacfg::kinds
