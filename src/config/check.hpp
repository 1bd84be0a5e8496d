// SPDX-License-Identifier: Apache-2.0
// One file of the document against the grammar: its sections, and what is wrong with them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "config/toml/tree.hpp"

namespace rdmacfg::config {

class HostValues;

using Grammar = std::vector<model::SectionSpec>;

/// Collects what is wrong with one file.
struct Reporter {
  const Text& text;
  model::Diagnostics& diagnostics;
  /// Some lines could not be read, and may hold the missing part.
  bool partial = false;
  /// The values of {host.…}; null: nothing is known of them, and values that contain it are passed over.
  const HostValues* values = nullptr;
  /// Takes note of the values that are filled in; may be null.
  std::map<model::Location, std::vector<FilledValue>>* filled = nullptr;

  /// Adds an error; the reference holds until the next one.
  model::Diagnostic& wrong(const Span& at, std::string message, std::string hint = {}) const {
    return diagnostics.emplace_back(model::Diagnostic{
        model::Severity::kError, location_of(text, at), std::move(message), std::move(hint), {}});
  }
};

/// One file that was held against the grammar.
struct CheckedFile {
  std::vector<model::Section> sections;
  std::vector<model::Section> defaults;   ///< with the paths of the sections that they are for
  bool matched = false;                   ///< has a [match]
  std::optional<std::string> skipped;     ///< why the file does not apply to this host
  bool understood = true;                 ///< false for a version that this program does not know
  std::set<model::Location> faulty;       ///< where the sections begin that have an error themselves
  std::set<std::string> faulty_defaults;  ///< paths of the defaults that have one
};

/// Holds the tree of a file against the grammar and reports everything that does not obey it.
CheckedFile check_file(const Node& root, std::string_view host, const Grammar& grammar, Reporter report);

/// A place in the grammar: the section `spec` at `path`, called `label`; null and empty at the top.
struct Place {
  const model::SectionSpec* spec = nullptr;
  std::string path;
  std::string label;
  bool in_defaults = false;  ///< in the section of [defaults] for it

  /// "ipoib.mtu" or "defaults.ipoib.mtu", as the header of a section would name it.
  [[nodiscard]] std::string path_to(std::string_view name) const;
};

/// The value of a key as the field's canonical value; nothing when it is wrong, which is reported under the
/// label of `place`.
std::optional<model::Value> check_value(const Node& node, const model::FieldSpec& field, const Place& place,
                                        const Reporter& report);

/// [match] of a file. @return why it does not apply to `host`, or nothing.
std::optional<std::string> check_match(const Node& match, std::string_view host, const Reporter& report);

/// Reports an entry that no set, or more than one set, of `spec.identities` identifies; values are not
/// checked.
/// @param stray an error already reported for the table, which probably explains the missing identity: its
/// only key resembles no known one, or [sysctl] is written for [[sysctl]]. The remedy is added to that error
/// in place of a second one. May be null.
/// @return whether a key identifies the entry, or may, as some lines were not readable.
bool check_identity(const Node& table, const model::SectionSpec& spec, std::string_view label,
                    const Reporter& report, model::Diagnostic* stray);

/// Reports a key or section that `place` does not have, with what was probably meant.
/// @return false when no known name is like it.
bool report_unknown(std::string_view name, const Node& node, const Place& place, const Grammar& grammar,
                    const Reporter& report);

/// Whether a key of the document may set the field.
inline bool is_written(const model::FieldSpec& field) {
  return field.role != model::Role::kFact && field.role != model::Role::kDerived;
}

/// "ipv4 = { addresses = ["…"] } or ipv4 = { method = "auto" }", for the section of a family.
std::string family_example(std::string_view section);

/// Where a table is said to be: its header, braces, or the dotted key that made it.
const Span& place_of(const Node& table);

/// "[[ipoib.pkey]]" or "[match]".
std::string label_of(std::string_view path, bool repeated);

/// path + "." + name; just the name at the top.
std::string path_of(std::string_view parent, std::string_view name);

}  // namespace rdmacfg::config
