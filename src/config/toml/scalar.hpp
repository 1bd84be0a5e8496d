// SPDX-License-Identifier: Apache-2.0
// Scalars of TOML 1.0.0 as values; toml11 decodes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "model/value.hpp"

namespace rdmacfg::config {

/// The reason why a scalar is invalid.
struct ScalarError {
  std::string message;
  std::string hint;
  /// A substitute, so that the rest of the file can be checked; nothing when it is not a scalar at all.
  std::optional<model::Value> instead{};
};

/// A value that model::Value has no alternative for: "a floating-point number", "a date".
struct Foreign {
  std::string_view sort;
};

using Scalar = std::variant<model::Value, Foreign, ScalarError>;

/// Decodes one scalar of TOML 1.0.0: a quoted text with its quotes, or a word without blanks (or a date with
/// one).
Scalar parse_scalar(std::string_view token);

}  // namespace rdmacfg::config
