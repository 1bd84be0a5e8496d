// SPDX-License-Identifier: Apache-2.0
#include "model/types/storage_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.hpp"
#include "model/types.hpp"
#include "model/types/choices.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr std::string_view kAlphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t kServerLongest = 255;
constexpr std::size_t kPathLongest = 1024;
constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
constexpr std::size_t kIdDigits = 16, kGidDigits = 32;

bool consists_of(std::string_view text, std::string_view more) {
  return text.find_first_not_of(std::string(kAlphanumeric) + std::string(more)) == std::string_view::npos;
}

}  // namespace

Result<ServicePort> Codec<ServicePort>::parse(const Value& written) {
  constexpr std::int64_t kLeast = 1024, kMost = 65535;
  const auto* number = std::get_if<std::int64_t>(&written);
  if (number == nullptr)
    return fail(Code::kInvalid, fmt::format("must be an integer from {} to {}", kLeast, kMost));
  if (*number < kLeast || *number > kMost) return fail(Code::kInvalid, out_of_range(*number, kLeast, kMost));
  return ServicePort{*number};
}

Value Codec<ServicePort>::value(const ServicePort& parsed) { return parsed.number; }

Result<ServicePorts> Codec<ServicePorts>::parse(const Value& written) {
  constexpr auto kMost = ServicePorts::kMost;
  ServicePorts out;
  const auto* list = std::get_if<std::vector<std::string>>(&written);
  if (list == nullptr) {
    return Codec<ServicePort>::parse(written).map(
        [](const ServicePort& port) { return ServicePorts{{port.number}}; });
  }
  if (list->empty() || list->size() > kMost)
    return fail(Code::kInvalid, fmt::format("has {} elements; must have 1 to {} ports", list->size(), kMost));
  for (const auto& text : *list) {
    const auto number = base::parse_number(text);
    if (!number || *number > 0xffff) return fail(Code::kInvalid, fmt::format("\"{}\" is not a port", text));
    const auto port = Codec<ServicePort>::parse(Value{static_cast<std::int64_t>(*number)});
    if (!port) return fail(port.error());
    if (std::find(out.numbers.begin(), out.numbers.end(), port->number) != out.numbers.end())
      return fail(Code::kInvalid, fmt::format("port {} is listed twice", port->number));
    out.numbers.push_back(port->number);
  }
  return out;
}

Value Codec<ServicePorts>::value(const ServicePorts& parsed) {
  if (parsed.numbers.size() == 1) return parsed.numbers.front();
  std::vector<std::string> out;
  out.reserve(parsed.numbers.size());
  for (const auto number : parsed.numbers) out.push_back(std::to_string(number));
  return out;
}

Result<ServerName> ServerName::parse(std::string_view text) {
  if (const auto address = IpAddress::parse(text)) return ServerName{address->text()};
  const bool whole = !text.empty() && text.size() <= kServerLongest && consists_of(text, "._-");
  // "storage1:/export/scratch" of fstab and mount(8).
  if (const auto colon = text.find(":/"); colon != std::string_view::npos && colon > 0) {
    const auto server = ServerName::parse(text.substr(0, colon));
    const auto path = PlainPath::parse(text.substr(colon + 1));
    if (server && path)
      return fail(Code::kInvalid,
                  fmt::format("\"{}\" is a server and its export; write server = \"{}\" and export = \"{}\"",
                              text, server->text, path->text));
  }
  if (!whole || text.front() == '-' || text.front() == '.' || text.find("..") != std::string_view::npos)
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a host name or an IP address", text));
  return ServerName{std::string(text)};
}

Result<ServerName> Codec<ServerName>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return ServerName::parse(*text);
  return fail(Code::kInvalid, "must be a string such as \"192.0.2.1\" or \"storage1\"");
}

Value Codec<ServerName>::value(const ServerName& parsed) { return parsed.text; }

Result<PlainPath> PlainPath::parse(std::string_view text) {
  if (!text.starts_with('/'))
    return fail(Code::kInvalid, fmt::format("\"{}\" is not an absolute path", text));
  if (text.size() > kPathLongest)
    return fail(Code::kInvalid, fmt::format("a path of {} bytes; {} are allowed", text.size(), kPathLongest));
  if (!consists_of(text, "_.+@:=~%,-/")) {
    return fail(Code::kInvalid,
                fmt::format("\"{}\" has characters other than letters, digits and _.+@:=~%,-", text));
  }
  std::string plain;
  for (const auto part : base::split(text.substr(1), '/')) {
    if (part == "." || part == "..")
      return fail(Code::kInvalid, fmt::format("\"{}\" has a part \"{}\"", text, part));
    if (!part.empty()) plain += "/" + std::string(part);
  }
  return PlainPath{plain.empty() ? "/" : std::move(plain)};
}

Result<PlainPath> Codec<PlainPath>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return PlainPath::parse(*text);
  return fail(Code::kInvalid, "must be a string such as \"/data/scratch\"");
}

Value Codec<PlainPath>::value(const PlainPath& parsed) { return parsed.text; }

