// SPDX-License-Identifier: Apache-2.0
#include "kinds/all.hpp"

#include <array>
#include <string>

#include "kinds/entry.hpp"
#include "kinds/ipoib.hpp"
#include "kinds/link_name.hpp"
#include "kinds/pkey.hpp"
#include "kinds/rdma_device.hpp"
#include "kinds/roce.hpp"
#include "kinds/selector.hpp"
#include "kinds/soft_rdma.hpp"

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

  SectionSpec ipoib{.name = "ipoib",
                    .doc = "The IPoIB interface of an InfiniBand port.",
                    .identities = {{"guid"}, {"device", "port"}, {"match"}},
                    .defaults = true};
  add_written(ipoib.fields, model::specs<PortSelector>());
  add_written(ipoib.fields, model::specs<LinkName>());
  add_written(ipoib.fields, model::specs<Ipoib>());
  ipoib.children = {std::move(match), std::move(pkey)};
  return ipoib;
}

}  // namespace

std::span<const Kind* const> all() {
  static const std::array kAll{
      &link_name(),    //
      &ipoib(),        //
      &pkey(),         //
      &soft_rdma(),    //
      &rdma_device(),  //
      &roce(),         //
  };
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
      ipoib_section(),        //
      soft_rdma_section(),    //
      rdma_device_section(),  //
      roce_section(),         //
  };
  return kGrammar;
}

}  // namespace rdmacfg::kinds
