// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/request_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "kinds/address/route.hpp"

namespace rdmacfg::kinds {

using model::Diagnostics;
using model::Family;
using model::InetMethod;
using model::IpAddress;
using model::IpPrefix;
using model::Location;
using model::Severity;

namespace {

/// Metric of the kernel's own route to the network of an address: IP6_RT_PRIO_ADDRCONF, 0 in IPv4.
constexpr std::uint32_t kConnectedMetricOfIpv6 = 256;

/// The metric of a route that is written without one.
enum class UsualMetric {
  kOurs,  ///< kRouteMetric, or it may be
  kOfNetworkManager,
};

/// The rules of one family of one interface.
class FamilyRules {
 public:
  FamilyRules(const WantedFamily& family, const model::Section& parent, UsualMetric metric,
              Diagnostics& diagnostics)
      : family_(family),
        own_metric_(metric == UsualMetric::kOurs),
        parent_(parent),
        label_(fmt::format("[{}.{}]", parent.path, key())),
        diagnostics_(diagnostics) {}

  void check() {
    check_method();
    for (std::size_t i = 0; i < family_.addresses.size(); ++i)
      check_address(family_.addresses[i], family_.place_of("addresses", i));
    check_lengths();
    check_mtu();
    check_gateway();
    check_routes();
    for (std::size_t i = 0; i < family_.dns.size(); ++i) {
      const auto& server = family_.dns[i];
      const auto where = family_.place_of("dns", i);
      if (right_family_at(server, "dns", where) && (server.unspecified() || server.multicast()))
        wrong_at(where, "dns", fmt::format("{} cannot be the address of a server", server.text()), "");
    }
  }

 private:
  [[nodiscard]] std::string_view key() const { return family_.family == Family::kIpv4 ? "ipv4" : "ipv6"; }

  void check_method() {
    const bool written = family_.section->find("method") != nullptr;
    const auto* addresses = family_.section->find("addresses");
    const auto method = model::text_of(family_.method);
    if (!written && addresses == nullptr) {
      error(family_.section->where, fmt::format("{}: neither method nor addresses is given", label_),
            "write addresses = [\"…\"], or method = \"auto\", \"link-local\" or \"disabled\"");
      return;
    }
    if (family_.method == InetMethod::kManual && family_.addresses.empty()) {
      wrong(written ? "method" : "addresses", "\"manual\" needs addresses",
            "write addresses = [\"…\"], or another method");
      return;
    }
    if (family_.method != InetMethod::kDisabled && family_.method != InetMethod::kLinkLocal) return;
    for (const auto* other : {"addresses", "gateway", "dns", "search"}) {
      if (family_.section->find(other) == nullptr) continue;
      contradiction(other, family_.section->find(other)->where, method);
    }
    if (!family_.section->children.empty())
      contradiction("routes", family_.section->children.front().where, method);
  }

  void contradiction(std::string_view key, const Location& where, std::string_view method) {
    auto& d = error(where, fmt::format("{} {}: contradicts method = \"{}\"", label_, key, method),
                    "leave it out, or use method = \"manual\"");
    d.related.push_back({family_.place("method"), "set here"});
  }

  void check_address(const IpPrefix& prefix, const Location& where) {
    const auto& address = prefix.address;
    const bool automatic = address.family == Family::kIpv6 && address.link_local();
    if (!automatic && !right_family_at(address, "addresses", where)) return;
    // RFC 1122, 3.2.1.3: the limited broadcast address is never a source.
    const bool limited_broadcast = address.family == Family::kIpv4 && broadcast({address, 0}) == address;
    if (address.unspecified() || address.loopback() || address.multicast() || limited_broadcast) {
      wrong_at(where, "addresses",
               fmt::format("{} is {} and cannot be an interface's", address.text(),
                           address.multicast()  ? "a multicast address"
                           : address.loopback() ? "the loopback address"
                           : limited_broadcast  ? "the broadcast address"
                                                : "the unspecified address"),
               "");
      return;
    }
    if (const auto ipv4 = mapped_ipv4(address)) {
      wrong_at(where, "addresses",
               fmt::format("{} is an IPv4-mapped address, and Linux drops packets to it", address.text()),
               fmt::format("write {} in addresses of ipv4", ipv4->text()));
      return;
    }
    if (automatic) {
      wrong_at(where, "addresses", fmt::format("{} is a link-local address", address.text()),
               "every IPv6 interface gets one automatically; leave it out");
      return;
    }
    if (prefix.length == 0) {
      wrong_at(where, "addresses",
               fmt::format("{}: a prefix of 0 bits would be the whole Internet", prefix.text()),
               fmt::format("write {}/{}", address.text(), address.family == Family::kIpv4 ? 24 : 64));
      return;
    }
    // With 31 and 32 bits there is neither a network nor a broadcast address (RFC 3021).
    if (address.family != Family::kIpv4 || prefix.length > 30) return;
    if (prefix.network() == prefix) {
      wrong_at(where, "addresses", fmt::format("{} is the network itself, not a host of it", prefix.text()),
               "write the address of the interface, with the network's prefix length");
    } else if (broadcast(prefix) == address) {
      wrong_at(where, "addresses", fmt::format("{} is the broadcast address of its network", prefix.text()),
               "");
    }
  }

