// SPDX-License-Identifier: Apache-2.0
#include "catalog/all.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "catalog/daemon_policy.hpp"
#include "catalog/file_integrity.hpp"
#include "catalog/initramfs.hpp"
#include "fabric/cables.hpp"
#include "kinds/address/address.hpp"
#include "kinds/address/backend.hpp"
#include "kinds/address/dns.hpp"
#include "kinds/address/request.hpp"
#include "kinds/address/route.hpp"
#include "kinds/entry.hpp"
#include "kinds/ethernet/dcb.hpp"
#include "kinds/ethernet/lossless.hpp"
#include "kinds/ethernet/pfc.hpp"
#include "kinds/ethernet/roce.hpp"
#include "kinds/expect/expect.hpp"
#include "kinds/host/memlock.hpp"
#include "kinds/host/module.hpp"
#include "kinds/host/package.hpp"
#include "kinds/host/service.hpp"
#include "kinds/host/sysctl.hpp"
#include "kinds/ipoib/ipoib.hpp"
#include "kinds/ipoib/link_name.hpp"
#include "kinds/ipoib/pkey.hpp"
#include "kinds/managers/networkd.hpp"
#include "kinds/managers/nm_profile.hpp"
#include "kinds/opensm/opensm.hpp"
#include "kinds/opensm/opensm_file.hpp"
#include "kinds/opensm/opensm_option.hpp"
#include "kinds/opensm/partition.hpp"
#include "kinds/ports/selector.hpp"
#include "kinds/rdma/mlx4_port.hpp"
#include "kinds/rdma/rdma_device.hpp"
#include "kinds/rdma/rdma_system.hpp"
#include "kinds/rdma/soft_rdma.hpp"
#include "kinds/storage/iser/iser_session.hpp"
#include "kinds/storage/lio/lio_target.hpp"
#include "kinds/storage/nfs/nfs_mount.hpp"
#include "kinds/storage/nfs/nfs_server.hpp"
#include "kinds/storage/nvme/nvme_connection.hpp"
#include "kinds/storage/nvme/nvme_target.hpp"
#include "kinds/storage/srp/srp_initiator.hpp"

namespace rdmacfg::kinds {

using model::SectionSpec;

namespace {

SectionSpec ipoib_section() {
  SectionSpec match{.name = "match",
                    .repeated = false,
                    .doc = "Ports selected by their properties; a port must match all that are given."};
  add_written(match.fields, model::specs<PortMatch>());
  for (auto& field : match.fields) {
    for (const auto& own : model::specs<IpoibMatch>()) {
      if (field.name == own.name) field = own;
    }
  }

  SectionSpec pkey{.name = "pkey",
                   .doc = "A P_Key interface over this port (a partition).",
                   .identities = {{"pkey"}},
                   .defaults = true};
  add_written(pkey.fields, model::specs<PkeyLink>());
  pkey.children = {inet_section(model::Family::kIpv4), inet_section(model::Family::kIpv6)};

  SectionSpec ipoib{.name = "ipoib",
                    .doc = "The IPoIB interface of an InfiniBand port.",
                    .identities = {{"guid"}, {"device", "port"}, {"match"}},
                    .defaults = true};
  add_written(ipoib.fields, model::specs<PortSelector>());
  add_written(ipoib.fields, model::specs<LinkName>());
  add_written(ipoib.fields, model::specs<Ipoib>());
  add_written(ipoib.fields, model::specs<InterfaceBackend>());
  ipoib.children = {std::move(match), inet_section(model::Family::kIpv4), inet_section(model::Family::kIpv6),
                    std::move(pkey)};
  return ipoib;
}

}  // namespace

std::span<const Kind* const> all_kinds() {
  // Lines of others in our files go before the files are written. Port types follow, since their adapter
  // goes and returns; routes are deleted before the addresses that they need; the initramfs is last, since it
  // looks at what the others want.
  static const auto kAll = std::to_array<const Kind*>({
      &file_integrity(),   //
      &mlx4_port(),        //
      &link_name(),        //
      &ipoib(),            //
      &pkey(),             //
      &backend(),          //
      &route(),            //
      &address(),          //
      &dns(),              //
      &nm_profile(),       //
      &networkd(),         //
      &kernel_module(),    //
      &soft_rdma(),        //
      &rdma_device(),      //
      &roce(),             //
      &pfc(),              //
      &dcb(),              //
      &sysctl(),           //
      &rdma_system(),      //
      &memlock(),          //
      &memlock_unit(),     //
      &service(),          //
      &opensm_file(),      //
      &opensm_option(),    //
      &opensm(),           //
      &partition(),        //
      &nfs_server(),       //
      &nfs_mount(),        //
      &nvme_target(),      //
      &lio_target(),       //
      &nvme_connection(),  //
      &iser_session(),     //
      &srp_initiator(),    //
      &package(),          //
      &initramfs(),        //
      &expect(),           //
  });
  return kAll;
}

const Kind* find(std::string_view name) {
  for (const auto* kind : all_kinds()) {
    if (kind->name() == name) return kind;
  }
  return nullptr;
}

std::string_view field_unit(const model::Key& key, std::string_view field) {
  const auto* kind = find(key.kind);
  if (kind == nullptr) return {};
  for (const auto& spec : kind->fields()) {
    if (spec.name == field) return spec.unit;
  }
  return {};
}

bool is_derived(const model::Key& key, std::string_view field) {
  const auto* kind = find(key.kind);
  if (kind == nullptr) return false;
  const auto fields = kind->fields();
  return std::any_of(fields.begin(), fields.end(), [&](const auto& spec) {
    return spec.name == field && spec.role == model::Role::kDerived;
  });
}

const std::vector<SectionSpec>& grammar() {
  static const std::vector<SectionSpec> kGrammar{
      ipoib_section(),            //
      module_section(),           //
      pfc_section(),              //
      lossless_section(),         //
      initramfs_section(),        //
      packages_section(),         //
      mlx4_port_section(),        //
      sysctl_section(),           //
      rdma_system_section(),      //
      memlock_section(),          //
      service_section(),          //
      opensm_section(),           //
      opensm_option_section(),    //
      opensm_file_section(),      //
      partition_section(),        //
      soft_rdma_section(),        //
      rdma_device_section(),      //
      roce_section(),             //
      nfs_server_section(),       //
      nfs_mount_section(),        //
      nvme_target_section(),      //
      lio_target_section(),       //
      nvme_connection_section(),  //
      iser_session_section(),     //
      srp_initiator_section(),    //
      srp_rule_section(),         //
      expect_section(),           //
      fabric::cable_section(),    //
      daemon_section(),           //
  };
  return kGrammar;
}

}  // namespace rdmacfg::kinds
