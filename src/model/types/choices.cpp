// SPDX-License-Identifier: Apache-2.0
#include "model/types/choices.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "model/field.hpp"
#include "model/types.hpp"

namespace rdmacfg::model {

using base::fail;
using base::Result;

std::string wrong_choice(const Value& written, std::span<const std::string_view> known) {
  const std::vector<std::string> words(known.begin(), known.end());
  const auto* text = std::get_if<std::string>(&written);
  if (text == nullptr) return fmt::format("must be one of {}", base::join(words, ", "));
  auto message = fmt::format("\"{}\" is not one of {}", *text, base::join(words, ", "));
  // Of two words that are equally near, either may be meant.
  const std::vector<std::string> backwards(words.rbegin(), words.rend());
  const auto near = base::nearest(*text, words);
  if (near && base::nearest(*text, backwards) == near)
    message += fmt::format("; did you mean \"{}\"?", *near);
  return message;
}

std::string out_of_range(std::int64_t number, std::int64_t least, std::int64_t most) {
  return fmt::format("{} is out of range; must be from {} to {}", number, least, most);
}

std::string quoted_word(std::string_view text) {
  const bool number = base::parse_number(text.substr(text.starts_with('-') ? 1 : 0)).has_value();
  return number ? std::string(text) : fmt::format("\"{}\"", text);
}

namespace {

constexpr Choices<IpoibMode, 2> kModes{
    {{IpoibMode::kDatagram, "datagram"}, {IpoibMode::kConnected, "connected"}}};
constexpr Choices<State, 4> kStates{
    {{State::kUp, "up"}, {State::kDown, "down"}, {State::kAbsent, "absent"}, {State::kIgnore, "ignore"}}};
constexpr Choices<State, 3> kPortStates{
    {{State::kUp, "up"}, {State::kDown, "down"}, {State::kIgnore, "ignore"}}};
constexpr Choices<State, 3> kDeviceStates{
    {{State::kUp, "up"}, {State::kAbsent, "absent"}, {State::kIgnore, "ignore"}}};
constexpr Choices<OnUnsupported, 2> kPolicies{
    {{OnUnsupported::kFail, "fail"}, {OnUnsupported::kDatagram, "datagram"}}};
constexpr Choices<SoftType, 2> kSoftTypes{{{SoftType::kRxe, "rxe"}, {SoftType::kSiw, "siw"}}};
constexpr Choices<RoceMode, 2> kRoceModes{{{RoceMode::kV1, "v1"}, {RoceMode::kV2, "v2"}}};

Value value_in(std::string_view text) { return std::string(text); }

/// A state that `offered` lacks is read all the same: a rule refuses it.
Result<State> state_of(const Choices<State, 3>& offered, State refused, const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  if (text != nullptr && *text == text_of(refused)) return refused;
  return parse_choice(offered, written);
}

}  // namespace

Result<IpoibMode> parse_ipoib_mode(std::string_view text) { return parse_choice(kModes, value_in(text)); }
Result<IpoibMode> parse_named_mode(std::string_view text) {
  auto mode = parse_ipoib_mode(text);
  if (!mode) return fail(mode.error().code, "mode " + mode.error().message);
  return mode;
}
std::string_view text_of(IpoibMode mode) { return choice_text(kModes, mode); }
Result<IpoibMode> Codec<IpoibMode>::parse(const Value& written) { return parse_choice(kModes, written); }
Value Codec<IpoibMode>::value(const IpoibMode& parsed) { return std::string(text_of(parsed)); }

Result<State> parse_state(std::string_view text) { return parse_choice(kStates, value_in(text)); }
Result<State> parse_device_state(std::string_view text) {
  return state_of(kDeviceStates, State::kDown, value_in(text));
}
Result<State> parse_port_state(std::string_view text) {
  return state_of(kPortStates, State::kAbsent, value_in(text));
}
std::string_view text_of(State state) { return choice_text(kStates, state); }
Result<State> Codec<State>::parse(const Value& written) { return parse_choice(kStates, written); }
Value Codec<State>::value(const State& parsed) { return std::string(text_of(parsed)); }
Result<Value> canonical_port_state(const Value& written) {
  return state_of(kPortStates, State::kAbsent, written).map([](State parsed) {
    return Codec<State>::value(parsed);
  });
}
Result<Value> canonical_device_state(const Value& written) {
  return state_of(kDeviceStates, State::kDown, written).map([](State parsed) {
    return Codec<State>::value(parsed);
  });
}

Result<OnUnsupported> parse_on_unsupported(std::string_view text) {
  return parse_choice(kPolicies, value_in(text));
}
std::string_view text_of(OnUnsupported policy) { return choice_text(kPolicies, policy); }
Result<OnUnsupported> Codec<OnUnsupported>::parse(const Value& written) {
  return parse_choice(kPolicies, written);
}
Value Codec<OnUnsupported>::value(const OnUnsupported& parsed) { return std::string(text_of(parsed)); }

Result<SoftType> parse_soft_type(std::string_view text) { return parse_choice(kSoftTypes, value_in(text)); }
std::string_view text_of(SoftType type) { return choice_text(kSoftTypes, type); }
Result<SoftType> Codec<SoftType>::parse(const Value& written) { return parse_choice(kSoftTypes, written); }
Value Codec<SoftType>::value(const SoftType& parsed) { return std::string(text_of(parsed)); }

Result<RoceMode> parse_roce_mode(std::string_view text) { return parse_choice(kRoceModes, value_in(text)); }
std::string_view text_of(RoceMode mode) { return choice_text(kRoceModes, mode); }
Result<RoceMode> Codec<RoceMode>::parse(const Value& written) { return parse_choice(kRoceModes, written); }
Value Codec<RoceMode>::value(const RoceMode& parsed) { return std::string(text_of(parsed)); }

}  // namespace rdmacfg::model
