// SPDX-License-Identifier: Apache-2.0
// Values, keys, places and changes as JSON; the one encoding of state, journal and --json.
#pragma once

#include <nlohmann/json.hpp>

#include "model/change.hpp"
#include "model/value.hpp"

namespace rdmacfg::core {

nlohmann::ordered_json to_json(const model::Value& value);
nlohmann::ordered_json to_json(const model::Attributes& attributes);
nlohmann::ordered_json to_json(const model::Location& where);
nlohmann::ordered_json to_json(const model::Change& change);

/// The inverses; they throw nlohmann::json::exception on another shape (callers of this folder catch it).
model::Value value_from(const nlohmann::ordered_json& json);
model::Attributes attributes_from(const nlohmann::ordered_json& json);
model::Change change_from(const nlohmann::ordered_json& json);

}  // namespace rdmacfg::core
