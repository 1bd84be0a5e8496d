// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/target_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>

#include "kinds/entry.hpp"
#include "kinds/storage/surroundings.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

namespace {

std::vector<std::string> texts_at(const model::Attributes& settings, std::string_view field) {
  const auto* texts = std::get_if<std::vector<std::string>>(&model::value_of(settings, field));
  return texts == nullptr ? std::vector<std::string>{} : *texts;
}

void need_addresses(model::Desired& target, const std::vector<std::string>& portals,
                    const std::map<std::string, model::Key>& given) {
  for (const auto& portal : portals) {
    const auto at = given.find(portal.substr(0, portal.find(' ')));
    if (at != given.end()) target.needs.push_back(at->second);
  }
}

void report_mounted(const model::Desired& target, const TargetSettings& settings, const std::string& path,
                    model::Diagnostics& diagnostics) {
  diagnostics.push_back(
      {model::Severity::kError,
       target.origins.at(std::string(settings.disks)),
       fmt::format("[[{}]] {}: {} is mounted on this host", target.key.kind, settings.child, path),
       "two hosts that write to one file system corrupt it: unmount it first",
       {}});
}

}  // namespace

void report_entry_error(const model::Section& section, const model::Location& where, std::string_view key,
                        const std::string& message, std::string hint, model::Diagnostics& diagnostics) {
  diagnostics.push_back({model::Severity::kError,
                         where,
                         fmt::format("[[{}]] {}: {}", section.path, key, message),
                         std::move(hint),
                         {}});
}

void parse_targets(const Bound& bound, const Kind& kind, std::string_view identity,
                   void (*complete)(const model::Section&, model::Desired&, model::Diagnostics&),
                   std::vector<model::Desired>& out, model::Diagnostics& diagnostics) {
  for (const auto* section : bound.of(kind.name())) {
    const auto* entry = section->find(identity);
    if (entry == nullptr) continue;  // reported already, by the grammar
    const auto id = model::text_of(entry->value);
    auto desired = desired_of(*section, kind.fields(), {std::string(kind.name()), id}, id);
    complete(*section, desired, diagnostics);
    out.push_back(std::move(desired));
  }
}

model::Observed observed_target(const Kind& kind, const std::string& id, model::Attributes settings,
                                const World& world) {
  model::Observed observed;
  observed.key = {std::string(kind.name()), id};
  observed.label = id;
  observed.instance = world.host().boot_id;
  observed.settings = std::move(settings);
  return observed;
}

model::Value value_of_set(std::vector<std::string> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list.empty() ? model::Value{} : model::Value{std::move(list)};
}

model::Value value_of_numbered(const std::map<std::int64_t, std::string>& texts) {
  std::vector<std::string> out;
  out.reserve(texts.size());
  for (const auto& [number, text] : texts) out.push_back(fmt::format("{} {}", number, text));
  return out.empty() ? model::Value{} : model::Value{std::move(out)};
}

bool lists(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::vector<std::string> missing_from(const std::optional<std::vector<std::string>>& then,
                                      const std::optional<std::vector<std::string>>& now) {
  std::vector<std::string> out;
  for (const auto& text : now.value_or(std::vector<std::string>{})) {
    if (!then || !lists(*then, text)) out.push_back(text);
  }
  return out;
}

std::vector<std::string> portals_of(const model::Section& section,
                                    const std::optional<std::vector<std::string>>& addresses,
                                    std::int64_t port, model::Diagnostics& diagnostics) {
  std::vector<std::string> out;
  if (!addresses) return out;
  const auto* entry = section.find("addresses");
  const auto place_of = [&](std::size_t item) {
    return entry == nullptr ? section.where : entry->place_of(item);
  };
  if (const auto covered = covered_address(*addresses)) {
    report_entry_error(section, place_of(*covered), "addresses",
                       fmt::format("{} is included in the wildcard of this list", (*addresses)[*covered]),
                       "keep one of the two: RDMA does not listen on both", diagnostics);
  }
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    const auto& written = (*addresses)[i];
    const auto address = model::IpAddress::parse(written);
    if (address && !address->multicast()) {
      out.push_back(fmt::format("{} {}", address->text(), port));
    } else {
      report_entry_error(
          section, place_of(i), "addresses",
          address ? fmt::format("\"{}\" is not an address of a host", written) : address.error().message, "",
          diagnostics);
    }
  }
  return out;
}

void check_targets(std::vector<model::Desired>& desired, const std::vector<model::Observed>& observed,
                   const Kind& kind, const TargetSettings& settings, World& world,
                   model::Diagnostics& diagnostics) {
  const auto now = model::by_key(observed);
  const auto addresses = given_addresses(desired);
  std::set<std::string> mounted;
  for (auto& target : desired) {
    if (target.key.kind != kind.name()) continue;
    if (world.offline()) {
      target.settings.clear();
      continue;
    }
    drop_empty_settings(target, now);
    need_addresses(target, texts_at(target.settings, settings.portals), addresses);
    if (mounted.empty()) mounted = mounted_devices(world.host().files);
    for (const auto& disk : texts_at(target.settings, settings.disks)) {
      const auto path = settings.path(disk);
      if (!path.empty() && mounted.contains(path)) report_mounted(target, settings, path, diagnostics);
    }
  }
}

model::Attributes complete_settings(const model::Change& change) {
  auto all = change.before;
  for (const auto& field : change.fields) {  // undoing takes away what was not there
    if (!change.after.contains(field)) all.erase(field);
  }
  for (const auto& [field, value] : change.after) all.insert_or_assign(field, value);
  return all;
}

}  // namespace rdmacfg::kinds
