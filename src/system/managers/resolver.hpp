// SPDX-License-Identifier: Apache-2.0
// Name servers of interfaces at systemd-resolved. Source: org.freedesktop.resolve1(5).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::system {

/// Name servers and domains of one interface.
struct LinkDns {
  model::IpAddresses servers;
  std::vector<std::string> search;  ///< "~example.net" only routes queries

  bool operator==(const LinkDns&) const = default;
};

class Resolver {
 public:
  virtual ~Resolver() = default;

  /// Of interface `index`; nothing when no systemd-resolved answers.
  virtual base::Result<std::optional<LinkDns>> observe_dns(int index) = 0;

  /// Sets both; nothing in them goes back to none at all (RevertLink).
  virtual base::Result<void> set_dns(int index, const LinkDns& dns) = 0;
};

}  // namespace rdmacfg::system
