// SPDX-License-Identifier: Apache-2.0
#include "formats/nm_unmanaged.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

constexpr std::string_view kNmConfiguration = "/etc/NetworkManager";
constexpr std::string_view kAddsTo = "unmanaged-devices+=";
// Of an address of 20 bytes NetworkManager compares the last 8, which are the GUID of the port.
constexpr std::string_view kAnyBeforeGuid = "00:00:00:00:00:00:00:00:00:00:00:00:";

/// The text with the ports in one order: GUIDs of a report stand for others, and sort differently.
std::string in_order(std::string_view text) {
  const auto at = text.find(kAddsTo);
  if (at == std::string_view::npos) return std::string(text);
  const auto start = at + kAddsTo.size();
  const auto end = std::min(text.find('\n', start), text.size());
  auto ports = base::split(text.substr(start, end - start), ';');
  std::sort(ports.begin(), ports.end());
  std::string out(text.substr(0, start));
  for (const auto port : ports) out += std::string(port) + ";";
  return out + std::string(text.substr(end));
}

/// One device of a list, and its place.
struct NmDevice {
  std::string spec;
  NmLeavesAlone place;
};

void add_nm_devices(std::string_view value, const NmLeavesAlone& place, std::vector<NmDevice>& out) {
  for (const auto spec : base::words_of(value, ";,")) {
    if (!base::trim(spec).empty()) out.push_back({std::string(base::trim(spec)), place});
  }
}

/// A section [device…] as far as it is about managing.
struct NmDeviceSection {
  std::string name;  ///< "device-ib"
  std::vector<NmDevice> devices{};
  std::optional<NmLeavesAlone> managed{};  ///< the line managed=0; of another value line 0
};

/// The lists of all files, in the order in which they are read.
class NmLists {
 public:
  std::vector<NmDevice> unmanaged;
  std::vector<NmDeviceSection> sections;

  void read(const std::string& path, std::string_view text) {
    std::string_view section;
    int number = 0;
    for (const auto raw : base::split(text, '\n')) {
      ++number;
      const auto line = base::trim(raw);
      if (line.starts_with('[') && line.ends_with(']')) {
        section = line.substr(1, line.size() - 2);
        if (section.starts_with("device")) open_device_section(section);
      }
      const auto equals = line.find('=');
      if (line.starts_with('#') || line.starts_with('[') || equals == std::string_view::npos) continue;
      take(section, line.substr(0, equals), base::trim(line.substr(equals + 1)), {path, number});
    }
  }

 private:
  /// Of sections with one name the last line for a key counts, in several files, too (GKeyFile).
  void open_device_section(std::string_view name) {
    const auto there = std::find_if(sections.begin(), sections.end(),
                                    [&](const NmDeviceSection& section) { return section.name == name; });
    open_ = static_cast<std::size_t>(there - sections.begin());
    if (there == sections.end()) sections.push_back({.name = std::string(name)});
  }

  void take(std::string_view section, std::string_view key, std::string_view value,
            const NmLeavesAlone& place) {
    const bool adds = key.ends_with('+'), removes = key.ends_with('-');
    if (adds || removes) key.remove_suffix(1);
    key = base::trim(key);
    if (section == "keyfile" && key == "unmanaged-devices") {
      std::vector<NmDevice> devices;
      add_nm_devices(value, place, devices);
      if (!adds && !removes) unmanaged.clear();
      if (!removes) unmanaged.insert(unmanaged.end(), devices.begin(), devices.end());
      for (const auto& device : devices) {
        if (removes)
          std::erase_if(unmanaged, [&](const NmDevice& other) { return other.spec == device.spec; });
      }
    } else if (section.starts_with("device") && key == "match-device") {
      sections[open_].devices.clear();
      add_nm_devices(value, place, sections[open_].devices);
    } else if (section.starts_with("device") && key == "managed") {
      const auto word = base::lower(value);
      const bool no = word == "0" || word == "no" || word == "false" || word == "off";
      sections[open_].managed = no ? place : NmLeavesAlone{};
    }
  }

  std::size_t open_ = 0;  ///< the section of devices that is read
};

bool is_nm_spec_of(std::string_view spec, model::Guid guid, const std::string& interface) {
  constexpr std::string_view kName = "interface-name:", kType = "type:", kMac = "mac:";
  if (spec == "*") return true;
  if (spec.starts_with(kType)) return spec.substr(kType.size()) == "infiniband";
  if (spec.starts_with(kName)) {
    const auto name = spec.substr(kName.size());
    if (interface.empty() || name.empty()) return false;
    if (name.front() == '=') return name.substr(1) == interface;
    return base::matches_glob(name.substr(name.front() == '~' ? 1 : 0), interface);
  }
  if (base::lower(spec).ends_with(guid.text()))
    return spec.starts_with(kMac) || spec.find_first_not_of("0123456789abcdefABCDEF:") == spec.npos;
  return !interface.empty() && spec == interface;
}

