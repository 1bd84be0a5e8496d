// SPDX-License-Identifier: Apache-2.0
#include "ctl/bundle/anonymiser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "ctl/bundle/shapes.hpp"
#include "ctl/bundle/vocabulary.hpp"

namespace rdmacfg::ctl {

namespace {

using model::IpAddress;

constexpr std::size_t kLongestAddress = 256;  // characters of an address, so that none is looked for further

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return is_decimal(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || byte >= 0x80;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::uint64_t hex_number(std::string_view digits) {
  std::uint64_t out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
  return out;
}

/// In the letters of `like`: upper case where it has some and no lower case.
std::string in_case_of(std::string_view like, std::string text) {
  const bool has_upper = like.find_first_of("ABCDEF") != std::string_view::npos;
  const bool has_lower = like.find_first_of("abcdef") != std::string_view::npos;
  if (!has_upper || has_lower) return text;
  for (auto& c : text) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

bool continues(std::string_view text, std::size_t at) { return at < text.size() && is_word_byte(text[at]); }

/// Bytes of hexadecimal digits without anything between them, with their stand-ins; nothing for a count of
/// digits that no address has.
std::optional<std::string> bytes_text(Pseudonyms& pseudonyms, std::string_view digits) {
  std::string out;
  switch (digits.size()) {
    case 12:  // MAC address
      out = fmt::format("{:012x}", pseudonyms.mac(hex_number(digits)));
      break;
    case 16:  // GUID
      out = fmt::format("{:016x}", pseudonyms.eui64(hex_number(digits)));
      break;
    case 32: {  // GID or IPv6 address, as /proc/net/if_inet6 has it; or a digest
      IpAddress address{model::Family::kIpv6, {}};
      for (std::size_t i = 0; i < 16; ++i)
        address.bytes[i] = static_cast<std::uint8_t>(hex_number(digits.substr(2 * i, 2)));
      for (const auto byte : pseudonyms.address(address, 128).bytes) out += fmt::format("{:02x}", byte);
      break;
    }
    case 40:  // hardware address of IPoIB: flags and queue pair, subnet prefix, GUID
      out = std::string(digits.substr(0, 8)) +
            fmt::format("{:016x}{:016x}", pseudonyms.prefix(hex_number(digits.substr(8, 16))),
                        pseudonyms.eui64(hex_number(digits.substr(24))));
      break;
    default:
      return std::nullopt;
  }
  return in_case_of(digits, out);
}

}  // namespace

/// One pass over a text.
struct Anonymiser::Scan {
  Pseudonyms& pseudonyms;
  const Names& names;
  std::string_view text;
  std::size_t at = 0;
  std::string out{};

  [[nodiscard]] std::string_view remaining() const { return text.substr(at); }
  /// As much of it as any address takes.
  [[nodiscard]] std::string_view window() const { return text.substr(at, kLongestAddress); }

  bool take(std::size_t count, std::string_view instead) {
    out += instead;
    at += count;
    return true;
  }

  void run() {
    while (at < text.size()) {
      const char c = text[at];
      const bool fresh = at == 0 || !is_word_byte(text[at - 1]);
      if (c == '-' && private_block()) continue;
      if (fresh && (is_word_byte(c) || c == ':') && (address() || uuid())) continue;
      if (fresh && is_word_byte(c) && (own_name() || partition() || hexadecimal())) continue;
      if (c == '\\' && escape()) continue;
      if (is_word_byte(c)) {
        word();
      } else {
        take(1, text.substr(at, 1));
      }
    }
  }

  /// -----BEGIN … PRIVATE KEY-----, a certificate, and its content.
  bool private_block() {
    constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";
    if (!remaining().starts_with(kBegin)) return false;
    auto end = remaining().find(kEnd);
    if (end != std::string_view::npos) end = remaining().find(kDashes, end + kEnd.size());
    return take(end == std::string_view::npos ? remaining().size() : end + kDashes.size(), kRemoved);
  }

  /// An escape of a string: "\n" ends a word, "\u00e9" is a part of one.
  bool escape() {
    if (remaining().size() < 2) return false;
    const char next = remaining()[1];
    if (next == 'u' || next == 'U' || next == 'x') {
      word();
      return true;
    }
    return std::string_view("nrtbf\\\"'").find(next) != std::string_view::npos &&
           take(2, remaining().substr(0, 2));
  }

  bool address() { return colons() || hyphens() || ipv4(); }

  /// "/24" at the beginning, as a number.
  [[nodiscard]] std::optional<int> length_at(std::size_t where) const {
    if (where >= remaining().size() || remaining()[where] != '/') return std::nullopt;
    const auto number = base::parse_number(leading(remaining().substr(where + 1), kDecimalDigits));
    return number && *number <= 128 ? std::optional(static_cast<int>(*number)) : std::nullopt;
  }

  bool ipv4() {
    auto run = leading(window(), "0123456789.");
    while (run.ends_with('.')) run.remove_suffix(1);
    const auto parts = base::split(run, '.');
    if (parts.size() != 4 || continues(remaining(), run.size())) return false;
    IpAddress address;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      unsigned value = 0;
      if (parts[i].empty() || parts[i].size() > 3 || !all_digits(parts[i])) return false;
      std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), value, 10);
      if (value > 255) return false;
      address.bytes[i] = static_cast<std::uint8_t>(value);
    }
    return take(run.size(), pseudonyms.address(address, length_at(run.size()).value_or(32)).text());
  }

