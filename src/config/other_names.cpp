// SPDX-License-Identifier: Apache-2.0
#include "config/other_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::config {

namespace {

/// Other tools' names of keys and sections, and ours: NetworkManager, nmstate, netplan,
/// ifcfg files, systemd units, limits.d, mlnx_qos, nvme-cli, nvmetcli, targetcli, open-iscsi, fstab,
/// modprobe.d.
constexpr std::array<std::pair<std::string_view, std::string_view>, 113> kElsewhere{{
    {"transport", "mode"},
    {"transport_mode", "mode"},
    {"transport-mode", "mode"},
    {"connected_mode", "mode"},
    {"manager", "backend"},
    {"managed_by", "backend"},
    {"renderer", "backend"},
    {"hwaddr", "guid"},
    {"mac", "guid"},
    {"mac_address", "guid"},
    {"mac-address", "guid"},
    {"port_guid", "guid"},
    {"dhcp", "ipv4"},
    {"dhcp4", "ipv4"},
    {"dhcp6", "ipv6"},
    {"address", "ipv4"},
    {"addresses", "ipv4"},
    {"ip", "ipv4"},
    {"ip4", "ipv4"},
    {"ip6", "ipv6"},
    {"ip_address", "ipv4"},
    {"ipaddr", "ipv4"},
    {"ipv6addr", "ipv6"},
    {"gateway", "ipv4"},
    {"gateway4", "ipv4"},
    {"gateway6", "ipv6"},
    {"dns", "ipv4"},
    {"dns1", "ipv4"},
    {"nameservers", "ipv4"},
    {"dns-servers", "ipv4"},
    {"dns_servers", "ipv4"},
    {"routes", "ipv4"},
    {"method", "ipv4"},
    {"bootproto", "method"},
    {"bootproto", "ipv4"},
    {"gateway", "via"},
    {"nexthop", "via"},
    {"destination", "to"},
    {"dest", "to"},
    {"dst", "to"},
    {"dns-servers", "dns"},
    {"nameservers", "dns"},
    {"dns_servers", "dns"},
    {"p_key", "pkey"},
    {"p-key", "pkey"},
    {"pkey_id", "pkey"},
    {"services", "units"},
    {"name", "key"},
    {"option", "key"},
    {"state", "running"},
    {"rebuild", "policy"},
    {"group", "domain"},
    {"user", "domain"},
    {"unit", "name"},
    {"netdev", "interface"},
    {"ifname", "interface"},
    {"nic", "interface"},
    {"memlock", "limit"},
    {"soft", "limit"},
    {"hard", "limit"},
    {"size", "limit"},
    {"started", "running"},
    {"active", "running"},
    {"enable", "enabled"},
    {"traddr", "address"},
    {"traddr", "addresses"},
    {"trsvcid", "port"},
    {"host_traddr", "host_address"},
    {"host-traddr", "host_address"},
    {"subsysnqn", "nqn"},
    {"subsysnqn", "subsystems"},
    {"nqn", "subsystems"},
    {"types", "ports"},
    {"port_type", "ports"},
    {"what", "server"},
    {"where", "path"},
    {"allowed_hosts", "hosts"},
    {"device_path", "device"},
    {"iqn", "wwn"},
    {"iqn", "target"},
    {"targetname", "target"},
    {"tpgt", "portal_group"},
    {"acls", "initiators"},
    {"portals", "addresses"},
    {"mountpoint", "path"},
    {"mount_point", "path"},
    {"parameters", "options"},
    {"params", "options"},
    {"rxe", "soft_rdma"},
    {"siw", "soft_rdma"},
    {"soft_roce", "soft_rdma"},
    {"softroce", "soft_rdma"},
    {"iscsi", "iser_session"},
    {"iser", "iser_session"},
    {"nvmet", "nvme_target"},
    {"limits", "memlock"},
    {"ulimit", "memlock"},
    {"dcb", "pfc"},
    {"qos", "pfc"},
    {"mlnx_qos", "pfc"},
    {"pfc", "priorities"},
    {"prio", "priorities"},
    {"tcbw", "bandwidth"},
    {"tc_bw", "bandwidth"},
    {"dscp2prio", "dscp"},
    {"traffic_class", "tos"},
    {"infiniband", "ipoib"},
    {"interface", "ipoib"},
    {"interfaces", "ipoib"},
    {"port", "ipoib"},
    {"ports", "ipoib"},
    {"link", "ipoib"},
    {"ib", "ipoib"},
}};

/// A name of other tools whose value is written differently here, where there is the key `beside`.
struct Rewrite {
  std::string_view name, beside, hint;
};
constexpr std::string_view kPrefixHint =
    "the prefix length is a part of each address, as in addresses = [\"192.0.2.1/24\"]";
constexpr std::string_view kPrefixBelowHint =
    "the prefix length is a part of each address, as in ipv4 = { addresses = [\"192.0.2.1/24\"] }";
constexpr std::string_view kAutoHint = "write method = \"auto\"";
constexpr std::string_view kModeHint = "write mode = \"connected\" or \"datagram\"";
constexpr std::string_view kStateHint = "write state = \"up\" or \"down\"";
constexpr std::string_view kDropInHint =
    "files are merged from conf.d/*.toml beside it, or with several --config";
constexpr std::array<Rewrite, 23> kRewrites{{
    {"include", "version", kDropInHint},
    {"source", "version", kDropInHint},
    {"version", "tos", "write mode = \"v1\" or \"v2\" for the version of RoCE"},
    {"version", "export", "write options = [\"vers=4.2\"] for the version of NFS"},
    {"netmask", "gateway", kPrefixHint},
    {"prefix", "gateway", kPrefixHint},
    {"prefixlen", "gateway", kPrefixHint},
    {"prefix_length", "gateway", kPrefixHint},
    {"prefix-length", "gateway", kPrefixHint},
    {"netmask", "umcast", kPrefixBelowHint},
    {"prefix", "umcast", kPrefixBelowHint},
    {"prefixlen", "umcast", kPrefixBelowHint},
    {"dhcp", "method", kAutoHint},
    {"dhcp4", "method", kAutoHint},
    {"dhcp6", "method", kAutoHint},
    {"connected", "umcast", kModeHint},
    {"datagram", "umcast", kModeHint},
    {"cm", "umcast", kModeHint},
    {"autoconnect", "state", kStateHint},
    {"enabled", "state", kStateHint},
    {"onboot", "state", kStateHint},
    {"startmode", "state", kStateHint},
    {"up", "state", kStateHint},
}};

/// Sections by which files of other tools are known, and the format of `rdma-configctl import` for them.
struct ForeignSection {
  std::string_view name, tool, format;
};
constexpr std::array<ForeignSection, 3> kForeignSections{{
    {"connection", "NetworkManager", "nm"},
    {"NetDev", "systemd-networkd", "networkd"},
    {"Network", "systemd-networkd", "networkd"},
}};

}  // namespace

