// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/lio/lio_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "kinds/storage/target_entry.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

using base::Code;
using base::fail;
using base::Result;
using system::LioAcl;
using system::LioBackstore;
using system::LioLun;
using system::LioMapping;
using system::LioState;
using system::LioTarget;
using system::LioTargetId;

namespace {

constexpr std::string_view kIscsi = "iscsi", kSrpt = "srpt";
/// rtslib takes the first number that is free.
constexpr int kOurHbas = 0xc000, kLastHba = 0xffff;

using Texts = std::vector<std::string>;

std::string name_of_backstore(const std::string& id) { return id.substr(id.find('/') + 1); }

/// Brings targets to their settings, one by one. The state is kept up to date as far as others of them need
/// it: LUNs, and what is behind them.
class LioTargetWriter {
 public:
  explicit LioTargetWriter(system::Host& host) : host_(host), lio_(host.lio) {}

  Result<void> hold(const std::vector<LioWish>& wishes) {
    if (auto done = look(); !done) return done;
    for (const auto& wish : wishes) {
      id_ = wish.id;
      auto done = wish.wanted ? make(*wish.wanted) : remove();
      if (done) continue;
      if (wish.wanted && look()) (void)collect();  // backstores made for nothing; the error is what is told
      return done;
    }
    if (auto done = look(); !done) return done;
    return collect();
  }

 private:
  Result<void> remove() {
    if (const auto* now = find_lio_target(state_, id_)) {
      const auto gone = *now;  // it changes on the way
      if (auto done = empty(gone); !done) return done;
      if (auto done = lio_.remove_target(gone.id); !done) return done;
      std::erase_if(state_.targets, [&](const auto& target) { return target.id == gone.id; });
    }
    return collect();
  }

  Result<void> make(const LioTargetEntry& wanted) {
    auto name = name_of_target();
    if (!name) return fail(name.error());
    LioTarget now{.id = *name, .groups = 1};
    if (const auto* there = find_lio_target(state_, id_)) now = *there;
    const auto guests = wanted.initiators.value_or(Texts{});
    if (auto done = refuse_lost_secrets(now, guests); !done) return done;
    if (auto done = lio_.start(name->fabric); !done) return done;
    // A run that ended while it removed the target has left it empty and disabled.
    const bool left = !now.enabled && now.luns.empty() && now.portals.empty() && now.acls.empty() &&
                      (wanted.luns || wanted.portals);
    const bool enabled = wanted.enabled.value_or(now.enabled || left);
    // Initiators that were seen without an ACL might go on to log in (core_tpg_check_initiator_node_acl()).
    if (now.any_initiator && wanted.any_initiator != true) {
      if (auto done = empty(now); !done) return done;
      // The target stays, so that a run that goes on after an interruption finds it.
      if (auto done = lio_.remove_group(now.id); !done) return done;
      now = {.id = *name, .groups = 1};
    }
    if (auto done = lio_.make_target(now.id); !done) return done;
    if (auto done = hold_luns(wanted.luns.value_or(Texts{}), now); !done) return done;
    if (auto done = admit(guests, now); !done) return done;
    if (wanted.any_initiator == true && !now.any_initiator) {
      if (auto done = lio_.allow_any(now.id); !done) return done;
    }
    if (auto done = hold_portals(wanted.portals.value_or(Texts{}), now); !done) return done;
    if (enabled != now.enabled) {
      if (auto done = lio_.enable(now.id, enabled); !done) return done;
    }
    return collect();
  }

  Result<void> look() {
    const auto state = lio_.observe();
    if (!state) return fail(state.error());
    state_ = state->value_or(LioState{});
    users_.clear();
    idle_.clear();
    enabled_.clear();
    taken_.clear();
    next_ = kOurHbas;
    disks_ = lio_disks_of(state_);
    for (const auto& target : state_.targets) {
      for (const auto& lun : target.luns) ++users_[lun.backstore];
    }
    for (const auto& backstore : state_.backstores) {
      if (const auto hba = hba_of(backstore.id)) taken_.insert(*hba);
      if (backstore.enabled) enabled_.emplace(lio_disk_of(backstore), backstore.id);
      if (is_ours(backstore.id) && !users_.contains(backstore.id) && !busy_.contains(backstore.id))
        idle_.insert(backstore.id);
    }
    return {};
  }

