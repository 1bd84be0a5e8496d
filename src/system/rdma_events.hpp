// SPDX-License-Identifier: Apache-2.0
// Notifications of RDMA netlink about ports and their net devices ("rdma monitor", Linux 6.12 and later).
//
// Neither udev nor a verbs async event tells that a port of a RoCE device has got another net device, as in a
// LAG or for representors in switchdev mode. Devices that come, go or are renamed are told here, too, before
// the rules of udev have run: udev tells of them afterwards, and this source leaves them out.
// Source: drivers/infiniband/core/nldev.c, device.c.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/error.hpp"
#include "system/events.hpp"

namespace rdmacfg::system {

/// The RDMA devices that there are now, by name.
std::set<std::string> rdma_device_names();

/// Tells of net devices that are attached to ports or detached from them (Event::Sort::kPort). Ends when the
/// last RDMA device is going, or the socket is of no use any more: an open socket of RDMA netlink is a
/// reference to ib_core, which could not be unloaded (netlink_create()).
///
/// Opens the socket and joins the group of notifications. Not while there is no RDMA device: opening the
/// socket loads ib_core. @return kUnsupported: this kernel has no notifications; another error: it refuses
/// them
base::Result<std::unique_ptr<EndingSource>> watch_rdma();

}  // namespace rdmacfg::system
