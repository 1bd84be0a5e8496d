// SPDX-License-Identifier: Apache-2.0
#include "kinds/device_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"

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

std::string text_at(const Section& section, std::string_view key) {
  const auto* entry = section.find(key);
  return entry == nullptr ? std::string() : model::text_of(entry->value);
}

struct Resolver {
  const World& world;
  Diagnostics* diagnostics;

  void error(const model::Location& where, std::string message, std::string hint) const {
    if (diagnostics != nullptr)
      diagnostics->push_back(Diagnostic{Severity::kError, where, std::move(message), std::move(hint), {}});
  }

  [[nodiscard]] std::optional<NamedDevice> resolve(const Section& section) const {
    NamedDevice out;
    out.section = &section;
    out.name = text_at(section, "name");
    if (const auto pci = text_at(section, "pci"); !pci.empty()) {
      out.id = pci;
      out.device = device_with(world, [&](const auto& d) { return d.pci == pci; });
      if (out.device == nullptr) out.pending = fmt::format("no RDMA device at {} now", pci);
    } else if (const auto guid = text_at(section, "node_guid"); !guid.empty()) {
      out.id = guid;
      out.device = device_with(world, [&](const auto& d) { return d.node_guid.text() == guid; });
      if (out.device == nullptr) out.pending = fmt::format("no RDMA device has the node GUID {} now", guid);
    } else if (!by_present_name(section, out)) {
      return std::nullopt;
    }
    if (world.offline()) out.pending.reset();
    return out;
  }

  /// `device = ` is the name before our rename or, once that is done, the wanted name itself.
  bool by_present_name(const Section& section, NamedDevice& out) const {
    const auto former = text_at(section, "device");
    if (former.empty()) return false;  // reported by the grammar
    const auto* as_written = device_with(world, [&](const auto& d) { return d.name == former; });
    const auto* as_wanted = device_with(world, [&](const auto& d) { return d.name == out.name; });
    if (as_written != nullptr && as_wanted != nullptr && as_written != as_wanted) {
      error(section.find("device")->where,
            fmt::format("[[rdma_device]] device: {} and {} are both there, so which one is to be called {} "
                        "cannot be told by name",
                        former, out.name, out.name),
            "use pci or node_guid, which stay the same");
      return false;
    }
    out.device = as_wanted != nullptr ? as_wanted : as_written;
    out.id = out.device == nullptr ? former : stable_id(*out.device);
    if (out.device == nullptr) {
      out.pending = fmt::format("no RDMA device is called {} now", former);
    } else if (out.id.empty()) {
      error(
          section.find("device")->where,
          fmt::format("[[rdma_device]] device: {} has neither a PCI address nor a node GUID, so it cannot be "
                      "recognised again",
                      out.device->name),
          "name it where it is made ([[soft_rdma]] name)");
      return false;
    }
    return true;
  }
};

}  // namespace

DeviceNames DeviceNames::of(std::span<const Section> sections, const World& world, Diagnostics* diagnostics) {
  DeviceNames names;
  names.world_ = &world;
  const Resolver resolver{world, diagnostics};
  std::map<std::string, const Section*> by_name;
  std::map<const RdmaDevice*, const Section*> by_device;
  for (const auto& section : sections) {
    if (section.path != kSection) continue;
    auto entry = resolver.resolve(section);
    if (!entry || entry->name.empty()) continue;
    if (const auto [first, fresh] = by_name.try_emplace(entry->name, &section); !fresh) {
      resolver.error(
          section.find("name")->where,
          fmt::format("[[rdma_device]] name: \"{}\" is the name of two devices; the other entry is at {}",
                      entry->name, first->second->where.text()),
          "names of RDMA devices are unique");
      continue;
    }
    if (entry->device != nullptr) {
      if (const auto [first, fresh] = by_device.try_emplace(entry->device, &section); !fresh) {
        resolver.error(section.where,
                       fmt::format("[[rdma_device]] means the device {} that the entry at {} means already",
                                   describe(*entry->device), first->second->where.text()),
                       "write one entry for a device");
        continue;
      }
    }
    names.entries_.push_back(std::move(*entry));
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
      return fmt::format("{} is called {} once [[rdma_device]] is carried out; use that name", name,
                         name_of(device));
    }
    known.push_back(name_of(device));
    // The kernel's own names are the driver's: "mlx5_0" is some device of mlx5_core.
    if (stem != name && device.driver.starts_with(stem)) likely.push_back(name_of(device));
  }
  if (known.empty()) return fmt::format("no device {}: there is no RDMA device at all", name);
  if (!likely.empty()) {
    return fmt::format("no device {} now; udev may have renamed it: of that driver there {} {}", name,
                       likely.size() == 1 ? "is" : "are", base::join(likely, ", "));
  }
  return fmt::format("no device {} now; there are {} (udev may have renamed it: see `rdma-configctl show`)",
                     name, base::join(known, ", "));
}

std::string describe(const RdmaDevice& device) {
  std::vector<std::string> more;
  if (!device.pci.empty()) more.push_back(device.pci);
  if (!device.driver.empty()) more.push_back(device.driver);
  return more.empty() ? device.name : fmt::format("{} ({})", device.name, base::join(more, ", "));
}

}  // namespace rdmacfg::kinds
