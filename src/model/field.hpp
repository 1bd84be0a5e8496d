// SPDX-License-Identifier: Apache-2.0
// The field table of a kind: written once, it drives parsing, diff, JSON, journal, JSON Schema, reference and
// `show`.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/error.hpp"
#include "model/codec.hpp"
#include "model/types.hpp"
#include "model/value.hpp"

namespace rdmacfg::model {

/// The role of a field.
enum class Role {
  kIdentity,  ///< says which object an entry means; never changed
  kSetting,   ///< a state of the system that is compared and changed
  kDerived,   ///< as kSetting, but it follows from another key and is not written itself
  kPolicy,    ///< says how to act; compared with nothing
  kFact,      ///< observed and shown; cannot be written in the document
};

/// The event that a change needs to take effect.
enum class Effect { kNow, kDriverReload, kInitramfsReboot };

std::string_view text_of(Effect effect);

/// One field, type-erased.
struct FieldSpec {
  std::string_view name;  ///< key in the document, in JSON and in the journal
  std::string_view type;  ///< for people: "P_Key", "MTU in bytes", "yes or no"
  Role role = Role::kSetting;
  std::string_view doc;       ///< one line
  std::string_view fallback;  ///< what holds when the key is not there, for people
  Effect effect = Effect::kNow;
  std::string_view schema;  ///< JSON Schema of the spellings accepted
  /// From a value as written to the canonical one; its error continues the name of the key: "must be …", also
  /// of a value of a sort that the field does not take.
  base::Result<Value> (*parse)(const Value& written) = nullptr;
  std::string_view unit{};   ///< of its numbers, for people who read them without the key's doc: "KiB"
  bool is_template = false;  ///< the kind fills in {…} of its text, which values of a host cannot have then
  std::string_view spoken{};   ///< in sentences, where the name alone says less: "mtu" of "live_mtu"
  std::string_view lacking{};  ///< what its value lists the missing ones of: "addresses" of "missing"
};

/// Whether values of the sort of `written` (string, integer, …) may be values of a field, as its schema says;
/// never of the sort that Value cannot carry.
bool takes(const FieldSpec& field, const Value& written);

template <class T>
base::Result<Value> canonical(const Value& written) {
  auto parsed = Codec<T>::parse(written);
  if (!parsed) return base::Failure(parsed.error());
  return Codec<T>::value(*parsed);
}

struct NameTemplate;

/// One field of struct S.
template <class S, class T>
struct Field {
  FieldSpec spec;
  std::optional<T> S::*member;
};

template <class S, class T>
constexpr Field<S, T> field(std::string_view name, std::optional<T> S::*member, Role role,
                            std::string_view doc, std::string_view fallback = "left unchanged",
                            Effect effect = Effect::kNow) {
  return {FieldSpec{name, Codec<T>::kType, role, doc, fallback, effect, Codec<T>::kSchema, &canonical<T>,
                    std::string_view(), std::is_same_v<T, NameTemplate>},
          member};
}

/// The table of S (S::kFields, a tuple of Field) as type-erased specs.
template <class S>
std::span<const FieldSpec> specs() {
  static constexpr auto kTable =
      std::apply([](const auto&... f) { return std::array<FieldSpec, sizeof...(f)>{f.spec...}; }, S::kFields);
  return kTable;
}

/// The fields of `s` that are set.
template <class S>
Attributes to_attributes(const S& s) {
  Attributes out;
  std::apply(
      [&](const auto&... f) {
        const auto add = [&](const auto& field) {
          if (const auto& value = s.*field.member) {
            using T = typename std::decay_t<decltype(value)>::value_type;
            out.emplace(field.spec.name, Codec<T>::value(*value));
          }
        };
        (add(f), ...);
      },
      S::kFields);
  return out;
}

/// The struct of canonical `attributes`; names that S does not have are passed over. Canonical values always
/// parse.
template <class S>
S from_attributes(const Attributes& attributes) {
  S out;
  std::apply(
      [&](const auto&... f) {
        const auto read = [&](const auto& field) {
          using T = typename std::decay_t<decltype(out.*field.member)>::value_type;
          const auto at = attributes.find(field.spec.name);
          if (at == attributes.end()) return;
          if (auto parsed = Codec<T>::parse(at->second)) out.*field.member = std::move(*parsed);
        };
        (read(f), ...);
      },
      S::kFields);
  return out;
}

/// An interface name, as a type of its own.
struct InterfaceName {
  std::string text;
  auto operator<=>(const InterfaceName&) const = default;
};

/// The wanted name of one interface, or a template for the names of several: "ib_s{pci_slot}p{port}".
struct NameTemplate {
  std::string text;
  auto operator<=>(const NameTemplate&) const = default;
  [[nodiscard]] bool fixed() const { return text.find('{') == std::string::npos; }
};

/// An IPoIB MTU in bytes; which values a mode takes is a rule across fields.
struct Mtu {
  std::int64_t bytes = 0;
  auto operator<=>(const Mtu&) const = default;
};

RDMACFG_CODEC(bool, "boolean", R"({"type":"boolean"})");
RDMACFG_CODEC(std::int64_t, "integer", R"({"type":"integer"})");
RDMACFG_CODEC(std::string, "string", R"({"type":"string","minLength":1})");
RDMACFG_CODEC(std::vector<std::string>, "list of strings",
              R"({"type":"array","items":{"type":"string","minLength":1}})");
RDMACFG_CODEC(
    Guid, "GUID",
    R"({"type":"string","pattern":"^(([0-9A-Fa-f]{2}:){7}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}:){3}[0-9A-Fa-f]{4}|(0[xX])?[0-9A-Fa-f]{16})$"})");
