// SPDX-License-Identifier: Apache-2.0
#include "model/types/host_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "model/types/choices.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

Result<UnitName> UnitName::parse(std::string_view text) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.\\@-";
  // systemd.unit(5)
  constexpr std::array<std::string_view, 11> kSuffixes{".service", ".socket", ".timer",    ".target",
                                                       ".path",    ".slice",  ".scope",    ".mount",
                                                       ".swap",    ".device", ".automount"};
  constexpr std::size_t kLongest = 255;
  if (text.empty() || text.find_first_not_of(kAllowed) != std::string_view::npos) {
    return fail(Code::kInvalid,
                fmt::format("\"{}\" is not a valid systemd unit name (letters, digits and :-_.\\@)", text));
  }
  std::string name(text);
  const bool has_suffix = std::any_of(kSuffixes.begin(), kSuffixes.end(),
                                      [&](const auto& suffix) { return text.ends_with(suffix); });
  if (!has_suffix) name += kSuffixes.front();
  if (name.size() > kLongest || name.starts_with('.')) {
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a valid systemd unit name", text));
  }
  return UnitName{std::move(name)};
}

Result<UnitName> Codec<UnitName>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return UnitName::parse(*text);
  return fail(Code::kInvalid, "must be a string such as \"rdma-ndd.service\"");
}

Value Codec<UnitName>::value(const UnitName& parsed) { return parsed.text; }

Result<LockLimit> LockLimit::parse(std::string_view text) {
  if (text == "unlimited" || text == "infinity") return LockLimit{};
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = base::parse_number(text.substr(0, digits));
  auto unit = base::trim(text.substr(digits));
  if (unit.ends_with("iB")) unit.remove_suffix(2);
  constexpr std::string_view kUnits = "KMGT";
  const auto power = unit.empty() ? 0 : kUnits.find(unit);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;  // KiB; 2^60 bytes
  if (!number || unit.size() > 1 || power == std::string_view::npos ||
      *number > (kMost >> (10U * static_cast<unsigned>(power)))) {
    return fail(Code::kInvalid,
                fmt::format("\"{}\" is not a size such as 65536 (KiB), \"64 GiB\" or \"unlimited\"", text));
  }
  return LockLimit{static_cast<std::int64_t>(*number << (10U * static_cast<unsigned>(power)))};
}

std::string LockLimit::text() const { return kib ? std::to_string(*kib) : "unlimited"; }

Result<LockLimit> Codec<LockLimit>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return LockLimit::parse(*text);
  if (const auto* number = std::get_if<std::int64_t>(&written))
    return LockLimit::parse(std::to_string(*number));
  return fail(Code::kInvalid,
              "must be a number of KiB such as 65536, or a string such as \"64 GiB\" or \"unlimited\"");
}

Value Codec<LockLimit>::value(const LockLimit& parsed) {
  if (parsed.kib) return *parsed.kib;
  return std::string("unlimited");
}

Result<LimitDomain> Codec<LimitDomain>::parse(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  if (text == nullptr) return fail(Code::kInvalid, "must be a string such as \"alice\", \"@group\" or \"*\"");
  if (*text == "*") return LimitDomain{*text};
  std::string_view name(*text);
  if (name.starts_with('@')) name.remove_prefix(1);
  if (name.ends_with('$')) name.remove_suffix(1);  // a machine account of Samba
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  if (name.empty() || kLetters.find(name.front()) == std::string_view::npos ||
      name.find_first_not_of(std::string(kLetters) + "0123456789.-") != std::string_view::npos) {
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a user, \"@group\" or \"*\"", *text));
  }
  return LimitDomain{*text};
}

Value Codec<LimitDomain>::value(const LimitDomain& parsed) { return parsed.text; }

Result<SysctlPath> SysctlPath::parse(std::string_view text) {
  if (text.starts_with('-')) {
    return fail(Code::kInvalid,
                fmt::format("\"{}\" begins with \"-\", which is for files of sysctl.d: write \"{}\"", text,
                            text.substr(1)));
  }
  std::string path(text);
  const auto first = path.find_first_of("./");
  if (first != std::string::npos && path[first] == '.') {
    for (auto& c : path) c = c == '.' ? '/' : c == '/' ? '.' : c;
  }
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@-";
  bool valid = first != std::string::npos && path.find_first_not_of(kAllowed) == std::string::npos;
  for (const auto part : base::split(path, '/'))
    valid = valid && !part.empty() && part != "." && part != "..";
  if (valid) return SysctlPath{std::move(path)};
  auto message =
      fmt::format("\"{}\" is not a kernel setting such as \"net.ipv4.neigh.default.gc_thresh1\"", text);
  // Spellings of other places: a file of /proc, a line of sysctl.conf.
  constexpr std::string_view kProc = "/proc/sys/";
  const auto equals = text.find('=');
  const auto name = base::trim(text.substr(0, equals));
  if (text.starts_with(kProc) && SysctlPath::parse(text.substr(kProc.size()))) {
    message += fmt::format("; write \"{}\"", text.substr(kProc.size()));
  } else if (equals != std::string_view::npos && SysctlPath::parse(name)) {
    message +=
        fmt::format("; write key = \"{}\" and value = \"{}\"", name, base::trim(text.substr(equals + 1)));
  }
  return fail(Code::kInvalid, std::move(message));
}

Result<SysctlPath> Codec<SysctlPath>::parse(const Value& written) {
  if (const auto* text = std::get_if<std::string>(&written)) return SysctlPath::parse(*text);
  return fail(Code::kInvalid, "must be a string such as \"net.ipv4.neigh.default.gc_thresh1\"");
}

Value Codec<SysctlPath>::value(const SysctlPath& parsed) { return parsed.text; }

Result<SysctlValue> Codec<SysctlValue>::parse(const Value& written) {
  if (const auto* number = std::get_if<std::int64_t>(&written)) return SysctlValue{std::to_string(*number)};
  if (const auto* truth = std::get_if<bool>(&written)) {
    return fail(Code::kInvalid,
                fmt::format("must be a number or a string ({} for the kernel, \"{}\" for OpenSM)",
                            *truth ? 1 : 0, *truth ? "TRUE" : "FALSE"));
  }
  const auto* text = std::get_if<std::string>(&written);
  if (std::holds_alternative<std::vector<std::string>>(written)) {
    return fail(Code::kInvalid,
                "must be a number or a string (several values are one string, such as \"4096 "
                "87380\")");
  }
  if (text == nullptr)
    return fail(Code::kInvalid, "must be a number or a string, such as 4096 or \"4096 87380\"");
  std::string value;
  for (const char c : base::trim(*text)) {
    if (c != ' ' && c != '\t') value += c;
    if ((c == ' ' || c == '\t') && value.back() != ' ') value += ' ';
  }
  if (value.empty()) return fail(Code::kInvalid, "is empty");
  return SysctlValue{std::move(value)};
}

Value Codec<SysctlValue>::value(const SysctlValue& parsed) { return parsed.text; }

namespace {

constexpr Choices<NetnsMode, 2> kNetnsModes{
    {{NetnsMode::kShared, "shared"}, {NetnsMode::kExclusive, "exclusive"}}};

}  // namespace

std::string_view text_of(NetnsMode mode) { return choice_text(kNetnsModes, mode); }

Result<NetnsMode> Codec<NetnsMode>::parse(const Value& written) { return parse_choice(kNetnsModes, written); }

Value Codec<NetnsMode>::value(const NetnsMode& parsed) { return std::string(text_of(parsed)); }

}  // namespace rdmacfg::model
