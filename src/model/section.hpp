// SPDX-License-Identifier: Apache-2.0
// The grammar of the document (SectionSpec) and a document that obeys it (Section), without any TOML.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/field.hpp"
#include "model/value.hpp"

namespace rdmacfg::model {

/// One section of the language.
struct SectionSpec {
  std::string_view name;            ///< last part of the path: "pkey" of [[ipoib.pkey]]
  bool repeated = true;             ///< [[ipoib]]; false: a table, [match] or match = { … }
  std::string_view doc{};           ///< one line
  std::vector<FieldSpec> fields{};  ///< keys of Role kFact do not belong here
  /// Sets of keys, each of which says which object an entry means; entries of several files with the same
  /// values merge. A name of a non-repeated child ("match") counts with its content. Exactly one set has to
  /// be there.
  std::vector<std::vector<std::string_view>> identities{};
  std::vector<SectionSpec> children{};
  bool defaults = false;  ///< [defaults.<path>] may give its settings and policies
};

/// A key as it was written, already in its canonical form.
struct Entry {
  Value value;
  Location where;
  bool from_defaults = false;
  /// Of a list's elements in the order of the text, which a value that is a set (priorities) does not have;
  /// empty where they were not written one by one.
  std::vector<Location> items{};

  /// The place of an element, counted from 0; of the whole where that is not known.
  [[nodiscard]] const Location& place_of(std::size_t item) const {
    return item < items.size() ? items[item] : where;
  }
  /// Calls `visit` with the place of the whole, and of each element.
  template <class Visit>
  void each_place(const Visit& visit) const {
    visit(where);
    for (const auto& item : items) visit(item);
  }
};

/// One section after drop-ins were merged, hosts matched and defaults filled in.
struct Section {
  std::string path;  ///< "ipoib", "ipoib.pkey", "ipoib.match"
  Location where;    ///< of its header in the file that has it first
  std::map<std::string, Entry, std::less<>> entries;
  std::vector<Section> children;

  [[nodiscard]] const Entry* find(std::string_view key) const {
    const auto at = entries.find(key);
    return at == entries.end() ? nullptr : &at->second;
  }
  [[nodiscard]] const Section* child(std::string_view child_path) const {
    for (const auto& c : children) {
      if (c.path == child_path) return &c;
    }
    return nullptr;
  }
  /// The keys as attributes, without their places.
  [[nodiscard]] Attributes attributes() const {
    Attributes out;
    for (const auto& [key, entry] : entries) out.emplace(key, entry.value);
    return out;
  }
};

}  // namespace rdmacfg::model