  static bool is_ours(const std::string& backstore) {
    return name_of_backstore(backstore).starts_with(kOurBackstores);
  }
  static std::optional<int> hba_of(const std::string& backstore) {
    const auto hba = backstore.substr(0, backstore.find('/'));
    return base::parse_as<int>(hba.substr(hba.rfind('_') + 1));
  }

  LioTarget& known(const LioTargetId& target) {
    for (auto& there : state_.targets) {
      if (there.id == target) return there;
    }
    state_.targets.push_back({.id = target, .groups = 1});
    return state_.targets.back();
  }

  Result<void> drop_lun(const LioTargetId& target, const LioLun& lun) {
    if (auto done = lio_.remove_lun(target, lun.number); !done) return done;
    std::erase_if(known(target).luns, [&](const auto& there) { return there.number == lun.number; });
    if (--users_[lun.backstore] <= 0 && is_ours(lun.backstore)) idle_.insert(lun.backstore);
    return {};
  }

  Result<void> add_lun(const LioTargetId& target, const LioLun& lun) {
    if (auto done = lio_.make_lun(target, lun); !done) return done;
    known(target).luns.push_back(lun);
    ++users_[lun.backstore];
    return {};
  }

  /// As it is, or as it would be made: rtslib knows SRP targets by the port's GID.
  Result<LioTargetId> name_of_target() {
    if (const auto* there = find_lio_target(state_, id_)) return there->id;
    const auto name = model::TargetName::parse(id_);
    if (!name) return fail(name.error());
    if (!name->port) return LioTargetId{std::string(kIscsi), name->text};
    const auto devices = host_.rdma.observe_devices();
    if (!devices) return fail(devices.error());
    for (const auto& device : *devices) {
      for (const auto& port : device.ports) {
        if (port.guid != *name->port) continue;
        auto prefix = port.gid_prefix;
        std::erase(prefix, ':');
        return LioTargetId{std::string(kSrpt), fmt::format("0x{}{:016x}", prefix, port.guid.number)};
      }
    }
    return fail(Code::kNotFound, fmt::format("{}: this host has no port with that GUID", id_));
  }

  [[nodiscard]] Result<void> refuse_for_chap() const {
    return fail(Code::kBusy,
                id_ +
                    ": requires CHAP, whose secrets a rollback could not restore: set its attribute "
                    "authentication to 0, or remove it, with targetcli");
  }

  /// Before anything is taken from anybody.
  [[nodiscard]] Result<void> refuse_lost_secrets(const LioTarget& now, const Texts& guests) const {
    const bool lost = std::any_of(now.acls.begin(), now.acls.end(), [&](const LioAcl& acl) {
      return acl.has_secret && !names(guests, acl.initiator);
    });
    return now.authentication && lost ? refuse_for_chap() : Result<void>{};
  }

  /// Refused where undoing could not bring back all of it.
  [[nodiscard]] Result<void> refuse_lossy(const LioTarget& now) const {
    if (now.authentication) return refuse_for_chap();
    if (now.groups > 1)
      return fail(Code::kBusy,
                  fmt::format("{}: has {} portal groups, of which only the first is handled: remove it with "
                              "targetcli",
                              id_, now.groups));
    if (now.any_initiator && now.write_protected)
      return fail(Code::kBusy,
                  id_ +
                      ": lets any initiator read but not write, which a rollback could not restore: set "
                      "its attribute generate_node_acls to 0, or remove it, with targetcli");
    return {};
  }

