// SPDX-License-Identifier: Apache-2.0
// Texts of files of ours that somebody else has changed: undoing brings back the very text, as settings do
// not say all of it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/change.hpp"

namespace rdmacfg::kinds {

/// Adds the text of the file to what the change carries.
void carry_text(model::Change& change, std::string_view text);

/// The text that a change carries, where its settings are those that the change leads to: then it takes back
/// what was done to the file, or is about something else than the file. Nothing of a deletion.
/// `fields`: settings that are in the file; `settings_of`: the settings that a text has.
std::optional<std::string> former_text(
    const model::Change& change, std::span<const std::string_view> fields,
    const std::function<model::Attributes(const std::string& text)>& settings_of);

}  // namespace rdmacfg::kinds
