// SPDX-License-Identifier: Apache-2.0
// Messages of RDMA_NL_GROUP_NOTIFY, and the source of events that reads them. Sources:
// include/uapi/rdma/rdma_netlink.h; rdma_nl_notify_event(), fill_mon_netdev_association(),
// fill_mon_netdev_rename() and nldev_sys_get_doit() in drivers/infiniband/core/nldev.c.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "system/events.hpp"
#include "system/rdma_events.hpp"

namespace rdmacfg::system::detail {

/// enum rdma_nl_notify_event_type. The last two are sent by Linux 6.13 and later.
enum class RdmaNotice : std::uint8_t {
  kRegister,
  kUnregister,
  kNetdevAttach,
  kNetdevDetach,
  kRename,
  kNetdevRename,
};

struct RdmaNotification {
  RdmaNotice notice = RdmaNotice::kRegister;
  std::optional<std::uint32_t> device_index{};
  std::string device{};  ///< "mlx5_0"; empty when the message has no name
  std::optional<std::uint32_t> port{};
  std::optional<std::uint32_t> netdev_index{};
  std::string netdev{};  ///< "eth2"; empty when the message has no name
  bool operator==(const RdmaNotification&) const = default;
};

struct RdmaNotifications {
  std::vector<RdmaNotification> all{};
  bool whole = true;  ///< false: the datagram ends within a message
};

/// The notifications of a datagram. Passed over: messages of another sort, those of an event that is not
/// known, and those without the type of the event. Attributes behind a truncated one are missing.
RdmaNotifications rdma_notifications_in(std::span<const std::byte> datagram);

/// Nothing for what udev tells, and for a net device of another network namespace: of that the kernel sends
/// neither device nor port.
std::optional<Event> event_of(const RdmaNotification& notification);

/// Whether a datagram is the answer to RDMA_NLDEV_CMD_SYS_GET of a kernel that sends notifications. The group
/// tells nothing: older kernels let it be joined, too, as every netlink protocol has 32 of them.
bool has_monitor(std::span<const std::byte> datagram);

/// The parts that the source rests on; tests have others.
struct RdmaMonitorParts {
  base::UniqueFd socket{};
  /// One datagram, without waiting. @return its length, which may be more than fits the buffer; or a negative
  /// errno, EAGAIN when there is none
  std::function<ssize_t(int socket, std::span<std::byte> buffer)> receive{};
  std::function<std::set<std::string>()> devices{};  ///< rdma_device_names()
};

std::unique_ptr<EndingSource> make_rdma_monitor(RdmaMonitorParts parts);

}  // namespace rdmacfg::system::detail