  /// Takes all from it that it has, and disables it.
  Result<void> empty(const LioTarget& now) {
    if (auto done = refuse_lossy(now); !done) return done;
    for (const auto& portal : now.portals) {
      if (auto done = lio_.remove_portal(now.id, portal.name); !done) return done;
    }
    for (const auto& acl : now.acls) {
      if (auto done = exclude(now.id, acl); !done) return done;
    }
    for (const auto& lun : now.luns) {
      if (auto done = drop_lun(now.id, lun); !done) return done;
    }
    if (auto done = collect(); !done) return done;
    return now.enabled ? lio_.enable(now.id, false) : Result<void>{};
  }

  Result<void> exclude(const LioTargetId& target, const LioAcl& acl) {
    for (const auto& mapping : acl.luns) {
      if (auto done = lio_.unmap(target, acl.initiator, mapping.number); !done) return done;
    }
    return lio_.remove_acl(target, acl.initiator);
  }

  /// Afterwards `now` has the LUNs that are there.
  Result<void> hold_luns(const Texts& wanted, LioTarget& now) {
    std::vector<LioLun> kept;
    for (const auto& lun : now.luns) {
      if (lists(wanted, lio_lun_text(lun, disks_))) {
        kept.push_back(lun);
        continue;
      }
      for (auto& acl : now.acls) {
        for (const auto& mapping : acl.luns) {
          if (mapping.lun != lun.number) continue;
          if (auto done = lio_.unmap(now.id, acl.initiator, mapping.number); !done) return done;
        }
        std::erase_if(acl.luns, [&](const auto& mapping) { return mapping.lun == lun.number; });
      }
      if (auto done = drop_lun(now.id, lun); !done) return done;
    }
    now.luns = kept;
    if (auto done = collect(); !done) return done;  // a device may come back under another name
    for (const auto& text : wanted) {
      const auto space = text.find(' ');
      const auto number = base::parse_as<int>(text.substr(0, space));
      if (!number) return fail(Code::kInvalid, fmt::format("{}: \"{}\" has no number of a LUN", id_, text));
      const bool there = std::any_of(now.luns.begin(), now.luns.end(),
                                     [&](const auto& other) { return other.number == *number; });
      if (there || space == std::string::npos) continue;
      auto backstore = backstore_of(text.substr(space + 1));
      if (!backstore) return fail(backstore.error());
      now.luns.push_back({*number, *backstore});
      if (auto done = add_lun(now.id, now.luns.back()); !done) return done;
    }
    std::sort(now.luns.begin(), now.luns.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return {};
  }

  Result<std::string> backstore_of(const std::string& disk) {
    if (disk == kNoLioDisk) return std::string();
    if (const auto at = enabled_.find(disk); at != enabled_.end()) return at->second;
    const auto named = LioDisk::parse(disk);
    if (!named) return fail(Code::kNotFound, fmt::format("{}: there is no backstore {}", id_, disk));
    LioBackstore made{.id = {}, .path = named->path, .serial = {}, .enabled = true};
    auto serial = serial_of(made.path);
    if (!serial) return fail(serial.error());
    made.serial = std::move(*serial);
    while (next_ <= kLastHba && taken_.contains(next_)) ++next_;
    if (next_ > kLastHba) return fail(Code::kUnsupported, "LIO has no free number for a backstore");
    made.id = fmt::format("{}_{}/{}", named->sort == LioDisk::Sort::kBlock ? "iblock" : "fileio", next_,
                          lio_backstore_name(made.path));
    if (auto done = lio_.make_backstore(made); !done) return fail(done.error());
    taken_.insert(next_);
    enabled_.emplace(disk, made.id);
    disks_.emplace(made.id, disk);
    return made.id;
  }

  Result<std::string> serial_of(const std::string& path) {
    const auto machine = host_.files.read("/etc/machine-id");
    if (!machine) return fail(machine.error());
    const auto text = machine->value_or("");
    if (base::trim(text).empty())
      return fail(Code::kNotFound,
                  "/etc/machine-id is empty, but serial numbers of disks are derived from it");
    return lio_serial_of(text, path);
  }

  static bool names(const Texts& guests, const std::string& initiator) {
    return std::any_of(guests.begin(), guests.end(),
                       [&](const auto& text) { return LioGuest::parse(text).initiator == initiator; });
  }

  Result<void> admit(const Texts& guests, const LioTarget& now) {
    for (const auto& acl : now.acls) {
      if (names(guests, acl.initiator)) continue;
      if (auto done = exclude(now.id, acl); !done) return done;
    }
    for (const auto& text : guests) {
      if (auto done = show(LioGuest::parse(text), now); !done) return done;
    }
    return {};
  }

  Result<void> show(const LioGuest& guest, const LioTarget& now) {
    const auto at = std::find_if(now.acls.begin(), now.acls.end(),
                                 [&](const auto& acl) { return acl.initiator == guest.initiator; });
    const auto seen = at == now.acls.end() ? std::vector<LioMapping>{} : at->luns;
    if (at == now.acls.end()) {
      if (auto done = lio_.make_acl(now.id, guest.initiator); !done) return done;
    }
    const auto wanted = guest.sees.value_or(all_lio_luns(now.luns));
    std::vector<LioMapping> kept;
    for (const auto& mapping : seen) {
      if (std::find(wanted.begin(), wanted.end(), mapping) != wanted.end()) {
        kept.push_back(mapping);
      } else if (auto done = lio_.unmap(now.id, guest.initiator, mapping.number); !done) {
        return done;
      }
    }
    for (const auto& mapping : wanted) {
      if (std::find(kept.begin(), kept.end(), mapping) != kept.end()) continue;
      if (auto done = lio_.map(now.id, guest.initiator, mapping); !done) return done;
    }
    return {};
  }

  Result<void> hold_portals(const Texts& wanted, const LioTarget& now) {
    Texts kept;
    for (const auto& portal : now.portals) {
      const auto text = lio_portal_text(portal);
      if (lists(wanted, text)) {
        kept.push_back(text);
      } else if (auto done = lio_.remove_portal(now.id, portal.name); !done) {
        return done;
      }
    }
    for (const auto& text : wanted) {
      if (lists(kept, text)) continue;
      if (auto done = lio_.make_portal(now.id, lio_portal_of(text)); !done) return done;
    }
    return {};
  }

  /// Removes backstores of ours that no LUN needs, of whatever target.
  Result<void> collect() {
    bool again = false;
    for (const auto& id : std::exchange(idle_, {})) {
      if (const auto at = users_.find(id); at != users_.end() && at->second > 0) continue;
      const auto done = lio_.remove_backstore(id);
      // Somebody has given it to a fabric that is not looked at, such as vhost or loopback.
      if (!done && done.error().code == Code::kBusy) {
        again = busy_.insert(id).second || again;
        continue;
      }
      if (!done) return done;
      if (const auto hba = hba_of(id)) taken_.erase(*hba);
      next_ = kOurHbas;
      std::erase_if(enabled_, [&](const auto& disk) { return disk.second == id; });
      disks_.erase(id);
    }
    return again ? look() : Result<void>{};
  }

  std::string id_;  ///< of the target that is under way
  system::Host& host_;
  system::Lio& lio_;
  LioState state_;                              ///< as it was looked at, with the LUNs of now
  LioDisks disks_;                              ///< all backstores of now
  std::map<std::string, std::string> enabled_;  ///< those that a LUN can have, by disk
  std::map<std::string, int> users_;            ///< LUNs of each
  std::set<std::string> idle_;                  ///< ours, that have lost their last LUN
  std::set<std::string> busy_;                  ///< ours, that another fabric uses
  std::set<int> taken_;                         ///< numbers of HBAs
  int next_ = kOurHbas;                         ///< all of ours before it are taken
};

}  // namespace

Result<void> hold_lio_targets(const std::vector<LioWish>& wishes, system::Host& host) {
  return LioTargetWriter(host).hold(wishes);
}

}  // namespace rdmacfg::kinds
