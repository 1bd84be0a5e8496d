// SPDX-License-Identifier: Apache-2.0
#include "model/field.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

std::string_view text_of(Effect effect) {
  switch (effect) {
    case Effect::kNow:
      return "now";
    case Effect::kDriverReload:
      return "driver reload";
    case Effect::kInitramfsReboot:
      return "initramfs and reboot";
  }
  return "now";
}

namespace {

template <class T>
Result<T> get(const Value& written, std::string_view wanted) {
  if (const auto* value = std::get_if<T>(&written)) return *value;
  return fail(Code::kInvalid, fmt::format("must be {}", wanted));
}

Result<std::string> get_text(const Value& written, std::string_view wanted) {
  return get<std::string>(written, wanted);
}

}  // namespace

Result<bool> Codec<bool>::parse(const Value& written) { return get<bool>(written, "true or false"); }
Value Codec<bool>::value(const bool& parsed) { return parsed; }

Result<std::int64_t> Codec<std::int64_t>::parse(const Value& written) {
  return get<std::int64_t>(written, "an integer");
}
Value Codec<std::int64_t>::value(const std::int64_t& parsed) { return parsed; }

Result<std::string> Codec<std::string>::parse(const Value& written) {
  auto text = get_text(written, "a string in quotes");
  if (text && text->empty()) return fail(Code::kInvalid, "is empty");
  return text;
}
Value Codec<std::string>::value(const std::string& parsed) { return parsed; }

Result<std::vector<std::string>> Codec<std::vector<std::string>>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return std::vector<std::string>{*text};
  return get<std::vector<std::string>>(written, "a list of strings");
}
Value Codec<std::vector<std::string>>::value(const std::vector<std::string>& parsed) { return parsed; }

Result<Guid> Codec<Guid>::parse(const Value& written) {
  return get_text(written, "a string such as \"00:02:c9:03:00:31:78:f2\"").and_then(Guid::parse);
}
Value Codec<Guid>::value(const Guid& parsed) { return parsed.text(); }

Result<Pkey> Codec<Pkey>::parse(const Value& written) {
  if (const auto* number = std::get_if<std::int64_t>(&written)) return Pkey::make(*number);
  return get_text(written, "an integer such as 0x8002").and_then([](const std::string& text) -> Result<Pkey> {
    // Names of interfaces ("ib0.8002") and other tools write P_Keys in hexadecimal without 0x.
    if (text.size() == 4 && (text[0] == '8' || text[0] == '9') && base::parse_number(text))
      return fail(
          Code::kInvalid,
          fmt::format("\"{0}\" may mean 0x{0} or the decimal {0}; write one of them without quotes", text));
    return Pkey::parse(text);
  });
}
Value Codec<Pkey>::value(const Pkey& parsed) { return parsed.text(); }

Result<InterfaceName> Codec<InterfaceName>::parse(const Value& written) {
  return get_text(written, "a string such as \"mlx4_ib0\"")
      .and_then(parse_interface_name)
      .map([](std::string name) { return InterfaceName{std::move(name)}; });
}
Value Codec<InterfaceName>::value(const InterfaceName& parsed) { return parsed.text; }

Result<NameTemplate> Codec<NameTemplate>::parse(const Value& written) {
  return get_text(written, "a string such as \"mlx4_ib0\"")
      .and_then([](const std::string& text) -> Result<NameTemplate> {
        NameTemplate name{text};
        if (!name.fixed()) return name;
        return parse_interface_name(text).map(
            [](std::string fixed) { return NameTemplate{std::move(fixed)}; });
      });
}
Value Codec<NameTemplate>::value(const NameTemplate& parsed) { return parsed.text; }

Result<Mtu> Codec<Mtu>::parse(const Value& written) {
  return get<std::int64_t>(written, "an integer such as 2044")
      .and_then([](std::int64_t bytes) -> Result<Mtu> {
        if (bytes < kMtuMin || bytes > kMtuConnectedMax) {
          return fail(Code::kInvalid,
                      fmt::format("MTU {} is out of range; must be from {} to {} bytes (datagram: 2044 or "
                                  "4092; connected: up to {})",
                                  bytes, kMtuMin, kMtuConnectedMax, kMtuConnectedMax));
        }
        return Mtu{bytes};
      });
}
Value Codec<Mtu>::value(const Mtu& parsed) { return parsed.bytes; }

Result<RdmaName> Codec<RdmaName>::parse(const Value& written) {
  return get_text(written, "a string such as \"mlx5_storage\"").and_then(RdmaName::parse);
}
Value Codec<RdmaName>::value(const RdmaName& parsed) { return parsed.text; }

Result<PciAddress> Codec<PciAddress>::parse(const Value& written) {
  return get_text(written, "a string such as \"0000:10:00.0\"").and_then(PciAddress::parse);
}
Value Codec<PciAddress>::value(const PciAddress& parsed) { return parsed.text; }

Result<Dscp> Codec<Dscp>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) {
    if (const auto number = dscp_of_class(*text))
      return fail(Code::kInvalid, fmt::format("must be an integer such as 26 ({} is {})", *text, *number));
  }
  return get<std::int64_t>(written, "an integer such as 26").and_then(Dscp::make);
}
Value Codec<Dscp>::value(const Dscp& parsed) { return std::int64_t{parsed.number}; }

Result<Tos> Codec<Tos>::parse(const Value& written) {
  return get<std::int64_t>(written, "an integer such as 106").and_then(Tos::make);
}
Value Codec<Tos>::value(const Tos& parsed) { return parsed.number; }

bool takes(const FieldSpec& field, const Value& written) {
  const auto own = field.schema.substr(0, field.schema.find(R"("items":)"));  // the rest is about elements
  const auto has = [&](std::string_view part) { return own.find(part) != std::string_view::npos; };
  if (std::holds_alternative<std::monostate>(written)) return false;
  if (field.schema.empty()) return true;
  if (std::holds_alternative<bool>(written)) return has(R"("boolean")");
  if (std::holds_alternative<std::string>(written)) return has(R"("string")") || has(R"("enum":[")");
  if (std::holds_alternative<std::vector<std::string>>(written)) return has(R"("array")");
  const auto words = own.find(R"("enum":[)");
  const auto first = words == std::string_view::npos ? words : words + std::string_view(R"("enum":[)").size();
  const bool numbers = first < own.size() && own[first] >= '0' && own[first] <= '9';
  return has(R"("integer")") || numbers;
}

}  // namespace rdmacfg::model