  /// Values written with colons: MAC, GUID and hardware addresses, IPv6, GIDs.
  bool colons() {
    if (at > 0 && text[at - 1] == ':') return false;
    auto run = leading(window(), "0123456789abcdefABCDEF:.");
    while (run.ends_with('.') || (run.ends_with(':') && !run.ends_with("::"))) run.remove_suffix(1);
    if (continues(remaining(), run.size())) return false;
    if (colons(run)) return true;
    const auto dot = run.find('.');
    return dot != std::string_view::npos && colons(run.substr(0, dot));
  }

  bool colons(std::string_view run) {
    const auto groups = base::split(run, ':');
    if (groups.size() < 3) return false;
    if (is_pci(groups)) return take(run.size(), run);
    const auto all_of = [&](std::size_t size) {
      return std::all_of(groups.begin(), groups.end(),
                         [&](auto group) { return group.size() == size && is_hex_text(group); });
    };
    if (all_of(2) && groups.size() > 3) return pairs(run, ':');
    if (all_of(4) && groups.size() == 4) return quarters(run);
    if (const auto address = IpAddress::parse(run)) {
      const auto other = pseudonyms.address(*address, length_at(run.size()).value_or(128));
      if (!all_of(4)) return take(run.size(), other.text());
      std::string full;
      for (std::size_t i = 0; i < 16; i += 2)
        full += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", other.bytes[i], other.bytes[i + 1]);
      return take(run.size(), full);
    }
    const bool is_time = groups.size() == 3 && std::all_of(groups.begin(), groups.end(), [](auto group) {
                           return group.size() <= 2 && all_digits(group);
                         });
    if (is_time) return take(run.size(), run);
    return std::all_of(groups.begin(), groups.end(), is_hex_text) && take(run.size(), pseudonyms.word(run));
  }

  /// "00-02-c9-03-00-31-78-f2"
  bool hyphens() {
    const auto run = leading(window(), "0123456789abcdefABCDEF-");
    const auto groups = base::split(run, '-');
    const bool pairs_only = std::all_of(groups.begin(), groups.end(),
                                        [](auto group) { return group.size() == 2 && is_hex_text(group); });
    return groups.size() > 3 && pairs_only && !continues(remaining(), run.size()) && pairs(run, '-');
  }

  bool pairs(std::string_view run, char between) {
    std::string digits(run);
    std::erase(digits, between);
    const auto other = bytes_text(pseudonyms, digits);
    if (!other || digits.size() == 32) return take(run.size(), pseudonyms.word(run));
    std::string spelled;
    for (std::size_t i = 0; i < other->size(); i += 2) {
      if (i != 0) spelled += between;
      spelled += other->substr(i, 2);
    }
    return take(run.size(), spelled);
  }

