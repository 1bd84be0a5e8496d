// SPDX-License-Identifier: Apache-2.0
// The kind that docs/ADD-A-KIND.md adds. It is compiled and run by add_a_kind_test.cpp and is in no catalog.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/section.hpp"

namespace rdmacfg::model {

/// The name of a variable of the environment: letters, digits and underscores, no digit first.
struct VariableName {
  std::string text;
  auto operator<=>(const VariableName&) const = default;
};

RDMACFG_CODEC(VariableName, "name of a variable",
              R"({"type":"string","pattern":"^[A-Za-z_][A-Za-z0-9_]*$"})");

}  // namespace rdmacfg::model

namespace rdmacfg::kinds {

/// A variable of the environment that login shells begin with: a line of a file for profile(5).
struct LoginVariable {
  std::optional<model::VariableName> name;
  std::optional<std::string> value;

  static constexpr auto kFields = std::tuple{
      model::field("name", &LoginVariable::name, model::Role::kIdentity, "The variable: \"UCX_TLS\".", "-"),
      model::field("value", &LoginVariable::value, model::Role::kSetting, "Its value.")};
};

model::SectionSpec login_variable_section();
const Kind& login_variable();

}  // namespace rdmacfg::kinds