std::optional<std::string> called_here(std::string_view name, const std::vector<std::string>& known) {
  const auto word = base::lower(name);
  for (const auto& [elsewhere, here] : kElsewhere) {
    if (elsewhere == word && std::find(known.begin(), known.end(), here) != known.end())
      return std::string(here);
  }
  return std::nullopt;
}

std::optional<std::string> nearly_called_here(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t kLeast = 5;
  std::vector<std::string> names;
  for (const auto& [elsewhere, here] : kElsewhere) {
    if (elsewhere.size() >= kLeast && here.starts_with("ipv")) names.emplace_back(elsewhere);
  }
  const auto near = base::nearest(name, names);
  return near ? called_here(*near, known) : std::nullopt;
}

std::string rewritten(std::string_view name, const std::vector<std::string>& keys) {
  const auto word = base::lower(name);
  for (const auto& row : kRewrites) {
    if (row.name == word && std::find(keys.begin(), keys.end(), row.beside) != keys.end())
      return std::string(row.hint);
  }
  return {};
}

std::string as_module_option(std::string_view name, const std::vector<std::string>& keys) {
  // Words of modprobe.d(5), and those that other tools have for a module as a whole.
  constexpr std::array<std::string_view, 8> kOthers{"blacklist", "alias",   "install", "remove",
                                                    "softdep",   "enabled", "enable",  "state"};
  const auto has = [&](std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (!has("options") || !has("load") || std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end())
    return {};
  return fmt::format("write a parameter of the module as options = [\"{}=…\"]", name);
}

std::string foreign_hint(std::string_view name) {
  for (const auto& section : kForeignSections) {
    if (section.name != name) continue;
    return fmt::format("this looks like a {} file; `rdma-configctl import {} FILE` converts it", section.tool,
                       section.format);
  }
  return {};
}

}  // namespace rdmacfg::config
