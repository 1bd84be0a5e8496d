// SPDX-License-Identifier: Apache-2.0
#include "kinds/ports/device_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "formats/udev/udev_rdma_names.hpp"

namespace rdmacfg::kinds {

using model::Diagnostic;
using model::Diagnostics;
using model::Section;
using model::Severity;
using system::RdmaDevice;

namespace {

constexpr std::string_view kSection = "rdma_device";

const RdmaDevice* device_with(const World& world, auto&& matches) {
  const auto& devices = world.snapshot().devices;
  const auto at = std::find_if(devices.begin(), devices.end(), matches);
  return at == devices.end() ? nullptr : &*at;
}

std::string stable_id(const RdmaDevice& device) {
  if (!device.pci.empty()) return device.pci;
  return device.node_guid.number == 0 ? std::string() : device.node_guid.text();
}

std::string text_or_empty(const Section& section, std::string_view key) {
  const auto* entry = section.find(key);
  return entry == nullptr ? std::string() : model::text_of(entry->value);
}

const RdmaDevice* device_by_id(const World& world, std::string_view id) {
  return device_with(world, [&](const auto& d) {
    return d.pci == id || (d.node_guid.number != 0 && d.node_guid.text() == id);
  });
}

std::string not_there(std::string_view id) {
  return model::Guid::parse(id) ? fmt::format("no RDMA device has the node GUID {} now", id)
                                : fmt::format("no RDMA device at {} now", id);
}

/// Our udev rules' identity of the devices of `device = `: the present name is gone once it was changed.
/// The entry's own keys (pci, node_guid) are left out.
DeviceRules rules_of_names(std::span<const Section> sections, const World& world) {
  const bool by_name = std::any_of(sections.begin(), sections.end(), [](const Section& section) {
    return section.path == kSection && section.find("device") != nullptr;
  });
  if (!by_name || !world.has_host()) return {};
  auto rules = read_device_rules(world.host().files);
  if (!rules) return {};  // fails where they are observed
  for (const auto& section : sections) {
    if (section.path != kSection) continue;
    rules->erase(text_or_empty(section, "pci"));
    rules->erase(text_or_empty(section, "node_guid"));
  }
  return std::move(*rules);
}

/// The [[soft_rdma]] entries that make a device, by its name.
std::map<std::string, const Section*> made_here(std::span<const Section> sections) {
  std::map<std::string, const Section*> out;
  for (const auto& section : sections) {
    if (section.path != "soft_rdma") continue;
    const auto state = text_or_empty(section, "state");
    const bool makes = state != model::text_of(model::State::kAbsent) &&
                       state != model::text_of(model::State::kIgnore) && section.find("name") != nullptr;
    if (makes) out.emplace(text_or_empty(section, "name"), &section);
  }
  return out;
}

/// Whether an entry of [[soft_rdma]] is about a device that is there.
bool is_of(const Section& soft, const RdmaDevice& device) {
  return !device.soft.empty() && !device.ports.empty() && !device.ports.front().netdevs.empty() &&
         device.soft == text_or_empty(soft, "type") &&
         device.ports.front().netdevs.front() == text_or_empty(soft, "interface");
}

class Resolver {
 public:
  Resolver(std::span<const Section> sections, const World& world, Diagnostics* diagnostics)
      : world_(world), rules_(rules_of_names(sections, world)), diagnostics_(diagnostics) {}

  [[nodiscard]] NamedDevice resolve(const Section& section) const {
    NamedDevice out;
    out.section = &section;
    out.name = text_or_empty(section, "name");
    out.id = text_or_empty(section, "pci");
    if (out.id.empty()) out.id = text_or_empty(section, "node_guid");
    if (out.id.empty()) {
      by_present_name(section, out);
    } else {
      out.known = true;
      out.device = device_by_id(world_, out.id);
      if (out.device == nullptr) out.pending = not_there(out.id);
    }
    if (world_.offline() && out.known) out.pending.reset();  // the rule needs no device
    return out;
  }

  void say(Severity severity, const model::Location& where, std::string message, std::string hint) const {
    if (diagnostics_ != nullptr)
      diagnostics_->push_back(Diagnostic{severity, where, std::move(message), std::move(hint), {}});
  }

  void wrong(NamedDevice& out, const model::Location& where, std::string message, std::string hint) const {
    out.wrong = message;
    out.device = nullptr;
    say(Severity::kError, where, std::move(message), std::move(hint));
  }

 private:
  /// `device = ` is the name before our rename or, once that is done, the wanted name itself; while the
  /// device has neither (udev may have renamed it), our rule knows it.
  void by_present_name(const Section& section, NamedDevice& out) const {
    const auto former = text_or_empty(section, "device");
    out.id = former;
    if (former.empty()) return;  // reported by the grammar
    const auto& where = section.find("device")->where;
    const auto* as_written = device_with(world_, [&](const auto& d) { return d.name == former; });
    const auto* as_wanted = device_with(world_, [&](const auto& d) { return d.name == out.name; });
    const auto rule =
        std::find_if(rules_.begin(), rules_.end(), [&](const auto& r) { return r.second == out.name; });
    const bool ruled = rule != rules_.end();
    const auto* as_ruled = ruled ? device_by_id(world_, rule->first) : nullptr;
    out.known = ruled;
    if (ruled) out.id = rule->first;
    if (as_ruled != nullptr) {
      out.device = as_ruled;
      if (as_written != nullptr && as_written != as_ruled) {
        say(Severity::kWarning, where,
            fmt::format("[[rdma_device]] device: {} is another device now; {} remains the name of the device "
                        "that got it, {}",
                        former, out.name, rule->first),
            "use pci or node_guid, which stay the same");
      }
      return;
    }
    if (ruled && as_written != nullptr) {
      wrong(out, where,
            fmt::format("[[rdma_device]] device: {} exists, but {} is the name of the device at {}, which is "
                        "absent; the name is ambiguous",
                        former, out.name, rule->first),
            "use pci or node_guid, which stay the same");
      return;
    }
    if (as_written != nullptr && as_wanted != nullptr && as_written != as_wanted) {
      wrong(out, where,
            fmt::format(
                "[[rdma_device]] device: {} and {} both exist, so the device to be named {} is ambiguous",
                former, out.name, out.name),
            "use pci or node_guid, which stay the same");
      return;
    }
    const auto* device = as_wanted != nullptr ? as_wanted : as_written;
    if (device == nullptr) {
      out.pending = ruled ? not_there(out.id) : fmt::format("no RDMA device is called {} now", former);
      return;
    }
    auto id = stable_id(*device);
    if (id.empty()) {
      wrong(out, where,
            fmt::format("[[rdma_device]] device: {} has neither a PCI address nor a node GUID, so it cannot "
                        "be recognized later",
                        device->name),
            "name it where it is created ([[soft_rdma]] name)");
      return;
    }
    out.device = device;
    out.known = true;
    out.id = std::move(id);
  }

