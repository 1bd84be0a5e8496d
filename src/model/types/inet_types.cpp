// SPDX-License-Identifier: Apache-2.0
#include "model/types/inet_types.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.hpp"
#include "model/types/choices.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

namespace {

int af_of(Family family) { return family == Family::kIpv4 ? AF_INET : AF_INET6; }

Result<std::string> text_in(const Value& written, std::string_view example) {
  if (const auto* text = std::get_if<std::string>(&written)) return *text;
  return fail(Code::kInvalid, fmt::format("must be {}", example));
}

/// Each element through `parse`; the first that is wrong is named.
template <class T, class Parse>
Result<std::vector<T>> each(const Value& written, std::string_view example, Parse parse) {
  std::vector<std::string> texts;
  if (const auto* list = std::get_if<std::vector<std::string>>(&written)) {
    texts = *list;
  } else {
    return fail(Code::kInvalid, fmt::format("must be a list such as [\"{}\"]", example));
  }
  std::vector<T> out;
  std::set<T> seen;
  for (const auto& text : texts) {
    auto parsed = parse(text);
    if (!parsed) return fail(parsed.error());
    if (!seen.insert(*parsed).second) {
      return fail(Code::kInvalid, fmt::format("\"{}\" is listed twice", text));
    }
    out.push_back(std::move(*parsed));
  }
  return out;
}

template <class List>
Value texts_of(const List& list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const auto& item : list) out.push_back(item.text());
  return out;
}

constexpr Choices<InetMethod, 4> kMethods{{{InetMethod::kManual, "manual"},
                                           {InetMethod::kAuto, "auto"},
                                           {InetMethod::kDisabled, "disabled"},
                                           {InetMethod::kLinkLocal, "link-local"}}};
constexpr Choices<Backend, 4> kBackends{{{Backend::kAuto, "auto"},
                                         {Backend::kNetworkManager, "networkmanager"},
                                         {Backend::kNetworkd, "networkd"},
                                         {Backend::kDirect, "direct"}}};

bool is_domain(std::string_view name) {
  constexpr std::size_t kLongest = 253;  // RFC 1035, 2.3.4
  if (name.starts_with('~')) name.remove_prefix(1);
  if (name == ".") return true;
  if (name.empty() || name.size() > kLongest || name.starts_with('.') || name.starts_with('-')) return false;
  return name.find("..") == std::string_view::npos && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                  c == '_' || c == '.';
         });
}

