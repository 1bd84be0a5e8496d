// SPDX-License-Identifier: Apache-2.0
// Fields that take fewer spellings than their type does, have a unit, or another name in sentences.
#pragma once

#include <string_view>

#include "model/field.hpp"

namespace rdmacfg::model {

/// The field with a JSON Schema of its own, and perhaps words for people: they say beforehand what else only
/// the kind's rules refuse.
template <class S, class T>
constexpr Field<S, T> spelled(Field<S, T> field, std::string_view schema, std::string_view type = {}) {
  field.spec.schema = schema;
  if (!type.empty()) field.spec.type = type;
  return field;
}

/// The field with a reading of its own, whose errors offer only what it takes.
template <class S, class T>
constexpr Field<S, T> read_by(Field<S, T> field, base::Result<Value> (*parse)(const Value& written)) {
  field.spec.parse = parse;
  return field;
}

/// The field with another name in sentences.
template <class S, class T>
constexpr Field<S, T> spoken_as(Field<S, T> field, std::string_view name) {
  field.spec.spoken = name;
  return field;
}

/// The field whose value lists those of `all` that are missing.
template <class S, class T>
constexpr Field<S, T> lacking(Field<S, T> field, std::string_view all) {
  field.spec.lacking = all;
  return field;
}

/// The field with a unit behind its numbers in reports.
template <class S, class T>
constexpr Field<S, T> in_unit(Field<S, T> field, std::string_view unit) {
  field.spec.unit = unit;
  return field;
}

}  // namespace rdmacfg::model
