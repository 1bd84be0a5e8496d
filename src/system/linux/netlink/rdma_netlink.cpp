// SPDX-License-Identifier: Apache-2.0
// Source: include/uapi/rdma/rdma_netlink.h, drivers/infiniband/core/nldev.c.
#include "system/linux/netlink/rdma_netlink.hpp"

#include <fmt/format.h>
#include <rdma/rdma_netlink.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include "system/linux/linux_host.hpp"
#include "system/linux/netlink/netlink_socket.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::Result;
using detail::Attributes;
using detail::Message;
using detail::NetlinkSocket;

constexpr std::uint16_t kChangeRdma = NLM_F_REQUEST | NLM_F_ACK;
constexpr std::uint16_t kDump = NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP;
constexpr std::size_t kRoom = 1024;

Message request(int command, std::uint16_t flags, std::string what) {
  // RDMA_NL_GET_TYPE() without its signed shifts
  const auto type = static_cast<std::uint16_t>((static_cast<unsigned>(RDMA_NL_NLDEV) << 10U) +
                                               static_cast<unsigned>(command));
  return {type, flags, std::span<const std::byte>{}, std::move(what), kRoom};
}

/// RDMA netlink has no fixed header.
Attributes attributes_of(const nlmsghdr& header) {
  if (header.nlmsg_len < detail::kNlHeader) return Attributes();
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  return Attributes({bytes + detail::kNlHeader, header.nlmsg_len - detail::kNlHeader});
}

class RdmaNetlink final : public RdmaAdmin {
 public:
  Result<void> rename_device(const std::string& device, const std::string& name) override {
    const auto what = fmt::format("{}: rename to {}", device, name);
    const auto index = index_of(device, what);
    if (!index) return fail(index.error());
    if (!*index) return base::fail_errno(ENODEV, what);
    auto message = request(RDMA_NLDEV_CMD_SET, kChangeRdma, what);
    message.put(RDMA_NLDEV_ATTR_DEV_INDEX, **index);
    message.put(RDMA_NLDEV_ATTR_DEV_NAME, name);
    return execute(message);
  }

  Result<void> new_link(const std::string& name, const std::string& type,
                        const std::string& interface) override {
    auto message = request(RDMA_NLDEV_CMD_NEWLINK, kChangeRdma,
                           fmt::format("{}: create it as {} over {}", name, type, interface));
    message.put(RDMA_NLDEV_ATTR_DEV_NAME, name);
    message.put(RDMA_NLDEV_ATTR_LINK_TYPE, type);
    message.put(RDMA_NLDEV_ATTR_NDEV_NAME, interface);
    auto done = execute(message);
    if (done) return done;
    auto error = done.error();
    // A bare EINVAL: the kernel asked for the driver and nobody registered this type; or the driver is there,
    // and does not take the interface (siw_dev_qualified()).
    if (error.sys_errno == EINVAL) {
      error.code = Code::kUnsupported;
      const auto module = std::filesystem::path("/sys/module") / (type == "rxe" ? "rdma_rxe" : type);
      std::error_code hidden;
      error.message += std::filesystem::exists(module, hidden)
                           ? fmt::format(" (the driver of {} devices does not take this interface)", type)
                           : fmt::format(" (this kernel has no driver for {} devices)", type);
    }
    if (error.sys_errno == EEXIST)
      error.message += fmt::format(": {} has a {} device already", interface, type);
    if (error.sys_errno == ENFILE) {
      error.message = fmt::format("{}: another RDMA device has this name", message.what());
    }
    return fail(std::move(error));
  }

  Result<void> delete_link(const std::string& name) override {
    const auto what = fmt::format("{}: remove it", name);
    const auto index = index_of(name, what);
    if (!index) return fail(index.error());
    if (!*index) return {};
    auto message = request(RDMA_NLDEV_CMD_DELLINK, kChangeRdma, what);
    message.put(RDMA_NLDEV_ATTR_DEV_INDEX, **index);
    return execute(message);
  }