Result<std::uint32_t> number_in(const Value& written, std::uint32_t least, std::string_view example) {
  const auto* number = std::get_if<std::int64_t>(&written);
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (number == nullptr)
    return fail(Code::kInvalid,
                fmt::format("must be an integer from {} to {}, such as {}", least, kMost, example));
  if (*number < least || *number > kMost) return fail(Code::kInvalid, out_of_range(*number, least, kMost));
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

std::string_view text_of(Family family) { return family == Family::kIpv4 ? "IPv4" : "IPv6"; }

std::string_view text_of(InetMethod method) { return kMethods.at(static_cast<std::size_t>(method)).second; }

std::string_view text_of(Backend backend) { return kBackends.at(static_cast<std::size_t>(backend)).second; }

namespace {

std::optional<IpAddress> plain_address(std::string_view text) {
  IpAddress out;
  out.family = text.find(':') == std::string_view::npos ? Family::kIpv4 : Family::kIpv6;
  if (::inet_pton(af_of(out.family), std::string(text).c_str(), out.bytes.data()) != 1) return std::nullopt;
  return out;
}

/// "192.0.2.1" for "192.0.2.01"; empty for any other text.
std::string without_leading_zeros(std::string_view text) {
  std::vector<std::string> parts;
  for (auto part : base::split(text, '.')) {
    while (part.size() > 1 && part.front() == '0') part.remove_prefix(1);
    parts.emplace_back(part);
  }
  auto out = base::join(parts, ".");
  return out.size() < text.size() && plain_address(out) ? out : std::string();
}

/// Decoration of an address by other programs: "192.0.2.1/24", "192.0.2.1:4420", "[2001:db8::1]:4420",
/// "fe80::1%ib0".
/// @param length the prefix length behind the address, "/24", for the remedy
std::string address_error(std::string_view text, std::string_view length = {}) {
  if (const auto bare = text.substr(0, text.find('/')); bare.size() < text.size() && plain_address(bare))
    return fmt::format("\"{}\" has a prefix length: write {} alone", text, bare);
  if (const auto bare = text.substr(0, text.find('%')); bare.size() < text.size() && plain_address(bare))
    return fmt::format("\"{}\" has a zone: write {}{} alone", text, bare, length);
  if (const auto bare = base::trim(text); bare.size() < text.size() && plain_address(bare))
    return fmt::format("\"{}\" has leading or trailing blanks: write {}{}", text, bare, length);
  const auto bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
  const auto bare =
      bracket == std::string_view::npos ? text.substr(0, text.find(':')) : text.substr(1, bracket - 1);
  if (bare.size() < text.size() && plain_address(bare))
    return fmt::format("\"{}\" is more than an address: write {} alone", text, bare);
  if (const auto plain = without_leading_zeros(text); !plain.empty())
    return fmt::format("\"{}\" has a leading 0, which some programs read as octal: write {}{}", text, plain,
                       length);
  return fmt::format("\"{}\" is not an IP address such as 192.0.2.1 or 2001:db8::1", text);
}

/// The length of a prefix that is written as a netmask, "255.255.255.0": 24.
std::optional<int> length_of_mask(std::string_view text) {
  const auto mask = plain_address(text);
  if (!mask || mask->family != Family::kIpv4) return std::nullopt;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 4; ++i) bits = bits << 8U | mask->bytes[i];
  const int length = std::countl_one(bits);
  if (length == 0 || std::popcount(bits) != length) return std::nullopt;
  return length;
}

/// "/24" for "24" and "255.255.255.0", so that a remedy for the address keeps it; else empty.
std::string length_text(std::string_view digits) {
  if (const auto mask = length_of_mask(digits)) return fmt::format("/{}", *mask);
  constexpr std::size_t kLongest = 3;
  const bool plain = !digits.empty() && digits.size() <= kLongest &&
                     std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return plain ? fmt::format("/{}", digits) : std::string();
}

/// The error about things beside an address with its prefix length: "192.0.2.1 255.255.255.0", "192.0.2.1/24,
/// 192.0.2.2/24", blanks. Empty where there is nothing such.
std::string decorated_prefix(std::string_view text) {
  constexpr std::string_view kBetween = " \t,;";
  const auto good = [](std::string_view word) { return static_cast<bool>(IpPrefix::parse(word)); };
  const auto first = text.substr(0, text.find_first_of(kBetween));
  if (first.size() == text.size()) return {};
  const auto rest = base::trim(text.substr(first.size() + 1));
  const auto address = plain_address(first);
  if (const auto mask = length_of_mask(rest); mask && address && address->family == Family::kIpv4) {
    return fmt::format("\"{}\" has a netmask in place of a prefix length: write {}/{}", text, address->text(),
                       *mask);
  }
  if (const auto bare = base::trim(text); bare.size() < text.size() && good(bare))
    return fmt::format("\"{}\" has leading or trailing blanks: write {}", text, bare);
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto joined =
        fmt::format("{}/{}", base::trim(text.substr(0, slash)), base::trim(text.substr(slash + 1)));
    if (joined.size() < text.size() && good(joined))
      return fmt::format("\"{}\" has blanks in it: write {}", text, joined);
  }
  if (!good(first) || rest.empty()) return {};
  if (good(rest.substr(0, rest.find_first_of(kBetween))))
    return fmt::format("\"{}\" contains several addresses: quote each separately", text);
  return fmt::format("\"{}\" is more than an address: write {} alone", text, first);
}

}  // namespace

Result<IpAddress> IpAddress::parse(std::string_view text) {
  if (const auto address = plain_address(text)) return *address;
  return fail(Code::kInvalid, address_error(text));
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> out{};
  ::inet_ntop(af_of(family), bytes.data(), out.data(), out.size());
  return out.data();
}

bool IpAddress::unspecified() const { return *this == IpAddress{family, {}}; }