/// The last device of a list that is the interface, unless one excepts that. A list with nothing but
/// exceptions is about all others (_match_result()).
const NmDevice* find_nm_device(const std::vector<NmDevice>& devices, model::Guid guid,
                               const std::string& interface) {
  constexpr std::string_view kExcept = "except:";
  const NmDevice* found = nullptr;
  bool only_excepts = !devices.empty();
  for (const auto& device : devices) {
    const std::string_view spec = device.spec;
    if (!spec.starts_with(kExcept)) {
      only_excepts = false;
      if (is_nm_spec_of(spec, guid, interface)) found = &device;
    } else if (is_nm_spec_of(spec.substr(kExcept.size()), guid, interface)) {
      return nullptr;
    }
  }
  return only_excepts ? &devices.front() : found;
}

/// Of the same name NetworkManager reads the file of /etc, else that of /run. The main file comes before
/// those of /etc (read_entire_config() in nm-config.c).
std::vector<std::string> nm_configuration_files(system::Files& files) {
  const auto names_in = [&](const std::string& folder) {
    std::vector<std::string> out;
    const auto names = files.list(folder);
    for (const auto& name : names ? *names : std::vector<std::string>()) {
      if (name.ends_with(".conf")) out.push_back(name);
    }
    return out;
  };
  const std::string etc = "/etc/NetworkManager/conf.d", run = "/run/NetworkManager/conf.d",
                    vendor = "/usr/lib/NetworkManager/conf.d";
  const auto of_etc = names_in(etc), of_run = names_in(run), of_vendor = names_in(vendor);
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string> out;
  for (const auto& name : of_vendor) {
    if (!has(of_etc, name) && !has(of_run, name)) out.push_back(vendor + "/" + name);
  }
  for (const auto& name : of_run) {
    if (!has(of_etc, name)) out.push_back(run + "/" + name);
  }
  out.emplace_back("/etc/NetworkManager/NetworkManager.conf");
  for (const auto& name : of_etc) {
    if (!name.starts_with("zz-rdma-")) out.push_back(etc + "/" + name);
  }
  return out;
}

}  // namespace

std::optional<NmLeavesAlone> nm_leaves_alone(system::Files& files, model::Guid guid,
                                             const std::string& interface) {
  NmLists lists;
  for (const auto& path : nm_configuration_files(files)) {
    if (const auto text = files.read_linked(path); text && *text) lists.read(path, **text);
  }
  if (const auto* device = find_nm_device(lists.unmanaged, guid, interface)) return device->place;
  const auto says = [&](const NmDeviceSection& section) {
    const bool meant = section.devices.empty() || find_nm_device(section.devices, guid, interface) != nullptr;
    return meant ? section.managed : std::nullopt;
  };
  constexpr std::string_view kPlain = "device";  // counts after those with a name of their own
  std::optional<NmLeavesAlone> found;
  for (const auto& section : lists.sections) {
    const auto said = section.name == kPlain ? std::nullopt : says(section);
    if (said && (!found || said->line == 0)) found = said;
  }
  for (const auto& section : lists.sections) {
    if (section.name == kPlain && !found) found = says(section);
  }
  return found && found->line != 0 ? found : std::nullopt;
}

std::string render_nm_unmanaged(const BackendRules& rules) {
  std::string out;
  for (const auto& [guid, backend] : rules) {
    if (backend == model::Backend::kNetworkManager) continue;
    // One key: of two with the same name the later one counts.
    out += out.empty() ? "# Written by rdma-configd; do not edit.\n[keyfile]\n" + std::string(kAddsTo) : ";";
    out += std::string(kAnyBeforeGuid) + guid.text();
  }
  return out.empty() ? out : out + "\n";
}

bool nm_reads_snippets(system::Files& files) {
  const auto entries = files.list(std::string(kNmConfiguration));
  return entries && std::find(entries->begin(), entries->end(), "conf.d") != entries->end();
}

Result<bool> keeps_nm_off(system::Files& files, const BackendRules& rules) {
  const auto text = files.read(std::string(kKeepOffNetworkManager));
  if (!text) return base::fail(text.error());
  const auto wanted = render_nm_unmanaged(rules);
  if (wanted.empty()) return !text->has_value();
  return *text ? in_order(**text) == in_order(wanted) : !nm_reads_snippets(files);
}

Result<void> write_nm_unmanaged(system::Files& files, const BackendRules& rules) {
  const std::string path(kKeepOffNetworkManager);
  const auto wanted = render_nm_unmanaged(rules);
  if (wanted.empty()) return files.remove(path);
  return nm_reads_snippets(files) ? files.write(path, wanted) : Result<void>{};
}

}  // namespace rdmacfg::kinds
