// SPDX-License-Identifier: Apache-2.0
#include "fleet/shape.hpp"

#include <algorithm>
#include <cstddef>

#include "model/types.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::fleet {

namespace {

bool in_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == ':' ||
         c == '-' || c == '_' || c == '/';
}

/// Every word of a text through a function.
template <class Each>
std::string words_of(std::string_view text, Each each) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    auto end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    // A colon or full stop behind a word ends the sentence.
    auto word = text.substr(at, end - at);
    while (word.size() > 1 && (word.back() == ':' || word.back() == '.')) word.remove_suffix(1);
    out += each(word);
    out += text.substr(at + word.size(), end - at - word.size());
    at = end;
  }
  return out;
}

bool has_digit(std::string_view word) {
  return std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether a word is the name of the host, with whatever domain: ssh names the host as its address does.
bool is_name_of(std::string_view word, std::string_view host) {
  return word.substr(0, word.find('.')) == host.substr(0, host.find('.'));
}

}  // namespace

std::string shape_of(std::string_view text, std::string_view host) {
  return words_of(text, [&](std::string_view word) {
    return std::string(has_digit(word) || is_name_of(word, host) ? "#" : word);
  });
}

std::string anonymous(std::string_view text, std::string_view host) {
  return words_of(text, [&](std::string_view word) -> std::string {
    if (is_name_of(word, host)) return "<host>";
    if (!has_digit(word)) return std::string(word);
    if (model::IpAddress::parse(word) || model::IpPrefix::parse(word)) return "<address>";
    if (word.find(':') != std::string_view::npos && model::Guid::parse(word)) return "<GUID>";
    // A resource of a port: GUID/0x8002.
    const auto slash = word.find('/');
    if (slash != std::string_view::npos && model::Guid::parse(word.substr(0, slash)))
      return "<GUID>" + std::string(word.substr(slash));
    return std::string(word);
  });
}

std::string without_numbers(std::string_view text) {
  return words_of(text, [](std::string_view word) {
    return std::string(word.front() >= '0' && word.front() <= '9' ? "#" : word);
  });
}

}  // namespace rdmacfg::fleet
