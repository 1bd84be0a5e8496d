// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/lio_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "model/inet_types.hpp"

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
/// Backstores of ours are known by their names, which rtslib keeps when it saves and restores them.
constexpr std::string_view kOurBackstores = "rdma-configd-";
/// rtslib takes the first number that is free.
constexpr int kOurHbas = 0xc000, kLastHba = 0xffff;
constexpr std::string_view kLuns = " (LUNs ", kNoLuns = " (no LUNs)", kReadOnly = " read-only";
constexpr std::string_view kTcpOnly = " (TCP only)";
constexpr std::string_view kNoDisk = "none";

using Texts = std::vector<std::string>;

bool lists(const Texts& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

int number_in(std::string_view text) { return static_cast<int>(base::parse_number(text).value_or(0)); }

std::string name_of_backstore(const std::string& id) { return id.substr(id.find('/') + 1); }
std::string plugin_of(const std::string& id) {
  return id.substr(0, id.find('/')).substr(0, id.rfind('_', id.find('/')));
}

/// "block /dev/x", "file /srv/x", "ramdisk NAME"
std::string disk_of(const LioBackstore& backstore) {
  const auto plugin = plugin_of(backstore.id);
  if (plugin == "iblock" && !backstore.path.empty()) return "block " + backstore.path;
  if (plugin == "fileio" && !backstore.path.empty()) return "file " + backstore.path;
  return plugin + " " + name_of_backstore(backstore.id);
}

std::string text_of_lun(const LioLun& lun, const LioState& state) {
  for (const auto& backstore : state.backstores) {
    if (backstore.id == lun.backstore) return fmt::format("{} {}", lun.number, disk_of(backstore));
  }
  return fmt::format("{} {}", lun.number, kNoDisk);
}

/// "192.0.2.1:3260" → "192.0.2.1 3260"
std::string text_of_portal(const system::LioPortal& portal) {
  const auto colon = portal.name.rfind(':');
  auto host = portal.name.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto address = model::IpAddress::parse(host);  // others may spell it in another way
  return fmt::format("{} {}{}", address ? address->text() : host,
                     colon == std::string::npos ? "" : portal.name.substr(colon + 1),
                     portal.iser ? "" : kTcpOnly);
}

system::LioPortal portal_of(const std::string& text) {
  const auto space = text.find(' ');
  const auto host = text.substr(0, space);
  const bool tcp = text.ends_with(kTcpOnly);
  auto service = text.substr(space + 1);
  if (tcp) service.erase(service.size() - kTcpOnly.size());
  const auto* form = host.find(':') == std::string::npos ? "{}:{}" : "[{}]:{}";
  return {fmt::format(fmt::runtime(form), host, service), !tcp};
}

std::vector<LioMapping> all_of(const std::vector<LioLun>& luns) {
  std::vector<LioMapping> out;
  out.reserve(luns.size());
  for (const auto& lun : luns) out.push_back({lun.number, lun.number, false});
  return out;
}

std::string text_of_acl(const LioAcl& acl, const LioTarget& target) {
  LioGuest guest{acl.initiator, {}};
  if (acl.luns != all_of(target.luns)) guest.sees = acl.luns;
  return guest.text();
}

/// Brings one target to its settings.
class LioReach {
 public:
  LioReach(std::string id, system::Host& host) : id_(std::move(id)), host_(host), lio_(host.lio) {}

  Result<void> remove() {
    if (auto done = look(); !done) return done;
    if (const auto* now = find_lio_target(state_, id_)) {
      const auto gone = *now;  // looking again replaces it
      if (auto done = empty(gone); !done) return done;
      if (auto done = lio_.remove_target(gone.id); !done) return done;
    }
    return collect();
  }

  Result<void> make(const LioTargetEntry& wanted) {
    auto done = try_to_make(wanted);
    if (!done) (void)collect();  // backstores made for nothing; the error is what is told
    return done;
  }

 private:
  Result<void> try_to_make(const LioTargetEntry& wanted) {
    if (auto done = look(); !done) return done;
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
                    ": it asks for CHAP, whose secrets could not be given back: set its attribute "
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
                  fmt::format("{}: it has {} portal groups, and only the first is known here: remove it "
                              "with targetcli",
                              id_, now.groups));
    if (now.any_initiator && now.write_protected)
      return fail(Code::kBusy,
                  id_ +
                      ": any initiator may read it, and none may write, which could not be given back: set "
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
      if (auto done = lio_.remove_lun(now.id, lun.number); !done) return done;
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
      if (lists(wanted, text_of_lun(lun, state_))) {
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
      if (auto done = lio_.remove_lun(now.id, lun.number); !done) return done;
    }
    now.luns = kept;
    if (auto done = collect(); !done) return done;  // a device may come back under another name
    for (const auto& text : wanted) {
      const auto space = text.find(' ');
      const LioLun lun{number_in(text.substr(0, space)), {}};
      const bool there = std::any_of(now.luns.begin(), now.luns.end(),
                                     [&](const auto& one) { return one.number == lun.number; });
      if (there || space == std::string::npos) continue;
      auto backstore = backstore_of(text.substr(space + 1));
      if (!backstore) return fail(backstore.error());
      now.luns.push_back({lun.number, *backstore});
      if (auto done = lio_.make_lun(now.id, now.luns.back()); !done) return done;
    }
    std::sort(now.luns.begin(), now.luns.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return {};
  }

  Result<std::string> backstore_of(const std::string& disk) {
    if (disk == kNoDisk) return std::string();
    for (const auto& one : state_.backstores) {
      if (disk_of(one) == disk && one.enabled) return one.id;
    }
    const bool block = disk.starts_with("block ");
    if (!block && !disk.starts_with("file "))
      return fail(Code::kNotFound, fmt::format("{}: there is no backstore {}", id_, disk));
    LioBackstore made{.id = {}, .path = disk.substr(disk.find(' ') + 1), .serial = {}, .enabled = true};
    auto serial = serial_of(made.path);
    if (!serial) return fail(serial.error());
    made.serial = std::move(*serial);
    std::set<int> taken;
    for (const auto& one : state_.backstores) {
      const auto hba = one.id.substr(0, one.id.find('/'));
      taken.insert(number_in(hba.substr(hba.rfind('_') + 1)));
    }
    int number = kOurHbas;
    while (number <= kLastHba && taken.contains(number)) ++number;
    if (number > kLastHba) return fail(Code::kUnsupported, "LIO: it has no free number for a backstore");
    made.id = fmt::format("{}_{}/{}{}", block ? "iblock" : "fileio", number, kOurBackstores,
                          base::uuid_of(made.path).substr(0, 8));
    if (auto done = lio_.make_backstore(made); !done) return fail(done.error());
    state_.backstores.push_back(made);
    return made.id;
  }

  /// Initiators know disks by it: the same at each boot, and another one on each host, since disks with one
  /// serial number are taken for paths to one disk.
  Result<std::string> serial_of(const std::string& path) {
    const auto machine = host_.files.read("/etc/machine-id");
    if (!machine) return fail(machine.error());
    const auto text = machine->value_or("");
    if (base::trim(text).empty())
      return fail(Code::kNotFound,
                  "/etc/machine-id: it is empty, and serial numbers of disks are made from it");
    return base::uuid_of(fmt::format("{} {}", base::trim(text), path));
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
    const auto wanted = guest.sees.value_or(all_of(now.luns));
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
      const auto text = text_of_portal(portal);
      if (lists(wanted, text)) {
        kept.push_back(text);
      } else if (auto done = lio_.remove_portal(now.id, portal.name); !done) {
        return done;
      }
    }
    for (const auto& text : wanted) {
      if (lists(kept, text)) continue;
      if (auto done = lio_.make_portal(now.id, portal_of(text)); !done) return done;
    }
    return {};
  }

  /// Removes backstores of ours that no LUN needs, of whatever target.
  Result<void> collect() {
    if (auto done = look(); !done) return done;
    std::set<std::string> used;
    for (const auto& target : state_.targets) {
      for (const auto& lun : target.luns) used.insert(lun.backstore);
    }
    bool gone = false;
    for (const auto& one : state_.backstores) {
      if (used.contains(one.id) || !name_of_backstore(one.id).starts_with(kOurBackstores)) continue;
      const auto done = lio_.remove_backstore(one.id);
      // Somebody has given it to a fabric that is not looked at, such as vhost or loopback.
      if (!done && done.error().code != Code::kBusy) return done;
      gone = true;
    }
    return gone ? look() : Result<void>{};
  }

  std::string id_;
  system::Host& host_;
  system::Lio& lio_;
  LioState state_;
};

}  // namespace

