// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/opensm_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "formats/opensm/opensm_files.hpp"
#include "formats/os_release.hpp"
#include "formats/shell_value.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::string_view kOurPorts = kOpensmNotes[0];
constexpr std::string_view kWasDisabledLine = "# before: opensm.service was disabled";
constexpr std::string_view kWasStoppedLine = "# before: opensm.service was stopped";
constexpr std::string_view kPriority = "--priority ";
constexpr std::string_view kOwnConf = "--config ";
constexpr std::string_view kOwnConfName = "opensm-", kOwnConfEnd = ".conf";
constexpr std::string_view kInstanceConfName = "opensm.conf.";
/// Between our marks: the files of opensm-launch count.
constexpr std::string_view kNoGuids = "GUIDS=\"\"";

/// Folders of "/FOLDER/opensm.conf" in the text of a program.
std::set<std::string> folders_named_in(std::string_view program) {
  constexpr std::string_view kConfigFile = "/opensm.conf";
  const auto in_path = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '-' || c == '.';
  };
  std::set<std::string> out;
  for (auto at = program.find(kConfigFile); at != std::string_view::npos;
       at = program.find(kConfigFile, at + 1)) {
    const auto end = at + kConfigFile.size();
    if (end < program.size() && in_path(program[end])) continue;
    auto begin = at;
    while (begin > 0 && in_path(program[begin - 1])) --begin;
    if (begin < at && program[begin] == '/') out.emplace(program.substr(begin, at - begin));
  }
  return out;
}

/// Where the installed OpenSM was built to read its files.
std::optional<std::string> folder_of_program(system::Files& files) {
  for (const auto* path : {"/usr/sbin/opensm", "/usr/bin/opensm"}) {
    const auto program = files.read_linked(path);
    if (!program || !*program) continue;
    const auto folders = folders_named_in(**program);
    if (folders.size() == 1) return *folders.begin();
  }
  return std::nullopt;
}

/// SUSE's or a derivative of it.
bool is_suse(system::Files& files) {
  return observe_distribution_ids(files).find("suse") != std::string::npos;
}

}  // namespace

std::string opensm_guid(model::Guid guid) { return fmt::format("{:#018x}", guid.number); }
std::string opensm_unit(model::Guid guid) { return fmt::format("opensm@{}.service", opensm_guid(guid)); }

OpensmLayout observe_opensm_layout(system::Files& files) {
  const auto there = [&](const char* path) {
    const auto text = files.read(path);
    return text && text->has_value();
  };
  if (there("/etc/default/opensm") || there("/usr/lib/systemd/system/opensm@.service") ||
      there("/lib/systemd/system/opensm@.service")) {
    return OpensmLayout::kDebian;
  }
  if (there("/etc/sysconfig/opensm") || there("/etc/rdma/opensm.conf")) return OpensmLayout::kRhel;
  return OpensmLayout::kNone;
}

base::Result<std::optional<std::string>> observe_opensm_folder(system::Files& files) {
  const std::string usual = "/etc/opensm", rdma = "/etc/rdma";
  const auto layout = observe_opensm_layout(files);
  if (auto folder = folder_of_program(files)) return folder;
  if (layout == OpensmLayout::kDebian) return usual;
  const auto used = [&](const std::string& folder) -> base::Result<bool> {
    for (const auto* name : {"/opensm.conf", "/partitions.conf"}) {
      const auto file = read_marked(files, folder + name);
      if (!file) return base::fail(file.error());
      if (file->text || file->damage) return true;
    }
    return false;
  };
  const auto in_usual = used(usual), in_rdma = used(rdma);
  if (!in_usual) return base::fail(in_usual.error());
  if (!in_rdma) return base::fail(in_rdma.error());
  if (*in_usual != *in_rdma) return *in_usual ? usual : rdma;
  if (layout == OpensmLayout::kRhel) return is_suse(files) ? usual : rdma;
  return *in_usual ? std::optional(usual) : std::nullopt;
}

std::string opensm_defaults_path(OpensmLayout layout) {
  return std::string(layout == OpensmLayout::kRhel ? kOpensmSysconfigFile : kOpensmDefaultsFile);
}

namespace {

std::string_view ports_variable(OpensmLayout layout) {
  return layout == OpensmLayout::kRhel ? "GUIDS" : "PORTS";
}

bool names_all(std::string_view text, OpensmLayout layout) {
  return layout == OpensmLayout::kDebian && shell_value(text, ports_variable(layout)) == "ALL";
}

/// Words as opensm-launch and Debian's unit split them.
std::vector<std::string_view> words_of_ports(std::string_view value) {
  return base::words_of(value, " \t\r\n");
}

/// Whether a word of the list stands for the port. Debian's units are called after the words, and that of
/// another spelling is not the one that we know.
bool is_word_of(std::string_view word, OpensmLayout layout, model::Guid guid) {
  return layout == OpensmLayout::kRhel ? port_of_word(word) == guid : word == opensm_guid(guid);
}

/// Ports that a text names one by one; neither ALL nor NONE is one.
std::vector<std::string> ports_in(std::string_view text, OpensmLayout layout) {
  std::vector<std::string> out;
  const auto value = shell_value(text, ports_variable(layout)).value_or("");
  for (const auto word : words_of_ports(value)) {
    if (port_of_word(word)) out.emplace_back(word);
  }
  return out;
}

}  // namespace

