// SPDX-License-Identifier: Apache-2.0
// Devices, ports and interfaces one property a line, for `show NAME`.
#include <fmt/format.h>

#include <map>

#include "base/text.hpp"
#include "ctl/render/host_cells.hpp"
#include "ctl/render/render_facts.hpp"
#include "ctl/render/render_host.hpp"

namespace rdmacfg::ctl {

namespace {

using Lines = std::vector<std::pair<std::string, Cell>>;

std::string block(const std::string& title, const std::string& what, const Lines& lines,
                  const Terminal& terminal) {
  Table table{{{""}, {""}, {"", 0, true}}, {}};
  for (const auto& [name, value] : lines) table.rows.push_back({{" "}, {name, Style::kDim}, value});
  return terminal.paint(clean(title, terminal.utf8), Style::kBold) + "  " +
         terminal.paint(what, Style::kDim) + '\n' + render_table(table, terminal);
}

/// The limits of a device, as `ibv_devinfo -v` has it.
void add_limits(const DeviceView& view, Lines& lines) {
  if (!view.ids || view.ids->limits.empty()) return;
  const std::map<std::string, std::uint64_t> limits(view.ids->limits.begin(), view.ids->limits.end());
  const auto of = [&](const char* name) {
    const auto at = limits.find(name);
    return at == limits.end() ? std::uint64_t{0} : at->second;
  };
  const auto add = [&](const char* name, std::string text) { lines.emplace_back(name, cell(text)); };
  add("queue pairs", fmt::format("at most {}, each with {} work requests of {} parts", of("max_qp"),
                                 of("max_qp_wr"), of("max_sge")));
  add("completion queues", fmt::format("at most {}, each with {} entries", of("max_cq"), of("max_cqe")));
  add("shared receive queues", fmt::format("at most {}, each with {} work requests of {} parts",
                                           of("max_srq"), of("max_srq_wr"), of("max_srq_sge")));
  add("memory regions", fmt::format("at most {}, each of {:#x} bytes", of("max_mr"), of("max_mr_size")));
  add("memory windows", fmt::format("at most {}", of("max_mw")));
  add("protection domains", fmt::format("at most {}", of("max_pd")));
  add("address handles", fmt::format("at most {}", of("max_ah")));
  add("reads and atomics", fmt::format("{} outstanding for each queue pair, {} in all", of("max_qp_rd_atom"),
                                       of("max_res_rd_atom")));
  add("multicast groups",
      fmt::format("at most {}, each with {} queue pairs", of("max_mcast_grp"), of("max_mcast_qp_attach")));
}

std::string device_block(const DeviceView& view, const Terminal& terminal) {
  const auto& d = *view.device;
  Lines lines{
      {"type", cell(d.node_type.empty()  ? d.hca_type
                    : d.hca_type.empty() ? d.node_type
                                         : fmt::format("{} ({})", d.hca_type, d.node_type))},
      {"firmware", cell(d.firmware)},
      {"hardware", cell(view.hardware)},
      {"vendor", cell(view.ids ? fmt::format("{:#06x}, part {}", view.ids->vendor, view.ids->part) : "")},
      {"board id", cell(d.board_id)},
      {"node GUID", cell(text(d.node_guid))},
      {"system GUID", cell(text(d.system_guid))},
      {"description", cell(d.node_description)},
      {"driver", maybe(d.driver)},
      {"PCI address", maybe(d.pci)}};
  add_limits(view, lines);
  return block(d.name, "RDMA device", lines, terminal);
}

std::string port_block(const PortView& view, const Terminal& terminal) {
  const auto& p = *view.port;
  const auto capabilities = p.capabilities ? fmt::format("{:#010x}", *p.capabilities) : std::string();
  return block(view.name(), "port",
               {{"link layer", cell(view.device->omni_path             ? p.link_layer + " (Omni-Path)"
                                    : view.device->node_type == "RNIC" ? p.link_layer + " (iWARP)"
                                                                       : p.link_layer)},
                {"state", state_cell(p)},
                {"physical state", cell(p.physical_state)},
                {"rate", cell(p.rate)},
                {"base LID", cell(text(p.lid))},
                {"LMC", cell(text(p.lmc))},
                {"SM LID", cell(text(p.sm_lid))},
                {"active MTU", cell(view.mtu ? std::to_string(view.mtu->active) : "")},
                {"max MTU", cell(view.mtu ? std::to_string(view.mtu->max) : "")},
                {"capability mask", cell(capabilities)},
                {"port GUID", maybe(text(view.guid()))},
                {"GID prefix", cell(p.gid_prefix)},
                {"interfaces", maybe(base::join(p.netdevs, ", "))},
                {"P_Keys", cell(pkeys_text(view))}},
               terminal);
}

std::string interface_block(const InterfaceView& view, const Terminal& terminal) {
  const auto& link = *view.link;
  const auto& ipoib = *link.ipoib;
  const auto port =
      view.port ? fmt::format("{}/{}", view.port->device->name, view.port->port->number) : std::string();
  Lines lines{{"port", cell(port)}, {"port GUID", cell(text(ipoib.guid))}};
  if (ipoib.child) lines.emplace_back("parent", cell(view.parent));
  if (!link.altnames.empty()) lines.emplace_back("other names", cell(base::join(link.altnames, ", ")));
  const Lines rest{
      {"P_Key", cell(ipoib.pkey.text())},
      {"mode", cell(std::string(model::text_of(ipoib.mode)))},
      {"connected mode", cell(ipoib.connected_capable ? "possible" : "not possible with this adapter")},
      {"MTU", cell(std::to_string(link.mtu))},
      {"umcast", cell(ipoib.umcast ? "yes" : "no")},
      {"state", link_cell(link)},
      {"addresses", maybe(base::join(view.addresses, ", "))},
      {"index", cell(std::to_string(link.index))}};
  lines.insert(lines.end(), rest.begin(), rest.end());
  return block(link.name, ipoib.child ? "P_Key interface" : "IPoIB interface", lines, terminal);
}

void append_block(std::string& out, const std::string& part) {
  if (!out.empty() && !part.empty()) out += '\n';
  out += part;
}

}  // namespace

std::string render_details(const HostView& host, const Terminal& terminal) {
  std::string out;
  for (const auto& device : host.devices) {
    append_block(out, device_block(device, terminal));
    for (const auto& port : device.ports) append_block(out, port_block(port, terminal));
  }
  for (const auto& interface : host.interfaces) append_block(out, interface_block(interface, terminal));
  append_block(out, render_facts(host.facts, terminal));
  return out;
}

}  // namespace rdmacfg::ctl
