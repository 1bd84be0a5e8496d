// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/render_host.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "ctl/render/blocks.hpp"
#include "ctl/render/host_cells.hpp"
#include "ctl/render/render_facts.hpp"
#include "ctl/render/render_report.hpp"
#include "ctl/render/render_table.hpp"
#include "fabric/counters.hpp"

namespace rdmacfg::ctl {

using system::RdmaPort;

namespace {

/// The sysfs text without what repeats in every row: "56 Gb/sec (4X FDR)" is "56 Gb/s 4X FDR".
std::string short_rate(std::string rate) {
  if (const auto at = rate.find("Gb/sec"); at != std::string::npos) rate.replace(at, 6, "Gb/s");
  std::erase_if(rate, [](char c) { return c == '(' || c == ')'; });
  return rate;
}

std::string mtu_text(const std::optional<system::PortMtu>& mtu) {
  return mtu ? fmt::format("{}/{}", mtu->active, mtu->max) : std::string();
}

std::string section(std::string_view title, const Table& table, const Terminal& terminal, bool* left_out) {
  return terminal.paint(title, Style::kBold) + '\n' + render_table(table, terminal, left_out);
}

Table devices_table(const HostView& host) {
  Table table{
      {{"NAME"}, {"TYPE", 1}, {"FIRMWARE"}, {"BOARD ID", 2}, {"NODE GUID"}, {"DRIVER", 4}, {"PCI", 3}}, {}};
  for (const auto& view : host.devices) {
    const auto& d = *view.device;
    table.rows.push_back({cell(d.name), cell(d.hca_type), cell(d.firmware), cell(d.board_id),
                          cell(text(d.node_guid)), maybe(d.driver), maybe(d.pci)});
  }
  return table;
}

/// As administrators tell fabrics apart: Omni-Path says InfiniBand, and iWARP Ethernet.
std::string fabric_of(const system::RdmaDevice& device, const RdmaPort& port) {
  if (device.omni_path) return "Omni-Path";
  if (device.node_type == "RNIC") return "iWARP";
  return port.link_layer == "InfiniBand" ? "IB" : port.link_layer;
}

Table ports_table(const HostView& host) {
  Table table{{{"PORT"},
               {"LINK", 2},
               {"STATE"},
               {"PHYSICAL", 5},
               {"RATE", 1},
               {"LID"},
               {"SM LID", 6},
               {"MTU", 3},
               {"GUID"},
               {"NETDEV", 4}},
              {}};
  for (const auto& device : host.devices) {
    for (const auto& view : device.ports) {
      const auto& p = *view.port;
      table.rows.push_back({cell(view.name()), cell(fabric_of(*device.device, p)), state_cell(p),
                            cell(p.physical_state), cell(short_rate(p.rate)), cell(text(p.lid)),
                            cell(text(p.sm_lid)), cell(mtu_text(view.mtu)), maybe(text(view.guid())),
                            maybe(base::join(p.netdevs, ", "))});
    }
  }
  return table;
}

/// Ethernet ports have a table by the letter of the standard, but there are no partitions on Ethernet.
Table pkeys_table(const HostView& host) {
  Table table{{{"PORT"}, {"KEYS"}, {"P_KEYS", 0, true}}, {}};
  for (const auto& device : host.devices) {
    for (const auto& view : device.ports) {
      if (view.port->link_layer == "Ethernet") continue;
      const auto number = view.pkeys ? std::to_string(view.pkeys->size()) : std::string();
      table.rows.push_back({cell(view.name()), cell(number), cell(pkeys_text(view))});
    }
  }
  return table;
}

Table gids_table(const HostView& host) {
  Table table{{{"PORT"}, {"INDEX"}, {"TYPE"}, {"GID"}, {"NETDEV", 1}}, {}};
  for (const auto& device : host.devices) {
    const bool iwarp = device.device->node_type == "RNIC";  // the kernel says "IB/RoCE v1" of its one GID
    for (const auto& view : device.ports) {
      if (!view.gids) continue;
      for (const auto& gid : *view.gids) {
        table.rows.push_back({cell(view.name()), cell(std::to_string(gid.index)),
                              cell(iwarp ? "iWARP" : gid.type), cell(gid.gid), maybe(gid.netdev)});
      }
    }
  }
  return table;
}

/// Defaults that rdma_cm connects with. They can be read while somebody keeps a folder in configfs; else it
/// is known what was written here.
Table roce_table(const HostView& host) {
  Table table{{{"PORT"}, {"MODE"}, {"TOS"}, {"DSCP"}, {"NETDEV", 1}}, {}};
  for (const auto& device : host.devices) {
    for (const auto& view : device.ports) {
      if (view.port->link_layer != "Ethernet" || device.device->node_type == "RNIC") continue;
      const auto value = [&](std::string_view field) {
        const auto& found = model::value_of(view.roce, field);
        return cell(found.index() == 0 ? std::string() : model::text_of(found));
      };
      table.rows.push_back({cell(view.name()), value("mode"), value("tos"), value("dscp"),
                            maybe(base::join(view.port->netdevs, ", "))});
    }
  }
  return table;
}

/// Counters above 0; all where no rows are folded.
Table counters_table(const HostView& host, Rows rows) {
  Table table{{{"PORT"}, {"COUNTER"}, {"VALUE"}, {"COUNTS", 1, true}}, {}};
  const auto add = [&](const std::string& name, const std::vector<CounterView>& counters) {
    for (const auto& counter : counters) {
      if (counter.value == 0 && rows == Rows::kFolded) continue;
      const auto* meaning = fabric::counter_meaning(counter.name);
      const bool error =
          meaning != nullptr && meaning->sort == fabric::CounterSort::kError && counter.value != 0;
      table.rows.push_back({cell(name),
                            cell(counter.name),
                            {std::to_string(counter.value), error ? Style::kBad : Style::kPlain},
                            maybe(meaning == nullptr ? std::string() : std::string(meaning->what))});
    }
  };
  for (const auto& device : host.devices) {
    add(device.device->name, device.counters);
    for (const auto& port : device.ports) add(port.name(), port.counters);
  }
  return table;
}

Table soft_table(const HostView& host) {
  Table table{{{"NAME"}, {"TYPE"}, {"INTERFACE"}}, {}};
  for (const auto& view : host.devices) {
    const auto& d = *view.device;
    if (d.soft.empty()) continue;
    table.rows.push_back({cell(d.name), cell(d.soft),
                          maybe(d.ports.empty() ? "" : base::join(d.ports.front().netdevs, ", "))});
  }
  return table;
}

/// From so many P_Key interfaces of one parent that look alike on, they take one line.
constexpr std::size_t kFolded = 4;

/// Those that follow `first` and differ in name, P_Key and addresses only.
std::size_t alike(const std::vector<InterfaceView>& all, std::size_t first) {
  const auto& interface = all[first];
  if (!interface.link->ipoib->child) return 1;
  std::size_t count = 1;
  while (first + count < all.size()) {
    const auto& other = all[first + count];
    const bool same = other.link->ipoib->child && other.parent == interface.parent &&
                      other.link->ipoib->mode == interface.link->ipoib->mode &&
                      other.link->mtu == interface.link->mtu && other.link->up == interface.link->up &&
                      other.link->carrier == interface.link->carrier;
    if (!same) break;
    ++count;
  }
  return count;
}

Table interfaces_table(const HostView& host, Rows rows) {
  Table table{{{"NAME"},
               {"P_KEY", 0, true},
               {"MODE"},
               {"MTU"},
               {"STATE"},
               {"ADDRESSES", 4},
               {"PORT", 2},
               {"PARENT", 3},
               {"GUID", 1}},
              {}};
  for (std::size_t i = 0; i < host.interfaces.size(); ++i) {
    const auto& view = host.interfaces[i];
    const auto& link = *view.link;
    const auto many = rows == Rows::kFolded ? alike(host.interfaces, i) : 1;
    if (many >= kFolded) {
      std::vector<std::uint16_t> pkeys;
      std::size_t addresses = 0;
      for (std::size_t k = i; k < i + many; ++k) {
        pkeys.push_back(host.interfaces[k].link->ipoib->pkey.full());
        addresses += host.interfaces[k].addresses.size();
      }
      table.rows.push_back(
          {cell(fmt::format("{} to {}", link.name, host.interfaces[i + many - 1].link->name)),
           cell(fmt::format("{}: {}", many, compress(pkeys))),
           cell(std::string(model::text_of(link.ipoib->mode))), cell(std::to_string(link.mtu)),
           link_cell(link), maybe(addresses == 0 ? std::string() : std::to_string(addresses)),
           cell(view.port ? fmt::format("{}/{}", view.port->device->name, view.port->port->number)
                          : std::string()),
           maybe(view.parent), cell(text(link.ipoib->guid))});
      i += many - 1;
      continue;
    }
    const auto port =
        view.port ? fmt::format("{}/{}", view.port->device->name, view.port->port->number) : std::string();
    table.rows.push_back({cell(link.name), cell(link.ipoib->pkey.text()),
                          cell(std::string(model::text_of(link.ipoib->mode))), cell(std::to_string(link.mtu)),
                          link_cell(link), maybe(base::join(view.addresses, ", ")), cell(port),
                          maybe(view.parent), cell(text(link.ipoib->guid))});
  }
  return table;
}

void append(std::string& out, const std::string& part) {
  if (!out.empty() && !part.empty()) out += '\n';
  out += part;
}

/// "mode datagram → connected, mtu 2044 → 65520" of what differs.
std::string differences(const model::ResourceReport& resource, const Terminal& terminal) {
  std::vector<std::string> written;
  std::vector<std::string> derived;
  for (const auto& attribute : resource.attributes) {
    if (attribute.wanted.index() == 0 || attribute.now == attribute.wanted) continue;
    auto& parts = kinds::is_derived(resource.key, attribute.name) ? derived : written;
    const auto unit = kinds::field_unit(resource.key, attribute.name);
    parts.push_back(fmt::format("{} {} {} {}", attribute.name, value_text(attribute.now, unit),
                                terminal.arrow(), value_text(attribute.wanted, unit)));
  }
  if (!resource.there) return "does not exist";
  return base::join(written.empty() ? derived : written, ", ");
}

/// Why, or in which attributes.
std::string remark(const model::ResourceReport& resource, const Terminal& terminal) {
  std::vector<std::string> parts;
  if (resource.status == model::Status::kDiffers && !resource.attributes.empty()) {
    parts.push_back(differences(resource, terminal));
  }
  if (!resource.reason.empty()) parts.push_back(resource.reason);
  for (const auto& warning : resource.warnings) parts.push_back("warning: " + warning);
  std::erase(parts, "");
  return base::join(parts, "; ");
}

}  // namespace

std::string render_host(const HostView& host, const Terminal& terminal, bool* left_out, Rows rows) {
  std::string out;
  if (!host.devices.empty()) {
    append(out, section("DEVICES", devices_table(host), terminal, left_out));
    append(out, section("PORTS", ports_table(host), terminal, left_out));
    const auto pkeys = pkeys_table(host);
    if (!pkeys.rows.empty()) append(out, section("P_KEY TABLES", pkeys, terminal, left_out));
    const auto gids = gids_table(host), roce = roce_table(host), soft = soft_table(host);
    if (!gids.rows.empty()) append(out, section("GID TABLES", gids, terminal, left_out));
    if (!roce.rows.empty()) append(out, section("ROCE DEFAULTS OF RDMA_CM", roce, terminal, left_out));
    if (!soft.rows.empty()) append(out, section("SOFTWARE DEVICES", soft, terminal, left_out));
  }
  if (!host.interfaces.empty())
    append(out, section("IPOIB INTERFACES", interfaces_table(host, rows), terminal, left_out));
  append(out, render_facts(host.facts, terminal, left_out));
  return out;
}

const std::vector<std::string>& show_topics() {
  static const std::vector<std::string> kTopics{"devices",  "ports",    "pkeys",    "gids",   "counters",
                                                "roce",     "ipoib",    "dcb",      "limits", "modules",
                                                "services", "lossless", "resources"};
  return kTopics;
}

std::string render_topic(const std::string& topic, const HostView& host,
                         const std::vector<model::ResourceReport>& resources, const Terminal& terminal,
                         bool* left_out, Rows rows) {
  const auto titled = [&](std::string_view title, const Table& table) {
    return table.rows.empty() ? std::string() : section(title, table, terminal, left_out);
  };
  if (topic == "devices") return titled("DEVICES", devices_table(host));
  if (topic == "ports") return titled("PORTS", ports_table(host));
  if (topic == "pkeys") return titled("P_KEY TABLES", pkeys_table(host));
  if (topic == "gids") return titled("GID TABLES", gids_table(host));
  if (topic == "counters") return titled("COUNTERS", counters_table(host, rows));
  if (topic == "roce") return titled("ROCE DEFAULTS OF RDMA_CM", roce_table(host));
  if (topic == "ipoib") return titled("IPOIB INTERFACES", interfaces_table(host, rows));
  if (topic == "resources") return render_conformity(resources, terminal);
  HostFacts facts;
  if (topic == "dcb") facts.dcb = host.facts.dcb;
  if (topic == "limits") facts.memlock = host.facts.memlock;
  if (topic == "modules") facts.modules = host.facts.modules;
  if (topic == "services") facts.services = host.facts.services;
  if (topic == "lossless") facts.expansions = host.facts.expansions;
  return render_facts(facts, terminal, left_out);
}

std::string render_conformity(const std::vector<model::ResourceReport>& resources, const Terminal& terminal) {
  if (resources.empty()) return {};
  Table table{{{"RESOURCE"}, {"KIND", 1}, {"STATUS"}, {"", 0, true}}, {}};
  auto sorted = resources;  // all kinds of one object together
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.key.id < b.key.id; });
  for (const auto& resource : sorted) {
    const auto label = resource.label.empty() ? resource.key.id : resource.label;
    table.rows.push_back({cell(label),
                          cell(resource.key.kind),
                          {std::string(model::text_of(resource.status)), style_of(resource.status)},
                          {remark(resource, terminal), Style::kPlain}});
  }
  return section("CONFORMITY", table, terminal, nullptr);
}

}  // namespace rdmacfg::ctl
