// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/ifcfg_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "foreign/inet.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

using model::Family;

namespace {

/// "ib1" of "198.51.100.0/24 via 192.0.2.9 dev ib1"; empty without it.
std::string_view device_of(std::string_view line) {
  const auto words = words_of(line);
  const auto at = std::find(words.begin(), words.end(), "dev");
  return at == words.end() || at + 1 == words.end() ? std::string_view() : *(at + 1);
}

}  // namespace

void parse_route_file(const File& file, Family family, Interface& owner,
                      const std::function<Interface*(const std::string& name)>& find, Claims& claims) {
  std::set<std::uint64_t> numbers;
  for (const auto line : base::split(file.text, '\n')) {
    const auto text = base::trim(line);
    if (!text.starts_with("ADDRESS")) continue;
    if (const auto number = base::parse_number(text.substr(7, text.find('=') - 7))) numbers.insert(*number);
  }
  if (numbers.empty()) {
    int number = 0;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      const auto line = base::trim(raw.substr(0, raw.find('#')));
      if (line.empty()) continue;
      const auto device = device_of(line);
      auto* interface = device.empty() || device == owner.name ? &owner : find(std::string(device));
      if (interface == nullptr) {
        claims.pass({file.path, number}, fmt::format("is for {}, not for {}", device, owner.name));
        continue;
      }
      const auto why = add_route_words(interface->inet(family), family, line);
      if (why.empty()) {
        claims.took({file.path, number});
      } else {
        claims.miss({file.path, number}, why);
      }
    }
    return;
  }
  Keys keys(file.path, parse_assignments(file), claims);
  for (const auto number : numbers) {
    const auto address = keys.take(fmt::format("ADDRESS{}", number));
    const auto mask = keys.text(fmt::format("NETMASK{}", number));
    const auto gateway = keys.text(fmt::format("GATEWAY{}", number));
    const auto metric = keys.text(fmt::format("METRIC{}", number));
    const auto options = keys.text(fmt::format("OPTIONS{}", number));  // in the words of ip-route(8)
    if (!address) continue;
    const auto length = mask ? prefix_of_netmask(*mask) : std::optional(32);
    auto words = fmt::format("{}/{}", address->value, length.value_or(0));
    if (gateway) words += " via " + *gateway;
    if (metric) words += " metric " + *metric;
    if (options) words += " " + *options;
    const auto why = length ? add_route_words(owner.inet(family), family, words) : "the netmask is not valid";
    if (!why.empty()) keys.wrong(*address, why);
  }
  keys.finish();
}

namespace {

/// A default route of the host as /etc/sysconfig/network has it.
struct HostGateway {
  const char* key;
  const char* device_key;
};

std::string name_of_interface(const Interface& interface) {
  return interface.name.empty() ? interface.where.text() : interface.name;
}

/// Names a default gateway of the host that an IPoIB interface reaches.
void name_gateway(const Keys& keys, const HostGateway& route, std::span<const Interface> interfaces,
                  Claims& claims) {
  auto text = keys.peek(route.key);
  auto device = keys.peek(route.device_key);
  if (const auto percent = text.find('%'); percent != std::string::npos) {  // "fe80::1%ib0"
    if (device.empty()) device = text.substr(percent + 1);
    text.resize(percent);
  }
  const auto gateway = model::IpAddress::parse(text);
  if (!gateway) return;
  const auto at = std::find_if(interfaces.begin(), interfaces.end(), [&](const Interface& interface) {
    if (!device.empty()) return interface.name == device;
    const auto& addresses = interface.inet(gateway->family).addresses;
    return std::any_of(addresses.begin(), addresses.end(),
                       [&](const model::IpPrefix& prefix) { return prefix.contains(*gateway); });
  });
  if (at == interfaces.end() || at->inet(gateway->family).gateway) return;
  claims.miss(keys.where(route.key),
              fmt::format("{}: the default route of the host is over {}; write gateway = \"{}\" for it",
                          route.key, name_of_interface(*at), gateway->text()));
}

}  // namespace

void take_host_settings(const File& file, std::span<Interface> interfaces, Claims& claims) {
  Claims aside;  // remarks about the host name and the like are dropped
  const Keys keys(file.path, parse_assignments(file), aside);
  name_gateway(keys, {"GATEWAY", "GATEWAYDEV"}, interfaces, claims);
  name_gateway(keys, {"IPV6_DEFAULTGW", "IPV6_DEFAULTDEV"}, interfaces, claims);
  const auto device = keys.peek("GATEWAYDEV");
  const bool manual = yes_or_no(keys.peek("IPV6_AUTOCONF")) == false;
  for (auto& interface : interfaces) {
    const bool other = !device.empty() && !interface.name.empty() && interface.name != device;
    if (other && interface.ipv4.gateway) {
      interface.ipv4.gateway.reset();
      claims.pass(interface.place_of("ipv4.gateway"),
                  fmt::format("GATEWAY: not used, since {} has GATEWAYDEV={}", file.path, device));
    }
    if (manual && interface.ipv6.method == model::InetMethod::kAuto && !interface.at.contains("autoconf"))
      claims.miss(keys.where("IPV6_AUTOCONF"),
                  fmt::format("IPV6_AUTOCONF: the network service accepts no addresses from routers for {}, "
                              "NetworkManager does; to refuse them, remove method from its [ipoib.ipv6]",
                              name_of_interface(interface)));
  }
}

}  // namespace rdmacfg::foreign