std::string LioGuest::text() const {
  if (!sees) return initiator;
  if (sees->empty()) return initiator + std::string(kNoLuns);
  Texts out;
  for (const auto& one : *sees) {
    auto text = std::to_string(one.number);
    if (one.lun != one.number) text += fmt::format("={}", one.lun);
    out.push_back(text + (one.read_only ? std::string(kReadOnly) : ""));
  }
  return fmt::format("{}{}{})", initiator, kLuns, base::join(out, ", "));
}

LioGuest LioGuest::parse(const std::string& text) {
  const auto space = text.find(' ');
  LioGuest out{text.substr(0, space), {}};
  if (space == std::string::npos) return out;
  out.sees.emplace();
  const auto rest = std::string_view(text).substr(space);
  if (!rest.starts_with(kLuns)) return out;
  for (auto part : base::split(rest.substr(kLuns.size(), rest.size() - kLuns.size() - 1), ',')) {
    part = base::trim(part);
    LioMapping one;
    one.read_only = part.ends_with(kReadOnly);
    if (one.read_only) part.remove_suffix(kReadOnly.size());
    const auto equals = part.find('=');
    one.number = number_in(part.substr(0, equals));
    one.lun = equals == std::string_view::npos ? one.number : number_in(part.substr(equals + 1));
    out.sees->push_back(one);
  }
  return out;
}

