// SPDX-License-Identifier: Apache-2.0
#include "model/types.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

namespace {

/// The GUID of a port in its GID, the last 8 bytes; nothing of a text that is not a GID with a subnet prefix.
std::optional<Guid> guid_in_gid(std::string_view text) {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) != 1) return std::nullopt;
  std::uint64_t prefix = 0, number = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    prefix = prefix << 8U | bytes[i];
    number = number << 8U | bytes[i + 8];
  }
  if (prefix == 0 || number == 0) return std::nullopt;
  return Guid{number};
}

char digit_of(std::uint64_t bits) { return "0123456789abcdef"[bits & 0xfU]; }

}  // namespace

Result<Guid> Guid::parse(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return fail(
        Code::kInvalid,
        fmt::format("\"{}\" is not a valid GUID: {}; write it like 00:02:c9:03:00:31:78:f2", text, why));
  };
  constexpr std::size_t kAddressText = 59, kGuidText = 23;  // with their colons
  const auto hardware_address = [&](std::string_view end) {
    const auto guid = Guid::parse(end);
    return guid ? fail(Code::kInvalid, fmt::format("\"{}\" is not a valid GUID: that is a 20-byte hardware "
                                                   "address; write its last 8 bytes, {}",
                                                   text, guid->text()))
                : bad("that is a 20-byte hardware address, and a GUID is its last 8 bytes");
  };
  std::array<char, 16> digits{};
  std::string_view all = text;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    all.remove_prefix(2);
  } else if (text.find(':') != std::string_view::npos) {
    const auto groups = static_cast<std::size_t>(std::count(text.begin(), text.end(), ':')) + 1;
    if (groups == 20)
      return hardware_address(text.size() == kAddressText ? text.substr(kAddressText - kGuidText)
                                                          : text.substr(0, 0));
    if (text.find("::") != std::string_view::npos || (groups == 8 && text.find(':') == 4)) {
      if (const auto guid = guid_in_gid(text))
        return fail(Code::kInvalid,
                    fmt::format("\"{}\" is not a valid GUID: that is a 16-byte GID; write its "
                                "last 8 bytes, {}",
                                text, guid->text()));
      return bad("that is a 16-byte GID, and a GUID is its last 8 bytes");
    }
    const std::size_t width = groups == 8 ? 2 : groups == 4 ? 4 : 0;
    if (width == 0) return bad(fmt::format("{} groups instead of 8 with 2 digits or 4 with 4", groups));
    auto* next = digits.data();
    for (std::string_view rest = text; !rest.empty() || next != digits.end();) {
      const auto group = rest.substr(0, rest.find(':'));
      if (group.size() != width)
        return bad(fmt::format("the group \"{}\" does not have {} digits", group, width));
      next = std::copy(group.begin(), group.end(), next);
      rest.remove_prefix(std::min(rest.size(), width + 1));
    }
    all = {digits.data(), digits.size()};
  }
  if (all.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
    return bad("only hexadecimal digits and ':' are allowed");
  constexpr std::size_t kAddressDigits = 40;
  if (all.size() == kAddressDigits) return hardware_address(all.substr(all.size() - digits.size()));
  if (all.size() != digits.size())
    return bad(fmt::format("{} hexadecimal digit{} instead of 16", all.size(), all.size() == 1 ? "" : "s"));
  Guid guid;
  (void)std::from_chars(all.begin(), all.end(), guid.number, 16);  // 16 digits cannot fail
  if (guid.number == 0) return bad("all zero means that the port has none");
  return guid;
}

std::string Guid::text() const {
  std::string out(23, ':');  // 8 pairs of digits; by hand, because every child's identity is made of it
  for (std::size_t byte = 0; byte < 8; ++byte) {
    out[byte * 3] = digit_of(number >> (60 - byte * 8));
    out[byte * 3 + 1] = digit_of(number >> (56 - byte * 8));
  }
  return out;
}

Result<Pkey> Pkey::make(std::int64_t number) {
  if (number < 0 || number > 0xffff) {
    return fail(Code::kInvalid,
                fmt::format("P_Key {} is out of range; must be from 0x0001 to 0x7fff (or with the "
                            "membership bit, 0x8001 to 0xffff)",
                            number < 0 ? std::to_string(number) : fmt::format("{:#x}", number)));
  }
  if ((number & 0x7fff) == 0) {
    return fail(Code::kInvalid,
                fmt::format("P_Key {:#06x} names no partition (0x0000 and 0x8000 are reserved)", number));
  }
  Pkey pkey;
  pkey.bits_ = static_cast<std::uint16_t>(number);
  return pkey;
}

Result<Pkey> Pkey::parse(std::string_view text) {
  const auto number = base::parse_number(text);
  if (!number || *number > 0xffff) {
    constexpr std::size_t kMostDigits = 4;
    const bool digits = !text.empty() && text.size() <= kMostDigits &&
                        text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    return fail(Code::kInvalid, digits
                                    ? fmt::format("\"{0}\" is not a valid P_Key; write 0x{0}", text)
                                    : fmt::format("\"{}\" is not a valid P_Key; write it like 0x8002", text));
  }
  return make(static_cast<std::int64_t>(*number));
}

