// SPDX-License-Identifier: Apache-2.0
#include "system/managers/networkd.hpp"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <thread>

#include "system/linux/dbus/system_bus.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::fail;
using base::fail_errno;
using base::Result;
using detail::BusMessage;

constexpr const char* kNetworkd = "org.freedesktop.network1";
constexpr const char* kNetworkdPath = "/org/freedesktop/network1";
constexpr const char* kNetworkdManager = "org.freedesktop.network1.Manager";
constexpr std::string_view kUnknownLink = ".NoSuchLink";  // of resolve1, in systemd 252

/// A text of the outermost object of a description, which systemd writes without blanks. Inner objects have
/// no keys of that name, and neither value has anything to unescape in it.
std::string text_of(std::string_view json, std::string_view key) {
  const auto start = fmt::format("\"{}\":\"", key);
  const auto at = json.find(start);
  if (at == std::string_view::npos) return {};
  const auto value = json.substr(at + start.size());
  return std::string(value.substr(0, value.find('"')));
}

class DbusNetworkd final : public Networkd {
 public:
  explicit DbusNetworkd(const BusLimits& limits) : bus_(limits) {}

  Result<std::optional<std::vector<NetworkdLink>>> observe(std::span<const int> indexes) override {
    const auto there = bus_.has_owner(kNetworkd, "systemd-networkd.service");
    if (!there) return fail(there.error());
    if (!*there) return std::optional<std::vector<NetworkdLink>>{};
    std::vector<NetworkdLink> out;
    for (const int index : indexes) {
      const auto what = fmt::format("querying systemd-networkd about interface {}", index);
      std::string refusal;
      const auto reply =
          bus_.call({kNetworkd, kNetworkdPath, kNetworkdManager, "DescribeLink"}, what, &refusal, "i", index);
      if (!reply && refusal.ends_with(kUnknownLink)) continue;
      if (!reply) return fail(reply.error());
      const char* json = nullptr;
      if (const int status = sd_bus_message_read(reply->get(), "s", &json); status < 0)
        return fail_errno(-status, what);
      out.push_back({index, text_of(json, "AdministrativeState"), text_of(json, "NetworkFile")});
    }
    return std::optional(std::move(out));
  }

  Result<void> reload() override {
    return bus_
        .call({kNetworkd, kNetworkdPath, kNetworkdManager, "Reload"},
              "asking systemd-networkd to reload its files", nullptr, nullptr)
        .map([](const BusMessage&) {});
  }

  Result<void> reconfigure(int index) override {
    const auto what = fmt::format("asking systemd-networkd to reconfigure interface {}", index);
    return bus_
        .call({kNetworkd, kNetworkdPath, kNetworkdManager, "ReconfigureLink"}, what, nullptr, "i", index)
        .map([](const BusMessage&) {});
  }

  bool pause(std::chrono::milliseconds duration) override {
    std::this_thread::sleep_for(duration);
    return true;
  }

 private:
  detail::SystemBus bus_;
};

}  // namespace

std::unique_ptr<Networkd> make_linux_networkd(const BusLimits& limits) {
  return std::make_unique<DbusNetworkd>(limits);
}

}  // namespace rdmacfg::system