std::optional<model::Guid> port_of_word(std::string_view word) {
  const bool radix = word.starts_with("0x") || word.starts_with("0X");
  const auto number = base::parse_number((radix ? "" : "0x") + std::string(word));
  return number ? std::optional(model::Guid{*number}) : std::nullopt;
}

std::vector<std::string> units_of_other_spellings(std::string_view text, model::Guid guid) {
  std::vector<std::string> out;
  for (const auto& word : ports_in(text, OpensmLayout::kDebian)) {
    if (port_of_word(word) == guid && !is_word_of(word, OpensmLayout::kDebian, guid))
      out.push_back(fmt::format("opensm@{}.service", word));
  }
  return out;
}

bool names_port(std::string_view text, OpensmLayout layout, model::Guid guid) {
  if (names_all(text, layout)) return true;
  if (takes_files(text, layout)) {
    const auto defaults = parse_opensm_defaults(text);
    return defaults.in_files && defaults.ports.contains(guid);
  }
  const auto ports = ports_in(text, layout);
  return std::any_of(ports.begin(), ports.end(),
                     [&](const auto& port) { return is_word_of(port, layout, guid); });
}

bool takes_files(std::string_view text, OpensmLayout layout) {
  return layout == OpensmLayout::kRhel &&
         base::trim(shell_value(text, ports_variable(layout)).value_or("")).empty();
}

bool takes_first_port(std::string_view text, OpensmLayout layout) {
  return takes_files(text, layout) && !parse_opensm_defaults(text).in_files;
}

base::Result<std::vector<std::string>> observe_opensm_instances(system::Files& files) {
  std::vector<std::string> out;
  for (const std::string folder : {"/etc/opensm", "/etc/rdma"}) {
    const auto names = files.list(folder);
    if (!names) return base::fail(names.error());
    for (const auto& name : *names) {
      const auto rest = std::string_view(name).substr(std::min(kInstanceConfName.size(), name.size()));
      if (!name.starts_with(kInstanceConfName) || rest.empty() || rest.front() < '0' || rest.front() > '9')
        continue;
      auto path = folder + "/" + name;
      if (port_of_instance_conf(name)) {
        const auto text = files.read(path);
        if (text && *text && is_our_opensm_file(**text)) continue;
      }
      out.push_back(std::move(path));
    }
  }
  return out;
}

std::map<model::Guid, std::string> opensm_prefixes(std::string_view text) {
  std::map<model::Guid, std::string> out;
  int place = 0;
  const auto value = shell_value(text, ports_variable(OpensmLayout::kRhel)).value_or("");
  for (const auto word : words_of_ports(value)) {
    // Its decimal number stands where the hexadecimal digits go.
    if (const auto guid = port_of_word(word)) out.emplace(*guid, fmt::format("0xfe800000000000{:02}", place));
    ++place;
  }
  return out;
}

OpensmDefaults parse_opensm_defaults(std::string_view text) {
  OpensmDefaults out;
  auto marked = parse_marked(text, kOpensmMarks);
  out.others = std::move(marked.others);
  out.damage = std::move(marked.damage);
  for (const auto& [line, at, ours] : marked.lines) {
    if (!ours) continue;
    out.was_disabled = out.was_disabled || line == kWasDisabledLine;
    out.was_stopped = out.was_stopped || line == kWasStoppedLine;
    out.in_files = out.in_files || line == kNoGuids;
    if (!line.starts_with(kOurPorts)) continue;
    for (const auto word : base::split(line.substr(kOurPorts.size()), ' ')) {
      const auto colon = word.find(':');
      const auto guid = base::parse_number(word.substr(0, colon));
      if (!guid) continue;
      if (!out.ports.contains(model::Guid{*guid})) out.order.push_back(model::Guid{*guid});
      auto& priority = out.ports[model::Guid{*guid}];
      const auto number =
          colon == std::string_view::npos ? std::nullopt : base::parse_number(word.substr(colon + 1));
      if (number && *number <= 15) priority = static_cast<int>(*number);
    }
  }
  return out;
}

