// SPDX-License-Identifier: Apache-2.0
#include "config/toml/scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "config/guard.hpp"
#include "config/toml/toml_scalar.hpp"

namespace rdmacfg::config {

namespace {

constexpr std::size_t kLongestWord = 64;  // the longest number or date that makes sense is shorter

ScalarError escape_error(std::string_view token) {
  for (auto at = token.find('\\'); at != std::string_view::npos; at = token.find('\\', at + 2)) {
    const auto after = token.substr(at + 1, utf8_length(token.substr(at + 1)));
    if (std::string_view("btnfr\"\\uU \t\r\n").find(after) != std::string_view::npos) continue;
    return {fmt::format("\\{} is not an escape sequence of a double-quoted string", after),
            "write \\\\ for a backslash, or use single quotes"};
  }
  return {"the string contains an invalid escape sequence", "\\u takes 4 and \\U takes 8 hexadecimal digits"};
}

/// A word without the typographic quotes around it.
std::string inside_quotes(std::string word) {
  for (const std::string_view mark : {"\u201c", "\u201d", "\u201e", "\u2018", "\u2019", "\u00ab", "\u00bb"}) {
    for (auto at = word.find(mark); at != std::string::npos; at = word.find(mark))
      word.erase(at, mark.size());
  }
  return word;
}

/// A word as an integer of TOML: its error is that of std::from_chars(), and invalid_argument where something
/// else is in it.
struct Integer {
  std::int64_t number = 0;
  std::errc error{};
};

Integer integer_of(std::string_view word) {
  std::string digits(word);
  std::erase(digits, '_');
  if (digits.starts_with('+')) digits.erase(0, 1);
  int radix = 10;
  if (digits.starts_with("0x")) radix = 16;
  if (digits.starts_with("0o")) radix = 8;
  if (digits.starts_with("0b")) radix = 2;
  if (radix != 10) digits.erase(0, 2);
  Integer out;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.number, radix);
  out.error = end == digits.data() + digits.size() ? error : std::errc::invalid_argument;
  return out;
}

/// A GUID in hexadecimal is the number that is most often too large: TOML's are of 64 bits with a sign.
ScalarError too_large(std::string_view word) {
  constexpr std::size_t kGuid = 18;  // "0x" and 16 digits
  const bool guid = word.starts_with("0x") && word.size() == kGuid;
  return {fmt::format("{} is too large", word),
          guid ? fmt::format("put an identifier in quotes: \"{}\"", word) : std::string()};
}

/// How to write a word that begins as a number does and is none; empty where quotes are all that it lacks.
std::string number_hint(std::string_view word) {
  constexpr std::string_view kHexadecimal = "0123456789abcdefABCDEF";
  constexpr std::size_t kPkeyDigits = 4;
  const auto hexadecimal = [&](std::string_view digits) {
    return !digits.empty() && digits.find_first_not_of(kHexadecimal) == std::string_view::npos;
  };
  if (word.empty()) return {};
  if ((word.front() == 'x' || word.front() == 'X') && word.size() <= kPkeyDigits + 1 &&
      hexadecimal(word.substr(1)))
    return fmt::format("write 0x{}", word.substr(1));
  const bool digit_first = word.front() >= '0' && word.front() <= '9';
  if ((digit_first ? word.size() <= kPkeyDigits : word.size() == kPkeyDigits) && hexadecimal(word))
    return fmt::format("write 0x{0} for a hexadecimal number, \"{0}\" for text", word);
  if (!digit_first) return {};
  if (word.starts_with("0X") && hexadecimal(word.substr(2))) return fmt::format("write 0x{}", word.substr(2));
  if (word.starts_with("0x") || word.starts_with("0X")) {
    const auto letters_only = std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    return letters_only ? "a hexadecimal number has the digits 0 to 9 and a to f" : std::string();
  }
  const auto unit = word.substr(std::min(word.find_first_not_of("0123456789"), word.size()));
  constexpr std::size_t kLongestUnit = 3;  // "GiB"
  const bool letters = std::all_of(unit.begin(), unit.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  if (unit.empty() || unit.size() > kLongestUnit || !letters) return {};
  return fmt::format("write the number without a unit, or \"{}\" where the key takes one", word);
}

ScalarError word_error(std::string_view word) {
  const auto is = [&](auto... other) { return ((word == other) || ...); };
  std::size_t cut = 0;
  while (cut < std::min(word.size(), kLongestWord))
    cut += std::max<std::size_t>(utf8_length(word.substr(cut)), 1);
  const std::string shown(word.substr(0, cut));
  const auto as_boolean = [&](std::string_view value) {
    return ScalarError{shown + " is not a valid value",
                       fmt::format("write {}, or \"{}\" where the key takes a string", value, shown)};
  };
  if (is("yes", "on", "True", "TRUE", "Yes", "On")) return as_boolean("true");
  if (is("null", "NULL", "Null", "nil", "None", "~"))
    return {shown + " is not a valid value", "TOML has no null: leave the line out"};
  if (is("no", "off", "False", "FALSE", "No", "Off")) return as_boolean("false");
  for (const std::string_view mark : {"\u201c", "\u201d", "\u201e", "\u2018", "\u2019", "\u00ab"}) {
    if (!word.starts_with(mark)) continue;
    return {fmt::format("{} is in typographic quotes", shown),
            fmt::format("write \"{}\"", inside_quotes(shown))};
  }
  const bool digits =
      std::all_of(word.begin(), word.end(), [](char c) { return (c >= '0' && c <= '9') || c == '_'; });
  if (digits && word.size() > 1 && word.front() == '0')
    return {"a number cannot begin with 0", "hexadecimal numbers begin with 0x"};
  if (integer_of(word).error == std::errc::result_out_of_range)
    return too_large(shown);  // refused by toml11 4
  if (digits && word.find('_') != std::string_view::npos && word.front() != '_')
    return {shown + " is not a valid value", "an underscore in a number stands between two digits"};
  const bool semicolon = word.size() <= kLongestWord && word.ends_with(';') && !word.ends_with(";;") &&
                         !std::holds_alternative<ScalarError>(parse_scalar(word.substr(0, word.size() - 1)));
  if (semicolon) return {shown + " is not a valid value", "remove the ';'"};
  if (auto hint = number_hint(shown); !hint.empty())
    return {shown + " is not a valid value", std::move(hint)};
  return {shown + " is not a valid value", fmt::format("put text in quotes: \"{}\"", shown)};
}

/// In a file of another program, or on a terminal, it would not stand for itself.
ScalarError control_error(std::uint32_t code, std::string_view text) {
  if (code == '\n' || code == '\r')
    return {"the text has more than one line", "write it as one line", model::Value(harmless(text))};
  const bool control = code < 0xa0;
  return {fmt::format("the text contains {} U+{:04X}",
                      control          ? "the control character"
                      : code == 0x2028 ? "the line separator"
                      : code == 0x2029 ? "the paragraph separator"
                                       : "the bidirectional control",
                      code),
          "remove it: tabs are the only control characters allowed in a string",
          model::Value(harmless(text))};
}

Scalar accept(TomlScalar scalar, std::string_view token) {
  if (const auto* foreign = std::get_if<Foreign>(&scalar)) return *foreign;
  if (const auto* number = std::get_if<std::int64_t>(&scalar)) {
    // toml11 3.7.1 silently cuts a number that does not fit.
    const auto exact = integer_of(token);
    if (exact.error != std::errc{} || exact.number != *number) return too_large(token);
    return model::Value(*number);
  }
  if (const auto* truth = std::get_if<bool>(&scalar)) return model::Value(*truth);
  auto& text = std::get<std::string>(scalar);
  if (const auto control = base::first_control(text)) return control_error(*control, text);
  return model::Value(std::move(text));
}

/// Decodes the common scalars without toml11, which takes a hundred times as long: a string of
/// printable ASCII without an escape, a number without underscores, true and false.
std::optional<model::Value> parse_simple(std::string_view token) {
  if (token == "true" || token == "false") return model::Value(token == "true");
  if (token.size() >= 2 && (token.front() == '"' || token.front() == '\'') && token.back() == token.front()) {
    const auto text = token.substr(1, token.size() - 2);
    const bool simple = std::all_of(text.begin(), text.end(), [](char c) {
      return c >= ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\';
    });
    if (simple) return model::Value(std::string(text));
    return std::nullopt;
  }
  const bool hexadecimal = token.starts_with("0x");
  const auto digits = hexadecimal ? token.substr(2) : token;
  if (digits.empty() || (!hexadecimal && digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  const bool number = std::all_of(digits.begin(), digits.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (hexadecimal && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
  });
  if (!number) return std::nullopt;
  std::int64_t exact = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), exact, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return model::Value(exact);
}

}  // namespace

Scalar parse_scalar(std::string_view token) {
  if (auto simple = parse_simple(token)) return std::move(*simple);
  const bool quoted = token.starts_with('"') || token.starts_with('\'');
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_+-.: ").find(c) != std::string_view::npos;
  };
  if (!quoted && (token.size() > kLongestWord || !std::all_of(token.begin(), token.end(), plain)))
    return word_error(token);
  if (auto decoded = decode_toml(token)) return accept(std::move(*decoded), token);
  return token.starts_with('"') ? escape_error(token) : word_error(token);
}

}  // namespace rdmacfg::config