std::string Pkey::text() const {
  const unsigned bits = full();
  return {'0', 'x', digit_of(bits >> 12U), digit_of(bits >> 8U), digit_of(bits >> 4U), digit_of(bits)};
}

Result<std::string> parse_interface_name(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a valid interface name: {}", text, why));
  };
  if (text.empty()) return bad("it is empty");
  if (text.size() > kInterfaceNameMax) {
    return bad(fmt::format("{} characters, the kernel takes at most {}", text.size(), kInterfaceNameMax));
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.') continue;
    const auto character = text.substr(at, base::utf8_length(text.substr(at)));
    const bool shown = !character.empty() && !base::is_control(base::code_point(character));
    return bad(fmt::format("only ASCII letters, digits, '_', '-' and '.' are allowed, not {}",
                           shown ? fmt::format("'{}'", character) : fmt::format("byte {:#04x}", c)));
  }
  if (text == "." || text == ".." || text == "all" || text == "default")
    return bad("the kernel reserves this name");
  if (text.front() == '-') return bad("programs read a name with a leading dash as an option");
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
    return bad("a name of digits only would be read as an interface index");
  }
  return std::string(text);
}

Result<RdmaName> RdmaName::parse(std::string_view text) {
  const auto refuse = [&](std::string_view why) -> Result<RdmaName> {
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a valid RDMA device name: {}", text, why));
  };
  if (text.empty()) return refuse("it is empty");
  if (text.size() > kRdmaNameMax) return refuse(fmt::format("it is longer than {} characters", kRdmaNameMax));
  if (text.front() == '.' || text.front() == '-') return refuse("it starts with a dot or a dash");
  // As `show` and others name a port: "mlx5_0/1", "mlx5_0:1".
  const auto slash = text.find_first_of("/:");
  const auto port =
      slash == std::string_view::npos ? std::nullopt : base::parse_number(text.substr(slash + 1));
  if (port && *port > 0 && slash > 0) {
    return refuse(fmt::format("that is port {} of {}: write {}, and port = {} where a port is meant", *port,
                              text.substr(0, slash), text.substr(0, slash), *port));
  }
  for (const char c : text) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.';
    if (!good) return refuse("letters, digits, '_', '-' and '.' are allowed");
  }
  return RdmaName{std::string(text)};
}

Result<PciAddress> PciAddress::parse(std::string_view text) {
  const auto wrong = [&]() -> Result<PciAddress> {
    return fail(Code::kInvalid,
                fmt::format("\"{}\" is not a valid PCI address; write it like 0000:10:00.0", text));
  };
  auto lower = base::lower(text);
  if (std::count(lower.begin(), lower.end(), ':') == 1) lower = "0000:" + lower;
  constexpr std::string_view kShape = "hhhh:hh:hh.o";
  if (lower.size() != kShape.size()) return wrong();
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const char c = lower[i];
    const bool digit = c >= '0' && c <= '9';
    const bool good = kShape[i] == 'h'   ? digit || (c >= 'a' && c <= 'f')
                      : kShape[i] == 'o' ? c >= '0' && c <= '7'
                                         : c == kShape[i];
    if (!good) return wrong();
  }
  return PciAddress{std::move(lower)};
}

Result<Dscp> Dscp::make(std::int64_t number) {
  constexpr std::int64_t kMax = 63;
  if (number >= 0 && number <= kMax) return Dscp{static_cast<std::uint8_t>(number)};
  return fail(
      Code::kInvalid,
      fmt::format("DSCP {} is out of range; must be from 0 to {} (a type of service is tos)", number, kMax));
}

std::optional<std::uint8_t> dscp_of_class(std::string_view name) {
  const auto word = base::lower(name);
  const auto digit = [&](std::size_t at, unsigned least, unsigned most) -> std::optional<unsigned> {
    const auto number = static_cast<unsigned>(static_cast<unsigned char>(word[at])) - '0';
    return number >= least && number <= most ? std::optional(number) : std::nullopt;
  };
  if (word == "ef") return std::uint8_t{46};
  if (word == "va" || word == "voice-admit") return std::uint8_t{44};
  if (word == "le") return std::uint8_t{1};
  if (word == "df" || word == "be") return std::uint8_t{0};
  if (word.size() == 3 && word.starts_with("cs")) {
    if (const auto selector = digit(2, 0, 7)) return static_cast<std::uint8_t>(*selector * 8);
  }
  if (word.size() == 4 && word.starts_with("af")) {
    const auto forwarding = digit(2, 1, 4), drop = digit(3, 1, 3);
    if (forwarding && drop) return static_cast<std::uint8_t>(*forwarding * 8 + *drop * 2);
  }
  return std::nullopt;
}

Result<Tos> Tos::make(std::int64_t number) {
  constexpr std::int64_t kMax = 255;
  if (number >= 0 && number <= kMax) return Tos{number};
  return fail(Code::kInvalid, fmt::format("ToS {} is out of range; must be from 0 to {}", number, kMax));
}

}  // namespace rdmacfg::model