bool IpAddress::loopback() const {
  if (family == Family::kIpv4) return bytes[0] == 127;
  IpAddress loopback_address{family, {}};
  loopback_address.bytes[15] = 1;
  return *this == loopback_address;
}

bool IpAddress::multicast() const {
  return family == Family::kIpv4 ? (bytes[0] & 0xf0U) == 0xe0 : bytes[0] == 0xff;
}

bool IpAddress::link_local() const {
  if (family == Family::kIpv4) return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xfe && (bytes[1] & 0xc0U) == 0x80;
}

Result<IpPrefix> IpPrefix::parse(std::string_view text) {
  const auto slash = text.find('/');
  if (auto error = decorated_prefix(text); !error.empty()) return fail(Code::kInvalid, std::move(error));
  const auto digits = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  const auto address = plain_address(text.substr(0, slash));
  if (!address) return fail(Code::kInvalid, address_error(text.substr(0, slash), length_text(digits)));
  if (digits.empty()) {
    return fail(Code::kInvalid, fmt::format("\"{}\" has no prefix length: write {}/{}", text, address->text(),
                                            address->family == Family::kIpv4 ? 24 : 64));
  }
  constexpr std::uint64_t kNoLength = 1000;  // of no address
  const bool plain = !digits.empty() && digits.size() <= 3 && (digits == "0" || digits.front() != '0') &&
                     std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  const auto length = plain ? base::parse_number(digits).value_or(kNoLength) : kNoLength;
  if (const auto mask = length_of_mask(digits); mask && address->family == Family::kIpv4) {
    return fail(Code::kInvalid, fmt::format("\"{}\" has a netmask in place of a prefix length: write {}/{}",
                                            text, address->text(), *mask));
  }
  if (length > static_cast<std::uint64_t>(address->bits())) {
    return fail(Code::kInvalid, fmt::format("\"{}\": the prefix length of an {} address is 0 to {}", text,
                                            text_of(address->family), address->bits()));
  }
  return IpPrefix{*address, static_cast<int>(length)};
}

std::string IpPrefix::text() const { return fmt::format("{}/{}", address.text(), length); }

std::optional<IpAddress> IpPrefix::broadcast() const {
  constexpr int kLongest = 30;
  if (address.family != Family::kIpv4 || length > kLongest) return std::nullopt;
  auto out = address;
  for (int bit = length; bit < out.bits(); ++bit) {
    out.bytes.at(static_cast<std::size_t>(bit / 8)) |=
        static_cast<std::uint8_t>(0x80U >> static_cast<unsigned>(bit % 8));
  }
  return out;
}

IpPrefix IpPrefix::network() const {
  IpPrefix out = *this;
  for (std::size_t i = 0; i < out.address.bytes.size(); ++i) {
    const int bits = std::clamp(length - static_cast<int>(i) * 8, 0, 8);
    out.address.bytes[i] &= static_cast<std::uint8_t>(0xff00U >> static_cast<unsigned>(bits));
  }
  return out;
}

bool IpPrefix::contains(const IpAddress& other) const {
  return other.family == address.family && IpPrefix{other, length}.network() == network();
}

Result<RouteTarget> RouteTarget::parse(std::string_view text) {
  if (text == "default") return RouteTarget{{}, true};
  auto prefix = text.find('/') == std::string_view::npos
                    ? IpAddress::parse(text).map([](const IpAddress& host) {
                        return IpPrefix{host, host.bits()};
                      })
                    : IpPrefix::parse(text);
  if (!prefix) return fail(prefix.error());
  if (prefix->length == 0) {
    return fail(Code::kInvalid, fmt::format("\"{}\": write \"default\"", text));
  }
  if (prefix->network() != *prefix) {
    return fail(Code::kInvalid,
                fmt::format("\"{}\" has host bits set: write {}", text, prefix->network().text()));
  }
  return RouteTarget{*prefix, false};
}

