// SPDX-License-Identifier: Apache-2.0
#include "fabric/cables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "model/types.hpp"
#include "model/types/choices.hpp"

namespace rdmacfg::fabric {

namespace {

using model::Role;
using model::Section;
using model::Value;

/// A node and a port as they are written: "leaf1" and "7" of "leaf1/7".
struct WrittenEnd {
  std::string_view node, port;
};

std::optional<WrittenEnd> split_end(std::string_view text) {
  const auto slash = text.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  return WrittenEnd{text.substr(0, slash), text.substr(slash + 1)};
}

/// The GUID of a node that is named by its GUID, or by its description and GUID, "leaf1 (GUID)", as
/// Index::name() writes nodes that share a description. Of other nodes some text that is not a GUID.
std::string_view guid_part(std::string_view node) {
  const auto bracket = node.rfind(" (");
  if (bracket == std::string_view::npos || !node.ends_with(')')) return node;
  return node.substr(bracket + 2, node.size() - bracket - 3);
}

constexpr std::string_view kGuidCharacters = "0123456789abcdefABCDEF:";

/// Whether a text is meant as a GUID, even if it is not a valid one: descriptions do not look like this.
bool is_meant_as_guid(std::string_view text) {
  constexpr std::ptrdiff_t kFewestColons = 3;  // 0002:c903:0031:78f2
  if (text.starts_with("0x") || text.starts_with("0X")) return text.find(' ') == std::string_view::npos;
  return std::count(text.begin(), text.end(), ':') >= kFewestColons &&
         text.find_first_not_of(kGuidCharacters) == std::string_view::npos;
}

base::Result<Value> parse_end(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  const auto end = text == nullptr ? std::nullopt : split_end(*text);
  if (!end) {
    return base::fail(base::Code::kInvalid,
                      fmt::format("{}must be a node and a port, such as \"leaf1/7\"",
                                  text == nullptr ? std::string() : fmt::format("is \"{}\"; ", *text)));
  }
  const auto port = base::parse_number(end->port);
  constexpr std::uint64_t kMostPorts = 254;
  if (!port || *port == 0 || *port > kMostPorts) {
    return base::fail(base::Code::kInvalid,
                      fmt::format("the port \"{}\" must be a number from 1 to {}, such as in \"leaf1/7\"",
                                  end->port, kMostPorts));
  }
  const auto guid = guid_part(end->node);
  if (!is_meant_as_guid(guid)) return written;
  if (const auto parsed = model::Guid::parse(guid); !parsed) return base::fail(parsed.error());
  return written;
}

template <std::size_t N>
base::Result<Value> parse_word(const Value& written, const std::array<std::string_view, N>& names) {
  const auto* text = std::get_if<std::string>(&written);
  if (text != nullptr && std::find(names.begin(), names.end(), *text) != names.end()) return written;
  return base::fail(base::Code::kInvalid, model::wrong_choice(written, names));
}

base::Result<Value> parse_width(const Value& written) { return parse_word(written, kWidthNames); }
base::Result<Value> parse_speed(const Value& written) { return parse_word(written, kSpeedNames); }

template <class Enumerator, std::size_t N>
std::optional<Enumerator> word_of(const Section& section, std::string_view key,
                                  const std::array<std::string_view, N>& names) {
  const auto* entry = section.find(key);
  const auto* text = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value);
  if (text == nullptr) return std::nullopt;
  const auto at = std::find(names.begin(), names.end(), *text);
  return static_cast<Enumerator>(at - names.begin());
}

std::string text_at(const Section& section, std::string_view key) {
  const auto* entry = section.find(key);
  const auto* text = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value);
  return text == nullptr ? std::string() : *text;
}

/// One text for all spellings of an end.
std::string id_of_end(const std::string& text) {
  const auto end = split_end(text);
  if (!end) return text;
  const auto number = base::parse_number(end->port);
  auto node = std::string(end->node);
  const auto guid = guid_part(end->node);
  if (is_meant_as_guid(guid) || guid.find_first_not_of(kGuidCharacters) == std::string_view::npos) {
    if (const auto parsed = model::Guid::parse(guid)) node = parsed->text();
  }
  return fmt::format("{}/{}", node, number.value_or(0));
}

