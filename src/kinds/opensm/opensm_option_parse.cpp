// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_option_parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "formats/opensm/opensm_files.hpp"
#include "formats/opensm/opensm_options.hpp"
#include "kinds/entry.hpp"
#include "kinds/opensm/opensm_option.hpp"
#include "model/limits.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;
using model::Severity;

namespace {

/// osm_subn_parse_conf_file() reads lines into 1024 bytes.
constexpr std::size_t kLineMost = 1000;

constexpr std::string_view kPartitionFile = "partition_config_file";

/// Options that have a place of their own in the document.
constexpr std::array<std::array<std::string_view, 2>, 3> kElsewhere{{
    {"guid", "[[opensm]] guid names the port"},
    {"sm_priority", "[[opensm]] has priority"},
    {kPartitionFile, "[[partition]] writes the file that OpenSM reads without this option"},
}};

template <class Wrong>
void check_option_value(const std::string& key, const std::string& value, const model::Location& where,
                        const Wrong& wrong) {
  if (value.empty()) return;  // reported already, by the grammar
  if (value.find_first_of("\n\r#") != std::string::npos) {
    wrong(where, "value: cannot be written on a line of opensm.conf", "leave out line breaks and #");
  } else if (key.size() + value.size() > kLineMost) {
    wrong(where, "value: too long for a line that OpenSM reads",
          fmt::format("at most {} characters with the key", kLineMost));
  } else if (auto unfit = wrong_opensm_value(key, value)) {
    wrong(where, "value: " + std::move(unfit->what), std::move(unfit->hint));
  }
}

/// A mistyped engine is an error, as is "none", at which OpenSM 3.3.23 crashes; others may be those of a
/// plugin.
void check_engines(const model::Section& section, const model::Entry& value, Diagnostics& diagnostics) {
  for (const auto& engine : unknown_routing_engines(model::text_of(value.value))) {
    const bool never = engine.near || engine.name == "none";
    diagnostics.push_back(
        {never ? Severity::kError : Severity::kWarning,
         value.where,
         fmt::format("[[{}]] value: OpenSM 3.3 has no routing engine \"{}\", and would leave it out",
                     section.path, engine.name),
         engine.near ? fmt::format("did you mean \"{}\"?", *engine.near)
                     : fmt::format("one of {}, unless a plugin has it", routing_engine_names()),
         {}});
  }
}

void add_option(const model::Section& section, std::optional<model::Guid> port, std::vector<Desired>& out,
                Diagnostics& diagnostics) {
  const auto* key = section.find("key");
  if (key == nullptr) return;  // reported already, by the grammar
  const auto id = model::text_of(key->value);
  const auto tell = [&](Severity severity, const model::Location& where, std::string what, std::string hint) {
    diagnostics.push_back(
        {severity, where, fmt::format("[[{}]] {}", section.path, what), std::move(hint), {}});
  };
  const auto wrong = [&](const model::Location& where, std::string what, std::string hint) {
    tell(Severity::kError, where, std::move(what), std::move(hint));
  };
  if (id.empty() || id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
                        std::string::npos) {
    wrong(key->where, fmt::format("key: \"{}\" is not an option of OpenSM", id), "letters, digits and _");
    return;
  }
  for (const auto& [option, place] : kElsewhere) {
    // Partitions of one port's own are in a file of the administrator's.
    if (id == option && !(port && option == kPartitionFile))
      wrong(key->where, fmt::format("key: {} is not set here", id), std::string(place));
  }
  if (const auto near = near_opensm_option(id)) {
    tell(Severity::kWarning, key->where, fmt::format("key: OpenSM 3.3 has no option {}", id),
         fmt::format("did you mean \"{}\"?", *near));
  }
  const OpensmOwner owner{port, id};
  auto desired = desired_of(section, model::specs<OpensmOption>(),
                            {std::string(kOpensmOptionKind), owner.id()}, opensm_option_label(owner));
  const auto* value = section.find("value");
  if (value == nullptr) {
    wrong(key->where, "value: is missing", "value = … as `opensm --create-config` would write it");
    return;
  }
  check_option_value(id, model::text_of(value->value), value->where, wrong);
  if (id == "routing_engine") check_engines(section, *value, diagnostics);
  out.push_back(std::move(desired));
}

/// Each [[opensm_file]] and [[opensm.file]] implies the option that names its file; in which folder that
/// is, only the host tells.
void add_file_option(const model::Section& section, std::optional<model::Guid> port,
                     std::vector<Desired>& out) {
  const auto* option = section.find("option");
  const auto* file = option == nullptr ? nullptr : opensm_side_file(model::text_of(option->value));
  if (file == nullptr) return;  // reported by its kind
  const OpensmOwner owner{port, std::string(file->option)};
  const bool known = std::any_of(out.begin(), out.end(),
                                 [&](const Desired& resource) { return resource.key.id == owner.id(); });
  if (known) return;  // reported by its kind, too
  auto& desired = out.emplace_back();
  desired.key = {std::string(kOpensmOptionKind), owner.id()};
  desired.label = opensm_option_label(owner);
  set_derived(desired, "value", opensm_side_name(*file, port), option->where);
  desired.where = section.where;
  desired.needs.push_back({"opensm_file", owner.id()});
}

/// OpenSM reads one file: that of a port has the options of all, too, unless it has its own.
void add_common(model::Guid port, const std::vector<Desired>& common, std::vector<Desired>& own) {
  std::set<std::string> known;
  for (const auto& option : own) known.insert(option.key.id);
  for (auto option : common) {
    const OpensmOwner owner{port, option.key.id};
    if (known.contains(owner.id())) continue;
    option.key.id = owner.id();
    option.label = opensm_option_label(owner);
    own.push_back(std::move(option));
  }
}

}  // namespace

std::string opensm_option_label(const OpensmOwner& owner) { return owner.label("opensm.conf"); }

void parse_option_entries(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) {
  std::vector<Desired> common;
  for (const auto* section : bound.of(kOpensmOptionKind))
    add_option(*section, std::nullopt, common, diagnostics);
  for (const auto* section : bound.of("opensm_file")) add_file_option(*section, std::nullopt, common);
  std::size_t confs = 0;
  for (const auto* opensm : bound.of("opensm")) {
    const auto port = port_with_own_conf(*opensm);
    if (!port) continue;
    std::vector<Desired> own;
    for (const auto& child : opensm->children) {
      if (child.path == "opensm.option") add_option(child, port, own, diagnostics);
    }
    for (const auto& child : opensm->children) {
      if (child.path == "opensm.file") add_file_option(child, port, own);
    }
    const bool too_many = ++confs > model::limits::kOpensmConfs ||
                          common.size() + own.size() > model::limits::kOpensmConfOptions;
    if (too_many) {
      diagnostics.push_back(
          {Severity::kError,
           opensm->where,
           fmt::format("[[opensm]]: at most {} subnet managers can have their own options, with {} each",
                       model::limits::kOpensmConfs, model::limits::kOpensmConfOptions),
           "leave [[opensm.option]] and [[opensm.file]] out",
           {}});
    } else {
      add_common(*port, common, own);
    }
    std::move(own.begin(), own.end(), std::back_inserter(out));
  }
  std::move(common.begin(), common.end(), std::back_inserter(out));
}

}  // namespace rdmacfg::kinds
