// SPDX-License-Identifier: Apache-2.0
// Values, keys, places and changes as JSON; the one encoding of state, journal and --json.
#pragma once

#include <nlohmann/json.hpp>

#include "model/change.hpp"
#include "model/value.hpp"
#include "store/state.hpp"

namespace rdmacfg::core {

nlohmann::ordered_json to_json(const model::Value& value);
nlohmann::ordered_json to_json(const model::Attributes& attributes);
nlohmann::ordered_json to_json(const model::Location& where);
nlohmann::ordered_json to_json(const model::Change& change);

/// For records that are read again: also texts that are not UTF-8 come back as they were.
nlohmann::ordered_json kept_json(const model::Value& value);
nlohmann::ordered_json kept_json(const model::Attributes& attributes);

/// Only what carrying it out, and taking it back, asks for: not where the document says so, nor what it
/// interrupts.
nlohmann::ordered_json kept_json(const model::Change& change);

nlohmann::ordered_json state_json(const State& state);
nlohmann::ordered_json plan_json(const model::Plan& plan);
nlohmann::ordered_json kept_json(const model::Plan& plan);

/// The inverses; they throw nlohmann::json::exception on another shape (callers of this folder catch it). A
/// change of kept_json() has no effect but kNow, and interrupts nothing.
model::Value value_from(const nlohmann::ordered_json& json);
model::Attributes attributes_from(const nlohmann::ordered_json& json);
model::Change change_from(const nlohmann::ordered_json& json);
State state_from(const nlohmann::ordered_json& json, std::vector<std::string>* dropped = nullptr);
model::Plan plan_from(const nlohmann::ordered_json& changes, std::vector<std::string>* dropped = nullptr);

/// Whether a key can be worked with: of a kind that this program has, with an id of printable characters.
/// state_from() and plan_from() leave out all others, such as those of a newer version, and tell `dropped`.
bool is_understood(const model::Key& key);

}  // namespace rdmacfg::core
