// SPDX-License-Identifier: Apache-2.0
// Common steps of most entries of the document on their way to a Desired.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/diagnostic.hpp"
#include "model/field.hpp"
#include "model/resource.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

/// Setting of interfaces: the program that set one up. Where it is wanted the interface goes to another
/// owner, who makes it again with all of its settings.
inline constexpr std::string_view kManagedBy = "managed_by";

/// The entry with an error, when its value may come from [defaults]. For an entry with a value of its own
/// this place is left out later.
inline model::Diagnostic::Related takes_default(const model::Location& entry) {
  return {entry, "for this entry", model::Relation::kTakesDefault};
}

/// The entry as a Desired: its settings and policies of the table `fields`, each with its origin. Identities
/// are in the key; derived fields and facts are the kind's to add. `state` of "absent" and "ignore" become
/// `absent` and `ignore`, without settings.
model::Desired desired_of(const model::Section& section, std::span<const model::FieldSpec> fields,
                          model::Key key, std::string label);

/// Sets a derived field; `where` is its place in messages.
void set_derived(model::Desired& desired, const std::string& field, model::Value value,
                 const model::Location& where);

/// Leaves a resource as it is until the host can have it, and says why it cannot now.
void postpone(model::Desired& desired, std::string why);

/// Drops the empty settings that the resource does not have: nothing is to be removed.
void drop_empty_settings(model::Desired& desired,
                         const std::map<model::Key, const model::Observed*>& observed);

/// A resource in a file of ours, so that nobody else can have made it.
model::Observed observed_in_own_file(model::Key key, std::string label, model::Attributes settings,
                                     model::Attributes facts = {});

/// Warns of an entry that names `object` (empty: of a section that is there once) and sets nothing of it.
void warn_without_settings(const model::Section& section, const std::string& object,
                           const model::Desired& desired, model::Diagnostics& diagnostics);

/// Why a number cannot be taken: "70000 is out of range; must be from 1 to 65535". Empty: it can.
std::string why_out_of_range(std::int64_t number, std::int64_t least, std::int64_t most);

/// Appends the fields that may be written in the document.
void add_written(std::vector<model::FieldSpec>& out, std::span<const model::FieldSpec> table);

}  // namespace rdmacfg::kinds
