// SPDX-License-Identifier: Apache-2.0
// Verbs async events: the events that a port reports to those that have its device open
// (ibv_get_async_event(3)).
//
// A device is opened by a short-lived process (open_verbs: libibverbs and the driver's provider stay out of
// the daemon, and a slow driver cannot block it), which hands its two descriptors over a socket; whoever
// holds both has it open. Sources: drivers/infiniband/core/uverbs_main.c, include/uapi/rdma/ib_user_verbs.h.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/unique_fd.hpp"
#include "system/events.hpp"

namespace rdmacfg::system {

/// A verbs device as the kernel has registered it.
struct VerbsNode {
  std::string name{};        ///< "uverbs0"
  std::uint64_t serial = 0;  ///< inode of its folder in sysfs: another one when the device comes again
  auto operator<=>(const VerbsNode&) const = default;
};

/// Those that are there now; none while ib_uverbs is not loaded.
std::set<VerbsNode> verbs_nodes();

struct OpenVerbs {
  VerbsNode node{};
  std::string device{};  ///< "mlx4_0", as it was called then
  /// Both or none: it cannot be opened, or must not be held open.
  base::UniqueFd command{}, events{};
};

/// Opens those of the nodes that may be held open, one after the other; `opened` is called for each, also for
/// what was not to be opened. One may be held open when neither its driver nor its removal waits for those
/// that have it open: uverbs takes a reference to the module of a driver that cannot take its contexts away
/// (ib_uverbs_open(), disassociate_ucontext). That is measured, and not taken from a list.
void open_verbs(const std::set<VerbsNode>& nodes, const std::function<void(OpenVerbs)>& opened);

/// Over a socket of AF_UNIX, SOCK_SEQPACKET. @return false when nobody receives.
bool send_verbs(int socket, const OpenVerbs& open);

/// The descriptors handed over, without waiting. @return nothing when there are none; `at_end` then says
/// whether there will be.
std::optional<OpenVerbs> receive_verbs(int socket, bool& at_end);

/// Tells of the ports of a device that is open. Ends when the device has gone, or its driver has given it up.
/// @param open with its descriptors
std::unique_ptr<EndingSource> watch_verbs(OpenVerbs open);

}  // namespace rdmacfg::system
