// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/document.hpp"
#include "sample_grammar.hpp"

namespace rdmacfg::config {

constexpr std::string_view kSampleHost = "gpu007.example.org";

inline Document parse_files(std::vector<Text> texts, const Limits& limits = {}) {
  return parse_texts(std::move(texts), kSampleHost, sample_grammar(), limits);
}

/// One file, called "a".
inline Document parse_one(std::string text, const Limits& limits = {}) {
  return parse_files({{"a", std::move(text)}}, limits);
}

/// Every diagnostic as "place: message".
inline std::vector<std::string> messages(const Document& document) {
  std::vector<std::string> out;
  for (const auto& diagnostic : document.diagnostics) {
    out.push_back(diagnostic.where.line == 0 && diagnostic.where.file.empty()
                      ? diagnostic.message
                      : diagnostic.where.text() + ": " + diagnostic.message);
  }
  return out;
}

inline std::vector<std::string> messages(std::string text) { return messages(parse_one(std::move(text))); }

/// The document's value of section number `at`'s key, in words; "-" when it is not there.
inline std::string value_at(const Document& document, std::size_t at, std::string_view key) {
  if (at >= document.sections.size()) return "no such section";
  return model::text_of(model::value_of(document.sections[at].attributes(), key));
}

constexpr std::string_view kGuid = "guid = \"00:02:c9:03:00:31:78:f2\"\n";

/// [[ipoib]] with an identity, and `keys` after it.
inline std::string ipoib(std::string_view keys = "") {
  return "[[ipoib]]\n" + std::string(kGuid) + std::string(keys);
}

}  // namespace rdmacfg::config
