// SPDX-License-Identifier: Apache-2.0
#include "system/managers/resolver.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>

#include "system/linux/dbus/system_bus.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::fail;
using base::fail_errno;
using base::Result;
using detail::BusMessage;

constexpr const char* kResolved = "org.freedesktop.resolve1";
constexpr const char* kResolvedPath = "/org/freedesktop/resolve1";
constexpr const char* kResolvedManager = "org.freedesktop.resolve1.Manager";
constexpr const char* kLink = "org.freedesktop.resolve1.Link";
constexpr const char* kNoSuchLink = "org.freedesktop.resolve1.NoSuchLink";
constexpr const char* kProperties = "org.freedesktop.DBus.Properties";

int read_servers(sd_bus_message* reply, model::IpAddresses& out) {
  if (const int status = sd_bus_message_enter_container(reply, 'v', "a(iay)"); status < 0) return status;
  if (const int status = sd_bus_message_enter_container(reply, 'a', "(iay)"); status < 0) return status;
  int status = 0;
  while ((status = sd_bus_message_enter_container(reply, 'r', "iay")) > 0) {
    int family = 0;
    const void* bytes = nullptr;
    std::size_t size = 0;
    if (status = sd_bus_message_read(reply, "i", &family); status < 0) return status;
    if (status = sd_bus_message_read_array(reply, 'y', &bytes, &size); status < 0) return status;
    model::IpAddress address{family == AF_INET6 ? model::Family::kIpv6 : model::Family::kIpv4, {}};
    if (size == address.size()) {
      std::memcpy(address.bytes.data(), bytes, size);
      out.push_back(address);
    }
    if (status = sd_bus_message_exit_container(reply); status < 0) return status;
  }
  return status;
}

int read_domains(sd_bus_message* reply, std::vector<std::string>& out) {
  if (const int status = sd_bus_message_enter_container(reply, 'v', "a(sb)"); status < 0) return status;
  if (const int status = sd_bus_message_enter_container(reply, 'a', "(sb)"); status < 0) return status;
  const char* name = nullptr;
  int routes_only = 0, status = 0;
  while ((status = sd_bus_message_read(reply, "(sb)", &name, &routes_only)) > 0)
    out.push_back((routes_only != 0 ? "~" : "") + std::string(name));
  return status;
}

class ResolvedResolver final : public Resolver {
 public:
  explicit ResolvedResolver(const BusLimits& limits) : bus_(limits) {}

  Result<std::optional<LinkDns>> observe_dns(int index) override {
    const auto what = fmt::format("querying systemd-resolved about interface {}", index);
    const auto there = bus_.has_owner(kResolved, "systemd-resolved.service");
    if (!there) return fail(there.error());
    if (!*there) return std::optional<LinkDns>{};
    std::string refusal;
    const auto found =
        bus_.call({kResolved, kResolvedPath, kResolvedManager, "GetLink"}, what, &refusal, "i", index);
    if (!found && refusal == kNoSuchLink) return std::optional(LinkDns{});  // it has not heard of it yet
    if (!found) return fail(found.error());
    const char* path = nullptr;
    if (const int status = sd_bus_message_read(found->get(), "o", &path); status < 0)
      return fail_errno(-status, what);
    LinkDns out;
    const detail::BusCall get{kResolved, path, kProperties, "Get"};
    const auto servers = bus_.call(get, what, nullptr, "ss", kLink, "DNS");
    if (!servers) return fail(servers.error());
    if (const int status = read_servers(servers->get(), out.servers); status < 0)
      return fail_errno(-status, what);
    const auto domains = bus_.call(get, what, nullptr, "ss", kLink, "Domains");
    if (!domains) return fail(domains.error());
    if (const int status = read_domains(domains->get(), out.search); status < 0)
      return fail_errno(-status, what);
    return std::optional(std::move(out));
  }

  Result<void> set_dns(int index, const LinkDns& dns) override {
    const auto what = fmt::format("passing the name servers of interface {} to systemd-resolved", index);
    if (dns.servers.empty() && dns.search.empty()) {
      return bus_.call({kResolved, kResolvedPath, kResolvedManager, "RevertLink"}, what, nullptr, "i", index)
          .map([](const BusMessage&) {});
    }
    if (auto done = set_servers(index, dns.servers, what); !done) return done;
    return set_domains(index, dns.search, what);
  }

 private:
  Result<void> set_servers(int index, const model::IpAddresses& servers, const std::string& what) {
    auto call = bus_.begin({kResolved, kResolvedPath, kResolvedManager, "SetLinkDNS"}, what);
    if (!call) return fail(call.error());
    auto* message = call->get();
    int status = sd_bus_message_append(message, "i", index);
    if (status >= 0) status = sd_bus_message_open_container(message, 'a', "(iay)");
    for (const auto& server : servers) {
      if (status >= 0) status = sd_bus_message_open_container(message, 'r', "iay");
      const int family = server.family == model::Family::kIpv6 ? AF_INET6 : AF_INET;
      if (status >= 0) status = sd_bus_message_append(message, "i", family);
      if (status >= 0) status = sd_bus_message_append_array(message, 'y', server.bytes.data(), server.size());
      if (status >= 0) status = sd_bus_message_close_container(message);
    }
    if (status >= 0) status = sd_bus_message_close_container(message);
    if (status < 0) return fail_errno(-status, what);
    return bus_.send(message, what, nullptr).map([](const BusMessage&) {});
  }

  Result<void> set_domains(int index, const std::vector<std::string>& domains, const std::string& what) {
    auto call = bus_.begin({kResolved, kResolvedPath, kResolvedManager, "SetLinkDomains"}, what);
    if (!call) return fail(call.error());
    auto* message = call->get();
    int status = sd_bus_message_append(message, "i", index);
    if (status >= 0) status = sd_bus_message_open_container(message, 'a', "(sb)");
    for (const auto& domain : domains) {
      const bool routes_only = domain.starts_with('~');
      const auto name = routes_only ? domain.substr(1) : domain;
      if (status >= 0) status = sd_bus_message_append(message, "(sb)", name.c_str(), routes_only ? 1 : 0);
    }
    if (status >= 0) status = sd_bus_message_close_container(message);
    if (status < 0) return fail_errno(-status, what);
    return bus_.send(message, what, nullptr).map([](const BusMessage&) {});
  }

  detail::SystemBus bus_;
};

}  // namespace

std::unique_ptr<Resolver> make_linux_resolver(const BusLimits& limits) {
  return std::make_unique<ResolvedResolver>(limits);
}

}  // namespace rdmacfg::system
