// SPDX-License-Identifier: Apache-2.0
#include "kinds/all.hpp"

#include <array>
#include <string>

#include "kinds/address.hpp"
#include "kinds/addressing.hpp"
#include "kinds/backend.hpp"
#include "kinds/daemon_policy.hpp"
#include "kinds/dcb.hpp"
#include "kinds/dns.hpp"
#include "kinds/entry.hpp"
#include "kinds/initramfs.hpp"
#include "kinds/ipoib.hpp"
#include "kinds/link_name.hpp"
#include "kinds/lossless.hpp"
#include "kinds/memlock.hpp"
#include "kinds/mlx4_port.hpp"
#include "kinds/module.hpp"
#include "kinds/networkd.hpp"
#include "kinds/nm_profile.hpp"
#include "kinds/opensm.hpp"
#include "kinds/opensm_option.hpp"
#include "kinds/own_file.hpp"
#include "kinds/partition.hpp"
#include "kinds/pfc.hpp"
#include "kinds/pkey.hpp"
#include "kinds/rdma_device.hpp"
#include "kinds/rdma_system.hpp"
#include "kinds/roce.hpp"
#include "kinds/route.hpp"
#include "kinds/selector.hpp"
#include "kinds/service.hpp"
#include "kinds/soft_rdma.hpp"
#include "kinds/sysctl.hpp"

namespace rdmacfg::kinds {

using model::SectionSpec;

namespace {

SectionSpec ipoib_section() {
  SectionSpec match{
      .name = "match", .repeated = false, .doc = "Ports by their properties; every one given has to hold."};
  add_written(match.fields, model::specs<PortMatch>());

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

std::span<const Kind* const> all() {
  // What others wrote into our files goes before they are written. Port types follow, since their adapter
  // goes and returns; routes are deleted before the addresses that they need; the initramfs is last, since it
  // looks at what the others want.
  static const auto kAll = std::to_array<const Kind*>({
      &own_file(),       //
      &mlx4_port(),      //
      &link_name(),      //
      &ipoib(),          //
      &pkey(),           //
      &backend(),        //
      &route(),          //
      &address(),        //
      &dns(),            //
      &nm_profile(),     //
      &networkd(),       //
      &kernel_module(),  //
      &soft_rdma(),      //
      &rdma_device(),    //
      &roce(),           //
      &pfc(),            //
      &dcb(),            //
      &sysctl(),         //
      &rdma_system(),    //
      &memlock(),        //
      &memlock_unit(),   //
      &service(),        //
      &opensm_option(),  //
      &opensm(),         //
      &partition(),      //
      &initramfs(),      //
  });
  return kAll;
}

const Kind* find(std::string_view name) {
  for (const auto* kind : all()) {
    if (kind->name() == name) return kind;
  }
  return nullptr;
}

const std::vector<SectionSpec>& grammar() {
  static const std::vector<SectionSpec> kGrammar{
      ipoib_section(),          //
      module_section(),         //
      pfc_section(),            //
      lossless_section(),       //
      initramfs_section(),      //
      mlx4_port_section(),      //
      sysctl_section(),         //
      rdma_system_section(),    //
      memlock_section(),        //
      service_section(),        //
      opensm_section(),         //
      opensm_option_section(),  //
      partition_section(),      //
      soft_rdma_section(),      //
      rdma_device_section(),    //
      roce_section(),           //
      daemon_section(),         //
  };
  return kGrammar;
}

}  // namespace rdmacfg::kinds
