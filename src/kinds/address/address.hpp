// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

/// One address of an IPoIB interface with the direct backend.
struct InterfaceAddress {
  std::optional<std::string> address;
  std::optional<std::string> state;
  std::optional<std::string> lifetime;

  static constexpr auto kFields = std::tuple{
      model::field("address", &InterfaceAddress::address, model::Role::kSetting,
                   "Address with prefix length.", "-"),
      model::field("state", &InterfaceAddress::state, model::Role::kFact,
                   "Whether the address works: ok, tentative or duplicate (duplicate address detection of "
                   "IPv6), or unrouted (no route leads to its network).",
                   "-"),
      model::field(
          "lifetime", &InterfaceAddress::lifetime, model::Role::kDerived,
          "Whether the kernel removes the address when its lease ends or no router advertises it: limited.",
          "-")};
};

/// Addresses by rtnetlink. Key: "GUID 192.0.2.1/24", "GUID/0x8002 2001:db8::1/64".
const Kind& address();

}  // namespace rdmacfg::kinds
