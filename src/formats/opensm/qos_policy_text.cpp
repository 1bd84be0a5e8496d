// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/qos_policy_text.hpp"

#include <algorithm>
#include <cstddef>

#include "base/text.hpp"
#include "formats/opensm/qos_policy_words.hpp"

namespace rdmacfg::kinds {

namespace {

/// Where the quote that begins at `from` ends; `from` where it does not.
std::size_t policy_quote_end(std::string_view text, std::size_t from) {
  const auto end = text.find('"', from + 1);
  return end == std::string_view::npos ? from : end;
}

bool is_policy_block_word(std::string_view word) {
  if (word.starts_with(kPolicyEnd)) word.remove_prefix(kPolicyEnd.size());
  return std::any_of(kPolicyBlocks.begin(), kPolicyBlocks.end(),
                     [&](const PolicyBlock& block) { return block.name == word; });
}

/// Where the head of a "key: value" or of a rule of qos-ulps ends that begins with a word; `at` for another
/// word. "ipoib, pkey" is one head, as the lexer takes the longest.
std::size_t policy_head_end(std::string_view code, std::size_t at, std::string_view word) {
  const auto behind = base::trim(code.substr(at + word.size()));
  const bool colon = behind.starts_with(':');
  const auto named = [&](const PolicyKey& key) { return key.name == word; };
  if (colon && (std::any_of(kPolicyKeys.begin(), kPolicyKeys.end(), named) || named(kPolicyPkeyOfRule)))
    return at + word.size();
  if (!colon && !behind.starts_with(',')) return at;
  const auto rest = colon ? std::string_view() : base::trim(behind.substr(1));
  const auto selector = rest.substr(0, rest.find_first_of(" \t:,"));
  if (!colon && selector.empty()) return at;
  const auto name = base::lower(word);
  const bool known =
      std::any_of(kPolicyProtocols.begin(), kPolicyProtocols.end(),
                  [&](const PolicyProtocol& rule) { return rule.name == name && rule.selector == selector; });
  if (!known) return at;
  return colon ? at + word.size() : static_cast<std::size_t>(selector.data() - code.data()) + selector.size();
}

}  // namespace

std::vector<std::string_view> policy_statements(std::string_view code) {
  std::vector<std::string_view> out;
  std::size_t from = 0;
  const auto keep = [&](std::size_t to) {
    if (const auto part = base::trim(code.substr(from, to - from)); !part.empty()) out.push_back(part);
    from = to;
  };
  for (std::size_t at = 0; at < code.size();) {
    if (const auto blank = code.find_first_not_of(" \t\r", at); blank != at) {
      at = std::min(blank, code.size());
      continue;
    }
    // A word ends at a blank that is not in quotes.
    std::size_t end = at;
    while (end < code.size() && code[end] != ' ' && code[end] != '\t')
      end = (code[end] == '"' ? policy_quote_end(code, end) : end) + 1;
    const auto whole = code.substr(at, end - at);
    const auto word = whole.substr(0, whole.find_first_of(":,\""));
    if (is_policy_block_word(base::trim(whole))) {
      keep(at);
      keep(end);
    } else if (const auto head = policy_head_end(code, at, word); head > at) {
      keep(at);
      if (word == "use") break;
      end = std::max(end, head);
    }
    at = end;
  }
  keep(code.size());
  return out;
}

std::string_view policy_code(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '#') return line.substr(0, at);
    if (line[at] == '"') at = policy_quote_end(line, at);
  }
  return line;
}

std::string outside_quotes(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    out += text[at];
    if (text[at] == '"') at = policy_quote_end(text, at);
  }
  return out;
}

std::string policy_name(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto end = text[at] == '"' ? policy_quote_end(text, at) : at;
    if (end > at) {
      out += text.substr(at + 1, end - at - 1);
      at = end;
    } else if (text[at] != ' ' && text[at] != '\t') {
      out += text[at];
    }
  }
  return std::string(base::trim(out));
}

std::vector<std::string_view> policy_elements(std::string_view value) {
  std::vector<std::string_view> out;
  std::size_t from = 0;
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (value[at] == '"') at = policy_quote_end(value, at);
    if (value[at] != ',') continue;
    out.push_back(value.substr(from, at - from));
    from = at + 1;
  }
  out.push_back(value.substr(from));
  return out;
}

}  // namespace rdmacfg::kinds
