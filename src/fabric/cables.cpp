// SPDX-License-Identifier: Apache-2.0
#include "fabric/cables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"

namespace rdmacfg::fabric {

namespace {

using model::Role;
using model::Value;

base::Result<Value> parse_end(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  const auto slash = text == nullptr ? std::string::npos : text->rfind('/');
  const auto port = slash == std::string::npos ? std::nullopt : base::parse_number(text->substr(slash + 1));
  constexpr std::uint64_t kMostPorts = 254;
  if (!port || slash == 0 || *port == 0 || *port > kMostPorts)
    return base::fail(base::Code::kInvalid, "must be a node and a port, such as \"leaf1/7\"");
  return written;
}

template <std::size_t N>
base::Result<Value> parse_word(const Value& written, const std::array<std::string_view, N>& names) {
  const auto* text = std::get_if<std::string>(&written);
  if (text != nullptr && std::find(names.begin(), names.end(), *text) != names.end()) return written;
  return base::fail(base::Code::kInvalid, fmt::format("must be one of {}", fmt::join(names, ", ")));
}

base::Result<Value> parse_width(const Value& written) { return parse_word(written, kWidthNames); }
base::Result<Value> parse_speed(const Value& written) { return parse_word(written, kSpeedNames); }

template <class Enumerator, std::size_t N>
std::optional<Enumerator> word_of(const model::Section& section, std::string_view key,
                                  const std::array<std::string_view, N>& names) {
  const auto* entry = section.find(key);
  const auto* text = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value);
  if (text == nullptr) return std::nullopt;
  const auto at = std::find(names.begin(), names.end(), *text);
  return static_cast<Enumerator>(at - names.begin());
}

std::string text_at(const model::Section& section, std::string_view key) {
  const auto* entry = section.find(key);
  const auto* text = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

const std::vector<model::SectionSpec>& cable_grammar() {
  static const std::vector<model::SectionSpec> kGrammar{
      {"cable",
       true,
       "A cable of the fabric.",
       {{"from", "node/port", Role::kIdentity, "One end.", "", model::Effect::kNow, R"({"type":"string"})",
         &parse_end},
        {"to", "node/port", Role::kSetting, "The other end.", "", model::Effect::kNow, R"({"type":"string"})",
         &parse_end},
        {"width", "width", Role::kSetting, "The width it must have.", "any", model::Effect::kNow,
         R"({"type":"string"})", &parse_width},
        {"speed", "speed", Role::kSetting, "The speed it must have.", "any", model::Effect::kNow,
         R"({"type":"string"})", &parse_speed}},
       {{"from"}}}};
  return kGrammar;
}

std::vector<Cable> cables_of(const config::Document& document) {
  std::vector<Cable> out;
  for (const auto& section : document.sections) {
    if (section.path != "cable") continue;
    out.push_back({text_at(section, "from"), text_at(section, "to"),
                   word_of<Width>(section, "width", kWidthNames),
                   word_of<Speed>(section, "speed", kSpeedNames)});
  }
  return out;
}

}  // namespace rdmacfg::fabric
