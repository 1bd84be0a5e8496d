// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor.hpp"

#include <algorithm>

#include "catalog/bind.hpp"
#include "doctor/checks.hpp"
#include "kinds/ethernet/roce.hpp"
#include "kinds/ipoib/ipoib.hpp"
#include "kinds/ipoib/pkey.hpp"

namespace rdmacfg::core {

namespace detail {

namespace {

/// The document's values for an IPoIB interface.
model::Attributes wanted(const DoctorContext& context, const system::Link& link) {
  if (context.document == nullptr) return {};
  model::Diagnostics ignored;
  std::vector<model::Desired> desired;
  const auto bound = kinds::bind(context.document->sections, context.world, ignored);
  const auto& kind = link.ipoib->child ? kinds::pkey() : kinds::ipoib();
  kind.parse(bound, desired, ignored);
  const auto guid = link.ipoib->guid.text();
  const auto id = link.ipoib->child ? guid + "/" + link.ipoib->pkey.text() : guid;
  const auto at = std::find_if(desired.begin(), desired.end(),
                               [&](const auto& resource) { return resource.key.id == id; });
  return at == desired.end() ? model::Attributes{} : at->settings;
}

}  // namespace

std::optional<std::int64_t> wanted_mtu(const DoctorContext& context, const system::Link& link) {
  const auto settings = wanted(context, link);
  const auto* mtu = std::get_if<std::int64_t>(&model::value_of(settings, "mtu"));
  return mtu == nullptr ? std::nullopt : std::optional(*mtu);
}

std::string wanted_mode(const DoctorContext& context, const system::Link& link) {
  const auto settings = wanted(context, link);
  const auto* mode = std::get_if<std::string>(&model::value_of(settings, "mode"));
  return mode == nullptr ? std::string() : *mode;
}

std::vector<std::pair<std::string, std::string>> roce_modes(kinds::World& world) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto observed = kinds::roce().observe(world);
  if (!observed) return out;
  for (const auto& resource : *observed) {
    if (const auto* mode = std::get_if<std::string>(&model::value_of(resource.settings, "mode")))
      out.emplace_back(resource.label, *mode);
  }
  return out;
}

}  // namespace detail

const std::vector<Check>& checks() {
  static const std::vector<Check> kChecks{
      {"document_held", "a document that differs from the active generation, or waits for confirmation",
       detail::document_held},
      {"daemon_down", "a daemon that is not running although a document is to be enforced",
       detail::daemon_down},
      {"port_down", "ports without a link that the document configures", detail::port_down},
      {"no_subnet_manager", "ports with a link that no subnet manager configures", detail::no_subnet_manager},
      {"not_master", "a subnet manager of the document where another one is master", detail::not_master},
      {"two_subnet_managers", "two masters, or two fabrics with one subnet prefix",
       detail::two_subnet_managers},
      {"zero_guid", "devices and ports without a GUID", detail::zero_guid},
      {"pkey_missing", "P_Key interfaces whose partition the subnet manager does not know",
       detail::pkey_missing},
      {"mtu_capped", "IPoIB MTUs that the multicast group does not allow", detail::mtu_capped},
      {"no_connected_mode", "connected mode on adapters that do not support it", detail::no_connected_mode},
      {"connected_multicast", "multicast programs on connected interfaces with a large MTU",
       detail::connected_multicast},
      {"no_address", "interfaces without the addresses that DHCP or a router should give them",
       detail::no_address},
      {"gid_missing", "active RoCE ports without a GID", detail::gid_missing},
      {"roce_mismatch", "ports with different RoCE versions", detail::roce_mismatch},
      {"damaged_records", "records of rdma-configd that were damaged and set aside", detail::damaged_records},
      {"pinned_rdma_cm", "configfs folders that keep rdma_cm loaded", detail::pinned_rdma_cm},
      {"small_memlock", "running services whose programs may lock too little memory", detail::small_memlock},
      {"stale_initramfs", "an initramfs without our module options and naming rules",
       detail::stale_initramfs},
      {"rivals", "other programs and files that set the same things", detail::rivals},
      {"firewall", "a firewall that blocks peers of software RDMA devices", detail::firewall},
      {"contended", "settings that another program keeps changing back", detail::contended},
      {"unmet", "expectations that are not met", detail::unmet},
      {"not_as_wanted", "all other differences from the document", detail::not_as_wanted},
  };
  return kChecks;
}

std::vector<Finding> examine(const DoctorContext& context) {
  std::vector<Finding> out;
  for (const auto& check : checks()) check.run(context, out);
  return out;
}

}  // namespace rdmacfg::core