  /// "0002:c903:0031:78f2", or a subnet prefix "fe80:0000:0000:0000".
  bool quarters(std::string_view run) {
    std::string digits(run);
    std::erase(digits, ':');
    const auto number = hex_number(digits);
    const bool is_prefix = number >> 56 >= 0xfc;
    const auto other =
        fmt::format("{:016x}", is_prefix ? pseudonyms.prefix(number) : pseudonyms.eui64(number));
    return take(run.size(), in_case_of(run, fmt::format("{}:{}:{}:{}", other.substr(0, 4), other.substr(4, 4),
                                                        other.substr(8, 4), other.substr(12, 4))));
  }

  bool uuid() {
    constexpr std::array<std::size_t, 5> kParts{8, 4, 4, 4, 12};
    const auto run = leading(window(), "0123456789abcdefABCDEF-");
    const auto parts = base::split(run, '-');
    if (parts.size() != kParts.size() || continues(remaining(), run.size())) return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].size() != kParts[i]) return false;
    }
    return take(run.size(), pseudonyms.uuid(lower_case(run)));
  }

  /// The P_Key in the kernel's name of a child, "ib0.800a": whether a name is that one decides whose it is. A
  /// word of letters alone may be a domain's, and three such groups are a MAC address ("0002.c903.3178").
  bool partition() {
    constexpr std::size_t kPkey = 4;
    const auto digits = leading(window(), kHexDigits);
    if (digits.size() != kPkey || at < 2 || text[at - 1] != '.' || continues(remaining(), kPkey))
      return false;
    if (digits.find_first_of(kDecimalDigits) == std::string_view::npos ||
        remaining().substr(kPkey).starts_with('.'))
      return false;
    auto begin = at - 1;
    while (begin > 0 && is_word_byte(text[begin - 1])) --begin;
    const auto name = text.substr(begin, at - 1 - begin);
    return !name.empty() && !(name.size() == kPkey && is_hex_text(name)) && take(kPkey, digits);
  }

  /// "0x0002c903003178f2", "0002C903003178F2".
  bool hexadecimal() {
    const bool marked = remaining().starts_with("0x") || remaining().starts_with("0X");
    const auto digits = leading(window().substr(marked ? 2 : 0), kHexDigits);
    const auto whole = remaining().substr(0, digits.size() + (marked ? 2 : 0));
    if (digits.empty() || continues(remaining(), whole.size())) return false;
    const bool is_zero = digits.find_first_not_of('0') == std::string_view::npos;
    constexpr std::size_t kShort = 6;  // P_Keys, vendors, flags; an IPv4 address has 8
    if (marked && (is_zero || digits.size() <= kShort)) return take(whole.size(), whole);
    const auto mark = std::string(whole.substr(0, marked ? 2 : 0));
    if (const auto other = bytes_text(pseudonyms, digits)) return take(whole.size(), mark + *other);
    constexpr std::size_t kMac = 12, kGuid = 16;
    if (marked && digits.size() > kMac && digits.size() < kGuid) {  // a GUID without its leading zeros
      const auto guid = fmt::format("{:x}", pseudonyms.eui64(hex_number(digits)));
      return take(whole.size(), mark + in_case_of(digits, guid));
    }
    return marked && take(whole.size(), mark + pseudonyms.number(digits));
  }

  /// A name that is this host's own, whatever it is made of.
  bool own_name() {
    for (const auto size : names.sizes) {
      const auto here = remaining().substr(0, size);
      if (here.size() < size || continues(remaining(), size) || !names.all.contains(lower_case(here)))
        continue;
      for (const auto end = at + here.size(); at < end;) {
        std::size_t count = 0;
        while (at + count < end && is_word_byte(text[at + count])) ++count;
        if (count == 0) {
          take(1, text.substr(at, 1));
        } else {
          const auto part = text.substr(at, count);
          take(count, all_digits(part) ? std::string(part) : pseudonyms.word(part));
        }
      }
      return true;
    }
    return false;
  }

  /// How far a word goes from here; escapes of single characters belong to it.
  [[nodiscard]] std::size_t word_end() const {
    std::size_t end = at;
    while (end < text.size()) {
      const bool escaped = text[end] == '\\' && end + 1 < text.size() &&
                           std::string_view("uUx").find(text[end + 1]) != std::string_view::npos;
      if (!escaped && !is_word_byte(text[end])) break;
      end += escaped ? 2U : 1U;
    }
    return end;
  }

  [[nodiscard]] std::string word_for(std::string_view word) const {
    if (all_digits(word)) return is_plain_number(word) ? std::string(word) : pseudonyms.number(word);
    const auto last = word.find_last_not_of(kDecimalDigits);
    const auto stem = word.substr(0, last + 1);
    const bool numbered = word.size() - stem.size() <= 5 && is_known_word(stem);
    const bool harmless =
        is_known_word(word) || numbered || is_predictable(word) || is_board(word) || is_size(word);
    return harmless ? std::string(word) : pseudonyms.word(word);
  }

  void word() {
    const auto here = text.substr(at, word_end() - at);
    take(here.size(), word_for(here));
    if (is_secret(here)) value();
  }

  /// Behind the name of a secret: takes its value out.
  void value() {
    auto end = at;
    // The rest of the name: "-key0", "-flags".
    while (end < text.size() && (text[end] == '-' || is_word_byte(text[end]))) ++end;
    const auto blanks = [&] {
      while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
    };
    if (end < text.size() && (text[end] == '"' || text[end] == '\'')) ++end;
    blanks();
    const bool assigned =
        end < text.size() && std::string_view("=:>").find(text[end]) != std::string_view::npos;
    const bool is_element = assigned && text[end] == '>';
    while (assigned && end < text.size() && std::string_view("=:>").find(text[end]) != std::string_view::npos)
      ++end;
    blanks();
    if (end >= text.size() || std::string_view("\r\n[{,;)").find(text[end]) != std::string_view::npos) return;
    // Between name and value there are only marks and known words.
    Scan between{pseudonyms, names, text.substr(at, end - at)};
    while (between.at < between.text.size()) {
      if (is_word_byte(between.remaining().front())) {
        const auto part = between.remaining().substr(0, between.word_end() - between.at);
        between.take(part.size(), between.word_for(part));
      } else {
        between.take(1, between.remaining().substr(0, 1));
      }
    }
    take(end - at, between.out);
    const char quote = text[at];
    if (quote == '"' || quote == '\'') {
      auto close = at + 1;
      while (close < text.size() && text[close] != quote && text[close] != '\n')
        close += text[close] == '\\' ? 2U : 1U;
      close = std::min(close, text.size());
      take(close - at, quote + std::string(kRemoved));
      return;
    }
    auto stop = text.find_first_of(is_element ? "<\n" : assigned ? "\r\n" : " \t\r\n", at);
    if (stop == std::string_view::npos) stop = text.size();
    take(stop - at, kRemoved);
  }
};