  const World& world_;
  DeviceRules rules_;
  Diagnostics* diagnostics_;
};

}  // namespace

DeviceNames DeviceNames::of(std::span<const Section> sections, const World& world, Diagnostics* diagnostics) {
  DeviceNames names;
  names.world_ = &world;
  const Resolver resolver{sections, world, diagnostics};
  const auto made = made_here(sections);
  auto by_name = made;
  std::map<const RdmaDevice*, std::size_t> by_device;
  for (const auto& section : sections) {
    if (section.path != kSection) continue;
    auto entry = resolver.resolve(section);
    if (entry.id.empty()) continue;
    if (entry.name.empty()) {
      resolver.say(Severity::kError, section.where, "[[rdma_device]]: name is missing",
                   "write the new name of the device");
      continue;
    }
    const auto maker = std::find_if(made.begin(), made.end(), [&](const auto& candidate) {
      // A device with hardware may still have the name that a software device is to get.
      if (entry.device != nullptr) return is_of(*candidate.second, *entry.device);
      return candidate.first == text_or_empty(section, "device");
    });
    if (maker != made.end()) {
      resolver.wrong(entry, section.where,
                     fmt::format("[[rdma_device]] selects {}, which the [[soft_rdma]] entry at {} creates",
                                 maker->first, maker->second->where.text()),
                     "name it where it is created ([[soft_rdma]] name)");
    } else if (const auto [first, fresh] = by_name.try_emplace(entry.name, &section); !fresh) {
      const auto& other = *first->second;
      resolver.wrong(
          entry, section.find("name")->where,
          fmt::format("[[rdma_device]] name: \"{}\" is the name of two devices; the other entry is "
                      "at {}",
                      entry.name, other.where.text()),
          "names of RDMA devices are unique");
    }
    if (entry.device != nullptr) {
      if (const auto [first, fresh] = by_device.try_emplace(entry.device, names.entries_.size()); !fresh) {
        const auto& other = names.entries_[first->second];
        entry.rival = model::Key{std::string(kSection), other.id};
        const auto device = describe(*entry.device);
        resolver.wrong(
            entry, section.where,
            fmt::format("[[rdma_device]] selects the device {} that the entry at {} already selects", device,
                        other.section->where.text()),
            "write one entry for a device");
      }
    }
    names.entries_.push_back(std::move(entry));
  }
  return names;
}

const NamedDevice* DeviceNames::entry_of(const RdmaDevice& device) const {
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.device == &device; });
  return at == entries_.end() ? nullptr : &*at;
}

const RdmaDevice* DeviceNames::find(std::string_view name) const {
  if (world_ == nullptr) return nullptr;
  return device_with(*world_, [&](const auto& d) { return name_of(d) == name; });
}

const std::string& DeviceNames::name_of(const RdmaDevice& device) const {
  const auto* entry = entry_of(device);
  return entry == nullptr ? device.name : entry->name;
}

std::optional<model::Key> DeviceNames::renaming(const RdmaDevice& device) const {
  const auto* entry = entry_of(device);
  if (entry == nullptr) return std::nullopt;
  return model::Key{std::string(kSection), entry->id};
}

std::string DeviceNames::missing(std::string_view name) const {
  std::vector<std::string> known, likely;
  const auto stem = name.substr(0, name.find('_'));
  for (const auto& device : world_->snapshot().devices) {
    if (device.name == name) {
      return fmt::format("{} will be renamed to {} by [[rdma_device]]; use that name", name, name_of(device));
    }
    known.push_back(name_of(device));
    // The kernel's own names are the driver's: "mlx5_0" is some device of mlx5_core.
    if (stem != name && device.driver.starts_with(stem)) likely.push_back(name_of(device));
  }
  if (known.empty()) return fmt::format("device {} does not exist: this host has no RDMA device", name);
  if (!likely.empty()) {
    return fmt::format("device {} does not exist; udev may have renamed it: of that driver there {} {}", name,
                       likely.size() == 1 ? "is" : "are", base::join(likely, ", "));
  }
  return fmt::format(
      "device {} does not exist; there {} {} (udev may have renamed it: see `rdma-configctl show`)", name,
      known.size() == 1 ? "is" : "are", base::join(known, ", "));
}

std::string describe(const RdmaDevice& device) {
  std::vector<std::string> more;
  if (!device.pci.empty()) more.push_back(device.pci);
  if (!device.driver.empty()) more.push_back(device.driver);
  return more.empty() ? device.name : fmt::format("{} ({})", device.name, base::join(more, ", "));
}

}  // namespace rdmacfg::kinds
