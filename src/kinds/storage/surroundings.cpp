// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/surroundings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/text.hpp"
#include "formats/mount_table.hpp"
#include "model/inet_types.hpp"

namespace rdmacfg::kinds {

namespace {

/// The backing file of a loop device or of a partition on one; empty for other devices.
std::string file_behind(const std::string& device, system::Files& files) {
  constexpr std::string_view kLoop = "/dev/loop";
  if (!device.starts_with(kLoop)) return {};
  const auto rest = std::string_view(device).substr(kLoop.size());
  const auto number = base::parse_number(rest.substr(0, rest.find('p')));
  if (!number) return {};
  const auto text = files.read(fmt::format("/sys/devices/virtual/block/loop{}/loop/backing_file", *number));
  return text && *text ? std::string(base::trim(**text)) : std::string();
}

}  // namespace

std::set<std::string_view> ids_of(const std::vector<model::Desired>& desired, std::string_view kind) {
  std::set<std::string_view> out;
  for (const auto& resource : desired) {
    if (resource.key.kind == kind) out.insert(resource.key.id);
  }
  return out;
}

std::map<std::string, model::Key> given_addresses(const std::vector<model::Desired>& desired) {
  std::map<std::string, model::Key> out;
  for (const auto& resource : desired) {
    if (resource.key.kind != "address" || resource.ignore) continue;
    const auto prefix = resource.key.id.substr(resource.key.id.rfind(' ') + 1);
    out.emplace(prefix.substr(0, prefix.find('/')), resource.key);
  }
  return out;
}

std::optional<std::string> covered_address(const std::vector<std::string>& addresses) {
  std::set<model::Family> wildcards;
  for (const auto& text : addresses) {
    const auto address = model::IpAddress::parse(text);
    if (address && address->unspecified()) wildcards.insert(address->family);
  }
  for (const auto& text : addresses) {
    const auto address = model::IpAddress::parse(text);
    if (address && !address->unspecified() && wildcards.contains(address->family)) return text;
  }
  return std::nullopt;
}

std::set<std::string> mounted_devices(system::Files& files) {
  std::set<std::string> out{""};
  for (const auto* path : {"/proc/1/mountinfo", "/proc/self/mountinfo"}) {
    const auto text = files.read(path);
    if (!text || !*text) continue;
    for (const auto& [where, one] : parse_mountinfo(**text)) {
      out.insert(one.source);
      out.insert(file_behind(one.source, files));
    }
    break;
  }
  return out;
}

std::vector<std::string> LeavingSessions::all() const {
  std::vector<std::string> out;
  for (const auto& [id, names] : by_id) out.insert(out.end(), names.begin(), names.end());
  return out;
}

std::vector<std::string> LeavingSessions::siblings(const std::string& id) const {
  std::vector<std::string> out;
  for (const auto& [other, names] : by_id) {
    if (other != id) out.insert(out.end(), names.begin(), names.end());
  }
  return out;
}

base::Result<LeavingSessions> with_use(LeavingSessions leaving, const DiskUses& uses) {
  const auto why = why_disks_stay(leaving.all(), {}, uses);
  if (!why) return base::fail(why.error());
  leaving.in_use = !why->empty();
  return leaving;
}

std::string why_sessions_held(const base::Result<LeavingSessions>& leaving, const std::string& id,
                              const DiskUses& uses, std::string_view remedy) {
  if (!leaving || !leaving->in_use) return {};
  const auto at = leaving->by_id.find(id);
  if (at == leaving->by_id.end()) return {};
  const auto why = why_disks_stay(at->second, leaving->siblings(id), uses);
  return why && !why->empty() ? fmt::format("{}; {}", *why, remedy) : std::string();
}

Verdict judge_sessions(const std::vector<std::string>& sessions, const std::optional<std::string>& job,
                       const SessionWords& words) {
  Verdict verdict;
  const auto down = std::find_if(sessions.begin(), sessions.end(),
                                 [&](const std::string& session) { return !session.ends_with(words.live); });
  if (!sessions.empty() && down == sessions.end()) return verdict;
  verdict.sort = Verdict::Sort::kPending;
  verdict.fields = {std::string(words.field)};
  if (job) {
    verdict.reason =
        fmt::format("systemd has the {} job of {} in its queue, behind other jobs", *job, words.unit);
  } else if (!sessions.empty()) {
    verdict.reason = fmt::format("{}: {}", *down, words.retry);
  } else {
    verdict.reason = words.missing;
  }
  return verdict;
}

base::Result<std::string> why_disks_stay(const std::vector<std::string>& going,
                                         const std::vector<std::string>& others, const DiskUses& uses) {
  if (going.empty()) return std::string();
  auto found = uses(going);
  if (!found) return base::fail(found.error());
  if (found->empty() && !others.empty()) {
    const auto without = uses(others);
    if (!without) return base::fail(without.error());
    auto all = going;
    all.insert(all.end(), others.begin(), others.end());
    found = uses(all);
    if (!found) return base::fail(found.error());
    std::erase_if(*found, [&](const auto& one) {
      return std::find(without->begin(), without->end(), one) != without->end();
    });
  }
  constexpr std::size_t kUsesNamed = 3;
  const auto shown = std::min(found->size(), kUsesNamed);
  auto text = base::join(std::span(*found).first(shown), ", ");
  if (found->size() > shown) text += fmt::format(" and {} more", found->size() - shown);
  return text;
}

}  // namespace rdmacfg::kinds