  std::optional<std::string> netdev_of(const std::string& device, int port) {
    const auto what = fmt::format("{}/{}: ask for its interface", device, port);
    const auto index = index_of(device, what);
    if (!index || !*index) return std::nullopt;
    auto message = request(RDMA_NLDEV_CMD_PORT_GET, kDump, what);
    message.put(RDMA_NLDEV_ATTR_DEV_INDEX, **index);
    std::optional<std::string> found;
    const auto read = (*socket())->dump(
        message, [&] { found.reset(); },
        [&](const nlmsghdr& header) {
          if (auto netdev = detail::netdev_in(header, port)) found = std::move(netdev);
        });
    return read ? found : std::nullopt;
  }

  std::optional<std::map<std::string, std::string>> registered() {
    const auto netlink = socket();
    if (!netlink) return std::nullopt;
    std::map<std::string, std::string> found;
    const auto read = (*netlink)->dump(
        request(RDMA_NLDEV_CMD_GET, kDump, "ask for the RDMA devices"), [&] { found.clear(); },
        [&](const nlmsghdr& header) {
          const auto attributes = attributes_of(header);
          found.emplace(attributes.text(RDMA_NLDEV_ATTR_DEV_NAME),
                        attributes.text(RDMA_NLDEV_ATTR_DEV_PROTOCOL));
        });
    return read ? std::optional(std::move(found)) : std::nullopt;
  }

 private:
  Result<NetlinkSocket*> socket() {
    if (!socket_) {
      auto opened = NetlinkSocket::open(NETLINK_RDMA);
      if (!opened) return fail(opened.error().in("RDMA netlink"));
      socket_ = std::make_unique<NetlinkSocket>(std::move(*opened));
    }
    return socket_.get();
  }

  Result<void> execute(const Message& message) {
    const auto netlink = socket();
    if (!netlink) return fail(netlink.error());
    return (*netlink)->execute({&message, 1});
  }

  Result<std::map<std::string, std::uint32_t>> indices(const std::string& what) {
    const auto netlink = socket();
    if (!netlink) return fail(netlink.error());
    std::map<std::string, std::uint32_t> found;
    const auto read = (*netlink)->dump(
        request(RDMA_NLDEV_CMD_GET, kDump, what), [&] { found.clear(); },
        [&](const nlmsghdr& header) {
          const auto attributes = attributes_of(header);
          const auto index = attributes.number<std::uint32_t>(RDMA_NLDEV_ATTR_DEV_INDEX);
          if (index) found.emplace(attributes.text(RDMA_NLDEV_ATTR_DEV_NAME), *index);
        });
    if (!read) return fail(read.error());
    return found;
  }

  Result<std::optional<std::uint32_t>> index_of(const std::string& device, const std::string& what) {
    const auto found = indices(what);
    if (!found) return fail(found.error());
    const auto at = found->find(device);
    return at == found->end() ? std::nullopt : std::optional(at->second);
  }

  std::unique_ptr<NetlinkSocket> socket_;
};

}  // namespace

std::optional<std::string> detail::netdev_in(const nlmsghdr& header, int port) {
  const auto attributes = attributes_of(header);
  const auto number = attributes.number<std::uint32_t>(RDMA_NLDEV_ATTR_PORT_INDEX);
  if (!number || port < 0 || *number != static_cast<std::uint32_t>(port)) return std::nullopt;
  auto name = attributes.text(RDMA_NLDEV_ATTR_NDEV_NAME);
  return name.empty() ? std::nullopt : std::optional(std::move(name));
}

std::string detail::protocol_of(const std::string& device) {
  const auto found = RdmaNetlink().registered();
  const auto at = found ? found->find(device) : decltype(found->end()){};
  return found && at != found->end() ? at->second : std::string();
}

std::optional<std::string> netlink_netdev_of(const std::string& device, int port) {
  return RdmaNetlink().netdev_of(device, port);
}

std::optional<std::map<std::string, std::string>> netlink_registered() { return RdmaNetlink().registered(); }

std::unique_ptr<RdmaAdmin> make_linux_rdma_admin() { return std::make_unique<RdmaNetlink>(); }

}  // namespace rdmacfg::system
