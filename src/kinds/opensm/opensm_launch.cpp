// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_launch.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/text.hpp"
#include "formats/shell_value.hpp"
#include "kinds/entry.hpp"
#include "kinds/opensm/opensm_option.hpp"
#include "kinds/opensm/opensm_own.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Desired;
using model::Diagnostics;
using model::Guid;
using model::Severity;

namespace {

constexpr std::int64_t kLaunchPriorityMost = 15;

std::optional<std::int64_t> launch_priority(const std::string& text) {
  const auto number = base::c_number(text);
  if (!number || *number > static_cast<std::uint64_t>(kLaunchPriorityMost)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// The entries of the document by their ports.
std::map<Guid, Desired*> entries_by_port(std::vector<Desired>& desired) {
  std::map<Guid, Desired*> out;
  for (auto& resource : desired) {
    if (resource.key.kind != "opensm") continue;
    if (const auto guid = Guid::parse(resource.key.id)) out.emplace(*guid, &resource);
  }
  return out;
}

/// A port in GUIDS ends the subnet managers that others' files start beside ours.
void keep_launch_files(const std::map<Guid, Desired*>& entries, const LaunchFiles& theirs,
                       Diagnostics& diagnostics) {
  if (theirs.empty()) return;
  for (const auto& [guid, entry] : entries) {
    if (theirs.contains(guid)) continue;
    diagnostics.push_back(
        {Severity::kError,
         entry->where,
         fmt::format("[[opensm]]: without its own options this entry would be listed in GUIDS of {}, and "
                     "opensm.service would ignore {}, which starts another subnet manager",
                     kOpensmSysconfigFile, theirs.begin()->second.path),
         "keep an [[opensm.option]] in the entry, or remove that file",
         {}});
  }
}

}  // namespace

Result<LaunchFiles> observe_launch_files(system::Files& files, const std::string& sysconfig) {
  LaunchFiles out;
  if (!takes_files(sysconfig, OpensmLayout::kRhel)) return out;
  const auto paths = observe_opensm_instances(files);
  if (!paths) return base::fail(paths.error());
  const auto common = launch_priority(shell_value(sysconfig, "PRIORITY").value_or(""));
  for (const auto& path : *paths) {
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;  // OpenSM cannot read it either, or it is a folder
    const auto options = parse_opensm_options(**text).theirs;
    const auto named = options.find("guid");
    const auto number = named == options.end() ? std::nullopt : base::c_number(named->second);
    if (!number || *number == 0) continue;  // it takes the first port
    const auto own = options.find("sm_priority");
    out.emplace(Guid{*number},
                LaunchFile{path, common || own == options.end() ? common : launch_priority(own->second)});
  }
  return out;
}

void give_own_confs(std::vector<Desired>& desired, const std::string& sysconfig, const LaunchFiles& theirs,
                    Diagnostics& diagnostics) {
  const auto entries = entries_by_port(desired);
  const Desired* first = nullptr;
  for (const auto& [guid, entry] : entries) {
    if (entry->needs.empty()) continue;
    if (first == nullptr) first = entry;
    entry->settings["own_conf"] = true;
    entry->origins["own_conf"] = entry->where;
    const auto at = theirs.find(guid);
    // A file with our name is judged with the options that it gets.
    if (at == theirs.end() ||
        port_of_instance_conf(std::string_view(at->second.path).substr(at->second.path.rfind('/') + 1)) ==
            guid)
      continue;
    diagnostics.push_back(
        {Severity::kError,
         entry->where,
         fmt::format("[[opensm]] guid: {} starts a subnet manager on this port, too", at->second.path),
         "remove that file, whose options this entry replaces",
         {}});
  }
  if (first == nullptr) {
    const bool by_files =
        takes_files(sysconfig, OpensmLayout::kRhel) && parse_opensm_defaults(sysconfig).in_files;
    if (by_files) keep_launch_files(entries, theirs, diagnostics);
    return;
  }
  for (const auto& [guid, entry] : entries) {
    if (!entry->needs.empty() || theirs.contains(guid)) continue;
    auto& d = diagnostics.emplace_back(model::Diagnostic{
        Severity::kError,
        entry->where,
        "[[opensm]]: this entry has no options, but another entry has: opensm-launch starts subnet "
        "managers either from GUIDS or from files",
        "give each [[opensm]] entry an [[opensm.option]], such as subnet_prefix, or none",
        {}});
    d.related.push_back({first->where, "the entry with options"});
  }
  for (const auto& [guid, prefix] : opensm_prefixes(parse_opensm_defaults(sysconfig).others)) {
    if (entries.contains(guid)) continue;
    diagnostics.push_back(
        {Severity::kError,
         first->where,
         fmt::format(
             "[[opensm]]: GUIDS of {} names port {}, whose subnet manager would no longer start: with "
             "options of an entry, opensm-launch starts only files",
             kOpensmSysconfigFile, guid.text()),
         "write an [[opensm]] entry with options for that port, or remove the port from GUIDS",
         {}});
  }
}

void hold_own_confs(std::vector<Desired>& desired, const std::map<Guid, std::string>& why) {
  for (auto& resource : desired) {
    if (resource.key.kind != "opensm_option" && resource.key.kind != "opensm_file") continue;
    const auto port = OpensmOwner::of(resource.key.id).port;
    const auto at = port && !resource.pending ? why.find(*port) : why.end();
    if (at != why.end()) postpone(resource, at->second);
  }
}

}  // namespace rdmacfg::kinds
