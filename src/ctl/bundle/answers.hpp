// SPDX-License-Identifier: Apache-2.0
// The system's answers as JSON. Keys are the members' names; members that an older report lacks are as in a
// default-constructed value.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "system/host.hpp"

namespace nlohmann {

template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& out, const std::optional<T>& value) {
    if (value) {
      out = *value;
    } else {
      out = nullptr;
    }
  }
  static void from_json(const json& from, std::optional<T>& value) {
    if (from.is_null()) {
      value.reset();
    } else {
      value = from.template get<T>();
    }
  }
};

}  // namespace nlohmann

namespace rdmacfg::base {

NLOHMANN_JSON_SERIALIZE_ENUM(Code, {{Code::kInvalid, "invalid"},
                                    {Code::kNotFound, "not-found"},
                                    {Code::kUnsupported, "unsupported"},
                                    {Code::kDenied, "denied"},
                                    {Code::kBusy, "busy"},
                                    {Code::kRefused, "refused"},
                                    {Code::kIo, "io"},
                                    {Code::kTimeout, "timeout"}})

}  // namespace rdmacfg::base

namespace rdmacfg::model {

/// Types that have a text: text() and parse().
#define RDMACFG_JSON_AS_TEXT(Type)                                                    \
  inline void to_json(nlohmann::json& out, const Type& value) { out = value.text(); } \
  inline void from_json(const nlohmann::json& from, Type& value) {                    \
    auto parsed = Type::parse(from.get_ref<const std::string&>());                    \
    if (!parsed) throw std::invalid_argument(parsed.error().message);                 \
    value = std::move(*parsed);                                                       \
  }

RDMACFG_JSON_AS_TEXT(Pkey)
RDMACFG_JSON_AS_TEXT(IpAddress)
RDMACFG_JSON_AS_TEXT(IpPrefix)
RDMACFG_JSON_AS_TEXT(RouteTarget)
RDMACFG_JSON_AS_TEXT(LockLimit)

#undef RDMACFG_JSON_AS_TEXT

inline void to_json(nlohmann::json& out, const Guid& value) { out = value.text(); }
inline void from_json(const nlohmann::json& from, Guid& value) {
  const auto& text = from.get_ref<const std::string&>();
  value = {};
  if (text == value.text()) return;  // none, which no document may name
  auto parsed = Guid::parse(text);
  if (!parsed) throw std::invalid_argument(parsed.error().message);
  value = *parsed;
}

NLOHMANN_JSON_SERIALIZE_ENUM(IpoibMode,
                             {{IpoibMode::kDatagram, "datagram"}, {IpoibMode::kConnected, "connected"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Family, {{Family::kIpv4, "ipv4"}, {Family::kIpv6, "ipv6"}})

}  // namespace rdmacfg::model

namespace rdmacfg::system {

NLOHMANN_JSON_SERIALIZE_ENUM(
    Tsa, {{Tsa::kStrict, "strict"}, {Tsa::kShaper, "shaper"}, {Tsa::kEts, "ets"}, {Tsa::kVendor, "vendor"}})

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(IpoibInfo, pkey, mode, umcast, child, connected_capable, guid)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Link, index, name, altnames, up, carrier, mtu, parent, master,
                                                group, kind, ipoib)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RdmaPort, number, state, physical_state, rate, link_layer,
                                                lid, sm_lid, lmc, capabilities, guid, gid_prefix, netdevs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RdmaDevice, name, firmware, board_id, hca_type, node_type,
                                                node_description, node_guid, system_guid, driver, pci, soft,
                                                instance, omni_path, leaving, ports)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PortMtu, max, active)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Gid, index, type, gid, netdev)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(InetAddress, index, prefix, tentative, duplicate, permanent,
                                                peer_elsewhere, no_network_route)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(InetRoute, index, family, to, via, metric, table,
                                                made_by_kernel, selective)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LinkDns, servers, search)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NmActive, uuid, id, activated)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NmDevice, interface, managed, active)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NmState, version, files, active, devices)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NetworkdLink, index, state, file)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RoceDefaults, gid_type, tos)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Ets, traffic_class, tsa, bandwidth, willing)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(DcbApp, selector, protocol, priority)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(DcbState, driver, pfc, pfc_capability, ets, classes, apps,
                                                dcbx, trust)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Unit, name, id, load, active, sub, file, job, main_pid,
                                                needs_reload, ends_by_itself, stops_unneeded)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Mlx4Device, pci, types, fixed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NvmeNamespace, nsid, device, uuid, enabled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NvmeSubsystem, nqn, any_host, hosts, namespaces)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NvmePort, id, transport, family, address, service, subsystems)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NvmeTargetState, subsystems, ports)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NvmeController, name, subsystem, transport, address, service,
                                                state)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(IscsiSession, name, target, address, port, group, transport,
                                                interface, state)
NLOHMANN_JSON_SERIALIZE_ENUM(DiskUse::Sort, {{DiskUse::Sort::kOther, "other"},
                                             {DiskUse::Sort::kMount, "mount"},
                                             {DiskUse::Sort::kBtrfs, "btrfs"},
                                             {DiskUse::Sort::kPool, "pool"},
                                             {DiskUse::Sort::kSwap, "swap"}})
inline void to_json(nlohmann::json& out, const DiskUse& use) {
  out = {{"text", use.text}, {"sort", use.sort}, {"name", use.name}};
}
/// Older reports have the text alone, which does not tell a host's own disks from others: such an answer
/// cannot be read, and is named (Tape::damaged()).
inline void from_json(const nlohmann::json& from, DiskUse& use) {
  use = DiskUse{from.at("text").get<std::string>()};
  use.sort = from.value("sort", DiskUse::Sort::kOther);
  use.name = from.value("name", std::string());
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LioBackstore, id, path, serial, enabled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LioLun, number, backstore)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LioMapping, number, lun, read_only)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LioAcl, initiator, luns, logged_in, has_secret)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LioPortal, name, iser)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LioTargetId, fabric, wwn)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LioTarget, id, groups, enabled, any_initiator, authentication,
                                                write_protected, luns, acls, portals, guests)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LioState, backstores, targets)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ModuleInfo, builtin, parameters)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PciCapabilities, bridge, max_read_request, redirects)

/// Each limit is an object of its own, [{"max_qp": 392632}]: an array keeps their order, and as keys their
/// names are not taken for names of the host.
inline void to_json(nlohmann::json& out, const DeviceIds& value) {
  auto limits = nlohmann::json::array();
  for (const auto& [name, limit] : value.limits) {
    auto entry = nlohmann::json::object();
    entry[name] = limit;
    limits.push_back(std::move(entry));
  }
  out = nlohmann::json::object();
  out["vendor"] = value.vendor;
  out["part"] = value.part;
  out["limits"] = std::move(limits);
}
inline void from_json(const nlohmann::json& from, DeviceIds& value) {
  value = {};
  value.vendor = from.value("vendor", value.vendor);
  value.part = from.value("part", value.part);
  const auto limits = from.find("limits");
  if (limits == from.end()) return;
  for (const auto& entry : *limits) {
    if (!entry.is_object()) throw std::invalid_argument("limits: an entry is not an object");
    for (const auto& [name, limit] : entry.items())
      value.limits.emplace_back(name, limit.get<std::uint64_t>());
  }
}

}  // namespace rdmacfg::system