std::string id_of(const LioTargetId& target) {
  constexpr std::size_t kGidName = 34;  // "0x" and 32 digits
  if (target.fabric != kSrpt) return target.wwn;
  const auto guid =
      model::Guid::parse(target.wwn.size() == kGidName ? target.wwn.substr(kGidName / 2 + 1) : target.wwn);
  return guid ? guid->text() : target.wwn;
}

const LioTarget* find_lio_target(const LioState& state, const std::string& id) {
  const LioTarget* found = nullptr;
  for (const auto& one : state.targets) {
    if (id_of(one.id) == id && (found == nullptr || one.id.wwn.starts_with("0x"))) found = &one;
  }
  return found;
}

LioTargetEntry settings_of(const LioTarget& target, const LioState& state) {
  LioTargetEntry out;
  out.any_initiator = target.any_initiator;
  out.enabled = target.enabled;
  Texts initiators, portals, luns, logged_in = target.guests;
  for (const auto& acl : target.acls) {
    initiators.push_back(text_of_acl(acl, target));
    if (acl.logged_in) logged_in.push_back(acl.initiator);
  }
  for (const auto& portal : target.portals) portals.push_back(text_of_portal(portal));
  for (const auto& lun : target.luns) luns.push_back(text_of_lun(lun, state));
  for (auto* list : {&initiators, &portals, &logged_in}) std::sort(list->begin(), list->end());
  if (!initiators.empty()) out.initiators = std::move(initiators);
  if (!portals.empty()) out.portals = std::move(portals);
  if (!luns.empty()) out.luns = std::move(luns);
  if (!logged_in.empty()) out.logged_in = std::move(logged_in);
  return out;
}

std::string path_of_lun(const std::string& text) {
  const auto disk = std::string_view(text).substr(std::min(text.find(' '), text.size()));
  for (const std::string_view sort : {" block ", " file "}) {
    if (disk.starts_with(sort)) return std::string(disk.substr(sort.size()));
  }
  return {};
}

Result<void> make_lio_target(const std::string& id, const LioTargetEntry& wanted, system::Host& host) {
  return LioReach(id, host).make(wanted);
}

Result<void> remove_lio_target(const std::string& id, system::Host& host) {
  return LioReach(id, host).remove();
}

}  // namespace rdmacfg::kinds
