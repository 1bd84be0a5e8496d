// SPDX-License-Identifier: Apache-2.0
#include "model/types/module_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.hpp"
#include "model/types/choices.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t kModuleNameMax = 55;  // MODULE_NAME_LEN, 64 less a pointer, less the NUL

bool is_word(std::string_view text, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || more.find(static_cast<char>(c)) != more.npos;
  });
}

std::string underscored(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

Result<std::vector<std::string>> get_list(const Value& written, std::string_view wanted) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&written)) return *list;
  if (const auto* text = std::get_if<std::string>(&written)) return std::vector<std::string>{*text};
  if (const auto* number = std::get_if<std::int64_t>(&written))
    return std::vector<std::string>{std::to_string(*number)};
  return fail(Code::kInvalid, fmt::format("must be {}", wanted));
}

/// modprobe.d(5) separates options by blanks, and so do people who write several in one text.
std::vector<std::string> split_options(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const auto& text : texts) {
    // The queries of dynamic debug have blanks in them.
    const auto trimmed = base::trim(text);
    if (trimmed.starts_with("dyndbg=") || trimmed.empty()) {
      out.emplace_back(trimmed);
      continue;
    }
    for (const auto word : base::split(trimmed, ' ')) {
      if (!word.empty()) out.emplace_back(word);
    }
  }
  return out;
}

}  // namespace

Result<ModuleName> ModuleName::parse(std::string_view text) {
  // The file, as modinfo has it: "mlx4_core.ko.xz".
  const auto bare = text.substr(0, text.find('.'));
  const auto suffix = text.substr(bare.size());
  if ((suffix == ".ko" || suffix.starts_with(".ko.")) && is_word(bare, ""))
    return fail(Code::kInvalid, fmt::format("\"{}\" is a file; the name of the module is {}", text, bare));
  if (text.size() > kModuleNameMax || !is_word(text, "")) {
    return fail(
        Code::kInvalid,
        fmt::format("\"{}\" is not a valid kernel module name: letters, digits, '_' and '-', at most {}",
                    text, kModuleNameMax));
  }
  return ModuleName{underscored(text)};
}

Result<ModuleOption> ModuleOption::parse(std::string_view text) {
  const auto equals = text.find('=');
  const auto name = text.substr(0, equals);
  // A number is what is left of a value with blanks.
  if (!is_word(name, ".") || std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
    return fail(
        Code::kInvalid,
        fmt::format("\"{}\" is not a module option; write it like \"pfctx=8\", without blanks", text));
  }
  ModuleOption option{underscored(name), {}, equals != std::string_view::npos};
  if (option.has_value) option.value = text.substr(equals + 1);
  if (option.value.find_first_of("\"\\#\n\r\t") != std::string::npos) {
    return fail(Code::kInvalid,
                fmt::format("\"{}\": quotes, backslashes, '#', tabs and line ends cannot be written to "
                            "modprobe.d",
                            text));
  }
  return option;
}

Result<ModuleName> Codec<ModuleName>::parse(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  if (text == nullptr) return fail(Code::kInvalid, "must be a string such as \"mlx4_en\"");
  return ModuleName::parse(*text);
}
Value Codec<ModuleName>::value(const ModuleName& parsed) { return parsed.text; }

Result<ModuleOptions> Codec<ModuleOptions>::parse(const Value& written) {
  constexpr std::string_view kWanted = "a list of strings such as [\"pfctx=8\"]";
  if (std::holds_alternative<std::int64_t>(written))
    return fail(Code::kInvalid, fmt::format("must be {}", kWanted));
  auto list = get_list(written, kWanted);
  if (!list) return fail(list.error());
  for (const auto& text : *list) {
    if (base::trim(text).starts_with("options "))
      return fail(
          Code::kInvalid,
          fmt::format(
              "\"{}\" is a line of modprobe.d: write the part after the module name, such as \"num_vfs=4\"",
              text));
  }
  ModuleOptions out;
  std::set<std::string> seen;
  for (const auto& text : split_options(*list)) {
    auto option = ModuleOption::parse(text);
    if (!option) return fail(option.error());
    if (!seen.insert(option->name).second) {
      return fail(Code::kInvalid, fmt::format("gives {} twice", option->name));
    }
    out.list.push_back(std::move(*option));
  }
  return out;
}
Value Codec<ModuleOptions>::value(const ModuleOptions& parsed) {
  std::vector<std::string> out;
  for (const auto& option : parsed.list) out.push_back(option.text());
  return out;
}

Result<Priorities> Codec<Priorities>::parse(const Value& written) {
  auto list = get_list(written, "a list of priorities such as [3, 4]");
  if (!list) return fail(list.error());
  Priorities out;
  for (const auto& text : *list) {
    const auto number = base::parse_number(text);
    if (!number || *number >= kPriorities) {
      return fail(Code::kInvalid,
                  fmt::format("{} is not a priority from 0 to {}", quoted_word(text), kPriorities - 1));
    }
    out.mask |= 1U << *number;
  }
  return out;
}
Value Codec<Priorities>::value(const Priorities& parsed) { return numbers_in(parsed.mask); }

std::vector<std::string> numbers_in(unsigned mask) {
  std::vector<std::string> out;
  for (unsigned number = 0; number < kPriorities; ++number) {
    if ((mask >> number & 1U) != 0) out.push_back(std::to_string(number));
  }
  return out;
}

Result<PfcDriverName> Codec<PfcDriverName>::parse(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  if (text == nullptr) return fail(Code::kInvalid, "must be a string such as \"mlx4_en\"");
  const auto name = underscored(*text);
  if (name == "mlx4_en" || name == "mlx4" || name == "mlx4_core") return PfcDriverName{"mlx4_en"};
  return fail(Code::kInvalid,
              fmt::format("\"{}\": only mlx4_en has module options for PFC; for other adapters write "
                          "interface = \"…\" instead",
                          *text));
}
Value Codec<PfcDriverName>::value(const PfcDriverName& parsed) { return parsed.text; }

namespace {

constexpr Choices<InitramfsPolicy, 2> kInitramfsPolicies{
    {{InitramfsPolicy::kRebuild, "rebuild"}, {InitramfsPolicy::kReport, "report"}}};

}  // namespace

Result<InitramfsPolicy> Codec<InitramfsPolicy>::parse(const Value& written) {
  return parse_choice(kInitramfsPolicies, written);
}
Value Codec<InitramfsPolicy>::value(const InitramfsPolicy& parsed) {
  return std::string(choice_text(kInitramfsPolicies, parsed));
}

}  // namespace rdmacfg::model
