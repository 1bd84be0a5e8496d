// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

/// Name servers of an IPoIB interface with the direct backend, at systemd-resolved.
struct InterfaceDns {
  std::optional<std::vector<std::string>> servers;
  std::optional<std::vector<std::string>> search;

  static constexpr auto kFields = std::tuple{
      model::field("servers", &InterfaceDns::servers, model::Role::kSetting, "DNS servers.", "-"),
      model::field("search", &InterfaceDns::search, model::Role::kSetting, "Search domains.", "-")};
};

/// The name server that programs ask in place of systemd-resolved, by the texts of resolv.conf and
/// nsswitch.conf; empty where they ask systemd-resolved, or nothing is known. Sources: systemd-resolved(8),
/// "/etc/resolv.conf"; nss-resolve(8), resolv.conf(5).
std::string server_beside_resolved(std::string_view resolv_conf, std::string_view nsswitch);

/// Whether nsswitch.conf has programs look for hosts in files and the like only. False where it names a
/// service that is not known here, or has no such line. Source: nsswitch.conf(5).
bool asks_no_name_server(std::string_view nsswitch);

/// Key: "GUID", "GUID/0x8002".
const Kind& dns();

}  // namespace rdmacfg::kinds
