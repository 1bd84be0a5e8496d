// SPDX-License-Identifier: Apache-2.0
#include "formats/udev/udev_rdma_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "formats/udev/udev_lines.hpp"
#include "model/types.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

/// The device right below its PCI function: a sub-function's path goes on with "mlx5_core.sf.4/", and KERNELS
/// would match that too.
constexpr std::string_view kPci = "DEVPATH==\"*/";
constexpr std::string_view kPciEnd = "/infiniband/*";
constexpr std::string_view kAnyBelowPci = "KERNELS==\"";  // as earlier versions wrote it
constexpr std::string_view kNodeGuid = "ATTR{node_guid}==\"";
constexpr std::string_view kFixed = "rdma_rename %k NAME_FIXED ";
constexpr std::array<std::string_view, 4> kRulesFolders{
    "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d"};

std::optional<std::string> up_to_quote(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const auto start = at + key.size();
  const auto end = line.find('"', start);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(start, end - start));
}

/// sysfs has node GUIDs in four groups: "0002:c903:0031:78f1".
std::string sysfs_guid(model::Guid guid) {
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid.number >> 48U, (guid.number >> 32U) & 0xffffU,
                     (guid.number >> 16U) & 0xffffU, guid.number & 0xffffU);
}

}  // namespace

DeviceRules parse_device_rules(std::string_view text) {
  DeviceRules rules;
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with('#')) continue;
    const auto name = up_to_quote(line, kFixed);
    if (!name) continue;
    auto pci = up_to_quote(line, kPci);
    if (pci && pci->ends_with(kPciEnd)) pci->resize(pci->size() - kPciEnd.size());
    if (!pci) pci = up_to_quote(line, kAnyBelowPci);
    if (pci) {
      if (const auto address = model::PciAddress::parse(*pci)) rules[address->text] = *name;
    } else if (const auto text_guid = up_to_quote(line, kNodeGuid)) {
      if (const auto guid = model::Guid::parse(*text_guid)) rules[guid->text()] = *name;
    }
  }
  return rules;
}

std::string render_device_rules(const DeviceRules& rules) {
  std::string out =
      "# Names of RDMA devices. Written by rdma-configd from its configuration: changes made here are "
      "lost.\n";
  for (const auto& [id, name] : rules) {
    const auto guid = model::Guid::parse(id);
    const auto which = guid ? fmt::format("{}{}\"", kNodeGuid, sysfs_guid(*guid))
                            : fmt::format("{}{}{}\"", kPci, id, kPciEnd);
    out += fmt::format("ACTION==\"add\", SUBSYSTEM==\"infiniband\", {}, PROGRAM=\"{}{}\"\n", which, kFixed,
                       name);
  }
  return out;
}

Result<DeviceRules> read_device_rules(system::Files& files) {
  auto text = files.read(std::string(kDeviceRuleFile));
  if (!text) return base::fail(text.error());
  return *text ? parse_device_rules(**text) : DeviceRules{};
}

Result<void> write_device_rules(system::Files& files, const DeviceRules& rules) {
  if (rules.empty()) return files.remove(std::string(kDeviceRuleFile));
  return files.write(std::string(kDeviceRuleFile), render_device_rules(rules));
}

std::vector<ForeignDeviceRule> foreign_device_rules(system::Files& files) {
  const auto ours = kDeviceRuleFile.substr(kDeviceRuleFile.rfind('/') + 1);
  std::vector<ForeignDeviceRule> found;
  std::set<std::string> masked;
  for (const auto folder : kRulesFolders) {
    const auto names = files.list(std::string(folder));
    if (!names) continue;  // a folder that may not be read is none that we could warn about
    for (const auto& name : *names) {
      if (!name.ends_with(".rules") || name >= ours || !masked.insert(name).second) continue;
      const auto path = fmt::format("{}/{}", folder, name);
      const auto text = files.read_linked(path);
      if (!text || !*text) continue;
      for (auto& [number, rule] : udev_lines(**text)) {
        const bool renames =
            rule.find("rdma_rename") != std::string::npos && rule.find("NAME_KERNEL") == std::string::npos;
        if (renames) found.push_back({path, number, std::move(rule)});
      }
    }
  }
  return found;
}

bool names_device(const ForeignDeviceRule& rule, std::string_view pci, model::Guid node_guid) {
  constexpr std::array<std::string_view, 5> kMatches{"DEVPATH", "KERNEL", "node_guid", "sys_image_guid",
                                                     "ATTRS{"};
  const auto has = [&](std::string_view part) { return rule.text.find(part) != std::string::npos; };
  if (!pci.empty() && has(pci)) return true;
  if (node_guid.number != 0 && (has(sysfs_guid(node_guid)) || has(node_guid.text()))) return true;
  // That of every device, as rdma-core's own file has it.
  return std::none_of(kMatches.begin(), kMatches.end(), has);
}

}  // namespace rdmacfg::kinds