namespace {

/// A value of other tools, and what stands for it here.
struct ValueElsewhere {
  std::string_view word, here;
};
constexpr std::array<ValueElsewhere, 5> kMethodsElsewhere{{
    {"static", "static addresses are \"manual\""},
    {"none", "static addresses are \"manual\", and no addresses \"disabled\""},
    {"slaac", "router advertisements are \"auto\""},
    {"ra", "router advertisements are \"auto\""},
    {"ignore", "leave the section out to configure no addresses"},
}};
constexpr std::array<ValueElsewhere, 4> kBackendsElsewhere{{
    {"nm", "NetworkManager is \"networkmanager\""},
    {"systemd-networkd", "systemd-networkd is \"networkd\""},
    {"netplan", "netplan is a front end of \"networkmanager\" and \"networkd\""},
    {"ifupdown", "\"direct\" configures interfaces without another tool"},
}};

/// The error about a value of another tool with what stands for it here.
template <class T>
Result<T> explained(Result<T> parsed, const Value& written, std::span<const ValueElsewhere> known) {
  const auto* text = std::get_if<std::string>(&written);
  if (parsed || text == nullptr) return parsed;
  for (const auto& [word_elsewhere, here] : known) {
    if (word_elsewhere == *text)
      return fail(Code::kInvalid, fmt::format("{}; {}", parsed.error().message, here));
  }
  return parsed;
}

}  // namespace

Result<IpAddress> Codec<IpAddress>::parse(const Value& written) {
  return text_in(written, "a string such as \"192.0.2.254\"").and_then([](const std::string& text) {
    return IpAddress::parse(text);
  });
}
Value Codec<IpAddress>::value(const IpAddress& parsed) { return parsed.text(); }

Result<IpPrefixes> Codec<IpPrefixes>::parse(const Value& written) {
  return each<IpPrefix>(written, "192.0.2.1/24", IpPrefix::parse);
}
Value Codec<IpPrefixes>::value(const IpPrefixes& parsed) { return texts_of(parsed); }

Result<IpAddresses> Codec<IpAddresses>::parse(const Value& written) {
  return each<IpAddress>(written, "192.0.2.253", IpAddress::parse);
}
Value Codec<IpAddresses>::value(const IpAddresses& parsed) { return texts_of(parsed); }

Result<SearchDomains> Codec<SearchDomains>::parse(const Value& written) {
  return each<std::string>(written, "example.net",
                           [](const std::string& name) -> Result<std::string> {
                             if (is_domain(name)) return name;
                             return fail(Code::kInvalid,
                                         fmt::format("\"{}\" is not a domain such as example.net", name));
                           })
      .map([](std::vector<std::string> names) { return SearchDomains{std::move(names)}; });
}
Value Codec<SearchDomains>::value(const SearchDomains& parsed) { return parsed.names; }

Result<RouteTarget> Codec<RouteTarget>::parse(const Value& written) {
  return text_in(written, "a string such as \"198.51.100.0/24\" or \"default\"")
      .and_then([](const auto& text) { return RouteTarget::parse(text); });
}
Value Codec<RouteTarget>::value(const RouteTarget& parsed) { return parsed.text(); }

Result<InetMethod> Codec<InetMethod>::parse(const Value& written) {
  auto method = parse_choice(kMethods, written);
  const auto* text = std::get_if<std::string>(&written);
  if (!method && text != nullptr && text->starts_with("dhcp")) {
    return fail(Code::kInvalid, method.error().message + "; DHCP is \"auto\"");
  }
  return explained(std::move(method), written, kMethodsElsewhere);
}
Value Codec<InetMethod>::value(const InetMethod& parsed) { return std::string(text_of(parsed)); }

Result<Backend> Codec<Backend>::parse(const Value& written) {
  return explained(parse_choice(kBackends, written), written, kBackendsElsewhere);
}
Value Codec<Backend>::value(const Backend& parsed) { return std::string(text_of(parsed)); }

Result<RouteTable> Codec<RouteTable>::parse(const Value& written) {
  return number_in(written, 1, "254 (main)").map([](std::uint32_t n) { return RouteTable{n}; });
}
Value Codec<RouteTable>::value(const RouteTable& parsed) { return std::int64_t{parsed.number}; }

Result<RouteMetric> Codec<RouteMetric>::parse(const Value& written) {
  return number_in(written, 0, "150").map([](std::uint32_t n) { return RouteMetric{n}; });
}
Value Codec<RouteMetric>::value(const RouteMetric& parsed) { return std::int64_t{parsed.number}; }

}  // namespace rdmacfg::model
