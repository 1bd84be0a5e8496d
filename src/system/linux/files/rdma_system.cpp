// SPDX-License-Identifier: Apache-2.0
#include "system/rdma_system.hpp"

#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>

#include <cerrno>
#include <memory>

#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr const char* kWhat = "changing how RDMA devices and network namespaces go together";

class NldevSystem final : public RdmaSystem {
 public:
  std::optional<bool> observe_shared() override {
    // The variable behind the parameter is also the one that nldev changes.
    const auto folder = detail::SysfsDir::open("/sys/module/ib_core/parameters");
    const auto value = folder ? folder->read("netns_mode") : std::nullopt;
    if (!value) return std::nullopt;
    return *value == "Y" || *value == "1";
  }

  Result<void> set_shared(bool shared) override {
    const std::unique_ptr<nl_sock, void (*)(nl_sock*)> socket(nl_socket_alloc(), nl_socket_free);
    const std::unique_ptr<nl_msg, void (*)(nl_msg*)> message(
        nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_SET),
                           NLM_F_REQUEST | NLM_F_ACK),
        nlmsg_free);
    if (!socket || !message) return fail(Code::kIo, kWhat);
    int status = nl_connect(socket.get(), NETLINK_RDMA);
    if (status >= 0) {
      status = nla_put_u8(message.get(), RDMA_NLDEV_SYS_ATTR_NETNS_MODE, shared ? 1 : 0);
    }
    if (status >= 0) status = nl_send_auto(socket.get(), message.get());
    if (status >= 0) status = nl_wait_for_ack(socket.get());
    if (status >= 0) return {};
    const Code code = status == -NLE_BUSY                              ? Code::kBusy
                      : status == -NLE_PERM || status == -NLE_NOACCESS ? Code::kDenied
                      : status == -NLE_OPNOTSUPP                       ? Code::kUnsupported
                                                                       : Code::kRefused;
    return fail(code, std::string(kWhat) + ": " + nl_geterror(status));
  }
};

}  // namespace

std::unique_ptr<RdmaSystem> make_linux_rdma_system() { return std::make_unique<NldevSystem>(); }

}  // namespace rdmacfg::system