  /// An interface has an IPv6 address once, with one length (inet6_addr_hash); of IPv4 each length is
  /// another.
  void check_lengths() {
    if (family_.family != Family::kIpv6) return;
    std::map<IpAddress, IpPrefix> seen;
    for (std::size_t i = 0; i < family_.addresses.size(); ++i) {
      const auto& prefix = family_.addresses[i];
      const auto& first = seen.try_emplace(prefix.address, prefix).first->second;
      if (first.length == prefix.length) continue;
      wrong_at(family_.place_of("addresses", i), "addresses",
               fmt::format("{} is listed already, as {}", prefix.text(), first.text()),
               "an IPv6 address can have only one prefix length on an interface: remove one of the two");
    }
  }

  /// The route to the network of an address, which the kernel makes by itself with this metric.
  [[nodiscard]] const IpPrefix* made_by_kernel(const WantedRoute& route) const {
    const bool six = family_.family == Family::kIpv6;
    if (!own_metric_ || route.to.any || route.table != 254 ||
        route.metric != (six ? kConnectedMetricOfIpv6 : 0U))
      return nullptr;
    const auto at =
        std::find_if(family_.addresses.begin(), family_.addresses.end(), [&](const IpPrefix& address) {
          return address.network() == route.to.network && address.length < address.address.bits();
        });
    return at == family_.addresses.end() ? nullptr : &*at;
  }

  /// The IPv4 address in ::ffff:192.0.2.1. Linux receives no IPv6 packets with such addresses
  /// (net/ipv6/ip6_input.c, ip6_rcv_core(), since 5.2).
  static std::optional<IpAddress> mapped_ipv4(const IpAddress& address) {
    constexpr std::size_t kZeros = 10, kPrefix = 12;
    const auto& bytes = address.bytes;
    const bool zeros =
        std::all_of(bytes.begin(), bytes.begin() + kZeros, [](auto byte) { return byte == 0; });
    if (address.family != Family::kIpv6 || !zeros || bytes[kZeros] != 0xff || bytes[kZeros + 1] != 0xff)
      return std::nullopt;
    IpAddress out;
    out.family = Family::kIpv4;
    std::copy(bytes.begin() + kPrefix, bytes.end(), out.bytes.begin());
    return out;
  }

  static IpAddress broadcast(const IpPrefix& prefix) {
    auto out = prefix.network().address;
    for (int bit = prefix.length; bit < out.bits(); ++bit) {
      out.bytes.at(static_cast<std::size_t>(bit / 8)) |=
          static_cast<std::uint8_t>(0x80U >> static_cast<unsigned>(bit % 8));
    }
    return out;
  }

  [[nodiscard]] bool own(const IpAddress& address) const {
    return std::any_of(family_.addresses.begin(), family_.addresses.end(),
                       [&](const IpPrefix& prefix) { return prefix.address == address; });
  }

  /// Below that the kernel ends IPv6 on the interface (RFC 8200, 5).
  void check_mtu() {
    const auto* mtu = parent_.find("mtu");
    const auto* bytes = mtu == nullptr ? nullptr : std::get_if<std::int64_t>(&mtu->value);
    if (bytes == nullptr || family_.family != Family::kIpv6 || family_.method == InetMethod::kDisabled ||
        *bytes >= model::kMtuIpv6Min)
      return;
    auto& d =
        error(family_.section->where, fmt::format("{}: IPv6 needs an MTU of {}", label_, model::kMtuIpv6Min),
              "raise the MTU, or leave ipv6 out");
    d.related.push_back({mtu->where, "the MTU"});
  }

