// SPDX-License-Identifier: Apache-2.0
// Firewalls that keep peers from software RDMA devices, whose packets pass the kernel's network stack
// (drivers/infiniband/sw/rxe/rxe_net.c, sw/siw/siw_cm.c). Those of adapters, and InfiniBand, do not.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "doctor/checks.hpp"
#include "formats/firewall/firewalld_zones.hpp"
#include "formats/firewall/nftables_conf.hpp"
#include "formats/firewall/ufw_rules.hpp"

namespace rdmacfg::core::detail {

namespace {

constexpr std::string_view kFirewalldUnit = "firewalld.service", kNftablesUnit = "nftables.service",
                           kUfwUnit = "ufw.service";
constexpr std::uint16_t kRocePort = 4791;     // ROCE_V2_UDP_DPORT of ib_pack.h
constexpr std::int64_t kNvmeRdmaPort = 4420;  // [[nvme_target]] port, where it is left out

/// Packets that have to reach a software device.
struct Opening {
  std::string device, interface;
  kinds::FirewallPort port;
};

/// Ports of the document's servers: of Soft-iWARP each is a TCP port of its own.
std::vector<std::uint16_t> served_ports(const DoctorContext& context) {
  std::vector<std::uint16_t> out;
  if (context.document == nullptr) return out;
  for (const auto& section : context.document->sections) {
    const bool nvme = section.path == "nvme_target";
    if (!nvme && section.path != "nfs_server") continue;
    const auto* entry = section.find(nvme ? "port" : "rdma_port");
    const auto* written = entry == nullptr ? nullptr : std::get_if<std::int64_t>(&entry->value);
    const auto number = written != nullptr ? *written : nvme ? kNvmeRdmaPort : 0;
    if (number > 0 && number <= std::numeric_limits<std::uint16_t>::max())
      out.push_back(static_cast<std::uint16_t>(number));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Opening> openings(const DoctorContext& context) {
  std::vector<Opening> out;
  for (const auto& device : context.world.snapshot().devices) {
    if (device.soft.empty()) continue;
    for (const auto& port : device.ports) {
      if (port.netdevs.empty() || port.netdevs.front() == "lo") continue;
      const auto& interface = port.netdevs.front();
      if (device.soft == "rxe") out.push_back({device.name, interface, {"udp", kRocePort}});
      if (device.soft != "siw") continue;
      for (const auto number : served_ports(context))
        out.push_back({device.name, interface, {"tcp", number}});
    }
  }
  return out;
}

void closed(const Opening& opening, std::string object, std::string_view where, std::string fix,
            std::vector<Finding>& out) {
  out.push_back({"firewall", Finding::Weight::kRisk, std::move(object),
                 fmt::format("{} does not accept {} on {}: peers cannot reach the software RDMA device {}",
                             where, opening.port.text(), opening.interface, opening.device),
                 std::move(fix)});
}

void closed_by_firewalld(const DoctorContext& context, const Opening& opening, std::vector<Finding>& out) {
  const auto zone = kinds::firewalld_refuses(context.world.host().files, opening.interface, opening.port);
  if (!zone) return;
  closed(opening, std::string(kFirewalldUnit), fmt::format("zone {} of its permanent configuration", *zone),
         fmt::format("firewall-cmd --permanent --zone={} --add-port={}, then firewall-cmd --reload", *zone,
                     opening.port.text()),
         out);
}

void closed_by_ufw(const DoctorContext& context, const Opening& opening, std::vector<Finding>& out) {
  if (!kinds::ufw_refuses(context.world.host().files, opening.interface, opening.port)) return;
  closed(opening, std::string(kUfwUnit), "ufw",
         fmt::format("ufw allow in on {} to any port {} proto {}", opening.interface, opening.port.number,
                     opening.port.protocol),
         out);
}

void closed_by_nftables(const DoctorContext& context, const Opening& opening, std::vector<Finding>& out) {
  // Debian's nftables.service loads the first file, that of RHEL and Fedora the second.
  for (const std::string path : {"/etc/nftables.conf", "/etc/sysconfig/nftables.conf"}) {
    const auto text = read(context, path);
    if (!text) continue;
    if (kinds::nftables_refuses(*text, opening.port))
      closed(opening, path, "its input chain",
             fmt::format("add the rule \"{} dport {} accept\" to that chain, then systemctl reload nftables",
                         opening.port.protocol, opening.port.number),
             out);
    return;
  }
}

}  // namespace

void firewall(const DoctorContext& context, std::vector<Finding>& out) {
  const auto needed = openings(context);
  if (needed.empty()) return;
  const auto services =
      units(context, {std::string(kFirewalldUnit), std::string(kUfwUnit), std::string(kNftablesUnit)});
  const auto runs = [&](std::string_view name) {
    return std::any_of(services.begin(), services.end(),
                       [&](const auto& unit) { return unit.name == name && unit.active == "active"; });
  };
  const bool firewalld = runs(kFirewalldUnit), ufw = runs(kUfwUnit), nftables = runs(kNftablesUnit);
  for (const auto& opening : needed) {
    if (firewalld) {
      closed_by_firewalld(context, opening, out);
    } else if (ufw) {
      closed_by_ufw(context, opening, out);
    } else if (nftables) {
      closed_by_nftables(context, opening, out);
    }
  }
}

}  // namespace rdmacfg::core::detail
