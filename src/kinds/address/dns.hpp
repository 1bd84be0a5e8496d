// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
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

/// Key: "GUID", "GUID/0x8002".
const Kind& dns();

}  // namespace rdmacfg::kinds
