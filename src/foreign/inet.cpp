// SPDX-License-Identifier: Apache-2.0
#include "foreign/inet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "kinds/address/request.hpp"

namespace rdmacfg::foreign {

using base::Result;
using model::Family;
using model::InetMethod;
using model::IpAddress;
using model::IpPrefix;

namespace {

std::string wrong_family(std::string_view text, Family family) {
  return fmt::format("{} is not a valid {} address", text, model::text_of(family));
}

template <std::size_t kSize>
bool is_among(const std::array<std::string_view, kSize>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Options with a value that tune a route, and change neither whom it is for nor its next hop
/// (iproute_modify() of iproute2).
bool tunes_route(std::string_view option) {
  constexpr auto kTuning = std::to_array<std::string_view>(
      {"mtu",      "advmss",   "initcwnd", "initrwnd",           "cwnd",       "window",
       "rtt",      "rttvar",   "rto_min",  "ssthresh",           "reordering", "hoplimit",
       "quickack", "features", "congctl",  "fastopen_no_cookie", "src",        "realm",
       "realms",   "pref"});
  return is_among(kTuning, option);
}

/// The scope of a route that says none (iproute_modify() of iproute2).
std::string_view usual_scope(const std::vector<std::string_view>& words) {
  const bool gateway = std::find(words.begin(), words.end(), "via") != words.end();
  return gateway ? "global" : "link";
}

/// Takes the options of a route out of its words that the document does not have. @return those
std::string take_tuning(std::vector<std::string_view>& words) {
  std::vector<std::string_view> left, tuning;
  const auto usual = usual_scope(words);
  for (std::size_t at = 0; at < words.size(); ++at) {
    const bool scope = at > 0 && words[at] == "scope" && at + 1 < words.size();
    if (scope && words[at + 1] == usual) {
      ++at;
      continue;
    }
    if (at == 0 || (words[at] != "onlink" && !tunes_route(words[at]))) {
      left.push_back(words[at]);
      // The value of another option is none, whatever its text.
      if (at > 0 && at + 1 < words.size()) left.push_back(words[++at]);
      continue;
    }
    tuning.push_back(words[at]);
    if (words[at] == "onlink") continue;
    const bool locked = at + 2 < words.size() && words[at + 1] == "lock";
    for (int values = locked ? 2 : 1; values > 0 && at + 1 < words.size(); --values)
      tuning.push_back(words[++at]);
  }
  words = std::move(left);
  return base::join(std::vector<std::string>(tuning.begin(), tuning.end()), " ");
}

/// Each element once, where it is first.
template <class T>
void drop_repeated(std::vector<T>& list) {
  std::set<T> seen;
  std::erase_if(list, [&](const T& element) { return !seen.insert(element).second; });
}

}  // namespace

std::string add_address(Inet& inet, Family family, std::string_view text, std::optional<int> length) {
  std::string whole(base::trim(text));
  if (whole.find('/') == std::string::npos) {
    const auto alone = IpAddress::parse(whole);
    if (!alone) return alone.error().message;
    if (!length) return fmt::format("{} has no prefix length", whole);
    whole += fmt::format("/{}", *length);
  }
  const auto prefix = IpPrefix::parse(whole);
  if (!prefix) return prefix.error().message;
  if (prefix->address.family != family) return wrong_family(text, family);
  inet.addresses.push_back(*prefix);
  return {};
}

std::string add_address(Interface& interface, std::string_view text, std::optional<int> length) {
  const auto family = text.find(':') == std::string_view::npos ? Family::kIpv4 : Family::kIpv6;
  return add_address(interface.inet(family), family, text, length);
}

std::optional<int> class_length(std::string_view address) {
  const auto parsed = IpAddress::parse(base::trim(address));
  if (!parsed) return std::nullopt;
  if (parsed->family == Family::kIpv6) return 128;
  const auto first = parsed->bytes.front();
  if (first < 128) return 8;
  if (first < 192) return 16;
  return first < 224 ? std::optional(24) : std::nullopt;
}

std::string set_gateway(Inet& inet, Family family, std::string_view text) {
  const auto address = IpAddress::parse(base::trim(text));
  if (!address) return address.error().message;
  if (address->family != family) return wrong_family(text, family);
  if (!address->unspecified()) inet.gateway = *address;
  return {};
}

std::string add_gateway(Inet& inet, Family family, std::string_view text) {
  const auto first = inet.gateway;
  auto why = set_gateway(inet, family, text);
  if (!why.empty() || !first || inet.gateway == first) return why;
  inet.gateway = first;
  return fmt::format("{}: the gateway is {} already; write a route to default with a metric",
                     base::trim(text), first->text());
}

std::string add_server(Interface& interface, std::string_view text) {
  const auto address = IpAddress::parse(base::trim(text));
  if (!address) return address.error().message;
  interface.inet(address->family).dns.push_back(*address);
  return {};
}

Result<model::RouteTarget> target_of(std::string_view text) {
  text = base::trim(text);
  if (text == "0.0.0.0/0" || text == "::/0" || text == "0.0.0.0" || text == "::") text = "default";
  return model::RouteTarget::parse(text);
}

bool is_route_type(std::string_view word) {
  constexpr auto kTypes =
      std::to_array<std::string_view>({"unicast", "local", "broadcast", "anycast", "multicast", "throw",
                                       "unreachable", "prohibit", "blackhole", "nat"});
  return is_among(kTypes, word);
}

std::string wrong_type(std::string_view type) {
  if (type.empty() || type == "unicast") return {};
  return fmt::format("a route of type {} cannot be expressed in the document", type);
}

void add_route(Inet& inet, const Route& route) {
  const bool usual = route.to.any && route.via && !route.metric && route.table == 254;
  if (usual && (!inet.gateway || inet.gateway == route.via)) {
    inet.gateway = route.via;
  } else {
    inet.routes.push_back(route);
  }
}

std::string add_route_words(Inet& inet, Family family, std::string_view line) {
  auto words = words_of(line);
  if (words.size() > 1 && words.front() == "to") words.erase(words.begin());
  if (words.empty()) return "says no network";
  if (words.size() > 1 && is_route_type(words.front())) {
    if (auto wrong = wrong_type(words.front()); !wrong.empty()) return wrong;
    words.erase(words.begin());
  }
  const auto tuning = take_tuning(words);
  auto to = target_of(words.front());
  if (!to) return to.error().message;
  if (!to->any && to->network.address.family != family) return wrong_family(words.front(), family);
  Route route{*to, {}, {}, 254};
  for (std::size_t at = 1; at < words.size(); at += 2) {
    if (at + 1 == words.size()) return fmt::format("nothing behind {}", words[at]);
    const auto value = words[at + 1];
    const auto number = base::parse_number(value);
    const bool fits = number && *number <= 0xffffffffU;
    if (words[at] == "via") {
      const auto via = IpAddress::parse(value);
      if (!via) return via.error().message;
      if (via->family != family) return wrong_family(value, family);
      route.via = *via;
    } else if (words[at] == "metric" && fits) {
      route.metric = static_cast<std::uint32_t>(*number);
    } else if (words[at] == "table" && (fits || value == "main")) {
      route.table = value == "main" ? 254 : static_cast<std::uint32_t>(*number);
    } else if (words[at] != "dev" && words[at] != "proto" && words[at] != "protocol") {
      return fmt::format("{} {}: is not supported", words[at], value);
    }
  }
  // The kernel makes that of 0 in IPv6.
  if (family == Family::kIpv6 && route.metric == 0U) route.metric = kinds::kMetricOfIpv6;
  add_route(inet, route);
  if (tuning.empty()) return {};
  return fmt::format("{}: {}", tuning, kRouteOption);
}

void add_search(Interface& interface, std::string_view text) {
  std::string blanks(text);
  std::replace(blanks.begin(), blanks.end(), ',', ' ');
  std::replace(blanks.begin(), blanks.end(), ';', ' ');
  for (const auto word : words_of(blanks)) {
    interface.ipv4.search.emplace_back(word);
  }
}

void place_search(Interface& interface) {
  auto& four = interface.ipv4;
  auto& six = interface.ipv6;
  std::vector<std::string> all = std::move(four.search);
  std::move(six.search.begin(), six.search.end(), std::back_inserter(all));
  drop_repeated(all);
  four.search.clear();
  six.search.clear();
  const auto configured = [](const Inet& inet) {
    return !inet.addresses.empty() || inet.method == InetMethod::kAuto;
  };
  const bool to_six = (four.dns.empty() && !six.dns.empty()) || (!configured(four) && configured(six));
  (to_six ? six : four).search = std::move(all);
}

bool drop_routes_of_vrf(Interface& interface, const Interface& said) {
  bool any = false;
  for (const auto family : {Family::kIpv4, Family::kIpv6}) {
    auto& inet = interface.inet(family);
    const auto& kept = said.inet(family);
    any = any || inet.gateway.has_value();
    inet.gateway = kept.gateway;
    any = std::erase_if(inet.routes, [](const Route& route) { return route.table == 254; }) > 0 || any;
    inet.routes.insert(inet.routes.end(), kept.routes.begin(), kept.routes.end());
  }
  return any;
}

void drop_repeated(Inet& inet) {
  drop_repeated(inet.addresses);
  drop_repeated(inet.dns);
  drop_repeated(inet.search);
  drop_repeated(inet.routes);
}

bool is_default(const Inet& inet, Family family) {
  Inet implied;
  implied.method = family == Family::kIpv4 ? InetMethod::kDisabled : InetMethod::kLinkLocal;
  return inet == implied;
}

void settle(Interface& interface) {
  for (const auto family : {Family::kIpv4, Family::kIpv6}) {
    auto& inet = interface.inet(family);
    if (inet.method == InetMethod::kManual) inet.method.reset();
    const auto usual = family == Family::kIpv4 ? InetMethod::kDisabled : InetMethod::kLinkLocal;
    if (inet.method == usual && !is_default(inet, family)) inet.method.reset();
  }
}

}  // namespace rdmacfg::foreign
