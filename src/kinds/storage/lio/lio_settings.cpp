// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/lio/lio_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

using system::LioAcl;
using system::LioBackstore;
using system::LioLun;
using system::LioMapping;
using system::LioState;
using system::LioTarget;
using system::LioTargetId;

namespace {

constexpr std::string_view kSrptFabric = "srpt";
constexpr std::string_view kLuns = " (LUNs ", kNoLuns = " (no LUNs)", kReadOnly = " read-only";
constexpr std::string_view kTcpOnly = " (TCP only)";

using LioTexts = std::vector<std::string>;

constexpr std::string_view kBlockWord = "block", kFileWord = "file";

std::string lio_plugin_of(const std::string& id) {
  return id.substr(0, id.find('/')).substr(0, id.rfind('_', id.find('/')));
}

std::string text_of_acl(const LioAcl& acl, const LioTarget& target) {
  LioGuest guest{acl.initiator, {}};
  if (acl.luns != all_lio_luns(target.luns)) guest.sees = acl.luns;
  return guest.text();
}

}  // namespace

std::string LioDisk::text() const {
  return fmt::format("{} {}", sort == Sort::kBlock ? kBlockWord : kFileWord, path);
}

std::optional<LioDisk> LioDisk::parse(std::string_view text) {
  const auto word = text.substr(0, text.find(' '));
  if (word.size() == text.size() || (word != kBlockWord && word != kFileWord)) return std::nullopt;
  return LioDisk{word == kBlockWord ? Sort::kBlock : Sort::kFile, std::string(text.substr(word.size() + 1))};
}

std::string lio_disk_of(const LioBackstore& backstore) {
  const auto plugin = lio_plugin_of(backstore.id);
  if (plugin == "iblock" && !backstore.path.empty())
    return LioDisk{LioDisk::Sort::kBlock, backstore.path}.text();
  if (plugin == "fileio" && !backstore.path.empty())
    return LioDisk{LioDisk::Sort::kFile, backstore.path}.text();
  return plugin + " " + backstore.id.substr(backstore.id.find('/') + 1);
}

std::string lio_lun_text(const LioLun& lun, const LioDisks& disks) {
  const auto at = disks.find(lun.backstore);
  return fmt::format("{} {}", lun.number, at == disks.end() ? std::string(kNoLioDisk) : at->second);
}

std::string lio_portal_text(const system::LioPortal& portal) {
  const auto colon = portal.name.rfind(':');
  auto host = portal.name.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto address = model::IpAddress::parse(host);  // others may spell it in another way
  return fmt::format("{} {}{}", address ? address->text() : host,
                     colon == std::string::npos ? "" : portal.name.substr(colon + 1),
                     portal.iser ? "" : kTcpOnly);
}

system::LioPortal lio_portal_of(const std::string& text) {
  const auto space = text.find(' ');
  const auto host = text.substr(0, space);
  const bool tcp = text.ends_with(kTcpOnly);
  auto service = text.substr(space + 1);
  if (tcp) service.erase(service.size() - kTcpOnly.size());
  const auto* form = host.find(':') == std::string::npos ? "{}:{}" : "[{}]:{}";
  return {fmt::format(fmt::runtime(form), host, service), !tcp};
}

std::vector<LioMapping> all_lio_luns(const std::vector<LioLun>& luns) {
  std::vector<LioMapping> out;
  out.reserve(luns.size());
  for (const auto& lun : luns) out.push_back({lun.number, lun.number, false});
  return out;
}

std::string LioGuest::text() const {
  if (!sees) return initiator;
  if (sees->empty()) return initiator + std::string(kNoLuns);
  LioTexts out;
  for (const auto& mapping : *sees) {
    auto text = std::to_string(mapping.number);
    if (mapping.lun != mapping.number) text += fmt::format("={}", mapping.lun);
    out.push_back(text + (mapping.read_only ? std::string(kReadOnly) : ""));
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
    LioMapping mapping;
    mapping.read_only = part.ends_with(kReadOnly);
    if (mapping.read_only) part.remove_suffix(kReadOnly.size());
    const auto equals = part.find('=');
    const auto number = base::parse_as<int>(part.substr(0, equals));
    const auto lun = equals == std::string_view::npos ? number : base::parse_as<int>(part.substr(equals + 1));
    if (!number || !lun) continue;
    mapping.number = *number;
    mapping.lun = *lun;
    out.sees->push_back(mapping);
  }
  return out;
}

std::string id_of(const LioTargetId& target) {
  constexpr std::size_t kGidName = 34;  // "0x" and 32 digits
  if (target.fabric != kSrptFabric) return target.wwn;
  const auto guid =
      model::Guid::parse(target.wwn.size() == kGidName ? target.wwn.substr(kGidName / 2 + 1) : target.wwn);
  return guid ? guid->text() : target.wwn;
}

const LioTarget* find_lio_target(const LioState& state, const std::string& id) {
  const LioTarget* found = nullptr;
  for (const auto& target : state.targets) {
    const bool same = target.id.fabric == kSrptFabric ? id_of(target.id) == id : target.id.wwn == id;
    if (same && (found == nullptr || target.id.wwn.starts_with("0x"))) found = &target;
  }
  return found;
}

std::map<std::string, const LioTarget*> lio_targets_of(const LioState& state) {
  std::map<std::string, const LioTarget*> out;
  for (const auto& target : state.targets) {
    const auto [at, fresh] = out.try_emplace(id_of(target.id), &target);
    if (!fresh && target.id.wwn.starts_with("0x")) at->second = &target;
  }
  return out;
}

LioDisks lio_disks_of(const LioState& state) {
  LioDisks out;
  for (const auto& backstore : state.backstores) out.emplace(backstore.id, lio_disk_of(backstore));
  return out;
}

LioTargetEntry settings_of(const LioTarget& target, const LioDisks& disks) {
  LioTargetEntry out;
  out.any_initiator = target.any_initiator;
  out.enabled = target.enabled;
  LioTexts initiators, portals, luns, logged_in = target.guests;
  for (const auto& acl : target.acls) {
    initiators.push_back(text_of_acl(acl, target));
    if (acl.logged_in) logged_in.push_back(acl.initiator);
  }
  for (const auto& portal : target.portals) portals.push_back(lio_portal_text(portal));
  for (const auto& lun : target.luns) luns.push_back(lio_lun_text(lun, disks));
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

std::string lio_backstore_name(std::string_view path) {
  constexpr std::size_t kTail = 8;
  return std::string(kOurBackstores) + base::uuid_of(path).substr(0, kTail);
}

std::string lio_serial_of(std::string_view machine, std::string_view path) {
  return base::uuid_of(fmt::format("{} {}", base::trim(machine), path));
}

std::vector<std::string> srp_port_ids(const model::Guid& target, std::string_view initiator) {
  if (const auto guid = model::Guid::parse(initiator)) {
    return {fmt::format("0x{:016x}{:016x}", 0, guid->number),
            fmt::format("0x{:016x}{:016x}", target.number, guid->number)};
  }
  auto digits = base::lower(initiator);
  // A capital X is none of the identifier's.
  if (initiator.starts_with("0x")) digits.erase(0, 2);
  if (digits.size() != kSrpPortIdDigits || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
    return {};
  return {"0x" + digits};
}

}  // namespace rdmacfg::kinds
