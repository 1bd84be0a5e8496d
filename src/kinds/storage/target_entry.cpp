// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/target_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kinds/entry.hpp"
#include "kinds/storage/surroundings.hpp"
#include "model/inet_types.hpp"

namespace rdmacfg::kinds {

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

std::vector<std::string> portals_of(const model::Section& section,
                                    const std::optional<std::vector<std::string>>& addresses,
                                    std::int64_t port, model::Diagnostics& diagnostics) {
  std::vector<std::string> out;
  if (!addresses) return out;
  const auto* entry = section.find("addresses");
  const auto& where = entry == nullptr ? section.where : entry->where;
  if (const auto covered = covered_address(*addresses)) {
    report_entry_error(section, where, "addresses",
                       fmt::format("{} is included in the wildcard of this list", *covered),
                       "keep one of the two: RDMA does not listen on both", diagnostics);
  }
  for (const auto& written : *addresses) {
    const auto address = model::IpAddress::parse(written);
    if (address && !address->multicast()) {
      out.push_back(fmt::format("{} {}", address->text(), port));
    } else {
      report_entry_error(
          section, where, "addresses",
          address ? fmt::format("\"{}\" is not an address of a host", written) : address.error().message, "",
          diagnostics);
    }
  }
  return out;
}

void need_addresses(model::Desired& target, const std::vector<std::string>& portals,
                    const std::map<std::string, model::Key>& given) {
  for (const auto& portal : portals) {
    const auto at = given.find(portal.substr(0, portal.find(' ')));
    if (at != given.end()) target.needs.push_back(at->second);
  }
}

void report_mounted(const model::Desired& target, std::string_view setting, std::string_view child,
                    const std::string& path, model::Diagnostics& diagnostics) {
  diagnostics.push_back({model::Severity::kError,
                         target.origins.at(std::string(setting)),
                         fmt::format("[[{}]] {}: {} is mounted on this host", target.key.kind, child, path),
                         "two hosts that write to one file system corrupt it: unmount it first",
                         {}});
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
