// SPDX-License-Identifier: Apache-2.0
// How a value with rules is spelled in the document, in JSON and in the journal.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "model/value.hpp"

namespace rdmacfg::model {

/// How a strong type is spelled: parse() from a written value, value() back, and its words for people and
/// schemas.
template <class T>
struct Codec;

}  // namespace rdmacfg::model

/// Declares the Codec of a type; parse() and value() are defined in the .cpp file of its header.
#define RDMACFG_CODEC(Type, type_text, schema_text)          \
  template <>                                                \
  struct Codec<Type> {                                       \
    static constexpr std::string_view kType = type_text;     \
    static constexpr std::string_view kSchema = schema_text; \
    static base::Result<Type> parse(const Value& written);   \
    static Value value(const Type& parsed);                  \
  }
