// SPDX-License-Identifier: Apache-2.0
// Common parts of the kinds of the direct backend.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kinds/address/request.hpp"
#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "system/inet.hpp"

namespace rdmacfg::kinds {

/// Those of `all` whose backend is direct and which are not to go. With `diagnostics` what this backend
/// cannot do is reported: there is no DHCP client in it.
std::vector<const Addressing*> direct_only(const std::vector<Addressing>& all, const Bound& bound,
                                           model::Diagnostics* diagnostics);

/// A resource `name` of an interface: key, label, what comes before it, and why it cannot be had.
/// Values that an interface cannot have while it is down are not demanded.
model::Desired start(const Addressing& interface, std::string_view kind, const std::string& name);

/// Kind::parent_object of what an interface has, as an interface that is re-created is still the same port's.
std::string port_object(std::string_view id, const World& world);

/// PutBackByOthers::put_back_by() of what an interface has: a rename takes it down, an update of a P_Key
/// interface may re-create it.
std::vector<model::Key> interface_put_back_by(std::string_view id);

/// Requests that delete addresses (index of the interface, address). With the first address of an IPv4
/// network the kernel may delete the others of it, and with its last address the routes of an interface:
/// addresses of `now` that are not to go stay, and with them the routes.
std::vector<system::InetRequest> address_deletions(const std::set<std::pair<int, model::IpPrefix>>& going,
                                                   const std::vector<system::InetAddress>& now,
                                                   const World& world);

/// An interface that is there, with its id in keys.
struct TrackedInterface {
  std::string id;
  std::string name;
};

/// By index: the interfaces whose resources of this kind the run is about. Keys are "ID REST" or "ID". Those
/// that another backend has now are not among them: their addresses are its own.
std::map<int, TrackedInterface> tracked_interfaces(std::string_view kind, const World& world);

}  // namespace rdmacfg::kinds
