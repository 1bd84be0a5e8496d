// SPDX-License-Identifier: Apache-2.0
// The functions that are needed of libibnetdisc, libibmad and libibumad, loaded at the first use: most runs
// do without them.
#pragma once

#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include "system/linux/verbs/late_library.hpp"

namespace rdmacfg::system::detail {

struct FabricLibraries {
  decltype(&::umad_init) init = nullptr;
  decltype(&::umad_get_cas_names) get_cas_names = nullptr;
  decltype(&::umad_get_ca) get_ca = nullptr;
  decltype(&::umad_release_ca) release_ca = nullptr;
  decltype(&::umad_size) size = nullptr;
  decltype(&::umad_set_addr) set_addr = nullptr;
  decltype(&::umad_get_mad) get_mad = nullptr;
  decltype(&::umad_status) status = nullptr;
  decltype(&::umad_send) send = nullptr;
  decltype(&::umad_recv) recv = nullptr;
  decltype(&::mad_rpc_open_port) open_port = nullptr;
  decltype(&::mad_rpc_close_port) close_port = nullptr;
  decltype(&::mad_rpc_portid) portid = nullptr;
  decltype(&::mad_rpc_class_agent) class_agent = nullptr;
  decltype(&::mad_rpc_set_retries) set_retries = nullptr;
  decltype(&::mad_rpc_set_timeout) set_timeout = nullptr;
  decltype(&::mad_get_field) get_field = nullptr;
  decltype(&::mad_get_field64) get_field64 = nullptr;
  decltype(&::mad_rpc) rpc = nullptr;
  decltype(&::smp_query_via) smp_query = nullptr;
  decltype(&::pma_query_via) pma_query = nullptr;
  decltype(&::performance_reset_via) pma_reset = nullptr;
  decltype(&::ibnd_discover_fabric) discover = nullptr;
  bool usable = false;

  FabricLibraries() {
    const LateLibrary umad("libibumad.so.3"), mad("libibmad.so.5"), disc("libibnetdisc.so.5");
    const auto of = [](const LateLibrary& library) {
      return [&library](auto& function, const char* name) { return library.load(function, name); };
    };
    const auto u = of(umad), m = of(mad), d = of(disc);
    usable = u(init, "umad_init") && u(get_cas_names, "umad_get_cas_names") && u(get_ca, "umad_get_ca") &&
             u(release_ca, "umad_release_ca") && u(size, "umad_size") && u(set_addr, "umad_set_addr") &&
             u(get_mad, "umad_get_mad") && u(status, "umad_status") && u(send, "umad_send") &&
             u(recv, "umad_recv") && m(open_port, "mad_rpc_open_port") &&
             m(close_port, "mad_rpc_close_port") && m(portid, "mad_rpc_portid") &&
             m(class_agent, "mad_rpc_class_agent") && m(set_retries, "mad_rpc_set_retries") &&
             m(set_timeout, "mad_rpc_set_timeout") && m(get_field, "mad_get_field") &&
             m(get_field64, "mad_get_field64") && m(rpc, "mad_rpc") && m(smp_query, "smp_query_via") &&
             m(pma_query, "pma_query_via") && m(pma_reset, "performance_reset_via") &&
             d(discover, "ibnd_discover_fabric");
  }
};

}  // namespace rdmacfg::system::detail