Result<Nqn> Nqn::parse(std::string_view text) {
  constexpr std::size_t kLongest = 223;
  constexpr std::string_view kDiscovery = "nqn.2014-08.org.nvmexpress.discovery";
  if (text.size() > kLongest)
    return fail(Code::kInvalid, fmt::format("an NQN of {} bytes; 223 are allowed", text.size()));
  if (!text.starts_with("nqn.") || text.size() == 4 || !consists_of(text, "._:-"))
    return fail(Code::kInvalid,
                fmt::format("\"{}\" is not an NQN, such as nqn.2014-08.org.example:disk", text));
  if (text == kDiscovery) return fail(Code::kInvalid, fmt::format("{} is the kernel's own", text));
  return Nqn{std::string(text)};
}

Result<Nqn> Codec<Nqn>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return Nqn::parse(*text);
  return fail(Code::kInvalid, "must be a string such as \"nqn.2014-08.org.example:disk\"");
}

Value Codec<Nqn>::value(const Nqn& parsed) { return parsed.text; }

Result<IscsiName> IscsiName::parse(std::string_view text) {
  constexpr std::size_t kLongest = 223;
  if (text.size() > kLongest)
    return fail(Code::kInvalid,
                fmt::format("an iSCSI name of {} bytes; {} are allowed", text.size(), kLongest));
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto rest = std::string_view(name).substr(std::min<std::size_t>(4, name.size()));
  bool good = false;
  if (name.starts_with("iqn.")) {  // a month, and the name of a domain turned round, as rtslib wants it
    const auto month = rest.substr(0, std::min<std::size_t>(8, rest.size()));
    constexpr std::string_view kMonth = "dddd-dd.";
    good = month.size() == kMonth.size() && consists_of(rest, ".:-") &&
           rest.substr(kMonth.size()).find('.') != std::string_view::npos;
    for (std::size_t at = 0; good && at < kMonth.size(); ++at)
      good = kMonth[at] == 'd' ? (month[at] >= '0' && month[at] <= '9') : month[at] == kMonth[at];
  } else if (name.starts_with("eui.") || name.starts_with("naa.")) {
    good = rest.size() == kIdDigits && rest.find_first_not_of(kHexDigits) == std::string_view::npos;
  }
  if (!good)
    return fail(Code::kInvalid,
                fmt::format("\"{}\" is not an iSCSI name, such as iqn.2026-01.org.example:disk", text));
  return IscsiName{std::move(name)};
}

Result<IscsiName> Codec<IscsiName>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return IscsiName::parse(*text);
  return fail(Code::kInvalid, "must be a string such as \"iqn.2026-01.org.example:disk\"");
}

Value Codec<IscsiName>::value(const IscsiName& parsed) { return parsed.text; }

Result<TargetName> TargetName::parse(std::string_view text) {
  if (const auto guid = Guid::parse(text)) return TargetName{guid->text(), *guid};
  auto name = IscsiName::parse(text);
  if (!name)
    return fail(
        Code::kInvalid,
        fmt::format(
            "\"{}\" is neither an iSCSI name, such as iqn.2026-01.org.example:disk, nor the GUID of a port",
            text));
  return TargetName{std::move(name->text), {}};
}

Result<TargetName> Codec<TargetName>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return TargetName::parse(*text);
  return fail(Code::kInvalid, "must be a string such as \"iqn.2026-01.org.example:disk\"");
}

Value Codec<TargetName>::value(const TargetName& parsed) { return parsed.text; }

Result<SrpId> SrpId::parse(std::string_view text) {
  if (text.find(':') != std::string_view::npos) {
    const auto guid = Guid::parse(text);
    return guid ? Result<SrpId>(SrpId{guid->number}) : fail(guid.error());
  }
  auto digits = text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  if (digits.empty() || digits.size() > kIdDigits ||
      digits.find_first_not_of(kHexDigits) != std::string_view::npos) {
    return fail(Code::kInvalid,
                fmt::format("\"{}\" does not consist of 1 to {} hexadecimal digits", text, kIdDigits));
  }
  SrpId out;
  std::from_chars(digits.data(), digits.data() + digits.size(), out.number, 16);
  return out;
}

std::string SrpId::text() const { return fmt::format("{:016x}", number); }

Result<SrpId> Codec<SrpId>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return SrpId::parse(*text);
  return fail(Code::kInvalid, "must be a string such as \"200500a0b81146a1\"");
}

Value Codec<SrpId>::value(const SrpId& parsed) { return parsed.text(); }

Result<PortGid> PortGid::parse(std::string_view text) {
  std::string spelled(text);
  if (text.size() == kGidDigits && text.find_first_not_of(kHexDigits) == std::string_view::npos) {
    for (std::size_t at = kGidDigits - 4; at > 0; at -= 4) spelled.insert(at, ":");
  }
  const auto address = IpAddress::parse(spelled);
  if (!address || address->family != Family::kIpv6)
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a GID, such as fe80::2:c903:31:78f2", text));
  return PortGid{*address};
}

std::string PortGid::digits() const {
  std::string out;
  for (const auto byte : address.bytes) out += fmt::format("{:02x}", byte);
  return out;
}

Result<PortGid> Codec<PortGid>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return PortGid::parse(*text);
  return fail(Code::kInvalid, "must be a string such as \"fe80::2:c903:31:78f2\"");
}

Value Codec<PortGid>::value(const PortGid& parsed) { return parsed.text(); }

}  // namespace rdmacfg::model