  /// Whether a next hop can be asked for directly. With auto that is only known later.
  [[nodiscard]] bool reachable(const IpAddress& hop) const {
    if (hop.link_local() && hop.family == Family::kIpv6) return true;
    if (family_.method == InetMethod::kAuto) return true;
    const bool near = std::any_of(family_.addresses.begin(), family_.addresses.end(),
                                  [&](const IpPrefix& prefix) { return prefix.contains(hop); });
    return near || std::any_of(family_.routes.begin(), family_.routes.end(), [&](const WantedRoute& route) {
             return !route.via && !route.to.any && route.to.network.contains(hop);
           });
  }

  /// The network that the address stands for as a whole, which no host has; those of one or two addresses
  /// (RFC 3021) and IPv6 know no such.
  [[nodiscard]] const IpPrefix* named_after(const IpAddress& hop) const {
    const auto at =
        std::find_if(family_.addresses.begin(), family_.addresses.end(), [&](const IpPrefix& prefix) {
          return prefix.address.family == Family::kIpv4 && prefix.length < 31 &&
                 (prefix.network().address == hop || broadcast(prefix) == hop);
        });
    return at == family_.addresses.end() ? nullptr : &*at;
  }

  void check_hop(const IpAddress& hop, const Location& where, const std::string& what) {
    if (hop.unspecified() || hop.multicast() || hop.loopback()) {
      error(where, fmt::format("{}: {} cannot be a next hop", what, hop.text()), "");
    } else if (own(hop)) {
      error(where, fmt::format("{}: {} is an address of the interface itself", what, hop.text()),
            "write the address of the router");
    } else if (const auto* prefix = named_after(hop); prefix != nullptr) {
      error(where,
            fmt::format("{}: {} is the {} address of {}", what, hop.text(),
                        hop == prefix->network().address ? "network" : "broadcast", prefix->network().text()),
            "write the address of the router");
    } else if (!family_.addresses.empty() && !reachable(hop)) {  // without any, the method is wrong
      error(where, fmt::format("{}: {} is not in the network of any of the addresses", what, hop.text()),
            fmt::format("the networks are {}; check the address and the prefix lengths", networks()));
    }
  }

  [[nodiscard]] std::string networks() const {
    std::vector<std::string> out;
    for (const auto& prefix : family_.addresses) out.push_back(prefix.network().text());
    return fmt::format("{}", fmt::join(out, ", "));
  }

  void check_gateway() {
    if (!family_.gateway || !right_family(*family_.gateway, "gateway")) return;
    if (family_.addresses.empty()) {
      // Without them every other method is an error itself.
      if (family_.method == InetMethod::kAuto && family_.section->find("method") != nullptr)
        wrong("gateway", "requires addresses", "with method = \"auto\" the gateway comes from the network");
      return;
    }
    check_hop(*family_.gateway, family_.place("gateway"), fmt::format("{} gateway", label_));
  }

  void check_routes() {
    std::map<std::tuple<std::string, std::uint32_t, std::optional<std::uint32_t>>, Location> seen;
    if (family_.gateway)
      seen.emplace(std::tuple(std::string("default"), 254U, metric_of({})), family_.place("gateway"));
    for (const auto& child : family_.section->children) {
      if (child.find("to") == nullptr)
        error(child.where, fmt::format("{} routes: a route without to", label_),
              "write to = \"default\" or a network");
    }
    for (const auto& route : family_.routes) {
      if (!route.to.any && !right_family_at(route.to.network.address, "routes", route.where)) continue;
      if (route.via && !right_family_at(*route.via, "routes", route.where)) continue;
      if (route.via) check_hop(*route.via, route.where, fmt::format("{} routes", label_));
      if (!route.to.any && route.to.network.address.multicast())
        error(route.where, fmt::format("{} routes: {} is multicast", label_, route.to.text()), "");
      if (const auto* address = made_by_kernel(route)) {
        error(route.where,
              fmt::format("{} routes: the kernel adds the route to {} with metric {} automatically, for {}",
                          label_, route.to.text(), *route.metric, address->text()),
              "leave it out, or give it another metric");
        continue;
      }
      const auto [first, fresh] =
          seen.try_emplace({route.to.text(), route.table, metric_of(route.metric)}, route.where);
      if (fresh) continue;
      auto& d = error(
          route.where,
          fmt::format("{} routes: there is a route to {} with this metric{} already", label_, route.to.text(),
                      route.metric == kRouteMetric && own_metric_
                          ? fmt::format(" ({}, where none is written)", kRouteMetric)
                          : ""),
          "give one of them another metric or table");
      d.related.push_back({first->second, "the first one"});
    }
  }