/// Holds the [[cable]] entries of a document against one another.
class CableEntries {
 public:
  explicit CableEntries(model::Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void add(const Section& section) {
    const auto *from = section.find("from"), *to = section.find("to");
    if (from == nullptr) return;  // reported already, by the grammar
    const auto name = model::text_of(from->value);
    if (to == nullptr) {
      refuse(section.where, fmt::format("[[cable]] {}: to is missing", name),
             "write the port at the other end: to = \"node007/1\"");
      return;
    }
    const auto here = id_of_end(name), there = id_of_end(model::text_of(to->value));
    if (here == there) {
      refuse(to->where, fmt::format("[[cable]] to: {} is the same port as from", model::text_of(to->value)),
             "write the port at the other end of the cable");
      return;
    }
    const auto* other = plug(here, {there, &section, from, "from"});
    plug(there, {here, &section, to, "to"});
    if (other != nullptr) compare(section, *other);
  }

 private:
  /// An end of a cable.
  struct Plugged {
    std::string peer;
    const Section* section;
    const model::Entry* entry;
    std::string_view key;
  };

  model::Diagnostic& refuse(const model::Location& where, std::string message, std::string hint) {
    return diagnostics_.emplace_back(
        model::Diagnostic{model::Severity::kError, where, std::move(message), std::move(hint), {}});
  }

  /// @return an earlier entry about the same cable, or nullptr
  const Section* plug(const std::string& port, Plugged end) {
    const auto [at, is_new] = ports_.try_emplace(port, end);
    if (is_new) return nullptr;
    const auto& first = at->second;
    if (first.peer == end.peer) return first.section;
    auto& wrong = refuse(end.entry->where,
                         fmt::format("[[cable]] {}: {} already has a cable, to {}", end.key,
                                     model::text_of(end.entry->value), first.peer),
                         "a port has one cable: correct one of the two entries, or delete it");
    wrong.related.push_back({first.entry->where, "first used here"});
    return nullptr;
  }

  void compare(const Section& section, const Section& first) {
    for (const auto* key : {"width", "speed"}) {
      const auto *value = section.find(key), *before = first.find(key);
      if (value == nullptr || before == nullptr || value->value == before->value) continue;
      auto& wrong = refuse(value->where,
                           fmt::format("[[cable]] {}: is {}, but {} in another entry of this cable", key,
                                       model::text_of(value->value), model::text_of(before->value)),
                           fmt::format("write the same {} in both entries, or keep one entry", key));
      wrong.related.push_back({before->where, "first used here"});
    }
  }

  model::Diagnostics& diagnostics_;
  std::unordered_map<std::string, Plugged> ports_;  ///< by id_of_end()
};

}  // namespace

model::SectionSpec cable_section() {
  constexpr std::string_view kEnd = "node and port";
  constexpr std::string_view kEndSchema = R"({"type":"string","pattern":"^.+/(0[xX][0-9A-Fa-f]+|[0-9]+)$"})";
  return {.name = "cable",
          .doc = "A cable of the InfiniBand fabric: expected by rdma-configctl fabric, ignored by apply.",
          .fields = {{"from", kEnd, Role::kIdentity,
                      "One end, \"leaf1/7\": a node by its description or GUID, and a port.", "-",
                      model::Effect::kNow, kEndSchema, &parse_end},
                     {"to", kEnd, Role::kSetting, "The other end.", "-", model::Effect::kNow, kEndSchema,
                      &parse_end},
                     {"width", "\"1X\", \"2X\", \"4X\", \"8X\" or \"12X\"", Role::kSetting,
                      "The width that the link must have.", "any", model::Effect::kNow,
                      R"({"enum":["1X","2X","4X","8X","12X"]})", &parse_width},
                     {"speed",
                      "\"SDR\", \"DDR\", \"QDR\", \"FDR10\", \"FDR\", \"EDR\", \"HDR\", \"NDR\" or \"XDR\"",
                      Role::kSetting, "The speed that the link must have.", "any", model::Effect::kNow,
                      R"({"enum":["SDR","DDR","QDR","FDR10","FDR","EDR","HDR","NDR","XDR"]})", &parse_speed}},
          .identities = {{"from"}}};
}

void check_cable_entries(std::span<const Section> sections, model::Diagnostics& diagnostics) {
  CableEntries entries(diagnostics);
  for (const auto& section : sections) {
    if (section.path == "cable") entries.add(section);
  }
}

std::vector<Cable> cables_of(std::span<const Section> sections) {
  std::vector<Cable> out;
  for (const auto& section : sections) {
    if (section.path != "cable") continue;
    out.push_back({text_at(section, "from"), text_at(section, "to"),
                   word_of<Width>(section, "width", kWidthNames),
                   word_of<Speed>(section, "speed", kSpeedNames)});
  }
  return out;
}

}  // namespace rdmacfg::fabric