RDMACFG_CODEC(
    Pkey, "P_Key",
    R"({"oneOf":[{"type":"integer","minimum":1,"maximum":65535,"not":{"const":32768}},{"type":"string","pattern":"^(0[xX][0-9A-Fa-f]+|[0-9]+)$","not":{"pattern":"^[89][0-9]{3}$"}}]})");
RDMACFG_CODEC(IpoibMode, "\"datagram\" or \"connected\"", R"({"enum":["datagram","connected"]})");
RDMACFG_CODEC(State, "\"up\", \"down\", \"absent\" or \"ignore\"",
              R"({"enum":["up","down","absent","ignore"]})");
/// Of the interface of a port, which cannot be absent: FieldSpec::parse.
base::Result<Value> canonical_port_state(const Value& written);
/// Of an RDMA device, which cannot be down by itself: FieldSpec::parse.
base::Result<Value> canonical_device_state(const Value& written);
RDMACFG_CODEC(OnUnsupported, "\"fail\" or \"datagram\"", R"({"enum":["fail","datagram"]})");
RDMACFG_CODEC(InterfaceName, "interface name",
              R"({"type":"string","minLength":1,"maxLength":15,"pattern":"^[A-Za-z0-9_.][A-Za-z0-9_.-]*$"})");
RDMACFG_CODEC(NameTemplate, "interface name", R"({"type":"string","minLength":1})");
RDMACFG_CODEC(Mtu, "MTU in bytes", R"({"type":"integer","minimum":68,"maximum":65520})");

RDMACFG_CODEC(RdmaName, "RDMA device name",
              R"({"type":"string","minLength":1,"maxLength":63,"pattern":"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"})");
RDMACFG_CODEC(PciAddress, "PCI address",
              R"({"type":"string","pattern":"^([0-9A-Fa-f]{4}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\\.[0-7]$"})");
RDMACFG_CODEC(SoftType, "\"rxe\" or \"siw\"", R"({"enum":["rxe","siw"]})");
RDMACFG_CODEC(RoceMode, "\"v1\" or \"v2\"", R"({"enum":["v1","v2"]})");
RDMACFG_CODEC(Dscp, "DSCP", R"({"type":"integer","minimum":0,"maximum":63})");
RDMACFG_CODEC(Tos, "type of service", R"({"type":"integer","minimum":0,"maximum":255})");

}  // namespace rdmacfg::model
