// SPDX-License-Identifier: Apache-2.0
// Rules of IPoIB mode, MTU and carrier that a port's own interface and its P_Key children share.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/abilities.hpp"
#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// The document's own rule: an MTU above the datagram limit needs connected mode to be asked for.
void check_mode_and_mtu(const model::Desired& desired, std::string_view section,
                        model::Diagnostics& diagnostics);

/// Against the host: connected mode only where the adapter can (else on_unsupported decides: the settings are
/// adapted), a datagram MTU only up to the IB link's less 4. `observed`: the interface as it is, nullptr when
/// it is not there yet; then `link` is its parent.
void check_capability(model::Desired& desired, const model::Observed* observed, const system::Link& link,
                      std::string_view section, model::Guid guid, World& world,
                      model::Diagnostics& diagnostics);

/// Warns about an MTU that differs from that of the bond that `link` is in: the bond's MTU applies to
/// packets, and does not follow its ports' (bond_slave_netdev_event() in drivers/net/bonding/bond_main.c).
void warn_of_mtu_in_bond(const model::Desired& desired, const system::Link& link, std::string_view section,
                         const World& world, model::Diagnostics& diagnostics);

/// Settings of an IPoIB interface as attributes: mode, mtu, umcast, state.
void describe(const system::Link& link, model::Attributes& settings);

/// Why an interface that is up has no carrier; empty when there is nothing to say (or nothing is known yet).
std::string why_no_carrier(const system::Link& link, const std::optional<PortRef>& port, World& world);

/// The same for an interface that is known to have none; at least "no carrier".
std::string words_for_no_carrier(const system::Link& link, World& world);

/// The effect of the fabric's multicast group on the MTU; empty when there is none.
std::string why_mtu_limited(const model::Desired& desired, const system::Link& link);

/// TestsLimits::limits_standing() of MTUs: which of the interfaces the kernel keeps below what `limited`
/// wants.
base::Result<std::set<model::Key>> mtu_limits_standing(
    std::span<const model::Change> limited, system::Host& host,
    const std::function<const system::Link*(const model::Key&, const World&)>& link_of);

/// Membership in a partition as the port's table has it.
enum class Membership { kUnknown, kNone, kLimited, kFull };
Membership membership(const PortRef& port, model::Pkey pkey, World& world);
std::string_view text_of(Membership membership);

/// Makes `link` be as `after` says, as far as a mode written by sysfs goes, and returns what is left for one
/// netlink message (nothing when there is none), so that a caller can send many together. The mode file has
/// to be there when the mode differs. MTU comes after the mode, because the kernel sets it along with the
/// mode.
base::Result<std::optional<system::SetLink>> reach(const system::Link& link, const model::Attributes& after,
                                                   system::Host& host);

/// False for an MTU that was set in another mode than the interface will have: it means nothing there.
bool mtu_fits_mode(std::string_view field, const model::Attributes& before, const model::Attributes& then);

/// Whether a change takes the MTU below what IPv6 needs: then IPv6 addresses and routes cannot be put back.
bool stops_ipv6(const model::Change& change);

enum class IpoibLink { kPort, kPkey };

/// NeedsWatching::watched(): mode and umcast where sysfs has them. Only P_Key interfaces that were made by
/// sysfs have, and only from connected mode a change can leave the MTU as it is.
void watch_transport(const model::ResourceReport& resource, IpoibLink link, system::Settings& out);

/// Waits for interfaces that are joining their multicast groups: all whose MTU depends on the group, and one
/// of every port to learn whether a subnet manager answers at all.
base::Result<Waited> await_join(
    std::span<const model::Change> changes, World& now, std::chrono::milliseconds deadline,
    const std::function<const system::Link*(const model::Key&, const World&)>& link_of);

}  // namespace rdmacfg::kinds