  [[nodiscard]] std::optional<std::uint32_t> metric_of(std::optional<std::uint32_t> written) const {
    return own_metric_ ? written.value_or(kRouteMetric) : written;
  }

  bool right_family(const IpAddress& address, std::string_view in) {
    return right_family_at(address, in, family_.place(in));
  }

  bool right_family_at(const IpAddress& address, std::string_view in, const Location& where) {
    if (address.family == family_.family) return true;
    const bool four = address.family == Family::kIpv4;
    error(
        where,
        fmt::format("{} {}: {} is an {} address", label_, in, address.text(), model::text_of(address.family)),
        fmt::format("it belongs to {} = {{ … }}", four ? "ipv4" : "ipv6"));
    return false;
  }

  void wrong(std::string_view key, const std::string& message, std::string hint) {
    wrong_at(family_.place(key), key, message, std::move(hint));
  }

  void wrong_at(const Location& where, std::string_view key, const std::string& message, std::string hint) {
    error(where, fmt::format("{} {}: {}", label_, key, message), std::move(hint));
  }

  model::Diagnostic& error(const Location& where, std::string message, std::string hint) {
    return diagnostics_.emplace_back(
        model::Diagnostic{Severity::kError, where, std::move(message), std::move(hint), {}});
  }

  const WantedFamily& family_;
  bool own_metric_;  ///< a route without a metric gets kRouteMetric, or may get it
  const model::Section& parent_;
  std::string label_;
  Diagnostics& diagnostics_;
};

/// An address belongs to one interface.
class AddressBook {
 public:
  explicit AddressBook(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void claim(const IpAddress& address, const Addressing& interface, const Location& where) {
    const auto [first, fresh] = claims_.try_emplace(address, Claim{&interface, where});
    const auto& [holder, place] = first->second;
    if (fresh || holder->link == interface.link) return;
    model::Diagnostic d{
        Severity::kError,
        where,
        fmt::format("{}: {} is the address of {} too", interface.label, address.text(), holder->label),
        place == where ? "the entry selects several ports; write a separate entry for each"
                       : "an address belongs to one interface",
        {}};
    if (place != where) d.related.push_back({place, "first used here"});
    diagnostics_.push_back(std::move(d));
  }

 private:
  struct Claim {
    const Addressing* interface = nullptr;
    Location where;
  };
  Diagnostics& diagnostics_;
  std::map<IpAddress, Claim> claims_;
};

/// Its configuration may say which metric routes have without one.
bool only_network_manager(const Addressing& interface) {
  const auto* entry = interface.port->section->find("backend");
  return entry != nullptr && model::text_of(entry->value) == model::text_of(model::Backend::kNetworkManager);
}

}  // namespace

void check_addressing(const std::vector<Addressing>& all, Diagnostics& diagnostics) {
  AddressBook book(diagnostics);
  std::set<const model::Section*> seen;  // an entry with match means several ports, and is wrong once
  for (const auto& addressing : all) {
    for (const auto* family : {&addressing.ipv4, &addressing.ipv6}) {
      if (family->section == nullptr) continue;
      const auto metric =
          only_network_manager(addressing) ? UsualMetric::kOfNetworkManager : UsualMetric::kOurs;
      if (seen.insert(family->section).second)
        FamilyRules(*family, *addressing.section, metric, diagnostics).check();
      if (addressing.ignore || addressing.absent) continue;
      for (std::size_t i = 0; i < family->addresses.size(); ++i) {
        const auto& address = family->addresses[i].address;
        if (address.family == family->family)
          book.claim(address, addressing, family->place_of("addresses", i));
      }
    }
  }
}

}  // namespace rdmacfg::kinds
