// SPDX-License-Identifier: Apache-2.0
// OpenSM: opensm.conf and the distributions' lists of ports (opensm(8)).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/rdma/opensm_flags.hpp"
#include "foreign/import/rdma/opensm_partitions.hpp"
#include "foreign/import/rdma/opensm_sorts.hpp"
#include "foreign/keys.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "formats/opensm/opensm_options.hpp"

namespace rdmacfg::foreign {

namespace {

std::string opensm_name(const File& file) { return file.path.substr(file.path.rfind('/') + 1); }

/// The port of a drop-in of "opensm@0x….service"; nothing for other files.
std::optional<model::Guid> port_of_instance(std::string_view path) {
  auto unit = path.substr(0, std::min(path.rfind('/'), path.size()));
  unit = unit.substr(unit.rfind('/') + 1);
  unit = unit.substr(0, unit.find(".service"));
  const auto at = unit.find('@');
  const auto guid = kinds::port_of_word(at == std::string_view::npos ? "" : unit.substr(at + 1));
  return guid && guid->number != 0 ? guid : std::nullopt;
}

/// The files that drop-ins of instances have their subnet managers read in place of opensm.conf.
std::map<std::string, model::Guid> confs_of_instances(std::span<const File> files) {
  std::map<std::string, model::Guid> out;
  for (const auto& file : files) {
    const auto port = port_of_instance(file.path);
    if (!port) continue;
    for (const auto raw : base::split(file.text, '\n')) {
      const auto line = base::trim(raw);
      if (!line.starts_with("ExecStart")) continue;
      for (const auto& [flag, value] : flags_of(line)) {
        if (flag == "F" || flag == "config") out.insert_or_assign(std::string(value), *port);
      }
    }
  }
  return out;
}

/// An option of one subnet manager alone; of several the last one counts.
void add_own_option(Entry& entry, std::string_view option, std::string_view value, const Place& where,
                    Claims& claims) {
  constexpr std::size_t kMostOptions = 400;  // OpenSM has 160
  const model::Value wanted{std::string(option)};
  const auto at = std::find_if(entry.children.begin(), entry.children.end(), [&](const Entry& child) {
    return model::value_of(child.values, "key") == wanted;
  });
  if (at == entry.children.end() && entry.children.size() >= kMostOptions)
    return claims.miss(where,
                       fmt::format("{}: is beyond the {} options that are read", option, kMostOptions));
  auto& child = at == entry.children.end() ? entry.children.emplace_back() : *at;
  child.where = where;
  child.path = "opensm.option";
  child.values["key"] = wanted;
  child.values["value"] = std::string(value);
}

/// The port and the priority of an opensm.conf.
struct OpensmConf {
  std::optional<model::Guid> guid;
  std::optional<std::int64_t> priority;
  Place where, priority_at;
};

/// Whether the line was one of these.
bool take_port(std::span<const std::string_view> words, const Place& here, OpensmConf& conf, Claims& claims) {
  if (words.size() != 2) return false;
  if (words.front() == "guid") {
    const auto parsed = opensm_guid(words[1]);
    if (parsed) {
      conf.guid = *parsed;
      conf.where = here;
    } else if (base::parse_number(words[1]).value_or(1) != 0) {  // 0: whichever port is up
      claims.miss(here, parsed.error().message);
      return true;
    }
  } else if (words.front() == "sm_priority") {
    const auto value = base::parse_number(words[1]);
    if (!value || *value > 15) {
      claims.miss(here, fmt::format("{} is not a priority from 0 to 15", words[1]));
      return true;
    }
    conf.priority = static_cast<std::int64_t>(*value);
    conf.priority_at = here;
  } else {
    return false;
  }
  claims.took(here);
  return true;
}

/// The file of a line "partition_config_file FILE", unless that is one of the usual places; empty: none.
std::string_view other_partitions(const std::vector<std::string_view>& words) {
  const bool elsewhere = words.size() == 2 && words.front() == "partition_config_file" &&
                         !words[1].ends_with("/opensm/partitions.conf") &&
                         words[1] != "/etc/rdma/partitions.conf" && words[1] != "(null)";
  return elsewhere ? words[1] : std::string_view();
}

/// The file of partitions that an opensm.conf names in place of the usual ones; empty: none.
std::string_view other_partitions(const File& file) {
  std::string_view out;
  for (const auto raw : base::split(file.text, '\n')) {
    const auto path = other_partitions(words_of(raw.substr(0, raw.find('#'))));
    if (!path.empty()) out = path;
  }
  return out;
}

/// opensm.conf: "key value" lines. Ports and priorities; the other settings stay in that file.
/// @param reads_partitions  whether the file of partitions that it names is read by itself
void parse_conf(const File& file, bool reads_partitions, Claims& claims) {
  int number = 0, others = 0;
  OpensmConf conf;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto words = words_of(raw.substr(0, raw.find('#')));
    const Place here{file.path, number};
    if (words.empty() || take_port(words, here, conf, claims)) continue;
    const auto path = reads_partitions ? std::string_view() : other_partitions(words);
    others += path.empty() ? 1 : 0;
    if (!path.empty())
      claims.miss(here, fmt::format("partition_config_file {}: is not read, so its partitions are not in the "
                                    "document; name it after opensm",
                                    path));
  }
  if (others > 0)
    claims.pass({file.path, 0}, fmt::format("{} other {} in that file", others,
                                            others == 1 ? "setting stays" : "settings stay"));
  if (!conf.guid) {
    // opensm --create-config writes guid 0x0 and sm_priority 0, which are the defaults.
    if (conf.priority.value_or(0) != 0) {
      --claims.understood[file.path];
      claims.miss(conf.priority_at, "a priority without guid: its port is unknown");
    }
    return;
  }
  auto& entry = claims.entry("opensm", {{"guid", conf.guid->text()}}, conf.where);
  if (!conf.priority) return;
  const auto [at, fresh] = entry.values.try_emplace("priority", *conf.priority);
  if (fresh || at->second == model::Value(*conf.priority)) return;
  // PRIORITY of RHEL's sysconfig/opensm is an option of the command line, which opensm(8) prefers.
  if (!entry.where.file.ends_with("/opensm")) {
    at->second = *conf.priority;
  } else {
    claims.pass(conf.priority_at,
                fmt::format("sm_priority: PRIORITY in {} takes precedence", entry.where.file));
  }
}

/// The opensm.conf of one instance: a file of ours takes its place, so all of its settings come into the
/// document. The port is that of the command line, whatever the file says.
void parse_own_conf(const File& file, model::Guid port, Claims& claims) {
  int number = 0;
  OpensmConf conf;
  auto& entry = claims.entry("opensm", {{"guid", port.text()}}, {file.path, 0});
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto line = base::trim(raw.substr(0, raw.find('#')));
    const auto words = words_of(line);
    const Place here{file.path, number};
    if (words.empty() || take_port(words, here, conf, claims)) continue;
    const auto value = kinds::opensm_value(line.substr(words.front().size()));
    const bool odd = std::any_of(words.front().begin(), words.front().end(), [](char c) {
      return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z');
    });
    if (value.empty() || odd || words.front() == "guid" || words.front() == "sm_priority") {
      claims.miss(here, fmt::format("{}: is not an option with one value", words.front()));
      continue;
    }
    claims.took(here);
    if (value != "(null)") add_own_option(entry, words.front(), value, here, claims);
  }
  if (conf.priority) entry.values["priority"] = *conf.priority;
}

