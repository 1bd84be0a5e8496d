// SPDX-License-Identifier: Apache-2.0
// IEEE dcbnl over rtnetlink. Sources: linux/dcbnl.h, net/dcb/dcbnl.c.
#include <fmt/format.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "system/linux/linux_host.hpp"
#include "system/linux/netlink/dcb_answer.hpp"
#include "system/linux/netlink/dcb_message.hpp"
#include "system/linux/netlink/netlink_socket.hpp"

namespace rdmacfg::system {

namespace {

using base::fail;
using base::fail_errno;
using base::Result;
using detail::Attributes;
using detail::dcb_errno;
using detail::Message;
using detail::NetlinkSocket;
using detail::Parsed;

constexpr std::uint16_t kRequest = NLM_F_REQUEST | NLM_F_ACK;

template <class T>
std::optional<T> structure(const Attributes& attributes, int type) {
  const auto bytes = attributes.find(type);
  if (!bytes || bytes->size() < sizeof(T)) return std::nullopt;
  T out;
  std::memcpy(&out, bytes->data(), sizeof out);
  return out;
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

Message request_of(std::uint16_t type, std::uint8_t command, const std::string& interface, std::string what) {
  dcbmsg header{};
  header.dcb_family = AF_UNSPEC;
  header.cmd = command;
  Message message(type, kRequest, header, std::move(what));
  message.put(DCB_ATTR_IFNAME, interface);
  return message;
}

DcbState state_of(const Attributes& reply) {
  DcbState out;
  out.dcbx = reply.number<std::uint8_t>(DCB_ATTR_DCBX);
  const auto ieee = reply.nested(DCB_ATTR_IEEE);
  if (const auto pfc = structure<ieee_pfc>(ieee, DCB_ATTR_IEEE_PFC)) {
    out.pfc = pfc->pfc_en;
    out.pfc_capability = pfc->pfc_cap;
  }
  if (const auto ets = structure<ieee_ets>(ieee, DCB_ATTR_IEEE_ETS)) {
    Ets found;
    found.willing = ets->willing != 0;
    for (std::size_t i = 0; i < found.tsa.size(); ++i) {
      found.traffic_class[i] = ets->prio_tc[i];
      found.tsa[i] = static_cast<Tsa>(ets->tc_tsa[i]);
      found.bandwidth[i] = ets->tc_tx_bw[i];
    }
    out.ets = found;
    out.classes = ets->ets_cap;
  }
  auto table = ieee.nested(DCB_ATTR_IEEE_APP_TABLE);
  while (const auto item = table.next()) {
    dcb_app app{};
    if (item->type != DCB_ATTR_IEEE_APP || item->bytes.size() < sizeof app) continue;
    std::memcpy(&app, item->bytes.data(), sizeof app);
    out.apps.push_back({app.selector, app.protocol, app.priority});
  }
  std::sort(out.apps.begin(), out.apps.end());
  // An empty table is one that trusts nothing; a kernel or driver without the order of trust sends none.
  if (const auto bytes = ieee.find(detail::kDcbAttrTrustTable)) {
    out.trust.emplace();
    Attributes order(*bytes);
    while (const auto item = order.next()) {
      const auto selector = item->number<std::uint8_t>();
      if (selector && item->type != 0 && item->type == detail::dcb_app_attribute(*selector))
        out.trust->push_back(*selector);
    }
  }
  return out;
}

class LinuxDcb final : public Dcb {
 public:
  Result<std::optional<DcbState>> observe_dcb(const std::string& interface) override {
    const auto what = fmt::format("{}: read DCB", interface);
    auto reply = ask(request_of(RTM_GETDCB, DCB_CMD_IEEE_GET, interface, what), state_of);
    if (reply) {
      reply->driver = driver_of(interface);
      return std::optional(std::move(*reply));
    }
    // No dcbnl operations at all (EOPNOTSUPP), gone (ENODEV), or not permitted.
    switch (reply.error().sys_errno) {
      case EOPNOTSUPP:
      case ENODEV:
      case EPERM:
      case EINVAL:
        return std::optional<DcbState>();
      default:
        return fail(reply.error());
    }
  }

  Result<void> set_pfc(const std::string& interface, std::uint8_t priorities) override {
    auto now = read_structure<ieee_pfc>(interface, DCB_ATTR_IEEE_PFC);
    if (!now) return fail(now.error());
    now->pfc_en = priorities;
    const auto before = carrier_changes(interface);
    auto done = set(DCB_CMD_IEEE_SET, interface,
                    fmt::format("{}: set PFC to priorities {:#04x}", interface, priorities),
                    [&](Message& m) { m.put(DCB_ATTR_IEEE_PFC, bytes_of(*now)); });
    if (done) await_carrier_change(interface, before);
    return done;
  }

  Result<void> set_ets(const std::string& interface, const Ets& ets) override {
    auto now = read_structure<ieee_ets>(interface, DCB_ATTR_IEEE_ETS);
    if (!now) return fail(now.error());
    now->willing = ets.willing ? 1 : 0;
    for (std::size_t i = 0; i < ets.tsa.size(); ++i) {
      now->prio_tc[i] = ets.traffic_class[i];
      now->tc_tsa[i] = static_cast<std::uint8_t>(ets.tsa[i]);
      now->tc_tx_bw[i] = now->tc_rx_bw[i] = ets.bandwidth[i];
    }
    return set(DCB_CMD_IEEE_SET, interface, fmt::format("{}: set ETS", interface),
               [&](Message& m) { m.put(DCB_ATTR_IEEE_ETS, bytes_of(*now)); });
  }

  Result<void> add_app(const std::string& interface, const DcbApp& app) override {
    return change_app(DCB_CMD_IEEE_SET, interface, "add", app);
  }
  Result<void> delete_app(const std::string& interface, const DcbApp& app) override {
    return change_app(DCB_CMD_IEEE_DEL, interface, "delete", app);
  }

  Result<void> set_dcbx(const std::string& interface, std::uint8_t mode) override {
    const auto what = fmt::format("{}: set the DCBX mode {:#04x}", interface, mode);
    auto message = request_of(RTM_SETDCB, DCB_CMD_SDCBX, interface, what);
    message.put(DCB_ATTR_DCBX, mode);
    const auto refused = ask(message, [](const Attributes& reply) {
      return reply.number<std::uint8_t>(DCB_ATTR_DCBX).value_or(0);
    });
    if (!refused) return fail(refused.error());
    if (*refused != 0) return fail(base::Code::kUnsupported, what + ": the driver rejects it");
    return {};
  }

  Result<void> set_trust(const std::string& interface, const std::vector<std::uint8_t>& selectors) override {
    return carry_out(detail::trust_request(interface, selectors));
  }

 private:
  /// One request with its one answer.
  template <class Read>
  auto ask(const Message& message, Read read) -> Result<decltype(read(std::declval<const Attributes&>()))> {
    if (!socket_) {
      auto opened = NetlinkSocket::open();
      if (!opened) return fail(opened.error());
      socket_.emplace(std::move(*opened));
    }
    std::optional<decltype(read(std::declval<const Attributes&>()))> out;
    const auto done = socket_->dump(
        message, [&] { out.reset(); },
        [&](const nlmsghdr& header) {
          if (const auto parsed = Parsed<dcbmsg>::of(header)) out = read(parsed->attributes);
        });
    if (!done) return fail(done.error());
    if (!out) return fail_errno(EOPNOTSUPP, message.what());
    return std::move(*out);
  }

  template <class T>
  Result<T> read_structure(const std::string& interface, int type) {
    const auto what = fmt::format("{}: read DCB", interface);
    auto reply = ask(request_of(RTM_GETDCB, DCB_CMD_IEEE_GET, interface, what),
                     [&](const Attributes& all) { return structure<T>(all.nested(DCB_ATTR_IEEE), type); });
    if (!reply) return fail(reply.error());
    if (!*reply) return fail_errno(EOPNOTSUPP, what);
    return **reply;
  }

  template <class Put>
  Result<void> set(std::uint8_t command, const std::string& interface, std::string what, Put put) {
    auto message = request_of(RTM_SETDCB, command, interface, std::move(what));
    message.nest(DCB_ATTR_IEEE, [&] { put(message); });
    return carry_out(message);
  }

  Result<void> carry_out(const Message& message) {
    // The kernel acknowledges the message in any case; the driver's word is in the answer, as a byte.
    const auto word = ask(message, [](const Attributes& reply) {
      return reply.number<std::uint8_t>(DCB_ATTR_IEEE).value_or(0);
    });
    if (!word) return fail(word.error());
    if (const int error = dcb_errno(*word); error != 0) return fail_errno(error, message.what());
    return {};
  }

  /// "ice"; of a sub-function "mlx5_core.sf".
  static std::string driver_of(const std::string& interface) {
    std::error_code failed;
    const auto link =
        std::filesystem::read_symlink(fmt::format("/sys/class/net/{}/device/driver", interface), failed);
    return failed ? std::string() : link.filename().string();
  }

  static std::optional<std::uint64_t> carrier_changes(const std::string& interface) {
    std::ifstream file(fmt::format("/sys/class/net/{}/carrier_changes", interface));
    std::uint64_t count = 0;
    return file >> count ? std::optional(count) : std::nullopt;
  }

  /// The driver only asks the firmware to retrain (mlx5_toggle_port_link()); the event comes a moment later.
  static void await_carrier_change(const std::string& interface, std::optional<std::uint64_t> before) {
    using std::chrono::milliseconds;
    constexpr milliseconds kPause{20}, kLongest{500};
    for (auto waited = milliseconds{0}; before && waited < kLongest; waited += kPause) {
      const auto now = carrier_changes(interface);
      if (!now || *now != *before) return;
      std::this_thread::sleep_for(kPause);
    }
  }

  Result<void> change_app(std::uint8_t command, const std::string& interface, std::string_view verb,
                          const DcbApp& app) {
    dcb_app raw{};
    raw.selector = app.selector;
    raw.protocol = app.protocol;
    raw.priority = app.priority;
    const auto what =
        app.selector == kDcbSelectorDscp
            ? fmt::format("{}: {} DSCP {} to priority {}", interface, verb, app.protocol, app.priority)
            : fmt::format("{}: {} an APP entry", interface, verb);
    return set(command, interface, what, [&](Message& m) {
      m.nest(DCB_ATTR_IEEE_APP_TABLE, [&] { m.put(DCB_ATTR_IEEE_APP, bytes_of(raw)); });
    });
  }

  std::optional<NetlinkSocket> socket_;
};

}  // namespace

std::optional<DcbState> detail::parse_dcb(const nlmsghdr& header) {
  const auto parsed = Parsed<dcbmsg>::of(header);
  return parsed ? std::optional(state_of(parsed->attributes)) : std::nullopt;
}

int detail::dcb_app_attribute(std::uint8_t selector) {
  if (selector == kDcbSelectorPcp) return kDcbAttrDcbApp;
  return selector >= IEEE_8021QAZ_APP_SEL_ETHERTYPE && selector <= kDcbSelectorDscp ? kDcbAttrIeeeApp : 0;
}

Message detail::trust_request(const std::string& interface, std::span<const std::uint8_t> selectors) {
  std::string order;
  for (const auto selector : selectors) order += fmt::format(" {}", selector);
  auto message = request_of(
      RTM_SETDCB, DCB_CMD_IEEE_SET, interface,
      fmt::format("{}: set the order of trust to selectors{}", interface, order.empty() ? " (none)" : order));
  message.nest(DCB_ATTR_IEEE, [&] {
    if (selectors.empty()) {
      // nla_nest_end() would take an empty table out again.
      message.put(kDcbAttrTrustTable | NLA_F_NESTED, std::span<const std::byte>{});
      return;
    }
    message.nest(kDcbAttrTrustTable, [&] {
      for (const auto selector : selectors) message.put(dcb_app_attribute(selector), selector);
    });
  });
  return message;
}

std::unique_ptr<Dcb> make_linux_dcb() { return std::make_unique<LinuxDcb>(); }

}  // namespace rdmacfg::system
