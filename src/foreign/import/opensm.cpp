// SPDX-License-Identifier: Apache-2.0
// OpenSM: opensm.conf and the distributions' lists of ports (opensm(8)).
#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/opensm_partitions.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

namespace {

std::string opensm_name(const File& file) { return file.path.substr(file.path.rfind('/') + 1); }

/// opensm.conf: "key value" lines. Ports and priorities; the other settings stay in that file.
void parse_conf(const File& file, Claims& claims) {
  int number = 0, others = 0;
  std::optional<model::Guid> guid;
  std::optional<std::int64_t> priority;
  Place where, priority_at;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto words = words_of(raw.substr(0, raw.find('#')));
    if (words.empty()) continue;
    const Place here{file.path, number};
    if (words.front() == "guid" && words.size() == 2) {
      const auto parsed = opensm_guid(words[1]);
      if (parsed) {
        guid = *parsed;
        where = here;
      } else if (base::parse_number(words[1]).value_or(1) != 0) {  // 0: whichever port is up
        claims.miss(here, parsed.error().message);
        continue;
      }
      claims.took(here);
    } else if (words.front() == "sm_priority" && words.size() == 2) {
      const auto value = base::parse_number(words[1]);
      if (!value || *value > 15) {
        claims.miss(here, fmt::format("{} is not a priority from 0 to 15", words[1]));
        continue;
      }
      priority = static_cast<std::int64_t>(*value);
      priority_at = here;
      claims.took(here);
    } else {
      // Its usual places are read by themselves.
      const bool elsewhere = words.front() == "partition_config_file" && words.size() == 2 &&
                             !words[1].ends_with("/opensm/partitions.conf") &&
                             words[1] != "/etc/rdma/partitions.conf" && words[1] != "(null)";
      if (elsewhere)
        claims.miss(here,
                    fmt::format("partition_config_file {}: is not read; name it behind opensm", words[1]));
      ++others;
    }
  }
  if (others > 0) claims.pass({file.path, 0}, fmt::format("{} other settings stay in that file", others));
  if (!guid) {
    // opensm --create-config writes guid 0x0 and sm_priority 0, which are the defaults.
    if (priority.value_or(0) != 0) {
      --claims.understood[file.path];
      claims.miss(priority_at, "a priority without guid: which port it is for is not known");
    }
    return;
  }
  auto& entry = claims.entry("opensm", {{"guid", guid->text()}}, where);
  if (priority) entry.values["priority"] = *priority;
}

/// PORTS="ALL": a subnet manager on every port, of which only the host knows the GUIDs.
void all_ports(Keys& keys, const Item& item, std::optional<std::int64_t> priority, Claims& claims) {
  std::set<model::Guid> guids;
  for (const auto& [name, guid] : claims.known) guids.insert(guid);
  if (guids.empty())
    return claims.pass(keys.place(item),
                       "ALL: which ports there are only the host knows; write [[opensm]] for each");
  for (const auto& guid : guids) {
    auto& entry = claims.entry("opensm", {{"guid", guid.text()}}, keys.place(item));
    if (priority) entry.values["priority"] = *priority;
  }
}

/// PORTS="0x… 0x…" (Debian), GUIDS= and PRIORITY= (RHEL).
void parse_ports(const File& file, Claims& claims) {
  Keys keys(file.path, parse_assignments(file), claims);
  std::optional<std::int64_t> priority;
  if (const auto item = keys.take("PRIORITY")) {
    const auto value = base::parse_number(item->value);
    if (value && *value <= 15) {
      priority = static_cast<std::int64_t>(*value);
    } else {
      keys.wrong(*item, fmt::format("{} is not a priority from 0 to 15", item->value));
    }
  }
  for (const auto* key : {"PORTS", "GUIDS"}) {
    const auto item = keys.take(key);
    if (!item) continue;
    for (const auto word : words_of(item->value)) {
      const auto guid = opensm_guid(word);
      if (word == "NONE") continue;
      if (!guid) {
        if (word == "ALL") {
          all_ports(keys, *item, priority, claims);
        } else {
          keys.wrong(*item, guid.error().message);
        }
        continue;
      }
      auto& entry = claims.entry("opensm", {{"guid", guid->text()}}, keys.place(*item));
      if (priority) entry.values["priority"] = *priority;
    }
  }
  keys.finish();
}

/// The value of -p or --priority in OpenSM's command line (getopt_long(3)); nothing where another option
/// stands at `at`.
std::optional<std::string_view> asked_priority(const std::vector<std::string_view>& words, std::size_t at) {
  constexpr std::string_view kShort = "-p", kLong = "--priority";
  const auto word = words[at];
  if (word == kShort || word == kLong) return at + 1 < words.size() ? words[at + 1] : std::string_view();
  if (word.starts_with(kShort)) return word.substr(kShort.size());
  const bool joined = word.starts_with(kLong) && word.substr(kLong.size()).starts_with('=');
  return joined ? std::optional(word.substr(kLong.size() + 1)) : std::nullopt;
}

/// A drop-in of "opensm@0x….service": a subnet manager of its own, whose priority the command line may have.
void parse_instance(const File& file, Claims& claims) {
  auto unit = std::string_view(file.path);
  unit = unit.substr(0, unit.rfind('/'));
  unit = unit.substr(unit.rfind('/') + 1);
  unit = unit.substr(0, unit.find(".service"));
  const auto at = unit.find('@');
  const auto guid = opensm_guid(at == std::string_view::npos ? "" : unit.substr(at + 1));
  std::optional<std::int64_t> priority;
  for (const auto& group : parse_groups(file, claims)) {
    for (const auto& item : group.items) {
      const auto words = words_of(item.value);
      if (item.key != "ExecStart" || words.empty()) continue;
      std::string wrong;
      for (std::size_t word = 1; word < words.size(); ++word) {
        const auto asked = asked_priority(words, word);
        if (!asked) continue;
        const auto number = base::c_number(*asked);
        if (number && *number <= 15) {
          priority = static_cast<std::int64_t>(*number);
        } else {
          wrong = fmt::format("ExecStart: \"{}\" is not a priority from 0 to 15", *asked);
        }
      }
      if (wrong.empty()) {
        claims.took({file.path, item.line});
      } else {
        claims.miss({file.path, item.line}, std::move(wrong));
      }
    }
  }
  if (!guid) return claims.pass({file.path, 0}, "is not for one port; which ports there are the host knows");
  auto& entry = claims.entry("opensm", {{"guid", guid->text()}}, {file.path, 0});
  if (priority) entry.values["priority"] = *priority;
}

/// Rules of partitions under another name: they end with semicolons, and nothing else of OpenSM's does.
bool has_rules(const File& file) {
  for (const auto raw : base::split(file.text, '\n')) {
    if (raw.substr(0, raw.find('#')).find(';') != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void parse_opensm(std::span<const File> files, Claims& claims) {
  for (const auto& file : files) {
    const auto name = opensm_name(file);
    if (unit_of(file.path).ends_with(".service")) {
      parse_instance(file, claims);
    } else if (name == "partitions.conf" || has_rules(file)) {
      parse_partitions(file, claims);
    } else if (name == "opensm" || file.path.find("sysconfig") != std::string::npos) {
      parse_ports(file, claims);
    } else {
      parse_conf(file, claims);
    }
  }
}

}  // namespace rdmacfg::foreign