Anonymiser::Anonymiser(const std::vector<std::string>& names) : pseudonyms_(is_known_word) {
  for (const auto& name : names) {
    // A known word alone gives nobody away, and is needed where it means what it says.
    if (name.size() < 2 || is_known_word(name)) continue;
    names_.all.insert(lower_case(name));
    names_.sizes.insert(name.size());
  }
}

std::string Anonymiser::text(std::string_view text) {
  Scan scan{pseudonyms_, names_, text};
  scan.run();
  return scan.out;
}

bool Anonymiser::is_secret(std::string_view name) {
  constexpr std::array<std::string_view, 11> kParts{"passw",     "passphrase", "passwd", "pwd",
                                                    "secret",    "psk",        "token",  "credential",
                                                    "community", "private",    "auth"};
  const auto word = lower_case(name.substr(0, name.find_last_not_of(kDecimalDigits) + 1));
  if (word == "pin" || word == "pass") return true;
  if (std::any_of(kParts.begin(), kParts.end(),
                  [&](auto part) { return word.find(part) != std::string::npos; }))
    return true;
  // "m_key", "PresharedKey"; but P_Keys are what this is about, and a bare "key" is any word before a value.
  return word.size() > 3 && word.ends_with("key") && !word.ends_with("pkey") && !word.ends_with("p_key") &&
         !word.ends_with("partitionkey");
}

}  // namespace rdmacfg::ctl