/// PORTS="ALL": a subnet manager on every port, of which only the host knows the GUIDs.
void all_ports(Keys& keys, const Item& item, std::optional<std::int64_t> priority, Claims& claims) {
  std::set<model::Guid> guids;
  for (const auto& [name, guid] : claims.known) guids.insert(guid);
  if (guids.empty())
    return claims.pass(keys.place(item),
                       "ALL: only the host knows its ports; write an [[opensm]] entry for each");
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
      const auto guid = kinds::port_of_word(word);
      if (word == "NONE") continue;
      if (!guid || guid->number == 0) {
        if (word == "ALL") {
          all_ports(keys, *item, priority, claims);
        } else {
          keys.wrong(*item,
                     fmt::format("\"{}\" is not a GUID for `opensm --guid`: hexadecimal digits, with 0x "
                                 "or without",
                                 word));
        }
        continue;
      }
      auto& entry = claims.entry("opensm", {{"guid", guid->text()}}, keys.place(*item));
      if (priority) entry.values["priority"] = *priority;
    }
  }
  keys.finish();
}

/// A flag of an instance's command line as an option of its own.
void take_command_flag(std::string_view flag, std::string_view value, const Place& here, Entry& own,
                       Claims& claims) {
  const auto* known = find_flag(flag);
  const auto* dashes = flag.size() > 1 ? "--" : "-";
  if (known == nullptr) {
    claims.miss(here, fmt::format("{}{}: cannot be expressed in the document", dashes, flag));
  } else if (known->name == "priority") {
    const auto number = base::c_number(value);
    if (number && *number <= 15) {
      own.values["priority"] = static_cast<std::int64_t>(*number);
    } else {
      claims.miss(here, fmt::format("ExecStart: \"{}\" is not a priority from 0 to 15", value));
    }
  } else if (!known->option.empty()) {
    const auto given = known->value.empty() ? value : known->value;
    if (given.empty() || given.find('%') != std::string_view::npos) {
      claims.miss(here, fmt::format("{}{} {}: the value is not known", dashes, flag, given));
    } else {
      add_own_option(own, known->option, given, here, claims);
    }
  }
}