std::string render_opensm_defaults(const OpensmDefaults& defaults, OpensmLayout layout) {
  if (defaults.ports.empty()) return defaults.others;
  auto text = begin_marked(defaults.others, kOpensmMarks);
  const bool in_files = defaults.in_files && layout == OpensmLayout::kRhel;
  auto ports = in_files ? std::vector<std::string>() : ports_in(defaults.others, layout);
  const bool all = names_all(defaults.others, layout);
  std::erase_if(ports, [&](const std::string& word) {
    const auto port = port_of_word(word);
    return port && defaults.ports.contains(*port) && !is_word_of(word, layout, *port);
  });
  std::vector<std::string> ours;
  std::optional<int> priority;
  // Another place in RHEL's list is another subnet prefix: ports stay where they are, new ones go last.
  std::vector<model::Guid> order;
  if (layout == OpensmLayout::kRhel) {
    for (const auto guid : defaults.order) {
      if (defaults.ports.contains(guid)) order.push_back(guid);
    }
  }
  for (const auto& [guid, wanted] : defaults.ports) {
    if (std::find(order.begin(), order.end(), guid) == order.end()) order.push_back(guid);
  }
  for (const auto guid : order) {
    const auto& wanted = defaults.ports.at(guid);
    if (!in_files && (all || !names_port(defaults.others, layout, guid))) ports.push_back(opensm_guid(guid));
    ours.push_back(opensm_guid(guid) + (wanted ? fmt::format(":{}", *wanted) : ""));
    priority = std::max(priority, wanted);
  }
  text += fmt::format("{}{}\n", kOurPorts, base::join(ours, " "));
  if (defaults.was_disabled) text += fmt::format("{}\n", kWasDisabledLine);
  if (defaults.was_stopped) text += fmt::format("{}\n", kWasStoppedLine);
  // Others' ALL would be cut down to ours, and their ports be without a subnet manager after a boot; where
  // nothing was started at boot, ALL started none either, and is not to begin now.
  if (defaults.was_disabled || !all)
    text += fmt::format("{}=\"{}\"\n", ports_variable(layout), base::join(ports, " "));
  if (layout == OpensmLayout::kRhel && priority) text += fmt::format("PRIORITY={}\n", *priority);
  return text + std::string(kOpensmMarks.end) + "\n";
}

std::string opensm_drop_in(model::Guid guid) { return opensm_drop_in(opensm_unit(guid)); }

std::string opensm_drop_in(const std::string& unit) {
  return fmt::format("/etc/systemd/system/{}.d/50-rdma-configd.conf", unit);
}

std::string render_opensm_drop_in(std::optional<std::int64_t> priority, std::string_view conf) {
  if (!priority && conf.empty()) return {};
  std::string cache, options;
  if (!conf.empty()) {
    cache = "Environment=OSM_CACHE_DIR=/var/cache/opensm.%I\n";
    options = fmt::format(" {}{}", kOwnConf, conf);
  }
  if (priority) options += fmt::format(" {}{}", kPriority, *priority);
  return fmt::format(
      "{}\n[Service]\n{}ExecStart=\n"
      "ExecStart=/usr/sbin/opensm --guid %I --log_file /var/log/opensm.%I.log{}\n",
      kOurFirstLine, cache, options);
}

std::optional<std::int64_t> parse_opensm_drop_in(std::string_view text) {
  const auto at = text.rfind(kPriority);
  if (at == std::string_view::npos) return std::nullopt;
  const auto rest = text.substr(at + kPriority.size());
  const auto number = base::parse_number(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!number || *number > 15) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

bool names_own_conf(std::string_view drop_in) { return drop_in.find(kOwnConf) != std::string_view::npos; }

std::string opensm_own_conf(const std::string& folder, model::Guid guid) {
  return fmt::format("{}/{}{}{}", folder, kOwnConfName, opensm_guid(guid), kOwnConfEnd);
}

std::optional<model::Guid> port_of_own_conf(std::string_view name) {
  const auto least = kOwnConfName.size() + kOwnConfEnd.size();
  if (name.size() <= least || !name.starts_with(kOwnConfName)) return std::nullopt;
  const auto number = base::parse_number(name.substr(kOwnConfName.size(), name.size() - least));
  if (!number || opensm_own_conf("", model::Guid{*number}) != fmt::format("/{}", name)) return std::nullopt;
  return model::Guid{*number};
}

std::string opensm_instance_conf(const std::string& folder, model::Guid guid) {
  return fmt::format("{}/{}{}", folder, kInstanceConfName, opensm_guid(guid));
}

std::optional<model::Guid> port_of_instance_conf(std::string_view name) {
  if (!name.starts_with(kInstanceConfName)) return std::nullopt;
  const auto number = base::parse_number(name.substr(kInstanceConfName.size()));
  if (!number || opensm_instance_conf("", model::Guid{*number}) != fmt::format("/{}", name))
    return std::nullopt;
  return model::Guid{*number};
}

}  // namespace rdmacfg::kinds