/// A drop-in of "opensm@0x….service": a subnet manager of its own, whose options the command line may have.
void parse_instance(const File& file, Claims& claims) {
  const auto guid = port_of_instance(file.path);
  Entry own;
  for (const auto& group : parse_groups(file, claims)) {
    for (const auto& item : group.items) {
      if (item.key != "ExecStart" || words_of(item.value).empty()) continue;
      const Place here{file.path, item.line};
      claims.took(here);
      for (const auto& [flag, value] : flags_of(item.value))
        take_command_flag(flag, value, here, own, claims);
    }
  }
  if (!guid) return claims.pass({file.path, 0}, "is not for one port; only the host knows its ports");
  auto& entry = claims.entry("opensm", {{"guid", guid->text()}}, {file.path, 0});
  if (const auto at = own.values.find("priority"); at != own.values.end())
    entry.values["priority"] = at->second;
  for (const auto& child : own.children)
    add_own_option(entry, model::text_at(child.values, "key"), model::text_at(child.values, "value"),
                   child.where, claims);
}

enum class OpensmSort { kInstance, kOwnConf, kPartitions, kPorts, kPolicy, kConf };

OpensmSort sort_of_opensm(const File& file, bool own) {
  if (unit_of(file.path).ends_with(".service")) return OpensmSort::kInstance;
  if (own) return OpensmSort::kOwnConf;
  const auto name = opensm_name(file);
  if (name.starts_with("qos-policy")) return OpensmSort::kPolicy;
  if (name == "partitions.conf" || has_rules(file)) return OpensmSort::kPartitions;
  const auto named = name == "opensm" || file.path.find("sysconfig") != std::string::npos ? NamedAs::kPortList
                                                                                          : NamedAs::kOther;
  return is_port_list(file, named) ? OpensmSort::kPorts : OpensmSort::kConf;
}

/// The file of partitions that the only opensm.conf names in place of the usual ones; empty: none.
std::string_view partitions_of_all(std::span<const File> files,
                                   const std::map<std::string, model::Guid>& confs) {
  std::string_view out;
  int count = 0;
  for (const auto& file : files) {
    if (sort_of_opensm(file, confs.contains(file.path)) != OpensmSort::kConf) continue;
    out = other_partitions(file);
    ++count;
  }
  return count == 1 ? out : std::string_view();
}

}  // namespace

void parse_opensm(std::span<const File> files, Claims& claims) {
  const auto confs = confs_of_instances(files);
  const auto other = partitions_of_all(files, confs);
  const bool reads_other = std::any_of(files.begin(), files.end(), [&](const File& file) {
    return !other.empty() && is_copy_of(file, other);
  });
  std::set<std::string> read;
  for (const auto& file : files) {
    const auto conf = confs.find(file.path);
    read.insert(file.path);
    switch (sort_of_opensm(file, conf != confs.end())) {
      case OpensmSort::kInstance:
        parse_instance(file, claims);
        break;
      case OpensmSort::kOwnConf:
        parse_own_conf(file, conf->second, claims);
        break;
      case OpensmSort::kPartitions:
        if (other.empty() || is_copy_of(file, other)) {
          parse_partitions(file, claims);
        } else {
          claims.pass({file.path, 0}, fmt::format("OpenSM reads {} instead", other));
        }
        break;
      case OpensmSort::kPorts:
        parse_ports(file, claims);
        break;
      case OpensmSort::kPolicy:
        claims.pass({file.path, 0},
                    "the QoS policy stays in force; to have it in the document, write [[opensm_file]]");
        break;
      case OpensmSort::kConf:
        parse_conf(file, reads_other, claims);
        break;
    }
  }
  for (const auto& [path, port] : confs) {
    if (!read.contains(path))
      claims.miss(
          {path, 0},
          "a drop-in of an instance names it; it is not read, so its options are not in the document; name "
          "it after opensm");
  }
}

}  // namespace rdmacfg::foreign
